/** Lets `import words from "./read.txt"` mean the file's text, for the bundler and the test runner alike. */

import { readFileSync } from "node:fs";

export function textFiles() {
  return {
    name: "text-files",
    // Before the test runner's own idea of text files, which is to answer with their address.
    enforce: /** @type {const} */ ("pre"),
    load(/** @type {string} */ id) {
      if (!id.endsWith(".txt")) return undefined;
      const text = readFileSync(id, "utf8").trimEnd();
      return { code: `export default ${JSON.stringify(text)};`, map: null, moduleType: /** @type {const} */ ("js") };
    },
  };
}
