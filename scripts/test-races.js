/**
 * `npm run test:races`: the races of `npm test` ten times as long, 1,000,000 reads and 100,000 changes while another
 * process swaps folders and links. Takes minutes. Argument: how many times as long (default 10).
 */

import { spawnSync } from "node:child_process";

const times = process.argv[2] ?? "10";
if (!/^[1-9]\d{0,3}$/u.test(times)) {
  process.stderr.write(`Cannot run the races "${times}" times as long: give a whole number of at least 1\n`);
  process.exit(2);
}
const { status } = spawnSync("node_modules/.bin/vitest", ["run", "test/attacks/race"], {
  stdio: "inherit",
  env: { ...process.env, FILEHAND_RACES: times },
});
process.exit(status ?? 1);
