/**
 * Compares a root with its noted tree. A folder whose stat is as it was noted has the same names, so it is not listed again; a
 * file whose stat is as it was noted has the same content, so it is not read. What a scan does not enter is noted by name, so
 * that a name which comes to light later does not count as new.
 */

import * as nodePath from "node:path";
import { statFields, timeSlices, type WalkEntry, type WalkFolder, withHandleClosed } from "../../disk/disk.ts";
import {
  below,
  type ContentPlace,
  isNotCovered,
  type NotedEntry,
  type NotedTree,
  type NotCoveredWhy,
  type StatNumbers,
} from "../../history/history.ts";
import { type Ignored, ignoredIn, isIgnored, nothingIgnored } from "../../search/search.ts";
import type { ToolContext } from "../tool.ts";

/** A file or symlink whose content has to be looked at; or one that is gone. */
export interface Touched {
  /** Relative to the root, with slashes. */
  readonly path: string;
  readonly folder: string;
  readonly name: string;
  readonly before: NotedEntry | undefined;
  readonly at: number | undefined;
  readonly stat: StatNumbers;
}

export interface Scanned {
  readonly touched: readonly Touched[];
  /** Folders that are new, or have another mode. */
  readonly folders: readonly {
    readonly path: string;
    readonly before: NotedEntry | undefined;
    readonly now: NotedEntry;
  }[];
  /** With everything in them: covered and not covered names alike. */
  readonly gone: readonly { readonly path: string; readonly before: NotedEntry }[];
  /** Names that no scan enters, and that are new or changed. */
  readonly notCovered: readonly { readonly path: string; readonly why: NotCoveredWhy }[];
  /** Lists of folders whose names changed; touched files are in it as they were, or without a place if they are new. */
  readonly listed: Map<string, NotedEntry[]>;
  readonly replaced: Map<number, NotedEntry>;
  readonly rootStat: StatNumbers;
  readonly complete: boolean;
  /** How many names there are now. */
  readonly count: number;
}

export const typeBits = 0o170000;
export const kinds = { folder: 0o040000, file: 0o100000, link: 0o120000 } as const;
export const kindOfMode = (mode: number): number => mode & typeBits;
const noStat: StatNumbers = [0, 0, 0, 0, 0];

export async function scanRoot(
  root: string,
  tree: NotedTree | undefined,
  namesMax: number,
  context: ToolContext,
): Promise<Scanned> {
  const lookup = context.disk.lookup(root);
  if (lookup.seen !== "node" || lookup.kind !== "directory") {
    if (lookup.seen === "node") lookup.handle.close();
    throw new Error(`the root ${root} is gone`);
  }
  using top = context.disk.walk(lookup, () => lookup.handle.close());
  // Loading the calls takes 10 ms, which a thousand files are not worth.
  if ((tree?.names.length ?? quickFrom) >= quickFrom) await top.hurry();
  // Awaited here: `using` closes the folder as soon as this function returns.
  return await new Scan(root, tree, namesMax, context).run(top);
}

const quickFrom = 5_000;

class Scan {
  readonly #root: string;
  readonly #tree: NotedTree | undefined;
  readonly #context: ToolContext;
  readonly #slices: ReturnType<typeof timeSlices>;
  readonly #stat = new Float64Array(statFields.count);
  readonly #ignored = new Map<string, Ignored>();
  readonly #touched: Touched[] = [];
  readonly #folders: { path: string; before: NotedEntry | undefined; now: NotedEntry }[] = [];
  readonly #gone: { path: string; before: NotedEntry }[] = [];
  readonly #notCovered: { path: string; why: NotCoveredWhy }[] = [];
  readonly #listed = new Map<string, NotedEntry[]>();
  readonly #replaced = new Map<number, NotedEntry>();
  /** The folder of the noted tree that comes next. */
  #next = 0;
  #count = 0;
  #complete = true;
  readonly #namesMax: number;
  readonly #beganMs = Date.now();

  constructor(root: string, tree: NotedTree | undefined, namesMax: number, context: ToolContext) {
    this.#root = root;
    this.#tree = tree;
    this.#namesMax = namesMax;
    this.#context = context;
    this.#slices = timeSlices(context.signal);
  }

  async run(top: WalkFolder): Promise<Scanned> {
    await this.#look(top, ".");
    const rootStat = this.#noted();
    const then = this.#tree?.facts.rootStat;
    const isSame = then?.every((number, at) => number === this.#stat[at]) === true;
    if (this.#tree === undefined) await this.#enterNew(top, "");
    else await this.#enterKnown(top, "", isSame);
    return {
      touched: this.#touched,
      folders: this.#folders,
      gone: this.#gone,
      notCovered: this.#notCovered,
      listed: this.#listed,
      replaced: this.#replaced,
      rootStat,
      complete: this.#complete,
      count: this.#count,
    };
  }

  /** Promises only where a file system may hang. */
  #look(folder: WalkFolder, name: string): boolean | Promise<boolean> {
    return folder.stat(name, this.#stat);
  }

  /** The last stat. Whatever changed just now may change again within the same tick: such a ctime is equal to nothing. */
  #noted(): StatNumbers {
    const [mode = 0, size = 0, mtime = 0, ctime = 0, inode = 0] = this.#stat;
    return [mode, size, mtime, restingCtime(mtime, ctime, this.#beganMs), inode];
  }

  async #enterKnown(folder: WalkFolder, path: string, isSame: boolean): Promise<void> {
    const tree = this.#tree;
    if (tree === undefined) throw new Error("there is a tree");
    const index = this.#next;
    this.#next += 1;
    const [from, to] = [tree.starts[index] ?? 0, tree.starts[index + 1] ?? 0];
    // The names are the same: no list is needed. Otherwise, and if one is gone all the same, the folder is listed.
    const isDone = isSame && (await this.#compareAll(folder, path, from, to));
    if (!isDone) await this.#list(folder, path, from, to);
  }

  /** False if a name is gone: then nothing was noted. */
  async #compareAll(folder: WalkFolder, path: string, from: number, to: number): Promise<boolean> {
    const tree = this.#tree;
    if (tree === undefined) return false;
    const folders: { readonly at: number; readonly changed: NotedEntry | undefined }[] = [];
    const touched: Touched[] = [];
    for (let at = from; at < to; at += 1) {
      const place = tree.places[at] ?? 0;
      if (tree.modes[at] === 0) continue; // noted by name only
      const name = tree.names[at] ?? "";
      const looked = this.#look(folder, name);
      if (!(typeof looked === "boolean" ? looked : await looked)) return false;
      const isUnchanged = tree.isSame(at, this.#stat);
      if (place === folderPlace) {
        if (kindOfMode(this.#stat[0] ?? 0) !== kinds.folder) return false;
        folders.push({ at, changed: isUnchanged ? undefined : { ...tree.entryAt(at), stat: this.#noted() } });
      } else if (!isUnchanged) touched.push(this.#touch(path, name, at));
      if (this.#slices.isOver()) await this.#slices.next();
    }
    this.#count += to - from;
    for (const one of touched) this.#touched.push(one);
    for (const { at, changed } of folders) {
      if (changed !== undefined) this.#folderChanged(path, at, changed);
      await this.#below(folder, path, at, changed === undefined);
    }
    return true;
  }

  #folderChanged(path: string, at: number, now: NotedEntry): void {
    const before = this.#tree?.entryAt(at);
    if (before === undefined) return;
    this.#replaced.set(at, now);
    if (before.stat[0] !== now.stat[0]) this.#folders.push({ path: below(path, before.name), before, now });
  }

  #touch(folder: string, name: string, at: number | undefined): Touched {
    const before = at === undefined ? undefined : this.#tree?.entryAt(at);
    const stat = this.#noted();
    return { path: below(folder, name), folder, name, before, at, stat };
  }

  async #below(folder: WalkFolder, path: string, at: number, isSame: boolean): Promise<void> {
    const name = this.#tree?.names[at] ?? "";
    const inner = below(path, name);
    const opened = folder.enter(name);
    if ("errno" in opened) {
      // It was just there: somebody changes it now. Its names stay as they were noted.
      this.#complete = false;
      this.#skip(inner);
      return;
    }
    using child = opened;
    await this.#enterKnown(child, inner, isSame);
  }

  /** Passes over a folder of the noted tree, with everything in it. */
  #skip(path: string): readonly number[] {
    const tree = this.#tree;
    const skipped: number[] = [];
    const isBelow = (one: string | undefined): boolean => one === path || one?.startsWith(`${path}/`) === true;
    for (; isBelow(tree?.folders[this.#next]); this.#next += 1) skipped.push(this.#next);
    return skipped;
  }

  /** Lists a known folder and compares its names. */
  async #list(folder: WalkFolder, path: string, from: number, to: number): Promise<void> {
    const tree = this.#tree;
    const entries = await folder.entries();
    if (tree === undefined || "errno" in entries) {
      this.#complete = false;
      for (let at = from; at < to; at += 1)
        if (tree?.places[at] === folderPlace) this.#skip(below(path, tree.names[at] ?? ""));
      return;
    }
    const there = new Map(entries.map((entry) => [entry.name, entry]));
    const list: NotedEntry[] = [];
    for (let at = from; at < to; at += 1) {
      const before = tree.entryAt(at);
      const { name } = before;
      const entry = there.get(name);
      there.delete(name);
      const inner = below(path, name);
      const isHere = entry !== undefined && (await this.#look(folder, name));
      const [mode = 0] = this.#stat;
      if (this.#slices.isOver()) await this.#slices.next();
      if (!isHere) {
        this.#removed(inner, before);
        continue;
      }
      if (before.place === "folder") {
        if (kindOfMode(mode) !== kinds.folder) {
          this.#removed(inner, before);
          await this.#add(folder, path, entry, list, entries);
          continue;
        }
        const isSame = tree.isSame(at, this.#stat);
        if (!isSame) this.#folderChanged(path, at, { ...before, stat: this.#noted() });
        list.push(this.#replaced.get(at) ?? before);
        this.#count += 1;
        await this.#below(folder, path, at, isSame);
        continue;
      }
      if (before.stat[0] === 0) await this.#known(folder, path, entry, before, list, entries);
      else if (kindOfMode(mode) !== kindOfMode(before.stat[0])) {
        this.#removed(inner, before);
        await this.#add(folder, path, entry, list, entries);
      } else {
        this.#count += 1;
        if (!tree.isSame(at, this.#stat)) this.#touched.push(this.#touch(path, name, at));
        list.push(before);
      }
    }
    for (const entry of there.values()) await this.#add(folder, path, entry, list, entries);
    this.#listed.set(path, list);
  }

  /** A name that was not covered, and is there: what is covered by now is noted without a change. */
  async #known(
    folder: WalkFolder,
    path: string,
    entry: WalkEntry,
    before: NotedEntry,
    list: NotedEntry[],
    siblings: readonly WalkEntry[],
  ): Promise<void> {
    const why = await this.#whyNot(path, entry.name, entry.isDirectory(), folder, siblings);
    if (why !== undefined && isNotCovered(before.place)) {
      list.push({ ...before, place: why });
      this.#count += 1;
      return;
    }
    // It comes to light now. It was there before, so it is nobody's change.
    const [touched, folders] = [this.#touched.length, this.#folders.length];
    await this.#add(folder, path, entry, list, siblings);
    const old: NotedEntry = { name: entry.name, stat: noStat, place: "ignored", content: "" };
    for (let at = touched; at < this.#touched.length; at += 1) {
      const one = this.#touched[at];
      if (one !== undefined && one.before === undefined) this.#touched[at] = { ...one, before: old };
    }
    this.#folders.length = folders;
  }

  /** Everything that was noted of a name is gone. */
  #removed(path: string, before: NotedEntry): void {
    const tree = this.#tree;
    this.#gone.push({ path, before });
    if (before.place !== "folder" || tree === undefined) return;
    for (const index of this.#skip(path)) {
      const inner = tree.folders[index] ?? "";
      for (let at = tree.starts[index] ?? 0; at < (tree.starts[index + 1] ?? 0); at += 1) {
        const entry = tree.entryAt(at);
        this.#gone.push({ path: below(inner, entry.name), before: entry });
      }
    }
  }

  async #enterNew(folder: WalkFolder, path: string): Promise<void> {
    const entries = await folder.entries();
    const list: NotedEntry[] = [];
    this.#listed.set(path, list);
    if ("errno" in entries) {
      this.#complete = false;
      return;
    }
    for (const entry of entries) {
      await this.#add(folder, path, entry, list, entries);
      if (this.#slices.isOver()) await this.#slices.next();
    }
  }

  /** Adds a name that was not there before. */
  async #add(
    folder: WalkFolder,
    path: string,
    entry: WalkEntry,
    list: NotedEntry[],
    siblings: readonly WalkEntry[],
  ): Promise<void> {
    const { name } = entry;
    const inner = below(path, name);
    if (this.#count >= this.#namesMax) {
      this.#complete = false;
      return;
    }
    this.#count += 1;
    const isFolder = entry.isDirectory();
    const why = await this.#whyNot(path, name, isFolder, folder, siblings);
    const isHere = await this.#look(folder, name);
    if (!isHere) return;
    const [mode = 0] = this.#stat;
    const stat = this.#noted();
    if (why !== undefined) {
      // Of what was left out on purpose only folders are looked at again: a package was installed, say.
      const isWatched = isFolder && why !== "git" && why !== "denied";
      list.push({ name, stat: isWatched ? stat : noStat, place: why, content: "" });
      if ((isFolder || why === "git") && why !== "denied") this.#notCovered.push({ path: inner, why });
      return;
    }
    if (kindOfMode(mode) === kinds.folder) {
      const now: NotedEntry = { name, stat, place: "folder", content: "" };
      const opened = folder.enter(name);
      if ("errno" in opened) {
        const cannot: ContentPlace = opened.errno === "ENOTSUP" ? "other mount" : "unreadable";
        list.push({ ...now, place: cannot });
        this.#notCovered.push({ path: inner, why: cannot });
        return;
      }
      list.push(now);
      this.#folders.push({ path: inner, before: undefined, now });
      using child = opened;
      await this.#enterNew(child, inner);
      return;
    }
    // Without a place until its content is looked at.
    list.push({ name, stat, place: "unreadable", content: "" });
    this.#touched.push({ path: inner, folder: path, name, before: undefined, at: undefined, stat });
  }

  /** Why a name is not entered or read at all. */
  async #whyNot(
    path: string,
    name: string,
    isFolder: boolean,
    folder: WalkFolder,
    siblings: readonly WalkEntry[],
  ): Promise<NotCoveredWhy | undefined> {
    if (name === ".git") return "git";
    if (isFolder && name === "node_modules") return "dependencies";
    const is = isFolder ? "folder" : "file";
    const real = nodePath.join(this.#root, path, name);
    if (this.#context.guard.denied("read", [real], is) !== undefined) return "denied";
    const ignored = await this.#ignoredAt(path, folder, siblings);
    return isIgnored(ignored, path === "" ? [] : path.split("/"), name, is) ? "ignored" : undefined;
  }

  /** The ignore files that apply in a folder; those of the folders above are read when they are needed. */
  async #ignoredAt(path: string, folder: WalkFolder, siblings?: readonly WalkEntry[]): Promise<Ignored> {
    const known = this.#ignored.get(path);
    if (known !== undefined) return known;
    const outer = path === "" ? nothingIgnored : await this.#ignoredAbove(nodePath.posix.dirname(path));
    const entries = siblings ?? (await folder.entries());
    const depth = path === "" ? 0 : path.split("/").length;
    const ignored = "errno" in entries ? outer : await ignoredIn(folder, entries, depth, outer);
    this.#ignored.set(path, ignored);
    return ignored;
  }

  async #ignoredAbove(path: string): Promise<Ignored> {
    const folder = path === "." ? "" : path;
    const known = this.#ignored.get(folder);
    if (known !== undefined) return known;
    const real = nodePath.join(this.#root, folder);
    const lookup = this.#context.disk.lookup(real);
    if (lookup.seen !== "node" || lookup.kind !== "directory") {
      withHandleClosed(lookup);
      return nothingIgnored;
    }
    using walked = this.#context.disk.walk(lookup, () => lookup.handle.close());
    return await this.#ignoredAt(folder, walked);
  }
}

const folderPlace = 0;

/** The ctime, or no number if the file changed so recently that another change might leave the same one. */
export function restingCtime(mtimeMs: number, ctimeMs: number, nowMs: number): number {
  return isPast(mtimeMs, nowMs) && isPast(ctimeMs, nowMs) ? ctimeMs : Number.NaN;
}

/** As `time-grain.ts` of the disk has it: whole seconds come from a coarse clock, and a tick of the kernel comes on top. */
const isPast = (timeMs: number, nowMs: number): boolean =>
  nowMs - timeMs >= (timeMs % 1_000 === 0 ? 2_000 : timeMs % 10 === 0 ? 10 : 0) + 10;
