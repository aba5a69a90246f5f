/**
 * Suite `large`, for files from 10 kB to 5 GB: 20 lines deep in the file with the exact number of lines, as the first
 * call of a fresh process; pages of 2,000 lines elsewhere, when the file was read before; the last 2,000 lines, when it
 * was not. The code of the latter two is warm from reading other pages of another file.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { judge, judgeTotal, notJudged } from "../answers.js";
import { folder, largeCorpus, warmUpCorpus } from "../corpus.js";
import { bin } from "../filehand.js";
import { peerMethods } from "../peers/index.js";
import { timeCommand, usageOf } from "../process.js";
import { addSample, rowOf, startTable } from "../results.js";
import { parseSize, showSize } from "../units.js";
import { openWorker } from "../worker-client.js";
import { compare, deepReference, lastReference, secondReference } from "./large-gates.js";

/** @typedef {import("../corpus.js").Corpus} Corpus */
/** @typedef {import("../worker-client.js").Method} Method */
/** @typedef {import("../results.js").Table} Table */
/** @typedef {import("../process.js").Command} Command */
/** @typedef {{ readonly deep: Table, readonly second: Table, readonly last: Table }} Tables */

const sizes = ["10kB", "1MB", "10MB", "100MB", "1GB", "5GB"].map((text) => parseSize(text) ?? 0);
const roundsDefault = 7;
/** Peers take seconds to load, so they take part in the first rounds only. */
const peerRoundsMax = 3;
/** About as many calls as it takes until the code no longer grows faster. */
const warmUpMs = 1000;
/** One page takes a fraction of a millisecond: a single one measures the moment. Peers, which scan for each, read one. */
const pagesPerRound = 32;

const filehand = { name: "Filehand, library", module: new URL("../readers/filehand.js", import.meta.url) };
const commandName = "Filehand, command";
const againName = "Filehand, command, 2nd run";
const exact = { name: secondReference, module: new URL("../readers/exact-bytes.js", import.meta.url) };

/**
 * @param {import("../run.js").Setting} setting
 * @returns {Promise<Table[]>}
 */
export async function large({ rounds = roundsDefault, sizeMax, peers, progress }) {
  /** @type {Tables[]} */
  const done = [];
  for (const size of sizes) {
    const shown = showSize(size);
    const corpus = size > sizeMax ? { skipped: `larger than --max-size ${showSize(sizeMax)}` } : largeCorpus(size);
    if ("skipped" in corpus) {
      process.stdout.write(`\nlarge: ${shown} skipped: ${corpus.skipped}\n`);
      continue;
    }
    const titled = (/** @type {string} */ what, /** @type {string} */ reference) =>
      startTable("large", `large: ${shown}, ${what}, ${rounds} rounds`, reference, size);
    const tables = {
      deep: titled("20 lines at 90 % with the exact total, first call", deepReference),
      second: titled("pages of 2,000 lines from 60 % on, file read before", secondReference),
      last: titled("the last 2,000 lines, file not read before", lastReference),
    };
    await measure(corpus, tables, rounds, peers, (words) => progress(`large, ${shown}, ${words}`));
    done.push(tables);
  }
  compare(done);
  return done.flatMap(({ deep, second, last }) => [deep, second, last]);
}

/**
 * @param {Corpus} corpus
 * @param {Tables} tables
 * @param {number} rounds
 * @param {boolean} peers
 * @param {(words: string) => void} progress
 */
async function measure(corpus, tables, rounds, peers, progress) {
  const others = peers ? peerMethods() : [];
  for (const table of [tables.deep, tables.second, tables.last]) rowOf(table, filehand.name); // ours stands on top
  rowOf(tables.deep, commandName);
  rowOf(tables.deep, againName);
  await timeCommand(["wc", "-l", corpus.path]); // brings the file into the system's cache
  for (let round = 1; round <= rounds; round += 1) {
    await commandsOf(corpus, tables, round === 1, (name) => progress(`round ${round} of ${rounds}, ${name}`));
    for (const method of [filehand, exact, ...(round <= peerRoundsMax ? others : [])]) {
      progress(`round ${round} of ${rounds}, ${method.name}`);
      if ("skipped" in method) rowOf(tables.deep, method.name).failure = method.skipped;
      else await callsOf(method, corpus, tables);
    }
  }
}

/**
 * One round of whole processes. Filehand keeps an index of large files between runs: every round begins with an empty
 * folder for it, and the watched runs have one of their own, or a first read would find what an earlier one left.
 * @param {Corpus} corpus
 * @param {Tables} tables
 * @param {boolean} watched
 * @param {(name: string) => void} progress
 */
async function commandsOf(corpus, tables, watched, progress) {
  const states = ["timed", "watched"].map((name) => mkdtempSync(join(tmpdir(), `filehand-bench-${name}-`)));
  try {
    const [timed = [], again = []] = states.map((state) => commandsFor(corpus, state));
    for (const [index, { name, table, command, right }] of timed.entries()) {
      progress(name);
      const row = rowOf(tables[table], name);
      try {
        const { ms, stdout } = await timeCommand(command);
        const usage = watched ? await usageOf(again[index]?.command ?? command) : undefined;
        addSample(row, { ms, ...usage }, right(stdout));
      } catch (error) {
        row.failure = error instanceof Error ? error.message : String(error); // a system without this command
      }
    }
  } finally {
    for (const state of states) rmSync(state, { recursive: true, force: true });
  }
}

/**
 * One round of a method that is called in a process: two reads in one, the last lines in another.
 * @param {Method} method
 * @param {Corpus} corpus
 * @param {Tables} tables
 */
async function callsOf(method, corpus, tables) {
  const isOpen = (/** @type {Table} */ table) => rowOf(table, method.name).failure === undefined;
  if (isOpen(tables.deep)) await asked(method, corpus, ["deep", "second"], tables);
  if (isOpen(tables.last)) await asked(method, corpus, ["last"], tables);
}

/**
 * @param {Method} method
 * @param {Corpus} corpus
 * @param {readonly (keyof Tables)[]} questions  answered by one process, in this order
 * @param {Tables} tables
 */
async function asked(method, corpus, questions, tables) {
  let row = rowOf(tables[questions[0] ?? "deep"], method.name);
  try {
    const worker = await openWorker(method, folder);
    try {
      for (const name of questions) {
        row = rowOf(tables[name], method.name);
        const what = name === "last" ? "tail" : "read";
        if (name !== "deep") {
          const other = warmUpCorpus();
          await worker.ask({ what, path: other.path, span: other[name], forMs: warmUpMs, roams: true });
        }
        const pages = name === "second" && (method === filehand || method === exact) ? pagesPerRound : 1;
        // Backwards: the page after the last one may be nearer than any other.
        const [span = corpus[name], ...others] = corpus.pagesFrom(corpus[name], pages).toReversed();
        const answer = await worker.ask({ what, path: corpus.path, span, others });
        for (const [index, given] of [answer, ...(answer.others ?? [])].entries()) {
          const { ms, cpuMs, rssMb, baseMb, lagMs } = given;
          const expected = { lines: corpus.linesOf(others[index - 1] ?? span), total: corpus.lines };
          addSample(row, { ms, cpuMs, rssMb, baseMb, lagMs }, judge(given, expected));
        }
      }
    } finally {
      worker.close();
    }
  } catch (error) {
    row.failure = error instanceof Error ? error.message : String(error);
  }
}

/**
 * Whole processes, in the order in which they run.
 * @param {Corpus} corpus
 * @param {string} state  empty; the second run of Filehand finds there what its first one left
 * @returns {readonly { name: string, table: "deep" | "last", command: Command, right: (stdout: string) => import("../answers.js").Verdict }[]}
 */
function commandsFor({ path, lines: total, deep, last, linesOf }, state) {
  const to = deep.from + deep.count - 1;
  const node = process.execPath;
  const numbered = (/** @type {string} */ stdout) =>
    stdout.split("\n").flatMap((line) => /^\s*\d+→(.*)$/.exec(line)?.[1] ?? []);
  const plain = (/** @type {string} */ stdout) => stdout.replace(/\n$/, "").split("\n");
  const totalIn = (/** @type {string} */ stdout) => Number(/of (\d+), go on/.exec(stdout)?.[1] ?? Number.NaN);
  const deepLines = { lines: linesOf(deep), total };
  const place = ["--root", folder, "--state-dir", state, "--offset", `${deep.from}`, "--limit", `${deep.count}`];
  /** @type {Command} */
  const read = [node, bin, "read", path, ...place];
  const readRight = (/** @type {string} */ stdout) => {
    const shown = totalIn(stdout);
    return judge({ lines: numbered(stdout), total: Number.isNaN(shown) ? undefined : shown }, deepLines);
  };
  const lastLines = { lines: linesOf(last), total };
  return [
    { name: "node -e 0", table: "deep", command: [node, "-e", "0"], right: () => notJudged },
    {
      name: deepReference,
      table: "deep",
      command: ["wc", "-l", path],
      right: (stdout) => judgeTotal(Number.parseInt(stdout, 10), total),
    },
    { name: commandName, table: "deep", command: read, right: readRight },
    { name: againName, table: "deep", command: read, right: readRight },
    {
      name: "sed -n A,Bp;Bq",
      table: "deep",
      command: ["sed", "-n", `${deep.from},${to}p;${to}q`, path],
      right: (stdout) => judge({ lines: plain(stdout) }, deepLines),
    },
    {
      name: "tail -n +A | head",
      table: "deep",
      command: ["sh", "-c", `tail -n +${deep.from} "$0" | head -n ${deep.count}`, path],
      right: (stdout) => judge({ lines: plain(stdout) }, deepLines),
    },
    {
      name: lastReference,
      table: "last",
      command: ["tail", "-n", `${last.count}`, path],
      right: (stdout) => judge({ lines: plain(stdout) }, lastLines),
    },
  ];
}
