/** Filehand's tools for Mastra: a record for `new Agent({ tools })`. The model gets text and images once, a program the whole reply. */

import type { JsonSchema, Reply, ReplyPart } from "../../contract/call.ts";
import type { Session } from "../../options.ts";
import { asksHost, type FileToolOptions, type NeedsApproval, offered, textOf, withSignal } from "./offered.ts";

export type { FileToolOptions, NeedsApproval, PendingCall } from "./offered.ts";

export interface MastraToolOptions extends FileToolOptions {
  /** Which calls wait until they are approved in Mastra; none by default. */
  readonly needsApproval?: NeedsApproval;
}

/** The part of Mastra's context that a tool uses. */
interface Context {
  readonly abortSignal?: AbortSignal | undefined;
}

/** A Standard Schema that accepts every input: the dialect checks the arguments and says what would be right. */
interface OpenSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "filehand";
    readonly validate: (value: unknown) => { readonly value: unknown };
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>;
      readonly output: () => Record<string, unknown>;
    };
  };
}

type OutputPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "media"; readonly data: string; readonly mediaType: string };

type ModelOutput =
  | { readonly type: "text" | "error-text"; readonly value: string }
  | { readonly type: "content"; readonly value: readonly OutputPart[] };

/** A tool as `createTool` of Mastra takes and makes it. */
export interface FileTool {
  readonly id: string;
  readonly description: string;
  readonly inputSchema: OpenSchema;
  readonly requireApproval?: (input: unknown) => Promise<boolean>;
  readonly execute: (input: unknown, context?: Context) => Promise<Reply>;
  readonly toModelOutput: (reply: Reply) => ModelOutput;
}

export function fileTools(session: Session, options: MastraToolOptions = {}): Record<string, FileTool> {
  const { needsApproval } = options;
  const tools = offered(session, options).map((definition): [string, FileTool] => [
    definition.name,
    {
      id: definition.name,
      description: definition.description,
      inputSchema: openSchema(definition.inputSchema),
      ...(needsApproval && { requireApproval: (input) => asksHost(needsApproval, definition, input) }),
      execute: (input, context) => definition.execute(input, withSignal(context?.abortSignal)),
      toModelOutput,
    },
  ]);
  return Object.fromEntries(tools);
}

/** Without it Mastra gives the model the whole reply as JSON, where the text is twice: as content and as structured data. */
function toModelOutput(reply: Reply): ModelOutput {
  if (reply.isError) return { type: "error-text", value: textOf(reply) };
  if (reply.content.every(({ type }) => type === "text")) return { type: "text", value: textOf(reply) };
  return { type: "content", value: reply.content.map(partOf) };
}

const partOf = (part: ReplyPart): OutputPart =>
  part.type === "text" ? part : { type: "media", data: part.data, mediaType: part.mimeType };

function openSchema(schema: JsonSchema): OpenSchema {
  const jsonSchema = (): Record<string, unknown> => ({ ...schema });
  return {
    "~standard": {
      version: 1,
      vendor: "filehand",
      validate: (value) => ({ value }),
      jsonSchema: { input: jsonSchema, output: jsonSchema },
    },
  };
}
