/**
 * `tools/call`: off the wire, through the session, back onto the wire. A call through the SDK is checked against four schemas
 * on its way in and two on its way out, and over HTTP the SDK makes a server, a request and a stream for each: an HTTP server
 * answers less than half as many. So stdio and HTTP read and answer every valid call themselves, with `readCall` and
 * `answerCall`. The SDK has the rest: calls that it refuses, and HTTP sessions of the older protocol, whose streams are its own;
 * its handler makes the same `callTool`.
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

/** A call as it came. */
export interface CallMessage {
  readonly id: Id;
  readonly name: string;
  readonly input: unknown;
  readonly meta: Meta | undefined;
  /** What the client brings back from a question that ended the call before. */
  readonly requestState?: unknown;
  readonly inputResponses?: unknown;
}

/** Undefined for what the SDK should look at: no call, a tool that there is not, or anything that its schemas refuse. */
export function readCall(message: object, { definitions }: Pick<McpWorkspace, "definitions">): CallMessage | undefined {
  for (const key in message) {
    if (key !== "jsonrpc" && key !== "id" && key !== "method" && key !== "params") return undefined;
  }
  const { method, id, params } = message as Partial<Record<"method" | "id" | "params", unknown>>; // each is looked at
  if (method !== "tools/call" || !isId(id) || !isRecord(params)) return undefined;
  const { name, arguments: input = {}, _meta: meta, requestState, inputResponses, task } = params;
  if (task !== undefined && !isTask(task)) return undefined;
  if (!definitions.some((definition) => definition.name === name) || !isRecord(input)) return undefined;
  if (meta !== undefined && (!isRecord(meta) || !isCallMeta(meta))) return undefined;
  return { id, name: name as string, input, meta, requestState, inputResponses }; // as every name of a tool
}

/** What a client says that would rather have a task; this server has none, and answers the call. */
const isTask = (task: unknown): boolean =>
  isRecord(task) && (task["ttl"] === undefined || typeof task["ttl"] === "number");

const isId = (id: unknown): id is Id => typeof id === "string" || Number.isSafeInteger(id);

function isCallMeta(meta: Meta): boolean {
  const { progressToken: token, [metaNames.relatedTask]: task } = meta;
  if (task !== undefined && (!isRecord(task) || typeof task["taskId"] !== "string")) return false;
  return token === undefined || typeof token === "string" || Number.isSafeInteger(token);
}

/** A call, and all that its transport knows about it. */
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

/** Whether an answer arrives, as far as the transport can know. */
export interface Delivery {
  /** Calls back if the answer is lost, at once if it is lost already. */
  onLost(told: () => void): void;
}

/** The whole answer, as the text of one message. */
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
  // The newer protocol ends the call with the question, and nobody knows whether it comes back.
  const reply = await (call.era === "modern"
    ? session.call(name, input, options)
    : callInPlace({ name, input, options }, requestName(call), session, workspace.approvals.places));
  // What the protocol wants for a name that no tool has; the words are the dialect's, with the nearest name.
  if (!workspace.definitions.some((definition) => definition.name === name)) {
    throw new ProtocolFault(invalidParams, reply.error?.message ?? name);
  }
  const result = resultOf(reply, name, { structured: workspace.structured, bytesMax: workspace.resultBytesMax });
  // A call that was cancelled gets no answer, and one that is too large for a message gets another.
  if (signal.aborted || result.isError !== (reply.isError ? true : undefined)) session.undelivered(reply);
  else delivery.onLost(() => session.undelivered(reply));
  return result;
}

/**
 * Names the request, for a call that is made again under the same name when a person was asked. Calls that the client sent
 * later on the same file wait until then.
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

/** Until the call is made again, is cancelled, or the time for an answer is over. */
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

/** A bug stays a bug: the client hears that there is one, the stack goes to the log, and the server lives on. */
async function orInternal(
  { name: tool, signal }: ToolCall,
  workspace: McpWorkspace,
  work: () => Promise<Called>,
): Promise<Called> {
  try {
    return await work();
  } catch (error) {
    // A call that was cancelled while a person was asked is left by the error of that question.
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

/** Was a part of the package asked for that is no longer there? */
const isPartGone = (error: unknown): boolean =>
  error instanceof Error &&
  "code" in error &&
  (error.code === "MODULE_NOT_FOUND" || error.code === "ERR_MODULE_NOT_FOUND");

// How far a long call is, reported to a client that wants to know: not too often, and never backwards.

const everyMs = 100;

export interface ProgressNote {
  readonly method: "notifications/progress";
  readonly params: { readonly progressToken: string | number; readonly progress: number; readonly total: number };
}

/** Undefined for a client that gave no token: it wants none. */
export function progressFor(
  token: unknown,
  send: (note: ProgressNote) => Promise<void>,
  nowMs: () => number = () => performance.now(),
): ((done: number, total: number) => void) | undefined {
  if (typeof token !== "string" && typeof token !== "number") return undefined;
  let toldMs = Number.NEGATIVE_INFINITY;
  let told = -1;
  return (done, total) => {
    if (done <= told || nowMs() - toldMs < everyMs) return;
    told = done;
    toldMs = nowMs();
    const params = { progressToken: token, progress: done, total };
    // A client that is gone hears nothing more, and that is all.
    send({ method: "notifications/progress", params }).catch(() => undefined);
  };
}

// The text of an answer, as the SDK would send it; the newer protocol wants more in it than the result.

const legacyAnswer = (id: Id, result: Called): string => JSON.stringify({ result, jsonrpc: "2.0", id });

function modernAnswer(id: Id, result: Called, { name, version }: Pick<McpWorkspace, "name" | "version">): string {
  const { resultType = "complete", _meta, content, isError, structuredContent } = result;
  const meta = { ..._meta, [metaNames.serverInfo]: { name, version } };
  // Named one by one: V8 takes as long for a copy with more in it as for a small Read.
  const stamped =
    resultType === "complete"
      ? { content, isError, structuredContent, resultType, _meta: meta }
      : { ...result, _meta: meta };
  return JSON.stringify({ result: stamped, jsonrpc: "2.0", id });
}

// A reply as a result of `tools/call`: text and pictures as content, the rest only for those who ask for it.

export interface ResultOptions {
  /** Also what programs read. Some clients then show nothing else to the model, so it is off by default. */
  readonly structured: boolean;
  /** Bytes of a result as JSON: one message over its limit ends a connection. */
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

/** JSON has at most six bytes for a UTF-16 unit, so what is short needs no counting. */
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
