/** Every call of a tool is counted and timed, and traced if somebody wants that. */

import type { Called, WatchCall } from "../mcp/desk.ts";
import type { Metrics } from "./metrics.ts";

export function watchCallWith(metrics: Metrics, traced: WatchCall = (_tool, _meta, work) => work()): WatchCall {
  return async (tool, meta, work) => {
    const startedMs = performance.now();
    let outcome: string | undefined = "error";
    try {
      const called = await traced(tool, meta, work);
      outcome = outcomeOf(called);
      return called;
    } finally {
      if (outcome !== undefined) {
        metrics.count("filehand_tool_calls_total", { tool, outcome });
        metrics.took(tool, (performance.now() - startedMs) / 1_000);
      }
    }
  };
}

function outcomeOf(called: Called | "ask first"): string | undefined {
  if (called === "ask first") return undefined;
  if ("inputRequests" in called) return "asked";
  return called["isError"] === true ? "error" : "ok";
}
