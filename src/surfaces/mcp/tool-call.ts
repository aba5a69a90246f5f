/**
 * `tools/call`: from the wire to the session and back. With the SDK's schemas and streams an HTTP server answers less than half as
 * many calls, so every valid call is read and answered here. The SDK handles calls that it refuses, and sessions of the older protocol.
 */

import { getEventListeners } from "node:events";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { isRecord } from "../../contract/common.ts";
import type { Reply } from "../../contract/call.ts";
import { nearestWord } from "../../dialects/dialects.ts";
import type { CallOptions, KeptPlace } from "../../options.ts";
import type { AskingCall } from "./approvals.ts";
import type { Caller } from "./caller.ts";
import { type Called, type McpWorkspace, toolCalled } from "./mcp-workspace.ts";
import { type Id, isId, type Meta, metaFault } from "./envelope.ts";
import { answerSecondsMax, invalidParams, isProtocolFault, metaNames, ProtocolFault } from "./names.ts";

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
export function readCall(
  message: object,
  workspace: Pick<McpWorkspace, "definitions" | "toolPrefix">,
): CallMessage | undefined {
  for (const key in message) {
    if (key !== "jsonrpc" && key !== "id" && key !== "method" && key !== "params") return undefined;
  }
  const { method, id, params } = message as Partial<Record<"method" | "id" | "params", unknown>>; // each is checked below
  if (method !== "tools/call" || !isId(id) || !isRecord(params)) return undefined;
  const { name, arguments: input = {}, _meta: meta, requestState, inputResponses, task } = params;
  if (task !== undefined && !isTask(task)) return undefined;
  if (toolCalled(name, workspace) === undefined || !isRecord(input)) return undefined;
  if (meta !== undefined && (!isRecord(meta) || metaFault(meta) !== undefined)) return undefined;
  return { id, name: name as string, input, meta, requestState, inputResponses }; // `name` is that of a tool
}

/** A client may ask for a task; this server has none, and answers the call. */
const isTask = (task: unknown): boolean =>
  isRecord(task) && (task["ttl"] === undefined || typeof task["ttl"] === "number");

/** A call, and what its transport knows about it. */
export interface ToolCall extends AskingCall {
  readonly message: CallMessage;
  readonly era: "legacy" | "modern";
  readonly caller: Caller;
  /** Sends a notification about the call. */
  readonly notify: (note: ProgressNote) => Promise<void>;
  /** Calls back if the answer does not reach the client, as far as the transport knows; at once if it is lost already. */
  readonly onLost: (callback: () => void) => void;
  /** The older protocol over HTTP. */
  readonly transportSession?: string | undefined;
}

/** Unused controllers. In Node 20 making one costs as much as opening a file, so those of reads are used again. */
const spare: AbortController[] = [];
/** As many calls as clients usually have running. */
const spareMax = 64;

export const takeController = (): AbortController => spare.pop() ?? new AbortController();

/** For a call that is over. After a change, language servers may still work for it; a listener means that something goes on. */
export function giveBack(controller: AbortController, name: string, workspace: McpWorkspace): void {
  const { signal } = controller;
  const isRead = toolCalled(name, workspace)?.readOnly === true;
  if (!isRead || signal.aborted || spare.length >= spareMax || getEventListeners(signal, "abort").length > 0) return;
  spare.push(controller);
}

/** The answer as the text of one message. */
export async function answerCall(call: ToolCall, workspace: McpWorkspace): Promise<string> {
  const { id } = call.message;
  try {
    const called = await callTool(call, workspace);
    return call.era === "modern"
      ? modernAnswer(id, called, workspace)
      : JSON.stringify({ result: called, jsonrpc: "2.0", id });
  } catch (error) {
    if (!isProtocolFault(error)) throw error;
    const { code, message, data } = error;
    return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } });
  }
}

/** The same as the SDK's: the newer protocol adds to the result. */
function modernAnswer(id: Id, result: Called, { name, version }: Pick<McpWorkspace, "name" | "version">): string {
  const { resultType = "complete", _meta, content, isError, structuredContent } = result;
  // Most results are content alone. Joined text, since in V8 an object with a computed key takes as long as a small Read.
  if (isError === undefined && structuredContent === undefined && _meta === undefined && resultType === "complete") {
    const server = `{"name":${JSON.stringify(name)},"version":${JSON.stringify(version)}}`;
    return `{"result":{"content":${JSON.stringify(content)},"resultType":"complete","_meta":{"${metaNames.serverInfo}":${server}}},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
  }
  const stamped = { ...result, resultType, _meta: { ..._meta, [metaNames.serverInfo]: { name, version } } };
  return JSON.stringify({ result: stamped, jsonrpc: "2.0", id });
}

/** Rejects with an error of the protocol, or if the call is cancelled while a person is asked. */
export function callTool(call: ToolCall, workspace: McpWorkspace): Promise<Called> {
  const { name, meta } = call.message;
  const { watchCall } = workspace;
  if (watchCall === undefined) return callOrAsk(call, workspace);
  return watchCall(toolCalled(name, workspace)?.name ?? "unknown", meta, () => callOrAsk(call, workspace));
}

/** A bug is reported to the client as INTERNAL, the stack goes to the log, and the server keeps running. */
async function callOrAsk(call: ToolCall, workspace: McpWorkspace): Promise<Called> {
  try {
    return await workspace.approvals.during("tools/call", call, () => resultOfCall(call, workspace));
  } catch (error) {
    // A call that is cancelled while a person is asked ends with the error of that question.
    if (isProtocolFault(error) || call.signal.aborted) throw error;
    const tool = call.message.name;
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

export async function resultOfCall(
  call: ToolCall,
  workspace: Pick<
    McpWorkspace,
    "structured" | "resultBytesMax" | "definitions" | "toolPrefix" | "observe" | "noteShell"
  > & {
    readonly approvals: Pick<McpWorkspace["approvals"], "places" | "waysOut">;
  },
): Promise<CallToolResult> {
  const { message, signal, caller } = call;
  const tool = toolCalled(message.name, workspace);
  const name = tool?.name ?? message.name;
  const { session, answerBytesMax } = caller;
  const { structured, resultBytesMax: bytesMax } = workspace;
  const onProgress = progressFor(message.meta?.["progressToken"], call.notify);
  const shared = { signal, answerBytesMax, countStructured: structured };
  const options = onProgress === undefined ? shared : { ...shared, onProgress };
  // A tool that the session has but this server does not offer must not be called.
  if (tool === undefined && session.definitions().some((definition) => definition.name === name)) {
    throw new ProtocolFault(invalidParams, unknownTool(message.name, undefined, workspace));
  }
  await workspace.observe?.(session, signal);
  // Not awaited here: calls begin in the order in which they came. The session's queue puts the notes before the call.
  const noted = tool?.readOnly === false ? workspace.noteShell?.(caller) : undefined;
  // In the newer protocol a question ends the call, and the client may never repeat it, so its place in the queue is not kept.
  const reply = await (call.era === "modern"
    ? session.call(name, message.input, options)
    : callInPlace(call, name, options, workspace.approvals.places));
  await noted;
  // The protocol demands an error for an unknown tool; the dialect's message suggests the nearest name.
  // A tool that the mode leaves out of the list is known, and its refusal says why.
  if (tool === undefined && reply.error?.code !== "ACCESS_DENIED")
    throw new ProtocolFault(invalidParams, unknownTool(name, reply, workspace));
  const waysOut = workspace.approvals.waysOut(signal, caller.client);
  const result = resultOf(waysOut === undefined || !reply.isError ? reply : withText(reply, waysOut), name, {
    structured,
    bytesMax,
  });
  // A cancelled call gets no answer, and a reply that is too large for a message is replaced by an error.
  if (signal.aborted || result.isError !== (reply.isError ? true : undefined)) session.undelivered(reply);
  else call.onLost(() => session.undelivered(reply));
  return result;
}

/** The dialect's own words name the tools without the prefix. */
function unknownTool(
  name: string,
  reply: Reply | undefined,
  { definitions, toolPrefix }: Pick<McpWorkspace, "definitions" | "toolPrefix">,
): string {
  if (toolPrefix === "" && reply?.error !== undefined) return reply.error.message;
  const known = definitions.map((definition) => `${toolPrefix}${definition.name}`);
  return `Cannot call "${name.slice(0, 80)}": there is no such tool, use ${nearestWord(name, known) ?? known.join(", ")}`;
}

const withText = (reply: Reply, text: string): Reply => ({
  ...reply,
  content: [...reply.content, { type: "text", text }],
});

type Places = Map<string, KeptPlace>;

/** After a question the call is repeated under the same name; calls on the same file that the client sent later wait until then. */
async function callInPlace(call: ToolCall, name: string, options: CallOptions, places: Places): Promise<Reply> {
  const { message, caller, signal, transportSession = "" } = call;
  const { id, input } = message;
  const request = `${caller.session.id} ${transportSession} ${typeof id} ${id}`;
  const place = places.get(request) ?? {};
  places.delete(request);
  try {
    return await caller.session.call(name, input, { ...options, place });
  } catch (error) {
    if (place.leave !== undefined) keep(place, request, places, signal);
    throw error;
  }
}

/** Keeps the place until the call is repeated or cancelled, or the time for an answer is over. */
function keep(place: KeptPlace, request: string, places: Places, signal: AbortSignal): void {
  places.set(request, place);
  const giveUp = (): void => {
    if (places.get(request) !== place) return;
    places.delete(request);
    place.leave?.();
  };
  setTimeout(giveUp, answerSecondsMax * 1_000).unref();
  signal.addEventListener("abort", giveUp, { once: true });
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
