/** Bar plots of tables that the bench printed into docs/bench, as SVG that is readable on light and on dark ground. */

import { readFileSync } from "node:fs";

type Row = Readonly<Record<string, string>>;

/** A table of a run, by the beginning of its title: a row has its cells by the names of the columns. */
export function tableIn(file: string, title: string): readonly Row[] {
  const lines = readFileSync(file, "utf8").split("\n");
  const at = lines.findIndex((line) => line.startsWith(title));
  const rule = lines.findIndex((line, index) => index > at && line.startsWith("──"));
  if (at === -1 || rule === -1) throw new Error(`${file}: no table "${title}"`);
  const spans = [...(lines[rule] ?? "").matchAll(/─+/g)].map(
    ({ 0: mark, index }) => [index, index + mark.length] as const,
  );
  const cells = (line: string): readonly string[] => spans.map(([from, to]) => line.slice(from, to).trim());
  const names = cells(lines[rule - 1] ?? "");
  const end = lines.indexOf("", rule);
  return lines
    .slice(rule + 1, end === -1 ? undefined : end)
    .map((line) => Object.fromEntries(cells(line).map((cell, column) => [names[column] ?? "", cell])));
}

interface Bar {
  readonly name: string;
  /** undefined: there is no time, and `label` says why. */
  readonly value: number | undefined;
  readonly label: string;
}

const shown = [
  "Filehand",
  "Filehand, library",
  "Filehand, claude",
  "server-filesystem",
  "Desktop Commander",
  "Gemini CLI core",
  "Cline core",
  "pi",
];

function bars(file: string, title: string, withMemory: boolean): readonly Bar[] {
  const rows = tableIn(file, title).filter(({ method = "" }) => shown.includes(method));
  return rows.map(({ method = "", median = "", "peak RSS": memory = "", "right?": verdict = "" }) => ({
    name: method.replace(/,.*/, "").replace(/ core$/, ""),
    value: milliseconds(median),
    label:
      median === ""
        ? verdict.replace(/:.*/, "")
        : [median, ...(withMemory ? [memory.replace(/ \(.*/, "")] : [])].join(", "),
  }));
}

function milliseconds(text: string): number | undefined {
  const [, number, unit] = /^([\d.]+) (µs|ms|s)$/.exec(text) ?? [];
  if (number === undefined) return undefined;
  return Number(number) * (unit === "s" ? 1_000 : unit === "ms" ? 1 : 0.001);
}

const view = { width: 760, left: 150, right: 210, top: 56, row: 30 };

function draw(title: string, rows: readonly Bar[]): string {
  const most = Math.max(...rows.map(({ value }) => value ?? 0));
  const height = view.top + rows.length * view.row + 16;
  const scale = (view.width - view.left - view.right) / most;
  const lines = rows.map(({ name, value, label }, at) => {
    const y = view.top + at * view.row;
    const width = Math.max(value === undefined ? 0 : 1.5, (value ?? 0) * scale).toFixed(1);
    return [
      `<g class="${name === "Filehand" ? "own" : "peer"}">`,
      `<text x="${view.left - 12}" y="${y + 14}" text-anchor="end">${name}</text>`,
      `<rect x="${view.left}" y="${y}" width="${width}" height="20" rx="2"/>`,
      `<text x="${(view.left + Number(width) + 8).toFixed(1)}" y="${y + 14}" class="quiet">${label}</text>`,
      "</g>",
    ].join("");
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${view.width} ${height}" role="img" aria-label="${title}">`,
    "<style>",
    'text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #24292f; }',
    ".title { font-size: 16px; font-weight: 600; } .quiet { fill: #59636e; } .ground { fill: #ffffff; }",
    ".own rect { fill: #0b6b63; } .own text { font-weight: 600; } .peer rect { fill: #b8c0c8; }",
    "@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .quiet { fill: #9198a1; } .ground { fill: #161a1d; }",
    ".own rect { fill: #4fd1c0; } .peer rect { fill: #545d68; } }",
    "</style>",
    `<rect class="ground" width="${view.width}" height="${height}" rx="8"/>`,
    `<text class="title" x="20" y="30">${title}</text>`,
    ...lines,
    "</svg>",
    "",
  ].join("\n");
}

/** Path and text of each plot. */
export function benchPlots(): Readonly<Record<string, string>> {
  return {
    "docs/bench/edit.svg": draw(
      "Edit one line of 10 MB: time, and memory of the process",
      bars("docs/bench/edit-peers.txt", "edit: one line of 10 MB", true),
    ),
    "docs/bench/deep-read.svg": draw(
      "Read 20 lines at 90 % of 100 MB, first call: time, memory",
      bars("docs/bench/large-peers.txt", "large: 100 MB, 20 lines at 90 %", true),
    ),
    "docs/bench/warm.svg": draw(
      "Read the same 2,000 lines again and again: one call",
      bars("docs/bench/warm.txt", "warm: 2,000 lines, source", false),
    ),
  };
}
