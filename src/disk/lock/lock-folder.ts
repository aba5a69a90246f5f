/**
 * Where lock files are: one folder per user that all processes agree on, outside every workspace, trusted only if no other user can
 * have put anything into it. If another user created it first, locks are taken in a second folder, in the user's own home. So that
 * two processes never lock in different folders, both are taken if both exist: docs/decisions/2026-11-16-lock-folders.md.
 */

import * as fs from "node:fs";
import { tmpdir, userInfo } from "node:os";
import * as nodePath from "node:path";
import type { LockFolderState } from "../../contract/checkup.ts";
import { errnoName } from "../errno.ts";
import { makeFolders } from "../write/make-folders.ts";

export class LockFailed extends Error {
  override readonly name = "LockFailed";
  readonly fault: string;
  readonly remedy: string;

  constructor(fault: string, remedy: string, options?: ErrorOptions) {
    super(`Files cannot be locked: ${fault}; ${remedy}`, options);
    this.fault = fault;
    this.remedy = remedy;
  }
}

export interface LockFolders {
  readonly first: string;
  /** Undefined where other users cannot have created the first, or where there is no home. */
  readonly second: string | undefined;
}

/**
 * Shared memory where the system has it: a lock on disk costs as much as the rest of a small change, and TMPDIR may differ
 * between two processes of one user. Windows has a temporary folder per user, and no user ids.
 */
export function defaultLockFolders(): LockFolders {
  const user = process.geteuid?.();
  const first = nodePath.join(isShared(sharedMemory) ? sharedMemory : tmpdir(), `filehand-locks-${user ?? "user"}`);
  const home = user === undefined ? undefined : homeOfUser();
  return { first, second: home === undefined ? undefined : nodePath.join(home, ".filehand", "locks") };
}

const sharedMemory = "/dev/shm";

/** With the sticky bit any user may create entries, and remove only their own. */
function isShared(folder: string): boolean {
  const stat = fs.statSync(folder, { throwIfNoEntry: false });
  return stat !== undefined && stat.isDirectory() && (stat.mode & 0o1777) === 0o1777;
}

/** From the user database, not HOME, on which two processes of one user may disagree. */
function homeOfUser(): string | undefined {
  try {
    const { homedir } = userInfo();
    return nodePath.isAbsolute(homedir) && homedir !== "/" ? homedir : undefined;
  } catch {
    return undefined; // a user id without an entry, common in containers
  }
}

/** The folders in which every lock must be taken, in this order. Throws LockFailed. */
export function prepareLockFolders({ first, second }: LockFolders): readonly string[] {
  if (second === undefined || !isTakenByOthers(first)) {
    prepareLockFolder(first);
    // Checked after the first is usable: a process that creates the second from now on finds the first usable and takes both.
    return second !== undefined && isOurFolder(second) ? [first, second] : [first];
  }
  orLockFailed("their folder cannot be made", second, () => makeFolders(nodePath.dirname(second), 0o700));
  prepareLockFolder(second);
  if (isTakenByOthers(first)) return [second];
  prepareLockFolder(first);
  return [first, second];
}

/**
 * True if another user owns the entry and its parent is safe, so that only that user can have put it there while none of
 * ours existed: no process of ours can be using it. A fault of our own making may appear while the folder is in use.
 */
function isTakenByOthers(folder: string): boolean {
  if (process.platform === "win32") return false;
  const stat = fs.lstatSync(folder, { throwIfNoEntry: false });
  if (stat === undefined || stat.uid === process.geteuid?.()) return false;
  const above = fs.statSync(nodePath.dirname(folder));
  const isSafe = (above.mode & 0o022) === 0 || (above.mode & 0o1000) !== 0;
  return isSafe && (above.uid === 0 || above.uid === process.geteuid?.());
}

function isOurFolder(folder: string): boolean {
  const stat = fs.lstatSync(folder, { throwIfNoEntry: false });
  return stat !== undefined && faultOf(stat) === undefined;
}

/** Creates the folder if it is missing. Throws LockFailed if that fails or the folder cannot be trusted. */
export function prepareLockFolder(folder: string): void {
  orLockFailed("their folder cannot be made", folder, () => {
    try {
      fs.mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      if (errnoName(error) !== "EEXIST") throw error;
    }
  });
  const stat = orLockFailed("their folder cannot be looked at", folder, () => fs.lstatSync(folder));
  const fault = faultOf(stat);
  if (fault === undefined) return;
  const who = stat.uid === process.geteuid?.() ? "" : "have the administrator ";
  throw new LockFailed(`"${folder}" ${fault}`, `${who}remove "${folder}", which is made anew`);
}

function faultOf(stat: fs.Stats): string | undefined {
  if (stat.isSymbolicLink()) return "is a link";
  if (!stat.isDirectory()) return "is not a folder";
  if (process.platform === "win32") return undefined;
  if (stat.uid !== process.geteuid?.()) return "belongs to another user";
  return (stat.mode & 0o077) === 0 ? undefined : "is open to other users";
}

/** The folders in which locks would be taken now, and one left alone because another user owns it. Creates nothing. */
export function lockFolderStates({ first, second }: LockFolders): readonly LockFolderState[] {
  const stateOf = (path: string): LockFolderState => {
    const stat = fs.lstatSync(path, { throwIfNoEntry: false });
    return { path, fault: stat && faultOf(stat), leftAlone: false };
  };
  if (second === undefined) return [stateOf(first)];
  if (isTakenByOthers(first)) return [{ ...stateOf(first), leftAlone: true }, stateOf(second)];
  return isOurFolder(second) ? [stateOf(first), stateOf(second)] : [stateOf(first)];
}

export function orLockFailed<Result>(what: string, folder: string, call: () => Result): Result {
  try {
    return call();
  } catch (cause) {
    const name = errnoName(cause);
    if (name === undefined) throw cause;
    const remedy = `make "${folder}" a folder that can be written to`;
    throw new LockFailed(`${what}, the system says ${name}`, remedy, { cause });
  }
}
