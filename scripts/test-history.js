/**
 * `npm run test:history`: the long test of the history. A process that edits, rewinds, compacts and collects is killed a
 * thousand times on the store alone and, beside that, a thousand times through the library, half of the kills aimed at
 * rewinds; see test/history/killing.ts. Hooks around shell commands, undo and redo are killed 300 times; see
 * test/ends/observe-kill.test.ts. Prints in the middle of what they fell. Arguments: rounds (default 1000), rounds around shell
 * commands (default 300).
 */

import { spawnSync } from "node:child_process";

const [rounds = "1000", shellRounds = "300"] = process.argv.slice(2);
for (const given of [rounds, shellRounds]) {
  if (/^[1-9]\d{0,6}$/.test(given)) continue;
  process.stderr.write(`Cannot run "${given}" rounds: that is no whole number from 1 on\n`);
  process.exit(2);
}
// The hooks are processes of the built program.
const built = spawnSync(process.execPath, ["scripts/build.js"], { stdio: "inherit" });
if (built.status !== 0) process.exit(built.status ?? 1);
const files = ["test/history/kill.test.ts", "test/history/session-kill.test.ts", "test/ends/observe-kill.test.ts"];
const { status } = spawnSync("node_modules/.bin/vitest", ["run", "--maxWorkers=2", ...files], {
  stdio: "inherit",
  env: { ...process.env, FILEHAND_HISTORY_ROUNDS: rounds, FILEHAND_SHELL_ROUNDS: shellRounds },
});
process.exit(status ?? 1);
