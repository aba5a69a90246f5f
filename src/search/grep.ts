/**
 * Finds lines with ripgrep. The result has positions, no text; the caller decides which files may be shown. Files arrive
 * in any order and number: only the first ones in the order of the answer are kept in memory, the rest is counted.
 */

import { isUtf8 } from "node:buffer";
import { distance } from "fastest-levenshtein";
import type { GrepMode, SearchFault, Tally } from "../contract/grep.ts";
import { limits } from "../contract/limits.ts";
import { timeSlices } from "../disk/disk.ts";
import { comparePaths, FirstOnes } from "../text/text.ts";
import {
  filesArguments,
  grepArguments,
  type GrepQuery,
  probeArguments,
  type ReadBy,
  type Searched,
  showsLines,
} from "./grep-arguments.ts";
import {
  type FoundLine,
  type OutputReader,
  type OutputTaker,
  readContent,
  readCounts,
  readFiles,
} from "./grep-output.ts";
import { type RipgrepRun, runRipgrep, type ChunkAnswer } from "./ripgrep.ts";

export interface GrepTask extends Collecting {
  readonly query: GrepQuery;
  readonly searched: Searched;
  /** Whether rules hide this path. Then even a failure to read it is not reported. By default nothing is hidden. */
  readonly isHidden?: ((path: string) => boolean) | undefined;
  readonly onProgress: ((files: number) => void) | undefined;
  readonly run: Pick<RipgrepRun, "cwd" | "input" | "signal" | "notBeneath"> & { readonly timeMsMax: number };
}

export type GrepResult =
  | {
      readonly found: "places";
      /** The first files, in order, with up to `entriesMax` entries. */
      readonly files: readonly FoundFile[];
      readonly filesTotal: number;
      readonly linesTotal: number;
      readonly entriesTotal: number;
      /** `at least`: a file reached `searchFileLinesMax` matching lines, or the time was over. */
      readonly linesCounted: Tally["counted"];
      readonly binary: number;
      readonly unnamed: number;
      readonly unreadable: Tally;
      readonly ended: "by itself" | "time";
    }
  | { readonly found: "fault"; readonly fault: SearchFault }
  | { readonly found: "nothing to run" }
  /** Killed before it was done. */
  | { readonly found: "killed"; readonly signal: string }
  | { readonly found: "not started"; readonly errno: string };

/** Reports often enough for a person to see it move; a report costs a message to the client. */
const progressMs = 250;

export async function grep(task: GrepTask): Promise<GrepResult> {
  const found = await grepOnce(task);
  const byMaps = task.query.reach === "lines" && task.searched.in === "folder";
  // A file that shrinks under a memory map kills ripgrep. Without the map ripgrep reads whole files into memory.
  return found.found === "killed" && byMaps ? grepOnce(task, "reads") : found;
}

async function grepOnce(task: GrepTask, by?: ReadBy): Promise<GrepResult> {
  const { query, searched, run } = task;
  const collector = new Collector(task, query.mode, searched.in);
  const reader = readerFor(query, searched, collector);
  const reportProgress = (): void => task.onProgress?.(collector.filesTotal);
  // Also reports while nothing matches.
  const progressTimer = task.onProgress && setInterval(reportProgress, progressMs);
  const end = await runRipgrep(grepArguments(query, searched, by), {
    ...run,
    onChunk: async (chunk): Promise<ChunkAnswer> => {
      await feedInSlices(reader, chunk);
      task.again?.release();
      reportProgress();
      return "more";
    },
  }).finally(() => {
    clearInterval(progressTimer);
    task.again?.release();
  });
  if (end.ended === "missing") return { found: "nothing to run" };
  if (end.ended === "not started") return { found: "not started", errno: end.errno };
  if (end.ended === "killed") return { found: "killed", signal: end.signal };
  const files = collector.finish();
  const { unreadable, rest } = sortComplaints(end.complaints, end.complaintsCut, task.isHidden ?? (() => false));
  if (end.ended === "by itself" && end.status !== 0 && rest !== "" && collector.filesTotal === 0) {
    const fault = await faultWithoutFiles(query, run);
    if (fault !== undefined) return { found: "fault", fault };
  }
  const { filesTotal, linesTotal, entriesTotal, binary, unnamed } = collector;
  const ended = end.ended === "by itself" ? "by itself" : "time";
  const linesCounted = ended === "time" || collector.overflown ? "at least" : "all";
  return {
    found: "places",
    linesCounted,
    files,
    filesTotal,
    linesTotal,
    entriesTotal,
    binary,
    unnamed,
    unreadable,
    ended,
  };
}

/** Bytes between two looks at the clock: each path in them is matched against globs, rules and ignore files. */
const sliceBytes = 1_024;

async function feedInSlices(reader: OutputReader, chunk: Buffer): Promise<void> {
  const slices = timeSlices();
  for (let at = 0; at < chunk.length; at += sliceBytes) {
    reader.feed(chunk.subarray(at, at + sliceBytes));
    if (slices.isOver()) await slices.next();
  }
}

/**
 * The fault of the search itself. ripgrep is run again on empty input: a complaint about a file contains its name, and a
 * name may contain lines that read like any other complaint.
 */
async function faultWithoutFiles(query: GrepQuery, run: GrepTask["run"]): Promise<SearchFault | undefined> {
  const end = await runRipgrep(probeArguments(query), { ...run, input: undefined, onChunk: () => "more" });
  if (end.ended !== "by itself" || end.status === 0) return undefined;
  const fault = searchFaultIn(end.complaints, query.pattern);
  return fault?.of === "unknown type" ? typeFault(fault.type, run) : fault;
}

/** Counts the files of these types that a search would look at, up to `filesMax`. */
export async function countFiles(
  types: readonly string[],
  searched: Extract<Searched, { readonly in: "folder" }>,
  isCounted: (path: string) => boolean,
  filesMax: number,
  run: GrepTask["run"],
): Promise<Tally> {
  let number = 0;
  let seen = 0;
  const reader = readFiles({
    file: (bytes) => {
      seen += 1;
      if (seen <= filesMax && isCounted(pathOf(bytes).path)) number += 1;
    },
  });
  const end = await runRipgrep(filesArguments(types, searched), {
    ...run,
    onChunk: async (chunk): Promise<ChunkAnswer> => {
      await feedInSlices(reader, chunk);
      return seen > filesMax ? "enough" : "more";
    },
  });
  return { number, counted: end.ended === "by itself" ? "all" : "at least" };
}

/** Counts matching files, as far as the time allows. */
export async function countMatchingFiles(task: GrepTask): Promise<Tally> {
  const result = await grep({ ...task, query: { ...task.query, mode: "files" }, entriesMax: 0, mtimeOf: undefined });
  if (result.found !== "places") return { number: 0, counted: "at least" };
  return { number: result.filesTotal, counted: result.ended === "time" ? "at least" : "all" };
}

function readerFor(query: GrepQuery, { in: place }: Searched, taker: OutputTaker): OutputReader {
  const only = place === "input";
  if (showsLines(query)) return readContent(taker, only);
  return query.mode === "count" || only ? readCounts(taker, only) : readFiles(taker);
}

/** ripgrep has no type `tsx`, but `ts`. */
const beginsLike = (wanted: string, name: string): boolean =>
  name.length >= 2 && name.length * 2 >= wanted.length && wanted.startsWith(name);

async function typeFault(type: string, run: GrepTask["run"]): Promise<SearchFault> {
  const chunks: Buffer[] = [];
  await runRipgrep(["--type-list"], {
    ...run,
    onChunk: (chunk) => {
      chunks.push(chunk);
      return "more";
    },
  });
  const wanted = type.toLowerCase().replace(/^[*.]+/, "");
  const candidates = typesIn(Buffer.concat(chunks).toString("utf8"))
    .map((name) => ({ name, far: distance(wanted, name) }))
    .filter(
      ({ name, far }) =>
        far <= Math.max(1, Math.floor(wanted.length / 3)) || name.startsWith(wanted) || beginsLike(wanted, name),
    )
    .toSorted((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1));
  return { of: "type", type, nearest: candidates.slice(0, 3).map(({ name }) => name) };
}

// ripgrep's stderr: files that it cannot read, and faults of the search itself.

export interface Complaints {
  readonly unreadable: Tally;
  /** Messages that are not about a file. */
  readonly rest: string;
}

/** `cut`: `text` has only the first messages. Files that rules hide are not counted. */
export function sortComplaints(text: string, cut: boolean, isHidden: (path: string) => boolean): Complaints {
  let number = 0;
  let message = "";
  const rest: string[] = [];
  for (const line of text.split("\n")) {
    message = line.startsWith("rg: ") ? line : `${message}\n${line}`;
    // A name may contain newlines: only the end of such a message is reliable.
    if (/\(os error \d+\)$/.test(line)) {
      const path = pathIn(message);
      if (path === undefined || !isHidden(path)) number += 1;
      message = "";
    } else rest.push(line);
  }
  return { unreadable: { number, counted: cut ? "at least" : "all" }, rest: rest.join("\n").trim() };
}

function pathIn(message: string): string | undefined {
  const path = /^rg: \.[\\/](.*): [^:]*\(os error \d+\)$/s.exec(message)?.[1];
  return process.platform === "win32" ? path?.replaceAll("\\", "/") : path;
}

/** Undefined if the caller cannot correct it. */
export function searchFaultIn(
  complaint: string,
  pattern: string,
): SearchFault | { readonly of: "unknown type"; readonly type: string } | undefined {
  const type = /^rg: unrecognized file type: (.*)$/m.exec(complaint)?.[1];
  if (type !== undefined) return { of: "unknown type", type };
  const why = "engine" as const;
  if (/the literal .* is not allowed in a regex/.test(complaint)) {
    const message = /the literal .* is not allowed in a regex/.exec(complaint)?.[0] ?? "";
    return { of: "pattern", pattern, why, message, at: undefined, remedy: "several lines" };
  }
  const message = /^error: (.+)$/m.exec(complaint)?.[1] ?? /^rg: (.*(?:regex|pattern).*)$/m.exec(complaint)?.[1];
  if (message === undefined) return undefined;
  return { of: "pattern", pattern, why, message, at: placeIn(complaint, pattern), remedy: remedyFor(message) };
}

/** The message shows the pattern in `(?:…)`, indented by four spaces, with carets below it. */
function placeIn(complaint: string, pattern: string): number | undefined {
  const lines = complaint.split("\n");
  const shown = lines.findIndex((line) => line === `    (?:${pattern})`);
  const pointer = lines[shown + 1];
  if (shown < 0 || pointer === undefined || !/^ *\^+ *$/.test(pointer)) return undefined;
  const at = pointer.indexOf("^") - "    (?:".length + 1;
  return at >= 1 && at <= pattern.length ? at : undefined;
}

function remedyFor(message: string): Extract<SearchFault, { readonly why: "engine" }>["remedy"] {
  if (/look-around|backreferences/.test(message)) return "no look-around";
  if (/repetition quantifier|counted repetition|decimal/.test(message)) return "escape braces";
  return /unclosed|unopened|missing expression|unrecognized escape|invalid escape|hexadecimal|capture group/.test(
    message,
  )
    ? "escape"
    : undefined;
}

/** The names in ripgrep's `--type-list`: `ts: *.cts, *.mts`. */
export const typesIn = (list: string): readonly string[] =>
  list.split("\n").flatMap((line) => /^([^:\s]+): /.exec(line)?.[1] ?? []);

// Collects ripgrep's reports file by file: the first files of the answer are kept, all of them are counted.

export interface FoundFile {
  /** Below the searched folder, with forward slashes; empty if a single file is searched. */
  readonly path: string;
  readonly mtimeNs: bigint;
  readonly lines: FoundLine[];
  count: number;
}

interface Collecting {
  /** How many entries to keep: lines in `content`, else files. */
  readonly entriesMax: number;
  /** Whether this file may be shown. `path` is below the searched folder. */
  readonly isWanted: (path: string) => boolean;
  /** Looks a file up again beneath the roots; a file that is not there is neither shown nor counted. */
  readonly again: PathRecheck | undefined;
  /** Set if the newest come first: looks a file up like `again` and returns its mtime; undefined if it is not there. */
  readonly mtimeOf: ((path: string) => bigint | undefined) | undefined;
}

/**
 * A folder that is swapped for a symlink while ripgrep is in it leads ripgrep out of the workspace. So each reported file
 * is looked up again, name by name and without symlinks, before it counts.
 */
export interface PathRecheck {
  /** `folder`: checks only the folder, for file names that are not UTF-8. */
  isThere(path: string, what: "file" | "folder"): boolean;
  /** Closes the folders that are kept open between lookups. */
  release(): void;
}

export class Collector implements OutputTaker {
  filesTotal = 0;
  linesTotal = 0;
  entriesTotal = 0;
  binary = 0;
  unnamed = 0;
  /** Whether a file has more matching lines than are counted. */
  overflown = false;
  readonly #collecting: Collecting;
  readonly #mode: GrepMode;
  readonly #first: FirstOnes<FoundFile>;
  /** The file being reported; undefined if it is not shown. `kept`: undefined if it is only counted. */
  #file: { readonly kept: FoundFile | undefined; matches: boolean; binary: boolean; lines: number } | undefined;

  constructor(collecting: Collecting, mode: GrepMode, place: "folder" | "input") {
    this.#collecting = collecting;
    this.#mode = mode;
    const weightOf = mode === "content" ? (file: FoundFile) => file.lines.length : () => 1;
    this.#first = new FirstOnes(
      collecting.entriesMax,
      collecting.mtimeOf === undefined ? byPath : newestFirst,
      weightOf,
    );
    // For standard input ripgrep reports no file if nothing matches.
    if (place === "input") this.#file = { kept: fileAt("", 0n), matches: false, binary: false, lines: 0 };
  }

  file(bytes: Buffer): void {
    this.#end();
    const { path, isText } = pathOf(bytes);
    // Also for a name that is not UTF-8: files that rules hide must not be counted by their content.
    if (!this.#collecting.isWanted(path)) return;
    const { again, mtimeOf } = this.#collecting;
    if (!isText) {
      const folder = path.slice(0, Math.max(0, path.lastIndexOf("/")));
      if (again?.isThere(folder, "folder") !== false) this.unnamed += 1;
      return;
    }
    const mtimeNs = mtimeOf === undefined ? 0n : mtimeOf(path);
    if (mtimeNs === undefined || (mtimeOf === undefined && again?.isThere(path, "file") === false)) return;
    const file = fileAt(path, mtimeNs);
    this.#file = { kept: this.#first.accepts(file) ? file : undefined, matches: true, binary: false, lines: 0 };
  }

  line(found: FoundLine): void {
    const file = this.#file;
    if (file === undefined) return;
    file.matches = true;
    if (found.column > 0) {
      this.linesTotal += 1;
      file.lines += 1;
      this.overflown ||= file.lines >= limits.searchFileLinesMax;
      if (this.#mode === "count" && file.kept !== undefined) file.kept.count += 1;
    }
    if (this.#mode !== "content") return;
    this.entriesTotal += 1;
    if (file.kept !== undefined && file.kept.lines.length < this.#collecting.entriesMax) file.kept.lines.push(found);
  }

  count(lines: number): void {
    const file = this.#file;
    if (file === undefined || lines === 0) return;
    file.matches = true;
    this.linesTotal += lines;
    if (file.kept !== undefined) file.kept.count = lines;
  }

  binaryFile(): void {
    if (this.#file === undefined) return;
    if (!this.#file.binary) this.binary += 1;
    this.#file.matches = true;
    this.#file.binary = true;
  }

  finish(): readonly FoundFile[] {
    this.#end();
    return this.#first.sorted();
  }

  #end(): void {
    const file = this.#file;
    this.#file = undefined;
    if (file === undefined || !file.matches) return;
    this.filesTotal += 1;
    if (this.#mode !== "content") this.entriesTotal += 1;
    if (file.kept !== undefined) this.#first.add(file.kept);
  }
}

/** Removes ripgrep's leading `./`. A name that is not UTF-8 still has a usable path of its folders. */
function pathOf(bytes: Buffer): { readonly path: string; readonly isText: boolean } {
  const path = bytes.toString("utf8", 2);
  return { path: process.platform === "win32" ? path.replaceAll("\\", "/") : path, isText: isUtf8(bytes) };
}

const fileAt = (path: string, mtimeNs: bigint): FoundFile => ({ path, mtimeNs, lines: [], count: 0 });

const byPath = (a: FoundFile, b: FoundFile): number => comparePaths(a.path, b.path);

/** Newest first, then by path. */
export const newestFirst = (a: FoundFile, b: FoundFile): number =>
  a.mtimeNs === b.mtimeNs ? comparePaths(a.path, b.path) : a.mtimeNs > b.mtimeNs ? -1 : 1;
