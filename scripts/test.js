/** `npm test`: builds what the end-to-end tests run, then runs every test. Arguments go to the test runner. */

import { spawnSync } from "node:child_process";

for (const [program, ...args] of [
  [process.execPath, "scripts/build.js"],
  ["node_modules/.bin/vitest", "run", ...process.argv.slice(2)],
]) {
  const { status } = spawnSync(/** @type {string} */ (program), args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
