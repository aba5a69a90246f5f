/**
 * Parses unified diffs, as `git diff`, `git format-patch`, `diff -u` and `svn diff` write them, into the files of a patch.
 * Text before the first file is skipped. The counts of a hunk's header say where the hunk ends; if they are wrong, its
 * lines are taken by their marks up to the next header, and its line numbers are not believed.
 */

import { Buffer, isUtf8 } from "node:buffer";
import type { PatchFault } from "../../contract/problem.ts";
import { partLength, type Steps } from "../steps.ts";
import type { PatchFile, PatchHunk, PatchLine } from "./patch.ts";

type Fault = { readonly fault: PatchFault; readonly index: number };
type Section = { readonly file: PatchFile; readonly index: number };

interface Reader {
  readonly lines: readonly string[];
  /** From here on there are only blank lines and what closes a code fence. */
  readonly wrapFrom: number;
  /** The text has LF at the ends of its own lines, so a `\r` is part of a file's line. */
  readonly keepsCr: boolean;
  at: number;
}

/** Undefined if the text has no header of a unified diff. `raw`: lines with their `\r`; `to`: the end of what is not wrapping. */
export function* readingUnified(raw: readonly string[], to: number): Steps<readonly Section[] | Fault | undefined> {
  const first = yield* nextHeader(raw, 0);
  if (first === raw.length) return undefined;
  const keepsCr = raw[first]?.endsWith("\r") !== true;
  const all = raw.at(-1) === "" ? raw.slice(0, -1) : raw;
  const lines: string[] = [];
  for (const [index, line] of all.entries()) {
    if (index % partLength === 0) yield;
    lines.push(!keepsCr && line.endsWith("\r") ? line.slice(0, -1) : line);
  }
  for (let index = 0; index < first; index += 1) {
    if (index % partLength === 0) yield;
    const line = lines[index] ?? "";
    if (line.trim() === "*** Begin Patch") return { fault: "mixed forms", index };
    if (isBinaryNote(line)) return { fault: "binary", index };
  }

  const reader: Reader = { lines, wrapFrom: to, keepsCr, at: first };
  const sections: Section[] = [];
  while (reader.at < lines.length) {
    yield;
    const index = reader.at;
    const file = yield* readSection(reader);
    if ("fault" in file) return file;
    sections.push({ file, index });
    const fault = yield* skipText(reader);
    if (fault !== undefined) return fault;
  }
  return sections;
}

/** A `---` line may also be a removed line `--`, so both lines of the pair are needed. */
export function isUnifiedHeader(lines: readonly string[], index: number): boolean {
  const { [index]: first = "", [index + 1]: second = "" } = lines;
  return first.startsWith("diff --git ") || (first.startsWith("--- ") && second.startsWith("+++ "));
}

function* nextHeader(lines: readonly string[], from: number): Steps<number> {
  for (let at = from; at < lines.length; at += 1) {
    if (at % partLength === 0) yield;
    if (isUnifiedHeader(lines, at)) return at;
  }
  return lines.length;
}

const isBinaryNote = (line: string): boolean => line.startsWith("Binary files ") && line.endsWith(" differ");

/** What may follow the last hunk of a file, besides another file. Other text could be a line of the hunk that lost its mark. */
const textBetween = /^(?:-- ?$|commit |From |Only in |diff |Index: |Property changes on: |Binary files )/;

/** Skips text between files, such as the next mail of `git format-patch`. */
function* skipText(reader: Reader): Steps<Fault | undefined> {
  const { lines } = reader;
  while (reader.at < lines.length && lines[reader.at]?.trim() === "") {
    if (reader.at % partLength === 0) yield;
    reader.at += 1;
  }
  const index = reader.at;
  const line = lines[index] ?? "";
  if (index >= lines.length || isUnifiedHeader(lines, index)) return undefined;
  if (line.startsWith("*** ")) return { fault: "mixed forms", index };
  if (index < reader.wrapFrom && !textBetween.test(line)) return { fault: "not of a diff", index };
  reader.at = yield* nextHeader(lines, index);
  for (let at = index; at < reader.at; at += 1) {
    if (at % partLength === 0) yield;
    if (isBinaryNote(lines[at] ?? "")) return { fault: "binary", index: at };
  }
  return undefined;
}

/** What the headers of a file say. */
interface Head {
  from?: string;
  to?: string;
  /** `rename from`, `rename to`, `copy from`, `copy to`: names without a prefix. */
  moved?: { does: "rename" | "copy"; from?: string; to?: string };
  added: boolean;
  deleted: boolean;
  executable?: boolean;
  /** The ids of the contents before and after, perhaps shortened. */
  blobs?: readonly [string, string];
}

/** The id that git gives to an empty file. */
const emptyBlob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

function* readSection(reader: Reader): Steps<PatchFile | Fault> {
  const { lines } = reader;
  const index = reader.at;
  const isGit = lines[index]?.startsWith("diff --git ") === true;
  const head: Head = { added: false, deleted: false };
  const named = isGit ? namesInGitHeader(lines[index]?.slice("diff --git ".length) ?? "") : undefined;
  if (isGit) {
    reader.at += 1;
    const fault = readGitHeaders(reader, head);
    if (fault !== undefined) return fault;
  }
  if (isUnifiedHeader(lines, reader.at) && lines[reader.at]?.startsWith("--- ") === true) {
    const fault = readNames(reader, head, isGit, named?.isPrefixed);
    if (fault !== undefined) return fault;
  }
  const path = head.moved?.to ?? (head.deleted ? head.from : head.to) ?? named?.path;
  if (path === undefined || path === "") return { fault: "no path", index };
  const hunks: PatchHunk[] = [];
  while (lines[reader.at]?.startsWith("@@") === true) {
    const hunk = yield* readHunk(reader);
    if ("fault" in hunk) return hunk;
    hunks.push(hunk);
  }
  if (lines[reader.at] === "GIT binary patch" || isBinaryNote(lines[reader.at] ?? "")) {
    return { fault: "binary", index: reader.at };
  }
  return yield* fileOf(head, path, hunks, index);
}

function* fileOf(head: Head, path: string, hunks: readonly PatchHunk[], index: number): Steps<PatchFile | Fault> {
  const { added, deleted, executable, moved, blobs } = head;
  const mode = executable === undefined ? {} : { executable };
  if (moved !== undefined && moved.from === undefined) return { fault: "no path", index };
  if (moved?.does === "copy") {
    const later = hunks.length === 0 ? [] : [hunks];
    return { does: "add", path, text: "", replaces: false, later, copyOf: moved.from ?? "", ...mode };
  }
  if (added) {
    let text = "";
    for (const hunk of hunks) {
      for (const [at, line] of hunk.lines.entries()) {
        if (at % partLength === 0) yield;
        if (line.mark !== "+") return { fault: "add line without +", index: hunk.at - 1 };
        text += line.text + (line.end ?? "\n");
      }
    }
    return { does: "add", path, text, replaces: false, later: [], ...mode };
  }
  if (deleted) {
    const adding = hunks.find((hunk) => hunk.lines.some(({ mark }) => mark === "+"));
    if (adding !== undefined) return { fault: "not of a diff", index: adding.at - 1 };
    // `git diff --irreversible-delete` leaves out the lines of a deleted file.
    const isEmpty = blobs !== undefined && emptyBlob.startsWith(blobs[0]);
    return { does: "delete", path, ...(hunks.length > 0 || isEmpty ? { hunks } : {}) };
  }
  const isMoved = moved !== undefined;
  const changes = hunks.some((hunk) => hunk.lines.some(({ mark }) => mark !== " "));
  if (!isMoved && !changes && executable === undefined) {
    return { fault: hunks.length === 0 ? "empty hunk" : "nothing changes", index };
  }
  return {
    does: "update",
    path: moved?.from ?? path,
    moveTo: isMoved ? path : undefined,
    hunks,
    later: [],
    ...mode,
    ...(blobs && { blobs }),
  };
}

/** The lines between `diff --git` and `---`. */
function readGitHeaders(reader: Reader, head: Head): Fault | undefined {
  for (; ; reader.at += 1) {
    const index = reader.at;
    const [, key, rest = ""] = gitHeader.exec(reader.lines[index] ?? "") ?? [];
    switch (key) {
      case undefined:
        return undefined;
      case "old mode":
      case "new mode":
      case "new file mode":
      case "deleted file mode":
        if (!/^100[0-7]{3}$/.test(rest)) return { fault: "special file", index };
        if (key === "new file mode") head.added = true;
        if (key === "deleted file mode") head.deleted = true;
        if (key === "new mode" || (key === "new file mode" && isExecutable(rest))) head.executable = isExecutable(rest);
        break;
      case "rename from":
      case "rename to":
      case "copy from":
      case "copy to": {
        const name = nameIn(rest);
        if (name === undefined || name === "") return { fault: "no path", index };
        const [does, side] = key.split(" ") as ["rename" | "copy", "from" | "to"]; // by the pattern
        head.moved = { ...head.moved, does, [side]: name };
        break;
      }
      case "index": {
        const [, before = "", after = "", mode = ""] = blobLine.exec(rest) ?? [];
        if (mode !== "" && !mode.startsWith("100")) return { fault: "special file", index };
        if (before !== "") head.blobs = [before, after];
        break;
      }
    }
  }
}

const gitHeader =
  /^((?:old|new|new file|deleted file) mode|(?:rename|copy) (?:from|to)|index|similarity index|dissimilarity index) (.*)$/s;
const blobLine = /^([0-9a-f]{7,64})\.\.([0-9a-f]{7,64})(?: ([0-7]{6}))?$/;

const isExecutable = (mode: string): boolean => (Number.parseInt(mode, 8) & 0o100) !== 0;

/** `---` and `+++`: the names before and after. Both are read, because only together they show whether they have prefixes. */
function readNames(reader: Reader, head: Head, isGit: boolean, isPrefixed: boolean | undefined): Fault | undefined {
  const index = reader.at;
  const [from, to] = [reader.lines[index] ?? "", reader.lines[index + 1] ?? ""].map((line) => nameIn(line.slice(4)));
  if (from === undefined || to === undefined || (from === noFile && to === noFile)) return { fault: "no path", index };
  reader.at += 2;
  const [wasAbsent, isAbsent] = [from, to].map((name, side) => {
    const date = reader.lines[index + side]?.split("\t")[1] ?? "";
    return name === noFile || (!isGit && noFileDate.test(date) && isEmptySide(reader.lines[reader.at] ?? "", side));
  });
  if (wasAbsent === true) head.added = true;
  if (isAbsent === true) head.deleted = true;
  if (head.moved !== undefined) return undefined;
  if (isPrefixed !== undefined) {
    if (from !== noFile) head.from = isPrefixed ? withoutFirst(from) : from;
    if (to !== noFile) head.to = isPrefixed ? withoutFirst(to) : to;
    return undefined;
  }
  if (from === noFile) head.to = to.replace(/^b\//, "");
  else if (to === noFile) head.from = from.replace(/^a\//, "");
  else if (from === to || /^(?:\.orig|\.old|\.bak|~)$/.test(from.slice(to.length))) {
    [head.from, head.to] = [to, to];
    return from.startsWith(to) ? undefined : { fault: "names differ", index };
  } else if (from.includes("/") && withoutFirst(from) === withoutFirst(to)) {
    [head.from, head.to] = [withoutFirst(from), withoutFirst(to)];
  } else return { fault: "names differ", index };
  return undefined;
}

const noFile = "/dev/null";
/** What `diff -N` and `svn diff` write after the name of a file that does not exist. */
const noFileDate = /^(?:1970-01-01 |1969-12-31 |\(nonexistent\)|\(revision 0\))/;

function isEmptySide(header: string, side: number): boolean {
  const [, , oldLines, , newLines] = numbers.exec(header) ?? [];
  return (side === 0 ? oldLines : newLines) === "0";
}

const withoutFirst = (name: string): string => name.slice(name.indexOf("/") + 1);

/**
 * The path in `diff --git a/x b/x`. Both names are the same except for their prefixes, which are equally long, so the space
 * between them is in the middle. A rename has its names in lines of its own.
 */
function namesInGitHeader(rest: string): { readonly path: string; readonly isPrefixed: boolean } | undefined {
  const middle = (rest.length - 1) / 2;
  if (rest[middle] !== " ") return undefined;
  const [from, to] = [nameIn(rest.slice(0, middle)), nameIn(rest.slice(middle + 1))];
  if (from === undefined || to === undefined) return undefined;
  if (from === to) return { path: to, isPrefixed: false };
  return withoutFirst(from) === withoutFirst(to) ? { path: withoutFirst(to), isPrefixed: true } : undefined;
}

/** Local: longer than any file system allows. */
const nameCharsMax = 65_536;

/** A name up to a tab, after which `diff -u` has a date; or a quoted name. Undefined if the quotes contain no name. */
function nameIn(text: string): string | undefined {
  if (text.length > nameCharsMax) return undefined;
  if (!text.startsWith('"')) return text.split("\t")[0] ?? "";
  const [quoted] = /^"(?:[^"\\]|\\.)*"/s.exec(text) ?? [];
  if (quoted === undefined) return undefined;
  const parts: Buffer[] = [];
  for (const [part, octal, letter] of quoted.slice(1, -1).matchAll(/\\(?:([0-3][0-7]{2})|(.))|[^\\]+/gsu)) {
    if (octal !== undefined) parts.push(Buffer.from([Number.parseInt(octal, 8)]));
    else if (letter === undefined) parts.push(Buffer.from(part));
    else {
      const meant = escapes[letter];
      if (meant === undefined) return undefined;
      parts.push(Buffer.from(meant));
    }
  }
  const bytes = Buffer.concat(parts);
  return isUtf8(bytes) ? bytes.toString("utf8") : undefined;
}

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  a: "\x07",
  b: "\b",
  t: "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
};

const numbers = /^@@ -(\d{1,15})(?:,(\d{1,15}))? \+(\d{1,15})(?:,(\d{1,15}))? @@/;

function* readHunk(reader: Reader): Steps<PatchHunk | Fault> {
  const index = reader.at;
  const header = reader.lines[index] ?? "";
  const counted = numbers.exec(header);
  reader.at += 1;
  if (counted !== null) {
    const [, start = "0", oldLines = "1", , newLines = "1"] = counted;
    const lines = yield* readCounted(reader, Number(oldLines), Number(newLines));
    if (lines !== undefined) {
      // Without old lines the number is that of the line above.
      const expected = Number(oldLines) === 0 ? Number(start) : Number(start) - 1;
      return { headers: [], lines, endOfFile: false, at: index + 1, expected };
    }
  }
  const lines = yield* readMarked(reader);
  if (!isFilled(lines)) return { fault: "empty hunk", index };
  const stopped = reader.lines[reader.at];
  const isOver = stopped === undefined || stopped.trim() === "" || reader.at >= reader.wrapFrom;
  if (!isOver && !stopped.startsWith("@@") && !isUnifiedHeader(reader.lines, reader.at)) {
    return { fault: stopped.startsWith("*** ") ? "mixed forms" : "not of a diff", index: reader.at };
  }
  const own = reader.lines.slice(index + 1, reader.at);
  const isUnmarked = (line: string): boolean => line === "" || line === "\r";
  if (own.some(isUnmarked) && own.every((line) => isUnmarked(line) || /^[+\\]/.test(line))) {
    return { fault: "empty line without prefix", index: index + 1 + own.findIndex(isUnmarked) };
  }
  const named = counted === null ? header.replace(/^@@ ?/, "").replace(/ ?@@$/, "") : "";
  const headers = /^[.\s]*$/.test(named) ? [] : [named];
  return { headers, lines, endOfFile: false, at: index + 1, expected: "unknown" };
}

type Lines = readonly [PatchLine, ...PatchLine[]];

/** Without a copy: a hunk may have a million lines. */
const isFilled = (lines: readonly PatchLine[]): lines is Lines => lines.length > 0;

/** As many lines as the header says; undefined, with the reader where it was, if that is no whole hunk. */
function* readCounted(reader: Reader, oldLines: number, newLines: number): Steps<Lines | undefined> {
  const from = reader.at;
  const lines: PatchLine[] = [];
  let [oldLeft, newLeft] = [oldLines, newLines];
  while (oldLeft > 0 || newLeft > 0 || reader.lines[reader.at]?.startsWith("\\") === true) {
    if (reader.at % partLength === 0) yield;
    const mark = takeLine(reader, lines);
    if (mark === " " || mark === "-") oldLeft -= 1;
    if (mark === " " || mark === "+") newLeft -= 1;
    if (mark === undefined || oldLeft < 0 || newLeft < 0) {
      reader.at = from;
      return undefined;
    }
  }
  const next = reader.lines[reader.at] ?? "";
  const isMore = /^[-+ ]/.test(next) && !/^-- ?$/.test(next) && !isUnifiedHeader(reader.lines, reader.at);
  if (isFilled(lines) && (!isMore || next.trim() === "")) return lines;
  reader.at = from;
  return undefined;
}

function* readMarked(reader: Reader): Steps<readonly PatchLine[]> {
  const lines: PatchLine[] = [];
  const from = reader.at;
  for (;;) {
    if (reader.at % partLength === 0) yield;
    const isHead = isUnifiedHeader(reader.lines, reader.at);
    const isGitHead = reader.lines[reader.at]?.startsWith("diff --git ") === true;
    if (isHead && (isGitHead || reader.lines[reader.at + 2]?.startsWith("@@") === true)) break;
    if (takeLine(reader, lines) === undefined) break;
  }
  // Empty lines after the hunk separate it from what follows.
  for (; reader.at > from && reader.lines[reader.at - 1] === ""; reader.at -= 1) lines.pop();
  return lines;
}

/** Undefined, and nothing is taken, if this is no line of a hunk. */
function takeLine(reader: Reader, lines: PatchLine[]): PatchLine["mark"] | "\\" | undefined {
  const line = reader.lines[reader.at];
  if (line === undefined) return undefined;
  // Editors and models remove the blank of an empty line of context.
  const mark = line === "" || line === "\r" ? " " : line[0];
  if (mark === "\\") {
    const last = lines.pop();
    if (last === undefined) return undefined;
    const text = last.end === "\r\n" ? `${last.text}\r` : last.text;
    lines.push({ mark: last.mark, text, end: "" });
  } else if (mark === " " || mark === "-" || mark === "+") lines.push(lineOf(mark, line, reader));
  else return undefined;
  reader.at += 1;
  return mark;
}

function lineOf(mark: PatchLine["mark"], line: string, { keepsCr }: Reader): PatchLine {
  const text = line === "\r" ? line : line.slice(1);
  if (!keepsCr) return { mark, text };
  return text.endsWith("\r") ? { mark, text: text.slice(0, -1), end: "\r\n" } : { mark, text, end: "\n" };
}

/** The paths in all headers, with and without their first folder, and perhaps more: lines of a file may look like headers. */
export function pathsInHeaders(patchText: string): ReadonlySet<string> {
  const paths = new Set<string>();
  const seen = new Set<string>();
  const add = (name: string | undefined): void => {
    if (name === undefined || name === "" || name === noFile) return;
    paths.add(name);
    paths.add(withoutFirst(name));
  };
  for (const [line, key, rest = ""] of patchText.matchAll(
    /^(diff --git|---|\+\+\+|(?:rename|copy) (?:from|to)) ([^\n]*)$/gm,
  )) {
    if (seen.has(line)) continue;
    seen.add(line);
    const text = rest.replace(/\r$/, "");
    if (key === "diff --git") add(namesInGitHeader(text)?.path);
    else add(nameIn(text));
  }
  return paths;
}
