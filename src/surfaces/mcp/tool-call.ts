/**
 * `tools/call`: from the wire to the session and back. The SDK checks a call against four schemas on its way in and two on its way
 * out, and over HTTP creates a server, a request and a stream for each: an HTTP server then answers less than half as many calls.
 * So stdio and HTTP read and answer every valid call themselves, with `readCall` and `answerCall`. The SDK handles the rest:
 * calls that it refuses, and HTTP sessions of the older protocol, whose streams are its own; its handler uses the same `callTool`.
 */

import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Reply } from "../../contract/call.ts";
import type { CallOptions, KeptPlace, Session } from "../../options.ts";
import type { AskClient } from "./approvals.ts";
import type { Caller } from "./caller.ts";
import type { Called, McpWorkspace } from "./mcp-workspace.ts";
import { isRecord, type Meta } from "./envelope.ts";
import { answerSecondsMax, invalidParams, isProtocolFault, metaNames, ProtocolFault } from "./names.ts";

export type Id = string | number;

/** A call as the client sent it. */
export interface CallMessage {
  readonly id: Id;
  readonly name: string;
  readonly input: unknown;
  readonly meta: Meta | undefined;
  /** What the client brings back from a question that ended the call before. */
  readonly requestState?: unknown;
  readonly inputResponses?: unknown;
}

/** Undefined for a message that the SDK should handle: not a call, an unknown tool, or anything that its schemas refuse. */
export function readCall(message: object, { definitions }: Pick<McpWorkspace, "definitions">): CallMessage | undefined {
  for (const key in message) {
    if (key !== "jsonrpc" && key !== "id" && key !== "method" && key !== "params") return undefined;
  }
  const { method, id, params } = message as Partial<Record<"method" | "id" | "params", unknown>>; // each is checked below
  if (method !== "tools/call" || !isId(id) || !isRecord(params)) return undefined;
  const { name, arguments: input = {}, _meta: meta, requestState, inputResponses, task } = params;
  if (task !== undefined && !isTask(task)) return undefined;
  if (!definitions.some((definition) => definition.name === name) || !isRecord(input)) return undefined;
  if (meta !== undefined && (!isRecord(meta) || !isCallMeta(meta))) return undefined;
  return { id, name: name as string, input, meta, requestState, inputResponses }; // `name` is that of a tool
}

/** A client may ask for a task; this server has none, and answers the call. */
const isTask = (task: unknown): boolean =>
  isRecord(task) && (task["ttl"] === undefined || typeof task["ttl"] === "number");

const isId = (id: unknown): id is Id => typeof id === "string" || Number.isSafeInteger(id);

function isCallMeta(meta: Meta): boolean {
  const { progressToken: token, [metaNames.relatedTask]: task } = meta;
  if (task !== undefined && (!isRecord(task) || typeof task["taskId"] !== "string")) return false;
  return token === undefined || typeof token === "string" || Number.isSafeInteger(token);
}

/** A call, and what its transport knows about it. */
export interface ToolCall extends CallMessage {
  readonly era: "legacy" | "modern";
  readonly caller: Caller;
  readonly principal: string;
  readonly signal: AbortSignal;
  /** Sends a notification about the call. */
  readonly notify: (note: ProgressNote) => Promise<void>;
  readonly delivery: Delivery;
  readonly ask: AskClient | undefined;
  /** The older protocol over HTTP. */
  readonly transportSession?: string | undefined;
}

/** Whether an answer reaches the client, as far as the transport knows. */
export interface Delivery {
  /** Calls back if the answer is lost, at once if it is lost already. */
  onLost(callback: () => void): void;
}

/** The answer as the text of one message. */
export async function answerCall(call: ToolCall, workspace: McpWorkspace): Promise<string> {
  const { id, era } = call;
  try {
    const called = await callTool(call, workspace);
    return era === "modern" ? modernAnswer(id, called, workspace) : legacyAnswer(id, called);
  } catch (error) {
    if (!isProtocolFault(error)) throw error;
    const { code, message, data } = error;
    return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } });
  }
}

/** Rejects with an error of the protocol, or if the call is cancelled while a person is asked. */
export async function callTool(call: ToolCall, workspace: McpWorkspace): Promise<Called> {
  const { name, meta } = call;
  const { watchCall, definitions } = workspace;
  if (watchCall === undefined) return callOrAsk(call, workspace);
  const isKnown = definitions.some((definition) => definition.name === name);
  return watchCall(isKnown ? name : "unknown", meta, () => callOrAsk(call, workspace));
}

function callOrAsk(call: ToolCall, workspace: McpWorkspace): Promise<Called> {
  const { id, name: tool, input, principal, signal, ask, requestState, inputResponses, caller } = call;
  const { session, canAsk } = caller;
  const asking = {
    method: "tools/call",
    tool,
    input,
    principal,
    session: session.id,
    signal,
    canAsk,
    requestState,
    inputResponses,
    id,
    ask,
  };
  return orInternal(call, workspace, () => workspace.approvals.during(asking, () => resultOfCall(call, workspace)));
}

export async function resultOfCall(
  call: ToolCall,
  workspace: Pick<McpWorkspace, "structured" | "resultBytesMax" | "definitions"> & {
    readonly approvals: Pick<McpWorkspace["approvals"], "places">;
  },
): Promise<CallToolResult> {
  const { name, input, signal, delivery, caller } = call;
  const { session, answerBytesMax } = caller;
  const onProgress = progressFor(call.meta?.["progressToken"], call.notify);
  const countStructured = workspace.structured;
  const options =
    onProgress === undefined
      ? { signal, answerBytesMax, countStructured }
      : { signal, answerBytesMax, countStructured, onProgress };
  // In the newer protocol a question ends the call, and the client may never repeat it, so its place in the queue is not kept.
  const reply = await (call.era === "modern"
    ? session.call(name, input, options)
    : callInPlace({ name, input, options }, requestName(call), session, workspace.approvals.places));
  // The protocol demands an error for an unknown tool; the dialect's message suggests the nearest name.
  if (!workspace.definitions.some((definition) => definition.name === name)) {
    throw new ProtocolFault(invalidParams, reply.error?.message ?? name);
  }
  const result = resultOf(reply, name, { structured: workspace.structured, bytesMax: workspace.resultBytesMax });
  // A cancelled call gets no answer, and a reply that is too large for a message is replaced by an error.
  if (signal.aborted || result.isError !== (reply.isError ? true : undefined)) session.undelivered(reply);
  else delivery.onLost(() => session.undelivered(reply));
  return result;
}

/**
 * Identifies the request: a call is repeated under this name after a person was asked. Calls on the same file that the client
 * sent later wait until then.
 */
const requestName = ({ id, transportSession = "", caller }: ToolCall): string =>
  `${caller.session.id} ${transportSession} ${typeof id} ${id}`;

interface PlacedCall {
  readonly name: string;
  readonly input: unknown;
  readonly options: CallOptions & { readonly signal: AbortSignal };
}

type Places = Map<string, KeptPlace>;

async function callInPlace(
  { name, input, options }: PlacedCall,
  request: string,
  session: Session,
  places: Places,
): Promise<Reply> {
  const place = places.get(request) ?? {};
  places.delete(request);
  try {
    return await session.call(name, input, { ...options, place });
  } catch (error) {
    if (place.leave !== undefined) keep(place, request, places, options.signal);
    throw error;
  }
}

/** Keeps the place until the call is repeated or cancelled, or the time for an answer is over. */
function keep(place: KeptPlace, request: string, places: Places, signal: AbortSignal | undefined): void {
  places.set(request, place);
  const giveUp = (): void => {
    if (places.get(request) !== place) return;
    places.delete(request);
    place.leave?.();
  };
  setTimeout(giveUp, answerSecondsMax * 1_000).unref();
  signal?.addEventListener("abort", giveUp, { once: true });
}

/** A bug is reported to the client as INTERNAL, the stack goes to the log, and the server keeps running. */
async function orInternal(
  { name: tool, signal }: ToolCall,
  workspace: McpWorkspace,
  work: () => Promise<Called>,
): Promise<Called> {
  try {
    return await work();
  } catch (error) {
    // A call that is cancelled while a person is asked ends with the error of that question.
    if (isProtocolFault(error) || signal.aborted) throw error;
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    workspace.log("error", "internal error, this is a bug in Filehand", { tool, stack });
    const isGone = isPartGone(error);
    if (isGone) workspace.onPartGone();
    const text = isGone
      ? `Cannot call ${tool}: Filehand was updated or removed while this server was running and a part of it cannot be loaded, nothing was done and the server ends now, restart it`
      : "Filehand failed by a fault of its own, the details are in its log";
    return { content: [{ type: "text", text }], isError: true, _meta: { [metaNames.code]: "INTERNAL" } };
  }
}

/** Was a file of the package needed that no longer exists? */
const isPartGone = (error: unknown): boolean =>
  error instanceof Error &&
  "code" in error &&
  (error.code === "MODULE_NOT_FOUND" || error.code === "ERR_MODULE_NOT_FOUND");

/** The shortest time between two progress notes: often enough for a progress bar. */
const everyMs = 100;

export interface ProgressNote {
  readonly method: "notifications/progress";
  readonly params: { readonly progressToken: string | number; readonly progress: number; readonly total: number };
}

/** Reports progress, never backwards. Undefined for a client that gave no token, which means that it wants no reports. */
export function progressFor(
  token: unknown,
  send: (note: ProgressNote) => Promise<void>,
  nowMs: () => number = () => performance.now(),
): ((done: number, total: number) => void) | undefined {
  if (typeof token !== "string" && typeof token !== "number") return undefined;
  let sentMs = Number.NEGATIVE_INFINITY;
  let sent = -1;
  return (done, total) => {
    if (done <= sent || nowMs() - sentMs < everyMs) return;
    sent = done;
    sentMs = nowMs();
    const params = { progressToken: token, progress: done, total };
    send({ method: "notifications/progress", params }).catch(() => undefined); // the client is gone
  };
}

// Both answers are what the SDK would send; the newer protocol adds to the result.

const legacyAnswer = (id: Id, result: Called): string => JSON.stringify({ result, jsonrpc: "2.0", id });

function modernAnswer(id: Id, result: Called, { name, version }: Pick<McpWorkspace, "name" | "version">): string {
  const { resultType = "complete", _meta, content, isError, structuredContent } = result;
  const meta = { ..._meta, [metaNames.serverInfo]: { name, version } };
  // Named one by one: in V8 a spread with added keys takes as long as a small Read.
  const stamped =
    resultType === "complete"
      ? { content, isError, structuredContent, resultType, _meta: meta }
      : { ...result, _meta: meta };
  return JSON.stringify({ result: stamped, jsonrpc: "2.0", id });
}

export interface ResultOptions {
  /** Adds `structuredContent`. Off by default, because some clients then show nothing else to the model. */
  readonly structured: boolean;
  /** Bytes of a result as JSON: a client ends the connection over a larger message. */
  readonly bytesMax: number;
}

export function resultOf(reply: Reply, tool: string, { structured, bytesMax }: ResultOptions): CallToolResult {
  const result: CallToolResult = { content: [...reply.content] };
  if (reply.isError) result.isError = true;
  if (structured && isRecord(reply.structured)) result.structuredContent = reply.structured;
  if (reply.error !== undefined) result._meta = { [metaNames.code]: reply.error.code };
  if (fits(result, bytesMax)) return result;
  const { structuredContent: _, ...plain } = result;
  return structured && fits(plain, bytesMax) ? plain : tooLarge(tool, bytesMax);
}

/** JSON has at most six bytes per UTF-16 unit, so a short result needs no counting. */
function fits(result: CallToolResult, bytesMax: number): boolean {
  const chars = result.content.reduce(
    (sum, part) => sum + (part.type === "text" ? part.text.length : part.type === "image" ? part.data.length : 0),
    0,
  );
  if (result.structuredContent === undefined && chars * 6 + 4_096 <= bytesMax) return true;
  return Buffer.byteLength(JSON.stringify(result)) <= bytesMax;
}

function tooLarge(tool: string, bytesMax: number): CallToolResult {
  const text = `Cannot send the answer of ${tool}: it is larger than ${Math.floor(bytesMax / 1_048_576)} MiB, which is the most that one message may hold, ask for a smaller part`;
  return { content: [{ type: "text", text }], isError: true, _meta: { [metaNames.code]: "TOO_LARGE" } };
}
