/** One call of a tool through the session, with or without the SDK around it. */

import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Reply } from "../../contract/call.ts";
import type { CallOptions, KeptPlace, Session } from "../../options.ts";
import type { Caller } from "./caller.ts";
import type { Desk } from "./desk.ts";
import { answerSecondsMax, envelopeNames, metaNames } from "./names.ts";

export interface ToolCall {
  readonly name: string;
  readonly input: unknown;
  readonly options: CallOptions & { readonly signal: AbortSignal };
  /** Tells of an answer that did not reach its client. */
  readonly delivery: Delivery;
  /**
   * Names the request, for a call that is made again under the same name when a person was asked. Calls that the client
   * sent later on the same file wait until then.
   */
  readonly asksAs?: string | undefined;
}

/** Whether an answer arrives, as far as the transport can know. */
export interface Delivery {
  /** Calls back if the answer is lost, at once if it is lost already. */
  onLost(told: () => void): void;
}

export async function resultOfCall(
  { name, input, options: own, delivery, asksAs }: ToolCall,
  { session, answerBytesMax }: Caller,
  desk: Pick<Desk, "structured" | "resultBytesMax"> & { readonly approvals: Pick<Desk["approvals"], "places"> },
): Promise<CallToolResult> {
  const options = { ...own, answerBytesMax, countStructured: desk.structured };
  const reply = await (asksAs === undefined
    ? session.call(name, input, options)
    : callInPlace({ name, input, options }, `${session.id} ${asksAs}`, session, desk.approvals.places));
  const result = resultOf(reply, name, { structured: desk.structured, bytesMax: desk.resultBytesMax });
  // A call that was cancelled gets no answer, and one that is too large for a message gets another.
  if (own.signal.aborted || result.isError !== (reply.isError ? true : undefined)) session.undelivered(reply);
  else delivery.onLost(() => session.undelivered(reply));
  return result;
}

/** The name of a request, for `asksAs`. */
export const requestName = (id: string | number, transportSession = ""): string =>
  `${transportSession} ${typeof id} ${id}`;

type Places = Map<string, KeptPlace>;

async function callInPlace(
  { name, input, options }: Pick<ToolCall, "name" | "input" | "options">,
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
export async function orInternal<Result>(
  tool: string,
  desk: Desk,
  work: () => Promise<Result>,
): Promise<Result | CallToolResult> {
  try {
    return await work();
  } catch (error) {
    if (isOfProtocol(error)) throw error;
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    desk.log("error", "internal error, this is a bug in Filehand", { tool, stack });
    const isGone = isPartGone(error);
    if (isGone) desk.onPartGone();
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

/** Errors of the protocol have a number; their class is the SDK's, which may not be loaded. */
const isOfProtocol = (error: unknown): boolean =>
  error instanceof Error && "code" in error && typeof error.code === "number";

// Calls with nothing in them that only the SDK knows: a known tool, a name and arguments, an envelope. A call through the SDK
// costs more than a small Read: it and its answer are checked against schemas that nothing of ours can fail. So once the SDK
// has answered one call with a result, those that differ from it in nothing but their arguments need not go through it.

export type Id = string | number;
export type Meta = Readonly<Record<string, unknown>>;

export interface PlainCall {
  readonly id: Id;
  readonly name: string;
  readonly input: unknown;
  readonly meta: Meta | undefined;
}

/** Undefined for a call with anything that the protocol gives a meaning to, beyond the tool and its arguments. */
export function plainCall(message: object, names: { has(name: string): boolean }): PlainCall | undefined {
  for (const key in message) {
    if (key !== "jsonrpc" && key !== "id" && key !== "method" && key !== "params") return undefined;
  }
  const { method, id, params } = message as Partial<Record<"method" | "id" | "params", unknown>>; // each is looked at
  if (method !== "tools/call" || !isId(id) || !isRecord(params)) return undefined;
  for (const key in params) if (key !== "name" && key !== "arguments" && key !== "_meta") return undefined;
  const { name, arguments: input = {}, _meta: meta } = params;
  if (typeof name !== "string" || !names.has(name) || !isRecord(input)) return undefined;
  if (meta !== undefined && (!isRecord(meta) || !isPlainMeta(meta))) return undefined;
  return { id, name, input, meta };
}

/** A token for progress, what clients say about themselves, and the envelope; nothing else that the protocol has reserved. */
function isPlainMeta(meta: Meta): boolean {
  for (const key in meta) {
    if (key.startsWith("io.modelcontextprotocol/") && !envelopeNames.includes(key)) return false;
  }
  const token = meta["progressToken"];
  return token === undefined || typeof token === "string" || Number.isSafeInteger(token);
}

/** What the newer protocol wants of every request: of two calls with the same, the SDK thinks the same. */
export const envelopeOf = (meta: Meta | undefined): string =>
  meta === undefined ? "" : JSON.stringify(envelopeNames.map((name) => meta[name]));

/** The same question about two calls, which is answered sooner; a doubt is a no. */
export const isSameEnvelope = (one: Meta | undefined, other: Meta | undefined): boolean =>
  one === undefined || other === undefined
    ? one === other
    : envelopeNames.every((name) => isSame(one[name], other[name]));

function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (!isRecord(one) || !isRecord(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  );
}

/** The text of an answer, as the SDK would send it; the newer protocol wants more in it than the result. */
export type AnswerText = (id: Id, result: CallToolResult) => string;

export const legacyAnswer: AnswerText = (id, result) => JSON.stringify({ result, jsonrpc: "2.0", id });

export function modernAnswers({ name, version }: { readonly name: string; readonly version: string }): AnswerText {
  const serverInfo = { name, version };
  const rest = `"resultType":"complete","_meta":${JSON.stringify({ [metaNames.serverInfo]: serverInfo })}`;
  return (id, result) => {
    const { content, isError, structuredContent, _meta } = result;
    if (isError === undefined && structuredContent === undefined && _meta === undefined) {
      // What is always the same is not made anew: that would take longer than the content.
      return `{"result":{"content":${JSON.stringify(content)},${rest}},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
    }
    const stamped = { ...result, resultType: "complete", _meta: { ..._meta, [metaNames.serverInfo]: serverInfo } };
    return JSON.stringify({ result: stamped, jsonrpc: "2.0", id });
  };
}

const isId = (id: unknown): id is Id => typeof id === "string" || Number.isSafeInteger(id);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

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
  if (structured && isObject(reply.structured)) result.structuredContent = reply.structured;
  if (reply.error !== undefined) result._meta = { [metaNames.code]: reply.error.code };
  if (fits(result, bytesMax)) return result;
  const { structuredContent: _, ...plain } = result;
  return structured && fits(plain, bytesMax) ? plain : tooLarge(tool, bytesMax);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

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
