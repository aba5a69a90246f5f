/** The search of one folder with ripgrep, while the handle of the folder is open. */

import * as nodePath from "node:path";
import {
  existAbove,
  type Disk,
  FileTruncated,
  ReadFailed,
  withHandleClosed,
  scratchFile,
  scratchPrefix,
  type WalkFolder,
} from "../../disk/disk.ts";
import { contains } from "../../contract/common.ts";
import type { GrepFile, GrepLine, GrepOutcome, GrepRequest, SearchFault, Tally } from "../../contract/grep.ts";
import { limits } from "../../contract/limits.ts";
import { Problem } from "../../contract/problem.ts";
import type { Target } from "../../contract/target.ts";
import { type Hidden, refusal } from "../../guard/guard.ts";
import { linesAt } from "../../kinds/kinds.ts";
import {
  type PathRecheck,
  compileGlobs,
  countFiles,
  countMatchingFiles,
  findHidden,
  type GrepResult,
  type FoundFile,
  type FoundLine,
  type Globs,
  grep as search,
  type GrepTask,
  type Ignored,
  ignoredInNamed,
  leftOutText,
  type NamedIgnored,
  versionControlFolders,
  type ReadByRipgrep,
  type Searched,
  type Survey,
  surveyIgnored,
  type IgnoreDifference,
} from "../../search/search.ts";
import { merged, type ShownText } from "../../session/session.ts";
import { escapeGlob, isNameOfFile } from "../glob/start.ts";
import { folderAgain, ignoredAbove, type IgnoredAbove } from "../ignored-at.ts";
import type { Located } from "../locate.ts";
import { isHashed, statKeyOf, fingerprintOf } from "../fingerprint.ts";
import type { ToolContext } from "../tool.ts";
import { atPath } from "../workspace-walk.ts";

interface Unsearched extends Pick<GrepOutcome, "hiddenByRules" | "links"> {
  /** The number of names that are not ignored, if all were seen. */
  readonly entries: number | undefined;
}

interface SearchOptions {
  readonly timeMsMax: number;
  readonly onProgress: ((files: number) => void) | undefined;
}

export interface FolderFound extends Pick<GrepOutcome, "hiddenByRules" | "links"> {
  readonly places: Places;
}

export type FolderSearch = ReturnType<typeof folderSearch>;

/** The caller disposes the result. Its `search` MUST be called once, before anything else. */
export function folderSearch(request: GrepRequest, located: Located, context: ToolContext) {
  const { target, node } = located;
  const { disk, guard } = context;
  const globs = request.glob === undefined ? undefined : globsOf(request.glob, target, context);
  const folderNames = target.absolute === target.real ? [target.real] : [target.absolute, target.real];
  const hides = guard.hidesBeneath(folderNames);
  const isChosen = (path: string): boolean => globs?.matches(path) ?? true;
  const hidden = guard.hiddenPatterns(target.real === target.root ? "root" : "within");
  const never = scratchFile(leftOutText([...hidden.lines, `**/${scratchPrefix}*`]));
  const leftOut = never === undefined ? [] : [never.path];
  const run = { ...runOf(context), cwd: node.handle.handlePath };
  const again = lookedUpAgain(target, context);
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
  const searchOnce = async (
    ignoring: Ignoring,
    { timeMsMax, onProgress }: SearchOptions,
  ): Promise<FolderFound | "wrong"> => {
    const survey = ignoring.by === "us" ? ignoring.survey : undefined;
    const fits = (path: string): boolean => isChosen(path) && survey?.isIgnored(path) !== true;
    const ignoredFolders = survey && scratchFile(leftOutText(linesOf(survey.folders)));
    // Not AbortSignal.any(): its result stays registered with a long-lived signal.
    const stopping = new AbortController();
    const onAbort = (): void => stopping.abort(context.signal.reason);
    context.signal.addEventListener("abort", onAbort, { once: true });
    try {
      context.signal.throwIfAborted();
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
      const onWrong = (): void => {
        isWrong = true;
        stopping.abort();
      };
      const unsearched = findUnsearched(ignoring, fits, { ...searched, leftOut: [] }, timed, onWrong, () => isOver);
      // Both use the open folder, so neither may be left running.
      const [ended, passed] = await Promise.allSettled([searching, unsearched]);
      context.signal.throwIfAborted();
      if (isWrong) return "wrong";
      const places = placesOf(valueOf(ended), target);
      const { hiddenByRules, links, entries } = valueOf(passed);
      wasSearched(disk, target.real, tookMs, entries);
      linksCounted = links.counted;
      return { places, hiddenByRules, links };
    } finally {
      context.signal.removeEventListener("abort", onAbort);
      ignoredFolders?.remove();
    }
  };

  return {
    target,
    async search(options: SearchOptions): Promise<FolderFound> {
      const ignoring = await ignoringOf(located, context);
      const once = await searchOnce(ignoring, options);
      if (once !== "wrong") return once;
      const second = await searchOnce(await ignoringByUs(located, ignoring.above, context), options);
      if (second === "wrong") throw new Error("what ripgrep does not read cannot lead it astray");
      return second;
    },
    /** Counts ignored files that match. */
    countIgnored: (): Promise<Tally> =>
      countMatchingFiles({
        ...task,
        isWanted: (path) => isChosen(path) && hides(path) === undefined,
        // With all threads, since any number of files may be ignored.
        searched: searchedIn("searched"),
        run: { ...run, timeMsMax: extraMs(tookMs, linksCounted) },
      }),
    [Symbol.dispose]: (): void => {
      again.release();
      never?.remove();
    },
  };

  /**
   * Counts what the search skips without opening it: files that rules hide, whatever they contain, and symlinks. Runs while
   * ripgrep searches, and by names alone: a second ripgrep would take as long as a small search itself. `fits`: the call
   * chooses this path. `onWrong`: ripgrep reads ignore files in another way than our reader, so its results must not be used.
   * `isOver`: the search has ended without complete results, so they need no check.
   */
  async function findUnsearched(
    ignoring: Ignoring,
    fits: (path: string) => boolean,
    searched: FolderSearched,
    timed: GrepTask["run"],
    onWrong: () => void,
    isOver: () => boolean,
  ): Promise<Unsearched> {
    const mayBe = folderNames.some(hidden.mayBeHidden) ? () => true : byNames(hidden.mayBeHidden);
    // Denied files count whether the call chooses them or not: with a count that depends on globs or types, the caller could
    // guess their names letter by letter. The names of files that need a question are not secret.
    const hiddenAs = (path: string): Hidden | undefined => {
      const as = mayBe(path) ? hides(path) : undefined;
      return as === "asks" && !fits(path) ? undefined : as;
    };
    const canHide = hidden.lines.length > 0 || hidden.cover === "some";
    const byRipgrep = (as: Hidden, within: GrepTask["run"]): Promise<Tally> =>
      countFiles(
        as === "asks" ? request.types : [],
        { ...searched, names: undefined },
        (path) => hiddenAs(path) === as && again.isThere(path, "file"),
        limits.searchListedMax,
        within,
      );
    const brief = { ...timed, timeMsMax: limits.searchExtraMsMax };
    // The file system may hang: only ripgrep, a child process, can be stopped then.
    if (node.handle.reads === "later") {
      const hiddenByRules = canHide
        ? tallied([await byRipgrep("denied", brief), await byRipgrep("asks", brief)])
        : none;
      return { hiddenByRules, links: { number: 0, counted: "at least" }, entries: undefined };
    }
    const seen = await findHidden(disk.walk(node), {
      above: namesTo(located),
      ignored: ignoring.above,
      isWrong: (what) => ignoring.by === "ripgrep" && ignoring.isWrong(what),
      isLeftOut: (name) => versionControlFolders.includes(name),
      hiddenAs,
      isMissed: (path) => hides(path) === undefined && isMissed(path, fits),
      isOver: () => ignoring.by === "us" || isOver(),
      entriesMax: limits.searchListedMax,
      signal: context.signal,
    });
    if (seen.wrong) onWrong();
    const counted = seen.complete ? "all" : "at least";
    const links: Tally = { number: seen.links, counted };
    const entries = seen.complete ? seen.entries : undefined;
    // No rule hides anything here, so "at least 0 hidden" would be noise.
    if (!canHide && seen.denied + seen.asks === 0) return { hiddenByRules: none, links, entries };
    // Only ripgrep knows which names a type covers. It gets all the time if the folder is small.
    const ofTypes = request.types.length > 0 && seen.asks > 0;
    const asks: Tally = ofTypes
      ? await byRipgrep("asks", seen.complete ? timed : brief)
      : { number: seen.asks, counted };
    return { hiddenByRules: tallied([{ number: seen.denied, counted }, asks]), links, entries };
  }

  /**
   * Does this symlink lead to a file that the search does not cover? A target inside the folder is searched under its own
   * name. A target outside the roots always counts, so that the count does not show whether it exists.
   */
  function isMissed(path: string, fits: (path: string) => boolean): boolean {
    const lookup = withHandleClosed(disk.lookup(below(target.real, path)));
    if (lookup.seen === "outside") return true;
    if (lookup.seen !== "node") return false;
    // A link to a denied file is not counted: the count would help to guess its name.
    if (guard.denied("read", [lookup.real], lookup.kind === "directory" ? "folder" : "file") !== undefined)
      return false;
    // A linked folder counts whatever the glob is: files in it may match.
    return (
      !contains(target.real, lookup.real) && (lookup.kind === "directory" || (lookup.kind === "file" && fits(path)))
    );
  }
}

/** Folders open at once. Few are enough: ripgrep mostly reports the files of a folder, and sibling folders, together. */
const foldersOpenMax = 16;
/** Deeper folders are looked up from the root, not through each folder above them, which would fill the cache. */
const namesKeptMax = 8;
/**
 * A stat of one name costs as much as a dozen names of a listing. So after this many stats in a folder it is listed, if it has at
 * most so many entries per stat; if it has more, listing is tried again after eight times as many stats. So listings never cost
 * much more than the stats did, however large the folder is.
 */
const looksBeforeList = 4;
const entriesPerLook = 32;

interface Reopened {
  readonly folder: WalkFolder;
  looks: number;
  listAt: number;
  files: ReadonlySet<string> | undefined;
}

interface AgainAnything extends PathRecheck {
  isThere(path: string, what: "file" | "folder" | "anything"): boolean;
  /** The mtime of a file; undefined if it does not exist. */
  changedNs(path: string): bigint | undefined;
}

/** Checks that a path that ripgrep reports exists beneath the roots, without following symlinks. */
function lookedUpAgain(target: Target, context: ToolContext): AgainAnything {
  const { real } = target;
  /** The most recently used folder is last. */
  const reopened = new Map<string, Reopened | undefined>();
  const release = (): void => {
    for (const one of reopened.values()) one?.folder.close();
    reopened.clear();
  };
  const onRefused = (errno: string): void => {
    // No file can be looked up now, so "does not exist" would be false.
    if (errno === "EMFILE" || errno === "ENFILE") throw refusal(target, errno, "looking up what ripgrep found");
  };
  const opened = (path: string): WalkFolder | undefined => {
    const isNear = path !== "" && path.split("/", namesKeptMax + 1).length <= namesKeptMax;
    const above = isNear ? folderOf(folderAbove(path)) : undefined;
    if (isNear && above === undefined) return undefined;
    if (above?.folder.hasHandle !== true) return folderAgain(below(real, path), context, onRefused);
    const entered = above.folder.enter(lastName(path));
    if (!("errno" in entered)) return entered;
    onRefused(entered.errno);
    return undefined;
  };
  const folderOf = (path: string): Reopened | undefined => {
    let one = reopened.get(path);
    if (one === undefined && !reopened.has(path)) {
      const folder = opened(path);
      one = folder && { folder, looks: 0, listAt: looksBeforeList, files: undefined };
      for (const [oldest, last] of reopened) {
        if (reopened.size < foldersOpenMax) break;
        last?.folder.close();
        reopened.delete(oldest);
      }
    }
    reopened.delete(path);
    reopened.set(path, one);
    return one;
  };
  return {
    release,
    changedNs: (path) => folderOf(folderAbove(path))?.folder.changedNs(lastName(path)),
    isThere(path, what) {
      if (what === "folder") return folderOf(path) !== undefined;
      const one = folderOf(folderAbove(path));
      if (one === undefined) return false;
      const name = lastName(path);
      one.looks += 1;
      if (one.looks > one.listAt && one.files === undefined) {
        one.files = one.folder.fileNames(one.listAt * entriesPerLook);
        one.listAt *= 8;
      }
      if (one.files?.has(name) === true && !name.includes("\ufffd")) return true;
      const glance = one.folder.glance(name);
      // On a file system that may hang `glance` is asynchronous, so a lookup answers instead.
      if (glance instanceof Promise) return atPath(below(real, path), context, () => true) === true;
      return glance !== undefined && (what === "anything" || glance.kind === "file");
    },
  };
}

const lastName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
const folderAbove = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));

type FolderSearched = Extract<Searched, { readonly in: "folder" }>;

export const faulty = (fault: SearchFault): Problem => new Problem({ code: "INVALID_PARAM", reason: "search", fault });

function globsOf(text: string, target: Target, context: ToolContext): Globs {
  const globs = compileGlobs(text, target.absolute);
  if ("matches" in globs) return globs;
  // As in Glob, an invalid pattern may be the name of a file.
  const literal = isNameOfFile(text, target, context) ? compileGlobs(`./${escapeGlob(text)}`, target.absolute) : globs;
  if ("fault" in literal) throw faulty({ of: "glob", ...globs });
  return literal;
}

function valueOf<Value>(settled: PromiseSettledResult<Value>): Value {
  if (settled.status === "rejected") throw settled.reason;
  return settled.value;
}

export const runOf = ({ signal, searchMsMax, disk }: ToolContext): Omit<GrepTask["run"], "cwd"> => ({
  signal,
  timeMsMax: searchMsMax,
  notBeneath: disk.roots.flatMap(({ given, real }) => [given, real]),
});

export type Places = Extract<GrepResult, { readonly found: "places" }>;

export function placesOf(node: GrepResult, target: Target): Places {
  switch (node.found) {
    case "places":
      return node;
    case "fault":
      throw faulty(node.fault);
    case "nothing to run":
      throw new Problem({ code: "NO_RIPGREP", install: "@vscode/ripgrep" });
    case "not started":
      throw refusal(target, node.errno, "starting ripgrep");
    case "killed":
      throw new Problem({
        code: "IO_ERROR",
        place: target,
        errno: node.signal,
        during: "searching: ripgrep was killed",
      });
  }
}

/** The entries of a search that an answer shows: files, and in mode `content` their lines. */
interface Shown {
  readonly files: readonly GrepFile[];
  /** How many entries of the search these are, including those that could not be shown. */
  readonly entries: number;
  readonly unshown: number;
  /** The limit that was reached, if there are more. */
  readonly stopped: "entries" | "bytes";
  /** By absolute path: the state of the file that the lines are from. */
  readonly states: ReadonlyMap<string, FileState>;
}

interface FileState {
  readonly real: string;
  readonly statKey: string;
}

/** A file, and the folder in which it was found. */
export interface FoundIn {
  readonly file: FoundFile;
  readonly target: Target;
}

export async function showEntries(
  request: GrepRequest,
  found: readonly FoundIn[],
  context: ToolContext,
): Promise<Shown> {
  const { mode, skip, entriesMax } = request;
  if (mode !== "content") {
    const wanted = found.slice(skip, skip + entriesMax);
    // If a folder was swapped for a symlink while ripgrep was in it, the names are from outside the roots.
    const there = wanted.filter(
      ({ file, target }) => atPath(below(target.real, file.path), context, () => true) === true,
    );
    const files = there.map(({ file: { path, count }, target }) => ({
      absolute: below(target.absolute, path),
      lines: [],
      count,
    }));
    const states = new Map<string, FileState>();
    return { files, entries: wanted.length, unshown: wanted.length - there.length, stopped: "entries", states };
  }
  const files: GrepFile[] = [];
  const states = new Map<string, FileState>();
  let toSkip = skip;
  let entries = 0;
  let unshown = 0;
  let chars = 0;
  for (const { file, target } of found) {
    const wanted = file.lines.slice(toSkip, toSkip + entriesMax - entries);
    toSkip = Math.max(0, toSkip - file.lines.length);
    if (wanted.length === 0) continue;
    context.signal.throwIfAborted();
    let isFull = false;
    const { lines: kept, state } = await linesShown(file, wanted, request, target, context, (line) => {
      chars += (line?.text.length ?? 0) + linePrefixChars;
      isFull ||= chars > limits.searchCharsMax && entries > 0;
      if (isFull) return false;
      entries += 1;
      if (line === undefined) unshown += 1;
      return true;
    });
    const [absolute, real] = [below(target.absolute, file.path), below(target.real, file.path)];
    if (kept.length > 0) files.push({ absolute, real, lines: kept, count: 0 });
    if (state !== undefined) states.set(absolute, state);
    if (isFull) return { files, entries, unshown, stopped: "bytes", states };
    if (entries >= entriesMax) break;
  }
  return { files, entries, unshown, stopped: "entries", states };
}

/** Roughly the characters of a path and a line number. */
const linePrefixChars = 40;

/** `path` is empty if the call names a file. */
const below = (folder: string, path: string): string =>
  path === "" ? folder : folder.endsWith(nodePath.sep) ? folder + path : `${folder}${nodePath.sep}${path}`;

/** The lines of a file that the answer has room for, and the state of the file that they are from. */
async function linesShown(
  found: FoundFile,
  places: readonly FoundLine[],
  { lineCharsMax }: GrepRequest,
  target: Target,
  context: ToolContext,
  fits: (line: GrepLine | undefined) => boolean,
): Promise<{ readonly lines: readonly GrepLine[]; readonly state: FileState | undefined }> {
  const path = below(target.real, found.path);
  const opened = atPath(path, context, (there) => context.disk.open(there));
  using file = opened === undefined || "errno" in opened ? undefined : opened;
  const texts = file === undefined ? [] : await orIfUnreadable([], () => linesAt(file, places, lineCharsMax));
  const kept: GrepLine[] = [];
  for (const [index, { line, column }] of places.entries()) {
    const text = texts[index];
    const shown = text && ({ line, is: column > 0 ? "match" : "context", ...text } as const);
    if (!fits(shown)) break;
    if (shown !== undefined) kept.push(shown);
  }
  const isSure = file !== undefined && (await orIfUnreadable(false, () => file.changed() === "no"));
  return { lines: kept, state: isSure ? { real: path, statKey: statKeyOf(file.identity) } : undefined };
}

async function orIfUnreadable<Value>(otherwise: Value, work: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ReadFailed || error instanceof FileTruncated) return otherwise;
    throw error;
  }
}

/** Records in the ledger the lines that the answer shows whole. MUST be called with the files of the answer as it is sent. */
export async function noteShown(
  files: readonly GrepFile[],
  states: ReadonlyMap<string, FileState>,
  context: ToolContext,
): Promise<void> {
  const { ledger } = context;
  for (const { absolute, lines } of files) {
    const state = states.get(absolute);
    const whole = lines.filter(({ cutBefore, cutBehind }) => !cutBefore && !cutBehind);
    if (state === undefined || whole.length === 0) continue;
    const { real, statKey } = state;
    const views = merged(whole.map(({ line }) => ({ from: line, to: line })));
    if (views.every((view) => ledger.knows(real, statKey, view))) continue;
    const opened = atPath(real, context, (there) => context.disk.open(there));
    if (opened === undefined || "errno" in opened) continue;
    using file = opened;
    if (statKeyOf(file.identity) !== statKey) continue;
    // The session knows a large file in another state. Lines without a hash would replace that knowledge, which may still hold.
    if (!isHashed(file) && ledger.has(real) && !ledger.isOf(real, statKey)) continue;
    const sight = {
      views: views.map((span) => ({ ...span, hash: undefined })),
      cut: [],
      linesTotal: undefined,
      texts: isHashed(file) ? textsOf(whole) : [],
    };
    // A file that cannot be read to its end has no known state.
    await orIfUnreadable(undefined, () => ledger.saw(real, fingerprintOf(file, statKey), sight));
  }
}

/** The text of lines that follow each other, in parts; `lines` are sorted. */
function textsOf(lines: readonly GrepLine[]): readonly ShownText[] {
  const parts: { readonly from: number; readonly lines: string[] }[] = [];
  for (const { line, text } of lines) {
    const last = parts.at(-1);
    if (last !== undefined && line === last.from + last.lines.length) last.lines.push(text);
    else parts.push({ from: line, lines: [text] });
  }
  return parts.map((part) => ({ from: part.from, text: part.lines.join("\n") }));
}

/**
 * Who reads the ignore files of the folder. ripgrep does, because it is fast, wherever its result is the same as that of our own
 * reader, which Glob uses. ripgrep does not know where the workspace ends, which ignore files are symlinks, or that the call
 * names an ignored folder: there our reader runs before the search, and ripgrep is given the folders to skip.
 */
type Ignoring = {
  /** What ignore files above the folder ignore. */
  readonly above: Ignored;
} & (
  | {
      readonly by: "ripgrep";
      readonly reads: ReadByRipgrep;
      /** Would ripgrep ignore the wrong files if this is deeper in the folder? */
      readonly isWrong: (what: IgnoreDifference) => boolean;
    }
  | { readonly by: "us"; readonly survey: Survey }
);

async function ignoringOf(located: Located, context: ToolContext): Promise<Ignoring> {
  const { target, node } = located;
  // The file system may hang: only ripgrep, a child process, can be stopped then.
  if (node.handle.reads === "later") {
    const reads = { parents: true, repository: false, exclude: true };
    return { by: "ripgrep", above: { levels: [] }, reads, isWrong: () => false };
  }
  const above = await ignoredAbove(target, context);
  const folder = context.disk.walk(node);
  const entries = await folder.entries();
  // If the folder cannot be listed, ripgrep reports the error.
  const listed = "errno" in entries ? [] : entries;
  let links = above.links;
  const named = await ignoredInNamed(folder, listed, namesTo(located), above.ignored, (what) => {
    if (what === "link") links = true;
  });
  const isRepository = listed.some(({ name }) => name === ".git");
  const parents = named.hold === "all" && above.ignored.levels.length > 0;
  if (links || named.hold === "none" || (parents && isMoreAbove(above, isRepository))) {
    return await ignoringByUs(located, above.ignored, context, named);
  }
  const reads: ReadByRipgrep = {
    parents,
    repository: isRepository || (parents && above.inRepository),
    exclude: named.ignored.levels.some(({ kind }) => kind === "exclude"),
  };
  const wrong: Readonly<Record<IgnoreDifference, boolean>> = {
    link: true,
    border: !reads.repository,
    exclude: !reads.exclude,
    elsewhere: reads.exclude,
  };
  return { by: "ripgrep", above: above.ignored, reads, isWrong: (what) => wrong[what] };
}

/** Would ripgrep find ignore files further up that do not apply? Those of Git end at a repository. */
const isMoreAbove = ({ from, inRepository }: IgnoredAbove, isRepository: boolean): boolean =>
  existAbove(from, [".ignore", ".rgignore", ...(inRepository || isRepository ? [] : [".gitignore", ".git"])]);

/** ripgrep gets at most so many folders to skip, as it compiles each to a pattern; results from other ignored folders are dropped. */
const foldersMax = 1_000;

async function ignoringByUs(
  located: Located,
  above: Ignored,
  context: ToolContext,
  known?: NamedIgnored,
): Promise<Ignoring> {
  const folder = context.disk.walk(located.node);
  const names = namesTo(located);
  const entries = known === undefined ? await folder.entries() : [];
  if ("errno" in entries) {
    throw new Problem({ code: "IO_ERROR", place: located.target, errno: entries.errno, during: "listing it" });
  }
  const { ignored } = known ?? (await ignoredInNamed(folder, entries, names, above));
  const untilMs = performance.now() + context.searchMsMax;
  const survey = await surveyIgnored(folder, {
    above: names,
    ignored,
    isLeftOut: (name) => versionControlFolders.includes(name),
    foldersMax,
    onTurn: () => {
      context.signal.throwIfAborted();
      return performance.now() > untilMs ? "enough" : "more";
    },
  });
  return { by: "us", above, survey };
}

/** Lines of an ignore file that skip exactly these folders, without names that cannot be written in one line. */
const linesOf = (folders: readonly string[]): readonly string[] =>
  folders.filter((path) => !/[\n\r\ufffd]/.test(path)).map((path) => `/${path.replace(/[\\*?[\]{}!#]/g, "\\$&")}/`);

const namesTo = ({ target: { realRelative } }: Located): readonly string[] =>
  realRelative === "" ? [] : realRelative.split("/");

export const none: Tally = { number: 0, counted: "all" };

export const tallied = (tallies: readonly Tally[]): Tally => ({
  number: tallies.reduce((sum, { number }) => sum + number, 0),
  counted: tallies.every(({ counted }) => counted === "all") ? "all" : "at least",
});

/** Tests folder and name separately, and caches the folder: files of one folder come together. */
function byNames(mayBeHidden: (text: string) => boolean): (path: string) => boolean {
  let last = "";
  let lastMayBe = mayBeHidden(last);
  return (path) => {
    const cut = path.lastIndexOf("/") + 1;
    const folder = path.slice(0, cut);
    if (folder !== last) {
      last = folder;
      lastMayBe = mayBeHidden(folder);
    }
    return lastMayBe || mayBeHidden(path.slice(cut));
  };
}

// Whether ripgrep searches a folder with one thread or several. Starting threads takes longer than searching a small folder, so
// where the last search was quick, the next one uses one thread. This only affects speed, not results.

/** A slower search is worth several threads, even if only a busy machine made it slow. */
const quickMsMax = 50;
/** A larger folder gets several threads however quick the last search was: another pattern may take long. */
const quickEntriesMax = 1_000;
/** Folders to remember, the latest ones, for hosts that search very many. */
const paceFoldersMax = 100;

/** By disk, because every toolkit has its own: the memory is freed with it. */
const quickIn = new WeakMap<Disk, Set<string>>();

/** `folder` is a real path. */
export const isQuick = (disk: Disk, folder: string): boolean => quickIn.get(disk)?.has(folder) ?? false;

/** `entries`: how many names the folder has, if all were seen. */
export function wasSearched(disk: Disk, folder: string, tookMs: number, entries: number | undefined): void {
  const quick = quickIn.get(disk) ?? new Set();
  quickIn.set(disk, quick);
  quick.delete(folder);
  if (tookMs > quickMsMax || entries === undefined || entries > quickEntriesMax) return;
  quick.add(folder);
  const [oldest] = quick;
  if (quick.size > paceFoldersMax && oldest !== undefined) quick.delete(oldest);
}

/**
 * How long a search that found nothing may go on to count matches in ignored files. The extra time must not be felt: a long
 * search gets a tenth on top. If every entry of the folder was listed meanwhile, the folder is small and only the machine was
 * slow, above all in starting ripgrep: then it gets as much again, so that the answer does not depend on the machine.
 */
export function extraMs(tookMs: number, listed: Tally["counted"]): number {
  if (listed === "all") return Math.max(limits.searchExtraMsMax, Math.ceil(tookMs));
  return tookMs < limits.searchQuickMsMax ? limits.searchExtraMsMax : Math.ceil(tookMs / 10);
}
