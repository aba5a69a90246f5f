/**
 * Grep: which lines match. ripgrep finds the places, in a folder whose handle is open while it runs. Files that rules hide are
 * excluded from its search, and its results are checked against the rules again. Filehand reads every line of the answer
 * itself, from a file that it looked up beneath the roots, so a symlink or a swapped folder leads to nothing outside.
 */

import { HandleStack } from "../../disk/disk.ts";
import type { GrepFile, GrepOutcome, GrepRequest, Tally } from "../../contract/grep.ts";
import { limits } from "../../contract/limits.ts";
import { Problem } from "../../contract/problem.ts";
import type { Target } from "../../contract/target.ts";
import { refusal } from "../../guard/guard.ts";
import { grep as search, matchSpans, newestFirst, withLiteralBraces } from "../../search/search.ts";
import { locate, type Located } from "../locate.ts";
import type { ToolContext, Tool } from "../tool.ts";
import { type SearchStarts, searchStarts, searchTops } from "../workspace-walk.ts";
import {
  faulty,
  type FolderFound,
  folderSearch,
  type FolderSearch,
  type FoundIn,
  none,
  noteShown,
  type Places,
  placesOf,
  runOf,
  showEntries,
  tallied,
} from "./folder.ts";

export const grep: Tool<"grep"> = async (asked, context) => {
  checkPattern(asked.pattern);
  const request: TakenRequest = { ...asked, pattern: withLiteralBraces(asked.pattern), asked: asked.pattern };
  const paths = request.path === undefined ? searchTops(context) : [request.path];
  using started = await searchStarts(paths, (path) => startAt(path, context));
  const [first] = started.starts;
  if (first === undefined) throw started.problem;
  if (first.node.kind === "file") return await inFile(request, first, context);
  return await inFolders(request, first.target, started, context);
};

/** A request whose pattern is the one to search for; `asked` is the one that the caller gave. */
interface TakenRequest extends GrepRequest {
  readonly asked: string;
}

function checkPattern(pattern: string): void {
  if (pattern === "") throw faulty({ of: "pattern", pattern, why: "empty" });
  if (pattern.includes("\0")) throw faulty({ of: "pattern", pattern, why: "nul" });
  if (pattern.length > limits.patternCharsMax) throw faulty({ of: "pattern", pattern, why: "too long" });
}

async function startAt(path: string, context: ToolContext): Promise<Located> {
  const located = await locate(path, "anything", context);
  const { target, node } = located;
  using handles = new HandleStack();
  handles.use(node.handle);
  await context.guard.permit("read", target, context.signal);
  if (node.kind !== "directory" && node.kind !== "file") {
    throw new Problem({ code: "SPECIAL_FILE", place: target, special: node.kind });
  }
  handles.move();
  return located;
}

async function inFile(
  request: TakenRequest,
  { target, node: named }: Located,
  context: ToolContext,
): Promise<GrepOutcome> {
  const opened = context.disk.open(named);
  if ("errno" in opened) throw refusal(target, opened.errno, "opening it");
  using file = opened;
  const places = placesOf(
    await search({
      query: request,
      searched: { in: "input" },
      entriesMax: request.skip + request.entriesMax,
      isWanted: () => true,
      again: undefined,
      mtimeOf: undefined,
      onProgress: undefined,
      run: { ...runOf(context), cwd: target.root, input: file.forChild },
    }),
    target,
  );
  const found = { places, hiddenByRules: none, links: none };
  return await outcomeOf(request, target, { ...found, files: filesIn(places, target), ignored: none }, context);
}

async function inFolders(
  request: TakenRequest,
  target: Target,
  started: SearchStarts<Located>,
  context: ToolContext,
): Promise<GrepOutcome> {
  using handles = new HandleStack();
  const folders = started.starts.map((start) => handles.use(folderSearch(request, start, context)));
  const found = await searchAll(folders, context);
  const sum = summed(found.map(({ places }) => places));
  const files = found.flatMap(({ places, target: folder }) => filesIn(places, folder));
  const byTime = request.mode === "files" && request.order === "newest" && folders.length > 1;
  // Ignored files are only counted if nothing was found.
  const isAll = sum.filesTotal > 0 || sum.ended === "time";
  // If the time was up before the last folder, every count is a lower bound.
  const floored = (tally: Tally): Tally =>
    tally.number > 0 && found.length < folders.length ? { ...tally, counted: "at least" } : tally;
  return await outcomeOf(
    request,
    target,
    {
      places: {
        ...sum,
        unreadable: floored(tallied([sum.unreadable, { number: started.unreadable, counted: "all" }])),
      },
      files: byTime ? files.toSorted((a, b) => newestFirst(a.file, b.file)) : files,
      // A denied root counts as one, whatever is in it.
      hiddenByRules: floored(
        tallied([
          ...found.map(({ hiddenByRules }) => hiddenByRules),
          { number: started.denied, counted: started.denied > 0 ? "at least" : "all" },
        ]),
      ),
      links: floored(tallied(found.map(({ links }) => links))),
      ignored: isAll ? none : await ignoredIn(folders),
    },
    context,
  );
}

type FoundThere = FolderFound & { readonly target: Target };

/** One folder after the other; all together have the time of one search. */
async function searchAll(folders: readonly FolderSearch[], context: ToolContext): Promise<readonly FoundThere[]> {
  const startedMs = performance.now();
  const { onProgress } = context;
  const all: FoundThere[] = [];
  let before = 0;
  for (const folder of folders) {
    const passedMs = all.length === 0 ? 0 : performance.now() - startedMs;
    const found = await folder.search({
      timeMsMax: Math.max(1, context.searchMsMax - passedMs),
      onProgress: onProgress && ((files) => onProgress(before + files, 0)),
    });
    all.push({ ...found, target: folder.target });
    before += found.places.filesTotal;
    if (found.places.ended === "time") break;
  }
  return all;
}

async function ignoredIn(folders: readonly FolderSearch[]): Promise<Tally> {
  const tallies: Tally[] = [];
  for (const folder of folders) tallies.push(await folder.countIgnored());
  return tallied(tallies);
}

type Counts = Omit<Places, "found" | "files">;

function summed(places: readonly Places[]): Counts {
  const sum = (of: "filesTotal" | "linesTotal" | "entriesTotal" | "binary" | "unnamed"): number =>
    places.reduce((all, one) => all + one[of], 0);
  return {
    filesTotal: sum("filesTotal"),
    linesTotal: sum("linesTotal"),
    entriesTotal: sum("entriesTotal"),
    linesCounted: places.every(({ linesCounted }) => linesCounted === "all") ? "all" : "at least",
    binary: sum("binary"),
    unnamed: sum("unnamed"),
    unreadable: tallied(places.map(({ unreadable }) => unreadable)),
    ended: places.some(({ ended }) => ended === "time") ? "time" : "by itself",
  };
}

const filesIn = ({ files }: Places, target: Target): readonly FoundIn[] => files.map((file) => ({ file, target }));

interface AllFound extends Pick<GrepOutcome, "hiddenByRules" | "links" | "ignored"> {
  readonly places: Counts;
  readonly files: readonly FoundIn[];
}

async function outcomeOf(
  request: TakenRequest,
  target: Target,
  { places, files, hiddenByRules, links, ignored }: AllFound,
  context: ToolContext,
): Promise<GrepOutcome> {
  const { pattern, asked, mode, numbers, skip, entriesMax } = request;
  const tally = (number: number): Tally => ({ number, counted: places.ended === "time" ? "at least" : "all" });
  const lines = { counted: places.linesCounted } as const;
  const shown = await showEntries(request, files, context);
  const more = places.entriesTotal > skip + shown.entries;
  const outcome: GrepOutcome = context.fit({
    kind: "grep",
    target,
    pattern: asked,
    ...(pattern === asked ? {} : { takenAs: pattern }),
    mode,
    numbers,
    files: request.spans === true ? await withSpans(shown.files, request, target, context) : shown.files,
    skip,
    entriesMax,
    entriesShown: shown.entries,
    entriesTotal: { ...tally(places.entriesTotal), ...(mode === "content" ? lines : {}) },
    filesTotal: tally(places.filesTotal),
    linesTotal: mode === "files" ? undefined : { number: places.linesTotal, ...lines },
    stopped: more ? shown.stopped : "end",
    next: more && shown.entries > 0 ? skip + shown.entries : undefined,
    timedOutMs: places.ended === "time" ? context.searchMsMax : undefined,
    hiddenByRules,
    links,
    ignored,
    unreadable: places.unreadable,
    binary: places.binary,
    unnamed: places.unnamed,
    unshown: shown.unshown,
  });
  await noteShown(outcome.files, shown.states, context);
  return outcome;
}

/** No spans for matches over several lines: no single line contains one. */
async function withSpans(
  files: readonly GrepFile[],
  { reach, pattern, letterCase }: GrepRequest,
  target: Target,
  context: ToolContext,
): Promise<readonly GrepFile[]> {
  if (reach === "lines") return files;
  const texts = files.flatMap(({ lines }) => lines.map(({ text }) => text));
  const spans = await matchSpans(texts, { pattern, letterCase }, { ...runOf(context), cwd: target.root });
  let at = 0;
  return files.map((file) => ({
    ...file,
    lines: file.lines.map((line) => {
      const found = spans[at] ?? [];
      at += 1;
      return line.is === "match" ? { ...line, spans: found } : line;
    }),
  }));
}
