/**
 * The undo journal of a file that is written in place: the bytes it had and those it gets, from the first one that
 * changes. Nothing of the file is touched before its journal is complete and synced; so a journal that is not complete
 * belongs to a file that was not touched. It has the new bytes too, since without them nobody could tell a file that a
 * crash left half written from one that somebody has changed since.
 *
 * Layout: a block with the head as JSON, old bytes, new bytes, sha256 of all that.
 */

import { createHash } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { type Content, hashOfFile, type Moving, readAll, syncFile, writeAll, writeContent } from "./content.ts";
import { closeQuietly, unlinkQuietly } from "./held-folder.ts";
import { during, FileChanged, WriteFailed } from "./write-failed.ts";

export interface JournalHead {
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
export interface Journal {
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
export async function writeJournal(
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
    return journalOf(fd, path, head, moving);
  } catch (error) {
    closeQuietly(fd, system);
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
  let journal: Journal | undefined;
  try {
    const stat = during("looking at the file", () => system.stat(fd));
    // Another file took its name since it was found to be a plain one of our own.
    if (stat.dev !== seen.dev || stat.ino !== seen.ino) throw new FileChanged();
    const size = Number(stat.size);
    const block = Buffer.alloc(blockBytes);
    await readAll(fd, block, 0, moving);
    const head = parseHead(block);
    if (head === undefined || placesOf(head).end + hashBytes !== size) return undefined;
    if (await isIntact(fd, head, moving)) journal = journalOf(fd, path, head, moving);
    return journal;
  } finally {
    if (journal === undefined) closeQuietly(fd, system);
  }
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

function journalOf(fd: number, path: string, head: JournalHead, moving: Moving): Journal {
  const places = placesOf(head);
  const part = (sizeBytes: number, start: number): Content => ({
    sizeBytes,
    headBytes: 0,
    read: async (into, at) => {
      const got = await readAll(fd, into, start + at - head.from, moving);
      if (got < into.length) throw new WriteFailed("EIO", "reading back what was written");
    },
  });
  return {
    path,
    head,
    before: part(head.oldBytes, places.before),
    after: part(head.newBytes, places.after),
    close: () => closeQuietly(fd, moving.system),
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
