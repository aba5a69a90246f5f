import { expect, test } from "vitest";
import { createMetrics } from "./metrics.ts";

test("what was counted stands there as Prometheus reads it", () => {
  const metrics = createMetrics();
  metrics.count("filehand_http_requests_total", { code: "200" });
  metrics.count("filehand_http_requests_total", { code: "200" });
  metrics.count("filehand_tool_calls_total", { tool: 'a"\\\n', outcome: "ok" });
  metrics.took("Read", 0.004);
  metrics.took("Read", 99);
  const lines = metrics.text({ filehand_sessions: 3 }).split("\n");
  expect(lines).toContain('filehand_http_requests_total{code="200"} 2');
  expect(lines).toContain('filehand_tool_calls_total{tool="a\\"\\\\\\n",outcome="ok"} 1');
  expect(lines).toContain('filehand_tool_call_seconds_bucket{tool="Read",le="0.001"} 0');
  expect(lines).toContain('filehand_tool_call_seconds_bucket{tool="Read",le="0.005"} 1');
  expect(lines).toContain('filehand_tool_call_seconds_bucket{tool="Read",le="+Inf"} 2');
  expect(lines).toContain('filehand_tool_call_seconds_count{tool="Read"} 2');
  expect(lines).toContain("filehand_sessions 3");
  for (const line of lines) expect(line).toMatch(/^(# (HELP|TYPE) \S+ .+|[a-z_]+(\{.*\})? [0-9.e+-]+|)$/);
});
