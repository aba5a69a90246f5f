/**
 * Cleans up after a crash: removes temporary files, and restores files that were being written in place. Touches only plain files of
 * our own user with names of exactly our shape, and only if the process that created them is gone.
 */

import { type BigIntStats, constants } from "node:fs";
import { uptime } from "node:os";
import * as nodePath from "node:path";
import { setTimeout } from "node:timers/promises";
import { Descriptor } from "../descriptor.ts";
import { errnoName } from "../errno.ts";
import { yieldToEventLoop } from "../event-loop.ts";
import { isLockBeside, sweepBeside } from "../lock/lock-beside.ts";
import { lifeOf } from "../lock/process-identity.ts";
import { type FolderHandle, unlinkQuietly, type WriteContext } from "../lookup/folder-handle.ts";
import { type Content, inChunks, type IoOptions, readAll } from "./content.ts";
import { isOwn, type Journal, openJournal, putBack, stateFolder } from "./in-place.ts";
import type { Comparison } from "./same-file.ts";
import { parseTempName, type TempKind, type TempName, tempName } from "./temp-file.ts";
import { clearTree } from "./whole-tree.ts";
import { during, isExpected } from "./write-failed.ts";

export interface Swept {
  readonly removed: number;
  readonly restored: readonly string[];
}

/**
 * Sweeps a folder about to be written to, once per process; concurrent callers wait, since their file may be one to restore.
 * Never fails. Returns how to compare a file with its earlier state: removing a leftover that was a second hard link of it moves
 * its ctime.
 */
export async function sweepOnce(folder: FolderHandle, context: WriteContext): Promise<Comparison> {
  const { device, inode } = folder.identity;
  const removed = await once(`${device}:${inode}`, context, () => sweepFolder(folder, context));
  await once("state", context, () => sweepState(context));
  return removed > 0 ? "all but ctime" : "all";
}

async function once(key: string, { swept }: WriteContext, sweep: () => Promise<Swept>): Promise<number> {
  if (!swept.has(key)) {
    swept.set(
      key,
      sweep().finally(() => swept.set(key, undefined)),
    );
  }
  return (await swept.get(key))?.removed ?? 0;
}

export async function sweepAgain(folder: FolderHandle, context: WriteContext): Promise<Swept> {
  const beside = await sweepFolder(folder, context);
  const elsewhere = await sweepState(context);
  return { removed: beside.removed, restored: [...beside.restored, ...elsewhere.restored] };
}

async function sweepState(context: WriteContext): Promise<Swept> {
  const state = stateFolder(context, "find");
  return state === undefined ? { removed: 0, restored: [] } : sweepFolder(state, context, "elsewhere");
}

type Whereabouts = "beside" | "elsewhere";

/** Never fails: what cannot be cleaned up now is left for the next sweep. */
export async function sweepFolder(
  folder: FolderHandle,
  context: WriteContext,
  files: Whereabouts = "beside",
): Promise<Swept> {
  const { system } = context;
  const restored: string[] = [];
  let removed = 0;
  const sweepLock = (name: string): void => sweepBeside(folder.at(name));
  for (const { name, kind, owner } of await ownNames(folder, context, undefined, sweepLock)) {
    try {
      const stat = during("looking at the file", () => system.statLink(folder.at(name)));
      if (!isOwn(stat) || !isLeft(kind, owner, stat, folder)) continue;
      // A copy of a folder that has no name yet.
      if (stat.isDirectory() && kind === "new" && (await clearTree(folder, name, system))) removed += 1;
      if (!stat.isFile()) continue;
      if (kind !== "undo") {
        if (unlinkQuietly(folder.at(name), system)) removed += 1;
        continue;
      }
      const done = await settle(folder, name, stat, files, context);
      if (done === "left") continue;
      removed += 1;
      if (done !== "removed") restored.push(done.restored);
    } catch (error) {
      if (!isExpected(error)) throw error;
    }
  }
  return { removed, restored };
}

interface OwnName extends TempName {
  readonly name: string;
}

const namesPerTurn = 4_096;

export async function ownNames(
  folder: FolderHandle,
  { system }: WriteContext,
  msMax?: number,
  onLock?: (name: string) => void,
): Promise<readonly OwnName[]> {
  const names: OwnName[] = [];
  try {
    const slow = folder.reads === "at once" ? undefined : system.folder(folder.at("."));
    slow?.catch(() => undefined);
    const late = msMax === undefined ? slow : setTimeout(msMax, [], { ref: false });
    let count = 0;
    for (const { name } of (await Promise.race([slow, late])) ?? system.folderNow(folder.at("."))) {
      const parsed = name.startsWith(".filehand-") ? parseTempName(name) : undefined;
      if (parsed === undefined && onLock !== undefined && isLockBeside(name)) onLock(name);
      if (parsed !== undefined) names.push({ name, ...parsed });
      count += 1;
      if (count % namesPerTurn === 0) await yieldToEventLoop();
    }
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
  }
  return names;
}

/** A leftover whose process cannot be checked from here is given up after a day. */
const dayMs = 86_400_000;
/** Leftovers of a change set are settled by its journal (`change-set.ts`) as soon as that is found; long before this. */
const setMsMax = 30 * dayMs;

const elapsedSince = (timeNs: bigint): number => Date.now() - Number(timeNs / 1_000_000n);
const ageOf = (stat: BigIntStats): number => elapsedSince(stat.mtimeNs);

function isLeft(kind: TempKind, owner: string, stat: BigIntStats, folder: FolderHandle): boolean {
  if (kind === "old" || kind === "set") return lifeOf(owner) !== "alive" && elapsedSince(stat.ctimeNs) > setMsMax;
  return isLeftBehind(kind, owner, stat, folder);
}

/** True if its process is gone; one that cannot be checked is judged by age, and on a local disk by the last boot. */
export function isLeftBehind(kind: TempKind, owner: string, stat: BigIntStats, folder: FolderHandle): boolean {
  switch (lifeOf(owner)) {
    case "dead":
      return true;
    case "alive":
      return kind === "new" && ageOf(stat) > dayMs;
    case "elsewhere":
      return ageOf(stat) > dayMs || (folder.reads === "at once" && ageOf(stat) > uptime() * 1_000);
  }
}

/** Uses a journal up, after a rename to a name of this process: only one of several processes that find it can do that. */
async function settle(
  folder: FolderHandle,
  name: string,
  stat: BigIntStats,
  files: Whereabouts,
  context: WriteContext,
): Promise<"removed" | "left" | { readonly restored: string }> {
  const { system } = context;
  const io: IoOptions = { system, reads: folder.reads, signal: undefined };
  using journal = await openJournal(folder.at(name), stat, io);
  const remove = (path: string): "removed" | "left" => (unlinkQuietly(path, system) ? "removed" : "left");
  if (journal === undefined) return remove(folder.at(name));
  const { head } = journal;
  const target = files === "beside" ? nodePath.join(folder.path, nodePath.basename(head.name)) : head.path;
  // A journal of another workspace that shares the state folder is left to that workspace's processes for a month.
  if (isOutside(target, context)) return ageOf(stat) > setMsMax ? remove(folder.at(name)) : "left";
  const claimed = folder.at(tempName("undo"));
  during("renaming", () => system.rename(folder.at(name), claimed));
  const found = await rollBack(journal, target, context);
  if (found === "restored") return remove(claimed) === "removed" ? { restored: target } : "left";
  if (found === "untouched") return remove(claimed);
  // Another program has changed the file since: nothing to undo, but the old bytes are kept for a day.
  return ageOf(stat) > dayMs ? remove(claimed) : "left";
}

export function isOutside(path: string, context: WriteContext): boolean {
  const lookup = context.lookup(path);
  using _handle = lookup.seen === "node" ? lookup.handle : undefined;
  return ["outside", "root changed", "other mount"].includes(lookup.seen);
}

/** Restores the old bytes of a half-written file; with `all` also of a completely written one. */
export async function rollBack(
  journal: Journal,
  path: string,
  context: WriteContext,
  which: "torn" | "all" = "torn",
): Promise<"restored" | "untouched" | "not ours" | "failed"> {
  const { system } = context;
  const { head } = journal;
  const lookup = context.lookup(path);
  if (lookup.seen !== "node") return "not ours";
  using handle = lookup.handle;
  const same = lookup.kind === "file" && lookup.real === path;
  // The device is not compared: many systems number devices anew at every boot.
  if (!same || String(handle.identity.inode) !== head.inode) return "not ours";
  const flags = constants.O_RDWR | (constants.O_NONBLOCK ?? 0);
  const fd = during("writing in place", () => system.open(handle.handlePath, flags));
  using _opened = new Descriptor(fd, system);
  const io: IoOptions = { system, reads: handle.reads, signal: undefined };
  const size = Number(during("looking at the file", () => system.stat(fd)).size);
  const state = await stateOf(fd, size, journal, io);
  if (state === "not ours") return state;
  if (state === "old" || (state === "new" && which === "torn")) return "untouched";
  return (await putBack(fd, journal, io)) === undefined ? "restored" : "failed";
}

/** A file that a crash left half written has, at every offset, its old byte or its new one. */
async function stateOf(
  fd: number,
  size: number,
  { head, before, after }: Journal,
  io: IoOptions,
): Promise<"old" | "new" | "torn" | "not ours"> {
  const { from, oldBytes, newBytes } = head;
  const shorterBytes = Math.min(oldBytes, newBytes);
  if (size < shorterBytes || size > Math.max(oldBytes, newBytes)) return "not ours";
  let [isOld, isNew, isOurs] = [size === oldBytes, size === newBytes, true];
  await inChunks(from, size, io, async (now, at) => {
    if (!isOurs) return;
    await readAll(fd, now, at, io);
    const old = await part(before, now.length, at);
    const next = await part(after, now.length, at);
    for (let index = 0; index < now.length; index += 1) {
      const byte = now[index];
      const wasOld = byte === old[index];
      const wasNew = byte === next[index];
      isOld &&= wasOld;
      isNew &&= wasNew;
      // Past the shorter of the two sizes a power cut may leave zeros: bytes not written yet, or the rest of the last block.
      if (!wasOld && !wasNew && !(at + index >= shorterBytes && byte === 0)) {
        isOurs = false;
        return;
      }
    }
  });
  if (!isOurs) return "not ours";
  if (isOld) return "old";
  return isNew ? "new" : "torn";
}

async function part(content: Content, length: number, at: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(Math.max(0, Math.min(length, content.sizeBytes - at)));
  if (bytes.length > 0) await content.read(bytes, at);
  return bytes;
}
