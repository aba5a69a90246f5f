/**
 * `npm test`: sees to git, builds what the end-to-end tests run, then runs every test. Arguments go to the test runner.
 */

import { spawnSync } from "node:child_process";

// Searches are compared with what git finds. Debian's slim images have none; where it cannot be had, those tests are skipped.
const has = (/** @type {string} */ program) => spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;
if (!has("git") && process.getuid?.() === 0 && has("apt-get")) {
  for (const args of [["update"], ["install", "--yes", "--no-install-recommends", "git"]]) {
    spawnSync("apt-get", ["-qq", ...args], { stdio: ["ignore", "ignore", "inherit"] });
  }
}

for (const [program, ...args] of [
  [process.execPath, "scripts/build.js"],
  ["node_modules/.bin/vitest", "run", ...process.argv.slice(2)],
]) {
  const { status } = spawnSync(/** @type {string} */ (program), args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
