/** Reads and atomically writes small text files of our own, such as settings. Errors are messages, never raw system errors. */

import { isUtf8 } from "node:buffer";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { constants, fstatSync, openSync, readSync } from "node:fs";
import * as nodePath from "node:path";
import { Descriptor } from "../descriptor.ts";
import type { Disk } from "../disk.ts";
import { attempt, errnoName } from "../errno.ts";
import { ReadFailed } from "../lookup/open-file.ts";
import { makeFolders } from "../write/make-folders.ts";

/** A program that writes the text back needs the mark kept. */
export type ByteOrderMark = "left out" | "kept";

/** The text of a file; undefined if it does not exist. Throws an Error with a message for people. */
export function readSmallFile(path: string, bytesMax: number, mark: ByteOrderMark = "left out"): string | undefined {
  using handle = open(path);
  if (handle === undefined) return undefined;
  const stat = fstatSync(handle.fd);
  if (!stat.isFile()) throw cannotRead(path, "it is not a regular file");
  if (stat.size > bytesMax) throw cannotRead(path, `it has ${stat.size} bytes, the most is ${bytesMax}`);
  const bytes = readAll(path, handle.fd, bytesMax);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: mark === "kept" }).decode(bytes);
  } catch {
    throw cannotRead(path, "it is not valid UTF-8");
  }
}

function open(path: string): Descriptor | undefined {
  try {
    // Opening a FIFO would wait for a writer. Windows has neither the flag nor FIFOs in folders.
    return new Descriptor(openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)));
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw cannotRead(path, reasons.get(code) ?? `the system says ${code}`);
  }
}

const reasons: ReadonlyMap<string, string> = new Map([
  ["EACCES", "the system does not permit it"],
  ["EPERM", "the system does not permit it"],
  ["EISDIR", "it is not a regular file"],
  ["ENXIO", "it is not a regular file"], // a socket
  ["ELOOP", "its links lead in a circle"],
]);

/** Reads to the end, not to the size: the file may grow meanwhile, and kernel files report size 0. */
function readAll(path: string, handle: number, bytesMax: number): Uint8Array {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for (;;) {
    const chunk = new Uint8Array(Math.min(65_536, bytesMax + 1));
    let count: number;
    try {
      count = readSync(handle, chunk);
    } catch (error) {
      throw cannotRead(path, `the system says ${errorCode(error)}`);
    }
    if (count === 0) return Buffer.concat(chunks, total);
    total += count;
    if (total > bytesMax) throw cannotRead(path, `it has more than ${bytesMax} bytes`);
    chunks.push(chunk.subarray(0, count));
  }
}

const errorCode = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error);

const cannotRead = (path: string, reason: string): Error => new Error(`Cannot read "${path}": ${reason}`);

/** The text of a small file beneath the roots; undefined if it is gone, too large, or not UTF-8. */
export function readSmallText(path: string, disk: Disk, bytesMax: number): string | undefined {
  const lookup = disk.lookup(path);
  if (lookup.seen !== "node") return undefined;
  using _handle = lookup.handle;
  if (lookup.kind !== "file") return undefined;
  const opened = disk.open(lookup);
  if ("errno" in opened) return undefined;
  using file = opened;
  try {
    // A file whose reads may hang has no descriptor for sync reads.
    if (file.sizeBytes > bytesMax || file.descriptor === undefined) return undefined;
    const bytes = Buffer.allocUnsafe(file.sizeBytes);
    const read = file.read(bytes, 0);
    return read === bytes.length && isUtf8(bytes) ? bytes.toString("utf8").replace(/^\ufeff/, "") : undefined;
  } catch (error) {
    if (error instanceof ReadFailed) return undefined;
    throw error;
  }
}

export interface SmallWrite {
  readonly path: string;
  readonly before: string | undefined;
  readonly text: string;
  readonly bytesMax: number;
  /** `follow` allows a symlink at this name, which people use for files kept elsewhere. */
  readonly links: "follow" | "refuse";
  /** Whether `before` includes a byte order mark; by default not. */
  readonly mark?: ByteOrderMark;
}

/** Undefined on success. `changed`: another program wrote meanwhile, and nothing was written. */
export function writeSmallFile(write: SmallWrite): "changed" | { readonly why: string } | undefined {
  try {
    return put(write);
  } catch (error) {
    const errno = errnoName(error);
    if (errno === undefined) throw error;
    return { why: writeReasons.get(errno) ?? `the system says ${errno}` };
  }
}

const writeReasons: ReadonlyMap<string, string> = new Map([
  ["EACCES", "the system does not permit it"],
  ["EPERM", "the system does not permit it"],
  ["EROFS", "it lies on a disk that is read-only"],
  ["ENOSPC", "the disk is full"],
  ["ELOOP", "its links lead in a circle"],
  ["ENOENT", "it is a link to something that does not exist"],
  ["EEXIST", "its folder is no folder"],
  ["ENOTDIR", "its folder is no folder"],
]);

function put({
  path,
  before,
  text,
  bytesMax,
  links,
  mark,
}: SmallWrite): "changed" | { readonly why: string } | undefined {
  makeFolders(nodePath.dirname(path));
  const named = fs.lstatSync(path, { throwIfNoEntry: false });
  if (named?.isSymbolicLink() === true && links === "refuse") return { why: "it is a link" };
  const target = named?.isSymbolicLink() === true ? fs.realpathSync.native(path) : path;
  const old = fs.statSync(target, { throwIfNoEntry: false });
  // A rename would replace it all the same, and root may write any file, but its owner made it read-only.
  if (old !== undefined && (old.mode & 0o222) === 0) return { why: "it is read-only" };
  const temporary = `${target}.${randomBytes(6).toString("hex")}.tmp`;
  const fd = fs.openSync(temporary, "wx", old === undefined ? 0o666 : 0o600);
  try {
    using file = new Descriptor(fd);
    fs.writeFileSync(fd, text);
    // When root edits another user's file, its owner must not change.
    if (old !== undefined && process.geteuid?.() === 0) fs.fchownSync(fd, old.uid, old.gid);
    if (old !== undefined) fs.fchmodSync(fd, old.mode & 0o777);
    fs.fsyncSync(fd);
    file.close();
    // An unreadable file was not read before either.
    if (attempt(() => readSmallFile(target, bytesMax, mark)) !== before) {
      fs.unlinkSync(temporary);
      return "changed";
    }
    fs.renameSync(temporary, target);
    return undefined;
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
}
