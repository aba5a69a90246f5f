/** The tables of numbers: by tool, by file, what failed, and the numbers of a plot over time. */

import type { ComponentChildren } from "preact";
import type { FailureUsage, WorkspaceUsage, FileUsage, ToolUsage } from "../../../src/surfaces/inspector/wire.ts";
import { count, duration, short, time } from "../shell/words.ts";
import { Name, Path } from "../text/shown-text.tsx";
import { heightsOf, type Layer } from "./series.ts";

/** `number`: aligned to the right. */
export type Column<Row> = readonly [
  title: ComponentChildren,
  cell: (row: Row) => ComponentChildren,
  number?: "number" | ((row: Row) => string),
];

interface TableProps<Row> {
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  /** The first column names the row. */
  readonly columns: readonly Column<Row>[];
  readonly tall?: boolean;
  /** The label, or the id of the element that is the label. */
  readonly label: { readonly "aria-label": string } | { readonly "aria-labelledby": string };
}

export function Table<Row>({ rows, keyOf, columns, tall = true, label }: TableProps<Row>) {
  return (
    <div class={`table-frame ${tall ? "table-tall" : ""}`} tabIndex={0} role="region" {...label}>
      <table>
        <thead>
          <tr>
            {columns.map(([title, , number], at) => (
              <th key={at} scope="col" class={number && "number"}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(([, cell, number], at) =>
                at === 0 ? (
                  <th key={at} scope="row">
                    {cell(row)}
                  </th>
                ) : (
                  <td key={at} class={typeof number === "function" ? number(row) : number}>
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A number before a bar that is as long as its share of the largest. */
export const Bar = ({
  value,
  max,
  words,
}: {
  readonly value: number;
  readonly max: number;
  readonly words: string;
}) => (
  <span class="bar">
    <span
      class="bar-fill"
      style={{ width: `${max <= 0 ? 0 : Math.max(1, (value / max) * 100)}%` }}
      aria-hidden="true"
    />
    <span class="bar-words">{words}</span>
  </span>
);

const savedWords = ({ tokensSaved }: { readonly tokensSaved: number }): string =>
  tokensSaved === 0 ? "" : short(tokensSaved);

export function ToolTable({ tools }: { readonly tools: readonly ToolUsage[] }) {
  const tokensMax = Math.max(...tools.map(({ tokensGiven }) => tokensGiven));
  const slowest = Math.max(...tools.map(({ elapsedMs }) => elapsedMs.p99));
  const columns: readonly Column<ToolUsage>[] = [
    ["Tool", ({ tool }) => <Name text={tool} />],
    ["Calls", ({ calls }) => count(calls), "number"],
    ["Failed", ({ failures }) => count(failures), ({ failures }) => (failures > 0 ? "number bad" : "number")],
    ["Tokens given", ({ tokensGiven }) => <Bar value={tokensGiven} max={tokensMax} words={short(tokensGiven)} />],
    ["Saved", savedWords, "number"],
    ["Half within", ({ elapsedMs }) => duration(elapsedMs.p50), "number"],
    ["90 % within", ({ elapsedMs }) => duration(elapsedMs.p90), "number"],
    ["99 % within", ({ elapsedMs: { p99 } }) => <Bar value={p99} max={slowest} words={duration(p99)} />],
    ["Longest", ({ elapsedMs }) => duration(elapsedMs.max), "number"],
  ];
  return (
    <section class="figure figure-wide">
      <h2 id="tools-title">By tool</h2>
      <Table
        rows={tools}
        keyOf={({ tool }) => tool}
        columns={columns}
        tall={false}
        label={{ "aria-labelledby": "tools-title" }}
      />
    </section>
  );
}

export function FileTable({ files, total }: { readonly files: readonly FileUsage[]; readonly total: number }) {
  const max = files[0]?.tokensGiven ?? 0;
  const columns: readonly Column<FileUsage>[] = [
    ["File", ({ path }) => <Path path={path === "" ? "./" : path} />],
    ["Calls", ({ calls }) => count(calls), "number"],
    ["Tokens given", ({ tokensGiven }) => <Bar value={tokensGiven} max={max} words={short(tokensGiven)} />],
    ["Saved", savedWords, "number"],
  ];
  return (
    <section class="figure">
      <h2 id="files-title">
        By file{" "}
        {total > files.length && (
          <span class="quiet">
            the first {files.length} of {count(total)}
          </span>
        )}
      </h2>
      <Table rows={files} keyOf={({ path }) => path} columns={columns} label={{ "aria-labelledby": "files-title" }} />
    </section>
  );
}

interface FailureTableProps {
  readonly title: string;
  readonly failures: readonly FailureUsage[];
  readonly none: string;
}

export function FailureTable({ title, failures, none }: FailureTableProps) {
  const id = `failures-${title.replaceAll(/\W+/g, "-")}`;
  const max = failures[0]?.count ?? 0;
  const why = ({ code, reason }: FailureUsage) => (
    <>
      <code>{code}</code> {reason !== null && <span class="quiet">{reason}</span>}
    </>
  );
  const columns: readonly Column<FailureUsage>[] = [
    ["Tool", ({ tool }) => <Name text={tool} />],
    ["Why", why],
    ["How often", ({ count: times }) => <Bar value={times} max={max} words={count(times)} />],
  ];
  const keyOf = ({ tool, code, reason }: FailureUsage): string => `${tool} ${code} ${reason}`;
  return (
    <section class="figure">
      <h2 id={id}>{title}</h2>
      {failures.length === 0 ? (
        <p class="quiet">{none}.</p>
      ) : (
        <Table rows={failures} keyOf={keyOf} columns={columns} label={{ "aria-labelledby": id }} />
      )}
    </section>
  );
}

interface TimeTableProps {
  readonly title: string;
  readonly layers: readonly Layer[];
  readonly figures: Pick<WorkspaceUsage, "time">;
}

/** Intervals without values are left out. */
export function TimeTable({ title, layers, figures }: TimeTableProps) {
  const heights = heightsOf(layers);
  const rows = figures.time.map(({ fromMs }, at) => ({ fromMs, at })).filter(({ at }) => (heights[at] ?? 0) > 0);
  const columns: readonly Column<(typeof rows)[number]>[] = [
    ["From", ({ fromMs }) => time(fromMs)],
    ...layers.map(({ name, values }): Column<(typeof rows)[number]> => {
      const title = <Name text={name === "" ? "./" : name} />;
      return [title, ({ at }) => count(values[at] ?? 0), "number"];
    }),
    ["Together", ({ at }) => count(heights[at] ?? 0), "number"],
  ];
  return (
    <Table rows={rows} keyOf={({ at }) => at} columns={columns} label={{ "aria-label": `${title}, as a table` }} />
  );
}
