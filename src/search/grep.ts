/**
 * Finds lines with ripgrep. The answer has places, not text; which files may be told is not decided here. Files come in
 * any order and as many as there are: only the first ones in the order of the answer are held, the rest are counted.
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
import { type RipgrepRun, runRipgrep, type Taken } from "./ripgrep.ts";

export interface GrepTask extends Collecting {
  readonly query: GrepQuery;
  readonly searched: Searched;
  /** Do rules hide this path? Then not even that it cannot be read is told. Nothing is hidden by default. */
  readonly isHidden?: ((path: string) => boolean) | undefined;
  readonly onProgress: ((files: number) => void) | undefined;
  readonly run: Pick<RipgrepRun, "cwd" | "input" | "signal" | "notBeneath"> & { readonly timeMsMax: number };
}

export type Found =
  | {
      readonly found: "places";
      /** The first ones, in order: with as many entries as were wanted, if there are so many. */
      readonly files: readonly FoundFile[];
      readonly filesTotal: number;
      readonly linesTotal: number;
      readonly entriesTotal: number;
      /** `at least`: a file has more matching lines than are counted, or the time was over. */
      readonly linesCounted: Tally["counted"];
      readonly binary: number;
      readonly unnamed: number;
      readonly unreadable: Tally;
      readonly ended: "by itself" | "time";
    }
  | { readonly found: "fault"; readonly fault: SearchFault }
  | { readonly found: "nothing to run" }
  /** Before it was through. */
  | { readonly found: "killed"; readonly signal: string }
  | { readonly found: "not started"; readonly errno: string };

const progressMs = 250;

export async function grep(task: GrepTask): Promise<Found> {
  const node = await grepOnce(task);
  const byMaps = task.query.reach === "lines" && task.searched.in === "folder";
  // A file became shorter under a memory map, perhaps. Without one ripgrep holds all of it: the price of an answer.
  return node.found === "killed" && byMaps ? grepOnce(task, "reads") : node;
}

async function grepOnce(task: GrepTask, by?: ReadBy): Promise<Found> {
  const { query, searched, run } = task;
  const collector = new Collector(task, query.mode, searched.in);
  const reader = readerFor(query, searched, collector);
  const tell = (): void => task.onProgress?.(collector.filesTotal);
  // Where nothing matches for long, that is worth telling too.
  const telling = task.onProgress && setInterval(tell, progressMs);
  const end = await runRipgrep(grepArguments(query, searched, by), {
    ...run,
    onChunk: async (chunk): Promise<Taken> => {
      await feedInSlices(reader, chunk);
      task.again?.letGo();
      tell();
      return "more";
    },
  }).finally(() => {
    clearInterval(telling);
    task.again?.letGo();
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

/** Bytes after which the time is looked at: each path among them is compared with globs, rules and ignore files. */
const sliceBytes = 1_024;

/** What ripgrep prints, in slices of time: other calls get their turn in between. */
async function feedInSlices(reader: OutputReader, chunk: Buffer): Promise<void> {
  const slices = timeSlices();
  for (let at = 0; at < chunk.length; at += sliceBytes) {
    reader.feed(chunk.subarray(at, at + sliceBytes));
    if (slices.isOver()) await slices.next();
  }
}

/**
 * What is wrong with the search itself. ripgrep is asked again, about nothing: a complaint about a file holds its name, and a
 * name may have lines that read like any other complaint.
 */
async function faultWithoutFiles(query: GrepQuery, run: GrepTask["run"]): Promise<SearchFault | undefined> {
  const end = await runRipgrep(probeArguments(query), { ...run, input: undefined, onChunk: () => "more" });
  if (end.ended !== "by itself" || end.status === 0) return undefined;
  const fault = faultOf(end.complaints, query.pattern);
  return fault?.of === "unknown type" ? typeFault(fault.type, run) : fault;
}

/** How many of the files that a search would look at are such; counted up to a number of files, hidden ones or not. */
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
    onChunk: async (chunk): Promise<Taken> => {
      await feedInSlices(reader, chunk);
      return seen > filesMax ? "enough" : "more";
    },
  });
  return { number, counted: end.ended === "by itself" ? "all" : "at least" };
}

/** How many files match, as far as the time allows. */
export async function countMatchingFiles(task: GrepTask): Promise<Tally> {
  const node = await grep({ ...task, query: { ...task.query, mode: "files" }, entriesMax: 0, mtimeOf: undefined });
  if (node.found !== "places") return { number: 0, counted: "at least" };
  return { number: node.filesTotal, counted: node.ended === "time" ? "at least" : "all" };
}

function readerFor(query: GrepQuery, { in: place }: Searched, taker: OutputTaker): OutputReader {
  const only = place === "input";
  if (showsLines(query)) return readContent(taker, only);
  return query.mode === "count" || only ? readCounts(taker, only) : readFiles(taker);
}

/** `tsx` is none of ripgrep's types, `ts` is. */
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
  const near = typesIn(Buffer.concat(chunks).toString("utf8"))
    .map((name) => ({ name, far: distance(wanted, name) }))
    .filter(
      ({ name, far }) =>
        far <= Math.max(1, Math.floor(wanted.length / 3)) || name.startsWith(wanted) || beginsLike(wanted, name),
    )
    .toSorted((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1));
  return { of: "type", type, nearest: near.slice(0, 3).map(({ name }) => name) };
}

// What ripgrep complains of: files that it cannot read, or what is wrong with the search itself.

export interface Complaints {
  /** Files and folders that could not be read. */
  readonly unreadable: Tally;
  /** What is not about a file. */
  readonly rest: string;
}

/** `cut`: are these only the first of the complaints? What is hidden is not counted. */
export function sortComplaints(text: string, cut: boolean, isHidden: (path: string) => boolean): Complaints {
  let number = 0;
  let message = "";
  const rest: string[] = [];
  for (const line of text.split("\n")) {
    message = line.startsWith("rg: ") ? line : `${message}\n${line}`;
    // A name may hold newlines: only the end of such a message is looked for.
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

/** Undefined if this is nothing that a caller could mend. */
export function faultOf(
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

/** The message shows the pattern in `(?:…)`, four blanks in, and points at it below. */
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

/** The names of types that ripgrep knows, from its own list: `ts: *.cts, *.mts`. */
export const typesIn = (list: string): readonly string[] =>
  list.split("\n").flatMap((line) => /^([^:\s]+): /.exec(line)?.[1] ?? []);

// Puts together what ripgrep reports, file by file: the first ones of the answer are held, all of them are counted.

export interface FoundFile {
  /** Below the folder that is searched, with forward slashes; empty if a file is. */
  readonly path: string;
  readonly mtimeNs: bigint;
  readonly lines: FoundLine[];
  count: number;
}

interface Collecting {
  /** Lines in `content`, else files, that are held. */
  readonly entriesMax: number;
  /** May this file be told? `path` is below the folder that is searched. */
  readonly isWanted: (path: string) => boolean;
  /** Looks a file up again beneath the roots; what is not there is neither told nor counted. */
  readonly again: Again | undefined;
  /** If the newest come first: looks a file up again like `again`, and tells when it was last changed; undefined if it is not there. */
  readonly mtimeOf: ((path: string) => bigint | undefined) | undefined;
}

/**
 * A folder that is swapped for a link while ripgrep is in it leads ripgrep outside. So whatever it reports is looked up again,
 * name by name and without links, before it counts.
 */
export interface Again {
  /** `folder`: only whether there is such a folder, for names that cannot be looked up. */
  isThere(path: string, what: "file" | "folder"): boolean;
  /** Lets go of the folders that are held for a while. */
  letGo(): void;
}

export class Collector implements OutputTaker {
  filesTotal = 0;
  linesTotal = 0;
  entriesTotal = 0;
  binary = 0;
  unnamed = 0;
  /** Was there a file with more matching lines than are counted? */
  overflown = false;
  readonly #collecting: Collecting;
  readonly #mode: GrepMode;
  readonly #first: FirstOnes<FoundFile>;
  /** The file that is reported now; `undefined`: it is not told. */
  #file: { readonly held: FoundFile | undefined; matches: boolean; binary: boolean; lines: number } | undefined;

  constructor(collecting: Collecting, mode: GrepMode, place: "folder" | "input") {
    this.#collecting = collecting;
    this.#mode = mode;
    const weightOf = mode === "content" ? (file: FoundFile) => file.lines.length : () => 1;
    this.#first = new FirstOnes(
      collecting.entriesMax,
      collecting.mtimeOf === undefined ? byPath : newestFirst,
      weightOf,
    );
    // Of the one file on standard input nothing is reported if nothing matches.
    if (place === "input") this.#file = { held: fileAt("", 0n), matches: false, binary: false, lines: 0 };
  }

  file(bytes: Buffer): void {
    this.#end();
    const { path, isText } = pathOf(bytes);
    // Also of a name that nobody can be told: what rules hide is not counted by what it holds.
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
    this.#file = { held: this.#first.accepts(file) ? file : undefined, matches: true, binary: false, lines: 0 };
  }

  line(found: FoundLine): void {
    const file = this.#file;
    if (file === undefined) return;
    file.matches = true;
    if (found.column > 0) {
      this.linesTotal += 1;
      file.lines += 1;
      this.overflown ||= file.lines >= limits.searchFileLinesMax;
      if (this.#mode === "count" && file.held !== undefined) file.held.count += 1;
    }
    if (this.#mode !== "content") return;
    this.entriesTotal += 1;
    if (file.held !== undefined && file.held.lines.length < this.#collecting.entriesMax) file.held.lines.push(found);
  }

  count(lines: number): void {
    const file = this.#file;
    if (file === undefined || lines === 0) return;
    file.matches = true;
    this.linesTotal += lines;
    if (file.held !== undefined) file.held.count = lines;
  }

  binaryFile(): void {
    if (this.#file === undefined) return;
    if (!this.#file.binary) this.binary += 1;
    this.#file.matches = true;
    this.#file.binary = true;
  }

  /** The first ones, in order. */
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
    if (file.held !== undefined) this.#first.add(file.held);
  }
}

/** Without the `./` that ripgrep puts before it. If it is no text, as far as it is: the folders above it may well be. */
function pathOf(bytes: Buffer): { readonly path: string; readonly isText: boolean } {
  const path = bytes.toString("utf8", 2);
  return { path: process.platform === "win32" ? path.replaceAll("\\", "/") : path, isText: isUtf8(bytes) };
}

const fileAt = (path: string, mtimeNs: bigint): FoundFile => ({ path, mtimeNs, lines: [], count: 0 });

const byPath = (a: FoundFile, b: FoundFile): number => comparePaths(a.path, b.path);

/** Of the same time, by path. */
export const newestFirst = (a: FoundFile, b: FoundFile): number =>
  a.mtimeNs === b.mtimeNs ? comparePaths(a.path, b.path) : a.mtimeNs > b.mtimeNs ? -1 : 1;
