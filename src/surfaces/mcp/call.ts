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
import { orInternal, resultOfCall } from "./tool-call.ts";

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
    return resultOfCall({ name, input, options }, caller, desk);
  };
  const call = (): Promise<Called> =>
    orInternal(name, desk, () => desk.approvals.during({ ctx, tool: name, input, canAsk, session: session.id }, work));
  return desk.watchCall === undefined ? call() : desk.watchCall(known ? name : "unknown", ctx.mcpReq._meta, call);
}
