/**
 * Parses patches: the `*** Begin Patch` format, lenient about wrapping and line endings, strict where the meaning could
 * change; and unified diffs (`unified.ts`), which give the same values.
 */

import type { PatchFault } from "../../contract/problem.ts";
import { finish, inParts, partLength, type Steps } from "../steps.ts";
import { isUnifiedHeader, pathsInHeaders, readingUnified } from "./unified.ts";

export type PatchFile =
  | {
      readonly does: "add";
      readonly path: string;
      readonly text: string;
      /** An earlier section deletes the file, so this is its new content. */
      readonly replaces: boolean;
      readonly later: Later;
      readonly executable?: boolean;
      /** The file begins as a copy of this one, and `text` is empty. */
      readonly copyOf?: string;
    }
  | {
      readonly does: "delete";
      readonly path: string;
      /** If given, these hunks MUST remove all lines of the file. */
      readonly hunks?: readonly PatchHunk[];
    }
  | {
      readonly does: "update";
      readonly path: string;
      readonly moveTo: string | undefined;
      /** Empty only if the file is moved, or its mode changes. */
      readonly hunks: readonly PatchHunk[];
      readonly later: Later;
      readonly executable?: boolean;
      /** The ids that git gives to the contents before and after `hunks`, perhaps shortened. */
      readonly blobs?: readonly [string, string];
    };

/** Hunks of further sections for the same file; each section applies to the result of those before it. */
type Later = readonly (readonly PatchHunk[])[];

export interface PatchLine {
  readonly mark: " " | "-" | "+";
  readonly text: string;
  /** The line end, where the patch says it; empty for `\ No newline at end of file`. */
  readonly end?: "\n" | "\r\n" | "";
}

export interface PatchHunk {
  readonly headers: readonly string[];
  readonly lines: readonly [PatchLine, ...PatchLine[]];
  readonly endOfFile: boolean;
  readonly at: number;
  /**
   * Of a unified diff: how many lines of the file are before the hunk, by its line numbers; `unknown` if it has none, or
   * if its counts of lines are wrong.
   */
  readonly expected?: number | "unknown";
}

export type ParsedPatch =
  | { readonly files: readonly [PatchFile, ...PatchFile[]] }
  | {
      readonly fault: PatchFault;
      readonly line: number;
      readonly text: string;
    };

export const parsePatch = (patchText: string): ParsedPatch => finish(parsingPatch(patchText));

export function* parsingPatch(patchText: string): Steps<ParsedPatch> {
  const raw = patchText.replace(/^\ufeff/, "").split("\n");
  const lines: string[] = [];
  yield* inParts(raw.length, (from, to) => {
    for (const line of raw.slice(from, to)) lines.push(line.endsWith("\r") ? line.slice(0, -1) : line);
  });
  const fail = (fault: PatchFault, index: number): ParsedPatch => ({
    fault,
    line: index + 1,
    text: lines[index] ?? "",
  });

  const { from, to } = unwrap(lines);
  if (from >= to) return fail("empty", 0);
  if (lines[from]?.trim() !== "*** Begin Patch") {
    const unified = yield* readingUnified(raw, to);
    if (unified === undefined) return fail("no begin", from);
    if ("fault" in unified) return fail(unified.fault, unified.index);
    return yield* joinFiles(unified, fail);
  }
  // Marks distinguish lines of the format from lines of a file, so only the first and the last line may be indented.
  const end = lines.findIndex(
    (line, index) => index > from && line.startsWith("*** End Patch") && line.trimEnd() === "*** End Patch",
  );
  yield;
  const last = to - 1;
  if (end === -1 && (last === from || lines[last]?.trim() !== "*** End Patch")) return fail("no end", last);
  if (end !== -1 && end !== last) return fail("text after end", nextVisible(lines, end + 1));

  const reader: Reader = { lines, raw, end: last, at: from + 1, keepsCr: raw[from] === lines[from] };
  const sections: { readonly file: PatchFile; readonly index: number }[] = [];
  for (skipBlank(reader); reader.at < reader.end; skipBlank(reader)) {
    const index = reader.at;
    yield;
    const file = yield* readFile(reader);
    if ("fault" in file) return fail(file.fault, file.index);
    sections.push({ file, index });
  }
  return sections.length === 0 ? fail("empty", from) : yield* joinFiles(sections, fail);
}

/** Sections for the same file become one. */
function* joinFiles(
  sections: readonly { readonly file: PatchFile; readonly index: number }[],
  fail: (fault: PatchFault, index: number) => ParsedPatch,
): Steps<ParsedPatch> {
  const files: PatchFile[] = [];
  const paths = new Set<string>();
  const known = new Map<string, number>();
  for (const [at, { file, index: start }] of sections.entries()) {
    if (at % partLength === 0) yield;
    const before = known.get(plainPath(file.path)) ?? files.length;
    const joined = joinSections(files[before], file);
    if (joined !== undefined) {
      const goal = joined.does === "update" ? joined.moveTo : undefined;
      if (goal !== undefined && paths.has(plainPath(goal))) return fail("same file twice", start);
      if (goal !== undefined) paths.add(plainPath(goal));
      files[before] = joined;
      continue;
    }
    known.set(plainPath(file.path), files.length);
    for (const path of pathsOf(file)) {
      if (paths.has(path)) return fail("same file twice", start);
      paths.add(path);
    }
    files.push(file);
  }
  const [first, ...others] = files;
  return first === undefined ? fail("empty", 0) : { files: [first, ...others] };
}

/** All paths that a patch names, and perhaps more: lines of context may look like its headers. */
export function pathsNamed(patchText: string): readonly string[] {
  const named = patchText.matchAll(/^[ \t]*\*\*\* (?:(?:Add|Delete|Update) File|Move to):(.*)$/gm);
  return [...new Set([...Array.from(named, ([, path = ""]) => path.trim()), ...pathsInHeaders(patchText)])];
}

interface Reader {
  readonly lines: readonly string[];
  /** The lines with their `\r`, if they have one. */
  readonly raw: readonly string[];
  readonly end: number;
  at: number;
  /** The begin line has no `\r`, so a `\r` at the end of an added line is intended. */
  readonly keepsCr: boolean;
}

type Fault = { readonly fault: PatchFault; readonly index: number };

const fenceMark = /^(?:```|~~~)/;
const heredoc = /^(?:(?:apply_patch|cat)\s+)?<<-?\s*(["']?)(\w+)\1$/;

function unwrap(lines: readonly string[]): { readonly from: number; readonly to: number } {
  let from = 0;
  let to = lines.length;
  for (;;) {
    while (from < to && isBlank(lines[from])) from += 1;
    while (from < to && isBlank(lines[to - 1])) to -= 1;
    const first = lines[from]?.trim() ?? "";
    const last = lines[to - 1]?.trim();
    const closing = fenceMark.exec(first)?.[0] ?? heredoc.exec(first)?.[2];
    if (closing === undefined || to - from < 2 || last !== closing) return { from, to };
    from += 1;
    to -= 1;
  }
}

function* readFile(reader: Reader): Steps<PatchFile | Fault> {
  const index = reader.at;
  const line = reader.lines[index] ?? "";
  // An indented header may have trailing whitespace as well, so whitespace means nothing there.
  const named = /^\*\*\* (Add|Delete|Update) File:(.*)$/.exec(/^\s/.test(line) ? line.trim() : line);
  if (named === null) return { fault: isUnifiedHeader(reader.lines, index) ? "mixed forms" : "unknown line", index };
  const path = pathIn(named[2] ?? "");
  if (typeof path === "object") return { fault: path.fault, index };
  reader.at += 1;
  if (named[1] === "Add") return yield* readAdded(reader, path);
  return named[1] === "Delete" ? { does: "delete", path } : yield* readUpdate(reader, path, index);
}

/** A file name may begin or end with a space: trimming it could change another file than the named one. */
function pathIn(written: string): string | { readonly fault: PatchFault } {
  const path = written.replace(/^ /, "");
  if (path.trim() === "") return { fault: "no path" };
  return path.trim() === path ? path : { fault: "whitespace around path" };
}

function* readAdded(reader: Reader, path: string): Steps<PatchFile | Fault> {
  let text = "";
  for (; reader.at < reader.end; reader.at += 1) {
    if (reader.at % partLength === 0) yield;
    const line = (reader.keepsCr ? reader.raw : reader.lines)[reader.at] ?? "";
    if (!line.startsWith("+")) break;
    text += `${line.slice(1)}\n`;
  }
  skipBlank(reader);
  // `*** End of File` means nothing for a new file, but models write it.
  if (isEndOfFile(reader.lines[reader.at])) {
    reader.at += 1;
    skipBlank(reader);
  }
  if (reader.at < reader.end && !isMarker(reader.lines[reader.at])) {
    return { fault: "add line without +", index: reader.at };
  }
  return { does: "add", path, text, replaces: false, later: [] };
}

function* readUpdate(reader: Reader, path: string, index: number): Steps<PatchFile | Fault> {
  skipBlank(reader);
  let moveTo: string | undefined;
  const move = /^\*\*\* Move to:(.*)$/.exec(reader.lines[reader.at] ?? "");
  if (move !== null) {
    const target = pathIn(move[1] ?? "");
    if (typeof target === "object") return { fault: target.fault, index: reader.at };
    moveTo = target;
    reader.at += 1;
  }
  const hunks: PatchHunk[] = [];
  for (skipBlank(reader); reader.at < reader.end && !isMarker(reader.lines[reader.at]); skipBlank(reader)) {
    // `--- x` can also be a removed line `-- x`.
    const numbered = numbers.test(reader.lines[reader.at + 2] ?? "");
    if (numbered && isUnifiedHeader(reader.lines, reader.at)) return { fault: "mixed forms", index: reader.at };
    const hunk = yield* readHunk(reader, hunks.length === 0);
    if ("fault" in hunk) return hunk;
    hunks.push(hunk);
  }
  if (hunks.length === 0 && moveTo === undefined) return { fault: "empty hunk", index };
  if (moveTo === undefined && !hunks.some(({ lines }) => lines.some(({ mark }) => mark !== " "))) {
    return { fault: "nothing changes", index };
  }
  return { does: "update", path, moveTo, hunks, later: [] };
}

/** In this format line numbers are ignored: the lines themselves determine the place. */
const numbers = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/;

function* readHunk(reader: Reader, first: boolean): Steps<PatchHunk | Fault> {
  const start = reader.at;
  const headers: string[] = [];
  for (; reader.at < reader.end; reader.at += 1) {
    if (reader.at % partLength === 0) yield;
    const line = (reader.lines[reader.at] ?? "").trimEnd();
    if (line !== "@@" && !line.startsWith("@@ ")) break;
    if (line !== "@@" && !numbers.test(line)) headers.push(line.slice(3));
  }
  // Only the first hunk may omit `@@`: later, such a line has lost its mark.
  if (reader.at === start && !first) return { fault: "unknown line", index: start };

  const lines: PatchLine[] = [];
  const from = reader.at;
  for (; reader.at < reader.end; reader.at += 1) {
    if (reader.at % partLength === 0) yield;
    const line = reader.lines[reader.at] ?? "";
    const mark = line === "" ? " " : line[0];
    if (mark !== " " && mark !== "-" && mark !== "+") break;
    lines.push({ mark, text: line.slice(1) });
  }
  const endOfFile = isEndOfFile(reader.lines[reader.at]);
  const stopped = reader.lines[reader.at] ?? "";
  if (!endOfFile && reader.at < reader.end && !isMarker(stopped) && !/^@@(?: |$)/.test(stopped)) {
    return { fault: "unknown line", index: reader.at };
  }
  // An empty line after a hunk separates it from what follows; as context it would say little. Before `*** End of File`
  // it counts.
  if (endOfFile) reader.at += 1;
  else while (lines.length > 0 && reader.lines[from + lines.length - 1] === "") lines.pop();

  const [one, ...others] = lines;
  if (one === undefined) return { fault: "empty hunk", index: start };
  const unmarked = lines.findIndex((_, index) => reader.lines[from + index] === "");
  const onlyUnmarked = lines.every(({ mark }, index) => mark === "+" || reader.lines[from + index] === "");
  if (unmarked !== -1 && onlyUnmarked) return { fault: "empty line without prefix", index: from + unmarked };
  return { headers, lines: [one, ...others], endOfFile, at: start + 1 };
}

const isBlank = (line: string | undefined): boolean => line === "" || line?.trim() === "";
const isEndOfFile = (line: string | undefined): boolean => line?.trimEnd() === "*** End of File";

/** Ends a hunk or an added file; the next reader checks whether it is valid there. */
const isMarker = (line: string | undefined): boolean => /^\*\*\* (?:Add|Delete|Update) File:/.test(line ?? "");

function skipBlank(reader: Reader): void {
  while (reader.at < reader.end && isBlank(reader.lines[reader.at])) reader.at += 1;
}

function nextVisible(lines: readonly string[], from: number): number {
  const index = lines.findIndex((line, at) => at >= from && !isBlank(line));
  return index === -1 ? from : index;
}

/** Only `./` is normalised here; the guard resolves other spellings of the same path. */
function pathsOf(file: PatchFile): readonly string[] {
  const paths = file.does === "update" && file.moveTo !== undefined ? [file.path, file.moveTo] : [file.path];
  return paths.map(plainPath);
}

const plainPath = (path: string): string => path.replace(/^(?:\.\/)+/, "");

/** Merges two sections for one file. Undefined if they contradict each other. */
function joinSections(first: PatchFile | undefined, second: PatchFile): PatchFile | undefined {
  if (first?.does === "delete" && second.does === "add") return { ...second, replaces: true };
  if (second.does !== "update") return undefined;
  if (first?.does === "add" && second.moveTo === undefined) {
    const mode = second.executable === undefined ? {} : { executable: second.executable };
    return { ...first, later: [...first.later, second.hunks], ...mode };
  }
  if (first?.does !== "update" || first.moveTo !== undefined) return undefined;
  const executable = second.executable ?? first.executable;
  const mode = executable === undefined ? {} : { executable };
  return { ...first, moveTo: second.moveTo, later: [...first.later, second.hunks], ...mode };
}
