/**
 * `npm run test:history`: the long test of the history. A process that edits, rewinds, compacts and collects is killed a
 * thousand times, once on the store alone and once through the library; see test/history/kill.test.ts. Takes some 20
 * minutes. Arguments: rounds (default 1000).
 */

import { spawnSync } from "node:child_process";

const [rounds = "1000"] = process.argv.slice(2);
if (!/^[1-9]\d{0,6}$/.test(rounds)) {
  process.stderr.write(`Cannot run "${rounds}" rounds: that is no whole number from 1 on\n`);
  process.exit(2);
}
const files = ["test/history/kill.test.ts", "test/history/session-kill.test.ts"];
const { status } = spawnSync("node_modules/.bin/vitest", ["run", "--no-file-parallelism", ...files], {
  stdio: "inherit",
  env: { ...process.env, FILEHAND_HISTORY_ROUNDS: rounds },
});
process.exit(status ?? 1);
