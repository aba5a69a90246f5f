/** A reply as a result of `tools/call`: text and pictures as content, the rest only for those who ask for it. */

import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Reply } from "../../contract/call.ts";
import { metaNames } from "./names.ts";

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

const isRecord = (value: unknown): value is Record<string, unknown> =>
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
