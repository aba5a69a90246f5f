/**
 * Draws sizes against times as an SVG, both axes logarithmic: the suite `large` with one line per method, and each row of the suite
 * `growth`. Made by hand, because a picture of twelve lines is no reason for a library. Readable on light and on dark ground.
 */

import { hasTime, typical } from "./results.js";
import { showSize, showTime } from "./units.js";

/** @typedef {import("./results.js").Table} Table */
/** @typedef {{ readonly size: number, readonly ms: number }} Point */
/** @typedef {{ readonly name: string, readonly kind: "own" | "reference" | "peer", readonly points: readonly Point[] }} Series */

const view = { width: 1000, height: 560, left: 78, right: 255, top: 70, bottom: 58 };
const plot = {
  x: view.left,
  y: view.top,
  width: view.width - view.left - view.right,
  height: view.height - view.top - view.bottom,
};
const labelHeight = 17;

const style = `
  text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #24292f; }
  .title { font-size: 17px; font-weight: 600; }
  .quiet { fill: #656d76; font-size: 12px; }
  .ground { fill: #ffffff; }
  .grid { stroke: #d8dee4; stroke-width: 1; }
  .line { fill: none; stroke-width: 1.75; stroke-linejoin: round; }
  .own .line { stroke-width: 3.25; }
  .own text { font-weight: 600; }
  .reference .line { stroke: #818b98; stroke-dasharray: 5 4; }
  .reference circle { fill: #818b98; }
  .reference text { fill: #656d76; }
  .leader { stroke: #afb8c1; stroke-width: 0.75; fill: none; }
  .own-0 .line { stroke: #0550ae; } .own-0 circle, .own-0 text { fill: #0550ae; }
  .own-1 .line { stroke: #3d8bfd; } .own-1 circle, .own-1 text { fill: #1f6feb; }
  .own-2 .line { stroke: #54aeff; stroke-width: 2; } .own-2 circle, .own-2 text { fill: #218bff; }
  .peer-0 .line { stroke: #bc4c00; } .peer-0 circle, .peer-0 text { fill: #bc4c00; }
  .peer-1 .line { stroke: #8250df; } .peer-1 circle, .peer-1 text { fill: #8250df; }
  .peer-2 .line { stroke: #1a7f37; } .peer-2 circle, .peer-2 text { fill: #1a7f37; }
  .peer-3 .line { stroke: #bf3989; } .peer-3 circle, .peer-3 text { fill: #bf3989; }
  .peer-4 .line { stroke: #9a6700; } .peer-4 circle, .peer-4 text { fill: #9a6700; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .quiet { fill: #9198a1; }
    .ground { fill: #0d1117; }
    .grid { stroke: #2d333b; }
    .leader { stroke: #545d68; }
    .reference text { fill: #9198a1; }
    .own-0 .line { stroke: #79c0ff; } .own-0 circle, .own-0 text { fill: #79c0ff; }
    .own-1 .line { stroke: #388bfd; } .own-1 circle, .own-1 text { fill: #58a6ff; }
    .own-2 .line { stroke: #1f6feb; } .own-2 circle, .own-2 text { fill: #4493f8; }
    .peer-0 .line { stroke: #f0883e; } .peer-0 circle, .peer-0 text { fill: #f0883e; }
    .peer-1 .line { stroke: #bc8cff; } .peer-1 circle, .peer-1 text { fill: #bc8cff; }
    .peer-2 .line { stroke: #56d364; } .peer-2 circle, .peer-2 text { fill: #56d364; }
    .peer-3 .line { stroke: #f778ba; } .peer-3 circle, .peer-3 text { fill: #f778ba; }
    .peer-4 .line { stroke: #e3b341; } .peer-4 circle, .peer-4 text { fill: #e3b341; }
  }`;

/**
 * @param {readonly Table[]} tables
 * @param {{ readonly node: string, readonly cores: number, readonly fileSystem: string, readonly date: string }} machine
 */
export function drawChart(tables, machine) {
  const series = seriesOf(tables.filter(({ suite, title }) => suite === "large" && title.includes("first call")));
  return drawPlot({
    title: series.length === 0 ? 'The suite "large" was not run' : "20 lines at 90 % of a file: time of the first read",
    subtitle:
      "Median time of the call; commands are whole processes. Dashed: for comparison. A line ends where a tool fails or answers wrong lines.",
    label: "Time of the first read by file size",
    foot: `Node ${machine.node}, ${machine.cores} cores, ${machine.fileSystem}, hot cache, ${machine.date.slice(0, 10)}`,
    sizeWords: showSize,
    series,
  });
}

/**
 * @param {object} plotted
 * @param {string} plotted.title
 * @param {string} plotted.subtitle
 * @param {string} plotted.label   for those who do not see it
 * @param {string} plotted.foot
 * @param {(size: number) => string} plotted.sizeWords
 * @param {readonly Series[]} plotted.series
 */
export function drawPlot({ title, subtitle, label, foot, sizeWords, series }) {
  const heading = `<text class="title" x="20" y="30">${escape(title)}</text>`;
  const points = series.flatMap((one) => one.points);
  if (points.length === 0) return svg(label, [heading]);
  const x = scale(sizeMarks(points.map(({ size }) => size)), plot.x, plot.x + plot.width);
  const y = scale(decades(points.map(({ ms }) => ms)), plot.y + plot.height, plot.y);
  const place = (/** @type {Point} */ point) => /** @type {const} */ ([x.at(point.size), y.at(point.ms)]);
  return svg(label, [
    heading,
    `<text class="quiet" x="20" y="50">${escape(subtitle)}</text>`,
    ...x.marks.map((mark) => gridLine(x.at(mark), plot.y, x.at(mark), plot.y + plot.height)),
    ...y.marks.map((mark) => gridLine(plot.x, y.at(mark), plot.x + plot.width, y.at(mark))),
    ...x.marks.map((mark) => tick(x.at(mark), plot.y + plot.height + 20, "middle", sizeWords(mark))),
    ...y.marks.map((mark) => tick(plot.x - 10, y.at(mark) + 4, "end", showTime(mark).replace(/\.0+(?= )/, ""))),
    ...drawSeries(series, place),
    `<text class="quiet" x="${plot.x}" y="${view.height - 14}">${escape(foot)}</text>`,
  ]);
}

/** @param {readonly Table[]} tables @returns {readonly Series[]} */
function seriesOf(tables) {
  const names = [...new Set(tables.flatMap(({ rows }) => rows.map(({ method }) => method)))];
  return names
    .map((name) => ({
      name,
      kind: kindOf(name),
      points: tables.flatMap(({ sizeBytes, rows }) => {
        const row = rows.find(({ method }) => method === name);
        const ms = typical(row, "ms");
        return sizeBytes !== undefined && ms !== undefined && hasTime(row) ? [{ size: sizeBytes, ms }] : [];
      }),
    }))
    .filter(({ points }) => points.length > 0);
}

/** @param {string} name @returns {Series["kind"]} */
function kindOf(name) {
  if (name.startsWith("Filehand")) return "own";
  return /^(node|wc|sed|tail|pread)\b/.test(name) ? "reference" : "peer";
}

/**
 * Lines first, then their names at the right edge, pushed apart where they would cover each other.
 * @param {readonly Series[]} all
 * @param {(point: Point) => readonly [number, number]} place
 */
function drawSeries(all, place) {
  /** @type {Record<Series["kind"], number>} */
  const seen = { own: 0, reference: 0, peer: 0 };
  const drawn = all.map(({ name, kind, points }) => {
    const spots = points.map(place);
    const path = spots.map(([px, py], index) => `${index === 0 ? "M" : "L"}${fixed(px)} ${fixed(py)}`).join("");
    const dots = spots.map(([px, py]) => `<circle cx="${fixed(px)}" cy="${fixed(py)}" r="${kind === "own" ? 4 : 3}"/>`);
    const group = `<g class="${kind} ${kind}-${seen[kind]++}">`;
    const end = spots.at(-1) ?? /** @type {const} */ ([0, 0]);
    return { name, kind, group, end, line: `${group}<path class="line" d="${path}"/>${dots.join("")}</g>` };
  });
  const edge = plot.x + plot.width;
  const labelled = drawn.toSorted((a, b) => a.end[1] - b.end[1]);
  const heights = apart(labelled.map(({ end }) => end[1]));
  const labels = labelled.map(({ name, group, end: [px, py] }, index) => {
    const height = heights[index] ?? py;
    const leader = `<path class="leader" d="M${fixed(px + 5)} ${fixed(py)}L${edge + 8} ${fixed(py)}L${edge + 18} ${fixed(height)}"/>`;
    return `${leader}${group}<text x="${edge + 22}" y="${fixed(height + 4)}">${escape(name)}</text></g>`;
  });
  const background = drawn.filter(({ kind }) => kind !== "own").map(({ line }) => line);
  const foreground = drawn.filter(({ kind }) => kind === "own").map(({ line }) => line);
  return [...labels, ...background, ...foreground];
}

/** Heights in the same order, no two nearer than a label is high. @param {readonly number[]} wanted  ascending */
function apart(wanted) {
  const heights = [...wanted];
  for (let index = 1; index < heights.length; index += 1) {
    heights[index] = Math.max(heights[index] ?? 0, (heights[index - 1] ?? 0) + labelHeight);
  }
  const lowest = plot.y + plot.height;
  for (let index = heights.length - 1; index >= 0; index -= 1) {
    const limit = index === heights.length - 1 ? lowest : (heights[index + 1] ?? lowest) - labelHeight;
    heights[index] = Math.min(heights[index] ?? 0, limit);
  }
  return heights;
}

/** Powers of ten, and the largest size itself. @param {readonly number[]} sizes */
function sizeMarks(sizes) {
  const largest = Math.max(...sizes);
  const marks = decades(sizes).filter((mark) => mark < largest);
  return [...marks, Math.max(largest, 10 * (marks.at(-1) === marks[0] ? (marks[0] ?? 1) : 0))];
}

/** Whole powers of ten around the values. @param {readonly number[]} values */
function decades(values) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  return Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
}

/** @param {readonly number[]} marks @param {number} from @param {number} to */
function scale(marks, from, to) {
  const low = Math.log10(marks[0] ?? 1);
  const high = Math.log10(marks.at(-1) ?? 10);
  const at = (/** @type {number} */ value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from);
  return { marks, at };
}

/** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 */
const gridLine = (x1, y1, x2, y2) =>
  `<line class="grid" x1="${fixed(x1)}" y1="${fixed(y1)}" x2="${fixed(x2)}" y2="${fixed(y2)}"/>`;

/** @param {number} x @param {number} y @param {"middle" | "end"} anchor @param {string} text */
const tick = (x, y, anchor, text) =>
  `<text class="quiet" x="${fixed(x)}" y="${fixed(y)}" text-anchor="${anchor}">${escape(text)}</text>`;

const fixed = (/** @type {number} */ value) => Number(value.toFixed(1));
const escape = (/** @type {string} */ text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** @param {string} label @param {readonly string[]} parts */
const svg = (label, parts) =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${view.width} ${view.height}" role="img" aria-label="${escape(label)}">`,
    `<style>${style}\n</style>`,
    `<rect class="ground" width="${view.width}" height="${view.height}" rx="8"/>`,
    ...parts,
    "</svg>\n",
  ].join("\n");
