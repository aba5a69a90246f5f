/**
 * `npm run test:history`: the long test of the history. A process that edits, rewinds, compacts and collects is killed a
 * thousand times on the store alone and, beside that, a thousand times through the library, half of the kills aimed at
 * rewinds; see test/history/killing.ts. Prints in the middle of what they fell. Arguments: rounds (default 1000).
 */

import { spawnSync } from "node:child_process";

const [rounds = "1000"] = process.argv.slice(2);
if (!/^[1-9]\d{0,6}$/.test(rounds)) {
  process.stderr.write(`Cannot run "${rounds}" rounds: that is no whole number from 1 on\n`);
  process.exit(2);
}
const files = ["test/history/kill.test.ts", "test/history/session-kill.test.ts"];
const { status } = spawnSync("node_modules/.bin/vitest", ["run", "--maxWorkers=2", ...files], {
  stdio: "inherit",
  env: { ...process.env, FILEHAND_HISTORY_ROUNDS: rounds },
});
process.exit(status ?? 1);
