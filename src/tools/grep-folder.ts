/** The search of one folder: with ripgrep, in the folder that is held while it runs. Of several, each is searched so. */

import type { GrepOutcome, GrepRequest, SearchFault, Tally } from "../contract/grep.ts";
import { Problem } from "../contract/problem.ts";
import type { Target } from "../contract/target.ts";
import { scratchFile, scratchPrefix } from "../disk/scratch-file.ts";
import { countMatchingFiles, type Found, type GrepTask, grep as search } from "../search/grep.ts";
import { compileGlobs, type Globs } from "../search/grep-globs.ts";
import { leftOutText } from "../search/left-out.ts";
import { extraMs } from "./extra-time.ts";
import { unsearched } from "./grep-unsearched.ts";
import type { Located } from "./locate.ts";
import { isQuick, searched as wasSearched } from "./search-pace.ts";
import type { Bench } from "./tool.ts";

export interface FolderSearch {
  readonly target: Target;
  /** Once, before anything else. */
  search(how: {
    readonly timeMsMax: number;
    readonly onProgress: ((files: number) => void) | undefined;
  }): Promise<FolderFound>;
  /** Ignored files that match. */
  countIgnored(): Promise<Tally>;
  /** Whoever began it closes it. */
  close(): void;
}

export interface FolderFound extends Pick<GrepOutcome, "withheld" | "links"> {
  readonly places: Places;
}

export function folderSearch(request: GrepRequest, located: Located, bench: Bench): FolderSearch {
  const { target, found } = located;
  const { disk, guard } = bench;
  const globs = request.glob === undefined ? undefined : globsOf(request.glob, target);
  const hides = guard.hidesBeneath(target.absolute === target.real ? [target.real] : [target.absolute, target.real]);
  const fits = (path: string): boolean => globs?.matches(path) ?? true;
  const hidden = guard.hiddenPatterns(target.real === target.root ? "root" : "within");
  const leftOut = scratchFile(leftOutText([...hidden.lines, `**/${scratchPrefix}*`]));
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
    mtimeOf: request.mode === "files" && request.order === "newest" ? (path) => disk.changedNs(found, path) : undefined,
    onProgress: undefined,
    run,
  };
  let tookMs = 0;
  let linksCounted: Tally["counted"] = "at least";
  return {
    target,
    async search({ timeMsMax, onProgress }) {
      const startedMs = performance.now();
      const timed = { ...run, timeMsMax };
      const searching = search({ ...task, onProgress, run: timed }).finally(() => {
        tookMs = performance.now() - startedMs;
      });
      const passing = {
        request,
        located,
        hidden,
        fits,
        hides,
        searched: { ...searched, leftOut: undefined },
        run: timed,
      };
      // Both use the folder that is held, so neither may be left running.
      const [ended, passed] = await Promise.allSettled([searching, unsearched(passing, bench)]);
      const places = placesOf(valueOf(ended), target);
      const { withheld, links, entries } = valueOf(passed);
      wasSearched(disk, target.real, tookMs, entries);
      linksCounted = links.counted;
      return { places, withheld, links };
    },
    countIgnored: () =>
      countMatchingFiles({
        ...task,
        // How much is ignored is not known.
        searched: { ...searched, ignored: "searched", threads: undefined },
        run: { ...run, timeMsMax: extraMs(tookMs, linksCounted) },
      }),
    close: () => leftOut?.remove(),
  };
}

export const faulty = (fault: SearchFault): Problem => new Problem({ code: "INVALID_PARAM", reason: "search", fault });

function globsOf(text: string, target: Target): Globs {
  const globs = compileGlobs(text, target.absolute);
  if ("message" in globs) throw faulty({ of: "glob", ...globs });
  return globs;
}

function valueOf<Value>(settled: PromiseSettledResult<Value>): Value {
  if (settled.status === "rejected") throw settled.reason;
  return settled.value;
}

export const runOf = ({ signal, searchMsMax, disk }: Bench): Omit<GrepTask["run"], "cwd"> => ({
  signal,
  timeMsMax: searchMsMax,
  notBeneath: disk.roots.flatMap(({ given, real }) => [given, real]),
});

export type Places = Extract<Found, { readonly found: "places" }>;

export function placesOf(found: Found, target: Target): Places {
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
