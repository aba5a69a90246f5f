/**
 * The journal of a change set (`change-set.ts`): which files, and where their new and old contents are. It is complete and synced
 * before the first file gets its new content. While it says "open", the set can be rolled back from it, by this process or the
 * next; once it says "done", only the old files remain to be removed.
 *
 * Layout: "O" (open) or "D" (done), SHA-256 of the rest as hex, a newline, the steps as JSON.
 */

import { createHash } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import * as nodePath from "node:path";
import { limits } from "../../contract/limits.ts";
import { Descriptor } from "../descriptor.ts";
import { errnoName } from "../errno.ts";
import { type FolderHandle, unlinkQuietly, type WriteContext } from "../lookup/folder-handle.ts";
import type { System } from "../system.ts";
import { type IoOptions, readAll, syncFile, writeAll } from "./content.ts";
import { openJournal, stateFolder } from "./in-place.ts";
import { rollBack } from "./sweep.ts";
import { makeFlags, parseTempName } from "./temp-file.ts";
import { asWriteFailed, during, WriteFailed } from "./write-failed.ts";

/** One file of a set. Names are those in the file's own folder. */
export interface SetStep {
  /** Real and absolute. */
  readonly path: string;
  readonly does: "replace" | "create" | "remove";
  /** The inode of the old file; a string, since JSON has no large integers. */
  readonly oldInode?: string | undefined;
  /** The new content before it gets its name; undefined if the file is written in place or removed. */
  readonly fresh?: {
    readonly name: string;
    readonly inode: string;
    readonly sizeBytes: number;
    readonly mtimeNs: string;
  };
  /** The name of the old file until the set is done. */
  readonly old: string;
  /** The name of the undo journal, should the file be written in place. */
  readonly undo: string;
}

export interface SetRecord {
  readonly version: 1;
  /** Empty while the set is prepared: no file is changed by then. */
  readonly steps: readonly SetStep[];
  /** Folders that may contain new content without its final name. */
  readonly places: readonly string[];
  /** True if the set's process had kernel locks: a process that gets these locks knows that it has ended. */
  readonly byKernel: boolean;
  /** Folders created for new files, the topmost first. */
  readonly folders: readonly string[];
}

const headBytes = 1 + 64 + 1;

/** Complete, and synced if it has steps; the caller syncs the folder. Throws WriteFailed; no journal is left then. */
export async function writeSetJournal(path: string, record: SetRecord, io: IoOptions): Promise<void> {
  const { system } = io;
  const json = Buffer.from(JSON.stringify(record));
  const bytes = Buffer.concat([Buffer.from(`O${hashOf(json)}\n`), json]);
  if (bytes.length > limits.setJournalBytesMax) throw new WriteFailed("EFBIG", "keeping the old content");
  const fd = during("keeping the old content", () => system.make(path, makeFlags, 0o600));
  using _opened = new Descriptor(fd, system);
  try {
    await writeAll(fd, bytes, 0, io);
    const { size } = during("keeping the old content", () => system.stat(fd));
    if (Number(size) !== bytes.length) throw new WriteFailed("EIO", "keeping the old content");
    if (record.steps.length > 0) await syncFile(fd, bytes.length, io);
  } catch (error) {
    unlinkQuietly(path, system);
    throw error;
  }
}

/** Makes the set final. Throws WriteFailed; it can still be rolled back then. */
export async function markDone(path: string, io: IoOptions): Promise<void> {
  const { system } = io;
  const flags = constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0);
  const fd = during("keeping the old content", () => system.open(path, flags));
  using _opened = new Descriptor(fd, system);
  await writeAll(fd, Buffer.from("D"), 0, io);
  await syncFile(fd, 1, io);
}

/** A journal left by another process; undefined if it is incomplete, which means that no file was changed. */
export async function readSetJournal(
  path: string,
  seen: Pick<BigIntStats, "dev" | "ino">,
  io: IoOptions,
): Promise<(SetRecord & { readonly isDone: boolean }) | undefined> {
  const { system } = io;
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const fd = during("looking at the file", () => system.open(path, flags));
  using _opened = new Descriptor(fd, system);
  const stat = during("looking at the file", () => system.stat(fd));
  const size = Number(stat.size);
  if (stat.dev !== seen.dev || stat.ino !== seen.ino || size > limits.setJournalBytesMax) return undefined;
  const bytes = Buffer.alloc(size);
  if ((await readAll(fd, bytes, 0, io)) < size) return undefined;
  const json = bytes.subarray(headBytes);
  const state = bytes.toString("latin1", 0, 1);
  if (!["O", "D"].includes(state) || bytes.toString("latin1", 1, headBytes) !== `${hashOf(json)}\n`) return undefined;
  const record = parseRecord(json.toString("utf8"));
  return record && { ...record, isDone: state === "D" };
}

const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Validates every field: the file may come from any user. Each path once, and only names of our own shape. */
function parseRecord(json: string): SetRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value["version"] !== 1) return undefined;
  const { steps, folders, places } = value;
  const areTexts = [folders, places].every((texts) => Array.isArray(texts) && texts.every(isText));
  if (!areTexts || typeof value["byKernel"] !== "boolean" || !Array.isArray(steps) || !steps.every(isStep))
    return undefined;
  if (new Set((steps as readonly SetStep[]).map(({ path }) => path)).size !== steps.length) return undefined;
  return value as unknown as SetRecord; // every field was checked
}

function isStep(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { path, does, oldInode, fresh, old, undo } = value;
  const isKnown = does === "replace" || does === "create" || does === "remove";
  if (!isKnown || !isText(path) || !isOldName(old) || !isOldName(undo)) return false;
  if (oldInode !== undefined && !isText(oldInode)) return false;
  if (fresh === undefined) return true;
  if (!isObject(fresh)) return false;
  const { name, inode, sizeBytes, mtimeNs } = fresh;
  return (
    isText(name) &&
    parseTempName(String(name))?.kind === "new" &&
    isText(inode) &&
    isText(mtimeNs) &&
    Number.isSafeInteger(sizeBytes)
  );
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const isText = (value: unknown): value is string => typeof value === "string";
const isOldName = (value: unknown): boolean => isText(value) && parseTempName(value)?.kind === "old";

/** `not ours`: another program has changed the file since, and its version stays. */
export type TakenBack = "put back" | "untouched" | "not ours";

/**
 * Restores the old content of one file of a set, however far the change got. Idempotent. Throws WriteFailed if the system
 * refuses; everything needed for another attempt is then still in place.
 */
export async function takeStepBack(step: SetStep, folder: FolderHandle, context: WriteContext): Promise<TakenBack> {
  const { system } = context;
  const at = folder.at(nodePath.basename(step.path));
  if (step.does === "remove") return restoreRemoved(folder.at(step.old), at, system);
  const inPlace = step.does === "replace" ? await rollBackInPlace(step, folder, context) : undefined;
  if (inPlace !== undefined) return inPlace;
  const there = statOf(at, system);
  if (!isFresh(there, step)) {
    if (step.does === "create") return there === undefined ? "untouched" : "not ours";
    return there !== undefined && String(there.ino) === step.oldInode ? "untouched" : "not ours";
  }
  if (step.does === "create") during("putting the old content back", () => system.unlink(at));
  else during("putting the old content back", () => system.rename(folder.at(step.old), at));
  return "put back";
}

/** True for exactly the file that the set put there, unchanged since. */
const isFresh = (there: BigIntStats | undefined, { fresh }: SetStep): boolean =>
  there !== undefined &&
  fresh !== undefined &&
  there.isFile() &&
  String(there.ino) === fresh.inode &&
  Number(there.size) === fresh.sizeBytes &&
  String(there.mtimeNs) === fresh.mtimeNs;

/** Restores a removed file from its second name. */
function restoreRemoved(old: string, at: string, system: System): TakenBack {
  const isThere = statOf(at, system) !== undefined;
  if (statOf(old, system) === undefined) return isThere ? "untouched" : "not ours";
  if (isThere) return "not ours";
  try {
    // Unlike a rename, a link never replaces a file that was created meanwhile.
    system.link(old, at);
  } catch (error) {
    const errno = errnoName(error);
    if (errno === undefined) throw error;
    if (errno === "EEXIST") return "not ours";
    during("putting the old content back", () => system.rename(old, at));
  }
  return "put back";
}

/** Undefined if the file was not written in place. */
async function rollBackInPlace(
  { path, undo }: SetStep,
  folder: FolderHandle,
  context: WriteContext,
): Promise<TakenBack | undefined> {
  for (const place of [folder, stateFolder(context, "find")]) {
    const stat = place && statOf(place.at(undo), context.system);
    if (place === undefined || stat === undefined) continue;
    const io: IoOptions = { system: context.system, reads: place.reads, signal: undefined };
    using journal = await openJournal(place.at(undo), stat, io);
    if (journal === undefined) continue; // incomplete: the file was not touched
    const result = await rollBack(journal, path, context, "all");
    if (result === "failed") throw new WriteFailed("EIO", "putting the old content back");
    return result === "restored" ? "put back" : result;
  }
  return undefined;
}

/** Removes the set's files beside a file: its new content if that has no name yet, and its old one. */
export function clearStep(step: SetStep, folder: FolderHandle, context: WriteContext): boolean {
  const { system } = context;
  const state = step.does === "replace" ? stateFolder(context, "find") : undefined;
  const kept = { create: [], remove: [step.old], replace: [step.old, step.undo] }[step.does];
  const names = step.fresh === undefined ? kept : [...kept, step.fresh.name];
  const paths = [...names.map((name) => folder.at(name)), ...(state === undefined ? [] : [state.at(step.undo)])];
  return paths.map((path) => unlinkQuietly(path, system)).every((isGone) => isGone);
}

function statOf(path: string, system: System): BigIntStats | undefined {
  try {
    return system.statLink(path);
  } catch (error) {
    if (errnoName(error) === "ENOENT") return undefined;
    throw asWriteFailed(error, "looking at the file");
  }
}
