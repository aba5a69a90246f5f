/**
 * Suite `observe`: what it costs that each shell command becomes a turn, in a checkout, beside a `git status` there. A round is
 * the state noted, one file changed, and the change found, each with a toolkit of its own as two processes have them.
 * The tree of 100,000 files is measured with FILEHAND_OBSERVE_FILES=100000.
 */

import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { folder as files } from "../corpus.js";
import { library } from "../filehand.js";
import { addGate, addRatios, addSample, rowOf, startTable, typical } from "../results.js";

const roundsDefault = 9;
const filesOfFolder = 50;
const gates = /** @type {const} */ ({ smallMs: 15, timesGitStatus: 1.5 });

/**
 * @param {import("../run.js").Setting} setting
 * @returns {Promise<import("../results.js").Table[]>}
 */
export async function observe({ rounds = roundsDefault, progress }) {
  mkdirSync(files, { recursive: true });
  const folder = mkdtempSync(join(files, "..", "observe-"));
  const more = Number(process.env["FILEHAND_OBSERVE_FILES"] ?? 0);
  try {
    const tables = [];
    for (const count of [1_000, 10_000, ...(more > 0 ? [more] : [])])
      tables.push(await treeOf(join(folder, `${count}`), count, rounds, progress));
    return tables;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} folder @param {number} count @param {number} rounds @param {(words: string) => void} progress */
async function treeOf(folder, count, rounds, progress) {
  const [root, state] = [join(folder, "work"), join(folder, "state")];
  progress(`observe, making ${count} files`);
  for (let at = 0; at < count; at += 1) {
    const place = join(root, `packages/p${Math.floor(at / filesOfFolder / 20)}/d${Math.floor(at / filesOfFolder)}`);
    if (at % filesOfFolder === 0) mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `f${at}.ts`), `export const value${at} = ${at};\n`.repeat(20));
  }
  const git = (/** @type {string[]} */ ...args) =>
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@b", "-c", "gc.auto=0", ...args], { cwd: root });
  git("init", "-q", ".");
  git("add", "-A");
  git("commit", "-qm", "one");
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  git("status", "-s");

  const { createFilehand } = await import(pathToFileURL(library).href);
  const scan = (/** @type {string} */ id, /** @type {string} */ does) =>
    createFilehand({ roots: [root], stateDir: state })
      .session({ dialect: "claude", id: "bench" })
      .observe({ command: { id, title: "echo", does } });
  const names = { git: "git status", first: "the first scan", before: "noted before", after: "found after" };
  const table = startTable(
    "observe",
    `observe: a command in a checkout of ${count} files, ${rounds} rounds`,
    names.git,
  );
  const started = performance.now();
  await scan("first", "begins");
  const firstMs = performance.now() - started;
  await scan("first", "ends");
  for (let round = 0; round <= rounds; round += 1) {
    progress(`observe, ${count} files, round ${round} of ${rounds}`);
    const gitMs = await timed(() => git("status", "-s"));
    const beforeMs = await timed(() => scan(`c${round}`, "begins"));
    appendFileSync(join(root, "packages/p0/d0/f0.ts"), `// ${round}\n`);
    let found = 0;
    const afterMs = await timed(async () => {
      ({ observed: found } = await scan(`c${round}`, "ends"));
    });
    const verdict = { counts: found === 1, words: found === 1 ? "yes" : `${found} changes` };
    // Round 0 loads what later rounds have.
    if (round === 0) continue;
    addSample(rowOf(table, names.git), { ms: gitMs }, verdict);
    addSample(rowOf(table, names.before), { ms: beforeMs }, verdict);
    addSample(rowOf(table, names.after), { ms: afterMs }, verdict);
    if (round === 1) addSample(rowOf(table, names.first), { ms: firstMs }, verdict);
  }
  addRatios(table);
  for (const name of [names.before, names.after]) {
    const row = rowOf(table, name);
    const ms = typical(row, "ms");
    if (count <= 1_000) addGate(row, "ms", ms, gates.smallMs);
    else
      addGate(row, "times git status", (ms ?? 0) / (typical(rowOf(table, names.git), "ms") ?? 1), gates.timesGitStatus);
  }
  return table;
}

/** @param {() => unknown} work */
async function timed(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
