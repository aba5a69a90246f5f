/** Filehand's tools for the Anthropic SDK's tool runner, and its own text editor and memory tools answered by Filehand. */

import type { BetaRunnableTool } from "@anthropic-ai/sdk/lib/tools/BetaRunnableTool";
import { ToolError } from "@anthropic-ai/sdk/lib/tools/ToolError";
import type { BetaTool, BetaToolResultContentBlockParam } from "@anthropic-ai/sdk/resources/beta";
import type { Session } from "../../api.ts";
import type { Reply, ReplyPart } from "../../contract/call.ts";
import { createTextEditor, type TextEditor } from "./anthropic-editor.ts";
import { type FileToolOptions, offered, withSignal } from "./offered.ts";

export type { FileToolOptions } from "./offered.ts";

/** For `client.beta.messages.toolRunner({ tools })`. */
export function fileTools(session: Session, options: FileToolOptions = {}): BetaRunnableTool<unknown>[] {
  return offered(session, options).map((definition) => ({
    type: "custom",
    name: definition.name,
    description: definition.description,
    input_schema: definition.inputSchema as BetaTool.InputSchema, // ours says `readonly` and is always an object's
    parse: (input) => input, // the dialect checks it, and says what would be right
    run: async (input, context) => orThrow(await definition.execute(input, withSignal(context?.signal))),
  }));
}

export interface TextEditorOptions {
  /**
   * The version that the model knows; `text_editor_20250728` by default. Those up to `text_editor_20250124` have
   * `undo_edit`, which needs a state folder.
   */
  readonly type?: "text_editor_20250124" | "text_editor_20250429" | "text_editor_20250728";
  /** Characters of a view; the session's page is the limit by default. */
  readonly maxCharacters?: number;
}

/** The text editor tool that models are trained on: view, create, str_replace, insert (and undo_edit in older versions). */
export function textEditorTool(session: Session, options: TextEditorOptions = {}): BetaRunnableTool<unknown> {
  const { type = "text_editor_20250728", maxCharacters } = options;
  const commands = ["view", "create", "str_replace", "insert"] as const;
  const undo = type === "text_editor_20250124";
  const editor = createTextEditor(session, {
    flavour: "editor",
    commands: undo ? [...commands, "undo_edit"] : commands,
    charactersMax: maxCharacters,
  });
  const shared = { parse: (input: unknown) => input, run: runOf(editor) };
  if (type === "text_editor_20250124") return { type, name: "str_replace_editor", ...shared };
  if (type === "text_editor_20250429") return { type, name: "str_replace_based_edit_tool", ...shared };
  const limit = maxCharacters === undefined ? {} : { max_characters: maxCharacters };
  return { type, name: "str_replace_based_edit_tool", ...limit, ...shared };
}

/** The memory tool. Where the session's relative paths start is what the model calls `/memories`. */
export function memoryTool(session: Session): BetaRunnableTool<unknown> {
  const editor = createTextEditor(session, {
    flavour: "memory",
    commands: ["view", "create", "str_replace", "insert", "delete", "rename"],
    charactersMax: undefined,
  });
  return { type: "memory_20250818", name: "memory", parse: (input) => input, run: runOf(editor) };
}

const runOf =
  (editor: TextEditor): BetaRunnableTool<unknown>["run"] =>
  async (input, context) =>
    orThrow(await editor(input, withSignal(context?.signal)));

/** The runner tells a failure from an answer by a throw. */
function orThrow(reply: Reply): BetaToolResultContentBlockParam[] {
  const blocks = reply.content.map(blockOf);
  if (reply.isError) throw new ToolError(blocks);
  return blocks;
}

type ImageType = "image/jpeg" | "image/png" | "image/gif" | "image/webp";

const blockOf = (part: ReplyPart): BetaToolResultContentBlockParam =>
  part.type === "text"
    ? { type: "text", text: part.text }
    : {
        type: "image",
        // Pictures of other kinds are converted when they are read.
        source: { type: "base64", data: part.data, media_type: part.mimeType as ImageType },
      };
