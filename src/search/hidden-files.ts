/**
 * Counts files that rules hide and symlinks while ripgrep searches the same tree: ripgrep skips both silently. Only the
 * first entries are counted, so a big search costs little more; after those, the walk only looks for ignore files that
 * ripgrep would apply wrongly.
 */

import { setImmediate } from "node:timers/promises";
import { timeSlices, type WalkFolder } from "../disk/disk.ts";
import { type FilesSearch, type Frame, walkFolders } from "./files.ts";
import { type Ignored, ignoredIn, ignoredInNamed, isIgnored, type IgnoreDifference } from "./ignored.ts";

export interface HiddenSearch extends Pick<FilesSearch, "above" | "ignored"> {
  /** Is a folder of this name never searched? */
  isLeftOut(name: string): boolean;
  /** Whether rules hide the file. Paths are below the start, with forward slashes. */
  hiddenAs(path: string): "denied" | "asks" | undefined;
  /** Whether this symlink leads to something that the search would miss. */
  isMissed(path: string): boolean;
  /** Whether this difference makes ripgrep's result wrong. Then the walk ends. */
  isWrong(what: IgnoreDifference): boolean;
  /** True once the result of the walk can no longer matter. */
  isOver(): boolean;
  readonly entriesMax: number;
  readonly signal: AbortSignal;
}

/** The reader of ripgrep's output must get the event loop at least this often. */
const yieldEveryMsMax = 10;

type HiddenFrame = Frame<{ readonly name: string }>;

/** The caller keeps `start` open. `wrong`: ripgrep misapplies ignore files here. `complete`: not stopped early. */
export async function findHidden(start: WalkFolder, search: HiddenSearch) {
  // Lets the ripgrep process start first.
  await setImmediate();
  const found = { denied: 0, asks: 0, links: 0, wrong: false, entries: 0, complete: true };
  const report = (what: IgnoreDifference): void => {
    found.wrong ||= search.isWrong(what);
  };
  const above = [...search.above];
  let entriesLeft = search.entriesMax;
  let listedInAll = 0;
  let yieldAtMs = performance.now() + yieldEveryMsMax;
  const yieldToEventLoop = async (): Promise<void> => {
    await setImmediate();
    search.signal.throwIfAborted();
    if (listedInAll > search.entriesMax) await start.hurry();
    yieldAtMs = performance.now() + yieldEveryMsMax;
  };
  const open = async (folder: WalkFolder, path: string, outer: Ignored): Promise<HiddenFrame> => {
    const entries = await folder.entries();
    if ("errno" in entries) return { folder, path, ignored: outer, todo: [] };
    const ignored =
      path === ""
        ? (await ignoredInNamed(folder, entries, above, outer, report)).ignored
        : await ignoredIn(folder, entries, above.length, outer, report);
    const isSeen = (name: string, is: "file" | "folder"): boolean => !isIgnored(ignored, above, name, is);
    const looked = Math.min(entries.length, entriesLeft);
    if (looked < entries.length) found.complete = false;
    entriesLeft -= looked;
    found.entries += looked;
    listedInAll += entries.length;
    const todo: { readonly name: string }[] = [];
    for (const [at, entry] of entries.entries()) {
      if (performance.now() >= yieldAtMs) await yieldToEventLoop();
      const { name } = entry;
      if (entry.isDirectory()) {
        if (!search.isLeftOut(name) && isSeen(name, "folder")) todo.push(entry);
      } else if (at >= looked) continue;
      else if (entry.isFile()) {
        // The rules answer faster than the ignore files.
        const hidden = search.hiddenAs(path + name);
        if (hidden !== undefined && isSeen(name, "file")) found[hidden] += 1;
      } else if (entry.isSymbolicLink() && isSeen(name, "file") && search.isMissed(path + name)) found.links += 1;
    }
    return { folder, path, ignored, todo };
  };
  await walkFolders(start, {
    above,
    open: (folder, path, outer) => open(folder, path, outer?.ignored ?? search.ignored),
    goesOn: ({ todo }) => {
      search.signal.throwIfAborted();
      if (todo.length === 0) return true;
      if (entriesLeft <= 0) found.complete = false;
      return !found.wrong && (entriesLeft > 0 || !search.isOver());
    },
    turn: () => (performance.now() >= yieldAtMs ? yieldToEventLoop() : undefined),
  });
  return found;
}

// The exclusions for ripgrep, as an ignore file that it reads quickly: ripgrep compiles each line separately, so
// consecutive lines are merged where the merged line means the same.

/** Lines in gitignore syntax; the last matching one decides. ripgrep expands braces in them, Git does not. */
export function leftOutText(lines: readonly string[]): string {
  const merged: string[] = [];
  let names: string[] = [];
  let negated = false;
  const flush = (): void => {
    if (names.length > 0)
      merged.push(`${negated ? "!" : ""}**/${names.length > 1 ? `{${names.join(",")}}` : names[0]}`);
    names = [];
  };
  for (const line of lines) {
    if (line === "") continue;
    const [, not = "", name] = /^(!?)\*\*\/([^/{},\\\s]+)$/.exec(line) ?? [];
    if (name === undefined || (not === "!") !== negated) flush();
    negated = not === "!";
    if (name === undefined) merged.push(line);
    else names.push(name);
  }
  flush();
  return merged.map((line) => `${line}\n`).join("");
}

// Collects what all ignore files of a tree say before it is searched, for a ripgrep run with `--no-ignore`. It walks
// everything that is not ignored, so it is only used for the few trees where ripgrep would apply ignore files wrongly.

export interface Surveying extends Pick<HiddenSearch, "above" | "ignored" | "isLeftOut"> {
  readonly foldersMax: number;
  onTurn(): "more" | "enough";
}

export interface Survey {
  /** Ignored folders, by path below the start. The list is cut off at `foldersMax`; `isIgnored` covers the others. */
  readonly folders: readonly string[];
  /** `path`: a file below the start, with forward slashes. */
  isIgnored(path: string): boolean;
}

export async function surveyIgnored(start: WalkFolder, search: Surveying): Promise<Survey> {
  /** The folders with ignore files of their own. */
  const changes = new Map<string, Ignored>();
  const folders: string[] = [];
  const above = [...search.above];
  const slices = timeSlices();
  let isEnough = false;
  const yieldToEventLoop = async (): Promise<void> => {
    await slices.next();
    isEnough = search.onTurn() === "enough";
  };
  const open = async (folder: WalkFolder, path: string, outer: Ignored): Promise<HiddenFrame> => {
    const entries = await folder.entries();
    if ("errno" in entries) return { folder, path, ignored: outer, todo: [] };
    const ignored = path === "" ? outer : await ignoredIn(folder, entries, above.length, outer);
    if (ignored !== outer) changes.set(path, ignored);
    const frame: HiddenFrame = { folder, path, ignored, todo: [] };
    for (const entry of entries) {
      if (slices.isOver()) await yieldToEventLoop();
      if (isEnough) break;
      if (!entry.isDirectory() || search.isLeftOut(entry.name)) continue;
      if (!isIgnored(ignored, above, entry.name, "folder")) frame.todo.push(entry);
      else if (folders.length < search.foldersMax) folders.push(path + entry.name);
    }
    return frame;
  };
  await walkFolders(start, {
    above,
    open: (folder, path, outer) => open(folder, path, outer?.ignored ?? search.ignored),
    goesOn: () => !isEnough,
    turn: () => (slices.isOver() ? yieldToEventLoop() : undefined),
  });
  const isPathIgnored = (path: string): boolean => {
    const over = [...search.above];
    const names = path.split("/");
    let { ignored } = search;
    let folder = "";
    return names.some((name, at) => {
      if (isIgnored(ignored, over, name, at === names.length - 1 ? "file" : "folder")) return true;
      over.push(name);
      folder += `${name}/`;
      ignored = changes.get(folder) ?? ignored;
      return false;
    });
  };
  return { folders, isIgnored: isPathIgnored };
}
