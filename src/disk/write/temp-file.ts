/** Our temporary files. Their names say what they are and which process created them, so a sweep removes exactly leftovers. */

import { randomBytes } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import * as nodePath from "node:path";
import { processIdentity } from "../lock/process-identity.ts";
import { Descriptor } from "../descriptor.ts";
import { orErrno } from "../errno.ts";
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

const randomName = (): string => randomBytes(6).toString("hex");

export interface TempName {
  readonly kind: TempKind;
  readonly owner: string;
}

export function parseTempName(name: string): TempName | undefined {
  const [, kind = "", owner] = shape.exec(name) ?? [];
  if (owner === undefined || !kinds.includes(kind)) return undefined;
  return { kind: kind as TempKind, owner }; // checked by the line above
}

/** Never opens an existing file or follows a symlink. */
export const makeFlags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

export interface TempFile {
  readonly path: string;
  readonly inode: bigint;
}

export interface TempPlan {
  readonly content: Content;
  readonly mode: number;
  readonly signal: AbortSignal;
  /** Sets owner, attributes and mode before the sync, so that one sync covers all. */
  readonly setMetadata?: (fd: number, fresh: BigIntStats) => Promise<void>;
  readonly name?: string | undefined;
  /** Work to do during each sync of the file. Its error stops the change. */
  readonly meanwhile?: (() => void) | undefined;
}

type InFolder = Pick<FolderHandle, "at" | "reads">;

export class NoTempFile extends WriteFailed {}

/** Throws WriteFailed or the signal's reason; no temporary file is left then. */
export const writeTemp = (folder: InFolder, plan: TempPlan, context: WriteContext): Promise<TempFile> =>
  retryWhenDiskFull(context, () => writeOnce(folder, plan, context));

async function writeOnce(folder: InFolder, plan: TempPlan, { system }: WriteContext): Promise<TempFile> {
  const { content, signal } = plan;
  const path = folder.at(plan.name ?? tempName("new"));
  const io: IoOptions = { system, reads: folder.reads, signal };
  const fd = orErrno(
    () => system.make(path, makeFlags, plan.mode),
    (errno) => {
      throw new NoTempFile(errno, "making the temporary file");
    },
  );
  try {
    using opened = new Descriptor(fd, system);
    await writeContent(fd, content, { from: 0, to: content.sizeBytes }, io);
    // Only this catches a file system that reports a write it did not do.
    const stat = during("checking the size of what was written", () => system.stat(fd));
    if (Number(stat.size) !== content.sizeBytes) throw new WriteFailed("EIO", "checking the size of what was written");
    await plan.setMetadata?.(fd, stat);
    // A local disk answers from the same page cache before and after the sync, by name or by descriptor.
    const isLocal = io.reads === "at once";
    // On a fast disk a small sync ends before another thread has begun, so that pays only with other work to do.
    const early = isLocal && (plan.meanwhile !== undefined || !syncsAtOnce(content.sizeBytes, system));
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

export function freshOf({ path, inode }: TempFile, system: System): NonNullable<SetStep["fresh"]> {
  const { ino, size, mtimeNs } = during("looking at the file", () => system.statLink(path));
  if (ino !== inode) throw new FileChanged();
  return { name: nodePath.basename(path), inode: String(ino), sizeBytes: Number(size), mtimeNs: String(mtimeNs) };
}

/** Content up to this size is read back; above it only the size is checked. */
const comparedBytesMax = 67_108_864;

/**
 * Reads the content back by name from a file system that is not a local disk: cloud folders have been seen to store nothing and
 * report success. The content is assembled a second time for the comparison, which is faster than any hash and also detects an old
 * file that changed during the copy when its times are too coarse to show it.
 */
async function readBack(path: string, inode: bigint, content: Content, io: IoOptions): Promise<void> {
  const { system } = io;
  const step = "reading back what was written";
  const fd = during(step, () => system.open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)));
  using _opened = new Descriptor(fd, system);
  const stat = during(step, () => system.stat(fd));
  if (stat.ino !== inode || Number(stat.size) !== content.sizeBytes) throw new WriteFailed("EIO", step);
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
