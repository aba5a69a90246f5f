/** How the page is built: static files, nothing inline (the page's policy forbids it), names with a hash so that they can be kept for good. */

import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  // The server may stand behind another path.
  base: "./",
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    // Browsers of 2024 and later: `light-dark()` stays as it is written.
    target: ["chrome123", "firefox121", "safari17.5"],
    assetsInlineLimit: 0,
    modulePreload: false,
  },
});
