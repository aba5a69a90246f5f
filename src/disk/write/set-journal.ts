/**
 * The journal of several files that are changed together (`change-set.ts`): which files, where their new content and
 * their old one lie. It is complete and synced before the first file gets its new content. While it says "open", the
 * change can be taken back from it, by the process that made it or by the next one; once it says "done", only the old
 * files are left to be removed.
 *
 * Layout: "O" (open) or "D" (done), sha256 of the rest as hex, a newline, the steps as JSON.
 */

import { createHash } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import * as nodePath from "node:path";
import { limits } from "../../contract/limits.ts";
import { Descriptor } from "../descriptor.ts";
import { errnoName } from "../errno.ts";
import { type FolderHandle, unlinkQuietly, type WriteContext } from "../lookup/folder-handle.ts";
import type { System } from "../system.ts";
import { type Moving, readAll, syncFile, writeAll } from "./content.ts";
import { openJournal, stateFolder } from "./in-place.ts";
import { rollBack } from "./sweep.ts";
import { parseTempName } from "./temp-file.ts";
import { asWriteFailed, during, WriteFailed } from "./write-failed.ts";

/** One file of a set, as the journal has it. Names are those in the file's own folder. */
export interface SetStep {
  /** Real and absolute. */
  readonly path: string;
  readonly does: "replace" | "create" | "remove";
  /** The inode that the file had; a text, since JSON has no large numbers. */
  readonly oldInode?: string | undefined;
  /** The new content before it gets its name; undefined if it is written in place, or if the file is removed. */
  readonly fresh?: {
    readonly name: string;
    readonly inode: string;
    readonly sizeBytes: number;
    readonly mtimeNs: string;
  };
  /** The name under which the old file is kept until all is done. */
  readonly old: string;
  /** The name of the undo journal, if the file turns out to be written in place. */
  readonly undo: string;
}

export interface SetRecord {
  readonly version: 1;
  /** None while the set is prepared: no file is changed by then. */
  readonly steps: readonly SetStep[];
  /** Where new content may lie that has no name yet. */
  readonly places: readonly string[];
  /** Did its maker hold locks of the kernel? Then whoever gets these locks knows that the maker has ended. */
  readonly byKernel: boolean;
  /** Folders that were made for new files, the uppermost first. */
  readonly folders: readonly string[];
}

const headBytes = 1 + 64 + 1;
const journalFlags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** Made and complete, and synced if it has steps; the caller syncs the folder. Throws WriteFailed, then there is none. */
export async function writeSetJournal(path: string, record: SetRecord, moving: Moving): Promise<void> {
  const { system } = moving;
  const json = Buffer.from(JSON.stringify(record));
  const bytes = Buffer.concat([Buffer.from(`O${hashOf(json)}\n`), json]);
  if (bytes.length > limits.setJournalBytesMax) throw new WriteFailed("EFBIG", "keeping the old content");
  const fd = during("keeping the old content", () => system.make(path, journalFlags, 0o600));
  using _opened = new Descriptor(fd, system);
  try {
    await writeAll(fd, bytes, 0, moving);
    const { size } = during("keeping the old content", () => system.stat(fd));
    if (Number(size) !== bytes.length) throw new WriteFailed("EIO", "keeping the old content");
    if (record.steps.length > 0) await syncFile(fd, bytes.length, moving);
  } catch (error) {
    unlinkQuietly(path, system);
    throw error;
  }
}

/** From here on the change stands. Throws WriteFailed, then it may still be taken back. */
export async function markDone(path: string, moving: Moving): Promise<void> {
  const { system } = moving;
  const flags = constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0);
  const fd = during("keeping the old content", () => system.open(path, flags));
  using _opened = new Descriptor(fd, system);
  await writeAll(fd, Buffer.from("D"), 0, moving);
  await syncFile(fd, 1, moving);
}

/** A journal that another process left; undefined if it is not complete, so that no file was changed by it. */
export async function readSetJournal(
  path: string,
  seen: Pick<BigIntStats, "dev" | "ino">,
  moving: Moving,
): Promise<(SetRecord & { readonly isDone: boolean }) | undefined> {
  const { system } = moving;
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const fd = during("looking at the file", () => system.open(path, flags));
  using _opened = new Descriptor(fd, system);
  const stat = during("looking at the file", () => system.stat(fd));
  const size = Number(stat.size);
  if (stat.dev !== seen.dev || stat.ino !== seen.ino || size > limits.setJournalBytesMax) return undefined;
  const bytes = Buffer.alloc(size);
  if ((await readAll(fd, bytes, 0, moving)) < size) return undefined;
  const json = bytes.subarray(headBytes);
  const state = bytes.toString("latin1", 0, 1);
  if (!["O", "D"].includes(state) || bytes.toString("latin1", 1, headBytes) !== `${hashOf(json)}\n`) return undefined;
  const record = parsed(json.toString("utf8"));
  return record && { ...record, isDone: state === "D" };
}

const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Nothing in it is believed: the file may be anyone's. Each path once, and only names of our own shape. */
function parsed(json: string): SetRecord | undefined {
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
  return value as unknown as SetRecord; // every field was looked at
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

/** `untouched`: it never changed. `not ours`: another program has changed it since, and that is left alone. */
export type TakenBack = "put back" | "untouched" | "not ours";

/**
 * Gives one file of a set its old content back, whatever came of it so far; done twice it does no more. Throws WriteFailed
 * if the system refuses, and then what is needed to try again still lies there.
 */
export async function takeStepBack(step: SetStep, folder: FolderHandle, context: WriteContext): Promise<TakenBack> {
  const { system } = context;
  const at = folder.at(nodePath.basename(step.path));
  if (step.does === "remove") return bringBack(folder.at(step.old), at, system);
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

/** Is it the very file that the set put there, as it was put there? */
const isFresh = (there: BigIntStats | undefined, { fresh }: SetStep): boolean =>
  there !== undefined &&
  fresh !== undefined &&
  there.isFile() &&
  String(there.ino) === fresh.inode &&
  Number(there.size) === fresh.sizeBytes &&
  String(there.mtimeNs) === fresh.mtimeNs;

/** A file that was removed has its old name beside it. */
function bringBack(old: string, at: string, system: System): TakenBack {
  const isThere = statOf(at, system) !== undefined;
  if (statOf(old, system) === undefined) return isThere ? "untouched" : "not ours";
  if (isThere) return "not ours";
  try {
    // Unlike a rename, a link never takes the place of a file that was made meanwhile.
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
    const moving: Moving = { system: context.system, reads: place.reads, signal: undefined };
    using journal = await openJournal(place.at(undo), stat, moving);
    if (journal === undefined) continue; // not complete: the file was not touched
    const came = await rollBack(journal, path, context, "all");
    if (came === "failed") throw new WriteFailed("EIO", "putting the old content back");
    return came === "restored" ? "put back" : came;
  }
  return undefined;
}

/** Takes away what lies beside a file for the set: its new content if that has no name yet, and its old one. */
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
