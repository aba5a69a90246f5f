/**
 * Stored contents, each once, named by its hash: `blobs/ab/<sha256>` is the content itself, so `sha256sum` can check
 * it; `<sha256>.br` is compressed, where that saves a disk block. Large files are stored as a hard link to the inode
 * that is about to be replaced, which costs no time and no space. Above a size where hashing would cost as much as the
 * whole change, a link is identified by its fingerprint (`record.ts`): size and mtime must still match when it is read.
 *
 * Nothing is removed at once: `sweep` moves files to `trash/`, and only a later sweep, which has seen all records
 * written meanwhile, removes them or moves them back. Until then readers find them there.
 */

// By the module: where `hash` is missing, a named import would end an old Node before our message about its version.
import * as crypto from "node:crypto";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import {
  HandleStack,
  type OpenFile,
  type Stored,
  type StoredFile,
  type StoreFolder,
  wholeFile,
  yieldToEventLoop,
} from "../../disk/disk.ts";
import { isHash } from "../../text/text.ts";
import { openPacks, type Packs } from "./packs.ts";
import { inodeFingerprint, isContentId } from "./record.ts";
import type { BlobRead, BlobSource, HistoryStore, SweptStore } from "../history-store.ts";

/** Contents up to this size are first appended to a pack. */
const packedBytesMax = 65_536;
/** A larger file that can be linked is not hashed: at 1.3 GB/s this takes 50 ms. */
export const hashedBytesMax = 67_108_864;
/** A content that is needed again is touched if its last touch is older than this, which keeps `sweep` away. */
const touchAfterMs = 300_000;
/** Bounds the memory of a long process; a forgotten content is read back once more. */
const verifiedMax = 10_000;

type Blobs = Pick<HistoryStore, "putBytes" | "putFile" | "isLinkTo" | "openBlob" | "blobs" | "sweep" | "asideBytes">;

export function openBlobs(folder: StoreFolder): Blobs {
  /** Contents that this process has written or read back: name, and the file state that was verified. */
  const verified = new Map<string, string>();
  const packs = openPacks(folder);
  const remember = (content: string, stored: Stored): void => {
    if (verified.size >= verifiedMax) verified.clear();
    verified.set(content, stateOf(stored));
  };

  const find = (content: string): string | undefined => {
    const name = nameOf(content);
    return [name, name + compressed].find((form) => folder.look(form) !== undefined);
  };

  const openNamed = async (content: string, name: string | undefined): Promise<BlobRead> => {
    const file = name === undefined ? undefined : folder.open(name);
    if (name === undefined || file === undefined) return "missing";
    using handles = new HandleStack();
    handles.use(file);
    const opened = await verifiedFile(content, name, file);
    if (opened === "damaged") verified.delete(content);
    else {
      remember(content, file);
      handles.move();
    }
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

  /** Tries one place after the other, and at last the first again, in case the content was moved there meanwhile. */
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

  /** Whether it is in a file, intact, and safe from sweeps and from changes through another link. */
  const isKept = async (content: string): Promise<boolean> => {
    const name = find(content);
    const stored = name === undefined ? undefined : folder.look(name);
    if (name === undefined || stored === undefined || stored.links > 1) return false;
    // Each process reads it back once: after a power cut it may be empty.
    if (verified.get(content) !== stateOf(stored)) {
      const opened = await openNamed(content, name);
      if (typeof opened === "string") return false;
      using _file = opened;
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
      const fingerprint = inodeFingerprint(file.identity);
      if (isLinked(folder, fingerprint, file) || folder.link(path, file.identity, nameOf(fingerprint)))
        return fingerprint;
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
    isLinkTo(content, fingerprint) {
      const stored = isContentId(content) ? folder.look(nameOf(content)) : undefined;
      return stored !== undefined && inodeFingerprint(stored) === fingerprint;
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

/** The link exists already, from a change that was not made. */
function isLinked(folder: StoreFolder, content: string, { identity }: OpenFile): boolean {
  const stored = folder.look(nameOf(content));
  return stored?.inode === identity.inode && stored.device === identity.device;
}

/** Takes ownership of the file; undefined if it is damaged or unreadable. */
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

/** Reads the file in chunks and yields to the event loop after each. */
async function eachChunk(file: OpenFile, take: (chunk: Uint8Array) => void): Promise<void> {
  const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(1, file.sizeBytes)));
  for (let at = 0; ; at += buffer.length) {
    const bytes = await file.read(buffer, at);
    take(buffer.subarray(0, bytes));
    if (bytes < buffer.length) return;
    await yieldToEventLoop();
  }
}

export async function hashOfFile(file: OpenFile): Promise<string> {
  const hash = crypto.createHash("sha256");
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

// The form of a stored content: its name, compressed or raw.

/** Contents up to this size are read into memory and compressed. */
export const smallBytesMax = 1_048_576;
/** Compressing less saves no disk block. */
const compressedBytesMin = 4_096;

const compressed = ".br";

const nameOf = (content: string): string =>
  isHash(content) ? `blobs/${content.slice(0, 2)}/${content}` : `blobs/inode/${content}`;
const contentOf = (name: string): string => (name.endsWith(compressed) ? name.slice(0, -compressed.length) : name);

const hashOf = (bytes: Uint8Array): string => crypto.hash("sha256", bytes, "hex");

/** Undefined where it does not pay: files take whole blocks, and sources shrink to a quarter. */
function pack(bytes: Uint8Array): Buffer | undefined {
  if (bytes.length <= compressedBytesMin || bytes.length > smallBytesMax) return undefined;
  const packed = brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  });
  return blocks(packed.length) < blocks(bytes.length) ? packed : undefined;
}

const blocks = (bytes: number): number => Math.ceil(bytes / compressedBytesMin);

function unpack(bytes: Uint8Array): Buffer | undefined {
  try {
    return brotliDecompressSync(bytes, { maxOutputLength: smallBytesMax });
  } catch {
    return undefined;
  }
}

// Stored contents as open files, so that a restore copies from them as from any other file.

function asOpenFile(file: StoredFile): OpenFile {
  const { device, inode, sizeBytes, mtimeNs, ctimeMs } = file;
  return {
    ...facts,
    identity: { device, inode, sizeBytes, mtimeNs, ctimeNs: BigInt(ctimeMs) * 1_000_000n },
    sizeBytes,
    mtimeMs: Number(mtimeNs / 1_000_000n),
    read: (into, at) => file.read(into, at),
    descriptor: file.descriptor,
    close: () => file.close(),
    [Symbol.dispose]: () => file.close(),
  };
}

export const openBytes = (bytes: Uint8Array): OpenFile => ({
  ...facts,
  identity: { device: 0n, inode: 0n, sizeBytes: bytes.length, mtimeNs: 0n, ctimeNs: 0n },
  sizeBytes: bytes.length,
  mtimeMs: 0,
  read(into, at) {
    const part = bytes.subarray(at, at + into.length);
    into.set(part);
    return part.length;
  },
  descriptor: undefined,
  close() {},
  [Symbol.dispose]() {},
});

/** Bytes in memory as an open file. */
export const storedFile = ({ bytes, mode }: { readonly bytes: Uint8Array; readonly mode: number }): OpenFile => ({
  ...openBytes(bytes),
  mode,
});

const facts = {
  mode: 0o600,
  links: 1,
  // It was just compared with its hash, and a writer compares again.
  changed: () => "no" as const,
};

// Removes contents that no record needs, while other processes may be storing some. Files are first moved aside; only a
// later sweep, which has seen all records written meanwhile, removes them or moves them back.

const trash = "trash";
/** `<time in ms>_<where it was>`. The time is in the name because some file systems do not change ctime on a rename. */
const trashShape = /^(\d+)_([0-9a-f]{2}|inode)_(.+)$/u;

/** Restores a content that a sweep moved aside and a record needs after all. */
function fromTrash(folder: StoreFolder, content: string): string | undefined {
  for (const aside of folder.list(trash)) {
    const [, , part = "", name = ""] = trashShape.exec(aside) ?? [];
    const place = `blobs/${part}/${name}`;
    if (contentOf(name) === content && folder.rename(`${trash}/${aside}`, place)) return place;
  }
  return undefined;
}

const trashBytes = (folder: StoreFolder): number =>
  folder.list(trash).reduce((sum, aside) => sum + (folder.look(`${trash}/${aside}`)?.sizeBytes ?? 0), 0);

interface BlobPlaces {
  readonly folder: StoreFolder;
  readonly packs: Packs;
  readonly isKept: (content: string) => Promise<boolean>;
}

async function sweepBlobs(
  places: BlobPlaces,
  isNeeded: (content: string) => boolean,
  graceMs: number,
): Promise<SweptStore> {
  const { folder } = places;
  folder.sweep();
  const nowMs = Date.now();
  const emptied = emptyTrash(folder, isNeeded, nowMs, graceMs);
  const unpacked = await takeApart(places, isNeeded, graceMs);
  for (const part of folder.list("blobs")) {
    for (const name of folder.list(`blobs/${part}`)) {
      if (isNeeded(contentOf(name))) continue;
      const stored = folder.look(`blobs/${part}/${name}`);
      if (stored === undefined || nowMs - stored.ctimeMs < graceMs) continue;
      folder.rename(`blobs/${part}/${name}`, `${trash}/${nowMs}_${part}_${name}`);
    }
    await yieldToEventLoop();
  }
  return { removed: emptied.removed + unpacked.removed, bytes: emptied.bytes + unpacked.bytes };
}

function emptyTrash(
  folder: StoreFolder,
  isNeeded: (content: string) => boolean,
  nowMs: number,
  graceMs: number,
): SweptStore {
  let [removed, bytes] = [0, 0];
  for (const aside of folder.list(trash)) {
    const [, timeMs, part = "", name = ""] = trashShape.exec(aside) ?? [];
    if (isNeeded(contentOf(name))) folder.rename(`${trash}/${aside}`, `blobs/${part}/${name}`);
    else if (nowMs - Number(timeMs ?? 0) >= graceMs) {
      bytes += folder.look(`${trash}/${aside}`)?.sizeBytes ?? 0;
      removed += 1;
      folder.remove(`${trash}/${aside}`);
    }
  }
  return { removed, bytes };
}

/** Moves the needed contents of finished packs into files, then removes the packs. */
async function takeApart(
  { folder, packs, isKept }: BlobPlaces,
  isNeeded: (content: string) => boolean,
  graceMs: number,
): Promise<SweptStore> {
  let [removed, bytes] = [0, 0];
  const finished = new Set(packs.finished(graceMs));
  for (const entry of packs.entries()) {
    if (!finished.has(entry.pack)) continue;
    const { content } = entry;
    if (!isNeeded(content)) {
      removed += 1;
      bytes += entry.bytes;
    } else if (!(await isKept(content))) {
      const payload = packs.read(entry);
      if (payload !== undefined) folder.put(nameOf(content) + (entry.compressed ? compressed : ""), payload);
      // A content damaged here may be intact in another pack, and a file with wrong content is written anew.
      if (!(await isKept(content))) folder.remove(nameOf(content) + (entry.compressed ? compressed : ""));
      await yieldToEventLoop();
    }
  }
  for (const pack of finished) packs.remove(pack);
  return { removed, bytes };
}
