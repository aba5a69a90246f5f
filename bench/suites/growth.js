/**
 * Suite `growth`: how cost grows with the work. Each row runs at several sizes; the table says the slope of the log-log fit, the
 * largest jump, memory, the longest pause of the event loop, and whether the row passes. A whole run draws a plot a row.
 */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { drawPlot } from "../chart.js";
import { bounds, looseBounds } from "../growth/fit.js";
import { measureRow } from "../growth/measure.js";
import { inMemory } from "../growth/row.js";
import { rows } from "../growth/rows.js";
import { digits, showTime } from "../units.js";

/** @typedef {import("../growth/measure.js").Result} Result */
/** @typedef {{ readonly date: string, readonly node: string, readonly cores: number, readonly filehand: string, readonly build: string, readonly system: string }} Machine */

/**
 * One row as the JSON has it.
 * @typedef {object} Kept
 * @property {string} row
 * @property {string} title
 * @property {string} unit
 * @property {import("../growth/row.js").Grows} grows
 * @property {string | undefined} note
 * @property {readonly { readonly size: number, readonly ms: number, readonly peakMb: number, readonly pauseMs: number, readonly rounds: number }[]} points
 * @property {import("../growth/fit.js").Fit | undefined} fit
 * @property {readonly string[]} faults
 * @property {number} seconds
 * @property {string} measured  when, and what
 */

const docs = fileURLToPath(new URL("../../docs/bench", import.meta.url));

/**
 * @param {object} setting
 * @param {boolean} setting.quick
 * @param {string | undefined} setting.row
 * @param {Machine} setting.machine
 * @param {(words: string) => void} setting.progress
 * @returns {Promise<boolean>}  whether every row passes
 */
export async function growth({ quick, row: wanted, machine, progress }) {
  const chosen = rows.filter(({ name }) => wanted === undefined || name === wanted || name.startsWith(`${wanted}-`));
  if (chosen.length === 0) {
    process.stderr.write(
      `Cannot run the row "${wanted}": there is none, use one of ${rows.map(({ name }) => name).join(", ")}\n`,
    );
    return false;
  }
  const shared = mkdtempSync(join(inMemory(), "filehand-growth-shared-"));
  /** @type {Kept[]} */
  const results = [];
  const started = performance.now();
  try {
    process.stdout.write(`\n${head()}\n`);
    for (const row of chosen) {
      const result = await measureRow(row, { quick, bounds: quick ? looseBounds : bounds, shared, progress });
      progress("");
      const kept = keptOf(result, machine);
      results.push(kept);
      process.stdout.write(`${line(kept)}\n`);
    }
  } finally {
    rmSync(shared, { recursive: true, force: true, maxRetries: 10 });
  }
  for (const result of results) process.stdout.write(`\n${details(result)}\n`);
  const failed = results.filter(({ faults }) => faults.length > 0).length;
  const minutes = Math.round((performance.now() - started) / 6_000) / 10;
  process.stdout.write(`\n${results.length - failed} of ${results.length} rows pass, in ${minutes} minutes\n`);
  if (!quick) writeDocs(results, machine);
  return failed === 0;
}

/** @param {Result} result @param {Machine} machine @returns {Kept} */
function keptOf({ row: { name, title, unit, grows, note }, points, fit, faults, seconds }, machine) {
  const measured = `${machine.date.slice(0, 10)}, build ${machine.build}`;
  const rounded = points.map(({ ms, peakMb, pauseMs, ...rest }) => ({
    ...rest,
    ms: Number(ms.toPrecision(4)),
    peakMb: Math.round(peakMb),
    pauseMs: Math.round(pauseMs),
  }));
  return { row: name, title, unit, grows, note, points: rounded, fit, faults, seconds, measured };
}

/** Rows that were not measured now stay as they are: the numbers of one row are compared with each other only. @param {readonly Kept[]} results @param {Machine} machine */
function writeDocs(results, machine) {
  mkdirSync(docs, { recursive: true });
  const path = join(docs, "growth.json");
  /** @type {readonly Kept[]} */
  const old = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).rows : [];
  const all = rows.flatMap(({ name }) => [...results, ...old].find(({ row }) => row === name) ?? []);
  const { date, node, cores, system } = machine;
  writeFileSync(path, `${JSON.stringify({ date, node, cores, system, bounds, rows: all }, undefined, 1)}\n`);
  const passed = all.filter(({ faults }) => faults.length === 0).length;
  const parts = [
    `growth: ${passed} of ${all.length} rows pass; Node ${node}, ${system}, ${cores} cores. Made by npm run bench -- growth, whole or row by row; each row names its day and build`,
    [head(), ...all.map(line)].join("\n"),
    forecast(all),
    ...all.map(details),
  ];
  writeFileSync(join(docs, "growth.txt"), `${parts.join("\n\n")}\n`);
  for (const result of results) {
    if (result.points.length > 1) writeFileSync(join(docs, `growth-${result.row}.svg`), plot(result, machine));
  }
}

/**
 * The model of docs/explanation/scale.md: what every call costs, and a price for each unit, from the smallest and the largest size.
 * @param {readonly Kept[]} all
 */
function forecast(all) {
  const lines = all.flatMap(({ row, grows, unit, points }) => {
    const [first, last] = [points[0], points.at(-1)];
    if (first === undefined || last === undefined || first === last) return [];
    const each = grows === "linear" ? Math.max(0, last.ms - first.ms) / (last.size - first.size) : 0;
    const at = (/** @type {number} */ times) =>
      showTime(Math.max(last.ms, first.ms + each * (times * last.size - first.size)));
    const cells = [row, `${showCount(last.size)} ${unit}`, showTime(last.ms), at(10), at(100)];
    return [
      cells
        .map((cell, index) => cell.padEnd([24, 26, 10, 10, 0][index] ?? 0))
        .join(" ")
        .trimEnd(),
    ];
  });
  const title = ["forecast", "largest size", "cost", "10 times", "100 times"];
  return [title.map((cell, index) => cell.padEnd([24, 26, 10, 10, 0][index] ?? 0)).join(" "), ...lines].join("\n");
}

const columns = /** @type {const} */ ([24, 9, 24, 21, 7, 6, 9, 8]);

/** @param {readonly string[]} cells */
const pad = (cells) =>
  cells
    .map((cell, at) => (columns[at] === undefined ? cell : cell.padEnd(columns[at] ?? 0)))
    .join(" ")
    .trimEnd();

const head = () => pad(["row", "grows", "sizes", "cost of a call", "slope", "jump", "memory", "pause", "verdict"]);

/** @param {Kept} result */
function line({ row, grows, unit, points, fit, faults }) {
  const [first, last] = [points[0], points.at(-1)];
  const verdict = faults.length === 0 ? "passes" : `FAILS: ${faults.join("; ").replaceAll(/\s+/g, " ").slice(0, 200)}`;
  if (first === undefined || last === undefined || fit === undefined)
    return pad([row, grows, unit, "", "", "", "", "", verdict]);
  return pad([
    row,
    grows,
    `${showCount(first.size)} to ${showCount(last.size)} ${unit}`,
    `${showTime(first.ms)} to ${showTime(last.ms)}`,
    fit.slope.toFixed(2),
    digits(fit.jump),
    `${Math.round(fit.peakMb)} MB`,
    showPause(fit.pauseMs),
    verdict,
  ]);
}

/** @param {Kept} result */
function details({ row, title, unit, points, note, measured, seconds }) {
  const sizes = points.map(
    ({ size, ms, peakMb, pauseMs }) =>
      `  ${`${showCount(size)} ${unit}`.padEnd(26)} ${showTime(ms).padStart(9)}  ${String(peakMb).padStart(5)} MB  pause ${showPause(pauseMs).padStart(7)}`,
  );
  const more = note === undefined ? [] : [`  ${note}`];
  return [`${row}: ${title} (${measured}, ${seconds} s)`, ...more, ...sizes].join("\n");
}

/** Nothing where the work is in another process. The JSON has null there. @param {number | null} ms */
const showPause = (ms) => (ms === null || Number.isNaN(ms) ? "-" : `${Math.round(ms)} ms`);

/** Powers of ten as such, so that nobody counts zeros. @param {number} count */
const showCount = (count) => {
  const power = Math.log10(count);
  return count >= 1e5 && Number.isInteger(power) ? `10^${power}` : count.toLocaleString("en");
};

/** @param {Kept} result @param {Machine} machine */
function plot({ row, title, unit, grows, points, fit, measured }, machine) {
  const last = points.at(-1) ?? { size: 1, ms: 1 };
  const share = points.map(({ size }) => ({ size, ms: grows === "linear" ? (last.ms * size) / last.size : last.ms }));
  const shown = points.map(({ size, ms }) => ({ size, ms }));
  // As low as the measured times, so that these keep the room.
  const least = Math.min(...shown.map(({ ms }) => ms));
  return drawPlot({
    title,
    subtitle: `Cost of a call by ${unit}: processor time, the least of several rounds. Slope ${fit?.slope.toFixed(2) ?? "unknown"}, largest jump ${fit === undefined ? "unknown" : digits(fit.jump)}.`,
    label: `${row}: cost by ${unit}`,
    foot: `Node ${machine.node}, ${machine.cores} cores, ${measured}`,
    sizeWords: showCount,
    series: [
      { name: "Filehand", kind: "own", points: shown },
      {
        name: grows === "linear" ? "its share" : "no growth",
        kind: "reference",
        points: share.filter(({ ms }) => ms >= least / 2),
      },
    ],
  });
}
