/**
 * `npm run test:random`: every random check with twenty times the cases, from seeds of its own each time; a failure says seed and path. Takes
 * long, most of it where random calls work on real files. Arguments: how many times the cases (default 20), then files.
 */

import { execFileSync, spawnSync } from "node:child_process";

const [times = "20", ...named] = process.argv.slice(2);
if (!/^[1-9]\d{0,3}$/u.test(times)) {
  process.stderr.write(`Cannot try "${times}" times the cases: give a whole number of at least 1\n`);
  process.exit(2);
}
const found = execFileSync("git", ["grep", "-l", 'from "fast-check"', "--", "*.test.ts"], { encoding: "utf8" });
const files = named.length > 0 ? named : found.trim().split("\n");
const { status } = spawnSync("node_modules/.bin/vitest", ["run", ...files], {
  stdio: "inherit",
  env: { ...process.env, FILEHAND_RANDOM: times },
});
process.exit(status ?? 1);
