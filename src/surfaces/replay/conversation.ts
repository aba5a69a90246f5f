/** A recorded conversation, the same for all clients: calls in their order, and what the record shows of the files. Pure. */

import { isRecord } from "../../contract/common.ts";
import type { Hunk, TextEdit } from "../../contract/edit.ts";

export type RecordedEdit = Pick<TextEdit, "oldText" | "newText" | "all">;

/** What a call meant to do. Lines count from 1. */
export type Action =
  | {
      readonly verb: "read";
      readonly path: string;
      readonly from: number | undefined;
      readonly linesMax: number | undefined;
    }
  | { readonly verb: "edit"; readonly path: string; readonly edits: readonly [RecordedEdit, ...RecordedEdit[]] }
  | { readonly verb: "write"; readonly path: string; readonly content: string }
  /** In the `*** Begin Patch` form. */
  | { readonly verb: "patch"; readonly patchText: string }
  /** A search is repeated only where a tool has the same name and parameters: `input` is as recorded. */
  | { readonly verb: "search"; readonly path: string | undefined; readonly input: JsonRecord }
  /** `folder`: where it ran, if that is recorded; may be relative to where the conversation began. */
  | { readonly verb: "shell"; readonly command: string; readonly folder: string | undefined }
  /** A call that concerns no file, or a file that is no text. */
  | { readonly verb: "other" };

/** What the record of a call shows of a file, before the call or after it. A text has the line endings that the client recorded. */
export type FileFact = { readonly path: string } & (
  | { readonly at: "before" | "after"; readonly is: "whole"; readonly text: string }
  | { readonly at: "before" | "after"; readonly is: "absent" }
  /** `linesTotal`: as `split("\n")` counts them, where the client says it. */
  | {
      readonly at: "before";
      readonly is: "lines";
      readonly from: number;
      readonly lines: readonly string[];
      readonly linesTotal?: number;
    }
  /** The change itself: its old side holds before the call, its new side after it. */
  | { readonly at: "both"; readonly is: "hunks"; readonly hunks: readonly Hunk[] }
);

/** Why a recorded call failed, as far as the client's words say it. */
export const failureKinds = [
  "text not found",
  "several places",
  "not read",
  "changed since",
  "no change",
  "no such file",
  "refused by a person",
  "not run",
  "other",
] as const;
export type FailureKind = (typeof failureKinds)[number];

export interface RecordedCall {
  /** As the client names it. */
  readonly tool: string;
  readonly action: Action;
  /** The input as the model wrote it, and the answer as it got it: what both cost in tokens. */
  readonly written: string;
  readonly answer: string;
  /** Undefined: the call did what it should. */
  readonly failed: FailureKind | undefined;
  readonly facts: readonly FileFact[];
}

export type Step =
  /** A conversation begins. Relative paths start at `cwd`. */
  | { readonly step: "start"; readonly client: ClientName; readonly id: string; readonly cwd: string }
  | { readonly step: "call"; readonly call: RecordedCall }
  /** The model no longer has what it was shown before. */
  | { readonly step: "compaction" };

/** The programs whose transcripts can be read, and our own neutral form. */
export const clientNames = ["Claude Code", "Codex", "Gemini CLI", "opencode", "neutral"] as const;
export type ClientName = (typeof clientNames)[number];

/** Turns the values of a transcript, one JSON value a line or a document, into steps. It keeps only calls without a result. */
export interface TranscriptReader {
  feed(value: JsonRecord): readonly Step[];
  /** The calls that never got a result. */
  finish(): readonly Step[];
}

// Access to values of any shape: a transcript may have anything anywhere.

export type JsonRecord = Readonly<Record<string, unknown>>;

export const recordIn = (value: unknown, key: string): JsonRecord | undefined => {
  const inner = isRecord(value) ? value[key] : undefined;
  return isRecord(inner) ? inner : undefined;
};

export const textIn = (value: unknown, key: string): string | undefined => {
  const inner = isRecord(value) ? value[key] : undefined;
  return typeof inner === "string" ? inner : undefined;
};

/** A whole number, also one that a model wrote as a text. */
export const numberOf = (value: unknown, key: string): number | undefined => {
  const inner = isRecord(value) ? value[key] : undefined;
  const number = typeof inner === "string" && /^\d{1,9}$/.test(inner) ? Number(inner) : inner;
  return typeof number === "number" && Number.isSafeInteger(number) ? number : undefined;
};

export const listIn = (value: unknown, key: string): readonly unknown[] => {
  const inner = isRecord(value) ? value[key] : undefined;
  return Array.isArray(inner) ? inner : [];
};

/** A value as JSON; empty if it is nested so deep that it cannot be written. */
export function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value ?? {}) ?? "";
  } catch {
    return "";
  }
}

/** The texts of a result that is a text or a list of parts. */
export function textOfParts(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.flatMap((part: unknown) => textIn(part, "text") ?? []).join("\n");
}

// Actions by the names that a client gives to their parameters. A call without one of them is no action on a file.

const other: Action = { verb: "other" };

export const writeIn = (input: unknown, path: string | undefined): Action => {
  const content = textIn(input, "content");
  return path === undefined || path === "" || content === undefined ? other : { verb: "write", path, content };
};

export const shellIn = (input: unknown, folder: string | undefined): Action => {
  const command = textIn(input, "command");
  return command === undefined ? other : { verb: "shell", command, folder };
};

/** One edit or a list of them. */
export function editIn(
  input: unknown,
  path: string | undefined,
  [oldName, newName, allName]: readonly [string, string, string],
): Action {
  const parts = isRecord(input) && Array.isArray(input["edits"]) ? input["edits"] : [input];
  const edits = parts.flatMap((part: unknown): RecordedEdit[] => {
    const [oldText, newText] = [textIn(part, oldName), textIn(part, newName)];
    if (oldText === undefined || newText === undefined || !isRecord(part)) return [];
    return [{ oldText, newText, all: part[allName] === true || part[allName] === "true" }];
  });
  const [first, ...rest] = edits;
  if (path === undefined || path === "" || first === undefined || edits.length !== parts.length) return other;
  return { verb: "edit", path, edits: [first, ...rest] };
}

const hunkHeader = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;

/** The hunks of a unified diff of one file. Lines before the first hunk are its head. */
export function hunksOfUnified(diff: string): readonly Hunk[] {
  const hunks: { oldStart: number; oldLines: number; newStart: number; newLines: number; lines: string[] }[] = [];
  for (const line of diff.split("\n")) {
    const header = hunkHeader.exec(line);
    if (header !== null) {
      const [oldStart = 0, oldLines = 1, newStart = 0, newLines = 1] = header
        .slice(1)
        .map((text: string | undefined) => (text === undefined ? undefined : Number(text)));
      hunks.push({ oldStart, oldLines, newStart, newLines, lines: [] });
    } else if (/^[ +\-\\]/.test(line)) hunks.at(-1)?.lines.push(line);
  }
  return hunks;
}

/** Hunks as Claude Code records them. */
export function hunksIn(list: readonly unknown[]): readonly Hunk[] {
  return list.flatMap((one): Hunk[] => {
    const [oldStart, oldLines] = [numberOf(one, "oldStart"), numberOf(one, "oldLines")];
    const [newStart, newLines] = [numberOf(one, "newStart"), numberOf(one, "newLines")];
    const lines = listIn(one, "lines").filter((line): line is string => typeof line === "string");
    if (oldStart === undefined || oldLines === undefined || newStart === undefined || newLines === undefined) return [];
    return [{ oldStart, oldLines, newStart, newLines, lines }];
  });
}
