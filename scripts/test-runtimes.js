/**
 * `npm run test:runtimes`: packs the package, installs it with npm, pnpm, yarn and Bun, and works with it on the oldest Node that is
 * supported, on newer ones, on Bun and on Deno; the README's program is part of that. A Node that is too old must be refused with a
 * sentence. Linux x64 only, since the runtimes come from npm (`test/runtimes`); `--tarball FILE` takes a package that is packed already.
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const runtimes = resolve("test/runtimes");
const program = (/** @type {string} */ path) => join(runtimes, "node_modules", path);
const nodeOf = (/** @type {string} */ major) => program(`node${major}/bin/node`);
const bun = program("@oven/bun-linux-x64/bin/bun");
const deno = program("@deno/linux-x64-glibc/deno");

/** How each begins to run a file. @type {Readonly<Record<string, readonly string[]>>} */
const runners = {
  "Node 20": [nodeOf("20")],
  "Node 22": [nodeOf("22")],
  "Node 24": [nodeOf("24")],
  Bun: [bun],
  Deno: [deno, "run", "--allow-all", "--no-lock"],
};

/** How each installs a tarball into a folder that has a package.json. @type {Readonly<Record<string, readonly string[]>>} */
const installers = {
  npm: ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts"],
  pnpm: [nodeOf("22"), program("pnpm/bin/pnpm.cjs"), "add", "--ignore-scripts"],
  yarn: [nodeOf("22"), program("yarn/bin/yarn.js"), "add", "--ignore-scripts", "--no-progress"],
  Bun: [bun, "add", "--ignore-scripts"],
};

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

/** The README's program, as it stands there. */
const library = /<!-- example: library -->\n```ts\n([\s\S]*?)```/.exec(readFileSync("README.md", "utf8"))?.[1] ?? "";

const failures = /** @type {string[]} */ ([]);
const room = mkdtempSync(join(tmpdir(), "fh-runtimes-"));
try {
  run(["npm", "ci", "--prefix", runtimes, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], ".");
  const given = process.argv[process.argv.indexOf("--tarball") + 1];
  const tarball = process.argv.includes("--tarball") && given !== undefined ? resolve(given) : packed();
  for (const [name, command] of Object.entries(installers)) {
    const folder = join(room, `by-${name}`);
    mkdirSync(join(folder, "ws"), { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
    writeFileSync(join(folder, "library.mjs"), library);
    run([...command, tarball], folder);
    for (const [runtime, start] of Object.entries(runners)) {
      // Every runtime with what npm installs; what the others install is the same files.
      if (name === "npm" || runtime === "Node 22") tryOut(`installed by ${name}, on ${runtime}`, start, folder);
    }
  }
  refusesOldNode(join(room, "by-npm"));
} finally {
  rmSync(room, { recursive: true, force: true, maxRetries: 5 });
}
for (const line of failures) process.stdout.write(`FAILED ${line}\n`);
process.exitCode = failures.length > 0 ? 1 : 0;

/** @param {string} what @param {readonly string[]} start @param {string} folder */
function tryOut(what, start, folder) {
  const bin = join(folder, "node_modules/filehand/dist/filehand.cjs");
  const ws = join(folder, "ws");
  const env = { ...process.env, HOME: room, XDG_STATE_HOME: join(folder, "state"), NO_COLOR: "1" };
  writeFileSync(join(ws, "a.txt"), "one\r\ntwo\r\n");
  const filehand = (/** @type {readonly string[]} */ args, input = "") =>
    spawnSync(start[0] ?? "", [...start.slice(1), bin, ...args], { cwd: ws, env, input, encoding: "utf8" });
  const content = () => readFileSync(join(ws, "a.txt"), "utf8");
  const steps = {
    read: () => filehand(["read", "a.txt"]).stdout === "1→one\n2→two\n",
    grep: () => filehand(["grep", "two"]).stdout.includes("a.txt:2:two"),
    edit: () =>
      filehand(["edit", "a.txt", "--old", "two", "--new", "three", "--yes"]).status === 0 &&
      content() === "one\r\nthree\r\n",
    undo: () => filehand(["undo", "--yes"]).status === 0 && content() === "one\r\ntwo\r\n",
    mcp: () => filehand(["mcp"], `${JSON.stringify(initialize)}\n`).stdout.includes('"serverInfo"'),
    "the README's program, twice": () =>
      ["first", "second"].every(() => {
        const args = [...start.slice(1), "library.mjs"];
        const { stdout } = spawnSync(start[0] ?? "", args, { cwd: folder, env, encoding: "utf8" });
        // Runtimes print lists with one kind of quote or the other.
        return /^\[ ["'] one["'], ["']-two["'], ["']\+three["'] \]\nNOT_FOUND \{/.test(stdout);
      }),
  };
  const broken = Object.entries(steps).flatMap(([step, works]) => (works() ? [] : [step]));
  report(what, broken);
}

function refusesOldNode(/** @type {string} */ folder) {
  const bin = join(folder, "node_modules/filehand/dist/filehand.cjs");
  const command = spawnSync(nodeOf("18"), [bin, "read", "x"], { encoding: "utf8" });
  const imported = spawnSync(nodeOf("18"), ["library.mjs"], { cwd: folder, encoding: "utf8" });
  const sentence = "Filehand needs Node 20.19 or newer, and this is Node 18.";
  const broken = [
    ...(command.status === 1 && command.stderr.startsWith(sentence) ? [] : ["the command"]),
    ...(imported.stderr.includes(sentence) ? [] : ["the library"]),
  ];
  report("refused on Node 18", broken);
}

/** @param {string} what @param {readonly string[]} broken */
function report(what, broken) {
  if (broken.length === 0) process.stdout.write(`ok     ${what}\n`);
  else failures.push(`${what}: ${broken.join(", ")}`);
}

function packed() {
  const args = ["pack", "--json", "--loglevel=error", "--ignore-scripts", "--pack-destination", room];
  return join(room, JSON.parse(run(["npm", ...args], "."))[0].filename);
}

/** @param {readonly string[]} command @param {string} cwd */
function run([name = "", ...args], cwd) {
  const { status, stdout, stderr } = spawnSync(name, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${name} ${args.join(" ")}:\n${stdout}${stderr}`);
  return stdout;
}
