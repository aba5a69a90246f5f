/** Metrics for Prometheus, in its text format. */

import type { Called, WatchCall } from "../mcp/mcp-workspace.ts";

export type Metrics = ReturnType<typeof createMetrics>;

type Labels = Readonly<Record<string, string>>;
type CounterName = keyof typeof counters;
type GaugeName = keyof typeof gaugeHelp;
export type Gauges = Readonly<Record<GaugeName, number>>;

const counters = {
  filehand_http_requests_total: { help: "Requests by status", labels: ["code"] },
  filehand_tool_calls_total: { help: "Calls of tools by outcome: ok, error, asked", labels: ["tool", "outcome"] },
} as const;
const histogram = "filehand_tool_call_seconds";
const histogramHelp = "How long calls of tools took";
const gaugeHelp = {
  filehand_http_requests_under_way: "Requests that are being answered",
  filehand_sessions: "Sessions in memory",
  process_resident_memory_bytes: "Memory of the process",
  process_uptime_seconds: "Seconds since the process started",
} as const;

/** Every metric, for the page of reference. */
export const metricsOffered: readonly Readonly<{
  name: string;
  type: string;
  labels: readonly string[];
  help: string;
}>[] = [
  ...Object.entries(counters).map(([name, { help, labels }]) => ({ name, type: "counter", labels, help })),
  { name: histogram, type: "histogram", labels: ["tool", "le"], help: histogramHelp },
  ...Object.entries(gaugeHelp).map(([name, help]) => ({ name, type: "gauge", labels: [], help })),
];
const bounds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10] as const;
/** Labels come from a closed list of tools and statuses; this bounds the memory if one day they do not. */
const seriesMax = 1_000;

export function createMetrics() {
  const counts = new Map<CounterName, Map<string, number>>();
  const times = new Map<string, { readonly buckets: number[]; sum: number; count: number }>();
  return {
    count(name: CounterName, labels: Labels): void {
      const series = counts.get(name) ?? new Map<string, number>();
      counts.set(name, series);
      const key = labelText(labels);
      if (series.size >= seriesMax && !series.has(key)) return;
      series.set(key, (series.get(key) ?? 0) + 1);
    },
    /** How long a call of a tool took. */
    took(tool: string, seconds: number): void {
      const time = times.get(tool) ?? { buckets: bounds.map(() => 0), sum: 0, count: 0 };
      if (times.size >= seriesMax && !times.has(tool)) return;
      times.set(tool, time);
      bounds.forEach((bound, at) => {
        if (seconds <= bound) time.buckets[at] = (time.buckets[at] ?? 0) + 1;
      });
      time.sum += seconds;
      time.count += 1;
    },
    text(gauges: Partial<Gauges>): string {
      const lines: string[] = [];
      for (const name of Object.keys(counters) as CounterName[]) {
        lines.push(`# HELP ${name} ${counters[name].help}`, `# TYPE ${name} counter`);
        for (const [labels, value] of counts.get(name) ?? []) lines.push(`${name}${labels} ${value}`);
      }
      lines.push(`# HELP ${histogram} ${histogramHelp}`, `# TYPE ${histogram} histogram`);
      for (const [tool, { buckets, sum, count }] of times) {
        bounds.forEach((bound, at) =>
          lines.push(`${histogram}_bucket${labelText({ tool, le: String(bound) })} ${buckets[at]}`),
        );
        lines.push(`${histogram}_bucket${labelText({ tool, le: "+Inf" })} ${count}`);
        lines.push(
          `${histogram}_sum${labelText({ tool })} ${sum}`,
          `${histogram}_count${labelText({ tool })} ${count}`,
        );
      }
      for (const name of Object.keys(gaugeHelp) as GaugeName[]) {
        if (gauges[name] === undefined) continue;
        lines.push(`# HELP ${name} ${gaugeHelp[name]}`, `# TYPE ${name} gauge`, `${name} ${gauges[name]}`);
      }
      return `${lines.join("\n")}\n`;
    },
  };
}

function labelText(labels: Labels): string {
  let pairs = "";
  for (const name in labels) pairs += `${pairs === "" ? "" : ","}${name}="${escaped(labels[name] ?? "")}"`;
  return `{${pairs}}`;
}

const escaped = (value: string): string =>
  /[\\"\n]/.test(value) ? value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n") : value;

/** Counts and times every call of a tool. */
export function watchCallWith(metrics: Metrics, traced: WatchCall = (_tool, _meta, work) => work()): WatchCall {
  return async (tool, meta, work) => {
    const startedMs = performance.now();
    let outcome = "error";
    try {
      const called = await traced(tool, meta, work);
      outcome = outcomeOf(called);
      return called;
    } finally {
      metrics.count("filehand_tool_calls_total", { tool, outcome });
      metrics.took(tool, (performance.now() - startedMs) / 1_000);
    }
  };
}

function outcomeOf(called: Called): string {
  if ("inputRequests" in called) return "asked";
  return called["isError"] === true ? "error" : "ok";
}
