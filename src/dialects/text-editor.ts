/**
 * Answers of Anthropic's text editor and memory tools. Models are trained on these sentences, so they are copied from the tools'
 * documentation and reference programs; the session's dialect words everything else.
 */

import type { JsonSchema, Outcome, Reply, ReplyPart } from "../contract/call.ts";
import type { ChangedFile, EditOutcome } from "../contract/edit.ts";
import type { ProblemData } from "../contract/problem.ts";
import type { Page, TreeEntry, TreeOutcome } from "../contract/read.ts";
import type { Place } from "../contract/target.ts";
import { changeLines, folderFaultWords, linkWords, partOf } from "./change-text.ts";
import type { Words } from "./dialect.ts";
import { lenientInput } from "./lenient-input.ts";
import { imageNote } from "./media-text.ts";

export type TextEditorFlavour = "editor" | "memory";

/** `otherwise` words the failures for which the tool has no sentence. */
export function textEditorWords(command: Command, flavour: TextEditorFlavour, otherwise: Words): Words {
  return {
    render: (outcome) => replyWith(partsOf(outcome, command, flavour)),
    renderLate: (reports) => otherwise.renderLate(reports),
    renderForeign: (changes, facts) => otherwise.renderForeign(changes, facts),
    renderProblem: (problem, facts) => {
      const sentence = sentenceOf(problem, command, flavour);
      return sentence === undefined ? otherwise.renderProblem(problem, facts) : errorReply(sentence, problem.code);
    },
  };
}

export const errorReply = (sentence: string, code = "INVALID_PARAM"): Reply => ({
  content: [{ type: "text", text: `Error: ${sentence}` }],
  structured: null,
  isError: true,
  error: { code, message: sentence },
});

export const noHistorySentence = (path: string): string => `No edit history found for ${path}.`;
export const undoneSentence = (path: string): string => `Last edit to ${path} undone successfully.`;
export const notUndoneSentence = (path: string): string =>
  `The last edit to ${path} was not undone: somebody else changed the file since, and their changes would be lost. View it and edit it instead.`;
export const outsideMemoriesSentence = (path: string): string => `Path must start with /memories, got: ${path}`;
const memoryFolderSentence = (doing: string): string => `Cannot ${doing} the /memories directory itself`;

/** Truncates a view to the length that the host has set. */
export function truncateReply(reply: Reply, charactersMax: number | undefined): Reply {
  const [part] = reply.content;
  if (charactersMax === undefined || part?.type !== "text" || part.text.length <= charactersMax) return reply;
  const end = part.text.lastIndexOf("\n", charactersMax);
  const shown = part.text.slice(0, end > 0 ? end : charactersMax);
  const note = `[cut after ${charactersMax} characters, use view_range to see the rest]`;
  return { ...reply, content: [{ type: "text", text: `${shown}\n${note}` }] };
}

export const textReply = (text: string): Reply => replyWith([textPart(text)]);

const replyWith = (content: readonly ReplyPart[]): Reply => ({ content, structured: null, isError: false });

function partsOf(outcome: Outcome, command: Command, flavour: TextEditorFlavour): readonly ReplyPart[] {
  const { path } = command;
  if (outcome.kind === "text") return [textPart(viewText(outcome.pages[0], path, flavour))];
  if (outcome.kind === "image") {
    return [textPart(imageNote(outcome)), { type: "image", data: outcome.base64, mimeType: outcome.mime }];
  }
  if (outcome.kind === "tree") return [textPart(listText(outcome, path, flavour))];
  if (outcome.kind !== "edit" && outcome.kind !== "patch")
    throw new Error(`no command has the outcome ${outcome.kind}`);
  if (command.command === "create") return [textPart(createdSentence(path))];
  if (outcome.kind === "edit") return [textPart(editText(outcome, command, flavour))];
  if (command.command === "rename") return [textPart(`Successfully renamed ${path} to ${command.newPath}`)];
  return [textPart(`Successfully deleted ${path}`)];
}

const createdSentence = (path: string): string => `File created successfully at: ${path}`;

const textPart = (text: string): ReplyPart => ({ type: "text", text });

function viewText(page: Page, path: string, flavour: TextEditorFlavour): string {
  const head =
    flavour === "memory"
      ? `Here's the content of ${path} with line numbers:`
      : `Here's the result of running \`cat -n\` on ${path}:`;
  const more =
    page.next === undefined || page.stopped === "lines"
      ? []
      : [`[more follows, use view_range [${page.next}, -1] to see it]`];
  return [head, ...page.lines.map((line, index) => numbered(page.from + index, line)), ...more].join("\n");
}

/** As `numbered` writes them. */
const catNumbers = { digitsMin: 6, pad: " ", mark: "\t" } as const;

const numbered = (line: number, text: string): string => `${String(line).padStart(6)}\t${text}`;

function editText(outcome: EditOutcome, command: Command, flavour: TextEditorFlavour): string {
  const { file, found } = outcome;
  if (partOf(file) !== undefined) return changeLines(outcome, catNumbers).join("\n");
  const line = found[0]?.line ?? 1;
  const { path } = command;
  if (flavour === "memory") {
    if (command.command === "insert") return `The file ${path} has been edited.`;
    return `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${snippet(file, line - 2, line + 2)}`;
  }
  const check = command.command === "insert" ? " (correct indentation, no duplicate lines, etc)" : "";
  return [
    `The file ${path} has been edited. Here's the result of running \`cat -n\` on a snippet of ${path}:`,
    snippet(file),
    `Review the changes and make sure they are as expected${check}. Edit the file again if necessary.`,
  ].join("\n");
}

/** The lines around a change as they are now. */
function snippet({ hunks }: ChangedFile, from = 1, to = Number.POSITIVE_INFINITY): string {
  const lines = hunks.flatMap(({ newStart, lines: all }) =>
    all.filter((line) => /^[ +]/.test(line)).map((line, index) => ({ line: newStart + index, text: line.slice(1) })),
  );
  const near = lines.filter(({ line }) => line >= from && line <= to);
  return near.map(({ line, text }) => numbered(line, text)).join("\n");
}

function listText(tree: TreeOutcome, path: string, flavour: TextEditorFlavour): string {
  const folder = path.replace(/(?<=.)\/$/, "");
  const entries = listedEntries(tree.entries, folder);
  const more = tree.leftOut > 0 || tree.next !== undefined ? ["[more entries are not shown]"] : [];
  if (flavour === "editor") {
    const head = `Here're the files and directories up to 2 levels deep in ${path}, excluding hidden items:`;
    return [head, folder, ...entries.map((entry) => entry.path), ...more].join("\n");
  }
  const head = `Here're the files and directories up to 2 levels deep in ${path}, excluding hidden items and node_modules:`;
  // The size of a folder is not computed.
  return [head, `-\t${folder}`, ...entries.map((entry) => `${entry.size}\t${entry.path}`), ...more].join("\n");
}

interface Listed {
  readonly path: string;
  readonly size: string;
}

const listedEntries = (entries: readonly TreeEntry[], folder: string): readonly Listed[] =>
  entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.kind !== "directory") return [{ path, size: sizeOf(entry.sizeBytes) }];
    return [{ path: `${path}/`, size: "-" }, ...listedEntries(entry.entries ?? [], path)];
  });

function sizeOf(bytes: number | undefined): string {
  if (bytes === undefined) return "-";
  const units = ["B", "K", "M", "G"];
  const unit = Math.min(units.length - 1, bytes === 0 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const size = bytes / 1024 ** unit;
  return `${Number.isInteger(size) ? size : size.toFixed(1)}${units[unit]}`;
}

function sentenceOf(problem: ProblemData, command: Command, flavour: TextEditorFlavour): string | undefined {
  const { path } = command;
  if (command.command === "create" && alreadyExists(problem)) {
    return flavour === "memory"
      ? `File ${path} already exists`
      : `File already exists at: ${path}. Cannot overwrite files using command \`create\`.`;
  }
  if (problem.code === "NOT_FOUND") {
    if (command.command === "rename" && inMemory(problem.place) === command.newPath) {
      return `The destination ${command.newPath} cannot be used: a name before the last one is a file`;
    }
    return `The path ${path} does not exist${removesPath(command) ? "" : ". Please provide a valid path."}`;
  }
  if (problem.code === "NO_MATCH") {
    if (command.command !== "str_replace") return undefined;
    return `No replacement was performed, old_str \`${command.oldText}\` did not appear verbatim in ${path}.${nearest(problem)}`;
  }
  if (problem.code === "AMBIGUOUS") {
    if (command.command !== "str_replace") return undefined;
    const lines = `${problem.lines.join(", ")}${problem.total > problem.lines.length ? ", …" : ""}`;
    return `No replacement was performed. Multiple occurrences of old_str \`${command.oldText}\` in lines: ${lines}. Please ensure it is unique`;
  }
  if (problem.code === "EXISTS") {
    return command.command === "rename" ? `The destination ${command.newPath} already exists` : undefined;
  }
  if (problem.code === "IS_DIRECTORY") {
    return `The path ${path} is not a file.`;
  }
  if (problem.code === "NOT_READ") {
    return `The file ${removesPath(command) ? inMemory(problem.place) : path} has not been viewed${problem.reason === "never" ? "" : " where it would change"}. View it first, then edit it.`;
  }
  if (problem.code === "INVALID_PARAM") {
    // The model wrote no patch: a path that a patch cannot express is reported as one that does not exist.
    if (problem.reason === "patch") return `The path ${path} does not exist`;
    if (problem.reason === "folder" && problem.fault === "root" && flavour === "memory") {
      return memoryFolderSentence(command.command);
    }
    if (problem.reason === "folder")
      return `The path ${path} cannot be ${command.command}d: ${folderFaultWords(problem)}`;
    if (problem.reason === "link") return `The path ${path} cannot be ${command.command}d: ${linkWords(problem)}`;
    if (problem.reason !== "range") return undefined;
    return command.command === "insert"
      ? `Invalid \`insert_line\` parameter: ${command.line}. It should be within the range of lines of the file: [0, ${problem.total}]`
      : `Invalid \`view_range\`: the file ${path} has ${problem.total} lines`;
  }
  return undefined;
}

/** These commands may fail for a file inside the folder that they name; the sentence then names that file. */
const removesPath = ({ command }: Command): boolean => command === "delete" || command === "rename";

/** As it was asked for, which is below where relative paths start; that need not be the root. */
const inMemory = ({ asked }: Place): string => `/memories/${asked.replace(/^(?:\.\/)+/, "")}`;

/** A file with content blocks `create`, whatever else would forbid a change. */
const alreadyExists = (problem: ProblemData): boolean =>
  problem.code === "EXISTS" ||
  problem.code === "NOT_READ" ||
  problem.code === "STALE" ||
  (problem.code === "INVALID_PARAM" && problem.reason === "edit" && problem.fault === "empty old text");

/** The most similar region, so that the next try is not a guess. */
function nearest({ nearest: region }: Extract<ProblemData, { readonly code: "NO_MATCH" }>): string {
  if (region === undefined) return "";
  return ` The most similar lines are:\n${region.lines.map((line, index) => numbered(region.from + index, line)).join("\n")}`;
}

// Parsing the commands of both tools.

export type CommandName = "view" | "create" | "str_replace" | "insert" | "undo_edit" | "delete" | "rename";

export type Command =
  | { readonly command: "view"; readonly path: string; readonly from: number; readonly to: number | undefined }
  | { readonly command: "create"; readonly path: string; readonly text: string }
  | { readonly command: "str_replace"; readonly path: string; readonly oldText: string; readonly newText: string }
  | { readonly command: "insert"; readonly path: string; readonly line: number; readonly text: string }
  | { readonly command: "undo_edit"; readonly path: string }
  | { readonly command: "delete"; readonly path: string }
  | { readonly command: "rename"; readonly path: string; readonly newPath: string };

/** Parameters that models may send as text although they are numbers or lists. */
const schema: JsonSchema = {
  type: "object",
  properties: {
    insert_line: { type: "integer" },
    view_range: { type: "array", items: { type: "integer" } },
  },
};

export function commandOf(input: unknown, known: readonly CommandName[]): Command | { readonly fault: string } {
  const meant = lenientInput(input, schema, "lenient");
  const given: Readonly<Record<string, unknown>> = typeof meant === "object" && meant !== null ? { ...meant } : {};
  const name = known.find((one) => one === given["command"]);
  if (name === undefined) {
    return {
      fault: `Unrecognized command ${JSON.stringify(given["command"])}. The allowed commands are: ${known.join(", ")}`,
    };
  }
  const faults: string[] = [];
  const text = (...names: readonly [string, ...string[]]): string => {
    const value = names.map((one) => given[one]).find((one) => one !== undefined);
    if (typeof value === "string") return value;
    faults.push(`Parameter \`${names[0]}\` is required for command: ${name}, as a string`);
    return "";
  };
  const command = read(name, given, text, faults);
  const [fault] = faults;
  return fault === undefined ? command : { fault };
}

function read(
  command: CommandName,
  given: Readonly<Record<string, unknown>>,
  text: (...names: readonly [string, ...string[]]) => string,
  faults: string[],
): Command {
  switch (command) {
    case "view":
      return { command, path: text("path"), ...viewRange(given["view_range"], faults) };
    case "create":
      return { command, path: text("path"), text: text("file_text") };
    case "str_replace": {
      const newText = given["new_str"] === undefined ? "" : text("new_str");
      return { command, path: text("path"), oldText: text("old_str"), newText };
    }
    case "insert": {
      const line = given["insert_line"];
      const isLine = typeof line === "number" && Number.isInteger(line);
      if (!isLine) faults.push("Parameter `insert_line` is required for command: insert, as a whole number");
      // Older versions of the tool call it new_str.
      return { command, path: text("path"), line: isLine ? line : 0, text: text("insert_text", "new_str") };
    }
    case "rename":
      return { command, path: text("old_path"), newPath: text("new_path") };
    case "undo_edit":
    case "delete":
      return { command, path: text("path") };
  }
}

/** First and last line, inclusive; -1 is the end. */
function viewRange(range: unknown, faults: string[]): { readonly from: number; readonly to: number | undefined } {
  if (range === undefined || range === null) return { from: 1, to: undefined };
  const [from, to, ...others] = Array.isArray(range) ? (range as readonly unknown[]) : [];
  const whole = (one: unknown): one is number => typeof one === "number" && Number.isInteger(one);
  if (whole(from) && whole(to) && others.length === 0 && from >= 1 && (to === -1 || to >= from)) {
    return { from, to: to === -1 ? undefined : to };
  }
  faults.push(
    `Invalid \`view_range\`: ${JSON.stringify(range)}. It should be a list of two line numbers, the first at least 1 and the second not smaller, or -1 for the end of the file`,
  );
  return { from: 1, to: undefined };
}
