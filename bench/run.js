/**
 * `npm run bench`: measures, prints tables, and keeps the numbers. Nothing here is a test: times depend on the machine,
 * so the exit code is 0 unless `--gate` asks for more.
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { drawChart } from "./chart.js";
import { folder } from "./corpus.js";
import { dist, isBuilt } from "./filehand.js";
import { describeMachine } from "./machine.js";
import { parseOptions, usage } from "./options.js";
import { peersAreInstalled } from "./peers/index.js";
import { bytes } from "./suites/bytes.js";
import { edit } from "./suites/edit.js";
import { edits } from "./suites/edits.js";
import { grep } from "./suites/grep.js";
import { growth } from "./suites/growth.js";
import { history } from "./suites/history.js";
import { glob } from "./suites/glob.js";
import { install } from "./suites/install.js";
import { kinds } from "./suites/kinds.js";
import { languages } from "./suites/languages.js";
import { large } from "./suites/large.js";
import { mcp } from "./suites/mcp.js";
import { observe } from "./suites/observe.js";
import { permissions } from "./suites/permissions.js";
import { start } from "./suites/start.js";
import { warm } from "./suites/warm.js";
import { showTable } from "./table.js";

/** @typedef {import("./options.js").Options} Options */
/** @typedef {import("./results.js").Table} Table */

/**
 * What a suite gets.
 * @typedef {object} Setting
 * @property {number} [rounds]
 * @property {number} sizeMax
 * @property {number} [seed]
 * @property {boolean} peers
 * @property {(words: string) => void} progress
 */

const suites = {
  start,
  warm,
  large,
  kinds,
  edit,
  edits,
  bytes,
  history,
  observe,
  glob,
  grep,
  permissions,
  languages,
  mcp,
  install,
};
const withPeers = new Set(["warm", "large", "edit", "bytes", "glob", "grep"]);
/** @type {Set<string>} */
const said = new Set();

const words = process.argv.slice(2);
const options = parseOptions(words);
if (words.includes("--help")) process.stdout.write(usage);
else if ("wrong" in options) {
  process.stderr.write(`Cannot run the bench: ${options.wrong}\n\n${usage}`);
  process.exitCode = 2;
} else if (!isBuilt()) {
  process.stderr.write(`Cannot run the bench: "${dist}" holds no build, run "npm run build" first\n`);
  process.exitCode = 2;
} else await run(options);

/** @param {Options} options */
async function run(options) {
  mkdirSync(folder, { recursive: true });
  const peers = options.peers && options.suites.some((name) => withPeers.has(name)) && installPeers();
  const machine = describeMachine({ peers });
  process.stdout.write(
    `filehand ${machine.filehand}, build ${machine.build}, Node ${machine.node}, ${machine.system}, ${machine.cores} cores, ` +
      `${machine.fileSystem}, load ${machine.loadAtStart[0]}\n`,
  );
  /** @type {Table[]} */
  const tables = [];
  for (const name of options.suites) {
    if (name === "growth") {
      const passed = await growth({ quick: options.quick, row: options.row, machine, progress });
      if (!passed) process.exitCode = 1;
      continue;
    }
    /** @type {Setting} */
    const setting = { sizeMax: options.sizeMax, peers, progress };
    if (options.rounds !== undefined) setting.rounds = options.rounds;
    if (options.seed !== undefined) setting.seed = options.seed;
    let results = await suites[name](setting);
    if (options.gate && name !== "edits" && isOver(results)) {
      // A busy machine is the usual reason, so it gets a second chance.
      results.forEach(print);
      process.stdout.write("\nA gate is over: once more with twice the rounds\n");
      const rounds = 2 * Math.max(...results.flatMap(({ rows }) => rows.map(({ samples }) => samples.length)));
      results = await suites[name]({ ...setting, rounds });
    }
    progress("");
    results.forEach(print);
    tables.push(...results);
  }
  if (options.json !== undefined) {
    writeFileSync(options.json, `${JSON.stringify({ ...machine, tables }, undefined, 2)}\n`);
  }
  if (options.svg !== undefined) writeFileSync(options.svg, drawChart(tables, machine));
  if (options.gate && isOver(tables)) process.exitCode = 1;
}

/** @param {Table} table */
function print(table) {
  process.stdout.write(showTable(table));
}

/** @param {readonly Table[]} tables */
function isOver(tables) {
  return tables.some(({ rows }) => rows.some(({ gates }) => gates.some(({ holds }) => !holds)));
}

/** On a terminal one line that is written over; elsewhere one line where something new begins. @param {string} words */
function progress(words) {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${words}`);
  const [begun = ""] = words.split(", round");
  if (!process.stderr.isTTY && words !== "" && !said.has(begun)) process.stderr.write(`${begun}\n`);
  said.add(begun);
}

function installPeers() {
  if (peersAreInstalled()) return true;
  process.stderr.write("installing the peers into bench/node_modules, about 1 GB\n");
  const here = fileURLToPath(new URL(".", import.meta.url));
  const args = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", here];
  const { status } = spawnSync("npm", args, { stdio: ["ignore", 2, 2] });
  if (status !== 0) process.stderr.write("Cannot install the peers: npm failed, going on without them\n");
  return status === 0;
}
