/**
 * Suite `warm`: one read of 2,000 lines after another in a process that has done it before, in every dialect, against
 * the least such a read must do and against peers. Workers stay open; each round gives every one its turn.
 */

import { judge } from "../answers.js";
import { folder, smallCorpus } from "../corpus.js";
import { peerMethods } from "../peers/index.js";
import { addGate, addRatios, addSample, rowOf, startTable, typical } from "../results.js";
import { openWorker } from "../worker-client.js";

/** @typedef {import("../worker-client.js").Method} Method */
/** @typedef {import("../worker-client.js").Worker} Worker */
/** @typedef {import("../results.js").Table} Table */

const roundsDefault = 9;
const warmUpMs = 500;
const turnMs = 150;
const floor = "floor, by hand";
/** Three times as many calls a second. */
const ofFastestPeer = 1 / 3;

const isPeer = (/** @type {import("../results.js").Row} */ { method, failure }) =>
  failure === undefined && method !== floor && !method.startsWith("Filehand");

/** @type {readonly Method[]} */
const own = [
  { name: floor, module: new URL("../readers/floor.js", import.meta.url) },
  ...["claude", "claude, page not kept", "opencode", "opencode, page not kept", "opencode-legacy", "envelope"].map(
    (variant) => ({
      name: `Filehand, ${variant}`,
      module: new URL("../readers/filehand.js", import.meta.url),
      variant,
    }),
  ),
];

/**
 * @param {import("../run.js").Setting} setting
 * @returns {Promise<Table[]>}
 */
export async function warm({ rounds = roundsDefault, peers, progress }) {
  const files = [
    { corpus: smallCorpus("source"), words: "source with some non-ASCII" },
    { corpus: smallCorpus("log"), words: "ASCII log" },
  ];
  const tables = files.map(({ corpus, words }) => {
    const title = `warm: 2,000 lines, ${words}, ${corpus.bytes} bytes, ${rounds} rounds of ${turnMs} ms, per call`;
    return startTable("warm", title, floor, corpus.bytes);
  });
  const fail = (/** @type {string} */ method, /** @type {string} */ why) => {
    for (const table of tables) rowOf(table, method).failure = why;
  };

  /** @type {{ readonly name: string, readonly worker: Worker }[]} */
  const turns = [];
  try {
    for (const method of [...own, ...(peers ? peerMethods() : [])]) {
      progress(`warm, loading ${method.name}`);
      for (const table of tables) rowOf(table, method.name);
      if ("skipped" in method) fail(method.name, method.skipped);
      else {
        try {
          turns.push({ name: method.name, worker: await openWorker(method, folder) });
        } catch (error) {
          fail(method.name, String(error));
        }
      }
    }
    for (let round = 0; round <= rounds; round += 1) {
      for (const [index, { corpus }] of files.entries()) {
        const expected = { lines: corpus.linesOf(corpus.all), total: corpus.lines };
        for (const { name, worker } of turns) {
          const row = rowOf(/** @type {Table} */ (tables[index]), name); // one table per file
          if (row.failure !== undefined || row.verdict?.counts === false) continue;
          progress(`warm, round ${round} of ${rounds}, ${name}`);
          try {
            const forMs = round === 0 ? warmUpMs : turnMs;
            const answer = await worker.ask({ what: "read", path: corpus.path, span: corpus.all, forMs });
            const { ms, cpuMs, rssMb } = answer;
            const verdict = judge(answer, expected);
            if (round > 0 || !verdict.counts) addSample(row, { ms, cpuMs, rssMb }, verdict);
          } catch (error) {
            row.failure = error instanceof Error ? error.message : String(error);
          }
        }
      }
    }
  } finally {
    for (const { worker } of turns) worker.close();
  }
  for (const table of tables) {
    addRatios(table);
    const fastest = Math.min(...table.rows.filter(isPeer).map((row) => typical(row, "ms") ?? Number.POSITIVE_INFINITY));
    // Kept or not: a gate that only a page read before can pass must say so.
    for (const row of table.rows.filter(({ method }) => /^Filehand, (claude|opencode)(,|$)/.test(method))) {
      const ms = typical(row, "ms");
      if (ms !== undefined && Number.isFinite(fastest))
        addGate(row, "of the fastest peer", ms / fastest, ofFastestPeer);
    }
  }
  return tables;
}
