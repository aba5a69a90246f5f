/** Where the page begins. */

import { render } from "preact";
import { App } from "./app.tsx";
import { start } from "./live/desk.ts";
import { applyTheme } from "./shell/theme.ts";
import "../style/page.css";

applyTheme();
const place = document.querySelector("#page");
if (place !== null) render(<App />, place);
void start();
// A new address in a tab that is open already changes nothing but what stands behind the #.
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#key=")) void start();
});
