/** How a change of a file can end, and the errors that lead there. */

import { errnoName } from "../errno.ts";
import type { Identity, Lookup } from "../lookup/lookup.ts";
import { ReadFailed } from "../lookup/open-file.ts";

/** What was being done when the system said no; for messages and for logs. */
export type WriteStep =
  | "looking at the folder"
  | "making a folder"
  | "looking at the file"
  | "writing: it is read-only"
  | "reading the old content"
  | "making the temporary file"
  | "writing"
  | "checking the size of what was written"
  | "carrying over owner, mode and attributes"
  | "syncing the file"
  | "closing the file"
  | "reading back what was written"
  | "keeping the old content"
  | "writing in place"
  | "writing in place: it has other names, which would change with it"
  | "renaming"
  | "waiting for another program to let go of it"
  | "linking"
  | "removing"
  | "removing the temporary file"
  | "syncing the folder"
  | "putting the old content back";

/** True things about a change that was made, which a person may want to know. */
export type WriteNote =
  /** Extended attributes, an ACL among them, could not be carried over. */
  | "attributes not kept"
  /** Of a file that was made like another one: the system gives them to no one else, or not there. */
  | "owner or attributes not kept"
  /** The system took set-user-id or set-group-id away. */
  | "special mode bits not kept"
  /** The folder may be written but not read, so its entry cannot be made durable by itself. */
  | "folder not synced"
  /** The folder was moved out of its place meanwhile, and the file with it. */
  | "folder moved";

/** The file is as it was. */
export type NothingDone =
  /** It is not, or no longer, what the caller has seen. */
  | { readonly did: "nothing"; readonly why: "changed" }
  | { readonly did: "nothing"; readonly why: "refused"; readonly errno: string; readonly during: WriteStep };

/** The change was made; that it survives a power cut, or that it stayed, could not be confirmed. */
export interface Unconfirmed {
  readonly did: "unconfirmed";
  readonly errno: string;
  readonly during: WriteStep;
}

/** A step that failed before anything was changed; `errno` by name. */
export class WriteFailed extends Error {
  override readonly name = "WriteFailed";
  readonly errno: string;
  readonly during: WriteStep;
  constructor(errno: string, during: WriteStep) {
    super(`${errno} while ${during}`);
    this.errno = errno;
    this.during = during;
  }
}

/** The file is not what was read any more. */
export class FileChanged extends Error {
  override readonly name = "FileChanged";
}

/** Makes a system call; its error becomes a `WriteFailed` that says what was being done. */
export function during<Result>(step: WriteStep, call: () => Result): Result {
  try {
    return call();
  } catch (error) {
    throw asWriteFailed(error, step);
  }
}

export async function duringLater<Result>(step: WriteStep, call: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    throw asWriteFailed(error, step);
  }
}

/** A system error as a `WriteFailed`; anything else as it is. */
export function asWriteFailed(error: unknown, step: WriteStep): unknown {
  if (error instanceof ReadFailed) return new WriteFailed(error.errno, step);
  const errno = errnoName(error);
  return errno === undefined ? error : new WriteFailed(errno, step);
}

/** The answer to an error that left the file as it was. Anything but the two expected ones is thrown on. */
export function nothingDone(error: unknown): NothingDone {
  if (error instanceof FileChanged) return { did: "nothing", why: "changed" };
  if (error instanceof WriteFailed) {
    return { did: "nothing", why: "refused", errno: error.errno, during: error.during };
  }
  throw error;
}

/** The answer to an error after the change was made. */
export function unconfirmed(error: unknown): Unconfirmed {
  if (error instanceof WriteFailed) return { did: "unconfirmed", errno: error.errno, during: error.during };
  throw error;
}

/** A folder that cannot be held: refused by the system, or not where it was. */
export function asFailure(lookup: Exclude<Lookup, { seen: "node" }>): Error {
  if (lookup.seen === "refused") return new WriteFailed(lookup.errno, "looking at the folder");
  if (lookup.seen === "missing" && lookup.reason === "file on the way") {
    return new WriteFailed("ENOTDIR", "looking at the folder");
  }
  if (lookup.seen === "too long") return new WriteFailed("ENAMETOOLONG", "looking at the folder");
  return new FileChanged();
}

export function identityOf(stat: {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}): Identity {
  return {
    device: stat.dev,
    inode: stat.ino,
    sizeBytes: Number(stat.size),
    mtimeNs: stat.mtimeNs,
    ctimeNs: stat.ctimeNs,
  };
}
