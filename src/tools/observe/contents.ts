/** Where the content of each touched file is from now on: in git, in the store, or nowhere. */

import * as nodePath from "node:path";
import {
  FileTruncated,
  type Git,
  gitBlobId,
  type Identity,
  openGit,
  pointerBytesMax,
  ReadFailed,
} from "../../disk/disk.ts";
import { runInSlices, timeSlices, type Tracked, wholeFile, withHandleClosed } from "../../disk/disk.ts";
import {
  type ContentPlace,
  inodeFingerprint,
  type NotedEntry,
  type SessionHistory,
  type StatNumbers,
  storedFile,
} from "../../history/history.ts";
import { atPath } from "../workspace-walk.ts";
import type { ToolContext } from "../tool.ts";
import { kindOfMode, kinds, restingCtime, type Touched } from "./scan.ts";

export interface ObserveLimits {
  /** Names of one root that a scan covers: each costs a stat, and 100 bytes in the state folder. */
  readonly filesMax: number;
  /** Bytes of all files of a root that are copied because git does not have them. */
  readonly bytesMax: number;
  /** Bytes of one file that is copied. */
  readonly fileBytesMax: number;
}

/** A touched name as it is now. */
export interface Looked {
  readonly entry: NotedEntry;
  /** The id of its content in the history, if it was read. */
  readonly content: string | undefined;
  readonly links: number;
  /** Recognises a file whose content is not stored. */
  readonly mark: string | undefined;
}

export interface Looking {
  readonly root: string;
  readonly limits: ObserveLimits;
  readonly history: SessionHistory;
  readonly context: ToolContext;
  readonly git: () => Git | undefined;
  /** Bytes that are copied already. */
  readonly copiedBytes: number;
  /** The content of every file is stored, because a turn will name it; else only what git does not have. */
  readonly need: "all" | "not in git";
  /** Files that are not read by then are left for the next scan. */
  readonly untilMs: number;
}

export const gitOf = (root: string): (() => Git | undefined) => {
  let opened: Git | undefined;
  let isOpened = false;
  return () => {
    if (!isOpened) opened = openGit(root, process.env);
    isOpened = true;
    return opened;
  };
};

/** To list all tracked files costs as much as to copy so many small ones. */
const gitFrom = 200;
/** Contents up to this size are read at once. */
const wholeBytesMax = 1_048_576;

/** In the order of the touched names; undefined for one that is gone by now. */
export async function lookAtContents(
  touched: readonly Touched[],
  looking: Looking,
): Promise<readonly (Looked | undefined)[]> {
  const { context, need } = looking;
  const tracked = touched.length >= gitFrom ? await looking.git()?.tracked(context.signal) : undefined;
  const look = new ContentLook(looking, tracked);
  const slices = timeSlices(context.signal);
  const all: (Looked | undefined)[] = [];
  for (const one of touched) {
    if (slices.isOver()) await slices.next();
    const quick = need === "not in git" ? look.inGit(one) : undefined;
    all.push(quick ?? (await look.at(one)));
  }
  return all;
}

class ContentLook {
  readonly #looking: Looking;
  readonly #tracked: Tracked | undefined;
  #copiedBytes: number;

  constructor(looking: Looking, tracked: Tracked | undefined) {
    this.#looking = looking;
    this.#tracked = tracked;
    this.#copiedBytes = looking.copiedBytes;
  }

  /** Without reading it: git compared it when it had this stat, and no filter can have changed its bytes. */
  inGit({ path, name, stat }: Touched): Looked | undefined {
    const file = this.#tracked?.files.get(path);
    const [mode, sizeBytes, mtimeMs, ctimeMs, inode] = stat;
    if (file === undefined || this.#tracked === undefined || kindOfMode(mode) !== kinds.file) return undefined;
    const { indexMs, filters } = this.#tracked;
    if (filters === "any" || (filters === "small" && sizeBytes <= pointerBytesMax)) return undefined;
    const isSame =
      file.sizeBytes === sizeBytes &&
      file.mtimeMs === mtimeMs &&
      file.ctimeMs === ctimeMs &&
      file.inode === inode % 0x1_0000_0000 &&
      mtimeMs < indexMs;
    if (!isSame || this.#isSecret(path)) return undefined;
    return {
      entry: { name, stat, place: placeOf(file.id), content: file.id },
      content: undefined,
      links: 1,
      mark: undefined,
    };
  }

  async at(touched: Touched): Promise<Looked | undefined> {
    const { path, name, before, stat } = touched;
    const real = this.#real(path);
    const { limits, untilMs, need } = this.#looking;
    const [mode, sizeBytes] = stat;
    const kind = kindOfMode(mode);
    if (kind === kinds.link) return this.#link(touched, real);
    if (kind === kinds.folder) return without(touched, before?.place ?? "unreadable");
    if (kind !== kinds.file) return without(touched, "special");
    if (this.#isSecret(path)) return this.#without(touched, "secret");
    const freed = before?.place === "stored" ? before.stat[1] : 0;
    const isCopied = this.#copiedBytes - freed + sizeBytes <= limits.bytesMax && sizeBytes <= limits.fileBytesMax;
    const file = this.#tracked?.files.get(path);
    const isInGit = file !== undefined || before?.place.startsWith("git ") === true;
    if (!isCopied && !isInGit)
      return this.#without(touched, sizeBytes > limits.fileBytesMax ? "too large" : "over budget");
    if (need === "not in git" && Date.now() > untilMs) {
      const unknown: StatNumbers = [mode, sizeBytes, stat[2], Number.NaN, stat[4]];
      return {
        entry: { name, stat: unknown, place: "unreadable", content: "" },
        content: undefined,
        links: 1,
        mark: undefined,
      };
    }
    try {
      return await this.#read(touched, real, file?.id, isCopied);
    } catch (error) {
      if (error instanceof ReadFailed || error instanceof FileTruncated) return without(touched, "unreadable");
      throw error;
    }
  }

  async #read(
    { path, name, before }: Touched,
    real: string,
    id: string | undefined,
    isCopied: boolean,
  ): Promise<Looked | undefined> {
    const { context, history, need, limits } = this.#looking;
    for (let tries = 1; ; tries += 1) {
      const readMs = Date.now();
      const opened = atPath(real, context, (node) => context.disk.open(node));
      if (opened === undefined) return undefined;
      if ("errno" in opened) throw new ReadFailed(opened.errno);
      using file = opened;
      const stat = numbersOf(file.stat, readMs);
      const bytes = await wholeFile(file, wholeBytesMax);
      const known = before !== undefined && before.place.startsWith("git ") ? before.content : undefined;
      const inGit = await this.#idIn(bytes, [id, known]);
      const place = inGit === undefined ? undefined : placeOf(inGit);
      const fits = isCopied && file.sizeBytes <= limits.fileBytesMax;
      const content =
        (need === "all" && fits) || place === undefined ? await history.note(file, real, bytes) : undefined;
      if (file.changed() !== "no" && tries < triesMax) continue;
      // Still being written: whatever it is now, the next scan looks again.
      const settled: StatNumbers = file.changed() === "no" ? stat : [stat[0], stat[1], stat[2], Number.NaN, stat[4]];
      const links = file.links;
      if (place !== undefined)
        return { entry: { name, stat: settled, place, content: inGit ?? "" }, content, links, mark: undefined };
      if (content === undefined) throw new Error("a content is in git or in the store");
      this.#copiedBytes += file.sizeBytes - (before?.place === "stored" ? before.stat[1] : 0);
      const stored = content.startsWith("inode") ? undefined : content;
      if (stored === undefined) return without({ path, name, before, stat: settled }, "too large");
      return {
        entry: { name, stat: settled, place: "stored", content: stored },
        content: stored,
        links,
        mark: undefined,
      };
    }
  }

  /** The id under which git has exactly these bytes. */
  async #idIn(bytes: Uint8Array | undefined, ids: readonly (string | undefined)[]): Promise<string | undefined> {
    const candidates = ids.filter((id) => id !== undefined);
    const [first] = candidates;
    if (bytes === undefined || first === undefined) return undefined;
    const own = await runInSlices(
      gitBlobId(bytes, first.length === 40 ? "sha1" : "sha256"),
      this.#looking.context.signal,
    );
    return candidates.find((id) => id === own);
  }

  async #link(touched: Touched, real: string): Promise<Looked | undefined> {
    const entry = this.#looking.context.disk.entryAt(real);
    if (entry?.is !== "link" || entry.leadsTo === undefined) return undefined;
    const { leadsTo: bytes, mode } = entry;
    const content = await this.#looking.history.note(storedFile({ bytes, mode }), real, bytes);
    const { name, stat } = touched;
    return { entry: { name, stat, place: "stored", content }, content, links: 1, mark: undefined };
  }

  /** A file that is not stored is recognised by its inode. */
  #without(touched: Touched, place: ContentPlace): Looked | undefined {
    const lookup = withHandleClosed(this.#looking.context.disk.lookup(this.#real(touched.path)));
    if (lookup.seen !== "node") return undefined;
    const identity: Identity = lookup.handle.identity;
    return { ...without(touched, place), mark: inodeFingerprint(identity) };
  }

  #isSecret(path: string): boolean {
    return this.#looking.context.guard.isSecret(this.#real(path));
  }

  #real(path: string): string {
    return nodePath.join(this.#looking.root, path);
  }
}

/** A file that others write all the time is not waited for. */
const triesMax = 3;

const placeOf = (id: string): ContentPlace => (id.length === 40 ? "git sha1" : "git sha256");

const without = ({ name, stat }: Pick<Touched, "name" | "stat" | "path" | "before">, place: ContentPlace): Looked => ({
  entry: { name, stat, place, content: "" },
  content: undefined,
  links: 1,
  mark: undefined,
});

/** As a scan has them. */
function numbersOf(
  stat: { mode: bigint; size: bigint; mtimeNs: bigint; ctimeNs: bigint; ino: bigint } | undefined,
  nowMs: number,
): StatNumbers {
  if (stat === undefined) throw new Error("an open file has a stat");
  const [mtimeMs, ctimeMs] = [msOf(stat.mtimeNs), msOf(stat.ctimeNs)];
  return [Number(stat.mode), Number(stat.size), mtimeMs, restingCtime(mtimeMs, ctimeMs, nowMs), Number(stat.ino)];
}

/** Exactly as Node and the scan compute it. */
function msOf(ns: bigint): number {
  const seconds = BigInt.asIntN(64, ns / 1_000_000_000n);
  return Number(seconds) * 1_000 + Number(ns - seconds * 1_000_000_000n) / 1_000_000;
}
