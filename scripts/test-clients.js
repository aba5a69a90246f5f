/**
 * `npm run test:clients`: the long test of the servers. 100,000 calls over each transport with a flat heap, 50 callers over HTTP
 * for a minute beside the bare server of the SDK, and real agent programs with a scripted model. Takes some fifteen minutes, and
 * 2.6 GB for the programs, which are installed into .clients and are no dependency of anything. In a fresh clone it installs the
 * rest, too. The programs reach no network: their model is on this machine.
 * With the argument "capabilities" only the last test is run: what each agent can do with Filehand instead of its own tools. It writes
 * docs/clients/capabilities.json, from which npm run generate makes a table.
 * Arguments, or the variables FILEHAND_CLIENT_CALLS and FILEHAND_CLIENT_SECONDS: calls (default 100000), seconds (default 60).
 */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

const folder = ".clients";
/** A folder each, so that no program gets another's dependencies. The last one is for those that need a newer Node. */
const programs = {
  "claude-code": "@anthropic-ai/claude-code@2.1.325",
  codex: "@openai/codex@0.166.0",
  gemini: "@google/gemini-cli@0.61.0",
  opencode: "opencode-ai@1.18.33",
  qwen: "@qwen-code/qwen-code@0.24.4",
  copilot: "@github/copilot@1.0.102",
  kimi: "@moonshot-ai/kimi-code@2.1.0",
  cline: "cline@3.0.65",
  goose: `@aaif/goose-binary-${process.platform}-${process.arch}@1.52.0`,
  node: `node-${process.platform}-${process.arch}@24.21.0`,
};
const { FILEHAND_CLIENT_CALLS, FILEHAND_CLIENT_SECONDS } = process.env;
const onlyCapabilities = process.argv[2] === "capabilities";
const [calls = FILEHAND_CLIENT_CALLS || "100000", seconds = FILEHAND_CLIENT_SECONDS || "60"] = process.argv.slice(
  onlyCapabilities ? 3 : 2,
);
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
for (const [name, wanted] of Object.entries(programs)) {
  const place = resolve(folder, name);
  // Written when all of it is there: an installation that was broken off is begun again.
  const mark = resolve(place, "installed");
  if (existsSync(mark) && readFileSync(mark, "utf8") === wanted) continue;
  mkdirSync(place, { recursive: true });
  run("npm", ["install", "--prefix", place, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", wanted]);
  writeFileSync(mark, wanted);
}
// The program itself is in a package for the system; its install script would only link it.
const program = resolve(
  folder,
  `claude-code/node_modules/@anthropic-ai/claude-code-${process.platform}-${process.arch}`,
  process.platform === "win32" ? "claude.exe" : "claude",
);
if (!existsSync(program)) {
  process.stderr.write(`Cannot run Claude Code: there is no package of it for ${process.platform}-${process.arch}\n`);
  process.exit(1);
}
const node = `node/node_modules/node-${process.platform}-${process.arch}/bin/node`;
// The Agent SDK's own copy of the program is left out: the tests run the one above.
const hosts = "examples/hosts";
if (!existsSync(`${hosts}/node_modules`)) {
  run("npm", ["ci", "--prefix", hosts, "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund"]);
}
const others = [
  "test/mcp/load.test.ts",
  "test/mcp/agent.test.ts",
  "test/mcp/agents.test.ts",
  "test/adapters/claude-agent.test.ts",
];
const files = [...(onlyCapabilities ? [] : others), "test/mcp/capabilities.test.ts"];
run("node_modules/.bin/vitest", ["run", "--no-file-parallelism", ...files], {
  FILEHAND_CAPABILITIES: resolve("docs/clients/capabilities.json"),
  FILEHAND_CLIENT_CALLS: calls,
  FILEHAND_CLIENT_SECONDS: seconds,
  FILEHAND_AGENT_CLI: program,
  FILEHAND_CLIENTS: resolve(folder),
  FILEHAND_CLIENTS_NODE: resolve(folder, node),
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
