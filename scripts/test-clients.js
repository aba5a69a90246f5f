/**
 * `npm run test:clients`: the long test of the servers. 100,000 calls over each transport with a flat heap, 50 callers over HTTP
 * for a minute beside the bare server of the SDK, and Claude Code with a scripted model. Takes some ten minutes, and 350 MB
 * for Claude Code, which is installed into .clients and is no dependency of anything. Arguments: calls (default 100000),
 * seconds (default 60).
 */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";

const agent = "@anthropic-ai/claude-code@2.1.325";
const folder = ".clients";
const [calls = "100000", seconds = "60"] = process.argv.slice(2);
for (const [what, number] of [
  ["calls", calls],
  ["seconds", seconds],
]) {
  if (/^[1-9]\d{0,6}$/.test(number ?? "")) continue;
  process.stderr.write(`Cannot run "${number}" ${what}: that is no whole number from 1 on\n`);
  process.exit(2);
}

run(process.execPath, ["scripts/build.js"]);
// The program itself is in a package for the system; its install script would only link it.
const program = resolve(
  folder,
  `node_modules/@anthropic-ai/claude-code-${process.platform}-${process.arch}`,
  process.platform === "win32" ? "claude.exe" : "claude",
);
if (!existsSync(program)) {
  run("npm", ["install", "--prefix", folder, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", agent]);
}
const files = ["test/mcp/load.test.ts", "test/mcp/agent.test.ts"];
run("node_modules/.bin/vitest", ["run", "--no-file-parallelism", ...files], {
  FILEHAND_CLIENT_CALLS: calls,
  FILEHAND_CLIENT_SECONDS: seconds,
  FILEHAND_AGENT_CLI: program,
});

function run(
  /** @type {string} */ command,
  /** @type {string[]} */ args,
  /** @type {Record<string, string>} */ more = {},
) {
  const { status } = spawnSync(command, args, { stdio: "inherit", env: { ...process.env, ...more } });
  if (status !== 0) process.exit(status ?? 1);
}
