/** Prints a table for people: columns that nobody fills are left out, gates stand next to their numbers. */

import { hasTime, typical, worst } from "./results.js";
import { digits, showTime } from "./units.js";

/** @typedef {import("./results.js").Row} Row */
/** @typedef {import("./results.js").Table} Table */

/** @typedef {{ readonly name: (table: Table) => string, readonly side: "left" | "right", cell(row: Row, table: Table): string }} Column */

/** @type {Column} */
const method = { name: () => "method", side: "left", cell: (row) => row.method };

/** @type {readonly Column[]} */
const measured = [
  { name: () => "median", side: "right", cell: (row) => time(typical(row, "ms")) },
  {
    name: () => "min",
    side: "right",
    cell: (row) => (hasTime(row) ? showTime(Math.min(...row.samples.map(({ ms }) => ms))) : ""),
  },
  { name: ({ reference }) => `of ${reference}`, side: "right", cell: ratio },
  { name: () => "pairs", side: "right", cell: ({ ratio: of }) => of?.spread?.map(digits).join(" to ") ?? "" },
  {
    name: () => "calls/s",
    side: "right",
    cell: (row, { suite }) => {
      const ms = typical(row, "ms");
      return suite === "warm" && ms !== undefined ? Math.round(1000 / ms).toLocaleString("en") : "";
    },
  },
  { name: () => "CPU", side: "right", cell: cpu },
  { name: () => "peak RSS", side: "right", cell: memory },
  { name: () => "loop lag", side: "right", cell: (row) => (hasTime(row) ? time(typical(row, "lagMs")) : "") },
  { name: () => "right?", side: "left", cell: (row) => short(row.failure ?? row.verdict?.words ?? "") },
  { name: () => "gate", side: "left", cell: (row) => row.gates.map(gate).join("; ") },
];

/** @param {Table} table @returns {readonly Column[]} */
function columnsOf({ rows }) {
  const counted = new Set(rows.flatMap(({ counts = {} }) => Object.keys(counts)));
  const counts = [...counted].map((name) => ({
    name: () => name,
    side: /** @type {const} */ ("right"),
    cell: (/** @type {Row} */ row) => (row.counts?.[name] === undefined ? "" : String(row.counts[name])),
  }));
  return [method, ...counts, ...measured];
}

/** @param {Table} table */
export function showTable(table) {
  const columns = columnsOf(table);
  const cells = table.rows.map((row) => columns.map((column) => column.cell(row, table)));
  const used = columns.map((_, index) => index).filter((index) => cells.some((row) => row[index] !== ""));
  const head = used.map((index) => columns[index]?.name(table) ?? "");
  const lines = [head, ...cells.map((row) => used.map((index) => row[index] ?? ""))];
  const widths = head.map((_, place) => Math.max(...lines.map((line) => (line[place] ?? "").length)));
  const show = (/** @type {string[]} */ line) =>
    line
      .map((cell, place) => {
        const side = columns[used[place] ?? 0]?.side;
        const space = " ".repeat((widths[place] ?? 0) - cell.length);
        return side === "right" ? space + cell : cell + space;
      })
      .join("  ")
      .trimEnd();
  const [first = [], ...rest] = lines;
  const rule = widths.map((width) => "─".repeat(width)).join("  ");
  return [`\n${table.title}`, "", show(first), rule, ...rest.map(show), ""].join("\n");
}

/** A peer's own words can be long; the JSON has them whole. @param {string} words */
const short = (words) => (words.length > wordsMax ? `${words.slice(0, wordsMax)}…` : words);
const wordsMax = 56;

/** @param {number | undefined} ms */
const time = (ms) => (ms === undefined ? "" : showTime(ms));

/** @param {Row} row @param {Table} table */
function ratio(row, table) {
  if (row.ratio === undefined) return "";
  const { to, value } = row.ratio;
  return to === table.reference ? digits(value) : `${digits(value)} of ${to}`;
}

/** Zero is what GNU time says of less than its step. @param {Row} row */
function cpu(row) {
  const ms = hasTime(row) ? typical(row, "cpuMs") : undefined;
  return ms === 0 ? "< 10 ms" : time(ms);
}

/** @param {Row} row */
function memory(row) {
  const peak = worst(row, "rssMb");
  if (peak === undefined) return "";
  const base = typical(row, "baseMb");
  const grown = base === undefined ? "" : ` (+${Math.round(Math.max(0, peak - base))})`;
  return `${Math.round(peak)} MB${grown}`;
}

/** @param {import("./results.js").Gate} gate */
const gate = ({ what, value, max, holds }) =>
  `${holds ? "pass" : "OVER"} ${what} ${digits(value)} ${holds ? "≤" : ">"} ${Number(max.toFixed(2))}`;
