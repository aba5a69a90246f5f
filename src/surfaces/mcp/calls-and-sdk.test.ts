/**
 * Calls of tools are answered without the SDK (`tool-call.ts`). Random calls show that the answers are those of the SDK's own
 * server, which gets the same messages with the same handlers: results, refusals, progress, questions, cancelled calls, calls at
 * once. The session is a stand-in that does what a call's arguments say; everything around it is real.
 */

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { createMcpHandler } from "@modelcontextprotocol/server";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Reply } from "../../contract/call.ts";
import { createFilehand } from "../../filehand.ts";
import type { CallOptions, Session } from "../../options.ts";
import { createEndpoint } from "../http/endpoint.ts";
import { createApprovals } from "./approvals.ts";
import { createSeals, type McpWorkspace } from "./mcp-workspace.ts";
import { createFactory } from "./server.ts";
import { connectSdk } from "./stdio-sdk.ts";
import { StdioWire } from "./stdio-wire.ts";
import { serveOverStdio } from "./stdio.ts";
import { type Era, eras, initialize, modernMeta } from "../../../test/mcp/server.ts";

const filehand = createFilehand({ roots: [import.meta.dirname] });
const real = filehand.session();
const definitions = real.definitions();

/** What a call does, as its arguments say. */
interface Work {
  readonly does: "text" | "refuses" | "structured" | "fails" | "reports" | "asks" | "asks twice" | "waits";
  readonly n: number;
}

interface Stage {
  readonly workspace: McpWorkspace;
  /** The numbers of the calls in the order in which they reached the session; one that asks does so several times. */
  readonly begun: number[];
  readonly undelivered: string[];
}

function stage(structured: boolean): Stage {
  const approvals = createApprovals();
  const begun: number[] = [];
  const undelivered: string[] = [];
  const ask = async (what: string, signal: AbortSignal): Promise<string> => {
    const metadata = { path: `/ws/${what}` };
    const question = { permission: "edit", patterns: [`/ws/${what}`], always: [], keep: [], metadata } as const;
    return (await approvals.asker(question, signal)).reply;
  };
  const call = async (name: string, input: unknown, options: CallOptions = {}): Promise<Reply> => {
    const { does, n } = input as Work;
    const { signal = new AbortController().signal, onProgress } = options;
    const text = (words: string): Reply => ({
      content: [{ type: "text", text: `${name} ${n} ${words}` }],
      structured: { n, words },
      isError: false,
    });
    if (!definitions.some((definition) => definition.name === name)) {
      return {
        ...text("unknown"),
        isError: true,
        error: { code: "UNKNOWN_TOOL", message: `There is no tool "${name}"` },
      };
    }
    begun.push(n);
    switch (does) {
      case "refuses":
        return { ...text("refused"), isError: true, error: { code: "NOT_FOUND", message: "not found" } };
      case "structured":
        return { ...text("structured"), structured: { n, list: [1, "→", null] } };
      case "fails":
        throw new Error("a bug");
      case "reports":
        onProgress?.(1, 10);
        await new Promise(setImmediate);
        return text("reported");
      case "asks":
        return text(await ask(`${n}`, signal));
      case "asks twice":
        return text(`${await ask(`${n}a`, signal)} ${await ask(`${n}b`, signal)}`);
      case "waits":
        await once(signal, "abort");
        return text("cancelled");
      case "text":
        await new Promise(setImmediate);
        return text("done");
    }
  };
  const session: Session = {
    ...real,
    id: "stand-in",
    call,
    undelivered: ({ content }) => void undelivered.push(JSON.stringify(content)),
  };
  const workspace: McpWorkspace = {
    name: "filehand",
    version: "0",
    filehand,
    dialect: "claude",
    definitions,
    toolPrefix: "",
    sessions: { find: () => session, named: () => session, end: () => undefined, endAll: () => undefined, size: 1 },
    approvals,
    cursors: createSeals(),
    structured,
    resultBytesMax: 10_000_000,
    answerBytesMax: undefined,
    startedFor: undefined,
    otherwise: () => "test",
    log: () => undefined,
    watchCall: undefined,
    onPartGone: () => undefined,
  };
  return { workspace, begun, undelivered };
}

type Params = Readonly<Record<string, unknown>> & { readonly _meta?: unknown };

/** One message of a client; its id is its place in the list. */
interface Sent {
  readonly method: string;
  readonly params: Params;
  readonly isCancelled: boolean;
}

const tool = fc.constantFrom("Read", "Read", "Edit", "Grep", "Raed");
const does = fc.constantFrom<Work["does"]>(
  "text",
  "text",
  "refuses",
  "structured",
  "fails",
  "reports",
  "asks",
  "asks twice",
);
const more = fc.constantFrom<Params>(
  {},
  {},
  {},
  { arguments: [] },
  { arguments: "text" },
  { name: 7 },
  { requestState: "forged" },
  { requestState: 7 },
  { inputResponses: { approval: { action: "accept", content: { decision: "allow once" } } } },
  { inputResponses: "text" },
  { other: 1 },
  { task: { ttl: 1 } },
);
const token = fc.constantFrom<object>({}, { progressToken: "t" }, { progressToken: 0 });
const metaMore = fc.constantFrom<object>(
  {},
  {},
  { mine: { deep: [1] } },
  { "io.modelcontextprotocol/related-task": { taskId: "x" } },
  { "io.modelcontextprotocol/related-task": {} },
  { "io.modelcontextprotocol/unknown": 1 },
  { threadId: "t" },
);
/** Over stdio the SDK looks at the version of the first message only. */
const versions: readonly object[] = [
  { "io.modelcontextprotocol/protocolVersion": "2099-01-01" },
  { "io.modelcontextprotocol/protocolVersion": 7 },
];
/** In the newer protocol only. */
const envelopes: readonly object[] = [
  {},
  {},
  {},
  {},
  { "io.modelcontextprotocol/clientInfo": { name: "x" } },
  { "io.modelcontextprotocol/clientInfo": { name: "x", version: "1", icons: [{ src: "x", sizes: ["1x1"] }] } },
  { "io.modelcontextprotocol/clientInfo": { name: "x", version: "1", icons: [{}] } },
  { "io.modelcontextprotocol/clientCapabilities": null },
  { "io.modelcontextprotocol/clientCapabilities": { elicitation: "yes" } },
  { "io.modelcontextprotocol/clientCapabilities": { elicitation: { url: {} } } },
  { "io.modelcontextprotocol/clientCapabilities": { unknown: 1, extensions: { x: {} }, roots: { listChanged: true } } },
  { "io.modelcontextprotocol/clientCapabilities": { extensions: { x: 1 } } },
  { "io.modelcontextprotocol/logLevel": "info" },
  { "io.modelcontextprotocol/logLevel": "loud" },
];

const calls = (era: Era, over: "stdio" | "HTTP"): fc.Arbitrary<readonly Sent[]> =>
  fc
    .array(
      fc.record({
        name: tool,
        does,
        more,
        token,
        metaMore,
        envelopeMore: fc.constantFrom(...envelopes, ...(over === "HTTP" ? versions : [])),
        kind: fc.integer({ min: 0, max: 19 }),
      }),
      { minLength: 1, maxLength: 6 },
    )
    .map((list) =>
      list.map(
        ({ name, does: what, more: others, token: progress, metaMore: meta, envelopeMore: envelope, kind }, n) => {
          const _meta = { ...(era === "modern" ? { ...modernMeta({ elicitation: {} }), ...envelope } : {}), ...meta };
          if (kind === 0) return { method: "tools/list", params: { _meta }, isCancelled: false };
          if (kind === 1) return { method: "tools/none", params: { _meta }, isCancelled: false };
          // A call that ends by itself may have its answer before the SDK hears that it is cancelled.
          const isCancelled = kind === 2;
          const input = { does: isCancelled ? "waits" : what, n };
          const wanted = isCancelled ? {} : others;
          const given = isCancelled && era === "modern" ? modernMeta({ elicitation: {} }) : { ..._meta, ...progress };
          const named = isCancelled ? "Read" : name;
          return {
            method: "tools/call",
            params: { name: named, arguments: input, _meta: given, ...wanted },
            isCancelled,
          };
        },
      ),
    );

interface Received {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>> & { readonly requestState?: string };
  readonly error?: unknown;
}

/** What the person behind the client says: it depends on the question, not on when it comes. */
const answers = [
  { action: "accept", content: { decision: "allow once" } },
  { action: "accept", content: { decision: "reject" } },
  { action: "decline" },
] as const;

/** The same in every run: what is signed, and who counts how, is not. */
const plain = ({ id, method, params, result, error }: Received): unknown => ({
  ...(method === undefined ? { id } : { method, params }),
  ...(result === undefined
    ? {}
    : { result: result.requestState === undefined ? result : { ...result, requestState: "" } }),
  error,
});

interface Outcome {
  /** Of each message that was sent: what came about it, in its order. */
  readonly answers: readonly unknown[];
  readonly begun: readonly number[];
  readonly undelivered: readonly string[];
}

/** Sends all messages at once and plays the client until every request has its answer. */
async function play(era: Era, sent: readonly Sent[], structured: boolean, isOurs: boolean): Promise<Outcome> {
  const { workspace, begun, undelivered } = stage(structured);
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const stop = new AbortController();
  if (isOurs) void serveOverStdio(workspace, { stdin, stdout }, stop.signal, async () => ({ connectSdk }));
  else {
    const wire = new StdioWire(stdin, stdout);
    const sdk = connectSdk(workspace, wire);
    wire.onmessage = (message) => sdk.take(message);
    stop.signal.addEventListener("abort", () => void sdk.close());
    await wire.start();
  }
  const received: Received[] = [];
  const open = new Set<unknown>();
  let settled = (): void => undefined;
  const say = (message: object): void => void stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const again = (id: unknown, state: string, asked: number): void => {
    const first = sent[Number(String(id).split(" ")[0])]?.params;
    const inputResponses = { approval: answers[asked % answers.length] };
    const next = `${String(id)} again`;
    open.add(next);
    say({ id: next, method: "tools/call", params: { ...first, requestState: state, inputResponses } });
  };
  let rest = "";
  stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const message = JSON.parse(line) as Received;
      received.push(message);
      if (message.method === "elicitation/create") {
        const [, n, part] = /(\d+)([ab]?)"/.exec(String(message.params?.["message"])) ?? [];
        say({ id: message.id, result: answers[(Number(n) + Number(part === "b")) % answers.length] });
      }
      if (message.method === undefined) {
        const state = message.result?.requestState;
        if (state !== undefined) again(message.id, state, String(message.id).split(" ").length - 1);
        open.delete(message.id);
        if (open.size === 0) settled();
      }
    }
  });
  const until = async (send: () => void): Promise<void> => {
    const done = new Promise<void>((resolve) => (settled = resolve));
    send();
    if (open.size > 0) await done;
  };
  // The first message that the SDK gets decides which protocol it speaks on this connection.
  await until(() => {
    open.add("hello");
    if (era === "modern") say({ id: "hello", method: "tools/list", params: { _meta: modernMeta() } });
    else say({ id: "hello", method: "initialize", params: { ...initialize, capabilities: { elicitation: {} } } });
  });
  if (era === "legacy") say({ method: "notifications/initialized" });
  await until(() => {
    const messages = sent.flatMap(({ method, params, isCancelled }, n): object[] => {
      const request = { jsonrpc: "2.0", id: `${n}`, method, params };
      const cancel = {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: `${n}`, _meta: params._meta },
      };
      if (!isCancelled) open.add(`${n}`);
      return isCancelled ? [request, cancel] : [request];
    });
    stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
  });
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate); // for what nobody has asked for
  stop.abort();
  const about = (n: number): unknown[] =>
    received.filter(({ id }) => typeof id === "string" && id.split(" ")[0] === `${n}`).map(plain);
  // A notification does not say which call it is about; there may be several with the same token.
  const notes = received.filter(({ method }) => method !== undefined).map((note) => JSON.stringify(plain(note)));
  const isReported = (n: number): boolean => {
    const { does: what } = (sent[n]?.params["arguments"] ?? {}) as Partial<Work>;
    return what === "reports";
  };
  const firstReport = received.findIndex(({ method }) => method === "notifications/progress");
  const lastReported = received.findLastIndex(({ id }) => typeof id === "string" && isReported(Number(id)));
  expect(firstReport === -1 || firstReport < lastReported, "progress is reported before the answer").toBe(true);
  return {
    answers: [...sent.map((_, n) => about(n)), notes.toSorted()],
    // Whether a call that is cancelled at once had begun depends on the turns of the event loop; neither server answers it.
    begun: [...new Set(begun)].filter((n) => sent[n]?.isCancelled === false),
    undelivered: undelivered.toSorted(),
  };
}

for (const era of eras) {
  test(`random calls over stdio are answered as the SDK answers them, ${era} era`, async () => {
    await fc.assert(
      fc.asyncProperty(calls(era, "stdio"), fc.boolean(), async (sent, structured) => {
        const [ours, theirs] = [await play(era, sent, structured, true), await play(era, sent, structured, false)];
        expect(ours).toEqual(theirs);
      }),
      { numRuns: 100 },
    );
  });
}

describe("over HTTP", () => {
  const headersMore = fc.constantFrom<Readonly<Record<string, string>>>(
    {},
    {},
    {},
    {},
    { "mcp-name": "Write" },
    { "mcp-method": "tools/list" },
    { "mcp-protocol-version": "2025-06-18" },
    { "mcp-param-x": "1" },
    { accept: "text/plain" },
  );

  const parsed = async (response: Response): Promise<object> => {
    const text = await response.text();
    const type = response.headers.get("content-type")?.split(";", 1)[0];
    const bodies =
      type === "text/event-stream"
        ? text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []))
        : [text];
    return { status: response.status, type, messages: bodies.map((body) => plain(JSON.parse(body) as Received)) };
  };

  test("random calls are answered as the SDK answers them", async () => {
    await fc.assert(
      fc.asyncProperty(calls("modern", "HTTP"), headersMore, fc.boolean(), async (sent, others, structured) => {
        const [ours, theirs] = [stage(structured), stage(structured)];
        const endpoint = createEndpoint(ours.workspace, createFactory(ours.workspace));
        const handler = createMcpHandler(createFactory(theirs.workspace), { legacy: "reject" });
        const guest = { principal: "p", scopes: [] };
        let body: object | undefined;
        const server = createServer((req, res) => void endpoint.handle(req, res, body, guest));
        server.listen(0, "127.0.0.1");
        await once(server, "listening");
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
        try {
          for (const [n, { method, params, isCancelled }] of sent.entries()) {
            if (isCancelled) continue;
            body = { jsonrpc: "2.0", id: n, method, params };
            const name = typeof params["name"] === "string" ? { "mcp-name": params["name"] } : {};
            const headers = {
              "content-type": "application/json",
              accept: "application/json, text/event-stream",
              "mcp-protocol-version": "2026-07-28",
              "mcp-method": method,
              ...name,
              ...others,
            };
            const authInfo = { token: "", clientId: "p", scopes: [] };
            const [our, their] = [
              await fetch(url, { method: "POST", headers, body: "" }),
              await handler.fetch(new Request(url, { method: "POST", headers }), { authInfo, parsedBody: body }),
            ];
            // Without an envelope it is a call of the older protocol, which has no session here.
            if (!("io.modelcontextprotocol/protocolVersion" in (params._meta as object))) continue;
            expect(await parsed(our)).toEqual(await parsed(their));
          }
          expect(ours.begun).toEqual(theirs.begun);
        } finally {
          server.closeAllConnections();
          server.close();
          await Promise.all([endpoint.close(), handler.close()]);
        }
      }),
      { numRuns: 100 },
    );
  });
});
