/**
 * Suite `edit`: what a change costs. Every method changes a copy of its own, and the bytes on disk are compared before a
 * time counts. Workers stay open; each round gives every one its turn.
 */

import { createHash } from "node:crypto";
import { copyFileSync, createReadStream, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { build } from "rolldown";
import { folder as files, largeCorpus } from "../corpus.js";
import { peerMethods } from "../peers/index.js";
import { timeCommand } from "../process.js";
import { addGate, addRatios, addPairedRatios, addSample, rowOf, startTable, typical, worst } from "../results.js";
import { parseSize, showSize } from "../units.js";
import { openWorker } from "../worker-client.js";

/** @typedef {import("../results.js").Table} Table */
/** @typedef {import("../worker.js").Change} Change */
/** @typedef {import("../worker-client.js").Method} Method */
/** @typedef {import("../worker-client.js").Worker} Worker */
/** @typedef {{ readonly name: string, readonly worker: Worker }} Turn */
/** @typedef {(words: string) => void} Progress */

const roundsDefault = 9;
/** A gigabyte is copied and synced in every one. */
const giantRoundsMax = 3;
const warmUpMs = 300;
const turnMs = 150;
/** The times of a file tell less right after a change, so Filehand then compares the content as well. */
const calmMs = 1100;

const gates = /** @type {const} */ ({
  ofByHand: 1.5,
  /** At least five times as fast as the fastest peer. */
  ofFastestPeer: 1 / 5,
  ofCopy: 1.6,
  giantMb: 90,
  hunkMs: 5,
  /** All of a Write, to a new file or one that is there. */
  writeOfPlain: 4,
  /** The durable write by itself, of the package that does a part of it. */
  durableOfAtomic: 1,
  missMs: 100,
  /** What keeping the past may cost on top of a small edit. */
  historyMs: 0.5,
});

const own = (/** @type {string} */ name, /** @type {string} */ file, /** @type {string} */ variant = "") => ({
  name,
  module: new URL(`../editors/${file}.js`, import.meta.url),
  variant,
});
const filehand = own("Filehand", "filehand");
const byHand = own("by hand", "by-hand");
/** What the disk takes for a write that outlasts a power cut, whoever makes it: no gate can be below it. */
const bareWrite = own("bare durable write", "by-hand");
/** What the promises take of the system: a walk without links, a lock, a look at what is there, a look at what was written. */
const sameCalls = own("the system calls of Filehand alone", "same-calls");
/** What of a Write of Filehand is the durable write, and not the rules, the lock, the diff and the answer around it. */
const durableName = "Filehand, the durable write alone";
/** What most programs use that want a write to be whole. */
const atomicWrite = own("write-file-atomic", "write-file-atomic");
const plainWrite = own("fs.promises.writeFile", "write-file", "promise");
const copy = "cp && sync && mv";

/**
 * @param {import("../run.js").Setting} setting
 * @returns {Promise<Table[]>}
 */
export async function edit({ rounds = roundsDefault, sizeMax, peers, progress }) {
  mkdirSync(files, { recursive: true });
  // On the same file system as the other files, and not in memory.
  const folder = mkdtempSync(join(files, "..", "edit-"));
  try {
    const tables = [
      await largeEdit(folder, rounds, peers, progress),
      await smallEdit(folder, rounds, peers, progress),
      await pastKept(folder, rounds, progress),
      await hunk(folder, rounds, progress),
      await smallDiffs(folder, rounds, progress),
      await writes(folder, "create", rounds, peers, progress),
      await writes(folder, "write", rounds, peers, progress),
      await miss(folder, rounds, progress),
    ];
    const giant = 1e9;
    if (sizeMax < giant) process.stdout.write(`\nedit: 1 GB skipped: larger than --max-size ${showSize(sizeMax)}\n`);
    else tables.push(await giantEdit(folder, giant, Math.min(rounds, giantRoundsMax), progress));
    return tables;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * One line of a large file becomes another, longer one. `added` keeps the old line whole and adds words to it.
 * @param {number} bytes
 */
function changeIn(bytes) {
  const corpus = largeCorpus(bytes);
  if ("skipped" in corpus) throw new Error(corpus.skipped);
  const [line = ""] = corpus.linesOf({ ...corpus.deep, count: 1 });
  const longer = `${line} and a few words more`;
  const change = { old: line, new: `changed ${longer.slice(1)}` };
  return { path: corpus.path, at: corpus.deep.fromByte, change, added: { old: line, new: longer } };
}

/** @param {string} folder @param {number} rounds @param {boolean} peers @param {Progress} progress */
async function largeEdit(folder, rounds, peers, progress) {
  const bytes = parseSize("10MB") ?? 0;
  const { path: source, change: other, added } = changeIn(bytes);
  const before = readFileSync(source);
  const table = startTable("edit", `edit: one line of 10 MB, ${rounds} rounds`, byHand.name, bytes);
  const dry = own("Filehand, dry run", "filehand", "dry run");
  const adding = own("Filehand, words added", "filehand");
  const atOnce = own("Filehand, file just written", "filehand");
  await inTurns(
    table,
    folder,
    [filehand, adding, atOnce, dry, byHand, ...(peers ? peerMethods() : [])],
    rounds,
    progress,
    async (turn) => {
      const path = join(folder, "large.txt");
      const change = turn.name === adding.name ? added : other;
      copyFileSync(source, path);
      await settled();
      if (turn.name !== atOnce.name) await setTimeout(calmMs);
      const { ms, cpuMs, rssMb, lagMs } = await turn.worker.ask({ what: "edit", path, change });
      const right = readFileSync(path).equals(turn.name === dry.name ? before : spliced(before, change));
      return { sample: { ms, cpuMs, rssMb, lagMs }, right };
    },
  );
  addPairedRatios(table);
  for (const { name } of [filehand, adding]) {
    const row = rowOf(table, name);
    addGate(row, "of by hand", row.ratio?.value, gates.ofByHand);
    gateOfPeers(table, row);
  }
  return table;
}

/** @param {string} folder @param {number} rounds @param {boolean} peers @param {Progress} progress */
async function smallEdit(folder, rounds, peers, progress) {
  const lines = Array.from({ length: 500 }, (_, row) => `  const value${row} = await source.read(buffer, ${row});`);
  const change = { old: lines[250] ?? "", new: "  const changed = await other.read(buffer);" };
  const text = `${lines.join("\n")}\n`;
  const [before, after] = [Buffer.from(text), Buffer.from(text.replace(change.old, change.new))];
  const title = `edit: one line of 500, ${before.length} bytes, ${rounds} rounds of ${turnMs} ms, per call`;
  const table = startTable("edit", title, byHand.name, before.length);
  await inTurns(
    table,
    folder,
    [filehand, byHand, ...(peers ? peerMethods() : [])],
    rounds,
    progress,
    async (turn, round) => {
      const path = join(folder, "small.txt");
      writeFileSync(path, before);
      await turn.worker.ask({ what: "edit", path, change });
      const right = readFileSync(path).equals(after);
      writeFileSync(path, before);
      const forMs = round === 0 ? warmUpMs : turnMs;
      const { ms, cpuMs, rssMb } = await turn.worker.ask({ what: "edit", path, change, forMs });
      return { sample: { ms, cpuMs, rssMb }, right: right && readFileSync(path).equals(before) };
    },
  );
  addRatios(table);
  for (const row of table.rows) {
    const ms = typical(row, "ms");
    if (ms !== undefined) row.counts = { "calls/s": Math.round(1000 / ms) };
  }
  return table;
}

/**
 * The same small edit with and without the past of the file being kept. Every edit makes a content that there never was,
 * so each has to be stored.
 * @param {string} folder @param {number} rounds @param {Progress} progress
 */
async function pastKept(folder, rounds, progress) {
  const [edits, warmUpEdits] = [40, 2_000];
  const lines = Array.from({ length: 500 }, (_, row) => `  const value${row} = await source.read(buffer, ${row});`);
  const text = `${lines.join("\n")}\n`;
  const title = `edit: one line of 500 with the past kept, ${rounds} rounds of ${edits} edits, the median one`;
  const table = startTable("edit", title, filehand.name, text.length);
  // Beside the workspace and on the same file system.
  const stateDir = mkdtempSync(join(files, "..", "edit-state-"));
  const keeping = own("Filehand, history kept", "filehand", `history ${stateDir}`);
  try {
    await inTurns(table, folder, [filehand, keeping], rounds, progress, async (turn, round) => {
      const path = join(folder, "past.txt");
      writeFileSync(path, text);
      await settled();
      let old = lines[250] ?? "";
      const samples = [];
      for (let n = 0; n < (round === 0 ? warmUpEdits : edits); n += 1) {
        const change = { old, new: `  const changed${round}x${n} = await other.read(buffer, "${turn.name}");` };
        samples.push(await turn.worker.ask({ what: "edit", path, change }));
        old = change.new;
      }
      const [middle] = samples.toSorted((a, b) => a.ms - b.ms).slice(samples.length / 2);
      if (middle === undefined) throw new Error("there was no edit");
      const { ms, cpuMs, rssMb } = middle;
      const right = readFileSync(path, "utf8") === text.replace(lines[250] ?? "", () => old);
      return { sample: { ms, cpuMs, rssMb }, right };
    });
  } finally {
    rmSync(stateDir, { recursive: true, force: true });
  }
  addRatios(table);
  const row = rowOf(table, keeping.name);
  const [withIt, without] = [typical(row, "ms"), typical(rowOf(table, filehand.name), "ms")];
  if (withIt !== undefined && without !== undefined) addGate(row, "ms on top", withIt - without, gates.historyMs);
  return table;
}

/**
 * Short turns of a fixed number of calls, one method after the other, and ratios of what was measured in one round. All are
 * warm, by turns like those that count, since V8 compiles again what it meets in another way: the first thousands of calls
 * of a process run code that is not compiled yet, and a row of its own shows how that is.
 * @param {string} folder @param {"create" | "write"} what @param {number} rounds @param {boolean} peers @param {Progress} progress
 */
async function writes(folder, what, rounds, peers, progress) {
  const [warmUpTurns, turnCalls, firstCalls] = [120, 25, 100];
  const turns = rounds * 3;
  const content = (/** @type {string} */ word) => `${word} of a line that stands in a file of nine kB\n`.repeat(180);
  const change = { old: content("Begin"), new: content("Start") };
  const which = what === "create" ? "a new file" : "a file that is there";
  const title = `edit: Write of 9 kB to ${which}, ${turns} rounds of ${turnCalls} calls each, per call`;
  const table = startTable("edit", title, plainWrite.name, change.new.length);
  const stateDir = mkdtempSync(join(files, "..", "edit-state-"));
  const keeping = own("Filehand, history kept", "filehand", `history ${stateDir}`);
  const early = own(`Filehand, the first ${firstCalls} calls of a process`, "filehand");
  const sync = own("fs.writeFileSync", "write-file", "sync");
  const [disk] = await bundled(folder, { disk: "src/disk/disk.ts" });
  const durable = own(durableName, "durable-write", disk);
  const write = async (
    /** @type {Worker} */ worker,
    /** @type {number} */ calls,
    /** @type {() => Promise<unknown>} */ ready = settled,
  ) => {
    const place = mkdtempSync(join(folder, "write-"));
    const path = join(place, "file.txt");
    writeFileSync(path, change.old);
    await ready();
    const { ms, cpuMs, rssMb } = await worker.ask({ what, path, change, calls });
    await worker.ask({ what: "write", path, change });
    const right = readFileSync(path, "utf8") === change.new;
    rmSync(place, { recursive: true });
    return { sample: { ms, cpuMs, rssMb }, right };
  };
  try {
    const atomic = peers ? [atomicWrite] : [];
    const methods = [plainWrite, filehand, durable, ...atomic, bareWrite, sameCalls, keeping, early, sync];
    await inTurns(table, folder, methods, turns, progress, async (turn, round) => {
      if (turn.name !== early.name) {
        const anyTime = async () => undefined;
        const turnsBefore = round === 0 ? warmUpTurns : 0;
        for (let warm = 0; warm < turnsBefore; warm += 1) await write(turn.worker, turnCalls, anyTime);
        return write(turn.worker, turnCalls);
      }
      if (round === 0 || round > rounds) return undefined;
      const worker = await openWorker(early, folder);
      try {
        return await write(worker, firstCalls);
      } finally {
        worker.close();
      }
    });
  } finally {
    rmSync(stateDir, { recursive: true, force: true });
  }
  addPairedRatios(table);
  const [all, alone] = [rowOf(table, filehand.name), rowOf(table, durable.name)];
  addGate(all, "of writeFile", all.ratio?.value, gates.writeOfPlain);
  const [ms, atomicMs] = [typical(alone, "ms"), peers ? typical(rowOf(table, atomicWrite.name), "ms") : undefined];
  if (ms !== undefined && atomicMs !== undefined)
    addGate(alone, "of write-file-atomic", ms / atomicMs, gates.durableOfAtomic);
  return table;
}

/** @param {string} folder @param {number} rounds @param {Progress} progress */
async function miss(folder, rounds, progress) {
  const count = 100_000;
  const line = (/** @type {number} */ row) =>
    `  const value${row} = await source.read(buffer, ${row}, limits.pageLinesMax);`;
  const lines = Array.from({ length: count }, (_, row) => line(row));
  const at = 80_000;
  const old = lines.slice(at, at + 6);
  const calls = {
    "a word is another": [...old.slice(0, 3), (old[3] ?? "").replace("source", "sauce"), ...old.slice(4)],
    "nothing like it": old.map((_, row) => `Something else entirely, number ${row}, that no line of the file is like`),
    "thirty lines, the last one is another": [...lines.slice(at, at + 29), "  const value = other();"],
  };
  const path = join(folder, "miss.txt");
  writeFileSync(path, `${lines.join("\n")}\n`);
  const table = startTable("edit", `edit: a text that is not in 100,000 lines, with the help, ${rounds} rounds`, "");
  progress("edit, a text that is not there");
  const worker = await openWorker(filehand, folder);
  try {
    for (let round = 0; round <= rounds; round += 1) {
      for (const [name, asked] of Object.entries(calls)) {
        const change = { old: asked.join("\n"), new: `${asked.join("\n")}\n// changed` };
        const { ms, cpuMs, rssMb, lagMs, lines: said } = await worker.ask({ what: "miss", path, change });
        const right = said[0] !== undefined && /not found|no match|does not|not there|nearest/i.test(said[0]);
        const words = right ? `${said[0]?.length ?? 0} characters of help` : `it says: ${said[0] ?? ""}`;
        if (round > 0) addSample(rowOf(table, name), { ms, cpuMs, rssMb, lagMs }, { counts: right, words });
      }
    }
  } finally {
    worker.close();
  }
  for (const row of table.rows) addGate(row, "ms", typical(row, "ms"), gates.missMs);
  return table;
}

/**
 * The hunk is no public part of the package, so what makes it is bundled from the source.
 * @param {string} folder
 * @param {number} rounds
 * @param {Progress} progress
 */
async function hunk(folder, rounds, progress) {
  progress("edit, the hunk");
  const { path, change } = changeIn(10e6);
  const text = String(readFileSync(path));
  const from = text.indexOf(change.old);
  const to = from + change.old.length;
  const line = text.slice(0, from).split("\n").length;
  const { diffOfChanges, finish, hunksOfTexts } = await hunkMakers(folder);
  const source = { text, byteAt: (/** @type {number} */ at) => at };
  const ways = {
    "lines around the place, as Edit does": () =>
      finish(diffOfChanges(source, [{ from, to, text: change.new }], [{ line, linesBefore: 1, linesAfter: 1 }])),
    "two whole texts": () => hunksOfTexts(text, text.slice(0, from) + change.new + text.slice(to)),
  };
  const table = startTable("edit", `edit: the hunk of one line of 10 MB, ${rounds} rounds`, Object.keys(ways)[0] ?? "");
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, make] of Object.entries(ways)) {
      const started = performance.now();
      const { hunks, additions, deletions } = make();
      const ms = performance.now() - started;
      const right =
        hunks.length === 1 && additions === 1 && deletions === 1 && hunks[0].lines.includes(`+${change.new}`);
      if (round > 0) addSample(rowOf(table, name), { ms }, { counts: right, words: right ? "yes" : "wrong" });
    }
  }
  const row = rowOf(table, Object.keys(ways)[0] ?? "");
  addGate(row, "ms", typical(row, "ms"), gates.hunkMs);
  return table;
}

/**
 * The diff of a small file that is written anew, as Write makes it.
 * @param {string} folder
 * @param {number} rounds
 * @param {Progress} progress
 */
async function smallDiffs(folder, rounds, progress) {
  progress("edit, the diff of a small file");
  const [count, warmUpCalls, calls] = [180, 4_000, 500];
  const { hunksOfTexts } = await hunkMakers(folder);
  const text = (/** @type {(row: number) => string} */ line) =>
    Array.from({ length: count }, (_, row) => line(row)).join("");
  const numbered = (/** @type {string} */ word) => (/** @type {number} */ row) =>
    `  const ${word}${row} = await source.read(buffer, ${row}, limits);\n`;
  const before = text(numbered("value"));
  const pairs = {
    "every line another": { before, after: text(numbered("other")), changed: count },
    "every second line another": {
      before,
      after: text((row) => numbered(row % 2 === 0 ? "other" : "value")(row)),
      changed: count / 2,
    },
    "one line another": { before, after: text((row) => numbered(row === 90 ? "other" : "value")(row)), changed: 1 },
    "the same line throughout, another": {
      before: text(() => "Begin of a line that stands in a file of nine kB\n"),
      after: text(() => "Start of a line that stands in a file of nine kB\n"),
      changed: count,
    },
  };
  const title = `edit: the diff of ${count} lines, ${rounds} rounds of ${calls} calls each, per call`;
  const table = startTable("edit", title, Object.keys(pairs)[0] ?? "");
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, pair] of Object.entries(pairs)) {
      let [ms, right] = [0, true];
      const times = round === 0 ? warmUpCalls : calls;
      for (let call = 0; call < times; call += 1) {
        // Strings of their own, as they come from a file.
        const [a, b] = [String(Buffer.from(pair.before)), String(Buffer.from(pair.after))];
        const started = performance.now();
        const { additions, deletions } = hunksOfTexts(a, b);
        ms += performance.now() - started;
        right &&= additions === pair.changed && deletions === pair.changed;
      }
      if (round > 0)
        addSample(rowOf(table, name), { ms: ms / calls }, { counts: right, words: right ? "yes" : "wrong" });
    }
  }
  return table;
}

/** @param {string} folder @returns {Promise<any>} */
async function hunkMakers(folder) {
  const paths = await bundled(folder, { hunks: "src/text/diff/hunks.ts", steps: "src/text/steps.ts" });
  const [hunks, steps] = await Promise.all(paths.map((path) => import(pathToFileURL(path).href)));
  return { ...hunks, ...steps };
}

/** Parts of Filehand that are not public, by names that they get. @param {string} folder @param {Record<string, string>} input */
async function bundled(folder, input) {
  const dir = mkdtempSync(join(folder, "parts-"));
  await build({
    input,
    platform: "node",
    transform: { target: "node20" },
    external: [/^(?!@oxc-project\/)[@a-z]/],
    output: { dir, format: "es", entryFileNames: "[name].mjs", chunkFileNames: "[name].mjs" },
    logLevel: "silent",
  });
  return Object.keys(input).map((name) => join(dir, `${name}.mjs`));
}

/** @param {string} folder @param {number} bytes @param {number} rounds @param {Progress} progress */
async function giantEdit(folder, bytes, rounds, progress) {
  const { path: source, change, at } = changeIn(bytes);
  const path = join(folder, "giant.txt");
  const beside = join(folder, "beside.txt");
  const table = startTable("edit", `edit: one line of 1 GB, ${rounds} rounds`, copy, bytes);
  rowOf(table, filehand.name);
  progress("edit, 1 GB, a copy of the file");
  copyFileSync(source, path);
  const sums = { before: await sumOf(source), after: await sumOf(source, { at, change }) };
  for (let round = 1; round <= rounds; round += 1) {
    progress(`edit, 1 GB, round ${round} of ${rounds}`);
    // A process of its own in every round: its peak of memory is that of one edit.
    await settled();
    const { ms: copyMs } = await timeCommand(["sh", "-c", 'cp "$0" "$1" && sync "$1" && mv "$1" "$0"', path, beside]);
    addSample(rowOf(table, copy), { ms: copyMs }, { counts: true, words: "" });
    const worker = await openWorker(filehand, folder);
    try {
      const there = round % 2 === 1;
      await settled();
      await setTimeout(calmMs);
      const asked = there ? change : { old: change.new, new: change.old };
      const { ms, cpuMs, rssMb, lagMs } = await worker.ask({ what: "edit", path, change: asked });
      const right = (await sumOf(path)) === (there ? sums.after : sums.before);
      addSample(
        rowOf(table, filehand.name),
        { ms, cpuMs, rssMb, lagMs },
        { counts: right, words: right ? "yes" : "wrong" },
      );
    } finally {
      worker.close();
    }
  }
  addRatios(table);
  const row = rowOf(table, filehand.name);
  addGate(row, "of the copy", row.ratio?.value, gates.ofCopy);
  addGate(row, "peak MB", worst(row, "rssMb"), gates.giantMb);
  return table;
}

/**
 * Opens a worker for every method and gives each its turn in every round; the first round warms up.
 * @param {Table} table
 * @param {string} folder
 * @param {readonly (Method | { readonly name: string, readonly skipped: string })[]} methods
 * @param {number} rounds
 * @param {Progress} progress
 * @param {(turn: Turn, round: number) => Promise<{ sample: import("../results.js").Sample, right: boolean } | undefined>} take
 */
async function inTurns(table, folder, methods, rounds, progress, take) {
  /** @type {Turn[]} */
  const turns = [];
  try {
    for (const method of methods) {
      progress(`edit, loading ${method.name}`);
      const row = rowOf(table, method.name);
      if ("skipped" in method) row.failure = method.skipped;
      else {
        try {
          turns.push({ name: method.name, worker: await openWorker(method, folder) });
        } catch (error) {
          row.failure = String(error);
        }
      }
    }
    for (let round = 0; round <= rounds; round += 1) {
      for (const turn of turns) {
        const row = rowOf(table, turn.name);
        if (row.failure !== undefined || row.verdict?.counts === false) continue;
        progress(`${table.title.split(",")[0]}, round ${round} of ${rounds}, ${turn.name}`);
        try {
          const taken = await take(turn, round);
          if (taken === undefined) continue;
          const { sample, right } = taken;
          if (round > 0 || !right) addSample(row, sample, { counts: right, words: right ? "yes" : "wrong bytes" });
        } catch (error) {
          row.failure = error instanceof Error ? error.message : String(error);
        }
      }
    }
  } finally {
    for (const { worker } of turns) worker.close();
  }
}

/** @param {Table} table @param {import("../results.js").Row} row */
function gateOfPeers(table, row) {
  const peerNames = new Set(peerMethods().map(({ name }) => name));
  const times = table.rows.flatMap((other) => (peerNames.has(other.method) ? (typical(other, "ms") ?? []) : []));
  const ms = typical(row, "ms");
  if (times.length > 0 && ms !== undefined) {
    addGate(row, "of the fastest peer", ms / Math.min(...times), gates.ofFastestPeer);
  }
}

/** What an earlier method wrote is on its way to the disk and must not be paid for by the next one. */
const settled = () => timeCommand(["sync"]);

/** @param {Buffer} bytes @param {Change} change */
function spliced(bytes, change) {
  const old = Buffer.from(change.old);
  const at = bytes.indexOf(old);
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(change.new), bytes.subarray(at + old.length)]);
}

/**
 * A sum of the bytes of a file, of any size; with `edit` of those it will have.
 * @param {string} path
 * @param {{ readonly at: number, readonly change: Change }} [edit]
 */
async function sumOf(path, edit) {
  const hash = createHash("sha1");
  const add = async (/** @type {number} */ start, /** @type {number} */ end = Number.POSITIVE_INFINITY) => {
    for await (const part of createReadStream(path, { start, end, highWaterMark: 1 << 20 })) hash.update(part);
  };
  if (edit === undefined) await add(0);
  else {
    const { at, change } = edit;
    await add(0, at - 1);
    hash.update(change.new);
    await add(at + Buffer.byteLength(change.old));
  }
  return hash.digest("hex");
}
