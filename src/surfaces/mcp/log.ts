/** The server's log: one JSON object per line, on stderr, since stdout may carry the protocol. */

import type { Writable } from "node:stream";
import { limits } from "../../contract/limits.ts";
import { escapeName, visibleControls } from "../../text/text.ts";
import type { Log, WatchCall } from "./mcp-workspace.ts";

/**
 * Drops entries while the reader of stderr is too slow, so that they do not fill the memory. `onBug` gets the stack of each
 * internal error.
 */
export function logTo(stderr: Writable & { readonly isTTY?: boolean }, onBug?: (stack: string) => void): Log {
  let leftOut = 0;
  return (level, what, fields = {}) => {
    if (typeof fields["stack"] === "string") onBug?.(fields["stack"]);
    if (stderr.writableLength > limits.logBytesMax) {
      leftOut += 1;
      return;
    }
    const entry = { time: new Date().toISOString(), level, event: what, ...fields };
    const counted = leftOut === 0 ? entry : { ...entry, leftOut };
    stderr.write(stderr.isTTY === true ? lineForPerson(counted) : `${JSON.stringify(counted)}\n`);
    leftOut = 0;
  };
}

/** At a terminal: `12:04:31 warn  connection: message closed`. The stack of a bug keeps its lines. */
function lineForPerson({
  time,
  level,
  event,
  stack,
  ...fields
}: {
  readonly time: string;
  readonly level: string;
  readonly event: string;
  readonly stack?: unknown;
}): string {
  const said = Object.entries(fields).map(([name, value]) => `${name} ${shownValue(value)}`);
  const clock = new Date(time).toTimeString().slice(0, 8);
  const head = `${clock} ${level.padEnd(5)} ${event}${said.length === 0 ? "" : `: ${said.join(", ")}`}`;
  return typeof stack === "string" ? `${head}\n${visibleControls(stack)}\n` : `${head}\n`;
}

const shownValue = (value: unknown): string =>
  escapeName(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

/** The parts of `@opentelemetry/api` that are used here. */
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

/** OpenTelemetry spans for calls of tools; undefined if its API is not installed. */
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
        if (called["isError"] === true) span.setStatus(failed);
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
