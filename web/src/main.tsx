/** The entry point of the page. */

import { render } from "preact";
import { App } from "./app.tsx";
import { start } from "./live/live-state.ts";
import { applyTheme } from "./shell/theme.ts";
import "../style/page.css";

applyTheme();
const place = document.querySelector("#page");
if (place !== null) render(<App />, place);
void start();
// A new address in an open tab changes only the part after `#`.
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#key=")) void start();
});
