/**
 * Where lock files live: one folder per user that all processes agree on, outside every workspace. It stands in a folder
 * that other users may write to, so it is believed only if nobody but us can have put anything into it.
 *
 * Another user may have made it first. Then locks are taken in a second folder, in the user's own home. Two processes must
 * not take locks in different folders, so who can use the first one looks for the second as well and takes both if it is
 * there; and who has made the second looks at the first again. docs/decisions/2026-11-16-lock-folders.md has the argument.
 */

import * as fs from "node:fs";
import { tmpdir, userInfo } from "node:os";
import * as nodePath from "node:path";
import { errnoName } from "../errno.ts";
import { makeFolders } from "../write/make-folders.ts";

/** Locks do not work here at all. */
export class LockFailed extends Error {
  override readonly name = "LockFailed";
  /** What is wrong, and what a person can do, as parts of a sentence. */
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
  /** Undefined where the first one cannot have been made by others, or where there is no home. */
  readonly second: string | undefined;
}

/**
 * In memory where the system has such a folder: a lock on a disk costs as much as the rest of a small change, and TMPDIR
 * may differ between two processes of one user. Windows has a temporary folder for each user, and no user ids.
 */
export function defaultLockFolders(): LockFolders {
  const user = process.geteuid?.();
  const first = nodePath.join(isShared(sharedMemory) ? sharedMemory : tmpdir(), `filehand-locks-${user ?? "user"}`);
  const home = user === undefined ? undefined : homeOfUser();
  return { first, second: home === undefined ? undefined : nodePath.join(home, ".filehand", "locks") };
}

const sharedMemory = "/dev/shm";

/** Anybody may make a folder there, and nobody take away another's: the sticky bit. */
function isShared(folder: string): boolean {
  const stat = fs.statSync(folder, { throwIfNoEntry: false });
  return stat !== undefined && stat.isDirectory() && (stat.mode & 0o1777) === 0o1777;
}

/** As the system knows it, not as HOME says, which two processes of one user may not agree on. */
function homeOfUser(): string | undefined {
  try {
    const { homedir } = userInfo();
    return nodePath.isAbsolute(homedir) && homedir !== "/" ? homedir : undefined;
  } catch {
    return undefined; // a user id without an entry, as containers have it
  }
}

/** The folders in which a lock has to be taken, all of them, in this order. Throws LockFailed. */
export function prepareLockFolders({ first, second }: LockFolders): readonly string[] {
  if (second === undefined || !isTakenByOthers(first)) {
    prepareLockFolder(first);
    // In this order: whoever makes the second folder from now on finds the first one usable.
    return second !== undefined && isOurFolder(second) ? [first, second] : [first];
  }
  makeAbove(second);
  prepareLockFolder(second);
  if (isTakenByOthers(first)) return [second];
  prepareLockFolder(first);
  return [first, second];
}

/**
 * Does something of another user stand there, which nobody but that user can have put there while none of ours was? Then
 * no process of ours can be using it. A fault that we brought about ourselves may come while it is used.
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

function makeAbove(folder: string): void {
  try {
    makeFolders(nodePath.dirname(folder), 0o700);
  } catch (error) {
    throw lockFailed(error, "their folder cannot be made", folder);
  }
}

/** Makes the folder if it is missing. Throws LockFailed if it cannot be made or cannot be trusted. */
export function prepareLockFolder(folder: string): void {
  try {
    fs.mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (errnoName(error) !== "EEXIST") throw lockFailed(error, "their folder cannot be made", folder);
  }
  let stat: fs.Stats;
  try {
    stat = fs.lstatSync(folder);
  } catch (error) {
    throw lockFailed(error, "their folder cannot be looked at", folder);
  }
  const fault = faultOf(stat);
  if (fault === undefined) return;
  const who = stat.uid === process.geteuid?.() ? "" : "have the administrator ";
  throw new LockFailed(`"${folder}" ${fault}`, `${who}remove "${folder}", which is made anew`);
}

/** What is wrong with the folder as it is; undefined if nothing is, or if it is still to be made. Makes nothing. */
function lockFolderFault(folder: string): string | undefined {
  const stat = fs.lstatSync(folder, { throwIfNoEntry: false });
  return stat === undefined ? undefined : faultOf(stat);
}

function faultOf(stat: fs.Stats): string | undefined {
  if (stat.isSymbolicLink()) return "is a link";
  if (!stat.isDirectory()) return "is not a folder";
  if (process.platform === "win32") return undefined;
  if (stat.uid !== process.geteuid?.()) return "belongs to another user";
  return (stat.mode & 0o077) === 0 ? undefined : "is open to other users";
}

/** A folder that stands for locks, as it is. */
export interface LockFolderState {
  readonly path: string;
  readonly fault: string | undefined;
  /** Another user made it first, so nothing of ours is taken there. */
  readonly leftAlone: boolean;
}

/** The folders in which locks would be taken now, and one that is left alone for being somebody else's. Makes nothing. */
export function lockFolderStates({ first, second }: LockFolders): readonly LockFolderState[] {
  const stateOf = (path: string): LockFolderState => ({ path, fault: lockFolderFault(path), leftAlone: false });
  if (second === undefined) return [stateOf(first)];
  if (isTakenByOthers(first)) return [{ ...stateOf(first), leftAlone: true }, stateOf(second)];
  return isOurFolder(second) ? [stateOf(first), stateOf(second)] : [stateOf(first)];
}

/** Words for an error of the system; anything else is a bug and stays what it is. */
export function lockFailed(error: unknown, what: string, folder: string): unknown {
  const name = errnoName(error);
  if (name === undefined) return error;
  return new LockFailed(`${what}, the system says ${name}`, `make "${folder}" a folder that can be written to`, {
    cause: error,
  });
}
