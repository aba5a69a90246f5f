/** Writes hunks as a unified diff, in the form that `git apply` and `patch` read, and reads such a diff back. */

import { Buffer } from "node:buffer";
import type { Hunk } from "../../contract/edit.ts";
import { hiddenCharacters } from "../../contract/hidden-characters.ts";

export interface UnifiedOptions {
  /** Of a file that is moved. */
  readonly oldPath?: string | undefined;
  /** Permission bits before and after, if they differ in what git keeps of them. */
  readonly modes?: { readonly before: number; readonly after: number } | undefined;
}

type ChangeKind = "update" | "create" | "delete";

/**
 * Ends with a newline. Has the headers of git only where a move or a mode needs them. Empty if there are neither hunks nor a
 * mode: a file that is created or deleted empty, or only moved, has no diff here, but it has a `gitPatch`.
 */
export function unified(path: string, hunks: readonly Hunk[], kind: ChangeKind, options: UnifiedOptions = {}): string {
  if (hunks.length === 0 && options.modes === undefined) return "";
  const isMoved = options.oldPath !== undefined && options.oldPath !== path;
  const head = isMoved || options.modes !== undefined ? gitHeader(path, kind, options) : "";
  return head + fileHeader(path, hunks, kind, options.oldPath) + hunkText(hunks);
}

/** The change of one file as git writes it, in two parts: names are UTF-8, the hunks have the encoding of the file. */
export function gitPatch(
  path: string,
  hunks: readonly Hunk[],
  kind: ChangeKind,
  options: UnifiedOptions,
): { readonly head: string; readonly body: string } {
  const head = gitHeader(path, kind, options) + fileHeader(path, hunks, kind, options.oldPath);
  return { head: hunks.length === 0 ? head + idsOfEmpty[kind] : head, body: hunkText(hunks) };
}

/** Without hunks only the ids tell GNU patch that an empty file comes or goes. */
const idsOfEmpty: Readonly<Record<ChangeKind, string>> = {
  create: "index 0000000..e69de29\n",
  delete: "index e69de29..0000000\n",
  update: "",
};

/** Git says this of a file that is not text, and `git apply` then refuses the whole patch. */
export function gitBinaryPatch(path: string, kind: ChangeKind, options: UnifiedOptions): string {
  const [from, to] = sidesOf(path, kind, options.oldPath);
  return `${gitHeader(path, kind, options)}Binary files ${from.trimEnd()} and ${to.trimEnd()} differ\n`;
}

function gitHeader(path: string, kind: ChangeKind, { oldPath = path, modes }: UnifiedOptions): string {
  const after = gitMode(modes?.after ?? 0o644);
  const before = gitMode(modes?.before ?? 0o644);
  const lines = [`diff --git ${gitName("a/", oldPath)} ${gitName("b/", path)}`];
  if (kind === "create") lines.push(`new file mode ${after}`);
  if (kind === "delete") lines.push(`deleted file mode ${before}`);
  if (kind === "update" && before !== after) lines.push(`old mode ${before}`, `new mode ${after}`);
  if (oldPath !== path) lines.push(`rename from ${gitName("", oldPath)}`, `rename to ${gitName("", path)}`);
  return `${lines.join("\n")}\n`;
}

/** Git keeps only whether the owner may run a file. */
const gitMode = (mode: number): string => ((mode & 0o100) === 0 ? "100644" : "100755");

function fileHeader(path: string, hunks: readonly Hunk[], kind: ChangeKind, oldPath?: string): string {
  if (hunks.length === 0) return "";
  const [from, to] = sidesOf(path, kind, oldPath);
  return `--- ${from}\n+++ ${to}\n`;
}

const sidesOf = (path: string, kind: ChangeKind, oldPath = path): readonly [string, string] => [
  kind === "create" ? "/dev/null" : fileName("a", oldPath),
  kind === "delete" ? "/dev/null" : fileName("b", path),
];

function hunkText(hunks: readonly Hunk[]): string {
  if (hunks.length === 0) return "";
  return `${hunks.flatMap((hunk) => [hunkHeader(hunk), ...linesWithEnds(hunk)]).join("\n")}\n`;
}

export const noNewlineRow = "\\ No newline at end of file";

/** A line that ends in CRLF keeps its `\r` in a diff: without it neither `git apply` nor `patch` finds the line. */
function linesWithEnds({ lines, lineEnd }: Hunk): readonly string[] {
  if (lineEnd === undefined) return lines;
  return lines.map((line, at) => (line === noNewlineRow || lines[at + 1] === noNewlineRow ? line : `${line}\r`));
}

export function hunkHeader({ oldStart, oldLines, newStart, newLines }: Hunk): string {
  return `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`;
}

function range(start: number, lines: number): string {
  return lines === 1 ? `${start}` : `${start},${lines}`;
}

/** Characters that may end the header line, act on a terminal, or are invisible: the same as in escape.ts. */
const unsafe = new RegExp(`[\\p{Cc}\\p{Cs}${hiddenCharacters}"\\\\]`, "u");
const everyUnsafe = new RegExp(unsafe, "gu");

/** A name as git writes it with `core.quotePath` off. A tab ends a name with spaces: `patch` would read a date in it. */
function fileName(side: "a" | "b", path: string): string {
  const name = gitName(`${side}/`, path);
  return name.includes(" ") && !name.startsWith('"') ? `${name}\t` : name;
}

function gitName(prefix: string, path: string): string {
  const name = prefix + path.replace(/^\/+/, "");
  return unsafe.test(name) ? `"${name.replace(everyUnsafe, quoted)}"` : name;
}

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\x07": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
};

function quoted(character: string): string {
  return shortEscapes[character] ?? Array.from(Buffer.from(character), octal).join("");
}

function octal(byte: number): string {
  return `\\${byte.toString(8).padStart(3, "0")}`;
}

// Reads a diff that `unified` wrote: approval questions carry diffs as text.

export interface DiffOfText {
  readonly hunks: readonly Hunk[];
  readonly additions: number;
  readonly deletions: number;
  readonly complete: boolean;
}

export const moreLine = (additions: number, deletions: number): string =>
  `(+${additions} -${deletions}, not all of it is shown)`;

export const noDiffLine = "(no diff: what is there is too large to be compared, or no text)";

const morePattern = /^\(\+(\d+) -(\d+), not all of it is shown\)$/;
const headerPattern = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** A hunk has as many lines as its header says, whatever they look like. Undefined if the text says that there is no diff. */
export function diffOfText(text: string): DiffOfText | undefined {
  if (text === `${noDiffLine}\n`) return undefined;
  const lines = text.split("\n");
  const hunks: Hunk[] = [];
  let more: Pick<DiffOfText, "additions" | "deletions"> | undefined;
  let [additions, deletions] = [0, 0];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? "";
    at += 1;
    const [header, oldStart, oldLines = "1", newStart, newLines = "1"] = headerPattern.exec(line) ?? [];
    if (header === undefined) {
      const [rest, added, deleted] = morePattern.exec(line) ?? [];
      if (rest !== undefined) more = { additions: Number(added), deletions: Number(deleted) };
      continue;
    }
    const own = rowsFrom(lines, at, Number(oldLines), Number(newLines));
    at += own.length;
    additions += own.filter((row) => row.startsWith("+")).length;
    deletions += own.filter((row) => row.startsWith("-")).length;
    hunks.push({
      oldStart: Number(oldStart),
      oldLines: Number(oldLines),
      newStart: Number(newStart),
      newLines: Number(newLines),
      // A hunk with neither old lines nor context: the file was new or empty.
      ...withoutReturns(own, Number(oldLines) === 0),
    });
  }
  return { hunks, additions, deletions, ...more, complete: more === undefined };
}

/** If all rows end in `\r`, and old rows are among them or the file is new, the lines end in CRLF, as in `hunksOfTexts`. */
function withoutReturns(rows: readonly string[], isNew: boolean): Pick<Hunk, "lines" | "lineEnd"> {
  const isEnded = (row: string, at: number): boolean => row !== noNewlineRow && rows[at + 1] !== noNewlineRow;
  const ended = rows.filter(isEnded);
  const isKnown = isNew || ended.some((row) => !row.startsWith("+"));
  if (ended.length === 0 || !isKnown || !ended.every((row) => row.endsWith("\r"))) return { lines: rows };
  return { lines: rows.map((row, at) => (isEnded(row, at) ? row.slice(0, -1) : row)), lineEnd: "\r\n" };
}

/** As many rows as the header says, and the row about a missing newline after the last. */
function rowsFrom(lines: readonly string[], from: number, oldLines: number, newLines: number): readonly string[] {
  let [at, oldLeft, newLeft] = [from, oldLines, newLines];
  while (at < lines.length && (oldLeft > 0 || newLeft > 0 || lines[at]?.startsWith("\\") === true)) {
    const sign = lines[at]?.charAt(0);
    at += 1;
    if (sign === "\\") continue;
    if (sign !== "+") oldLeft -= 1;
    if (sign !== "-") newLeft -= 1;
  }
  return lines.slice(from, at);
}
