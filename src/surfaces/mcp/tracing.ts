/** Spans for those who have OpenTelemetry: its API is used if it is installed, and nothing is missed if it is not. */

import type { WatchCall } from "./desk.ts";

/** The few parts of `@opentelemetry/api` that are used here. */
interface Telemetry {
  readonly trace: { getTracer(name: string, version?: string): Tracer };
  readonly context: { active(): unknown };
  readonly propagation: { extract(context: unknown, carrier: object): unknown };
}
interface Tracer {
  startActiveSpan<Result>(name: string, options: object, context: unknown, work: (span: Span) => Result): Result;
}
interface Span {
  setAttribute(name: string, value: string | boolean): void;
  setStatus(status: { readonly code: number }): void;
  end(): void;
}

const failed = { code: 2 };

/** Undefined where the package is not installed. */
export async function tracing(version: string, name = "@opentelemetry/api"): Promise<WatchCall | undefined> {
  const api = (await import(name).catch(() => undefined)) as Telemetry | undefined; // it is what its name says
  if (api === undefined) return undefined;
  const tracer = api.trace.getTracer("filehand", version);
  return (tool, meta, work) => {
    // The caller's trace comes with the request.
    const { traceparent, tracestate } = (meta ?? {}) as {
      readonly traceparent?: unknown;
      readonly tracestate?: unknown;
    };
    const parent = api.propagation.extract(api.context.active(), { traceparent, tracestate });
    const options = { attributes: { "mcp.method.name": "tools/call", "gen_ai.tool.name": tool } };
    return tracer.startActiveSpan(`tools/call ${tool}`, options, parent, async (span) => {
      try {
        const called = await work();
        if (called !== "ask first" && called["isError"] === true) span.setStatus(failed);
        return called;
      } catch (error) {
        span.setStatus(failed);
        throw error;
      } finally {
        span.end();
      }
    });
  };
}
