/** What the suite `large` compares with what, and the gates: the values reached by the best known way plus headroom. */

import { addGate, addRatios, rowOf, typical, worst } from "../results.js";

/** @typedef {import("./large.js").Tables} Tables */
/** @typedef {import("../results.js").Row} Row */

export const deepReference = "wc -l";
export const secondReference = "pread of the exact bytes";
export const lastReference = "tail -n 2000";

const gates = /** @type {const} */ ({
  /** From this size on the scan, not the start, decides; from the next on a second thread takes part for long. */
  scanFromBytes: 1e9,
  threadFromBytes: 5e9,
  /** From this size on a page is a small part of the file. */
  pageFromBytes: 10e6,
  deepOfWc: 1.1,
  deepOfWcWithThread: 0.7,
  processOfWc: 1,
  indexedProcessOfNode: 2.2,
  memoryMb: 80,
  lagMs: 20,
  secondOfExact: 3,
  lastOfTail: 1,
  second5GbOf10Mb: 2,
});

/** @param {readonly Tables[]} done  from small to large */
export function compare(done) {
  for (const tables of done) compareOne(tables);
  const second = (/** @type {number} */ bytes) => {
    const table = done.find(({ second: { sizeBytes } }) => sizeBytes === bytes)?.second;
    return table === undefined ? undefined : rowOf(table, "Filehand, library");
  };
  const largest = second(5e9);
  const small = typical(second(10e6), "ms");
  const own = typical(largest, "ms");
  if (own !== undefined && small !== undefined) addGate(largest, "of 10 MB", own / small, gates.second5GbOf10Mb);
}

/** @param {Tables} tables */
function compareOne({ deep, second, last }) {
  const nodeRow = rowOf(deep, "node -e 0");
  const library = rowOf(deep, "Filehand, library");
  const command = rowOf(deep, "Filehand, command");
  const wc = typical(rowOf(deep, deepReference), "ms") ?? Number.NaN;
  const node = typical(nodeRow, "ms") ?? Number.NaN;
  const own = typical(command, "ms");
  const again = rowOf(deep, "Filehand, command, 2nd run");
  const ownAgain = typical(again, "ms");
  if (ownAgain !== undefined) again.ratio = { to: "node", value: ownAgain / node };
  if (own !== undefined) command.ratio = { to: "wc + node", value: own / (wc + node) };
  for (const table of [deep, second, last]) addRatios(table);

  const bytes = deep.sizeBytes ?? 0;
  if (bytes >= gates.scanFromBytes) {
    const threaded = bytes >= gates.threadFromBytes;
    addGate(library, "of wc", library.ratio?.value, threaded ? gates.deepOfWcWithThread : gates.deepOfWc);
    if (threaded && own !== undefined) addGate(command, "of wc", own / wc, gates.processOfWc);
    if (again.ratio !== undefined) addGate(again, "of node -e 0", again.ratio.value, gates.indexedProcessOfNode);
    addGate(library, "lag ms", worst(library, "lagMs"), gates.lagMs);
  }
  for (const row of [command, library]) addGate(row, "peak MB", worst(row, "rssMb"), gates.memoryMb);
  if ((deep.sizeBytes ?? 0) < gates.pageFromBytes) return;
  const secondRow = rowOf(second, "Filehand, library");
  addGate(secondRow, "of pread", secondRow.ratio?.value, gates.secondOfExact);
  const lastRow = rowOf(last, "Filehand, library");
  addGate(lastRow, "of tail", lastRow.ratio?.value, gates.lastOfTail);
}
