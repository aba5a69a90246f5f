/**
 * Our temporary files beside others: new content before it gets its name, and undo journals. Their names say what they are and
 * which process created them, so that a sweep removes exactly the leftovers of a crash.
 */

import { randomBytes } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import * as nodePath from "node:path";
import { processIdentity } from "../lock/process-identity.ts";
import { Descriptor } from "../descriptor.ts";
import { type FolderHandle, unlinkQuietly, retryWhenDiskFull, type WriteContext } from "../lookup/folder-handle.ts";
import type { System } from "../system.ts";
import {
  compareContent,
  type Content,
  type IoOptions,
  readAll,
  syncFile,
  syncsAtOnce,
  writeContent,
} from "./content.ts";
import type { SetStep } from "./set-journal.ts";
import { during, FileChanged, WriteFailed } from "./write-failed.ts";

/**
 * `new`: content without its final name. `undo`: the old bytes of a file written in place. `set`: the journal of a change set.
 * `old`: a file of such a set as it was, until all are changed.
 */
export type TempKind = "new" | "undo" | "set" | "old";

const kinds: readonly string[] = ["new", "undo", "set", "old"] satisfies TempKind[];
const shape = /^\.filehand-([a-z]{3,4})-(\d{1,10}-\d{1,20}-[0-9a-f]{12})-[0-9a-f]{12}$/u;

export const tempName = (kind: TempKind): string => `.filehand-${kind}-${processIdentity()}-${randomName()}`;

/** Random digits for the next names. Process-wide: drawing many at once is far cheaper, and no digit is used twice. */
let randomDigits = "";
const nameDigits = 12;

function randomName(): string {
  if (randomDigits === "") randomDigits = randomBytes(nameDigits * 64).toString("hex");
  const name = randomDigits.slice(0, nameDigits);
  randomDigits = randomDigits.slice(nameDigits);
  return name;
}

/** The kind and process of a temporary name; undefined for any other name. */
export function parseTempName(name: string): { readonly kind: TempKind; readonly owner: string } | undefined {
  const [, kind = "", owner] = shape.exec(name) ?? [];
  if (owner === undefined || !kinds.includes(kind)) return undefined;
  return { kind: kind as TempKind, owner }; // checked by the line above
}

/** Never opens an existing file or follows a symlink. */
export const makeFlags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** New content that is written, synced, closed and read back. */
export interface TempFile {
  readonly path: string;
  readonly inode: bigint;
}

export interface TempPlan {
  readonly content: Content;
  /** Permissions during writing; a new file keeps them. */
  readonly mode: number;
  readonly signal: AbortSignal;
  /** Sets owner, attributes and mode before the sync, so that one sync covers all. */
  readonly setMetadata?: (fd: number, fresh: BigIntStats) => Promise<void>;
  /** Overrides the usual temporary name. */
  readonly name?: string | undefined;
  /** Work to do during each sync of the file. Its error stops the change. */
  readonly meanwhile?: (() => void) | undefined;
}

/** The folder accepts no new file. */
export class NoTempFile extends WriteFailed {}

/** Throws WriteFailed or the signal's reason; no temporary file is left then. */
export const writeTemp = (folder: FolderHandle, plan: TempPlan, context: WriteContext): Promise<TempFile> =>
  retryWhenDiskFull(context, () => writeOnce(folder, plan, context));

async function writeOnce(folder: FolderHandle, plan: TempPlan, { system }: WriteContext): Promise<TempFile> {
  const { content, signal } = plan;
  const path = folder.at(plan.name ?? tempName("new"));
  const io: IoOptions = { system, reads: folder.reads, signal };
  let fd: number;
  try {
    fd = during("making the temporary file", () => system.make(path, makeFlags, plan.mode));
  } catch (error) {
    throw error instanceof WriteFailed ? new NoTempFile(error.errno, error.during) : error;
  }
  try {
    using opened = new Descriptor(fd, system);
    await writeContent(fd, content, { from: 0, to: content.sizeBytes }, io);
    // Only this catches a file system that reports a write it did not do.
    const stat = during("checking the size of what was written", () => system.stat(fd));
    if (Number(stat.size) !== content.sizeBytes) throw new WriteFailed("EIO", "checking the size of what was written");
    await plan.setMetadata?.(fd, stat);
    // A local disk answers from the same page cache before and after the sync, by name or by descriptor.
    const isLocal = io.reads === "at once";
    const early = isLocal && syncsLater(plan, system);
    const meanwhile = async (): Promise<void> => {
      plan.meanwhile?.();
      await compare(fd, content, io);
    };
    await syncFile(fd, content.sizeBytes, io, early ? meanwhile : undefined);
    if (isLocal && !early) await compare(fd, content, io);
    during("closing the file", () => opened.close());
    if (!isLocal) await readBack(path, stat.ino, content, io);
    return { path, inode: stat.ino };
  } catch (error) {
    unlinkQuietly(path, system);
    throw error;
  }
}

/** How a change set recognises the file; see `change-set.ts`. */
export function freshOf({ path, inode }: TempFile, system: System): NonNullable<SetStep["fresh"]> {
  const { ino, size, mtimeNs } = during("looking at the file", () => system.statLink(path));
  if (ino !== inode) throw new FileChanged();
  return { name: nodePath.basename(path), inode: String(ino), sizeBytes: Number(size), mtimeNs: String(mtimeNs) };
}

/** On a fast disk a small sync ends before another thread has begun, so it pays only with other work to do. */
const syncsLater = ({ meanwhile, content }: TempPlan, system: System): boolean =>
  meanwhile !== undefined || !syncsAtOnce(content.sizeBytes, system);

/** Content up to this size is read back; above it only the size is checked. */
const comparedBytesMax = 67_108_864;

/**
 * Reads the content back by name from a file system that is not a local disk: cloud folders have been seen to store nothing and
 * report success. This happens before the content gets its name, while the old content still exists. The content is assembled a
 * second time for the comparison, which is faster than any hash and also detects an old file that changed during the copy when
 * its times are too coarse to show it.
 */
async function readBack(path: string, inode: bigint, content: Content, io: IoOptions): Promise<void> {
  const { system } = io;
  const { sizeBytes } = content;
  const step = "reading back what was written";
  const fd = during(step, () => system.open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)));
  using _opened = new Descriptor(fd, system);
  const stat = during(step, () => system.stat(fd));
  if (stat.ino !== inode || Number(stat.size) !== sizeBytes) throw new WriteFailed("EIO", step);
  await compare(fd, content, io);
}

/** Content copied from a file that another program writes to differs each time: that is FileChanged, not a disk fault. */
async function compare(fd: number, content: Content, io: IoOptions): Promise<void> {
  if (content.sizeBytes > comparedBytesMax) return;
  try {
    await compareContent(content, 0, (into, at) => readAll(fd, into, at, io), io);
  } catch (error) {
    const { source } = content;
    const changed = source !== undefined && during("looking at the file", () => source.changed()) !== "no";
    throw error instanceof WriteFailed && changed ? new FileChanged() : error;
  }
}
