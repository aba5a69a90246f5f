/**
 * Suite `glob`: all `.ts` files of a tree, against ripgrep, which lists them without asking for their times. In a process
 * that has searched before; ripgrep is a process each time, as it is for everybody who uses it.
 */

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { judgeTotal } from "../answers.js";
import { library } from "../filehand.js";
import { addGate, addRatios, addSample, rowOf, startTable, typical } from "../results.js";
import { largeTree, smallTree } from "../trees.js";

const roundsDefault = 9;
const reference = "rg --files -g";
const pattern = "**/*.ts";
/** With the newest first and exact totals, in hardly more than the bare list takes. */
const ofRipgrepMax = 1.15;
/** On a small tree everything counts that is not ripgrep: at most so many milliseconds more. */
const smallOverheadMsMax = 30;

/**
 * @param {import("../run.js").Setting} setting
 * @returns {Promise<import("../results.js").Table[]>}
 */
export async function glob({ rounds = roundsDefault, progress }) {
  const rg = ripgrepPath();
  const { createFilehand } = await import(pathToFileURL(library).href);
  const tables = [];
  for (const tree of [largeTree(), smallTree()]) {
    const table = startTable("glob", `glob: ${pattern} of ${tree.words}, ${rounds} rounds`, reference);
    const { tools } = createFilehand({ roots: [tree.path] }).session({ dialect: "claude" });
    /** @type {readonly { name: string, count: () => Promise<number>, total: number }[]} */
    const methods = [
      { name: reference, count: () => lines(rg, ["--files", "-g", pattern], tree.path), total: tree.sources },
      { name: "rg --files, no pattern", count: () => lines(rg, ["--files"], tree.path), total: tree.files },
      {
        name: "Filehand, Glob",
        count: async () => (await tools.Glob({ pattern })).totalMatches,
        total: tree.sources,
      },
    ];
    for (let round = 0; round <= rounds; round += 1) {
      for (const { name, count, total } of methods) {
        progress(`glob, ${tree.words}, round ${round} of ${rounds}`);
        const started = performance.now();
        const found = await count();
        // Round 0 fills the caches of the system.
        if (round > 0) addSample(rowOf(table, name), { ms: performance.now() - started }, judgeTotal(found, total));
      }
    }
    addRatios(table);
    const own = rowOf(table, "Filehand, Glob");
    const bare = typical(rowOf(table, reference), "ms");
    if (tree.files > 1_000) addGate(own, "ratio", own.ratio?.value, ofRipgrepMax);
    else if (bare !== undefined) addGate(own, "ms over rg", (typical(own, "ms") ?? 0) - bare, smallOverheadMsMax);
    tables.push(table);
  }
  return tables;
}

/** @param {string} rg @param {readonly string[]} args @param {string} cwd @returns {Promise<number>} */
function lines(rg, args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(rg, ["--no-config", ...args], { cwd, stdio: ["ignore", "pipe", "inherit"] });
    let count = 0;
    child.stdout.on("data", (/** @type {Buffer} */ chunk) => {
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) count += 1;
    });
    child.on("error", reject);
    child.on("close", () => resolve(count));
  });
}

/** The binary that Filehand's own dependency brings. */
function ripgrepPath() {
  const require = createRequire(import.meta.url);
  const name = `@vscode/ripgrep-${process.platform}-${process.arch}`;
  const wrapper = createRequire(require.resolve("@vscode/ripgrep"));
  return wrapper.resolve(`${name}/bin/${process.platform === "win32" ? "rg.exe" : "rg"}`);
}
