/**
 * Caches line indexes between calls: in memory for every file, and in the state folder for large ones, so that a new process
 * need not scan again. A stored index is used only if its checksum, format and file identity are right; otherwise it is
 * ignored.
 */

import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import { Descriptor, noFollow } from "../descriptor.ts";
import { attempt } from "../errno.ts";
import type { NewlineForm } from "../../text/text.ts";
import type { Identity } from "../lookup/lookup.ts";
import { makeFolders } from "../write/make-folders.ts";

export const blockBytes = 65_536;

export interface LineIndex {
  readonly form: NewlineForm;
  readonly identity: Identity;
  /** A multiple of `blockBytes`, or the size of the file. */
  readonly scannedBytes: number;
  /** Newlines before each block; one number more than there are blocks. */
  readonly sums: ArrayLike<number>;
  /** Whether the last character is a newline; valid once the whole file was scanned. */
  readonly lastIsNewline: boolean;
}

export const hashOf = (bytes: Uint8Array): Buffer => createHash("sha256").update(bytes).digest();

/** The hash of a text in UTF-8. `ascii` promises that it is ASCII, which is faster. */
export const hashOfText = (text: string, ascii: boolean): Buffer =>
  createHash("sha256")
    .update(text, ascii ? "latin1" : "utf8")
    .digest();

export const isComplete = (index: LineIndex): boolean => index.scannedBytes === index.identity.sizeBytes;

export const isSameState = (a: Identity, b: Identity): boolean =>
  a.device === b.device &&
  a.inode === b.inode &&
  a.sizeBytes === b.sizeBytes &&
  a.mtimeNs === b.mtimeNs &&
  a.ctimeNs === b.ctimeNs;

export type IndexStore = ReturnType<typeof createIndexStore>;

/** Numbers in memory over all indexes: 16 MiB. The index of a 5 GB file has 80,000. */
const sumsMax = 2_097_152;
/** Scanning a smaller file is faster than storing its index. */
const diskBytesMin = 33_554_432;
/** An index of a 5 GB file is 320 kB; 256 of them stay below 100 MB. */
const diskFilesMax = 256;

export function createIndexStore(stateDir: string | undefined) {
  /** Least recently used first: a Map keeps the order of insertion. */
  const memory = new Map<string, LineIndex>();
  let sumsInMemory = 0;
  const folder = stateDir === undefined ? undefined : nodePath.join(stateDir, "line-index");

  const forget = (key: string): void => {
    sumsInMemory -= memory.get(key)?.sums.length ?? 0;
    memory.delete(key);
  };
  const remember = (key: string, index: LineIndex): void => {
    forget(key);
    memory.set(key, index);
    sumsInMemory += index.sums.length;
    for (const oldest of memory.keys()) {
      if (sumsInMemory <= sumsMax || oldest === key) break;
      forget(oldest);
    }
  };

  return {
    find(identity: Identity, form: NewlineForm): LineIndex | undefined {
      const key = keyOf(identity, form);
      const usable = (index: LineIndex | undefined): index is LineIndex =>
        index !== undefined && isSameState(index.identity, identity);
      const known = memory.get(key);
      if (usable(known)) {
        remember(key, known);
        return known;
      }
      if (folder === undefined || identity.sizeBytes < diskBytesMin) return undefined;
      const stored = load(nodePath.join(folder, key));
      if (!usable(stored) || stored.form !== form) return undefined;
      remember(key, stored);
      return stored;
    },
    keep(index: LineIndex): void {
      const key = keyOf(index.identity, index.form);
      remember(key, index);
      if (folder !== undefined && isComplete(index) && index.identity.sizeBytes >= diskBytesMin)
        save(folder, key, index);
    },
    drop(identity: Identity, form: NewlineForm): void {
      const key = keyOf(identity, form);
      forget(key);
      if (folder !== undefined) attempt(() => fs.unlinkSync(nodePath.join(folder, key)));
    },
  };
}

const keyOf = ({ device, inode }: Identity, form: NewlineForm): string => `${device}-${inode}-${form}`;

/** "FHLI" and the version of the format. */
const magic = 0x46484c49;
const version = 2;
const headerBytes = 64;
const forms: readonly NewlineForm[] = ["byte", "utf-16le", "utf-16be", "utf-32le", "utf-32be"];

/** The header, the newlines of each block as u32, then the SHA-256 of both. */
function encode(index: LineIndex): Buffer {
  const blocks = index.sums.length - 1;
  const bytes = Buffer.alloc(headerBytes + blocks * 4 + 32);
  const { identity } = index;
  bytes.writeUInt32BE(magic, 0);
  bytes.writeUInt32LE(version, 4);
  bytes.writeUInt32LE(blocks, 8);
  bytes.writeUInt8(forms.indexOf(index.form), 12);
  bytes.writeUInt8(index.lastIsNewline ? 1 : 0, 13);
  bytes.writeBigUInt64LE(identity.device, 16);
  bytes.writeBigUInt64LE(identity.inode, 24);
  bytes.writeBigUInt64LE(BigInt(identity.sizeBytes), 32);
  bytes.writeBigInt64LE(identity.mtimeNs, 40);
  bytes.writeBigInt64LE(identity.ctimeNs, 48);
  for (let block = 0; block < blocks; block += 1) {
    bytes.writeUInt32LE((index.sums[block + 1] ?? 0) - (index.sums[block] ?? 0), headerBytes + block * 4);
  }
  const end = headerBytes + blocks * 4;
  hashOf(bytes.subarray(0, end)).copy(bytes, end);
  return bytes;
}

function decode(bytes: Buffer): LineIndex | undefined {
  if (bytes.length < headerBytes + 32 || bytes.readUInt32BE(0) !== magic || bytes.readUInt32LE(4) !== version)
    return undefined;
  const blocks = bytes.readUInt32LE(8);
  const end = headerBytes + blocks * 4;
  if (bytes.length !== end + 32 || !hashOf(bytes.subarray(0, end)).equals(bytes.subarray(end))) return undefined;
  const form = forms[bytes.readUInt8(12)];
  const sizeBytes = Number(bytes.readBigUInt64LE(32));
  if (form === undefined || blocks !== Math.ceil(sizeBytes / blockBytes)) return undefined;
  const sums = new Float64Array(blocks + 1);
  for (let block = 0; block < blocks; block += 1) {
    const count = bytes.readUInt32LE(headerBytes + block * 4);
    if (count > blockBytes) return undefined;
    sums[block + 1] = (sums[block] ?? 0) + count;
  }
  return {
    form,
    identity: {
      device: bytes.readBigUInt64LE(16),
      inode: bytes.readBigUInt64LE(24),
      sizeBytes,
      mtimeNs: bytes.readBigInt64LE(40),
      ctimeNs: bytes.readBigInt64LE(48),
    },
    scannedBytes: sizeBytes,
    sums,
    lastIsNewline: bytes.readUInt8(13) === 1,
  };
}

/** Never throws: an unreadable index counts as none. */
function load(path: string): LineIndex | undefined {
  return attempt(() => {
    using file = new Descriptor(fs.openSync(path, fs.constants.O_RDONLY | noFollow));
    const stat = fs.fstatSync(file.fd);
    // An index of 1 GiB would belong to a file of 16 TiB.
    return stat.isFile() && stat.size < 1_073_741_824 ? decode(fs.readFileSync(file.fd)) : undefined;
  });
}

/** Never throws: a full or read-only state folder costs speed only. Readers see the old or the new index. */
function save(folder: string, key: string, index: LineIndex): void {
  attempt(() => {
    makeFolders(folder, 0o700);
    const temporary = nodePath.join(folder, `${key}.${process.pid}.${Date.now().toString(36)}.tmp`);
    try {
      fs.writeFileSync(temporary, encode(index), { mode: 0o600, flag: "wx" });
      fs.renameSync(temporary, nodePath.join(folder, key));
    } catch (error) {
      attempt(() => fs.unlinkSync(temporary));
      throw error;
    }
    prune(folder);
  });
}

function prune(folder: string): void {
  const names = fs.readdirSync(folder);
  if (names.length <= diskFilesMax) return;
  const aged = names.map((name) => ({
    name,
    ms: attempt(() => fs.statSync(nodePath.join(folder, name)).mtimeMs) ?? 0,
  }));
  aged.sort((a, b) => a.ms - b.ms);
  for (const { name } of aged.slice(0, names.length - diskFilesMax))
    attempt(() => fs.unlinkSync(nodePath.join(folder, name)));
}
