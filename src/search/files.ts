/**
 * Walks a tree for files whose paths match a glob. Ignore files hold first, then the pattern; what is ignored or hidden and
 * would match is counted. Links are not followed, and memory does not grow with the tree.
 */

import { setImmediate } from "node:timers/promises";
import { timeSlices, type TimeSlices, type WalkEntry, type WalkFolder } from "../disk/disk.ts";
import { compareCodePoints, type GlobState } from "../text/text.ts";
import { type Ignored, ignoredIn, ignoredInNamed, isIgnored } from "./ignored.ts";

export interface FilesSearch {
  /** The names of the folders from the top of the workspace down to where the walk starts. */
  readonly above: readonly string[];
  /** By ignore files above where the walk starts. */
  readonly ignored: Ignored;
  readonly state: GlobState;
  /**
   * May this path, below the start, be named at all; and to those who have not named it themselves? What is hidden is
   * counted in every folder that is gone through, whether it fits the pattern or not.
   */
  hides(path: string, is: "file" | "folder"): boolean;
  shows(path: string): boolean;
  /** May what a link leads to not be named? Then neither is the link. */
  hidesEnd(path: string): boolean;
  /** Takes a file that matches. `folder` is open until the answer. False if it is none after all. */
  take(path: string, name: string, folder: WalkFolder): boolean | Promise<boolean>;
  /** Told now and then how many entries were looked at. Throws to end the walk. */
  onTurn(entries: number): "more" | "enough";
}

export interface FilesTally {
  /** Files that matched and were taken. */
  matched: number;
  /** Files that match but are left out, as far as they were met without opening what is left out. */
  ignored: number;
  hidden: number;
  withheld: number;
  withheldFolders: number;
  /** Folders that could not be listed. */
  unreadable: number;
  /** Folders that could not be opened because their names are not UTF-8. */
  unnamed: number;
  /** Folders that match by themselves. */
  folders: number;
  entries: number;
  ended: "all" | "enough";
  /** Why the start itself could not be listed. */
  refused: string | undefined;
  /** Folders that were not opened, and below which more may match. */
  readonly pruned: Pruned[];
  /** There were more of them than are remembered. */
  prunedMore: boolean;
}

interface Pruned {
  readonly why: "ignored" | "hidden";
  /** As the walk found it. */
  readonly real: string;
  readonly path: string;
  readonly state: GlobState;
}

/** Other calls get their turn after so many entries or so long: on a slow disk, or where patterns and rules are intricate. */
const entriesPerTurn = 4_096;
const turnMsMax = 20;
/** Entries of a folder after which the time is looked at. */
const entriesPerLook = 4;
const prunedMax = 10_000;

interface Below {
  readonly name: string;
  readonly state: GlobState;
  readonly named: boolean;
}

interface Frame {
  readonly folder: WalkFolder;
  /** The path below the start, with its slash; empty for the start. */
  readonly path: string;
  readonly ignored: Ignored;
  readonly todo: Below[];
}

/** Turns of the event loop, in the middle of a folder too. */
interface Turns {
  isDue(): boolean;
  /** `tally.ended` says afterwards whether the walk goes on. */
  take(): Promise<void>;
}

interface Walk {
  readonly above: readonly string[];
  readonly search: FilesSearch;
  readonly tally: FilesTally;
  readonly turns: Turns;
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
  let turnAt = entriesPerTurn;
  let turnMs = performance.now() + turnMsMax;
  const turns: Turns = {
    isDue: () => performance.now() >= turnMs,
    async take() {
      await setImmediate();
      if (tally.entries >= entriesPerTurn) await start.hurry();
      // At the multiples, whenever the last turn was: a turn that came early for its time must not put off the next.
      turnAt = tally.entries - (tally.entries % entriesPerTurn) + entriesPerTurn;
      turnMs = performance.now() + turnMsMax;
      if (search.onTurn(tally.entries) === "enough") tally.ended = "enough";
    },
  };
  try {
    const top = { state: search.state, named: true };
    stack.push(await openFrame(start, "", search.ignored, top, { above, search, tally, turns }));
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
        // What vanished meanwhile is not unreadable. A name that is not UTF-8 was not decoded whole, so it leads nowhere.
        if (folder.errno !== "ENOENT") tally.unreadable += 1;
        else if (below.name.includes("\ufffd")) tally.unnamed += 1;
        continue;
      }
      above.push(below.name);
      const path = `${frame.path}${below.name}/`;
      try {
        const opened = openFrame(folder, path, frame.ignored, below, { above, search, tally, turns });
        stack.push(opened instanceof Promise ? await opened : opened);
      } catch (error) {
        folder.close();
        throw error;
      }
      folder.leave();
      if (tally.entries >= turnAt || turns.isDue()) await turns.take();
    }
    return tally;
  } finally {
    for (const { folder } of stack.slice(1).toReversed()) folder.close();
  }
}

/** Goes through the entries of one folder. A promise is made only where something has to be waited for. */
function openFrame(
  folder: WalkFolder,
  path: string,
  outer: Ignored,
  at: Pick<Below, "state" | "named">,
  { above, search, tally, turns }: Walk,
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
      return ignoredInNamed(folder, entries, above, outer).then(({ ignored }) => judge(entries, ignored));
    }
    const ignored = ignoredIn(folder, entries, above.length, outer);
    return ignored instanceof Promise ? ignored.then((all) => judge(entries, all)) : judge(entries, ignored);
  }

  function judge(entries: readonly WalkEntry[], ignored: Ignored): Frame | Promise<Frame> {
    const frame: Frame = { folder, path, ignored, todo: [] };
    const waiting: Promise<boolean>[] = [];
    const next = (from: number): Frame | Promise<Frame> => {
      for (let index = from; index < entries.length && tally.ended === "all"; index += 1) {
        if (index > from && index % entriesPerLook === 0 && turns.isDue()) return turns.take().then(() => next(index));
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
  { state, named }: Pick<Below, "state" | "named">,
  above: readonly string[],
  search: FilesSearch,
  tally: FilesTally,
): void {
  // Before the pattern is asked: a number that depends on it would betray the names, one letter after the other.
  if (search.hides(`${path}${given}`, "folder")) {
    tally.withheldFolders += 1;
    return;
  }
  const name = composed(given);
  const wanted = named && state.names(name);
  // What git keeps there are no files of the project. Who names it gets it.
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
  // What the pattern names outright is not left out.
  const leftOut = !wanted && isIgnored(ignored, above, given, "folder");
  if (leftOut) return prune("ignored");
  if (matches) tally.folders += 1;
  if (next !== undefined) todo.push({ name: given, state: next, named: wanted });
  // It matches by itself, and no dot is written for what lies below it.
  else if (name.charCodeAt(0) === 46) prune("hidden");
}

function judgeFile(
  entry: WalkEntry,
  { path, folder, ignored }: Frame,
  { state, named }: Pick<Below, "state" | "named">,
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
  // Nobody may see this link, so no number may say that its name matches.
  if (!(entry.isSymbolicLink() && search.hidesEnd(below))) tally[leftOut] += 1;
  return false;
}

/** Names of other systems may come decomposed; patterns are composed. */
// oxlint-disable-next-line no-control-regex
const composed = (name: string): string => (/[^\0-\x7f]/.test(name) ? name.normalize("NFC") : name);

// Counts files that match below folders which a search did not open, up to a number of entries.

export interface PrunedCount {
  ignored: number;
  hidden: number;
  /** False if there was more to look at. */
  complete: boolean;
}

export interface PrunedWays {
  readonly entriesMax: number;
  /** Finds a folder again; undefined if it is another one by now. The caller closes it. */
  open(real: string): WalkFolder | undefined;
  hides(path: string, is: "file" | "folder"): boolean;
  /** May what a link leads to not be named? */
  hidesEnd(path: string): boolean;
  readonly signal: AbortSignal;
}

interface Left {
  readonly entries: number;
}

export async function countPruned(tally: FilesTally, ways: PrunedWays): Promise<PrunedCount> {
  const count: PrunedCount = { ignored: 0, hidden: 0, complete: !tally.prunedMore };
  let left: Left = { entries: ways.entriesMax };
  const slices = timeSlices(ways.signal);
  for (const pruned of tally.pruned) {
    if (left.entries <= 0) {
      count.complete = false;
      break;
    }
    if (ways.hides(pruned.path, "folder")) continue;
    using folder = ways.open(pruned.real);
    if (folder === undefined) continue;
    left = await countIn(folder, pruned.path, pruned.state, pruned.why, left, count, ways, slices);
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
  ways: PrunedWays,
  slices: TimeSlices,
): Promise<Left> {
  const entries = await folder.entries();
  if ("errno" in entries) return before;
  let left: Left = { entries: before.entries - entries.length };
  for (const entry of entries) {
    if (slices.isOver()) await slices.next();
    if (entry.isDirectory() || !state.accepts(entry.name.normalize(), "all")) continue;
    // A number that counted denied files by the pattern would betray their names, one letter after the other.
    const below = `${path}/${entry.name}`;
    if (!ways.hides(below, "file") && !(entry.isSymbolicLink() && ways.hidesEnd(below))) count[why] += 1;
  }
  folder.leave();
  for (const entry of entries) {
    if (slices.isOver()) await slices.next();
    const { name } = entry;
    const below = entry.isDirectory() && name !== ".git" ? state.enter(name.normalize(), "all") : undefined;
    if (below === undefined || ways.hides(`${path}/${name}`, "folder")) continue;
    if (left.entries <= 0) {
      count.complete = false;
      return left;
    }
    const entered = folder.enter(name);
    if ("errno" in entered) continue;
    using next = entered;
    left = await countIn(next, `${path}/${name}`, below, why, left, count, ways, slices);
  }
  return left;
}

// The newest of any number of files, in memory for a few: newest first, the same age by path.

export interface Dated {
  readonly path: string;
  /** Undefined if it was gone, or could not be looked at, when its time was asked for: those come last. */
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
  const cut = (): void => {
    kept.sort((a, b) => ageOf(b.mtimeMs) - ageOf(a.mtimeMs) || compareCodePoints(a.path, b.path));
    if (kept.length > filesMax) kept = kept.slice(0, filesMax);
    const last = kept.at(-1);
    if (kept.length === filesMax && last !== undefined) oldestMs = ageOf(last.mtimeMs);
  };
  return {
    offer: (mtimeMs, make) => {
      if (ageOf(mtimeMs) < oldestMs) return;
      kept.push(make());
      // Sorting once for as many as are kept costs less than keeping the order all the time.
      if (kept.length >= 2 * filesMax + 64) cut();
    },
    list: () => {
      cut();
      return kept;
    },
  };
}

/** Finite, so that two of them can be subtracted. */
const ageOf = (mtimeMs: number | undefined): number => mtimeMs ?? -Number.MAX_SAFE_INTEGER;
