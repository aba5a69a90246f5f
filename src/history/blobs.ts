/**
 * Contents, each stored once and under its own hash: `blobs/ab/<sha256>` is the content itself, so `sha256sum` can check
 * it; `<sha256>.br` is the same compressed, where that saves a disk block. Large files come by a link to the inode that
 * is about to be replaced, which costs no time and no space. Beyond a size where hashing would cost as much as the whole
 * change, a link is known by its mark instead (`versions.ts`): size and mtime must still be right when it is read.
 *
 * Nothing is removed at once: `sweep` moves to `trash/`, and only a later sweep, which has seen all records written
 * meanwhile, removes or moves back. Until then readers find it there.
 */

import { createHash } from "node:crypto";
import type { OpenFile } from "../disk/open-file.ts";
import { othersTurn } from "../disk/others-turn.ts";
import type { Stored, StoredFile, StoreFolder } from "../disk/store-folder.ts";
import { wholeFile } from "../disk/whole-file.ts";
import { compressed, contentOf, hashOf, nameOf, pack, smallBytesMax, unpack } from "./blob-code.ts";
import { asOpenFile, openBytes } from "./blob-file.ts";
import { fromTrash, sweepBlobs, trashBytes } from "./blob-sweep.ts";
import { openPacks } from "./packs.ts";
import { isContentId } from "./record.ts";
import type { BlobRead, BlobSource, HistoryStore } from "./store.ts";
import { isHash, markOf } from "./versions.ts";

/** Up to here contents are first stored together. */
const packedBytesMax = 65_536;
/** Above this, a file that can be linked is not hashed: at 1.3 GB/s, 50 ms. */
export const hashedBytesMax = 67_108_864;
/** A content that is relied on again is touched if it has not been for so long, which keeps `sweep` away. */
const touchAfterMs = 300_000;

const verifiedMax = 10_000;

type Blobs = Pick<
  HistoryStore,
  "putBytes" | "putFile" | "has" | "isLinkTo" | "openBlob" | "blobs" | "sweep" | "asideBytes"
>;

export function openBlobs(folder: StoreFolder): Blobs {
  /** Contents that this process has written or read back: name, and the state in which they were right. */
  const verified = new Map<string, string>();
  const packs = openPacks(folder);
  const remember = (content: string, stored: Stored): void => {
    if (verified.size >= verifiedMax) verified.clear();
    verified.set(content, stateOf(stored));
  };

  /** The file in which a content lies, in one form or the other. */
  const find = (content: string): string | undefined => {
    const name = nameOf(content);
    return [name, name + compressed].find((form) => folder.look(form) !== undefined);
  };

  const openNamed = async (content: string, name: string | undefined): Promise<BlobRead> => {
    const file = name === undefined ? undefined : folder.open(name);
    if (name === undefined || file === undefined) return "missing";
    const opened = await verifiedFile(content, name, file);
    if (opened === "damaged") {
      file.close();
      verified.delete(content);
    } else remember(content, file);
    return opened;
  };

  const openPacked = (content: string, which: "all" | "known"): BlobRead => {
    let isThere = false;
    for (const entry of packs.find(content, which)) {
      isThere = true;
      const bytes = packs.read(entry);
      const plain = bytes !== undefined && entry.compressed ? unpack(bytes) : bytes;
      if (plain !== undefined && hashOf(plain) === content) return openBytes(plain);
      packs.forget(content);
    }
    return isThere ? "damaged" : "missing";
  };

  /** From one place after the other; at last once more from the first, in case it was moved there meanwhile. */
  const open = async (content: string): Promise<BlobRead> => {
    if (!isContentId(content)) return "missing";
    const places = [
      () => openPacked(content, "known"),
      () => openNamed(content, find(content)),
      () => openPacked(content, "all"),
      () => openNamed(content, fromTrash(folder, content)),
      () => openNamed(content, find(content)),
    ];
    let answer: BlobRead = "missing";
    for (const place of places) {
      const found = await place();
      if (typeof found !== "string") return found;
      if (found === "damaged") answer = found;
    }
    return answer;
  };

  /** Is it in a file, right, and safe from being swept or changed through another name? */
  const isKept = async (content: string): Promise<boolean> => {
    const name = find(content);
    const stored = name === undefined ? undefined : folder.look(name);
    if (name === undefined || stored === undefined || stored.links > 1) return false;
    // Once in a process it is read back: after a power cut it may be empty.
    if (verified.get(content) !== stateOf(stored)) {
      const read = await openNamed(content, name);
      if (typeof read === "string") return false;
      read.close();
    }
    if (Date.now() - stored.ctimeMs > touchAfterMs) folder.touch(name);
    return folder.look(name) !== undefined;
  };

  const putBytes = async (bytes: Uint8Array): Promise<string> => {
    const content = hashOf(bytes);
    if (packs.isOwn(content) || (await isKept(content))) return content;
    const packed = pack(bytes);
    const payload = packed ?? bytes;
    if (payload.length <= packedBytesMax) packs.put(content, payload, packed !== undefined);
    else folder.put(nameOf(content) + (packed === undefined ? "" : compressed), payload);
    return content;
  };

  const putFile = async ({ file, path, bytes, will }: BlobSource): Promise<string> => {
    const whole = bytes ?? (await wholeFile(file, smallBytesMax));
    if (whole !== undefined && whole.length <= smallBytesMax) return putBytes(whole);
    const mayLink = will === "be renamed over";
    if (mayLink && file.sizeBytes > hashedBytesMax) {
      const mark = markOf(file.identity);
      if (isLinked(folder, mark, file) || folder.link(path, file.identity, nameOf(mark))) return mark;
    }
    const content = whole === undefined ? await hashOfFile(file) : hashOf(whole);
    if (mayLink && isLinked(folder, content, file)) return content;
    if (await isKept(content)) return content;
    if (mayLink && folder.link(path, file.identity, nameOf(content))) return content;
    if (!folder.clone(file, nameOf(content))) await copy(folder, file, content);
    return content;
  };

  return {
    putBytes,
    putFile,
    has: (content) => isContentId(content) && (find(content) !== undefined || !packs.find(content).next().done),
    isLinkTo(content, mark) {
      const stored = isContentId(content) ? folder.look(nameOf(content)) : undefined;
      return stored !== undefined && markOf(stored) === mark;
    },
    openBlob: open,
    *blobs() {
      for (const part of folder.list("blobs"))
        for (const name of folder.list(`blobs/${part}`)) {
          const bytes = folder.look(`blobs/${part}/${name}`)?.sizeBytes;
          if (bytes !== undefined) yield { content: contentOf(name), bytes };
        }
      yield* packs.entries();
    },
    asideBytes: () => trashBytes(folder),
    sweep: (isNeeded, graceMs) => sweepBlobs({ folder, packs, isKept }, isNeeded, graceMs),
  };
}

const stateOf = ({ inode, sizeBytes, mtimeNs }: Stored): string => `${inode}-${sizeBytes}-${mtimeNs}`;

/** The link is there already, from a change that did not come about. */
function isLinked(folder: StoreFolder, content: string, { identity }: OpenFile): boolean {
  const stored = folder.look(nameOf(content));
  return stored?.inode === identity.inode && stored.device === identity.device;
}

/** Takes the file over, unless it is damaged. */
async function verifiedFile(content: string, name: string, file: StoredFile): Promise<OpenFile | "damaged"> {
  if (!isHash(content)) {
    const [, , , size, mtime] = content.split("-");
    const isSame = file.sizeBytes.toString(16) === size && file.mtimeNs.toString(16) === mtime;
    return isSame ? asOpenFile(file) : "damaged";
  }
  if (name.endsWith(compressed)) {
    const packed = Buffer.allocUnsafe(Math.min(file.sizeBytes, smallBytesMax));
    const plain = unpack(packed.subarray(0, file.read(packed, 0)));
    if (plain === undefined || hashOf(plain) !== content) return "damaged";
    file.close();
    return openBytes(plain);
  }
  const open = asOpenFile(file);
  return (await hashOfFile(open)) === content ? open : "damaged";
}

const chunkBytes = 1_048_576;

/** Feeds the file through in chunks, and lets others have their turn after each. */
async function eachChunk(file: OpenFile, take: (chunk: Uint8Array) => void): Promise<void> {
  const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(1, file.sizeBytes)));
  for (let at = 0; ; at += buffer.length) {
    const bytes = await file.read(buffer, at);
    take(buffer.subarray(0, bytes));
    if (bytes < buffer.length) return;
    await othersTurn();
  }
}

export async function hashOfFile(file: OpenFile): Promise<string> {
  const hash = createHash("sha256");
  await eachChunk(file, (chunk) => hash.update(chunk));
  return hash.digest("hex");
}

async function copy(folder: StoreFolder, file: OpenFile, content: string): Promise<void> {
  const draft = folder.draft();
  try {
    await eachChunk(file, (chunk) => draft.write(chunk));
    draft.keep(nameOf(content));
  } catch (error) {
    draft.drop();
    throw error;
  }
}
