/**
 * `npm run test:locks`: 100,000 Edits of one file by containers that share its folder and nothing else: half of them under locks of
 * the kernel, a quarter without koffi, a quarter through mounts with other device numbers. Takes about half an hour; needs root, and
 * Debian's `bindfs`. Run `npm run build` first. Argument: how many times as many as `npm test` makes (default 25).
 */

import { spawnSync } from "node:child_process";

const times = process.argv[2] ?? "25";
if (!/^[1-9]\d{0,3}$/u.test(times)) {
  process.stderr.write(`Cannot make "${times}" times as many edits: give a whole number of at least 1\n`);
  process.exit(2);
}
const { status } = spawnSync("node_modules/.bin/vitest", ["run", "test/locks/shared-folder"], {
  stdio: "inherit",
  env: { ...process.env, FILEHAND_LOCK_TIMES: times },
});
process.exit(status ?? 1);
