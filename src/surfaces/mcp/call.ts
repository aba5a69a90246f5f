/** `tools/call`: off the wire, through the session, back onto the wire. */

import {
  type CallToolRequest,
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Caller } from "./caller.ts";
import type { Called, Desk } from "./desk.ts";
import { progressFor } from "./progress.ts";
import { type Delivery, orInternal, requestName, resultOfCall } from "./tool-call.ts";

/** What our own endpoint hands through the SDK, over HTTP. */
interface CallExtra {
  readonly delivery?: Delivery;
  /** To be called when the call is in the queue of its session: then the next one may follow. */
  readonly entered?: () => void;
}

const extraOf = (ctx: ServerContext): CallExtra => ctx.http?.authInfo?.extra ?? {};

/** Over HTTP the endpoint watches the connection of each request. Over stdio only a cancelled call goes without an answer. */
function deliveryOf(ctx: ServerContext): Delivery {
  const { delivery } = extraOf(ctx);
  if (delivery !== undefined) return delivery;
  const { signal } = ctx.mcpReq;
  return { onLost: (told) => signal.addEventListener("abort", told, { once: true }) };
}

export async function callTool(
  { params }: CallToolRequest,
  ctx: ServerContext,
  caller: Caller,
  desk: Desk,
): Promise<Called> {
  const { session, canAsk } = caller;
  const { name, arguments: input = {} } = params;
  const known = desk.definitions.some((definition) => definition.name === name);
  const onProgress = progressFor(ctx.mcpReq._meta?.progressToken, ctx.mcpReq.notify);
  const work = async (signal: AbortSignal): Promise<CallToolResult> => {
    // What the protocol wants for a name that no tool has; the words are the dialect's, with the nearest name.
    if (!known) {
      const { error } = await session.call(name, input, { signal });
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, error?.message ?? name);
    }
    const options = { signal, ...(onProgress === undefined ? {} : { onProgress }) };
    // The newer protocol ends the call with the question, and nobody knows whether it comes back.
    const isLegacy = ctx.mcpReq.envelope === undefined;
    const asksAs = isLegacy ? requestName(ctx.mcpReq.id, ctx.sessionId) : undefined;
    const result = resultOfCall({ name, input, options, delivery: deliveryOf(ctx), asksAs }, caller, desk);
    extraOf(ctx).entered?.();
    return result;
  };
  const call = (): Promise<Called> =>
    orInternal(name, desk, () => desk.approvals.during({ ctx, tool: name, input, canAsk, session: session.id }, work));
  return desk.watchCall === undefined ? call() : desk.watchCall(known ? name : "unknown", ctx.mcpReq._meta, call);
}
