/** The search of one folder: with ripgrep, in the folder that is held while it runs. Of several, each is searched so. */

import type { GrepOutcome, GrepRequest, SearchFault, Tally } from "../contract/grep.ts";
import { Problem } from "../contract/problem.ts";
import type { Target } from "../contract/target.ts";
import { scratchFile, scratchPrefix } from "../disk/scratch-file.ts";
import { refusal } from "../guard/guard.ts";
import { countMatchingFiles, type Found, type GrepTask, grep as search } from "../search/grep.ts";
import { compileGlobs, type Globs } from "../search/grep-globs.ts";
import type { Searched } from "../search/grep-arguments.ts";
import { leftOutText } from "../search/left-out.ts";
import type { WalkFolder } from "../disk/walk.ts";
import type { Again } from "../search/grep-collector.ts";
import { folderAgain } from "./folder-again.ts";
import { below } from "./grep-lines.ts";
import { atPath } from "./workspace-walk.ts";
import { extraMs } from "./extra-time.ts";
import { escapeGlob, isNameOfFile } from "./glob-start.ts";
import { ignoringByUs, ignoringOf, type Ignoring, linesOf } from "./grep-ignoring.ts";
import { unsearched } from "./grep-unsearched.ts";
import type { Located } from "./locate.ts";
import { isQuick, searched as wasSearched } from "./search-pace.ts";
import type { Bench } from "./tool.ts";

interface How {
  readonly timeMsMax: number;
  readonly onProgress: ((files: number) => void) | undefined;
}

export interface FolderSearch {
  readonly target: Target;
  /** Once, before anything else. */
  search(how: How): Promise<FolderFound>;
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
  const globs = request.glob === undefined ? undefined : globsOf(request.glob, target, bench);
  const hides = guard.hidesBeneath(target.absolute === target.real ? [target.real] : [target.absolute, target.real]);
  const isChosen = (path: string): boolean => globs?.matches(path) ?? true;
  const hidden = guard.hiddenPatterns(target.real === target.root ? "root" : "within");
  const never = scratchFile(leftOutText([...hidden.lines, `**/${scratchPrefix}*`]));
  const leftOut = never === undefined ? [] : [never.path];
  const run = { ...runOf(bench), cwd: found.held.handlePath };
  const again = lookedUpAgain(target, bench);
  const task: Omit<GrepTask, "searched" | "isWanted"> = {
    query: request,
    isHidden: (path) => hides(path) !== undefined || !again.isThere(path, "anything"),
    again,
    entriesMax: request.skip + request.entriesMax,
    mtimeOf: request.mode === "files" && request.order === "newest" ? (path) => again.changedNs(path) : undefined,
    onProgress: undefined,
    run,
  };
  const searchedIn = (ignored: FolderSearched["ignored"]): FolderSearched => ({
    in: "folder",
    names: globs?.names,
    leftOut,
    ignored,
  });
  let tookMs = 0;
  let linksCounted: Tally["counted"] = "at least";

  /** `wrong`: ripgrep has read ignore files that it should not have. */
  const searchOnce = async (ignoring: Ignoring, { timeMsMax, onProgress }: How): Promise<FolderFound | "wrong"> => {
    const survey = ignoring.by === "us" ? ignoring.survey : undefined;
    const fits = (path: string): boolean => isChosen(path) && survey?.isIgnored(path) !== true;
    const ignoredFolders = survey && scratchFile(leftOutText(linesOf(survey.folders)));
    // Of its own, and let go afterwards: a signal made of several stays known to a long-lived one.
    const stopping = new AbortController();
    const onAbort = (): void => stopping.abort(bench.signal.reason);
    bench.signal.addEventListener("abort", onAbort, { once: true });
    try {
      bench.signal.throwIfAborted();
      const common = searchedIn(ignoring.by === "us" ? "searched" : ignoring.reads);
      const searched: FolderSearched = {
        ...common,
        leftOut: ignoredFolders === undefined ? leftOut : [...leftOut, ignoredFolders.path],
        threads: isQuick(disk, target.real) ? 1 : undefined,
      };
      const startedMs = performance.now();
      const timed = { ...run, timeMsMax };
      const isWanted = (path: string): boolean => fits(path) && hides(path) === undefined;
      let [isOver, isWrong] = [false, false];
      const searching = search({ ...task, searched, isWanted, onProgress, run: { ...timed, signal: stopping.signal } })
        .then((places) => {
          isOver = places.found !== "places" || places.ended === "time";
          return places;
        })
        .finally(() => {
          tookMs = performance.now() - startedMs;
        });
      const passing = {
        request,
        located,
        hidden,
        fits,
        hides,
        ignoring,
        searched: { ...searched, leftOut: [] },
        run: timed,
        isThere: (path: string) => again.isThere(path, "file"),
        onWrong: () => {
          isWrong = true;
          stopping.abort();
        },
        isOver: () => isOver,
      };
      // Both use the folder that is held, so neither may be left running.
      const [ended, passed] = await Promise.allSettled([searching, unsearched(passing, bench)]);
      bench.signal.throwIfAborted();
      if (isWrong) return "wrong";
      const places = placesOf(valueOf(ended), target);
      const { withheld, links, entries } = valueOf(passed);
      wasSearched(disk, target.real, tookMs, entries);
      linksCounted = links.counted;
      return { places, withheld, links };
    } finally {
      bench.signal.removeEventListener("abort", onAbort);
      ignoredFolders?.remove();
    }
  };

  return {
    target,
    async search(how) {
      const ignoring = await ignoringOf(located, bench);
      const once = await searchOnce(ignoring, how);
      if (once !== "wrong") return once;
      const again = await searchOnce(await ignoringByUs(located, ignoring.above, bench), how);
      if (again === "wrong") throw new Error("what ripgrep does not read cannot lead it astray");
      return again;
    },
    countIgnored: () =>
      countMatchingFiles({
        ...task,
        isWanted: (path) => isChosen(path) && hides(path) === undefined,
        // How much is ignored is not known, so it is looked for with all threads.
        searched: searchedIn("searched"),
        run: { ...run, timeMsMax: extraMs(tookMs, linksCounted) },
      }),
    close: () => {
      again.letGo();
      never?.remove();
    },
  };
}

/** Folders that are held at once: files of one folder mostly come one after the other, and folders beside each other too. */
const foldersHeldMax = 16;
/** Deeper than this a folder is looked up from the root, not through each folder above it. */
const namesHeldMax = 8;
/**
 * A look at one name costs as much as a dozen names of a list. So after this many looks into a folder it is listed if it has
 * at most so many entries for each of them, and again after eight times as many looks: the lists never cost much more than
 * the looks did, however large the folder is.
 */
const looksBeforeList = 4;
const entriesPerLook = 32;

interface HeldAgain {
  readonly folder: WalkFolder;
  looks: number;
  listAt: number;
  files: ReadonlySet<string> | undefined;
}

interface AgainAnything extends Again {
  isThere(path: string, what: "file" | "folder" | "anything"): boolean;
  /** When a file was last changed; undefined if it is not there. */
  changedNs(path: string): bigint | undefined;
}

/** Whether what ripgrep reports is there beneath the roots, by names and without links. */
function lookedUpAgain(target: Target, bench: Bench): AgainAnything {
  const { real } = target;
  /** The one that was used last comes last. */
  const held = new Map<string, HeldAgain | undefined>();
  const letGo = (): void => {
    for (const one of held.values()) one?.folder.close();
    held.clear();
  };
  const onRefused = (errno: string): void => {
    // Nothing can be looked up: to call that "not there" would be an answer that is not true.
    if (errno === "EMFILE" || errno === "ENFILE") throw refusal(target, errno, "looking up what ripgrep found");
  };
  const opened = (path: string): WalkFolder | undefined => {
    const isNear = path !== "" && path.split("/", namesHeldMax + 1).length <= namesHeldMax;
    const above = isNear ? folderOf(folderAbove(path)) : undefined;
    if (isNear && above === undefined) return undefined;
    if (above?.folder.isHeld !== true) return folderAgain(below(real, path), bench, onRefused);
    const entered = above.folder.enter(path.slice(path.lastIndexOf("/") + 1));
    if (!("errno" in entered)) return entered;
    onRefused(entered.errno);
    return undefined;
  };
  const folderOf = (path: string): HeldAgain | undefined => {
    let one = held.get(path);
    if (one === undefined && !held.has(path)) {
      const folder = opened(path);
      one = folder && { folder, looks: 0, listAt: looksBeforeList, files: undefined };
      for (const [oldest, last] of held) {
        if (held.size < foldersHeldMax) break;
        last?.folder.close();
        held.delete(oldest);
      }
    }
    held.delete(path);
    held.set(path, one);
    return one;
  };
  return {
    letGo,
    changedNs: (path) => folderOf(folderAbove(path))?.folder.changedNs(path.slice(path.lastIndexOf("/") + 1)),
    isThere(path, what) {
      if (what === "folder") return folderOf(path) !== undefined;
      const one = folderOf(folderAbove(path));
      if (one === undefined) return false;
      const name = path.slice(path.lastIndexOf("/") + 1);
      one.looks += 1;
      if (one.looks > one.listAt && one.files === undefined) {
        one.files = one.folder.fileNames(one.listAt * entriesPerLook);
        one.listAt *= 8;
      }
      if (one.files?.has(name) === true && !name.includes("\ufffd")) return true;
      const glance = one.folder.glance(name);
      // On a file system that may hang, by another lookup.
      if (glance instanceof Promise) return atPath(below(real, path), bench, () => true) === true;
      return glance !== undefined && (what === "anything" || glance.kind === "file");
    },
  };
}

const folderAbove = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));

type FolderSearched = Extract<Searched, { readonly in: "folder" }>;

export const faulty = (fault: SearchFault): Problem => new Problem({ code: "INVALID_PARAM", reason: "search", fault });

function globsOf(text: string, target: Target, bench: Bench): Globs {
  const globs = compileGlobs(text, target.absolute);
  if ("matches" in globs) return globs;
  // As in Glob, what is no pattern may be the name of a file.
  const literal = isNameOfFile(text, target, bench) ? compileGlobs(`./${escapeGlob(text)}`, target.absolute) : globs;
  if ("fault" in literal) throw faulty({ of: "glob", ...globs });
  return literal;
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
      throw refusal(target, found.errno, "starting ripgrep");
    case "killed":
      throw new Problem({
        code: "IO_ERROR",
        place: target,
        errno: found.signal,
        during: "searching: ripgrep was killed",
      });
  }
}
