/** What `filehand` runs. The bundle makes it one CommonJS file, which starts faster than ES modules do. */

import { main, processHost } from "./main.ts";

void main(process.argv.slice(2), processHost()).then((code) => {
  // Not process.exit: what was written to a pipe must be delivered first.
  process.exitCode = code;
});
