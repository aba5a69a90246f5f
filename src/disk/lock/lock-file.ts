/**
 * A lock across processes, as a name in a folder: creating it takes the lock, removing it releases the lock. Three rules keep
 * two processes from having it at once, whichever process is killed at whichever moment:
 *
 * 1. A lock appears whole. It is a dangling symlink whose text names the holder: one call creates it, and fails if the name
 *    exists. Windows lets few users create symlinks, so there it is a file, written under another name and hard-linked.
 * 2. The lock of a dead holder is never removed, because it may have become a living process's between check and removal. It
 *    is inherited: the heir creates `<lock>.<token of the dead>`, which again only one process can. An heir may die and be
 *    inherited in turn, so the holder is the process at the end of the chain.
 * 3. An heir has the lock only if the chain up to its file is unchanged after creating it. Tokens are never reused, so a
 *    changed chain cannot change back. The heir then renames its file onto the lock, in one step.
 */

import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import { Descriptor, noFollow } from "../descriptor.ts";
import { attempt, errnoName, unlessMissing } from "../errno.ts";
import { LockFailed, orLockFailed, prepareLockFolder } from "./lock-folder.ts";
import { lifeOf, processIdentity } from "./process-identity.ts";

/** A file may become a symlink between two reads, and the reverse, when a lock of the other kind replaces it. */
const looksMax = 100;

/** The text of a lock, either the target of a symlink or the start of a file; undefined if there is none. */
export function lockText(path: string, readLink: (path: string) => string = fs.readlinkSync): string | undefined {
  if (process.platform === "win32") return lockFileText(path);
  for (let looks = 1; ; looks += 1) {
    try {
      return readLink(path);
    } catch (error) {
      if (errnoName(error) === "ENOENT") return undefined;
      if (errnoName(error) !== "EINVAL") throw error;
    }
    try {
      return lockFileText(path);
    } catch (error) {
      if (errnoName(error) !== "ELOOP" || looks >= looksMax) throw error;
    }
  }
}

/** A holder's line is shorter; anything longer is not ours. */
const lineBytesMax = 256;

function lockFileText(path: string): string | undefined {
  const fd = unlessMissing(() => fs.openSync(path, fs.constants.O_RDONLY | noFollow));
  if (fd === undefined) return undefined;
  using _file = new Descriptor(fd);
  const bytes = Buffer.allocUnsafe(lineBytesMax);
  return bytes.toString("latin1", 0, fs.readSync(fd, bytes));
}

export interface Holder {
  /** See process-identity.ts; empty if this file is not ours. */
  readonly owner: string;
  /** Identifies one acquisition of one lock; never reused. */
  readonly token: string;
  readonly beatMs: number;
}

export interface HeldLock {
  /** Releases the lock unless another process took it over. Never throws: the guarded work is done. */
  release(): void;
  beat(): void;
}

/** Decides whether to give up a holder known only by its heartbeats. */
export type GiveUp = (holder: Holder) => boolean;

/** The holder is unknown if it released the lock meanwhile. */
export type Taken = { readonly held: HeldLock } | { readonly held: undefined; readonly holder: Holder | undefined };

export interface LockFiles {
  /** One attempt, without waiting. Throws LockFailed. */
  take(name: string, giveUp: GiveUp): Taken;
  sweep(): void;
}

const { O_CREAT, O_EXCL, O_WRONLY } = fs.constants;
/** Errors of systems without links. A plain file may then be seen empty, with no holder to read yet. */
const noLinkErrnos: ReadonlySet<string | undefined> = new Set(["EPERM", "EACCES", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"]);

/** Creates something at `path` with the text `line`, atomically; throws EEXIST if the name exists. */
export type Publish = (line: string, path: string) => void;

const publishWhole: Publish = process.platform === "win32" ? publishFile : fs.symlinkSync;

export function openLockFiles(folder: string, publishAt: Publish = publishWhole): LockFiles {
  prepareLockFolder(folder);
  const takeAt = lockTaker(publishAt, () => prepareLockFolder(folder)); // a cleanup may remove the temporary folder
  const take = (name: string, giveUp: GiveUp): Taken => takeAt(`${folder}${nodePath.sep}${name}`, giveUp);
  return {
    take: (name, giveUp) => orLockFailed("lock files cannot be used", folder, () => take(name, giveUp)),
    sweep: () => sweep(folder, takeAt),
  };
}

/** One attempt to take the lock at a path, without waiting. Throws the errors of the system. */
export type TakeLock = (lock: string, giveUp: GiveUp) => Taken;

/** `prepare` is called before the second try to create a lock whose folder is missing. */
export function lockTaker(publishAt: Publish, prepare?: () => void): TakeLock {
  const owner = processIdentity();
  const series = randomBytes(8).toString("hex");
  let count = 0;

  const publish = (path: string, token: string): boolean => {
    const line = lineOf(owner, token);
    for (let tries = 1; ; tries += 1) {
      try {
        publishAt(line, path);
        return true;
      } catch (error) {
        const errno = errnoName(error);
        // A network file system may repeat a request whose answer was lost, and report the lock that the first one created.
        if (errno === "EEXIST") return lockText(path) === line;
        if (noLinkErrnos.has(errno)) return createIfMissing(path, line);
        if (errno !== "ENOENT" || tries > 1 || prepare === undefined) throw error;
        prepare();
      }
    }
  };

  return (lock, giveUp) => {
    count += 1;
    const token = `${series}-${count}`;
    if (publish(lock, token)) return { held: heldAt(lock, lineOf(owner, token)) };
    const dead: DeadHolder[] = [];
    let place = lock;
    for (let holder = holderOf(place); holder !== undefined; holder = holderOf(place)) {
      if (!isGone(holder, giveUp)) return { held: undefined, holder };
      dead.push({ path: place, token: holder.token });
      place = `${lock}.${holder.token}`;
    }
    if (!publish(place, token)) return { held: undefined, holder: undefined };
    if (place !== lock && !inherit(dead, place, lock)) return { held: undefined, holder: undefined };
    return { held: heldAt(lock, lineOf(owner, token)) };
  };
}

interface DeadHolder {
  readonly path: string;
  readonly token: string;
}

/** Rule 3. On failure the file at `place` is removed: it would look like the lock of a living process that ignores it. */
function inherit(dead: readonly DeadHolder[], place: string, lock: string): boolean {
  let isOurs = false;
  try {
    if (dead.every(({ path, token }) => holderOf(path)?.token === token)) {
      fs.renameSync(place, lock);
      isOurs = true;
    }
  } finally {
    if (!isOurs) removeIfThere(place);
  }
  // Links of the chain that is no longer reachable.
  if (isOurs) for (const { path } of dead.slice(1)) removeIfThere(path);
  return isOurs;
}

const isGone = (holder: Holder, giveUp: GiveUp): boolean => {
  const life = lifeOf(holder.owner);
  return life === "dead" || (life === "elsewhere" && giveUp(holder));
};

function heldAt(lock: string, line: string): HeldLock {
  return {
    release() {
      // An unreadable lock, as with too many open files, is taken to be ours.
      if ((attempt(() => lockText(lock) ?? "") ?? line) === line) removeIfThere(lock);
    },
    beat() {
      attempt(() => {
        const now = new Date();
        // If another process took the lock in between, its file gets one extra heartbeat, which does no harm.
        if (lockText(lock) === line) fs.lutimesSync(lock, now, now);
      });
    },
  };
}

/** The final newline shows that the line is complete. */
const lineOf = (owner: string, token: string): string => `${owner} ${token}\n`;
const lineShape = /^([0-9a-f-]+) ([0-9a-f-]+)\n$/u;

function holderOf(path: string): Holder | undefined {
  // The text first: a network file system may answer from memory until a file is opened.
  const text = lockText(path);
  const stat = text === undefined ? undefined : fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined || text === undefined) return undefined;
  const [, owner, token] = lineShape.exec(text) ?? [];
  const beatMs = Number(stat.mtimeMs);
  if (owner !== undefined && token !== undefined) return { owner, token, beatMs };
  // Not ours, emptied by a power cut, or not yet written where links do not work.
  return { owner: "", token: `bad-${stat.ino}-${stat.mtimeNs}`, beatMs };
}

export function publishFile(line: string, path: string): void {
  const [owner = "", token = ""] = line.trimEnd().split(" ");
  publishThrough(`new-${owner}-${token}`, line, path);
}

/** `name`: of the file that is written and linked, in the folder of the lock. */
export function publishThrough(name: string, line: string, path: string): void {
  const draft = nodePath.join(nodePath.dirname(path), name);
  createFile(draft, line);
  try {
    fs.linkSync(draft, path);
  } finally {
    removeIfThere(draft);
  }
}

function createFile(path: string, line: string): void {
  const fd = fs.openSync(path, O_CREAT | O_EXCL | O_WRONLY | noFollow, 0o600);
  let isWhole = false;
  try {
    using file = new Descriptor(fd);
    isWhole = fs.writeSync(fd, line, null, "latin1") === line.length;
    file.close();
  } finally {
    if (!isWhole) fs.unlinkSync(path); // a full disk
  }
  if (!isWhole) {
    const folder = nodePath.dirname(path);
    throw new LockFailed(`only a part of "${path}" could be written`, `make room on the disk that holds "${folder}"`);
  }
}

function createIfMissing(path: string, line: string): boolean {
  try {
    createFile(path, line);
    return true;
  } catch (error) {
    if (errnoName(error) === "EEXIST") return false;
    throw error;
  }
}

/** A leftover whose owner cannot be judged from here is kept for a day. */
const keptMsMax = 86_400_000;
/** Bounds a sweep of a crowded folder; a later sweep takes the rest. */
const sweptMax = 1_000;

const isOld: GiveUp = ({ beatMs }) => Date.now() - beatMs > keptMsMax;

/** Inherited and released like any lock: removing it would break rule 2. */
export function removeIfLeft(lock: string, take: TakeLock): void {
  const holder = holderOf(lock);
  if (holder !== undefined && isGone(holder, isOld)) take(lock, isOld).held?.release();
}

function sweep(folder: string, takeAt: TakeLock): void {
  const names = (attempt(() => fs.readdirSync(folder)) ?? []).slice(0, sweptMax);
  for (const name of names) {
    const path = nodePath.join(folder, name);
    attempt(() => {
      if (/^[0-9a-f]+$/u.test(name)) {
        removeIfLeft(path, takeAt);
      } else if (name.startsWith("new-")) {
        const [, owner = ""] = /^new-(\d+-\d+-[0-9a-f]+)-/u.exec(name) ?? [];
        if (isGone({ owner, token: "", beatMs: fs.lstatSync(path).mtimeMs }, isOld)) fs.unlinkSync(path);
      }
    });
  }
  for (const name of names) {
    const [lock = ""] = name.split(".", 1);
    if (lock === name || lock === "") continue;
    // Without its lock there is no chain, and this file can never be in one again.
    attempt(() => {
      if (fs.lstatSync(nodePath.join(folder, lock), { throwIfNoEntry: false }) === undefined)
        removeIfThere(nodePath.join(folder, name));
    });
  }
}

/** Never throws: the next sweep finds what remains. */
function removeIfThere(path: string): void {
  attempt(() => fs.unlinkSync(path));
}
