/** Filehand's tools for the Vercel AI SDK: a record for `generateText` and `streamText`. */

import { jsonSchema, type JSONSchema7, type Tool } from "ai";
import type { Session } from "../../options.ts";
import type { Reply, ReplyPart } from "../../contract/call.ts";
import { asksHost, type FileToolOptions, type NeedsApproval, offered, textOf, withSignal } from "./offered.ts";

export type { FileToolOptions, NeedsApproval, PendingCall } from "./offered.ts";

/** The output that a program sees is the whole reply; the model gets its text and its images. */
export type FileTool = Tool<unknown, Reply>;

export function fileTools(session: Session, options: FileToolOptions = {}): Record<string, FileTool> {
  const tools = offered(session, options).map((definition): [string, FileTool] => {
    const tool: FileTool = {
      description: definition.description,
      // Without a validator: the dialect answers wrong arguments and says what would be right.
      inputSchema: jsonSchema(definition.inputSchema as JSONSchema7), // the same shape, ours is `readonly`
      execute: (input, { abortSignal }) => definition.execute(input, withSignal(abortSignal)),
      toModelOutput: ({ output }) => modelOutput(output),
    };
    return [definition.name, tool];
  });
  return Object.fromEntries(tools);
}

/** For the option `toolApproval`: the calls that wait until the user has approved them in the SDK. */
export function toolApproval(session: Session, needsApproval: NeedsApproval): Record<string, Approval> {
  const tools = offered(session, {}).map((definition): [string, Approval] => [
    definition.name,
    async (input) => ((await asksHost(needsApproval, definition, input)) ? "user-approval" : "not-applicable"),
  ]);
  return Object.fromEntries(tools);
}

type Approval = (input: unknown) => Promise<"user-approval" | "not-applicable">;

type ModelOutput = Awaited<ReturnType<NonNullable<FileTool["toModelOutput"]>>>;

function modelOutput(reply: Reply): ModelOutput {
  if (reply.isError) return { type: "error-text", value: textOf(reply) };
  if (reply.content.every(({ type }) => type === "text")) return { type: "text", value: textOf(reply) };
  return { type: "content", value: reply.content.map(partOf) };
}

type ContentPart = Extract<ModelOutput, { readonly type: "content" }>["value"][number];

const partOf = (part: ReplyPart): ContentPart =>
  part.type === "text"
    ? { type: "text", text: part.text }
    : { type: "file", data: { type: "data", data: part.data }, mediaType: part.mimeType };
