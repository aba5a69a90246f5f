/**
 * Suite `edits`: calls distorted in known ways. What is counted is whether the right bytes are in the file afterwards,
 * and that nothing is written where nothing may be. The calls are the same in every run as long as
 * the files of the repository are; only the times differ.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { drifts } from "../edits/line-drift.js";
import { ladder, lineEnds } from "../edits/must-apply.js";
import { traps } from "../edits/must-refuse.js";
import { seeded, seedOf } from "../edits/random.js";
import { scoreOf } from "../edits/score.js";
import { readTexts } from "../edits/texts.js";
import { library } from "../filehand.js";
import { addGate, rowOf, startTable } from "../results.js";

/** @typedef {import("../results.js").Table} Table */
/** @typedef {import("../edits/cases.js").Case} Case */
/** @typedef {import("../edits/score.js").Score} Score */
/** @typedef {Score & { readonly ms: number }} Timed */
/** @typedef {{ readonly name: string, readonly expect: "apply" | "refuse", readonly make: import("../edits/must-apply.js").Make, readonly ends: import("../edits/cases.js").Ends | undefined }} Kind */

const callsDefault = 28;
const seedDefault = 5;
/** Misses that are kept for a look, of each kind. */
const missesMax = 3;

/** Per cent of the calls that must be applied and are not right to the byte. */
const missedMax = 1;

/** @type {readonly Kind[]} */
const kinds = [
  ...Object.entries(ladder).flatMap(([name, make]) => [
    { name, expect: /** @type {const} */ ("apply"), make, ends: /** @type {const} */ ("LF") },
    { name: `${name}, CRLF`, expect: /** @type {const} */ ("apply"), make, ends: /** @type {const} */ ("CRLF") },
  ]),
  ...Object.entries(lineEnds).map(([name, make]) => ({
    name,
    expect: /** @type {const} */ ("apply"),
    make,
    ends: /** @type {const} */ ("LF"),
  })),
  ...Object.entries(traps).map(([name, make]) => ({
    name,
    expect: /** @type {const} */ ("refuse"),
    make,
    ends: undefined,
  })),
];

/**
 * @param {import("../run.js").Setting} setting  a round is one call of every kind
 * @returns {Promise<Table[]>}
 */
export async function edits({ rounds = callsDefault, seed = seedDefault, progress }) {
  const texts = readTexts();
  const folder = mkdtempSync(join(tmpdir(), "filehand-edits-"));
  const { createFilehand } = await import(pathToFileURL(library).href);
  const session = createFilehand({ roots: [folder], ask: "yes", readFirst: false }).session({ dialect: "claude" });
  const tables = {
    apply: startTable(
      "edits",
      `edits: calls that must be applied, ${rounds} of each kind from ${texts.length} files, seed ${seed}`,
      "",
    ),
    refuse: startTable("edits", `edits: calls that must be refused, ${rounds} of each kind, seed ${seed}`, ""),
  };
  /** @type {Record<Kind["expect"], Timed[]>} */
  const all = { apply: [], refuse: [] };
  /** @type {{ recognised: number, of: number, wrong: number }} */
  const already = { recognised: 0, of: 0, wrong: 0 };
  try {
    for (const [at, kind] of kinds.entries()) {
      const random = seeded(seed ^ seedOf(kind.name));
      /** @type {Timed[]} */
      const scores = [];
      /** @type {object[]} */
      const misses = [];
      for (let round = 0; round < rounds; round += 1) {
        progress(`edits, round ${at + 1} of ${kinds.length}, ${kind.name}`);
        const made = kind.make(random, texts, kind.ends ?? (random.chance(0.3) ? "CRLF" : "LF"));
        const path = join(folder, `${at}-${round}.txt`);
        for (const { score, reply } of await play(session, path, made)) {
          scores.push(score);
          if (made.applied === true) already.of += 1;
          if (score.already && made.applied === true) already.recognised += 1;
          if (score.already && made.applied !== true && made.twice !== true) already.wrong += 1;
          const isRight = score.became === (kind.expect === "apply" ? "correct" : "refused");
          if ((!isRight || score.untrue) && misses.length < missesMax) {
            misses.push({
              became: score.became,
              untrue: score.untrue,
              matchedBy: reply.structured?.matchedBy,
              error: reply.error?.code,
              input: made.input,
              ...around(made, readFileSync(path)),
            });
          }
        }
        rmSync(path, { force: true });
      }
      fill(tables[kind.expect], kind.name, kind.expect, scores, misses);
      all[kind.expect].push(...scores);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const applied = fill(tables.apply, "all", "apply", all.apply);
  const missed = all.apply.filter(({ became }) => became !== "correct").length;
  addGate(applied, "per cent missed", (100 * missed) / all.apply.length, missedMax);
  addGate(applied, "wrong writes", all.apply.filter(({ became, wrote }) => wrote && became !== "correct").length, 0);
  const refused = fill(tables.refuse, "all", "refuse", all.refuse);
  addGate(refused, "false applies", all.refuse.filter(({ wrote }) => wrote).length, 0);
  refused.counts = {
    ...refused.counts,
    "already applied": `${already.recognised} of ${already.of}, ${already.wrong} wrong`,
  };
  for (const [row, scores] of /** @type {const} */ ([
    [applied, all.apply],
    [refused, all.refuse],
  ])) {
    addGate(
      row,
      "collateral bytes",
      scores.reduce((sum, { collateral }) => sum + collateral, 0),
      0,
    );
    addGate(row, "untrue", scores.filter(({ untrue }) => untrue).length, 0);
  }
  return [tables.apply, tables.refuse, await lineEdits(createFilehand, rounds, seed, progress)];
}

/**
 * Edits by line whose numbers may have drifted since the page was shown.
 * @param {any} createFilehand
 * @param {number} rounds
 * @param {number} seed
 * @param {import("../run.js").Setting["progress"]} progress
 * @returns {Promise<Table>}
 */
async function lineEdits(createFilehand, rounds, seed, progress) {
  const table = startTable("edits", `edits by line: numbers that drift, ${rounds} of each kind, seed ${seed}`, "");
  const sum = { right: 0, refused: 0, wrong: 0, missed: 0 };
  for (const [name, make] of Object.entries(drifts)) {
    const random = seeded(seed ^ seedOf(name));
    const counts = { right: 0, refused: 0, wrong: 0, missed: 0 };
    for (let round = 0; round < rounds; round += 1) {
      progress(`edits by line, ${name}, ${round + 1} of ${rounds}`);
      counts[await converse(createFilehand, make(random))] += 1;
    }
    const row = rowOf(table, name);
    row.counts = { right: counts.right, refused: counts.refused, "not applied": counts.missed, wrong: counts.wrong };
    for (const key of /** @type {const} */ (["right", "refused", "wrong", "missed"])) sum[key] += counts[key];
  }
  const row = rowOf(table, "all");
  row.counts = { right: sum.right, refused: sum.refused, "not applied": sum.missed, wrong: sum.wrong };
  addGate(row, "wrong writes", sum.wrong, 0);
  addGate(row, "edits not applied", sum.missed, 0);
  return table;
}

/**
 * Plays a conversation. `right`: applied as meant. `refused`: refused as it must be. `missed`: refused although it is clear.
 * @param {any} createFilehand
 * @param {import("../edits/line-drift.js").Conversation} conversation
 * @returns {Promise<"right" | "refused" | "wrong" | "missed">}
 */
async function converse(createFilehand, { lines, steps, edit, after }) {
  const folder = mkdtempSync(join(tmpdir(), "filehand-edits-"));
  const path = join(folder, "a.txt");
  const textOf = (/** @type {readonly string[]} */ all) => all.map((line) => `${line}\n`).join("");
  try {
    const options = { roots: [folder], ask: "yes", lineEdits: true, dedup: false };
    const session = createFilehand(options).session({ dialect: "claude" });
    writeFileSync(path, textOf(lines));
    for (const step of steps) {
      if ("read" in step) {
        const [offset, to] = step.read;
        await session.call("Read", { file_path: path, offset, limit: to - offset + 1 });
      } else if ("others" in step) writeFileSync(path, textOf(step.others));
      else if (step.by === "text") {
        const before = readFileSync(path, "utf8").split("\n");
        const old_string = textOf(before.slice(step.at, step.at + step.out));
        await session.call("Edit", { file_path: path, old_string, new_string: textOf(step.put) });
      } else {
        const range = step.out === 0 ? `before ${step.at + 1}` : `${step.at + 1}-${step.at + step.out}`;
        await session.call("EditLines", {
          file_path: path,
          edits: [{ lines: range, new_string: step.put.join("\n") }],
        });
      }
    }
    const before = readFileSync(path, "utf8");
    const reply = await session.call("EditLines", { file_path: path, edits: [edit] });
    const now = readFileSync(path, "utf8");
    if (after !== undefined && now === textOf(after)) return "right";
    if (now !== before) return "wrong";
    return reply.isError && after === undefined ? "refused" : "missed";
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * One call, or the same twice; the second one must change nothing and must be an error.
 * @param {any} session
 * @param {string} path
 * @param {Case} made
 */
async function play(session, path, made) {
  writeFileSync(path, made.before);
  const call = async (/** @type {Case} */ expected) => {
    const started = performance.now();
    const reply = await session.call("Edit", { file_path: path, ...made.input });
    const ms = performance.now() - started;
    return { score: { ...scoreOf(expected, readFileSync(path), reply), ms }, reply };
  };
  const first = await call(made);
  if (made.twice !== true) return [first];
  const second = await call({ ...made, before: made.after });
  // What must be refused and is counts as right in this table of calls that must be applied.
  const became = second.score.wrote ? /** @type {const} */ ("text wrong") : /** @type {const} */ ("correct");
  return [first, { ...second, score: { ...second.score, became } }];
}

/**
 * @param {Table} table
 * @param {string} name
 * @param {Kind["expect"]} expect
 * @param {readonly Timed[]} scores
 * @param {readonly object[]} [misses]
 */
function fill(table, name, expect, scores, misses = []) {
  const row = rowOf(table, name);
  const count = (/** @type {(score: Timed) => boolean} */ test) => scores.filter(test).length;
  const became = (/** @type {Score["became"]} */ what) => count((score) => score.became === what);
  const times = scores.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (/** @type {number} */ share) =>
    Number((times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0).toFixed(2));
  row.counts = {
    calls: scores.length,
    ...(expect === "apply"
      ? {
          correct: became("correct"),
          "whitespace wrong": became("whitespace wrong"),
          "text wrong": became("text wrong"),
        }
      : { "false applies": count(({ wrote }) => wrote) }),
    refused: became("refused"),
    "collateral bytes": scores.reduce((sum, { collateral }) => sum + collateral, 0),
    untrue: count(({ untrue }) => untrue),
    "p50 ms": at(0.5),
    "p99 ms": at(0.99),
  };
  if (misses.length > 0) row.misses = misses;
  return row;
}

/** The part of the file in which what is there and what should be there differ. @param {Case} made @param {Buffer} now */
function around({ before, after }, now) {
  let head = 0;
  while (head < Math.min(after.length, now.length) && after[head] === now[head]) head += 1;
  const from = Math.max(0, head - 200);
  const cut = (/** @type {Buffer} */ bytes) => bytes.subarray(from, from + 600).toString();
  return { before: cut(before), wanted: cut(after), now: cut(now) };
}
