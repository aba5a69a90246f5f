/** An open file: bytes by position, within its size at the time of opening. */

// By the module: where `hash` is missing, a named import would end an old Node before our message about its version.
import * as crypto from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { Steps } from "../../text/text.ts";
import { errnoName } from "../errno.ts";
import { FileTruncated } from "../lines/scan.ts";
import type { System } from "../system.ts";
import { type FileNode, type Identity, identityOf } from "./lookup.ts";

export interface OpenFile extends Disposable {
  readonly identity: Identity;
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  readonly mode: number;
  readonly links: number;
  /** `fstat` at the time of opening; missing for content that only imitates a file. */
  readonly stat?: BigIntStats;
  /** Fills `into` from `at`; returns the number of bytes, smaller only at the end. Sync on a local file system. */
  read(into: Uint8Array, at: number): number | Promise<number>;
  /** For a second thread; undefined where reading may hang. */
  readonly descriptor: number | undefined;
  /** For a child process, which reads from the beginning and may hang. */
  readonly forChild?: number;
  /** Compares with the state at opening. A file that only grew still has the bytes it had. */
  changed(): "no" | "grown" | "rewritten";
  close(): void;
}

export class ReadFailed extends Error {
  override readonly name = "ReadFailed";
  readonly errno: string;
  constructor(errno: string) {
    super(errno);
    this.errno = errno;
  }
}

export function openFile(node: Pick<FileNode, "handle">, system: System): OpenFile | { readonly errno: string } {
  const { handle } = node;
  let fd: number | undefined;
  let stat: ReturnType<System["stat"]>;
  try {
    // Never blocks, never acquires a controlling terminal. The path leads to the inode that was judged, whatever its name.
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
  const identity = identityOf(stat);
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

/** Set-user-id and set-group-id only if we own the file: our copy must not inherit the rights that its owner gave. */
export function modeOf(stat: Pick<BigIntStats, "mode" | "uid" | "gid">): number {
  const mode = Number(stat.mode) & 0o7777;
  return (mode & 0o6000) === 0 ? mode : mode & (0o1777 | ownBits(stat)); // who we are takes two system calls
}

export function ownBits({ uid, gid }: Pick<BigIntStats, "uid" | "gid">): number {
  const isOurs = process.geteuid !== undefined && uid === BigInt(process.geteuid());
  const isOurGroup = isOurs && process.getegid !== undefined && gid === BigInt(process.getegid());
  return (isOurs ? 0o4000 : 0) | (isOurGroup ? 0o2000 : 0);
}

export async function wholeFile(file: OpenFile, bytesMax: number): Promise<Buffer | undefined> {
  if (file.sizeBytes > bytesMax) return undefined;
  const bytes = Buffer.allocUnsafe(file.sizeBytes);
  if ((await file.read(bytes, 0)) < bytes.length) throw new FileTruncated();
  return bytes;
}

export const hashOfContent = (bytes: Uint8Array): string => crypto.hash("sha256", bytes, "base64");

export async function contentHash(file: OpenFile, bytesMax: number): Promise<string | undefined> {
  const bytes = await wholeFile(file, bytesMax);
  return bytes === undefined ? undefined : hashOfContent(bytes);
}

const chunkBytes = 1_048_576;

/** The id that git gives to a content. Yields, so that a large one does not block the event loop. */
export function* gitBlobId(bytes: Uint8Array, algorithm: "sha1" | "sha256"): Steps<string> {
  const whole = crypto.createHash(algorithm).update(`blob ${bytes.length}\0`);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    whole.update(bytes.subarray(at, at + chunkBytes));
    yield;
  }
  return whole.digest("hex");
}

export async function fullHash(file: OpenFile): Promise<string> {
  const whole = crypto.createHash("sha256");
  const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(1, file.sizeBytes)));
  for (let at = 0; at < file.sizeBytes; at += chunk.length) {
    const part = chunk.subarray(0, Math.min(chunk.length, file.sizeBytes - at));
    if ((await file.read(part, at)) < part.length) throw new FileTruncated();
    whole.update(part);
    await setImmediate();
  }
  return whole.digest("base64");
}
