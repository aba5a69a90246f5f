/** Usage: tokens by tool, by file and over time, how long calls took, why they failed. Pure. */

import { addToTally, type CallEvent, emptyTally, type MutableTally } from "../../contract/event.ts";
import type { FailureUsage, WorkspaceUsage, Percentiles, Series } from "./wire.ts";

const shownMax = 100; // of tools, files and failures, as `WorkspaceUsage` in wire.ts promises
const changing: ReadonlySet<CallEvent["verb"]> = new Set([
  "edit",
  "write",
  "notebook-edit",
  "patch",
  "delete",
  "move",
  "copy",
  "make-folder",
]);

export function summed(
  calls: readonly CallEvent[],
  nowMs: number,
  buckets: number,
): Omit<WorkspaceUsage, "ever" | "past"> {
  const fromMs = calls.reduce((least, { startedMs }) => Math.min(least, startedMs), nowMs);
  const toMs = Math.max(nowMs, fromMs + 1);
  const msPerBucket = (toMs - fromMs) / buckets;
  const all = emptyTally();
  const tools = new Map<string, { readonly sum: MutableTally; readonly times: number[] }>();
  const files = new Map<string, MutableTally>();
  const time = Array.from({ length: buckets }, (_, at) => ({ fromMs: fromMs + at * msPerBucket, sum: emptyTally() }));
  const partOf = ({ startedMs }: CallEvent): number =>
    Math.min(buckets - 1, Math.max(0, Math.floor((startedMs - fromMs) / msPerBucket)));
  const failures = { edits: new Map<string, FailureUsage>(), others: new Map<string, FailureUsage>() };
  for (const call of calls) {
    const { tool, elapsedMs, outcome, reason } = call;
    const own = tools.get(tool) ?? { sum: emptyTally(), times: [] };
    tools.set(tool, own);
    own.times.push(elapsedMs);
    const bucket = time[partOf(call)];
    const path = fileOf(call);
    const file = path === undefined ? undefined : (files.get(path) ?? emptyTally());
    if (path !== undefined && file !== undefined) files.set(path, file);
    for (const sum of [all, own.sum, bucket?.sum, file]) if (sum !== undefined) addToTally(sum, call);
    if (outcome === "ok") continue;
    const list = isFailedEdit(call) ? failures.edits : failures.others;
    const key = JSON.stringify([tool, outcome, reason]);
    list.set(key, { tool, code: outcome, reason, count: (list.get(key)?.count ?? 0) + 1 });
  }
  const series = (pointOf: (call: CallEvent) => readonly [name: string | undefined, value: number]): Series => {
    const points = calls.flatMap((call) => {
      const [name, value] = pointOf(call);
      return name === undefined ? [] : [{ name, part: partOf(call), value }];
    });
    return seriesOf(points, buckets);
  };
  return {
    fromMs,
    toMs,
    all,
    tools: [...tools]
      .map(([tool, { sum, times }]) => ({ tool, ...sum, elapsedMs: percentiles(times) }))
      .toSorted((a, b) => b.calls - a.calls)
      .slice(0, shownMax),
    files: [...files]
      .map(([path, sum]) => ({ path, ...sum }))
      .toSorted((a, b) => b.tokensGiven - a.tokensGiven)
      .slice(0, shownMax),
    filesTotal: files.size,
    time: time.map(({ fromMs: from, sum }) => ({ fromMs: from, ...sum })),
    givenByTool: series(({ tool, tokensGiven }) => [tool, tokensGiven]),
    givenByFile: series((call) => [fileOf(call), call.tokensGiven]),
    savedByFile: series((call) => [fileOf(call), call.tokensSaved]),
    failedByReason: series((call) => [isFailedEdit(call) ? reasonOf(call) : undefined, 1]),
    failedEdits: mostFirst(failures.edits),
    failedOthers: mostFirst(failures.others),
  };
}

/** For a patch of several files, the first one. */
const fileOf = ({ path, changes }: CallEvent): string | undefined => path ?? changes[0]?.relative;

const isFailedEdit = ({ verb, outcome }: CallEvent): boolean => outcome !== "ok" && changing.has(verb);

const reasonOf = ({ outcome, reason }: CallEvent): string => (reason === null ? outcome : `${outcome}: ${reason}`);

const mostFirst = (failures: ReadonlyMap<string, FailureUsage>): readonly FailureUsage[] =>
  [...failures.values()].toSorted((a, b) => b.count - a.count).slice(0, shownMax);

/** For each percentage, the smallest value that so many calls do not exceed. */
export function percentiles(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (percent: number): number => sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0;
  return { p50: at(50), p90: at(90), p99: at(99), max: sorted.at(-1) ?? 0 };
}

// Numbers over time by name: a few large ones by themselves, all others together. Pure.

/** A person can tell apart this many colours, and one for the others. */
const layersMax = 5;

/** `part`: the index of the interval. */
function seriesOf(
  points: readonly { readonly name: string; readonly part: number; readonly value: number }[],
  parts: number,
): Series {
  const sums = new Map<string, number>();
  for (const { name, value } of points) if (value > 0) sums.set(name, (sums.get(name) ?? 0) + value);
  const largest = [...sums].toSorted(([, a], [, b]) => b - a).slice(0, layersMax);
  const layers = new Map(largest.map(([name]) => [name, zeros(parts)]));
  const others = sums.size > layers.size ? zeros(parts) : null;
  for (const { name, part, value } of points) {
    const values = layers.get(name) ?? others;
    if (values !== null && value > 0) values[part] = (values[part] ?? 0) + value;
  }
  return {
    layers: [...layers].map(([name, values]) => ({ name, values })),
    others: others === null ? null : { names: sums.size - layers.size, values: others },
  };
}

const zeros = (count: number): number[] => Array.from({ length: count }, () => 0);
