/** Walks a tree for a glob. Ignored and hidden matches are counted, and symlinks are not followed. */

import { setImmediate } from "node:timers/promises";
import { timeSlices, type WalkEntry, type WalkFolder } from "../disk/disk.ts";
import { compareCodePoints, composed, FirstOnes, type GlobState } from "../text/text.ts";
import { type Ignored, ignoredIn, ignoredInNamed, isIgnored, nothingIgnored } from "./ignored.ts";

export interface FilesSearch {
  /** Folder names from the top of the workspace down to the start of the walk. */
  readonly above: readonly string[];
  readonly ignored: Ignored;
  readonly state: GlobState;
  /** `hides`: rules forbid naming this path; it is counted. `shows`: the pattern need not name it outright. */
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
  hiddenByRules: number;
  foldersHiddenByRules: number;
  unreadable: number;
  /** Folders that could not be opened because their names are not UTF-8. */
  unnamed: number;
  folders: number;
  entries: number;
  ended: "all" | "enough";
  refused: string | undefined;
  readonly pruned: Pruned[];
  prunedMore: boolean;
}

interface Pruned {
  readonly why: "ignored" | "hidden";
  readonly real: string;
  readonly path: string;
  readonly state: GlobState;
}

const entriesPerYield = 4_096;
/** Time between two yields: on a slow disk, or with costly patterns and rules, 4,096 entries take too long. */
const yieldEveryMsMax = 20;
const entriesPerClockCheck = 4;
/** Bounds memory: `countPruned` counts up to a limit of entries anyway. */
const prunedMax = 10_000;

interface PendingFolder {
  readonly name: string;
  readonly state: GlobState;
  readonly named: boolean;
}

/** An open folder of a walk, with the folders below that are still to be opened, the last one first. */
export interface Frame<Below> {
  readonly folder: WalkFolder;
  /** Below the start, with a trailing slash; empty for the start. */
  readonly path: string;
  readonly ignored: Ignored;
  readonly todo: Below[];
}

interface FolderWalk<Below> {
  /** The names on the way to the folder that is opened; the walk adds and removes them. */
  readonly above: string[];
  /** Lists a folder. `outer` and `below` are undefined for the start. */
  open(
    folder: WalkFolder,
    path: string,
    outer: Frame<Below> | undefined,
    below: Below | undefined,
  ): Promise<Frame<Below>>;
  goesOn(frame: Frame<Below>): boolean;
  /** Called for a folder that cannot be entered. */
  refused?(errno: string, name: string): void;
  turn(): Promise<void> | undefined;
}

const foldersOpenAbove = 16;

/** Depth first, with all folders on the way open, or the nearest ones in a deep tree. The caller keeps `start` open. */
export async function walkFolders<Below extends { readonly name: string }>(
  start: WalkFolder,
  walk: FolderWalk<Below>,
): Promise<void> {
  const stack: Frame<Below>[] = [];
  try {
    stack.push(await walk.open(start, "", undefined, undefined));
    for (let frame = stack.at(-1); frame !== undefined && walk.goesOn(frame); frame = stack.at(-1)) {
      const below = frame.todo.pop();
      if (below === undefined) {
        if (stack.length > 1) {
          frame.folder.close();
          walk.above.pop();
        }
        stack.pop();
        continue;
      }
      const folder = frame.folder.enter(below.name);
      if ("errno" in folder) {
        walk.refused?.(folder.errno, below.name);
        continue;
      }
      walk.above.push(below.name);
      try {
        stack.push(await walk.open(folder, `${frame.path}${below.name}/`, frame, below));
      } catch (error) {
        folder.close();
        throw error;
      }
      // Some folders above stay open even in a deep tree: entering the next one from its parent takes one call, a lookup as many
      // as the folder is deep.
      stack.at(-1 - foldersOpenAbove)?.folder.leave();
      await walk.turn();
    }
  } finally {
    for (const { folder } of stack.slice(1).toReversed()) folder.close();
  }
}

type FilesFrame = Frame<PendingFolder>;

interface Walk {
  readonly above: readonly string[];
  readonly search: FilesSearch;
  readonly tally: FilesTally;
}

export async function walkFiles(start: WalkFolder, search: FilesSearch): Promise<FilesTally> {
  const tally: FilesTally = {
    matched: 0,
    ignored: 0,
    hidden: 0,
    hiddenByRules: 0,
    foldersHiddenByRules: 0,
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
  const walk: Walk = { above, search, tally };
  let yieldAtEntries = entriesPerYield;
  let yieldAtMs = performance.now() + yieldEveryMsMax;
  const isYieldDue = (): boolean => performance.now() >= yieldAtMs;
  /** Sets `tally.ended` if the walk shall stop. */
  const yieldToEventLoop = async (): Promise<void> => {
    await setImmediate();
    if (tally.entries >= entriesPerYield) await start.hurry();
    // Always at the next multiple: a yield that came early because of the time must not delay the next one.
    yieldAtEntries = tally.entries - (tally.entries % entriesPerYield) + entriesPerYield;
    yieldAtMs = performance.now() + yieldEveryMsMax;
    if (search.onTurn(tally.entries) === "enough") tally.ended = "enough";
  };
  const top: PendingFolder = { name: "", state: search.state, named: true };
  await walkFolders<PendingFolder>(start, {
    above,
    async open(folder, path, outer, below = top) {
      const frame: FilesFrame = { folder, path, ignored: outer?.ignored ?? search.ignored, todo: [] };
      const entries = await folder.entries();
      if ("errno" in entries) {
        if (path === "") tally.refused = entries.errno;
        else if (entries.errno !== "ENOENT") tally.unreadable += 1;
        return frame;
      }
      tally.entries += entries.length;
      const ignored =
        path === ""
          ? (await ignoredInNamed(folder, entries, above, frame.ignored)).ignored
          : await ignoredIn(folder, entries, above.length, frame.ignored);
      const judged: FilesFrame = { ...frame, ignored };
      const waiting: Promise<boolean>[] = [];
      for (const [index, entry] of entries.entries()) {
        if (index > 0 && index % entriesPerClockCheck === 0 && isYieldDue()) await yieldToEventLoop();
        if (tally.ended !== "all") break;
        if (entry.isDirectory()) judgeFolder(entry, judged, below, walk);
        else {
          const taken = judgeFile(entry, judged, below, walk);
          if (taken instanceof Promise) waiting.push(taken);
          else if (taken) tally.matched += 1;
        }
      }
      tally.matched += (await Promise.all(waiting)).filter(Boolean).length;
      return judged;
    },
    goesOn: () => tally.ended === "all",
    refused(errno, name) {
      // A folder that vanished is not unreadable. A name that is not UTF-8 is decoded with U+FFFD and cannot be opened.
      if (errno !== "ENOENT") tally.unreadable += 1;
      else if (name.includes("\ufffd")) tally.unnamed += 1;
    },
    turn: () => (tally.entries >= yieldAtEntries || isYieldDue() ? yieldToEventLoop() : undefined),
  });
  return tally;
}

function judgeFolder(
  { name: given }: WalkEntry,
  { todo, path, folder, ignored }: FilesFrame,
  { state, named }: PendingFolder,
  { above, search, tally }: Walk,
): void {
  // Before the pattern is tested: a count that depends on the pattern would reveal the names, letter by letter.
  if (search.hides(`${path}${given}`, "folder")) {
    tally.foldersHiddenByRules += 1;
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
  { path, folder, ignored }: FilesFrame,
  { state, named }: PendingFolder,
  { above, search, tally }: Walk,
): boolean | Promise<boolean> {
  const below = `${path}${entry.name}`;
  if (search.hides(below, "file")) {
    tally.hiddenByRules += 1;
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
        : "hiddenByRules";
  const leftOut = why ?? (visible ? undefined : "hidden");
  if (leftOut === undefined) return search.take(below, entry.name, folder);
  // Rules hide this symlink's target, so no count may reveal that its name matches.
  if (!(entry.isSymbolicLink() && search.hidesEnd(below))) tally[leftOut] += 1;
  return false;
}

// Counts matching files below the folders that a walk did not open, up to a number of entries.

export interface PrunedOptions extends Pick<FilesSearch, "hides" | "hidesEnd"> {
  readonly entriesMax: number;
  /** Opens the folder again; undefined if another one has taken its place. The caller closes it. */
  readonly open: (real: string) => WalkFolder | undefined;
  readonly signal: AbortSignal;
}

/** `complete`: false if the limit was reached. */
export async function countPruned(tally: FilesTally, { entriesMax, open, hides, hidesEnd, signal }: PrunedOptions) {
  const count = { ignored: 0, hidden: 0, complete: !tally.prunedMore };
  let entriesLeft = entriesMax;
  const slices = timeSlices(signal);
  for (const top of tally.pruned) {
    if (entriesLeft <= 0) return { ...count, complete: false };
    if (hides(top.path, "folder")) continue;
    using start = open(top.real);
    if (start === undefined) continue;
    await walkFolders<Omit<PendingFolder, "named">>(start, {
      above: [],
      async open(folder, path, _outer, { state } = { name: "", state: top.state }) {
        const frame: Frame<Omit<PendingFolder, "named">> = { folder, path, ignored: nothingIgnored, todo: [] };
        const entries = await folder.entries();
        if ("errno" in entries) return frame;
        entriesLeft -= entries.length;
        for (const entry of entries) {
          if (slices.isOver()) await slices.next();
          const { name } = entry;
          const below = `${top.path}/${path}${name}`;
          if (entry.isDirectory()) {
            const next = name === ".git" ? undefined : state.enter(name.normalize(), "all");
            if (next !== undefined && !hides(below, "folder")) frame.todo.push({ name, state: next });
            continue;
          }
          // Denied files are not counted: a count by pattern would reveal their names, letter by letter.
          if (!state.accepts(name.normalize(), "all") || hides(below, "file")) continue;
          if (!(entry.isSymbolicLink() && hidesEnd(below))) count[top.why] += 1;
        }
        frame.todo.reverse();
        return frame;
      },
      goesOn({ todo }) {
        if (todo.length > 0 && entriesLeft <= 0) count.complete = false;
        return todo.length === 0 || entriesLeft > 0;
      },
      turn: () => undefined,
    });
  }
  return count;
}

/** Finite, so that two values can be subtracted. Files that were gone, or whose time could not be read, come last. */
const ageOf = (mtimeMs: number | undefined): number => mtimeMs ?? -Number.MAX_SAFE_INTEGER;

/** The newest of any number of files in bounded memory: newest first, then by path. */
export const newestFiles = <File extends { readonly absolute: string; readonly mtimeMs: number | undefined }>(
  filesMax: number,
): FirstOnes<File> =>
  new FirstOnes(
    filesMax,
    (a, b) => ageOf(b.mtimeMs) - ageOf(a.mtimeMs) || compareCodePoints(a.absolute, b.absolute),
    () => 1,
  );
