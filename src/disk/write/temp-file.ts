/**
 * Files of ours that lie beside others for a moment: new content on its way to its name, and undo journals. Their names
 * tell what they are and who made them, so that a sweep can remove what a crash left behind and nothing else.
 */

import { randomBytes } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import * as nodePath from "node:path";
import { processIdentity } from "../lock/process-identity.ts";
import { Descriptor } from "../descriptor.ts";
import { type FolderHandle, unlinkQuietly, withRoom, type WriteContext } from "../lookup/folder-handle.ts";
import type { System } from "../system.ts";
import { compareContent, type Content, type Moving, readAll, syncFile, syncsAtOnce, writeContent } from "./content.ts";
import type { SetStep } from "./set-journal.ts";
import { during, FileChanged, WriteFailed } from "./write-failed.ts";

/**
 * `new`: content that has not got its name yet. `undo`: the old bytes of a file that is written in place. `set`: the journal
 * of several files that are changed together. `old`: one of those files as it was, until all of them are changed.
 */
export type TempKind = "new" | "undo" | "set" | "old";

const kinds: readonly string[] = ["new", "undo", "set", "old"] satisfies TempKind[];
const shape = /^\.filehand-([a-z]{3,4})-(\d{1,10}-\d{1,20}-[0-9a-f]{12})-[0-9a-f]{12}$/u;

export const tempName = (kind: TempKind): string => `.filehand-${kind}-${processIdentity()}-${randomName()}`;

/** Random digits for many names at once: asking for them costs far more than having them made. */
let digits = "";
const nameDigits = 12;

function randomName(): string {
  if (digits === "") digits = randomBytes(nameDigits * 64).toString("hex");
  const name = digits.slice(0, nameDigits);
  digits = digits.slice(nameDigits);
  return name;
}

/** What a name of ours says; undefined for any other name. */
export function parseTempName(name: string): { readonly kind: TempKind; readonly owner: string } | undefined {
  const [, kind = "", owner] = shape.exec(name) ?? [];
  if (owner === undefined || !kinds.includes(kind)) return undefined;
  return { kind: kind as TempKind, owner }; // checked by the line above
}

/** Never an existing file, never through a link. */
export const makeFlags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** New content in a file of ours, written, synced, closed and read back. */
export interface TempFile {
  readonly path: string;
  readonly inode: bigint;
}

export interface TempPlan {
  readonly content: Content;
  /** Permissions while it is written; for a new file those it keeps. */
  readonly mode: number;
  readonly signal: AbortSignal;
  /** Gives the file its owner, attributes and mode, before the sync, so that one sync covers all. */
  readonly dress?: (fd: number, fresh: BigIntStats) => Promise<void>;
  /** Its name, if it is not to be one of the usual ones. */
  readonly name?: string | undefined;
  /** Work that need not wait for the disk: done while the file is synced, each time. What it throws stops the change. */
  readonly meanwhile?: (() => void) | undefined;
}

/** The temporary file could not be made at all: the folder takes no new names. */
export class NoTempFile extends WriteFailed {}

/** Throws WriteFailed or what the signal says; then there is no temporary file. */
export const writeTemp = (folder: FolderHandle, plan: TempPlan, context: WriteContext): Promise<TempFile> =>
  withRoom(context, () => writeOnce(folder, plan, context));

async function writeOnce(folder: FolderHandle, plan: TempPlan, { system }: WriteContext): Promise<TempFile> {
  const { content, signal } = plan;
  const path = folder.at(plan.name ?? tempName("new"));
  const moving: Moving = { system, reads: folder.reads, signal };
  let fd: number;
  try {
    fd = during("making the temporary file", () => system.make(path, makeFlags, plan.mode));
  } catch (error) {
    throw error instanceof WriteFailed ? new NoTempFile(error.errno, error.during) : error;
  }
  try {
    using opened = new Descriptor(fd, system);
    await writeContent(fd, content, { from: 0, to: content.sizeBytes }, moving);
    // A file system that lies about a write is caught only here.
    const stat = during("checking the size of what was written", () => system.stat(fd));
    if (Number(stat.size) !== content.sizeBytes) throw new WriteFailed("EIO", "checking the size of what was written");
    await plan.dress?.(fd, stat);
    // On a local disk it is the same memory that is asked, before the sync and after it, by the name or not.
    const isLocal = moving.reads === "at once";
    const early = isLocal && syncsLater(plan, system);
    const meanwhile = async (): Promise<void> => {
      plan.meanwhile?.();
      await compare(fd, content, moving);
    };
    await syncFile(fd, content.sizeBytes, moving, early ? meanwhile : undefined);
    if (isLocal && !early) await compare(fd, content, moving);
    during("closing the file", () => opened.close());
    if (!isLocal) await readBack(path, stat.ino, content, moving);
    return { path, inode: stat.ino };
  } catch (error) {
    unlinkQuietly(path, system);
    throw error;
  }
}

/** What a set of changes knows it by; see `change-set.ts`. */
export function freshOf({ path, inode }: TempFile, system: System): NonNullable<SetStep["fresh"]> {
  const { ino, size, mtimeNs } = during("looking at the file", () => system.statLink(path));
  if (ino !== inode) throw new FileChanged();
  return { name: nodePath.basename(path), inode: String(ino), sizeBytes: Number(size), mtimeNs: String(mtimeNs) };
}

/** On a quick disk little is synced before another thread has begun, unless there is something else to do. */
const syncsLater = ({ meanwhile, content }: TempPlan, system: System): boolean =>
  meanwhile !== undefined || !syncsAtOnce(content.sizeBytes, system);

/** Content up to this size is read back; beyond it the size must do. */
const comparedBytesMax = 67_108_864;

/**
 * Asks a file system that is not a local disk for what it was given, by name and anew: cloud folders have been seen to
 * store nothing and to report success. It is done before the content gets its name, because then the old content is still there. The
 * content is put together a second time for that, which is quicker than any hash, and which finds out as well if the
 * old file was changed while it was copied and its times are too coarse to tell.
 */
async function readBack(path: string, inode: bigint, content: Content, moving: Moving): Promise<void> {
  const { system } = moving;
  const { sizeBytes } = content;
  const step = "reading back what was written";
  const fd = during(step, () => system.open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)));
  using _opened = new Descriptor(fd, system);
  const stat = during(step, () => system.stat(fd));
  if (stat.ino !== inode || Number(stat.size) !== sizeBytes) throw new WriteFailed("EIO", step);
  await compare(fd, content, moving);
}

/** What is copied from a file that somebody writes to is not the same twice: no fault of the disk. */
async function compare(fd: number, content: Content, moving: Moving): Promise<void> {
  if (content.sizeBytes > comparedBytesMax) return;
  try {
    await compareContent(content, 0, (into, at) => readAll(fd, into, at, moving), moving);
  } catch (error) {
    const { source } = content;
    const changed = source !== undefined && during("looking at the file", () => source.changed()) !== "no";
    throw error instanceof WriteFailed && changed ? new FileChanged() : error;
  }
}
