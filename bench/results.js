/** What suites hand back: tables of rows, each row the samples of one method. Ratios are taken inside one run only. */

import { median } from "./units.js";

/** @typedef {import("./answers.js").Verdict} Verdict */
/** @typedef {{ readonly what: string, readonly value: number, readonly max: number, readonly holds: boolean }} Gate */

/**
 * @typedef {object} Ratio
 * @property {string} to
 * @property {number} value
 * @property {readonly [least: number, most: number]} [spread]  of ratios that were taken pair by pair
 */

/**
 * @typedef {object} Sample
 * @property {number} ms
 * @property {number} [cpuMs]
 * @property {number} [rssMb]   peak of the process
 * @property {number} [baseMb]  peak before the call
 * @property {number} [lagMs]   the longest standstill of the event loop during the call
 */

/**
 * @typedef {object} Row
 * @property {string} method
 * @property {Sample[]} samples
 * @property {Verdict | undefined} verdict
 * @property {string | undefined} failure  why there is no time
 * @property {Ratio | undefined} ratio
 * @property {Gate[]} gates
 * @property {Record<string, number | string>} [counts]  columns of a suite that counts
 * @property {readonly object[]} [misses]  a few calls that went wrong, in the JSON only
 */

/**
 * @typedef {object} Table
 * @property {string} suite
 * @property {string} title
 * @property {number | undefined} sizeBytes
 * @property {string} reference  the method that ratios are taken to
 * @property {Row[]} rows
 */

/**
 * @param {string} suite
 * @param {string} title
 * @param {string} reference
 * @param {number} [sizeBytes]
 * @returns {Table}
 */
export const startTable = (suite, title, reference, sizeBytes) => ({ suite, title, sizeBytes, reference, rows: [] });

/** The row of a method, made at its first sample. @param {Table} table @param {string} method @returns {Row} */
export function rowOf(table, method) {
  const known = table.rows.find((row) => row.method === method);
  if (known !== undefined) return known;
  /** @type {Row} */
  const row = { method, samples: [], verdict: undefined, failure: undefined, ratio: undefined, gates: [] };
  table.rows.push(row);
  return row;
}

/**
 * Takes a sample; one wrong answer takes away all times of the method.
 * @param {Row} row
 * @param {Sample} sample
 * @param {Verdict} verdict
 */
export function addSample(row, sample, verdict) {
  if (row.verdict?.counts !== false) row.verdict = verdict;
  row.samples.push(sample);
}

/** @param {Row | undefined} row */
export const hasTime = (row) =>
  row !== undefined && row.failure === undefined && row.samples.length > 0 && row.verdict?.counts !== false;

/**
 * The median of one property; undefined where no sample has it.
 * @param {Row | undefined} row
 * @param {keyof Sample} key
 */
export function typical(row, key) {
  if (row === undefined || (key === "ms" && !hasTime(row))) return undefined;
  const values = row.samples.map((sample) => sample[key]).filter((value) => value !== undefined);
  return values.length === 0 ? undefined : median(values);
}

/** The largest of one property. @param {Row} row @param {"rssMb" | "lagMs"} key */
export function worst(row, key) {
  const values = row.samples.map((sample) => sample[key]).filter((value) => value !== undefined);
  return values.length === 0 ? undefined : Math.max(...values);
}

/** Fills in the ratios of all rows that have none. @param {Table} table */
export function addRatios(table) {
  const reference = typical(
    table.rows.find((row) => row.method === table.reference),
    "ms",
  );
  if (reference === undefined) return;
  for (const row of table.rows) {
    const own = typical(row, "ms");
    if (own !== undefined) row.ratio ??= { to: table.reference, value: own / reference };
  }
}

/**
 * The same for methods that ran in turns: each sample against the one of the reference beside it, so that what slows the machine
 * for a while slows both. The ratio is the median of those, and how far they lie apart tells how quiet the machine was.
 * @param {Table} table
 */
export function addPairedRatios(table) {
  const reference = table.rows.find((row) => row.method === table.reference);
  if (reference === undefined || !hasTime(reference)) return;
  for (const row of table.rows.filter(hasTime)) {
    const pairs = row.samples.map(({ ms }, at) => ms / (reference.samples[at]?.ms ?? Number.NaN));
    const ratio = { to: table.reference, value: median(pairs) };
    row.ratio = row === reference ? ratio : { ...ratio, spread: [Math.min(...pairs), Math.max(...pairs)] };
  }
}

/**
 * @param {Row | undefined} row
 * @param {string} what
 * @param {number | undefined} value
 * @param {number} max
 */
export function addGate(row, what, value, max) {
  if (row === undefined || value === undefined || Number.isNaN(value)) return;
  row.gates.push({ what, value, max, holds: value <= max });
}
