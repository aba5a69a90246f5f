/**
 * Walks a tree for files whose paths match a glob. Ignore files apply first, then the pattern; files that match but are
 * ignored or hidden are counted. Symlinks are not followed, and memory does not grow with the tree.
 */

import { setImmediate } from "node:timers/promises";
import { timeSlices, type TimeSlices, type WalkEntry, type WalkFolder } from "../disk/disk.ts";
import { compareCodePoints, type GlobState } from "../text/text.ts";
import { composed } from "./grep-globs.ts";
import { type Ignored, ignoredIn, ignoredInNamed, isIgnored } from "./ignored.ts";

export interface FilesSearch {
  /** Folder names from the top of the workspace down to the start of the walk. */
  readonly above: readonly string[];
  /** From ignore files above the start. */
  readonly ignored: Ignored;
  readonly state: GlobState;
  /**
   * `hides`: rules forbid naming this path (below the start). `shows`: it may appear although the pattern does not name
   * it outright. Files that rules hide are counted in every folder of the walk, whether they match the pattern or not.
   */
  hides(path: string, is: "file" | "folder"): boolean;
  shows(path: string): boolean;
  /** Whether rules hide the target of this symlink. Then the symlink is hidden too. */
  hidesEnd(path: string): boolean;
  /** Receives a matching file; `folder` stays open until it answers. False if it turns out to be no file. */
  take(path: string, name: string, folder: WalkFolder): boolean | Promise<boolean>;
  /** Called now and then with the number of entries so far. Throws to end the walk. */
  onTurn(entries: number): "more" | "enough";
}

export interface FilesTally {
  matched: number;
  /** Files that match but are left out; folders that are left out are not opened, so files in them are not counted. */
  ignored: number;
  hidden: number;
  withheld: number;
  withheldFolders: number;
  /** Folders that could not be listed. */
  unreadable: number;
  /** Folders that could not be opened because their names are not UTF-8. */
  unnamed: number;
  /** Folders whose own path matches. */
  folders: number;
  entries: number;
  ended: "all" | "enough";
  /** Error code if the start itself could not be listed. */
  refused: string | undefined;
  /** Folders that were not opened and may contain matches. */
  readonly pruned: Pruned[];
  /** `pruned` is full and more were left out. */
  prunedMore: boolean;
}

interface Pruned {
  readonly why: "ignored" | "hidden";
  /** Real path, as the walk found it. */
  readonly real: string;
  readonly path: string;
  readonly state: GlobState;
}

/** Entries between two yields to the event loop. */
const entriesPerYield = 4_096;
/** Time between two yields: on a slow disk, or with costly patterns and rules, 4,096 entries take too long. */
const yieldEveryMsMax = 20;
/** Entries between two looks at the clock. */
const entriesPerClockCheck = 4;
/** Bounds memory: `countPruned` counts up to a limit of entries anyway. */
const prunedMax = 10_000;

interface PendingFolder {
  readonly name: string;
  readonly state: GlobState;
  readonly named: boolean;
}

interface Frame {
  readonly folder: WalkFolder;
  /** Below the start, with a trailing slash; empty for the start. */
  readonly path: string;
  readonly ignored: Ignored;
  readonly todo: PendingFolder[];
}

/** Yields to the event loop, also in the middle of a folder. */
interface Yields {
  isDue(): boolean;
  /** Sets `tally.ended` if the walk shall stop. */
  take(): Promise<void>;
}

interface Walk {
  readonly above: readonly string[];
  readonly search: FilesSearch;
  readonly tally: FilesTally;
  readonly yields: Yields;
}

export async function walkFiles(start: WalkFolder, search: FilesSearch): Promise<FilesTally> {
  const tally: FilesTally = {
    matched: 0,
    ignored: 0,
    hidden: 0,
    withheld: 0,
    withheldFolders: 0,
    unreadable: 0,
    unnamed: 0,
    folders: 0,
    entries: 0,
    ended: "all",
    refused: undefined,
    pruned: [],
    prunedMore: false,
  };
  const above = [...search.above];
  const stack: Frame[] = [];
  let yieldAtEntries = entriesPerYield;
  let yieldAtMs = performance.now() + yieldEveryMsMax;
  const yields: Yields = {
    isDue: () => performance.now() >= yieldAtMs,
    async take() {
      await setImmediate();
      if (tally.entries >= entriesPerYield) await start.hurry();
      // Always at the next multiple: a yield that came early because of the time must not delay the next one.
      yieldAtEntries = tally.entries - (tally.entries % entriesPerYield) + entriesPerYield;
      yieldAtMs = performance.now() + yieldEveryMsMax;
      if (search.onTurn(tally.entries) === "enough") tally.ended = "enough";
    },
  };
  try {
    const top = { state: search.state, named: true };
    stack.push(await openFrame(start, "", search.ignored, top, { above, search, tally, yields }));
    for (let frame = stack.at(-1); frame !== undefined && tally.ended === "all"; frame = stack.at(-1)) {
      const below = frame.todo.pop();
      if (below === undefined) {
        if (stack.length > 1) {
          frame.folder.close();
          above.pop();
        }
        stack.pop();
        continue;
      }
      const folder = frame.folder.enter(below.name);
      if ("errno" in folder) {
        // A folder that vanished is not unreadable. A name that is not UTF-8 is decoded with U+FFFD and cannot be opened.
        if (folder.errno !== "ENOENT") tally.unreadable += 1;
        else if (below.name.includes("\ufffd")) tally.unnamed += 1;
        continue;
      }
      above.push(below.name);
      const path = `${frame.path}${below.name}/`;
      try {
        const opened = openFrame(folder, path, frame.ignored, below, { above, search, tally, yields });
        stack.push(opened instanceof Promise ? await opened : opened);
      } catch (error) {
        folder.close();
        throw error;
      }
      folder.leave();
      if (tally.entries >= yieldAtEntries || yields.isDue()) await yields.take();
    }
    return tally;
  } finally {
    for (const { folder } of stack.slice(1).toReversed()) folder.close();
  }
}

/** Judges the entries of one folder. Returns a promise only if it has to wait for something. */
function openFrame(
  folder: WalkFolder,
  path: string,
  outer: Ignored,
  at: Pick<PendingFolder, "state" | "named">,
  { above, search, tally, yields }: Walk,
): Frame | Promise<Frame> {
  const listed = folder.entries();
  if (listed instanceof Promise) return listed.then((entries) => withEntries(entries));
  return withEntries(listed);

  function withEntries(entries: Awaited<typeof listed>): Frame | Promise<Frame> {
    if ("errno" in entries) {
      if (path === "") tally.refused = entries.errno;
      else if (entries.errno !== "ENOENT") tally.unreadable += 1;
      return { folder, path, ignored: outer, todo: [] };
    }
    tally.entries += entries.length;
    if (path === "") {
      return ignoredInNamed(folder, entries, above, outer).then(({ ignored }) => judgeEntries(entries, ignored));
    }
    const ignored = ignoredIn(folder, entries, above.length, outer);
    return ignored instanceof Promise
      ? ignored.then((all) => judgeEntries(entries, all))
      : judgeEntries(entries, ignored);
  }

  function judgeEntries(entries: readonly WalkEntry[], ignored: Ignored): Frame | Promise<Frame> {
    const frame: Frame = { folder, path, ignored, todo: [] };
    const waiting: Promise<boolean>[] = [];
    const next = (from: number): Frame | Promise<Frame> => {
      for (let index = from; index < entries.length && tally.ended === "all"; index += 1) {
        if (index > from && index % entriesPerClockCheck === 0 && yields.isDue())
          return yields.take().then(() => next(index));
        const entry = entries[index];
        if (entry === undefined) break;
        if (entry.isDirectory()) judgeFolder(entry, frame, at, above, search, tally);
        else {
          const taken = judgeFile(entry, frame, at, above, search, tally);
          if (taken instanceof Promise) waiting.push(taken);
          else if (taken) tally.matched += 1;
        }
      }
      if (waiting.length === 0) return frame;
      return Promise.all(waiting).then((all) => {
        tally.matched += all.filter(Boolean).length;
        return frame;
      });
    };
    return next(0);
  }
}

function judgeFolder(
  { name: given }: WalkEntry,
  { todo, path, folder, ignored }: Frame,
  { state, named }: Pick<PendingFolder, "state" | "named">,
  above: readonly string[],
  search: FilesSearch,
  tally: FilesTally,
): void {
  // Before the pattern is tested: a count that depends on the pattern would reveal the names, letter by letter.
  if (search.hides(`${path}${given}`, "folder")) {
    tally.withheldFolders += 1;
    return;
  }
  const name = composed(given);
  const wanted = named && state.names(name);
  // Files in `.git` are no files of the project, unless the pattern names the folder.
  if (name === ".git" && !wanted) return;
  const next = state.enter(name, "visible");
  const matches = state.accepts(name, "visible");
  const prune = (why: Pruned["why"]): void => {
    const all = next ?? state.enter(name, "all");
    if (all === undefined) return;
    if (tally.pruned.length >= prunedMax) tally.prunedMore = true;
    else tally.pruned.push({ why, real: `${folder.real}/${given}`, path: `${path}${given}`, state: all });
  };
  if (next === undefined && !matches) {
    if (name.charCodeAt(0) === 46) prune("hidden");
    return;
  }
  // A folder that the pattern names outright is searched although it is ignored.
  const leftOut = !wanted && isIgnored(ignored, above, given, "folder");
  if (leftOut) return prune("ignored");
  if (matches) tally.folders += 1;
  if (next !== undefined) todo.push({ name: given, state: next, named: wanted });
  // The folder itself matches, but the pattern has no dot for hidden entries below it.
  else if (name.charCodeAt(0) === 46) prune("hidden");
}

function judgeFile(
  entry: WalkEntry,
  { path, folder, ignored }: Frame,
  { state, named }: Pick<PendingFolder, "state" | "named">,
  above: readonly string[],
  search: FilesSearch,
  tally: FilesTally,
): boolean | Promise<boolean> {
  const below = `${path}${entry.name}`;
  if (search.hides(below, "file")) {
    tally.withheld += 1;
    return false;
  }
  const name = composed(entry.name);
  const visible = state.accepts(name, "visible");
  if (!visible && (name.charCodeAt(0) !== 46 || !state.accepts(name, "all"))) return false;
  const wanted = named && state.names(name);
  const why = wanted
    ? undefined
    : isIgnored(ignored, above, entry.name, "file")
      ? "ignored"
      : search.shows(below)
        ? undefined
        : "withheld";
  const leftOut = why ?? (visible ? undefined : "hidden");
  if (leftOut === undefined) return search.take(below, entry.name, folder);
  // Rules hide this symlink's target, so no count may reveal that its name matches.
  if (!(entry.isSymbolicLink() && search.hidesEnd(below))) tally[leftOut] += 1;
  return false;
}

// Counts matching files below the folders that a walk did not open, up to a number of entries.

export interface PrunedCount {
  ignored: number;
  hidden: number;
  /** False if the limit was reached. */
  complete: boolean;
}

export interface PrunedOptions {
  readonly entriesMax: number;
  /** Opens the folder again; undefined if another one has taken its place. The caller closes it. */
  open(real: string): WalkFolder | undefined;
  hides(path: string, is: "file" | "folder"): boolean;
  /** Whether rules hide the target of this symlink. */
  hidesEnd(path: string): boolean;
  readonly signal: AbortSignal;
}

interface Left {
  readonly entries: number;
}

export async function countPruned(tally: FilesTally, options: PrunedOptions): Promise<PrunedCount> {
  const count: PrunedCount = { ignored: 0, hidden: 0, complete: !tally.prunedMore };
  let left: Left = { entries: options.entriesMax };
  const slices = timeSlices(options.signal);
  for (const pruned of tally.pruned) {
    if (left.entries <= 0) {
      count.complete = false;
      break;
    }
    if (options.hides(pruned.path, "folder")) continue;
    using folder = options.open(pruned.real);
    if (folder === undefined) continue;
    left = await countIn(folder, pruned.path, pruned.state, pruned.why, left, count, options, slices);
  }
  return count;
}

async function countIn(
  folder: WalkFolder,
  path: string,
  state: GlobState,
  why: Pruned["why"],
  before: Left,
  count: PrunedCount,
  options: PrunedOptions,
  slices: TimeSlices,
): Promise<Left> {
  const entries = await folder.entries();
  if ("errno" in entries) return before;
  let left: Left = { entries: before.entries - entries.length };
  for (const entry of entries) {
    if (slices.isOver()) await slices.next();
    if (entry.isDirectory() || !state.accepts(entry.name.normalize(), "all")) continue;
    // Denied files are not counted: a count by pattern would reveal their names, letter by letter.
    const below = `${path}/${entry.name}`;
    if (!options.hides(below, "file") && !(entry.isSymbolicLink() && options.hidesEnd(below))) count[why] += 1;
  }
  folder.leave();
  for (const entry of entries) {
    if (slices.isOver()) await slices.next();
    const { name } = entry;
    const below = entry.isDirectory() && name !== ".git" ? state.enter(name.normalize(), "all") : undefined;
    if (below === undefined || options.hides(`${path}/${name}`, "folder")) continue;
    if (left.entries <= 0) {
      count.complete = false;
      return left;
    }
    const entered = folder.enter(name);
    if ("errno" in entered) continue;
    using next = entered;
    left = await countIn(next, `${path}/${name}`, below, why, left, count, options, slices);
  }
  return left;
}

// Keeps the newest of any number of files in bounded memory: newest first, then by path.

export interface Dated {
  readonly path: string;
  /** Undefined if the file was gone or its time could not be read; such files come last. */
  readonly mtimeMs: number | undefined;
}

export interface Newest<File extends Dated> {
  /** `make` is called only for files that may be among the newest. */
  offer(mtimeMs: number | undefined, make: () => File): void;
  list(): readonly File[];
}

export function newest<File extends Dated>(filesMax: number): Newest<File> {
  let kept: File[] = [];
  let oldestMs = Number.NEGATIVE_INFINITY;
  const sortAndTrim = (): void => {
    kept.sort((a, b) => ageOf(b.mtimeMs) - ageOf(a.mtimeMs) || compareCodePoints(a.path, b.path));
    if (kept.length > filesMax) kept = kept.slice(0, filesMax);
    const last = kept.at(-1);
    if (kept.length === filesMax && last !== undefined) oldestMs = ageOf(last.mtimeMs);
  };
  return {
    offer: (mtimeMs, make) => {
      if (ageOf(mtimeMs) < oldestMs) return;
      kept.push(make());
      // Sorting once per `filesMax` offers costs less than keeping the list sorted.
      if (kept.length >= 2 * filesMax + 64) sortAndTrim();
    },
    list: () => {
      sortAndTrim();
      return kept;
    },
  };
}

/** Finite, so that two values can be subtracted. */
const ageOf = (mtimeMs: number | undefined): number => mtimeMs ?? -Number.MAX_SAFE_INTEGER;
