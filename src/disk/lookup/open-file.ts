/** An open file: bytes by position, as many as were there when it was opened. */

import { createHash, hash } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { errnoName } from "../errno.ts";
import { FileCut } from "../lines/scan.ts";
import type { System } from "../system.ts";
import type { FileNode, Identity } from "./lookup.ts";

export interface OpenFile extends Disposable {
  /** From `fstat` of the open file. */
  readonly identity: Identity;
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  /** Its permission bits. */
  readonly mode: number;
  /** Names that it has (hard links). */
  readonly links: number;
  /** All that `fstat` said when it was opened; not of what is only made to look like a file. */
  readonly stat?: BigIntStats;
  /**
   * Fills `into` with the bytes from `at` on. The answer is short only at the end of the file. Where the file system
   * is local this is a sync call and no promise is made.
   */
  read(into: Uint8Array, at: number): number | Promise<number>;
  /** For a second thread; undefined where reading may hang and so must not be done at once. */
  readonly descriptor: number | undefined;
  /** For another process, which reads from its beginning and may hang as it likes. */
  readonly forChild?: number;
  /** Has the file changed since it was opened? A file that only became longer still has the bytes it had. */
  changed(): "no" | "grown" | "rewritten";
  close(): void;
}

/** A read that failed; `errno` by name. */
export class ReadFailed extends Error {
  override readonly name = "ReadFailed";
  readonly errno: string;
  constructor(errno: string) {
    super(errno);
    this.errno = errno;
  }
}

export function openFile(node: FileNode, system: System): OpenFile | { readonly errno: string } {
  const { handle } = node;
  let fd: number | undefined;
  let stat: ReturnType<System["stat"]>;
  try {
    // Never blocks, never makes a terminal ours. The path names the inode that was judged, whatever its name is now.
    fd = system.open(handle.handlePath, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0));
    stat = system.stat(fd);
  } catch (error) {
    if (fd !== undefined) system.close(fd);
    const errno = errnoName(error);
    if (errno === undefined) throw error;
    return { errno };
  }
  if (stat.dev !== handle.identity.device || stat.ino !== handle.identity.inode) {
    system.close(fd);
    return { errno: "ESTALE" };
  }
  const identity: Identity = {
    device: stat.dev,
    inode: stat.ino,
    sizeBytes: Number(stat.size),
    mtimeNs: stat.mtimeNs,
    ctimeNs: stat.ctimeNs,
  };
  const readAtOnce = (into: Uint8Array, at: number): number => {
    let done = 0;
    while (done < into.length) {
      const bytes = guarded(() => system.read(fd, into, done, into.length - done, at + done));
      if (bytes === 0) break;
      done += bytes;
    }
    return done;
  };
  const readLater = async (into: Uint8Array, at: number): Promise<number> => {
    let done = 0;
    while (done < into.length) {
      const bytes = await system.readLater(fd, into, done, into.length - done, at + done).catch(asReadFailed);
      if (bytes === 0) break;
      done += bytes;
    }
    return done;
  };
  let open = true;
  const close = (): void => {
    if (open) system.close(fd);
    open = false;
  };
  return {
    identity,
    sizeBytes: identity.sizeBytes,
    mtimeMs: Number(identity.mtimeNs / 1_000_000n),
    mode: modeOf(stat),
    links: Number(stat.nlink),
    stat,
    read: handle.reads === "at once" ? readAtOnce : readLater,
    forChild: fd,
    descriptor: handle.reads === "at once" ? fd : undefined,
    changed: () => {
      const now = guarded(() => system.stat(fd));
      if (now.size > stat.size) return "grown";
      return now.size === stat.size && now.mtimeNs === stat.mtimeNs && now.ctimeNs === stat.ctimeNs
        ? "no"
        : "rewritten";
    },
    close,
    [Symbol.dispose]: close,
  };
}

function guarded<Result>(call: () => Result): Result {
  try {
    return call();
  } catch (error) {
    return asReadFailed(error);
  }
}

function asReadFailed(error: unknown): never {
  const errno = errnoName(error);
  if (errno === undefined) throw error;
  throw new ReadFailed(errno);
}

/**
 * Permission bits, and of set-user-id and set-group-id those that a file of our own making would have by right: a copy of another
 * owner's file belongs to us, and must not get what that owner gave to the file.
 */
export const modeOf = (stat: Pick<BigIntStats, "mode" | "uid" | "gid">): number =>
  Number(stat.mode) & (0o1777 | ownBits(stat));

export function ownBits({ uid, gid }: Pick<BigIntStats, "uid" | "gid">): number {
  const isOurs = process.geteuid !== undefined && uid === BigInt(process.geteuid());
  const isOurGroup = isOurs && process.getegid !== undefined && gid === BigInt(process.getegid());
  return (isOurs ? 0o4000 : 0) | (isOurGroup ? 0o2000 : 0);
}

// Files that can only be read whole, within a limit; and the hash of a small file's content.

/** All bytes of the file, or undefined if there are more than `bytesMax`. */
export async function wholeFile(file: OpenFile, bytesMax: number): Promise<Buffer | undefined> {
  if (file.sizeBytes > bytesMax) return undefined;
  const bytes = Buffer.allocUnsafe(file.sizeBytes);
  if ((await file.read(bytes, 0)) < bytes.length) throw new FileCut();
  return bytes;
}

/** What content is known by again. */
export const hashOfContent = (bytes: Uint8Array): string => hash("sha256", bytes, "base64");

/** The same of a file; undefined for one that is too large to be hashed in passing. */
export async function contentHash(file: OpenFile, bytesMax: number): Promise<string | undefined> {
  const bytes = await wholeFile(file, bytesMax);
  return bytes === undefined ? undefined : hashOfContent(bytes);
}

const chunkBytes = 1_048_576;

/** The same for a file of any size, chunk by chunk. */
export async function fullHash(file: OpenFile): Promise<string> {
  const whole = createHash("sha256");
  const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(1, file.sizeBytes)));
  for (let at = 0; at < file.sizeBytes; at += chunk.length) {
    const part = chunk.subarray(0, Math.min(chunk.length, file.sizeBytes - at));
    if ((await file.read(part, at)) < part.length) throw new FileCut();
    whole.update(part);
    // Others get their turn.
    await setImmediate();
  }
  return whole.digest("base64");
}
