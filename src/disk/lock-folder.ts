/**
 * Where lock files live: one folder per user that all processes agree on, outside every workspace. It stands in a folder
 * that other users may write to, so it is believed only if nobody but us can have put anything into it.
 */

import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as nodePath from "node:path";
import { errnoName } from "./errno.ts";

/** Locks do not work here at all; the message says why. */
export class LockFailed extends Error {
  override readonly name = "LockFailed";
}

/**
 * Windows has a temporary folder for each user, and no user ids. In memory where the system has such a folder: a lock on a disk costs as much as the rest of a small change, and TMPDIR
 * may differ between two processes of one user.
 */
export function defaultLockFolder(): string {
  const name = `filehand-locks-${process.getuid?.() ?? "user"}`;
  return nodePath.join(isShared(sharedMemory) ? sharedMemory : tmpdir(), name);
}

const sharedMemory = "/dev/shm";

/** Anybody may make a folder there, and nobody take away another's: the sticky bit. */
function isShared(folder: string): boolean {
  const stat = fs.statSync(folder, { throwIfNoEntry: false });
  return stat !== undefined && stat.isDirectory() && (stat.mode & 0o1777) === 0o1777;
}

/** Makes the folder if it is missing. Throws LockFailed if it cannot be made or cannot be trusted. */
export function prepareLockFolder(folder: string): void {
  try {
    fs.mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (errnoName(error) !== "EEXIST") throw lockFailed(error, `cannot make the folder "${folder}"`);
  }
  let stat: fs.Stats;
  try {
    stat = fs.lstatSync(folder);
  } catch (error) {
    throw lockFailed(error, `cannot look at the folder "${folder}"`);
  }
  const fault = faultOf(stat);
  if (fault !== undefined) {
    throw new LockFailed(`Files cannot be locked: "${folder}" ${fault}. Remove it, it is made anew.`);
  }
}

/** What is wrong with the folder as it is; undefined if nothing is, or if it is still to be made. Makes nothing. */
export function lockFolderFault(folder: string): string | undefined {
  const stat = fs.lstatSync(folder, { throwIfNoEntry: false });
  return stat === undefined ? undefined : faultOf(stat);
}

function faultOf(stat: fs.Stats): string | undefined {
  if (stat.isSymbolicLink()) return "is a link";
  if (!stat.isDirectory()) return "is not a folder";
  if (process.platform === "win32") return undefined;
  if (stat.uid !== process.getuid?.()) return "belongs to another user";
  return (stat.mode & 0o077) === 0 ? undefined : "is open to other users";
}

/** Words for an error of the system; anything else is a bug and stays what it is. */
export function lockFailed(error: unknown, what: string): unknown {
  const name = errnoName(error);
  return name === undefined
    ? error
    : new LockFailed(`Files cannot be locked: ${what}, the system says ${name}.`, { cause: error });
}
