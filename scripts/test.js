/**
 * `npm test`: sees to git and a browser, builds what the end-to-end tests run, installs what some tests alone need, then runs
 * every test in a temporary folder of its own. `--no-install` installs nothing; the other arguments go to the test runner.
 */

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { chromiumPath } from "./chromium.js";

const given = process.argv.slice(2);
const mayInstall = !given.includes("--no-install");
const runnerArguments = given.filter((argument) => argument !== "--no-install");

/** What Debian's slim images lack. Tests that need a missing one are skipped. */
const programs = [
  { name: "git", isThere: () => has("git"), use: "the comparison of searches with git" },
  { name: "shellcheck", isThere: () => has("shellcheck"), use: "the errors that the language server for bash finds" },
  { name: "bindfs", isThere: () => has("bindfs"), use: "locks on a folder that is mounted twice" },
  { name: "openssh-server", isThere: () => existsSync("/usr/sbin/sshd"), use: "remote workspaces over ssh" },
  { name: "openssh-client", isThere: () => runs("ssh", "-V"), use: "remote workspaces over ssh" },
  { name: "bubblewrap", isThere: () => has("bwrap"), use: "remote workspaces in a container" },
  { name: "zsh", isThere: () => has("zsh"), use: "completion in zsh" },
  { name: "fish", isThere: () => has("fish"), use: "completion in fish" },
  { name: "mandoc", isThere: () => existsSync("/usr/bin/mandoc"), use: "the form of the man page" },
  { name: "postgresql", isThere: () => existsSync("/usr/lib/postgresql"), use: "state that several machines share" },
  { name: "chromium", isThere: () => chromiumPath() !== undefined, use: "the inspector's page in a real browser" },
];
/** Packages of their own, so that they shadow nothing; the tests that need them. */
const packages = [
  { folder: "test/mcp/conformance", tests: ["test/mcp/conformance/**"], use: "the conformance suite of MCP" },
  {
    folder: "test/lsp/servers",
    tests: ["test/lsp/real-servers.test.ts", "test/lsp/pyright-tools.test.ts"],
    use: "language servers of others",
  },
  { folder: "test/mcp/clients", tests: ["test/mcp/clients/**"], use: "MCP clients of others" },
  {
    folder: "examples/hosts",
    tests: ["claude-agent", "google-genai", "hosts", "llamaindex", "mastra"].map(
      (name) => `test/adapters/${name}.test.ts`,
    ),
    use: "agent frameworks of others",
    // The program of the Claude Agent SDK has 350 MB and is only in the long test of clients.
    options: ["--omit=optional"],
  },
  { folder: "docs", tests: ["test/browser/docs-site.test.ts"], use: "the documentation as a site" },
];

const wanted = programs.filter(({ isThere }) => !isThere());
if (mayInstall && wanted.length > 0 && process.getuid?.() === 0 && has("apt-get")) {
  const uses = wanted.map(({ name, use }) => `  ${name}, for ${use}`).join("\n");
  say(`Installing Debian's packages (npm test -- --no-install skips this and the tests that need them):\n${uses}`);
  for (const args of [["update"], ["install", "--yes", "--no-install-recommends", ...wanted.map(({ name }) => name)]]) {
    spawnSync("apt-get", ["-qq", ...args], { stdio: ["ignore", "ignore", "inherit"] });
  }
}
if (mayInstall) for (const each of packages) install(each);
runOrExit(process.execPath, "scripts/build.js");

const lacking = packages.filter(({ folder }) => !isInstalled(folder));
const notTested = [
  ...programs.filter(({ isThere }) => !isThere()).map(({ name, use }) => `${use} (${name} is not installed)`),
  ...lacking.map(({ folder, use }) => `${use} (the packages of ${folder} are not installed)`),
];
process.exitCode = await runTests();

/** The folder is removed when the runner has ended, also after Ctrl-C. Its name is short: paths of sockets are. */
async function runTests() {
  const temporary = mkdtempSync(join(tmpdir(), "fh-"));
  // As the system's own: some tests run programs as another user.
  chmodSync(temporary, 0o1777);
  try {
    const env = {
      ...process.env,
      TMPDIR: temporary,
      FILEHAND_NOT_TESTED: notTested.join("\n"),
      FILEHAND_LEFT_OUT: lacking.flatMap(({ tests }) => tests).join("\n"),
    };
    const runner = spawn("node_modules/.bin/vitest", ["run", ...runnerArguments], { stdio: "inherit", env });
    for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
      // A terminal sends Ctrl-C to the runner as well, which would take a second one for an order to drop everything.
      process.on(signal, () => void (signal === "SIGINT" && process.stdin.isTTY ? false : runner.kill(signal)));
    }
    return await new Promise((/** @type {(code: number) => void} */ resolve, reject) => {
      runner.on("error", reject);
      runner.on("exit", (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? "SIGKILL"]));
    });
  } finally {
    rmSync(temporary, { recursive: true, force: true, maxRetries: 10 });
  }
}

function say(/** @type {string} */ line) {
  process.stdout.write(`${line}\n`);
}

function has(/** @type {string} */ program) {
  return runs(program, "--version");
}

function runs(/** @type {string} */ program, /** @type {string[]} */ ...args) {
  return spawnSync(program, args, { stdio: "ignore" }).status === 0;
}

function runOrExit(/** @type {string} */ program, /** @type {string[]} */ ...args) {
  const { status } = spawnSync(program, args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

function lockOf(/** @type {string} */ folder) {
  return createHash("sha256")
    .update(readFileSync(`${folder}/package-lock.json`))
    .digest("hex");
}

function isInstalled(/** @type {string} */ folder) {
  const mark = `${folder}/node_modules/.installed`;
  return existsSync(mark) && readFileSync(mark, "utf8") === lockOf(folder);
}

/** Once, until the lock changes. Some of the packages ask for a newer Node, which their tests bring along: no warnings. */
function install(/** @type {{ folder: string, use: string, options?: string[] }} */ { folder, use, options = [] }) {
  if (isInstalled(folder)) return;
  say(`Installing the npm packages of ${folder}, for ${use}`);
  const quiet = ["--loglevel=error", "--no-audit", "--no-fund"];
  runOrExit("npm", "ci", "--prefix", folder, "--ignore-scripts", "--prefer-offline", ...quiet, ...options);
  writeFileSync(`${folder}/node_modules/.installed`, lockOf(folder));
}
