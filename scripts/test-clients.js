/**
 * `npm run test:clients`: the long test of the servers. 100,000 calls over each transport with a flat heap, 50 callers over HTTP
 * for a minute beside the bare server of the SDK, and Claude Code with a scripted model. Takes some ten minutes, and 350 MB
 * for Claude Code, which is installed into .clients and is no dependency of anything. In a fresh clone it installs the rest, too.
 * Arguments, or the variables FILEHAND_CLIENT_CALLS and FILEHAND_CLIENT_SECONDS: calls (default 100000), seconds (default 60).
 */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";

const agent = "@anthropic-ai/claude-code@2.1.325";
const folder = ".clients";
const { FILEHAND_CLIENT_CALLS, FILEHAND_CLIENT_SECONDS } = process.env;
const [calls = FILEHAND_CLIENT_CALLS || "100000", seconds = FILEHAND_CLIENT_SECONDS || "60"] = process.argv.slice(2);
for (const [what, number] of [
  ["calls", calls],
  ["seconds", seconds],
]) {
  if (/^[1-9]\d{0,6}$/.test(number ?? "")) continue;
  process.stderr.write(`Cannot run "${number}" ${what}: that is no whole number from 1 on\n`);
  process.exit(2);
}

if (!existsSync("node_modules/.package-lock.json")) run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
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
if (!existsSync(program)) {
  process.stderr.write(`Cannot run Claude Code: there is no package of it for ${process.platform}-${process.arch}\n`);
  process.exit(1);
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
  const shell = process.platform === "win32" && command === "npm"; // a batch file there
  const { status, error } = spawnSync(command, args, { stdio: "inherit", env: { ...process.env, ...more }, shell });
  if (error !== undefined) process.stderr.write(`Cannot run ${command}: ${error.message}\n`);
  if (status !== 0) process.exit(status ?? 1);
}
