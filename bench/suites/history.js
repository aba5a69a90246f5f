/** Suite `history`: what it costs to look back. Every look is a process of its own, as a person's command is. */

import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { folder as files } from "../corpus.js";
import { bin, library } from "../filehand.js";
import { timeCommand } from "../process.js";
import { addGate, addRatios, addSample, rowOf, startTable, typical } from "../results.js";

/** @typedef {import("../results.js").Table} Table */
/** @typedef {(words: string) => void} Progress */

const roundsDefault = 9;
const gates = /** @type {const} */ ({ listMs: 100 });
/** Of a rewind, which syncs every file. */
const rewindRoundsMax = 3;
const filesOfRewind = 1_000;
const [turns, filesOfTurn] = [100, 100];
const filesOfDiff = 2_000;
const reader = fileURLToPath(new URL("../history-reader.js", import.meta.url));

/**
 * @param {import("../run.js").Setting} setting
 * @returns {Promise<Table[]>}
 */
export async function history({ rounds = roundsDefault, progress }) {
  mkdirSync(files, { recursive: true });
  const folder = mkdtempSync(join(files, "..", "history-"));
  try {
    const list = join(folder, "list");
    return [
      await listing(list, rounds, progress),
      await diff(join(folder, "diff"), rounds, progress),
      await rewind(list, "plan", rounds, progress),
      await rewind(list, "rewind", Math.min(rounds, rewindRoundsMax), progress),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} folder @param {number} rounds @param {Progress} progress */
async function listing(folder, rounds, progress) {
  const [root, state] = [join(folder, "work"), join(folder, "state")];
  progress(`history, making ${turns} turns`);
  const name = (/** @type {number} */ turn, /** @type {number} */ n) =>
    join(root, `packages/some-package/src/folder-${turn}/file-${n}.ts`);
  const change = (/** @type {number} */ turn, /** @type {string} */ text) => {
    for (let n = 0; n < filesOfTurn; n += 1) writeFileSync(name(turn, n), `${turn} ${n} ${text}\n`);
  };
  for (let turn = 0; turn < turns; turn += 1) {
    mkdirSync(join(name(turn, 0), ".."), { recursive: true });
    change(turn, "before");
  }
  const session = await openSession(root, state);
  await session.observe();
  for (let turn = 0; turn < turns; turn += 1) {
    progress(`history, making ${turns} turns, round ${turn + 1}`);
    await session.checkpoint(`message-${turn}`);
    change(turn, "after");
    await session.observe();
  }

  const byHand = "read and parse by hand";
  /** By what the reader calls its times. */
  const looks = {
    ms: "Filehand, first look",
    filesMs: "with every file of each",
    againMs: "all that again",
    turnsMs: "as turns",
  };
  const title = `history: ${turns} snapshots over ${turns * filesOfTurn} files, new processes, ${rounds} rounds`;
  const table = startTable("history", title, byHand);
  for (let round = 0; round <= rounds; round += 1) {
    progress(`history, listing, round ${round} of ${rounds}`);
    for (const what of ["list-by-hand", "list"]) {
      const { stdout } = await timeCommand([process.execPath, reader, what, root, state]);
      const { snapshots, files: count, ...times } = JSON.parse(stdout);
      const counts = snapshots === turns && count === turns * filesOfTurn;
      const verdict = { counts, words: counts ? "yes" : `${snapshots} snapshots, ${count} files` };
      // Round 0 fills the caches of the system.
      if (round === 0) continue;
      if (what === "list-by-hand") addSample(rowOf(table, byHand), times, verdict);
      else
        for (const [time, name] of Object.entries(looks)) addSample(rowOf(table, name), { ms: times[time] }, verdict);
    }
  }
  addRatios(table);
  for (const name of [looks.ms, looks.filesMs]) {
    const row = rowOf(table, name);
    addGate(row, "ms", typical(row, "ms"), gates.listMs);
  }
  return table;
}

/** @param {string} folder @param {number} rounds @param {Progress} progress */
async function diff(folder, rounds, progress) {
  const [root, state] = [join(folder, "work"), join(folder, "state")];
  const [before, after] = [join(folder, "before"), join(folder, "after")];
  progress(`history, making a turn of ${filesOfDiff} files`);
  mkdirSync(root, { recursive: true });
  const write = (/** @type {string} */ text) => {
    for (let n = 0; n < filesOfDiff; n += 1) writeFileSync(join(root, `file-${n}.txt`), `${n}\n${text}\nlast\n`);
  };
  write("first");
  cpSync(root, before, { recursive: true });
  const session = await openSession(root, state);
  await session.observe();
  for (const turn of ["asked", "later"]) {
    await session.checkpoint(turn);
    write(turn);
    await session.observe();
    if (turn === "asked") cpSync(root, after, { recursive: true });
  }

  const [byHand, filehand] = ["read and compare by hand", "filehand diff"];
  const title = `history: the diff of a turn of ${filesOfDiff} files that were all changed again, ${rounds} rounds`;
  const table = startTable("history", title, byHand);
  /** @type {readonly (readonly [string, import("../process.js").Command])[]} */
  const methods = [
    [byHand, [process.execPath, reader, "diff-by-hand", before, after]],
    [
      filehand,
      [process.execPath, bin, "diff", "asked", "--session", "bench", "--json", "--root", root, "--state-dir", state],
    ],
  ];
  for (let round = 0; round <= rounds; round += 1) {
    progress(`history, diff, round ${round} of ${rounds}`);
    for (const [name, command] of methods) {
      const { ms, stdout } = await timeCommand(command);
      const found = JSON.parse(stdout).files;
      const right = (/** @type {{ additions: number, deletions: number }} */ one) =>
        one.additions === 1 && one.deletions === 1;
      const count = typeof found === "number" ? found : found.filter(right).length;
      const verdict = { counts: count === filesOfDiff, words: count === filesOfDiff ? "yes" : `${count} files` };
      if (round > 0) addSample(rowOf(table, name), { ms }, verdict);
    }
  }
  addRatios(table);
  return table;
}

/**
 * A dry run over all files, or the way back over the last turns and again to where it was, which is not timed.
 * @param {string} folder  that of the listing
 * @param {"plan" | "rewind"} what
 * @param {number} rounds
 * @param {Progress} progress
 */
async function rewind(folder, what, rounds, progress) {
  const [root, state] = [join(folder, "work"), join(folder, "state")];
  const isPlan = what === "plan";
  const [byHand, filehand] = [isPlan ? "read and hash by hand" : "write, sync, rename, sync by hand", "Filehand"];
  const expected = isPlan ? turns * filesOfTurn : filesOfRewind;
  const name = isPlan ? "a dry run of a rewind" : "a rewind";
  const table = startTable("history", `history: ${name} of ${expected} files, ${rounds} rounds`, byHand);
  for (let round = 0; round <= rounds; round += 1) {
    progress(`history, ${name}, round ${round} of ${rounds}`);
    for (const method of [byHand, filehand]) {
      const how = method === byHand ? `${what}-by-hand` : what;
      const { stdout } = await timeCommand([process.execPath, reader, how, root, state]);
      const { ms, files: count } = JSON.parse(stdout);
      const verdict = { counts: count === expected, words: count === expected ? "yes" : `${count} files` };
      if (round > 0) addSample(rowOf(table, method), { ms }, verdict);
    }
  }
  addRatios(table);
  return table;
}

/** @param {string} root @param {string} stateDir */
async function openSession(root, stateDir) {
  const { createFilehand } = await import(pathToFileURL(library).href);
  return createFilehand({ roots: [root], stateDir, ask: "yes" }).session({ dialect: "claude", id: "bench" });
}
