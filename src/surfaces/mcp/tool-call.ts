/** One call of a tool through the session, with or without the SDK around it. */

import type { CallToolResult } from "@modelcontextprotocol/server";
import type { CallOptions, KeptPlace, Session } from "../../api.ts";
import type { Reply } from "../../contract/call.ts";
import type { Caller } from "./caller.ts";
import type { Desk } from "./desk.ts";
import { answerSecondsMax, metaNames } from "./names.ts";
import { resultOf } from "./result.ts";

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
