/**
 * Suite `grep`: a word in a tree of 100,000 files and in one of 100, in the three modes, against ripgrep alone with the
 * same question; in `content` also against the searches of peers. In a process that has searched before; ripgrep is a process each time, as it is for everybody who uses it.
 */

import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";
import { judgeTotal } from "../answers.js";
import { library } from "../filehand.js";
import { grepTree, needle } from "../grep-trees.js";
import { peerTurns } from "../peers/turns.js";
import { addGate, addRatios, addSample, rowOf, startTable, typical } from "../results.js";
import { ripgrepPath } from "../ripgrep-path.js";

const roundsDefault = 9;
/** With rules, order, exact totals and the lines read anew, in hardly more than the search itself takes. */
const ofRipgrepMax = 1.15;
/** On a small tree everything counts that is not ripgrep: at most so many milliseconds more. */
const smallOverheadMsMax = 30;

/** They show lines only. */
const peersWithSearch = ["pi", "Gemini CLI core"];

/** The files that Filehand searches: hidden ones too, but not those of Git itself. */
const sameFiles = ["--no-config", "--hidden", "--glob=!.git"];

/** @type {readonly { mode: string, flag: string, perFile: number }[]} */
const modes = [
  { mode: "files_with_matches", flag: "-l", perFile: 1 },
  { mode: "count", flag: "-c", perFile: 1 },
  { mode: "content", flag: "-n", perFile: 2 },
];

/**
 * @param {import("../run.js").Setting} setting
 * @returns {Promise<import("../results.js").Table[]>}
 */
export async function grep({ rounds = roundsDefault, peers, progress }) {
  const rg = ripgrepPath();
  const { createFilehand } = await import(pathToFileURL(library).href);
  const tables = [];
  for (const files of [100_000, 100]) {
    progress(`grep, planting ${files} files`);
    const tree = grepTree(files);
    const { tools } = createFilehand({ roots: [tree.path] }).session({ dialect: "claude" });
    for (const { mode, flag, perFile } of modes) {
      const reference = `rg ${flag}`;
      const own = `Filehand, Grep, ${mode}`;
      const table = startTable("grep", `grep: a word in ${files} files, ${mode}, ${rounds} rounds`, reference);
      for (const name of [reference, own]) rowOf(table, name);
      const others = peers && mode === "content" ? await searchers(table, tree) : undefined;
      for (let round = 0; round <= rounds; round += 1) {
        progress(`grep, ${mode} of ${files} files, round ${round} of ${rounds}`);
        for (const [name, search] of /** @type {const} */ ([
          [reference, () => linesOf(rg, [...sameFiles, flag, "-e", needle, "--", "./"], tree.path)],
          [
            own,
            async () => {
              const found = await tools.Grep({ pattern: needle, output_mode: mode });
              return mode === "content" ? found.totalLines : found.totalFiles;
            },
          ],
        ])) {
          const started = performance.now();
          const total = await search();
          const ms = performance.now() - started;
          // Round 0 fills the caches of the system.
          if (round > 0) addSample(rowOf(table, name), { ms }, judgeTotal(total, tree.matching * perFile));
        }
        await others?.ask(round);
      }
      others?.close();
      addRatios(table);
      const row = rowOf(table, own);
      const bare = typical(rowOf(table, reference), "ms");
      if (files > 1_000) addGate(row, "ratio", row.ratio?.value, ofRipgrepMax);
      else if (bare !== undefined) addGate(row, "ms over rg", (typical(row, "ms") ?? 0) - bare, smallOverheadMsMax);
      tables.push(table);
    }
  }
  return tables;
}

/**
 * A cap on lines is no mistake, but the table says so.
 * @param {import("../results.js").Table} table
 * @param {import("../grep-trees.js").GrepTree} tree
 */
function searchers(table, { path: folder, matching }) {
  const expected = matching * 2;
  return peerTurns(table, {
    peers: peersWithSearch,
    folder,
    question: { pattern: needle },
    judge: ({ total = 0 }) =>
      total > 0 && total < expected
        ? { counts: true, words: `${total} of ${expected} lines` }
        : judgeTotal(total, expected),
  });
}

/**
 * How many lines a program prints.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {string} cwd
 * @returns {Promise<number>}
 */
function linesOf(program, args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "ignore"] });
    let lines = 0;
    child.stdout.on("data", (/** @type {Buffer} */ chunk) => {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
    });
    child.on("error", reject);
    child.on("close", () => resolve(lines));
  });
}
