/** An open file: bytes by position, as many as were there when it was opened. */

import { type BigIntStats, constants } from "node:fs";
import { errnoName } from "./errno.ts";
import type { Found, Identity } from "./look.ts";
import type { System } from "./system.ts";

export interface OpenFile {
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

export function openFile(found: Found, system: System): OpenFile | { readonly errno: string } {
  const { held } = found;
  let fd: number | undefined;
  let stat: ReturnType<System["stat"]>;
  try {
    // Never blocks, never makes a terminal ours. The path names the inode that was judged, whatever its name is now.
    fd = system.open(held.handlePath, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0));
    stat = system.stat(fd);
  } catch (error) {
    if (fd !== undefined) system.close(fd);
    const errno = errnoName(error);
    if (errno === undefined) throw error;
    return { errno };
  }
  if (stat.dev !== held.identity.device || stat.ino !== held.identity.inode) {
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
  return {
    identity,
    sizeBytes: identity.sizeBytes,
    mtimeMs: Number(identity.mtimeNs / 1_000_000n),
    mode: modeOf(stat),
    links: Number(stat.nlink),
    stat,
    read: held.reads === "at once" ? readAtOnce : readLater,
    forChild: fd,
    descriptor: held.reads === "at once" ? fd : undefined,
    changed: () => {
      const now = guarded(() => system.stat(fd));
      if (now.size > stat.size) return "grown";
      return now.size === stat.size && now.mtimeNs === stat.mtimeNs && now.ctimeNs === stat.ctimeNs
        ? "no"
        : "rewritten";
    },
    close: () => {
      if (open) system.close(fd);
      open = false;
    },
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
