/**
 * Grep: which lines match. ripgrep says where, in a folder that is held while it runs; what rules hide is left out before
 * and asked about after; and every line of the answer is read by ourselves, from a file that was looked up beneath the
 * roots like any other. So nothing that a link or a swapped folder leads to is shown.
 */

import type { GrepFile, GrepOutcome, GrepRequest, SearchFault, Tally } from "../contract/grep.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Target } from "../contract/target.ts";
import { scratchFile, scratchPrefix } from "../disk/scratch-file.ts";
import { refusal } from "../guard/guard.ts";
import { compileGlobs, type Globs } from "../search/grep-globs.ts";
import { countMatchingFiles, type Found, type GrepTask, grep as search } from "../search/grep.ts";
import { matchSpans } from "../search/grep-spans.ts";
import { leftOutText } from "../search/left-out.ts";
import { extraMs } from "./extra-time.ts";
import { showEntries } from "./grep-lines.ts";
import { unsearched } from "./grep-unsearched.ts";
import { type Located, locate } from "./locate.ts";
import { isQuick, searched as wasSearched } from "./search-pace.ts";
import type { Bench, Tool } from "./tool.ts";

export const grep: Tool<"grep"> = async (request, bench) => {
  checkPattern(request.pattern);
  const located = await locate(request.path, "anything", bench);
  try {
    const { target, found } = located;
    await bench.guard.permit("read", target, bench.signal);
    if (found.kind === "directory") return await inFolder(request, located, bench);
    if (found.kind === "file") return await inFile(request, located, bench);
    throw new Problem({ code: "SPECIAL_FILE", place: target, special: found.kind });
  } finally {
    located.found.held.close();
  }
};

function checkPattern(pattern: string): void {
  const why =
    pattern === ""
      ? "empty"
      : pattern.includes("\0")
        ? "nul"
        : pattern.length > limits.patternCharsMax
          ? "too long"
          : undefined;
  if (why !== undefined) throw faulty({ of: "pattern", pattern, why });
}

const faulty = (fault: SearchFault): Problem => new Problem({ code: "INVALID_PARAM", reason: "search", fault });

const nothing: Tally = { number: 0, counted: "all" };

async function inFile(request: GrepRequest, { target, found }: Located, bench: Bench): Promise<GrepOutcome> {
  const file = bench.disk.open(found);
  if ("errno" in file) throw refusal(target, file.errno, "opening it");
  try {
    const places = placesOf(
      await search({
        query: request,
        searched: { in: "input" },
        entriesMax: request.skip + request.entriesMax,
        isWanted: () => true,
        mtimeOf: undefined,
        onProgress: undefined,
        run: { ...runOf(bench), cwd: target.root, input: file.forChild },
      }),
      target,
    );
    return outcomeOf(request, target, places, bench, { withheld: nothing, links: nothing, ignored: nothing });
  } finally {
    file.close();
  }
}

async function inFolder(request: GrepRequest, located: Located, bench: Bench): Promise<GrepOutcome> {
  const { target, found } = located;
  const { disk, guard } = bench;
  const globs = request.glob === undefined ? undefined : globsOf(request.glob, target);
  const hides = guard.hidesBeneath(target.absolute === target.real ? [target.real] : [target.absolute, target.real]);
  const fits = (path: string): boolean => globs?.matches(path) ?? true;
  const hidden = guard.hiddenPatterns(target.real === target.root ? "root" : "within");
  const leftOut = scratchFile(leftOutText([...hidden.lines, `**/${scratchPrefix}*`]));
  try {
    const searched = {
      in: "folder",
      names: globs?.names,
      leftOut: leftOut?.path,
      ignored: "left out",
      threads: isQuick(disk, target.real) ? 1 : undefined,
    } as const;
    const run = { ...runOf(bench), cwd: found.held.handlePath };
    const task: GrepTask = {
      query: request,
      searched,
      entriesMax: request.skip + request.entriesMax,
      isWanted: (path) => fits(path) && !hides(path),
      mtimeOf:
        request.mode === "files" && request.order === "newest" ? (path) => disk.changedNs(found, path) : undefined,
      onProgress: bench.onProgress && ((files) => bench.onProgress?.(files, 0)),
      run,
    };
    const startedMs = performance.now();
    let tookMs = 0;
    const searching = search(task).finally(() => {
      tookMs = performance.now() - startedMs;
    });
    const passing = { request, located, hidden, fits, hides, searched: { ...searched, leftOut: undefined }, run };
    // Both use the folder that is held, so neither may be left running.
    const [ended, passed] = await Promise.allSettled([searching, unsearched(passing, bench)]);
    const places = placesOf(valueOf(ended), target);
    wasSearched(disk, target.real, tookMs, valueOf(passed).entries);
    // Only who finds nothing wonders whether it was looked for everywhere.
    const ignored =
      places.filesTotal > 0 || places.ended === "time"
        ? nothing
        : await countMatchingFiles({
            ...task,
            // How much is ignored is not known.
            searched: { ...searched, ignored: "searched", threads: undefined },
            run: { ...run, timeMsMax: extraMs(tookMs, valueOf(passed).links.counted) },
          });
    return await outcomeOf(request, target, places, bench, { ...valueOf(passed), ignored });
  } finally {
    leftOut?.remove();
  }
}

function globsOf(text: string, target: Target): Globs {
  const globs = compileGlobs(text, target.absolute);
  if ("message" in globs) throw faulty({ of: "glob", ...globs });
  return globs;
}

function valueOf<Value>(settled: PromiseSettledResult<Value>): Value {
  if (settled.status === "rejected") throw settled.reason;
  return settled.value;
}

const runOf = ({ signal, searchMsMax, disk }: Bench): Omit<GrepTask["run"], "cwd"> => ({
  signal,
  timeMsMax: searchMsMax,
  notBeneath: disk.roots.flatMap(({ given, real }) => [given, real]),
});

type Places = Extract<Found, { readonly found: "places" }>;

function placesOf(found: Found, target: Target): Places {
  switch (found.found) {
    case "places":
      return found;
    case "fault":
      throw faulty(found.fault);
    case "nothing to run":
      throw new Problem({ code: "NO_RIPGREP", install: "@vscode/ripgrep" });
    case "not started":
      throw new Problem({ code: "IO_ERROR", place: target, errno: found.errno, during: "starting ripgrep" });
  }
}

async function outcomeOf(
  request: GrepRequest,
  target: Target,
  places: Places,
  bench: Bench,
  { withheld, links, ignored }: Pick<GrepOutcome, "withheld" | "links" | "ignored">,
): Promise<GrepOutcome> {
  const { pattern, mode, numbers, skip, entriesMax } = request;
  const tally = (number: number): Tally => ({ number, counted: places.ended === "time" ? "at least" : "all" });
  const lines = { counted: places.linesCounted } as const;
  const shown = await showEntries(request, target, places.files, bench);
  const more = places.entriesTotal > skip + shown.entries;
  return {
    kind: "grep",
    target,
    pattern,
    mode,
    numbers,
    files: request.spans === true ? await withSpans(shown.files, request, target, bench) : shown.files,
    skip,
    entriesMax,
    entriesShown: shown.entries,
    entriesTotal: { ...tally(places.entriesTotal), ...(mode === "content" ? lines : {}) },
    filesTotal: tally(places.filesTotal),
    linesTotal: mode === "files" ? undefined : { number: places.linesTotal, ...lines },
    stopped: more ? shown.stopped : "end",
    next: more && shown.entries > 0 ? skip + shown.entries : undefined,
    timedOutMs: places.ended === "time" ? bench.searchMsMax : undefined,
    withheld,
    links,
    ignored,
    unreadable: places.unreadable,
    binary: places.binary,
    unnamed: places.unnamed,
    unshown: shown.unshown,
  };
}

/** A match over several lines is in none of them alone. */
async function withSpans(
  files: readonly GrepFile[],
  { reach, pattern, letterCase }: GrepRequest,
  target: Target,
  bench: Bench,
): Promise<readonly GrepFile[]> {
  if (reach === "lines") return files;
  const texts = files.flatMap(({ lines }) => lines.map(({ text }) => text));
  const spans = await matchSpans(texts, { pattern, letterCase }, { ...runOf(bench), cwd: target.root });
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
