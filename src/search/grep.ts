/**
 * Finds lines with ripgrep. The answer has places, not text; which files may be told is not decided here. Files come in
 * any order and as many as there are: only the first ones in the order of the answer are held, the rest are counted.
 */

import { distance } from "fastest-levenshtein";
import type { SearchFault, Tally } from "../contract/grep.ts";
import {
  filesArguments,
  type GrepQuery,
  grepArguments,
  probeArguments,
  showsLines,
  type ReadBy,
  type Searched,
} from "./grep-arguments.ts";
import { Collector, type Collecting, type FoundFile, pathOf } from "./grep-collector.ts";
import { faultOf, sortComplaints, typesIn } from "./grep-fault.ts";
import { type OutputReader, type OutputTaker, readContent, readCounts, readFiles } from "./grep-output.ts";
import { timeSlices } from "../disk/others-turn.ts";
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
  const found = await grepOnce(task);
  const byMaps = task.query.reach === "lines" && task.searched.in === "folder";
  // A file became shorter under a memory map, perhaps. Without one ripgrep holds all of it: the price of an answer.
  return found.found === "killed" && byMaps ? grepOnce(task, "reads") : found;
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
  const found = await grep({ ...task, query: { ...task.query, mode: "files" }, entriesMax: 0, mtimeOf: undefined });
  if (found.found !== "places") return { number: 0, counted: "at least" };
  return { number: found.filesTotal, counted: found.ended === "time" ? "at least" : "all" };
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
