/**
 * Writes into a file instead of replacing it: for mount points, folders that take no new file, owners and attributes
 * that cannot be given to a new file, and hard links that are to be kept. A reader may see a half-written file; a crash
 * is undone from the journal (`sweep.ts`), an error at once.
 *
 * The journal lies in the file's own folder, where whoever comes next to that folder finds it, also from another
 * account's session or another state folder. If the folder takes no new file it goes to the state folder.
 */

import { createHash } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import * as nodePath from "node:path";
import { Descriptor } from "../descriptor.ts";
import { errnoName } from "../errno.ts";
import { type FolderHandle, prepareSync, unlinkQuietly, withRoom, type WriteContext } from "../lookup/folder-handle.ts";
import type { OpenFile } from "../lookup/open-file.ts";
import type { System } from "../system.ts";
import {
  compareContent,
  type Content,
  contentOf,
  hashOfFile,
  type Moving,
  readAll,
  syncFile,
  writeAll,
  writeContent,
} from "./content.ts";
import type { Replaced, ReplaceInput } from "./replace.ts";
import { checkBytes, stillThere } from "./same-file.ts";
import { tempName } from "./temp-file.ts";
import {
  asWriteFailed,
  during,
  duringLater,
  FileChanged,
  identityOf,
  unconfirmed,
  WriteFailed,
  type WriteNote,
} from "./write-failed.ts";

export interface InPlaceInput extends ReplaceInput {
  readonly folder: FolderHandle;
  readonly name: string;
  readonly before: BigIntStats;
  readonly content: Content;
  /** True if the old content was kept once already, by a link perhaps, which moves ctime. */
  readonly linked: boolean;
  /** A name for the journal, which then stays when all is done: the file is one of several that are changed together. */
  readonly undo?: string | undefined;
}

export async function writeInPlace(input: InPlaceInput, context: WriteContext): Promise<Replaced> {
  const { system } = context;
  const { folder, name, file, signal, beforeSwap } = input;
  const compare = input.linked ? "all but ctime" : "all";
  // What is begun is finished, so only the preparations ask the signal.
  const moving: Moving = { system, reads: folder.reads, signal: undefined };
  const rights = await rightsOf(input, context);
  using opened = openForWriting(input, context);
  const { fd } = opened;
  using journal = await keepOld(input, { ...moving, signal }, context);
  try {
    await checkBytes(file, input.readBytes, moving);
    stillThere(folder, name, file.identity, system, compare);
    signal.throwIfAborted();
    await beforeSwap?.("in place", folder.at(name));
    signal.throwIfAborted();
    stillThere(folder, name, file.identity, system, "all but ctime");
  } catch (error) {
    unlinkQuietly(journal.path, system);
    throw error;
  }
  try {
    await overwrite(fd, journal.head, journal.after, moving);
    await compareContent(journal.after, journal.head.from, (into, at) => file.read(into, at), moving);
  } catch (error) {
    if (!(error instanceof WriteFailed)) throw error;
    const back = await putBack(fd, journal, moving, file);
    if (back !== undefined) return { did: "damaged", errno: error.errno, during: error.during, journal: journal.path };
    rights.giveBack(fd);
    unlinkQuietly(journal.path, system);
    throw error;
  }
  try {
    const notes = rights.giveBack(fd);
    const after = identityOf(during("reading back what was written", () => system.stat(fd)));
    during("closing the file", () => opened.close());
    if (input.undo === undefined) await dropJournal(journal, folder, context);
    return { did: "replaced", how: "in place", identity: after, separated: false, notes };
  } catch (error) {
    // The new bytes are there and synced. Its journal would be found to be done with.
    if (input.undo === undefined) unlinkQuietly(journal.path, system);
    return unconfirmed(error);
  }
}

/** The very file that was found. Where there is no handle's path, a link that took its place is not followed. */
function openForWriting({ node, file }: InPlaceInput, { system }: WriteContext): Descriptor {
  const byName = node.handle.handlePath === node.real;
  const flags = constants.O_WRONLY | (constants.O_NONBLOCK ?? 0) | (byName ? (constants.O_NOFOLLOW ?? 0) : 0);
  const fd = during("writing in place", () => system.open(node.handle.handlePath, flags));
  using opened = new Descriptor(fd, system);
  const stat = during("writing in place", () => system.stat(fd));
  if (stat.dev !== file.identity.device || stat.ino !== file.identity.inode) throw new FileChanged();
  return opened.move();
}

async function keepOld(input: InPlaceInput, moving: Moving, context: WriteContext): Promise<Journal> {
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
    let journal: Journal | undefined;
    try {
      journal = await withRoom(context, () =>
        writeJournal(place.at(input.undo ?? tempName("undo")), head, before, content, moving),
      );
      await folderSync.sync();
      return journal;
    } catch (error) {
      journal?.close();
      if (journal !== undefined) unlinkQuietly(journal.path, context.system);
      throw error;
    }
  };
  try {
    return await keepIn(folder);
  } catch (error) {
    const noNewFile = error instanceof WriteFailed && ["EACCES", "EPERM", "EROFS"].includes(error.errno);
    const state = noNewFile && error.during === "keeping the old content" ? stateFolder(context, "make") : undefined;
    if (state === undefined) throw error;
    return keepIn(state);
  }
}

/** What lies behind the old end comes first: a full disk is found out before an old byte is gone. */
async function overwrite(fd: number, head: JournalHead, content: Content, moving: Moving): Promise<void> {
  const { from, oldBytes, newBytes } = head;
  const { system } = moving;
  if (newBytes > oldBytes) await writeContent(fd, content, { from: oldBytes, to: newBytes }, moving);
  await writeContent(fd, content, { from, to: Math.min(oldBytes, newBytes) }, moving);
  if (newBytes < oldBytes) during("writing in place", () => system.truncate(fd, newBytes));
  const { size } = during("checking the size of what was written", () => system.stat(fd));
  if (Number(size) !== newBytes) throw new WriteFailed("EIO", "checking the size of what was written");
  await syncFile(fd, newBytes, moving);
}

/** Undoes what was written; undefined if the file has its old bytes again, durably. `file` is for reading them again. */
export async function putBack(
  fd: number,
  { head, before }: Journal,
  moving: Moving,
  file?: OpenFile,
): Promise<WriteFailed | undefined> {
  try {
    await writeContent(fd, before, { from: head.from, to: head.oldBytes }, moving);
    during("putting the old content back", () => moving.system.truncate(fd, head.oldBytes));
    await syncFile(fd, head.oldBytes, moving);
    if (file !== undefined) await compareContent(before, head.from, (into, at) => file.read(into, at), moving);
    return undefined;
  } catch (error) {
    if (error instanceof WriteFailed) return error;
    throw error;
  }
}

/** What a file is allowed to do, and loses when somebody writes into it. */
interface Rights {
  /** Never throws for what the system says: the content is what it shall be by then. */
  giveBack(fd: number): readonly WriteNote[];
}

/** The system takes it from a file with the first byte that is written, also where root writes it. */
const capability = "security.capability";

/** Writing takes set-user-id, set-group-id and capabilities away; they are the file's own and are given back. */
async function rightsOf({ node, before }: InPlaceInput, { system }: WriteContext): Promise<Rights> {
  const step = "carrying over owner, mode and attributes";
  const path = node.handle.handlePath;
  const calls = await duringLater(step, () => system.attributes());
  const value = during(step, () =>
    calls?.list(path).includes(capability) === true ? calls.get(path, capability) : undefined,
  );
  const orNote = (note: WriteNote, call: () => void): readonly WriteNote[] => {
    try {
      call();
      return [];
    } catch (error) {
      if (errnoName(error) === undefined) throw error;
      return [note];
    }
  };
  return {
    giveBack: (fd) => [
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
  using folderSync = prepareSync(place, context.system);
  await folderSync.sync();
}

// The undo journal of a file that is written in place: the bytes it had and those it gets, from the first one that
// changes. Nothing of the file is touched before its journal is complete and synced; so a journal that is not complete
// belongs to a file that was not touched. It has the new bytes too, since without them nobody could tell a file that a
// crash left half written from one that somebody has changed since.
//
// Layout: a block with the head as JSON, old bytes, new bytes, sha256 of all that.

interface JournalHead {
  readonly version: 1;
  /** The file, by its name in the folder and by its whole path. */
  readonly name: string;
  readonly path: string;
  /** Which file it must be; a text, since JSON has no large numbers. */
  readonly inode: string;
  /** Told, not asked for: after the next start of the system it may have another number. */
  readonly device: string;
  /** The first byte that changes. */
  readonly from: number;
  readonly oldBytes: number;
  readonly newBytes: number;
}

/** `before` and `after` have the bytes from `head.from` on, by their place in the file. */
export interface Journal extends Disposable {
  readonly path: string;
  readonly head: JournalHead;
  readonly before: Content;
  readonly after: Content;
  close(): void;
}

const blockBytes = 8_192;
const hashBytes = 32;

const noFollow = constants.O_NOFOLLOW ?? 0;

/** Made, complete and synced; the caller syncs the folder. Throws WriteFailed or FileChanged, then there is none. */
async function writeJournal(
  path: string,
  head: JournalHead,
  before: Content,
  after: Content,
  moving: Moving,
): Promise<Journal> {
  const { system } = moving;
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | noFollow;
  const fd = during("keeping the old content", () => system.make(path, flags, 0o600));
  try {
    using opened = new Descriptor(fd, system);
    const hash = createHash("sha256");
    const block = Buffer.alloc(blockBytes);
    if (block.write(JSON.stringify(head)) === blockBytes)
      throw new WriteFailed("ENAMETOOLONG", "keeping the old content");
    hash.update(block);
    await writeAll(fd, block, 0, moving);
    const { from, oldBytes, newBytes } = head;
    const places = placesOf(head);
    await writeContent(fd, before, { from, to: oldBytes, shift: places.before - from }, moving, hash);
    await writeContent(fd, after, { from, to: newBytes, shift: places.after - from }, moving, hash);
    await writeAll(fd, hash.digest(), places.end, moving);
    const { size } = during("keeping the old content", () => system.stat(fd));
    if (Number(size) !== places.end + hashBytes) throw new WriteFailed("EIO", "keeping the old content");
    await syncFile(fd, places.end, moving);
    // What everything hangs on is not taken on trust.
    if (!(await isIntact(fd, head, moving))) throw new WriteFailed("EIO", "keeping the old content");
    return journalOf(opened.move(), path, head, moving);
  } catch (error) {
    unlinkQuietly(path, system);
    throw error;
  }
}

/** A journal that somebody left; undefined if it is not complete and so of no use. */
export async function openJournal(
  path: string,
  seen: Pick<BigIntStats, "dev" | "ino">,
  moving: Moving,
): Promise<Journal | undefined> {
  const { system } = moving;
  const fd = during("looking at the file", () =>
    system.open(path, constants.O_RDONLY | noFollow | (constants.O_NONBLOCK ?? 0)),
  );
  using opened = new Descriptor(fd, system);
  const stat = during("looking at the file", () => system.stat(fd));
  // Another file took its name since it was found to be a plain one of our own.
  if (stat.dev !== seen.dev || stat.ino !== seen.ino) throw new FileChanged();
  const size = Number(stat.size);
  const block = Buffer.alloc(blockBytes);
  await readAll(fd, block, 0, moving);
  const head = parseHead(block);
  if (head === undefined || placesOf(head).end + hashBytes !== size) return undefined;
  return (await isIntact(fd, head, moving)) ? journalOf(opened.move(), path, head, moving) : undefined;
}

/** Is it complete, to the last byte? */
async function isIntact(fd: number, head: JournalHead, moving: Moving): Promise<boolean> {
  const { end } = placesOf(head);
  const stored = Buffer.alloc(hashBytes);
  await readAll(fd, stored, end, moving);
  return (await hashOfFile(fd, end, moving))?.equals(stored) === true;
}

function placesOf({ from, oldBytes, newBytes }: JournalHead) {
  const after = blockBytes + Math.max(0, oldBytes - from);
  return { before: blockBytes, after, end: after + Math.max(0, newBytes - from) };
}

function journalOf(opened: Descriptor, path: string, head: JournalHead, moving: Moving): Journal {
  const places = placesOf(head);
  const part = (sizeBytes: number, start: number): Content => ({
    sizeBytes,
    headBytes: 0,
    read: async (into, at) => {
      const got = await readAll(opened.fd, into, start + at - head.from, moving);
      if (got < into.length) throw new WriteFailed("EIO", "reading back what was written");
    },
  });
  const close = (): void => opened[Symbol.dispose]();
  return {
    path,
    head,
    before: part(head.oldBytes, places.before),
    after: part(head.newBytes, places.after),
    close,
    [Symbol.dispose]: close,
  };
}

/** Nothing in it is believed: the file may be anyone's. */
function parseHead(block: Buffer): JournalHead | undefined {
  let value: unknown;
  try {
    const end = block.indexOf(0);
    value = JSON.parse(block.toString("utf8", 0, end < 0 ? 0 : end));
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { version, name, path, device, inode, from, oldBytes, newBytes } = value as Record<keyof JournalHead, unknown>;
  const texts = [name, path, device, inode].every((text) => typeof text === "string");
  const numbers = [from, oldBytes, newBytes].every((number) => Number.isSafeInteger(number) && Number(number) >= 0);
  if (version !== 1 || !texts || !numbers || Number(from) > Math.min(Number(oldBytes), Number(newBytes))) {
    return undefined;
  }
  return value as JournalHead; // every field was looked at
}

// The part of the state folder in which undo journals lie that have no place beside their file.

/** Undefined if the toolkit has no state folder, or if it is only looked for and not there. Readable by its owner only. */
export function stateFolder(context: WriteContext, how: "find" | "make"): FolderHandle | undefined {
  const { stateDir, system } = context;
  if (stateDir === undefined) return undefined;
  const path = nodePath.join(stateDir, "undo");
  if (how === "make") makeAll(path, system);
  let stat: ReturnType<System["statLink"]>;
  try {
    stat = system.statLink(path);
  } catch (error) {
    if (how === "find" && errnoName(error) !== undefined) return undefined;
    throw asWriteFailed(error, "looking at the folder");
  }
  // A link there, or another's folder, would take old contents to where nobody expects them.
  const isOurs = stat.isDirectory() && (process.geteuid === undefined || stat.uid === BigInt(process.geteuid()));
  if (!isOurs) {
    if (how === "find") return undefined;
    throw new WriteFailed("ENOTDIR", "keeping the old content");
  }
  return {
    path,
    reads: "later", // it may lie on a file system that hangs, and nothing here is in a hurry
    identity: identityOf(stat),
    at: (name) => nodePath.join(path, name),
    hasMoved: () => false,
    close() {},
    [Symbol.dispose]() {},
  };
}

function makeAll(path: string, system: System): void {
  try {
    system.makeFolder(path, 0o700);
  } catch (error) {
    switch (errnoName(error)) {
      case "EEXIST":
        return;
      case "ENOENT":
        makeAll(nodePath.dirname(path), system);
        return during("making a folder", () => system.makeFolder(path, 0o700));
      default:
        throw asWriteFailed(error, "making a folder");
    }
  }
}
