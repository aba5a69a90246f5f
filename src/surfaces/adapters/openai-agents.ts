/** Filehand's tools for OpenAI Agents, and an editor for its apply-patch tool. */

import { type ApplyPatchResult, type Editor, type FunctionTool, type RunContext, tool } from "@openai/agents";
import type { Session } from "../../options.ts";
import type { JsonSchema, Reply, ReplyPart } from "../../contract/call.ts";
import { patchForOperation, type PatchOperation } from "../../dialects/dialects.ts";
import { asksHost, type FileToolOptions, type NeedsApproval, offered, textOf, withSignal } from "./offered.ts";

export type { FileToolOptions, NeedsApproval, PendingCall } from "./offered.ts";

export interface OpenaiAgentsOptions extends FileToolOptions {
  /** Which calls interrupt the run until they are approved; none by default. */
  readonly needsApproval?: NeedsApproval;
}

/** The SDK's type of a schema that it does not make strict. */
interface LooseSchema {
  type: "object";
  properties: Record<string, JsonSchema>;
  required: string[];
  additionalProperties: true;
}

export type FileTool = FunctionTool<unknown, LooseSchema, FileToolOutput>;

type FileToolOutput = string | readonly OutputPart[];
type OutputPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly image: { readonly data: string; readonly mediaType: string } };

/** For `new Agent({ tools })`. The model gets a failure as text: the SDK has no other form. */
export function fileTools(session: Session, options: OpenaiAgentsOptions = {}): FileTool[] {
  const { needsApproval } = options;
  return offered(session, options).map((definition) =>
    tool<LooseSchema, unknown, FileToolOutput>({
      name: definition.name,
      description: definition.description,
      // Strict schemas require every parameter. The dialect answers unknown and missing ones.
      strict: false,
      parameters: definition.inputSchema as LooseSchema, // ours forbids other parameters, which the SDK's type does not allow
      execute: async (input: unknown, _context, details) =>
        outputOf(await definition.execute(input, withSignal(details?.signal))),
      ...(needsApproval && {
        needsApproval: (_context: RunContext, input: unknown) => asksHost(needsApproval, definition, input),
      }),
    }),
  );
}

/** For `applyPatchTool({ editor })`: each operation is a patch of one file, so all rules apply to it. */
export function patchEditor(session: Session): Editor {
  const run = async (operation: PatchOperation): Promise<ApplyPatchResult> => {
    const patch = patchForOperation(operation);
    if ("refusal" in patch) return { status: "failed", output: patch.refusal };
    const { reply } = await session.run((profile) => ({ verb: "patch", patchText: patch.text, profile }));
    return { status: reply.isError ? "failed" : "completed", output: textOf(reply) };
  };
  return {
    createFile: ({ path, diff }) => run({ does: "add", path, diff }),
    updateFile: ({ path, diff, moveTo }) => run({ does: "update", path, diff, moveTo }),
    deleteFile: ({ path }) => run({ does: "delete", path }),
  };
}

const outputOf = (reply: Reply): FileToolOutput =>
  reply.content.every(({ type }) => type === "text") ? textOf(reply) : reply.content.map(partOf);

const partOf = (part: ReplyPart): OutputPart =>
  part.type === "text" ? part : { type: "image", image: { data: part.data, mediaType: part.mimeType } };
