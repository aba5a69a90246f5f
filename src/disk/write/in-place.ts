/**
 * Writes into a file instead of replacing it: for mount points, folders that accept no new file, owners and attributes that a new
 * file cannot get, and hard links to be kept. A crash is undone from the journal (`sweep.ts`), an error at once. The journal is
 * beside the file, where the next process that writes there finds it; in the state folder if the folder accepts no new file.
 */

import { createHash } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import * as nodePath from "node:path";
import { Descriptor, noFollow } from "../descriptor.ts";
import { attempt, orErrno } from "../errno.ts";
import {
  type FolderHandle,
  prepareSync,
  syncFolder,
  unlinkQuietly,
  retryWhenDiskFull,
  type WriteContext,
} from "../lookup/folder-handle.ts";
import { identityOf } from "../lookup/lookup.ts";
import type { OpenFile } from "../lookup/open-file.ts";
import type { System } from "../system.ts";
import {
  compareContent,
  type Content,
  contentOf,
  hashOfFile,
  type IoOptions,
  readAll,
  syncFile,
  writeAll,
  writeContent,
} from "./content.ts";
import type { Replaced, ReplaceInput } from "./replace.ts";
import { checkBytes, requireUnchanged } from "./same-file.ts";
import { makeFlags, tempName } from "./temp-file.ts";
import {
  during,
  duringLater,
  FileChanged,
  noNewFileErrnos,
  unconfirmed,
  WriteFailed,
  type WriteNote,
  type WriteStep,
} from "./write-failed.ts";

export interface InPlaceInput extends ReplaceInput {
  readonly folder: FolderHandle;
  readonly name: string;
  readonly before: BigIntStats;
  readonly content: Content;
  /** True if the old content may have been hard-linked already, which moves ctime. */
  readonly linked: boolean;
  /** The name of the journal for a file of a change set; it then stays until the set is done. */
  readonly undo?: string | undefined;
}

export async function writeInPlace(input: InPlaceInput, context: WriteContext): Promise<Replaced> {
  const { system } = context;
  const { folder, name, file, signal, beforeSwap } = input;
  const compare = input.linked ? "all but ctime" : "all";
  // Once begun, writing is finished, so only the preparations check the signal.
  const io: IoOptions = { system, reads: folder.reads, signal: undefined };
  const rights = await rightsOf(input, context);
  using opened = openForWriting(input, context);
  const { fd } = opened;
  using journal = await keepOld(input, { ...io, signal }, context);
  try {
    await checkBytes(file, input.readBytes, io);
    requireUnchanged(folder, name, file.identity, system, compare);
    signal.throwIfAborted();
    await beforeSwap?.("in place", folder.at(name));
    signal.throwIfAborted();
    requireUnchanged(folder, name, file.identity, system, "all but ctime");
  } catch (error) {
    unlinkQuietly(journal.path, system);
    throw error;
  }
  try {
    await overwrite(fd, journal.head, journal.after, io);
    await compareContent(journal.after, journal.head.from, (into, at) => file.read(into, at), io);
  } catch (error) {
    if (!(error instanceof WriteFailed)) throw error;
    const back = await putBack(fd, journal, io, file);
    if (back !== undefined) return { did: "damaged", errno: error.errno, during: error.during, journal: journal.path };
    rights.restore(fd);
    unlinkQuietly(journal.path, system);
    throw error;
  }
  try {
    const notes = rights.restore(fd);
    const after = identityOf(during("reading back what was written", () => system.stat(fd)));
    during("closing the file", () => opened.close());
    if (input.undo === undefined) await dropJournal(journal, folder, context);
    return { did: "replaced", how: "in place", identity: after, separated: false, notes };
  } catch (error) {
    // The new bytes are written and synced, so a sweep would find nothing to restore from the journal.
    if (input.undo === undefined) unlinkQuietly(journal.path, system);
    return unconfirmed(error);
  }
}

/** Opens exactly the looked-up file. Without a handle's path, a symlink in its place is not followed. */
function openForWriting({ node, file }: InPlaceInput, { system }: WriteContext): Descriptor {
  const byName = node.handle.handlePath === node.real;
  const flags = constants.O_WRONLY | (constants.O_NONBLOCK ?? 0) | (byName ? (constants.O_NOFOLLOW ?? 0) : 0);
  const { device: dev, inode: ino } = file.identity;
  return openExactly(node.handle.handlePath, flags, { dev, ino }, "writing in place", system).opened;
}

export function openExactly(
  path: string,
  flags: number,
  { dev, ino }: Pick<BigIntStats, "dev" | "ino">,
  step: WriteStep,
  system: System,
): { readonly opened: Descriptor; readonly sizeBytes: number } {
  using opened = new Descriptor(
    during(step, () => system.open(path, flags)),
    system,
  );
  const stat = during(step, () => system.stat(opened.fd));
  if (stat.dev !== dev || stat.ino !== ino) throw new FileChanged();
  return { opened: opened.move(), sizeBytes: Number(stat.size) };
}

async function keepOld(input: InPlaceInput, io: IoOptions, context: WriteContext): Promise<Journal> {
  const { folder, name, node, file, content } = input;
  const head: JournalHead = {
    version: 1,
    name,
    path: node.real,
    device: String(file.identity.device),
    inode: String(file.identity.inode),
    from: content.headBytes,
    oldBytes: file.sizeBytes,
    newBytes: content.sizeBytes,
  };
  const before = contentOf([{ from: 0, to: file.sizeBytes }], file);
  const keepIn = async (place: FolderHandle): Promise<Journal> => {
    using folderSync = prepareSync(place, context.system);
    const journal = await retryWhenDiskFull(context, () =>
      writeJournal(place.at(input.undo ?? tempName("undo")), head, before, content, io),
    );
    try {
      await folderSync.sync();
      return journal;
    } catch (error) {
      journal.close();
      unlinkQuietly(journal.path, context.system);
      throw error;
    }
  };
  try {
    return await keepIn(folder);
  } catch (error) {
    const isRefused = error instanceof WriteFailed && noNewFileErrnos.includes(error.errno);
    const state = isRefused && error.during === "keeping the old content" ? stateFolder(context, "make") : undefined;
    if (state === undefined) throw error;
    return keepIn(state);
  }
}

/** Writes the bytes past the old end first: a full disk then shows before an old byte is overwritten. */
async function overwrite(fd: number, head: JournalHead, content: Content, io: IoOptions): Promise<void> {
  const { from, oldBytes, newBytes } = head;
  const { system } = io;
  if (newBytes > oldBytes) await writeContent(fd, content, { from: oldBytes, to: newBytes }, io);
  await writeContent(fd, content, { from, to: Math.min(oldBytes, newBytes) }, io);
  if (newBytes < oldBytes) during("writing in place", () => system.truncate(fd, newBytes));
  const { size } = during("checking the size of what was written", () => system.stat(fd));
  if (Number(size) !== newBytes) throw new WriteFailed("EIO", "checking the size of what was written");
  await syncFile(fd, newBytes, io);
}

/** Restores the old bytes; undefined if the file has them again, durably. `file` is for verifying them. */
export async function putBack(
  fd: number,
  { head, before }: Journal,
  io: IoOptions,
  file?: OpenFile,
): Promise<WriteFailed | undefined> {
  try {
    await writeContent(fd, before, { from: head.from, to: head.oldBytes }, io);
    during("putting the old content back", () => io.system.truncate(fd, head.oldBytes));
    await syncFile(fd, head.oldBytes, io);
    if (file !== undefined) await compareContent(before, head.from, (into, at) => file.read(into, at), io);
    return undefined;
  } catch (error) {
    if (error instanceof WriteFailed) return error;
    throw error;
  }
}

const capability = "security.capability";

/** Writing clears set-user-id, set-group-id and capabilities, even for root. `restore` throws no system errors. */
async function rightsOf({ node, before }: InPlaceInput, { system }: WriteContext) {
  const step = "carrying over owner, mode and attributes";
  const path = node.handle.handlePath;
  const calls = await duringLater(step, () => system.attributes());
  const value = during(step, () =>
    calls?.list(path).includes(capability) === true ? calls.get(path, capability) : undefined,
  );
  const orNote = (note: WriteNote, call: () => void): readonly WriteNote[] =>
    orErrno(
      () => (call(), []),
      () => [note],
    );
  return {
    restore: (fd: number): readonly WriteNote[] => [
      ...orNote("special mode bits not kept", () => {
        if (system.stat(fd).mode !== before.mode) system.changeMode(fd, Number(before.mode) & 0o7777);
      }),
      ...orNote("attributes not kept", () => {
        if (value !== undefined) calls?.set(fd, capability, value);
      }),
    ],
  };
}

async function dropJournal(journal: Journal, folder: FolderHandle, context: WriteContext): Promise<void> {
  const beside = nodePath.dirname(journal.path) === nodePath.dirname(folder.at("x"));
  const place = beside ? folder : stateFolder(context, "find");
  if (!unlinkQuietly(journal.path, context.system)) throw new WriteFailed("EIO", "removing the temporary file");
  if (place === undefined) return;
  await syncFolder(place, context.system);
}

// The undo journal of a file written in place: its old and its new bytes from the first one that changes. The file is touched only
// after its journal is complete and synced, so an incomplete journal belongs to an untouched file. Without the new bytes a
// half-written file would look like one that another program has changed since.
//
// Layout: a block with the head as JSON, old bytes, new bytes, SHA-256 of all that.

interface JournalHead {
  readonly version: 1;
  readonly name: string;
  readonly path: string;
  /** Which file it must be; a string, since JSON has no large integers. */
  readonly inode: string;
  /** For information only: devices may be numbered anew at the next boot. */
  readonly device: string;
  readonly from: number;
  readonly oldBytes: number;
  readonly newBytes: number;
}

/** `before` and `after` have the bytes from `head.from` on, at their offsets in the file. */
export interface Journal extends Disposable {
  readonly path: string;
  readonly head: JournalHead;
  readonly before: Content;
  readonly after: Content;
  close(): void;
}

const blockBytes = 8_192;
const hashBytes = 32;

/** Complete and synced; the caller syncs the folder. Throws WriteFailed or FileChanged; no journal is left then. */
async function writeJournal(
  path: string,
  head: JournalHead,
  before: Content,
  after: Content,
  io: IoOptions,
): Promise<Journal> {
  const { system } = io;
  const fd = during("keeping the old content", () => system.make(path, makeFlags, 0o600));
  try {
    using opened = new Descriptor(fd, system);
    const hash = createHash("sha256");
    const block = Buffer.alloc(blockBytes);
    if (block.write(JSON.stringify(head)) === blockBytes)
      throw new WriteFailed("ENAMETOOLONG", "keeping the old content");
    hash.update(block);
    await writeAll(fd, block, 0, io);
    const { from, oldBytes, newBytes } = head;
    const offsets = offsetsOf(head);
    await writeContent(fd, before, { from, to: oldBytes, shift: offsets.before - from }, io, hash);
    await writeContent(fd, after, { from, to: newBytes, shift: offsets.after - from }, io, hash);
    await writeAll(fd, hash.digest(), offsets.end, io);
    const { size } = during("keeping the old content", () => system.stat(fd));
    if (Number(size) !== offsets.end + hashBytes) throw new WriteFailed("EIO", "keeping the old content");
    await syncFile(fd, offsets.end, io);
    // Recovery depends on the journal, so it is read back.
    if (!(await isIntact(fd, head, io))) throw new WriteFailed("EIO", "keeping the old content");
    return journalOf(opened.move(), path, head, io);
  } catch (error) {
    unlinkQuietly(path, system);
    throw error;
  }
}

/** A journal left by another process; undefined if it is incomplete and so useless. */
export async function openJournal(
  path: string,
  seen: Pick<BigIntStats, "dev" | "ino">,
  io: IoOptions,
): Promise<Journal | undefined> {
  const { opened: found, sizeBytes } = openExactly(
    path,
    constants.O_RDONLY | noFollow,
    seen,
    "looking at the file",
    io.system,
  );
  using opened = found;
  const block = Buffer.alloc(blockBytes);
  await readAll(opened.fd, block, 0, io);
  const head = parseHead(block);
  if (head === undefined || offsetsOf(head).end + hashBytes !== sizeBytes) return undefined;
  return (await isIntact(opened.fd, head, io)) ? journalOf(opened.move(), path, head, io) : undefined;
}

async function isIntact(fd: number, head: JournalHead, io: IoOptions): Promise<boolean> {
  const { end } = offsetsOf(head);
  const stored = Buffer.alloc(hashBytes);
  await readAll(fd, stored, end, io);
  return (await hashOfFile(fd, end, io))?.equals(stored) === true;
}

function offsetsOf({ from, oldBytes, newBytes }: JournalHead) {
  const after = blockBytes + Math.max(0, oldBytes - from);
  return { before: blockBytes, after, end: after + Math.max(0, newBytes - from) };
}

function journalOf(opened: Descriptor, path: string, head: JournalHead, io: IoOptions): Journal {
  const offsets = offsetsOf(head);
  const part = (sizeBytes: number, start: number): Content => ({
    sizeBytes,
    headBytes: 0,
    read: async (into, at) => {
      const got = await readAll(opened.fd, into, start + at - head.from, io);
      if (got < into.length) throw new WriteFailed("EIO", "reading back what was written");
    },
  });
  const close = (): void => opened[Symbol.dispose]();
  return {
    path,
    head,
    before: part(head.oldBytes, offsets.before),
    after: part(head.newBytes, offsets.after),
    close,
    [Symbol.dispose]: close,
  };
}

/** Validates every field: the file may come from any user. */
function parseHead(block: Buffer): JournalHead | undefined {
  const end = block.indexOf(0);
  const value: unknown = attempt(() => JSON.parse(block.toString("utf8", 0, end < 0 ? 0 : end)));
  if (typeof value !== "object" || value === null) return undefined;
  const { version, name, path, device, inode, from, oldBytes, newBytes } = value as Record<keyof JournalHead, unknown>;
  const texts = [name, path, device, inode].every((text) => typeof text === "string");
  const numbers = [from, oldBytes, newBytes].every((number) => Number.isSafeInteger(number) && Number(number) >= 0);
  if (version !== 1 || !texts || !numbers || Number(from) > Math.min(Number(oldBytes), Number(newBytes))) {
    return undefined;
  }
  return value as JournalHead; // every field was checked
}

/** The folder for undo journals that cannot be beside their file, private to its owner; undefined if there is none. */
export function stateFolder(context: WriteContext, how: "find" | "make"): FolderHandle | undefined {
  const { stateDir, system } = context;
  if (stateDir === undefined) return undefined;
  const path = nodePath.join(stateDir, "undo");
  if (how === "make") makeAll(path, system);
  const stat = orErrno(
    () => system.statLink(path),
    (errno) => {
      if (how === "make") throw new WriteFailed(errno, "looking at the folder");
    },
  );
  // A symlink or another user's folder would take old contents to an unexpected place.
  if (stat === undefined || !stat.isDirectory() || !isOwn(stat)) {
    if (how === "find") return undefined;
    throw new WriteFailed("ENOTDIR", "keeping the old content");
  }
  return {
    path,
    reads: "later", // it may be on a file system that hangs, and nothing here is urgent
    identity: identityOf(stat),
    at: (name) => nodePath.join(path, name),
    hasMoved: () => false,
    close() {},
    [Symbol.dispose]() {},
  };
}

function makeAll(path: string, system: System): void {
  const make = (): void => system.makeFolder(path, 0o700);
  orErrno(make, (errno) => {
    if (errno === "EEXIST") return;
    if (errno !== "ENOENT") throw new WriteFailed(errno, "making a folder");
    makeAll(nodePath.dirname(path), system);
    during("making a folder", make);
  });
}

export const isOwn = (stat: BigIntStats): boolean =>
  process.geteuid === undefined || stat.uid === BigInt(process.geteuid());
