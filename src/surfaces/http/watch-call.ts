/** Every call of a tool is counted and timed, and traced if somebody wants that. */

import type { WatchCall } from "../mcp/desk.ts";
import type { Metrics } from "./metrics.ts";

export function watchCallWith(metrics: Metrics, traced: WatchCall = (_tool, _meta, work) => work()): WatchCall {
  return async (tool, meta, work) => {
    const startedMs = performance.now();
    let outcome = "error";
    try {
      const called = await traced(tool, meta, work);
      outcome = "inputRequests" in called ? "asked" : called["isError"] === true ? "error" : "ok";
      return called;
    } finally {
      metrics.count("filehand_tool_calls_total", { tool, outcome });
      metrics.took(tool, (performance.now() - startedMs) / 1_000);
    }
  };
}
