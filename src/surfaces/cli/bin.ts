/** The program `filehand`. The bundle is one CommonJS file, which starts faster than ES modules. */

import { main, processHost } from "./main.ts";

void main(process.argv.slice(2), processHost()).then((code) => {
  // Not process.exit: data written to a pipe must be delivered first.
  process.exitCode = code;
});
