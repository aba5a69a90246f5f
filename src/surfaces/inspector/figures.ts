/** What calls come to: tokens by tool, by file and over time, how long they took, why they failed. Pure. */

import type { CallEvent } from "../../contract/event.ts";
import type {
  FailureFigures,
  FileFigures,
  Percentiles,
  Tally,
  TimeFigures,
  ToolFigures,
} from "../../contract/inspector.ts";

export interface Summed {
  readonly fromMs: number;
  readonly toMs: number;
  readonly all: Tally;
  readonly tools: readonly ToolFigures[];
  readonly files: readonly FileFigures[];
  readonly filesTotal: number;
  readonly time: readonly TimeFigures[];
  readonly failedEdits: readonly FailureFigures[];
  readonly failedOthers: readonly FailureFigures[];
}

const filesShownMax = 100;
const changing: ReadonlySet<CallEvent["verb"]> = new Set(["edit", "write", "notebook-edit", "patch", "delete", "move"]);

type Sum = { -readonly [Name in keyof Tally]: Tally[Name] };
const newSum = (): Sum => ({ calls: 0, failures: 0, tokensGiven: 0, tokensSaved: 0 });

export function summed(calls: readonly CallEvent[], nowMs: number, buckets: number): Summed {
  const fromMs = calls.reduce((least, { startedMs }) => Math.min(least, startedMs), nowMs);
  const toMs = Math.max(nowMs, fromMs + 1);
  const stepMs = (toMs - fromMs) / buckets;
  const all = newSum();
  const tools = new Map<string, { readonly sum: Sum; readonly times: number[] }>();
  const files = new Map<string, Sum>();
  const time = Array.from({ length: buckets }, (_, at) => ({
    fromMs: fromMs + at * stepMs,
    sum: newSum(),
    tools: new Map<string, number>(),
  }));
  const failures = { edits: new Map<string, FailureFigures>(), others: new Map<string, FailureFigures>() };
  for (const call of calls) {
    const { tool, startedMs, elapsedMs, tokensGiven, outcome, reason } = call;
    const own = tools.get(tool) ?? { sum: newSum(), times: [] };
    tools.set(tool, own);
    own.times.push(elapsedMs);
    const bucket = time[Math.min(buckets - 1, Math.max(0, Math.floor((startedMs - fromMs) / stepMs)))];
    const path = call.path ?? call.changes[0]?.relative;
    const file = path === undefined ? undefined : (files.get(path) ?? newSum());
    if (path !== undefined && file !== undefined) files.set(path, file);
    for (const sum of [all, own.sum, bucket?.sum, file]) if (sum !== undefined) add(sum, call);
    bucket?.tools.set(tool, (bucket.tools.get(tool) ?? 0) + tokensGiven);
    if (outcome === "ok") continue;
    const list = changing.has(call.verb) ? failures.edits : failures.others;
    const key = JSON.stringify([tool, outcome, reason]);
    list.set(key, { tool, code: outcome, reason, count: (list.get(key)?.count ?? 0) + 1 });
  }
  return {
    fromMs,
    toMs,
    all,
    tools: [...tools]
      .map(([tool, { sum, times }]) => ({ tool, ...sum, elapsedMs: percentiles(times) }))
      .toSorted((a, b) => b.calls - a.calls),
    files: [...files]
      .map(([path, sum]) => ({ path, ...sum }))
      .toSorted((a, b) => b.tokensGiven - a.tokensGiven)
      .slice(0, filesShownMax),
    filesTotal: files.size,
    time: time.map(({ fromMs: from, sum, tools: byTool }) => ({
      fromMs: from,
      ...sum,
      tools: Object.fromEntries(byTool),
    })),
    failedEdits: mostFirst(failures.edits),
    failedOthers: mostFirst(failures.others),
  };
}

function add(sum: Sum, { outcome, tokensGiven, tokensSaved }: CallEvent): void {
  sum.calls += 1;
  if (outcome !== "ok") sum.failures += 1;
  sum.tokensGiven += tokensGiven;
  sum.tokensSaved += tokensSaved;
}

const mostFirst = (failures: ReadonlyMap<string, FailureFigures>): readonly FailureFigures[] =>
  [...failures.values()].toSorted((a, b) => b.count - a.count);

/** The smallest value that so many percent are not above. */
export function percentiles(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (percent: number): number => sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0;
  return { p50: at(50), p90: at(90), p99: at(99), max: sorted.at(-1) ?? 0 };
}
