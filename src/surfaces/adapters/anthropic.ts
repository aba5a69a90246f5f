/** Filehand's tools for the Anthropic SDK's tool runner, and its own text editor and memory tools answered by Filehand. */

import type { BetaRunnableTool } from "@anthropic-ai/sdk/lib/tools/BetaRunnableTool";
import { ToolError } from "@anthropic-ai/sdk/lib/tools/ToolError";
import type { BetaTool, BetaToolResultContentBlockParam } from "@anthropic-ai/sdk/resources/beta";
import type { Reply, ReplyPart, Request } from "../../contract/call.ts";
import type { TextEdit } from "../../contract/edit.ts";
import { FilehandError } from "../../contract/problem.ts";
import type { Profile } from "../../contract/profile.ts";
import { lineNumber } from "../../contract/target.ts";
import {
  type Command,
  type CommandName,
  commandOf,
  truncateReply,
  dialects,
  type TextEditorFlavour,
  notUndoneSentence,
  noHistorySentence,
  outsideMemoriesSentence,
  patchForOperation,
  type PatchOperation,
  errorReply,
  textReply,
  undoneSentence,
  textEditorWords,
} from "../../dialects/dialects.ts";
import type { CallOptions, Session } from "../../options.ts";
import { type FileToolOptions, offered, withSignal } from "./offered.ts";

export type { FileToolOptions } from "./offered.ts";

/** For `client.beta.messages.toolRunner({ tools })`. */
export function fileTools(session: Session, options: FileToolOptions = {}): BetaRunnableTool<unknown>[] {
  return offered(session, options).map((definition) => ({
    type: "custom",
    name: definition.name,
    description: definition.description,
    input_schema: definition.inputSchema as BetaTool.InputSchema, // the same shape, ours is `readonly`; the input is always an object
    parse: (input) => input, // the dialect checks the input and says what would be right
    run: async (input, context) => orThrow(await definition.execute(input, withSignal(context?.signal))),
  }));
}

export interface TextEditorOptions {
  /**
   * The version that the model was trained on; `text_editor_20250728` by default. Those up to `text_editor_20250124` have
   * `undo_edit`, which needs a state folder.
   */
  readonly type?: "text_editor_20250124" | "text_editor_20250429" | "text_editor_20250728";
  /** Characters of a view; by default as many as a page of the session has. */
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

/** The memory tool. `/memories` is the folder where the session's relative paths start. */
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

/** The runner expects a failure as an exception. */
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
        // Reading converts images of other types.
        source: { type: "base64", data: part.data, media_type: part.mimeType as ImageType },
      };

// Commands of Anthropic's text editor and memory tools as requests to the engine.

type TextEditor = (input: unknown, options: CallOptions) => Promise<Reply>;

export interface TextEditorSettings {
  readonly flavour: TextEditorFlavour;
  readonly commands: readonly CommandName[];
  readonly charactersMax: number | undefined;
}

function createTextEditor(session: Session, settings: TextEditorSettings): TextEditor {
  const { flavour, commands, charactersMax } = settings;
  const edits = createEdits(session);
  const toPath = flavour === "memory" ? belowMemories : (path: string) => path;
  return async (input, options) => {
    const command = commandOf(input, commands);
    if ("fault" in command) return errorReply(command.fault);
    const meant = inSession(command, toPath);
    if ("outside" in meant) return errorReply(outsideMemoriesSentence(meant.outside));
    const { path } = meant;
    if (meant.command === "undo_edit") return edits.undo(path, command.path, options);

    let changed: string | undefined;
    const words = textEditorWords(command, flavour, dialects[session.dialect]);
    const ask: Ask = async (make) => {
      const { outcome, reply } = await session.run(make, { ...options, words });
      if (outcome?.kind === "edit") changed = outcome.target.real;
      return reply;
    };
    const reply = await answerTo(meant, ask);
    if (changed !== undefined && commands.includes("undo_edit")) await edits.made(path, changed);
    return command.command === "view" ? truncateReply(reply, charactersMax) : reply;
  };
}

type Ask = (make: (profile: Profile) => Request) => Promise<Reply>;

/** Translates the paths of a command into paths of the session. */
function inSession(
  command: Command,
  toPath: (path: string) => string | undefined,
): Command | { readonly outside: string } {
  const path = toPath(command.path);
  if (path === undefined) return { outside: command.path };
  if (command.command !== "rename") return { ...command, path };
  const newPath = toPath(command.newPath);
  return newPath === undefined ? { outside: command.newPath } : { ...command, path, newPath };
}

/** `command` has paths of the session. */
function answerTo(command: Command, ask: Ask): Promise<Reply> {
  const { path } = command;
  switch (command.command) {
    case "view":
      return view(command, ask);
    case "create":
      // An edit without an old text creates a file and refuses one that is not empty; but it cannot create an empty one.
      return command.text === ""
        ? ask((profile) => patch({ does: "add", path, diff: "" }, profile))
        : ask((profile) => edit(path, { oldText: "", newText: command.text }, profile));
    case "str_replace": {
      const { oldText, newText } = command;
      return ask((profile) => edit(path, { oldText, newText }, profile));
    }
    case "insert": {
      const { line: afterLine, text: newText } = command;
      return ask((profile) => edit(path, { oldText: "", newText, afterLine }, profile));
    }
    case "delete":
      return ask((profile) => ({ verb: "delete", path, profile }));
    case "rename":
      return ask((profile) => ({ verb: "move", path, to: command.newPath, profile }));
    case "undo_edit":
      throw new Error("an undo is no request");
  }
}

async function view({ path, from, to }: Extract<Command, { command: "view" }>, ask: Ask): Promise<Reply> {
  const linesMax = to === undefined ? Number.POSITIVE_INFINITY : to - from + 1;
  const reply = await ask((profile) => ({
    verb: "read",
    path,
    ranges: [{ from: lineNumber(from), linesMax }],
    overBudget: "first page",
    profile: { ...profile, lines: "terminated", repeats: "content", kinds: { ...profile.kinds, ...textAndImages } },
  }));
  if (reply.error?.code !== "IS_DIRECTORY") return reply;
  const ignore = [".*", "node_modules"];
  return ask(() => ({ verb: "ls", path, from: lineNumber(1), entriesMax: 1000, depth: 2, ignore }));
}

/** A notebook is viewed and edited as text. */
const textAndImages = { directory: "refuse", notebook: "skip", pdf: "refuse", office: "refuse" } as const;

const edit = (path: string, one: Omit<TextEdit, "all">, profile: Profile): Request => ({
  verb: "edit",
  path,
  edits: [{ ...one, all: false }],
  profile,
});

function patch(operation: PatchOperation, profile: Profile): Request {
  const made = patchForOperation(operation);
  // A path that a patch cannot contain cannot belong to a file of this tool; the engine refuses the empty patch.
  return { verb: "patch", patchText: "text" in made ? made.text : "", profile };
}

/** `/memories` is the folder where the session's relative paths start. The border of the workspace applies as usual. */
function belowMemories(path: string): string | undefined {
  if (path === "/memories" || path === "/memories/") return ".";
  return path.startsWith("/memories/") ? `./${path.slice("/memories/".length)}` : undefined;
}

/** The turns of each file, oldest first. An undo takes back the last one that is still in effect. */
function createEdits(session: Session) {
  const turns = new Map<string, string[]>();
  return {
    /** Records that a file was changed, so that its turn can be undone. */
    made: async (path: string, real: string): Promise<void> => {
      const history = await session.history();
      const turn = history?.snapshots().findLast(({ messageId }) => history.versionOf(messageId, real, "before"));
      if (turn === undefined) return;
      const known = turns.get(path) ?? [];
      if (known.at(-1) !== turn.messageId) turns.set(path, [...known, turn.messageId].slice(-undosMax));
    },
    undo: async (path: string, shown: string, options: CallOptions): Promise<Reply> => {
      const known = turns.get(path) ?? [];
      const last = known.at(-1);
      if (last === undefined) return errorReply(noHistorySentence(shown), "NO_TURN");
      try {
        const { files } = await session.rewind(last, { ...options, files: [path] });
        if (!files.some(({ came }) => came === "done")) return errorReply(notUndoneSentence(shown), "STALE");
      } catch (error) {
        if (!(error instanceof FilehandError)) throw error;
        return errorReply(error.message, error.code);
      }
      turns.set(path, known.slice(0, -1));
      return textReply(undoneSentence(shown));
    },
  };
}

const undosMax = 100; // as many turns as the history keeps by default
