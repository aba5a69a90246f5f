/** Spans with the real OpenTelemetry, from the packages beside this file: the tracer has just what a user has installed. */

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { tracing } from "../../../src/surfaces/mcp/log.ts";
import { connectHttp } from "../http-server.ts";
import { startInProcess } from "../in-process.ts";

const own = createRequire(import.meta.url);
const at = (name: string): string => pathToFileURL(own.resolve(`@opentelemetry/${name}`)).href;
const apiPath = at("api");

/** The parts of the packages that are used here. */
interface Api {
  readonly trace: { setGlobalTracerProvider(provider: object): boolean; disable(): void };
  readonly propagation: { setGlobalPropagator(propagator: object): boolean; disable(): void };
}
interface Span {
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code: number };
  readonly parentSpanContext?: { readonly spanId: string };
  spanContext(): { readonly traceId: string };
}
interface Sdk {
  readonly BasicTracerProvider: new (options: object) => object;
  readonly SimpleSpanProcessor: new (exporter: object) => object;
  readonly InMemorySpanExporter: new () => { getFinishedSpans(): readonly Span[] };
}
interface Core {
  readonly W3CTraceContextPropagator: new () => object;
}

test("every call of a tool is a span, below the trace of its caller", async () => {
  const api = (await import(apiPath)) as Api; // these three are what their paths say
  const sdk = (await import(at("sdk-trace-base"))) as Sdk;
  const core = (await import(at("core"))) as Core;
  const exporter = new sdk.InMemorySpanExporter();
  const spanProcessors = [new sdk.SimpleSpanProcessor(exporter)];
  api.trace.setGlobalTracerProvider(new sdk.BasicTracerProvider({ spanProcessors }));
  api.propagation.setGlobalPropagator(new core.W3CTraceContextPropagator());
  onTestFinished(() => {
    api.trace.disable();
    api.propagation.disable();
  });
  const served = await startInProcess({ watchCall: await tracing("1", apiPath) });
  const client = await connectHttp({ port: served.port, token: "" }, "modern");
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const _meta = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  await client.callTool({ name: "Read", arguments: { file_path: "a.txt" }, _meta });
  await client.callTool({ name: "Read", arguments: { file_path: "missing.txt" } });
  await expect(client.callTool({ name: "nothing", arguments: {} })).rejects.toThrow();
  const [read, missing, unknown, ...others] = exporter.getFinishedSpans();
  expect(others).toEqual([]);
  expect(read).toMatchObject({
    name: "tools/call Read",
    attributes: { "mcp.method.name": "tools/call", "gen_ai.tool.name": "Read" },
    status: { code: 0 },
    parentSpanContext: { spanId: "b7ad6b7169203331" },
  });
  expect(read?.spanContext().traceId).toBe(traceId);
  expect(missing?.spanContext().traceId).not.toBe(traceId);
  expect(missing?.status.code).toBe(2);
  // What a client made up is no name of a span: there would be no end to them.
  expect(unknown).toMatchObject({ name: "tools/call unknown", status: { code: 2 } });
});
