/** Reads a small text file synchronously, such as a settings file. Errors are messages, never raw system errors. */

import { isUtf8 } from "node:buffer";
import { constants, fstatSync, openSync, readSync } from "node:fs";
import { Descriptor } from "../descriptor.ts";
import type { Disk } from "../disk.ts";
import { ReadFailed } from "../lookup/open-file.ts";

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
  using _held = lookup.handle;
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
