/** The outcomes of a file change, and the errors that lead to them. */

import { errnoName } from "../errno.ts";
import type { Lookup } from "../lookup/lookup.ts";
import { ReadFailed } from "../lookup/open-file.ts";

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

export type WriteNote =
  | "attributes not kept"
  /** For a file created like another: the system refuses its owner or attributes. */
  | "owner or attributes not kept"
  | "special mode bits not kept"
  /** The folder is writable but not readable, so its entry cannot be made durable on its own. */
  | "folder not synced"
  /** The folder was moved meanwhile, and the file with it. */
  | "folder moved";

export type NothingDone =
  | { readonly did: "nothing"; readonly why: "changed" }
  | { readonly did: "nothing"; readonly why: "refused"; readonly errno: string; readonly during: WriteStep };

/** The change was made, but it could not be confirmed that it persisted or would survive a power cut. */
export interface Unconfirmed {
  readonly did: "unconfirmed";
  readonly errno: string;
  readonly during: WriteStep;
}

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

export class FileChanged extends Error {
  override readonly name = "FileChanged";
}

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

export function asWriteFailed(error: unknown, step: WriteStep): unknown {
  if (error instanceof ReadFailed) return new WriteFailed(error.errno, step);
  const errno = errnoName(error);
  return errno === undefined ? error : new WriteFailed(errno, step);
}

/** The outcome for an error that left the file unchanged. Throws any error but the two expected ones. */
export function nothingDone(error: unknown): NothingDone {
  if (error instanceof FileChanged) return { did: "nothing", why: "changed" };
  if (!(error instanceof WriteFailed)) throw error;
  return { did: "nothing", why: "refused", errno: error.errno, during: error.during };
}

export const isExpected = (error: unknown): boolean => error instanceof WriteFailed || error instanceof FileChanged;

/** Work after the change was made: if it fails, the change is unconfirmed. MUST be awaited where `using` closes handles. */
export async function orUnconfirmed<Result>(work: () => Promise<Result>): Promise<Result | Unconfirmed> {
  try {
    return await work();
  } catch (error) {
    return unconfirmed(error);
  }
}

export function unconfirmed(error: unknown): Unconfirmed {
  if (error instanceof WriteFailed) return { did: "unconfirmed", errno: error.errno, during: error.during };
  throw error;
}

export function failureOf(lookup: Exclude<Lookup, { seen: "node" }>): Error {
  const failed = (errno: string): WriteFailed => new WriteFailed(errno, "looking at the folder");
  if (lookup.seen === "refused") return failed(lookup.errno);
  if (lookup.seen === "missing" && lookup.reason === "file on the way") return failed("ENOTDIR");
  return lookup.seen === "too long" ? failed("ENAMETOOLONG") : new FileChanged();
}

/** Errors of folders that accept no new file; an existing file in them may still be writable. */
export const noNewFileErrnos = ["EACCES", "EPERM", "EROFS"];
