/**
 * Suite `glob`: all `.ts` files of a tree, against ripgrep, which lists them without asking for their times, and against
 * the searches of peers; the entries of a folder, against the same by hand. In a process that has searched before; ripgrep
 * is a process each time, as it is for everybody who uses it.
 */

import { spawn } from "node:child_process";
import { lstatSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { judgeNames } from "../answers.js";
import { library } from "../filehand.js";
import { peerTurns } from "../peers/turns.js";
import { addGate, addRatios, addSample, rowOf, startTable, typical } from "../results.js";
import { ripgrepPath } from "../ripgrep-path.js";
import { flatFolder, largeTree, smallTree } from "../trees.js";

const roundsDefault = 9;
const reference = "rg --files -g";
const byHand = "readdir and lstat, by hand";
const pattern = "**/*.ts";
/** With the newest first and exact totals, in hardly more than the bare list takes. */
const ofRipgrepMax = 1.15;
/** On a small tree everything counts that is not ripgrep: at most so many milliseconds more. */
const smallOverheadMsMax = 30;

const peersWithGlob = ["pi", "Gemini CLI core", "Desktop Commander", "server-filesystem"];
/** The reference server lists in its protocol only. */
const peersWithList = ["pi", "Gemini CLI core", "Desktop Commander"];

/**
 * @typedef {object} Names
 * @property {readonly string[]} names  below the folder
 * @property {number} [total]
 */

/** @typedef {{ readonly name: string, readonly ask: () => Promise<Names> }} Asked */

/**
 * @param {import("../run.js").Setting} setting
 * @returns {Promise<import("../results.js").Table[]>}
 */
export async function glob(setting) {
  const { rounds = roundsDefault } = setting;
  const rg = ripgrepPath();
  const { createFilehand } = await import(pathToFileURL(library).href);
  const tables = [];
  for (const tree of [largeTree(), smallTree()]) {
    const { path } = tree;
    const { tools } = createFilehand({ roots: [path] }).session({ dialect: "claude" });
    const table = startTable("glob", `glob: ${pattern} of ${tree.words}, ${rounds} rounds`, reference);
    const files = (await filesOf(rg, [], path)).toSorted();
    const sources = files.filter((name) => name.endsWith(".ts"));
    if (files.length !== tree.files || sources.length !== tree.sources)
      throw new Error(`${path} is not as it was made`);
    const own = "Filehand, Glob";
    /** @type {readonly (Asked & { expected: readonly string[] })[]} */
    const methods = [
      { name: reference, ask: async () => ({ names: await filesOf(rg, ["-g", pattern], path) }), expected: sources },
      { name: "rg --files, no pattern", ask: async () => ({ names: await filesOf(rg, [], path) }), expected: files },
      {
        name: own,
        ask: async () => {
          const { filenames, totalMatches } = await tools.Glob({ pattern });
          return { names: filenames.map((/** @type {string} */ name) => relative(path, name)), total: totalMatches };
        },
        expected: sources,
      },
    ];
    await measure(setting, table, methods, {
      peers: peersWithGlob,
      folder: path,
      question: { glob: pattern },
      expected: sources,
    });
    const row = rowOf(table, own);
    const bare = typical(rowOf(table, reference), "ms");
    if (tree.files > 1_000) addGate(row, "ratio", row.ratio?.value, ofRipgrepMax);
    else if (bare !== undefined) addGate(row, "ms over rg", (typical(row, "ms") ?? 0) - bare, smallOverheadMsMax);
    tables.push(table);
  }
  for (const entries of [100, 1_000]) tables.push(await list(setting, entries, createFilehand));
  return tables;
}

/**
 * @param {import("../run.js").Setting} setting
 * @param {number} entries
 * @param {any} createFilehand  of the build, which has no types here
 */
async function list(setting, entries, createFilehand) {
  const { rounds = roundsDefault } = setting;
  const path = flatFolder(entries);
  const { tools } = createFilehand({ roots: [path] }).session({ dialect: "claude" });
  const table = startTable("glob", `ls: a folder of ${entries} files, ${rounds} rounds`, byHand);
  const expected = readdirSync(path).toSorted();
  const methods = [
    {
      name: byHand,
      ask: async () => ({
        names: readdirSync(path)
          .toSorted()
          .filter((name) => lstatSync(join(path, name)).isFile()),
      }),
      expected,
    },
    {
      name: "Filehand, LS",
      ask: async () => {
        const { entries: shown, totalEntries } = await tools.LS({ path });
        return { names: shown.map((/** @type {{ name: string }} */ { name }) => name), total: totalEntries };
      },
      expected,
    },
  ];
  await measure(setting, table, methods, { peers: peersWithList, folder: path, question: { list: path }, expected });
  return table;
}

/**
 * @param {import("../run.js").Setting} setting
 * @param {import("../results.js").Table} table
 * @param {readonly (Asked & { expected: readonly string[] })[]} methods
 * @param {object} others
 * @param {readonly string[]} others.peers
 * @param {string} others.folder
 * @param {import("../worker.js").AnyQuestion} others.question
 * @param {readonly string[]} others.expected
 */
async function measure({ rounds = roundsDefault, peers: withPeers, progress }, table, methods, others) {
  const { expected: names, ...asked } = others;
  for (const { name } of methods) rowOf(table, name);
  const judge = (/** @type {import("../worker.js").Answered} */ { lines }) => judgeNames(lines, names);
  const peers = withPeers ? await peerTurns(table, { ...asked, judge }) : undefined;
  for (let round = 0; round <= rounds; round += 1) {
    progress(`${table.title}: round ${round}`);
    for (const { name, ask, expected } of methods) {
      const started = performance.now();
      const found = await ask();
      const ms = performance.now() - started;
      // Round 0 fills the caches of the system.
      if (round > 0) addSample(rowOf(table, name), { ms }, judgeNames(found.names, expected, found.total));
    }
    await peers?.ask(round);
  }
  peers?.close();
  addRatios(table);
}

/** @param {string} rg @param {readonly string[]} args @param {string} cwd @returns {Promise<string[]>} */
function filesOf(rg, args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(rg, ["--no-config", "--files", ...args], { cwd, stdio: ["ignore", "pipe", "inherit"] });
    /** @type {Buffer[]} */
    const chunks = [];
    child.stdout.on("data", (chunk) => chunks.push(chunk));
    child.on("error", reject);
    child.on("close", () => resolve(Buffer.concat(chunks).toString().trimEnd().split("\n")));
  });
}
