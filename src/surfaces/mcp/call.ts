/** `tools/call`: off the wire, through the session, back onto the wire. */

import {
  type CallToolRequest,
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Session } from "../../api.ts";
import type { Called, Desk } from "./desk.ts";
import { metaNames } from "./names.ts";
import { progressFor } from "./progress.ts";
import { resultOf } from "./result.ts";

/** What is known about a request besides its words. */
export interface Caller {
  readonly session: Session;
  /** Can its client put a question to a person? */
  readonly canAsk: boolean;
}

export async function callTool(
  { params }: CallToolRequest,
  ctx: ServerContext,
  caller: Caller,
  desk: Desk,
): Promise<Called> {
  const { name, arguments: input = {} } = params;
  const known = desk.definitions.some((definition) => definition.name === name);
  const onProgress = progressFor(ctx.mcpReq._meta?.progressToken, ctx.mcpReq.notify);
  const work = async (signal: AbortSignal): Promise<CallToolResult> => {
    const options = { signal, ...(onProgress === undefined ? {} : { onProgress }) };
    const reply = await caller.session.call(name, input, options);
    // What the protocol wants for a name that no tool has; the words are the dialect's, with the nearest name.
    if (!known) throw new ProtocolError(ProtocolErrorCode.InvalidParams, reply.error?.message ?? name);
    return resultOf(reply, name, { structured: desk.structured, bytesMax: desk.resultBytesMax });
  };
  const asked = { ctx, tool: name, input, canAsk: caller.canAsk, session: caller.session.id };
  return desk.watchCall(known ? name : "unknown", ctx.mcpReq._meta, () =>
    answered(name, desk, () => desk.approvals.during(asked, work)),
  );
}

/** A bug stays a bug: the client hears that there is one, the stack goes to the log, and the server lives on. */
async function answered(tool: string, desk: Desk, work: () => Promise<Called>): Promise<Called> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    desk.log("error", "internal error, this is a bug in Filehand", { tool, stack });
    const text = "Filehand failed by a fault of its own, the details are in its log";
    return { content: [{ type: "text", text }], isError: true, _meta: { [metaNames.code]: "INTERNAL" } };
  }
}
