/**
 * One lock across processes, as a name in a folder: who makes it has the lock, who removes it gives it back. Three rules
 * keep two from having it at once, whatever is killed and whenever:
 *
 * 1. A lock appears whole. It is a symbolic link that leads nowhere and whose text says who holds it: one call makes it,
 *    and fails if something is there. Windows lets few make such links, so there it is a file that is written under a name
 *    of its own and then linked to its place.
 * 2. The lock of a dead holder is never removed, for between look and removal it may have become a living one. It is
 *    inherited: the heir makes the file `<lock>.<token of the dead>`, which again only one can. The heir may die too
 *    and be inherited in turn, so the holder is whoever stands at the end of the chain.
 * 3. An heir has the lock only if, after its file was made, the chain up to it is still as it was. Tokens are never used
 *    twice, so a chain that has changed does not come back. Then its file is renamed onto the lock itself, in one step.
 */

import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import { Descriptor } from "../descriptor.ts";
import { errnoName } from "../errno.ts";
import { LockFailed, lockFailed, prepareLockFolder } from "./lock-folder.ts";
import { lifeOf, processIdentity } from "./process-identity.ts";

// What a lock says, whichever kind it is: the text of a link, or the beginning of a file.

/** Windows has neither flag. */
const noFollow = (fs.constants.O_NOFOLLOW ?? 0) | (fs.constants.O_NONBLOCK ?? 0);

/** Between two looks a file may have become a link, and a link a file: a lock of the other kind took its place. */
const looksMax = 100;

/** What a link or a file says, without going where a link leads; undefined if there is nothing. */
export function textOf(path: string, readLink: (path: string) => string = fs.readlinkSync): string | undefined {
  if (process.platform === "win32") return textOfFile(path);
  for (let looks = 1; ; looks += 1) {
    try {
      return readLink(path);
    } catch (error) {
      if (errnoName(error) === "ENOENT") return undefined;
      if (errnoName(error) !== "EINVAL") throw error;
    }
    try {
      return textOfFile(path);
    } catch (error) {
      if (errnoName(error) !== "ELOOP" || looks >= looksMax) throw error;
    }
  }
}

const lineBytesMax = 256;

function textOfFile(path: string): string | undefined {
  let fd: number;
  try {
    fd = fs.openSync(path, fs.constants.O_RDONLY | noFollow);
  } catch (error) {
    if (errnoName(error) === "ENOENT") return undefined;
    throw error;
  }
  using _file = new Descriptor(fd);
  const bytes = Buffer.allocUnsafe(lineBytesMax);
  return bytes.toString("latin1", 0, fs.readSync(fd, bytes));
}

/** What a lock file says of its holder. */
export interface Holder {
  /** See process-mark.ts; empty if the file is not one of ours. */
  readonly owner: string;
  /** Of one taking of one lock, never used again. */
  readonly token: string;
  /** The last sign of life. */
  readonly beatMs: number;
}

export interface HeldLock {
  /** Gives the lock back, unless it was taken from us. Never throws: the work that it guarded is done. */
  release(): void;
  /** A sign of life, for processes that cannot see ours. Never throws. */
  beat(): void;
}

/** Whether a holder of which nothing is known but its signs of life is to be given up. */
export type GiveUp = (holder: Holder) => boolean;

/** One who is busy is not always known: it may have come and gone. */
export type Taken = { readonly held: HeldLock } | { readonly held: undefined; readonly holder: Holder | undefined };

export interface LockFiles {
  /** One attempt, without waiting. Throws LockFailed. */
  take(name: string, giveUp: GiveUp): Taken;
  /** Removes what dead processes left. Never throws. */
  sweep(): void;
}

const { O_CREAT, O_EXCL, O_WRONLY } = fs.constants;
/** Where links cannot be made. There a plain file may be seen empty, which is then no sign of life. */
const noLinks: ReadonlySet<string | undefined> = new Set(["EPERM", "EACCES", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"]);

/** Makes something at `path` that says `line`, whole or not at all; throws EEXIST if anything is there. */
export type Publish = (line: string, path: string) => void;

const publishWhole: Publish = process.platform === "win32" ? publishFile : fs.symlinkSync;

export function openLockFiles(folder: string, publishAt: Publish = publishWhole): LockFiles {
  prepareLockFolder(folder);
  const owner = processIdentity();
  const series = randomBytes(8).toString("hex");
  let count = 0;

  /** Makes the lock at `path`; false if there is one. */
  const publish = (path: string, token: string): boolean => {
    const line = lineOf(owner, token);
    for (let tries = 1; ; tries += 1) {
      try {
        publishAt(line, path);
        return true;
      } catch (error) {
        const errno = errnoName(error);
        if (errno === "EEXIST") return false;
        if (noLinks.has(errno)) return createIfMissing(path, line);
        if (errno !== "ENOENT" || tries > 1) throw error;
        prepareLockFolder(folder); // somebody cleaned up the temporary folder
      }
    }
  };

  const take = (name: string, giveUp: GiveUp): Taken => {
    const lock = `${folder}${nodePath.sep}${name}`;
    count += 1;
    const token = `${series}-${count}`;
    // Mostly there is none.
    if (publish(lock, token)) return { held: heldAt(lock, lineOf(owner, token)) };
    const dead: Dead[] = [];
    let place = lock;
    for (let holder = holderOf(place); holder !== undefined; holder = holderOf(place)) {
      if (!isOver(holder, giveUp)) return { held: undefined, holder };
      dead.push({ path: place, token: holder.token });
      place = `${lock}.${holder.token}`;
    }
    if (!publish(place, token)) return { held: undefined, holder: undefined };
    if (place !== lock && !inherit(dead, place, lock)) return { held: undefined, holder: undefined };
    return { held: heldAt(lock, lineOf(owner, token)) };
  };

  return {
    take(name, giveUp) {
      try {
        return take(name, giveUp);
      } catch (error) {
        throw lockFailed(error, "lock files cannot be used", folder);
      }
    },
    sweep: () => sweep(folder, take),
  };
}

interface Dead {
  readonly path: string;
  readonly token: string;
}

/** The third rule. A file at `place` that brings nothing must not stay: it would be a living process's, unknown to it. */
function inherit(dead: readonly Dead[], place: string, lock: string): boolean {
  let isOurs = false;
  try {
    if (dead.every(({ path, token }) => holderOf(path)?.token === token)) {
      fs.renameSync(place, lock);
      isOurs = true;
    }
  } finally {
    if (!isOurs) removeIfThere(place);
  }
  // No chain leads to the others any more.
  if (isOurs) for (const { path } of dead.slice(1)) removeIfThere(path);
  return isOurs;
}

const isOver = (holder: Holder, giveUp: GiveUp): boolean => {
  const life = lifeOf(holder.owner);
  return life === "dead" || (life === "elsewhere" && giveUp(holder));
};

function heldAt(lock: string, line: string): HeldLock {
  return {
    release() {
      // Where it cannot be read, as with too many open files, it is ours for all we know.
      if ((attempt(() => textOf(lock) ?? "") ?? line) === line) removeIfThere(lock);
    },
    beat() {
      attempt(() => {
        const now = new Date();
        // If it is taken from us in between, its new holder has given one sign of life more than it did.
        if (textOf(lock) === line) fs.lutimesSync(lock, now, now);
      });
    },
  };
}

/** Its end shows that it is whole. */
const lineOf = (owner: string, token: string): string => `${owner} ${token}\n`;
const lineShape = /^([0-9a-f-]+) ([0-9a-f-]+)\n$/u;

function holderOf(path: string): Holder | undefined {
  const stat = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
  const text = stat === undefined ? undefined : textOf(path);
  if (stat === undefined || text === undefined) return undefined;
  const [, owner, token] = lineShape.exec(text) ?? [];
  const beatMs = Number(stat.mtimeMs);
  if (owner !== undefined && token !== undefined) return { owner, token, beatMs };
  // Not ours, or emptied by a power cut, or not yet filled where links cannot be made.
  return { owner: "", token: `bad-${stat.ino}-${stat.mtimeNs}`, beatMs };
}

/** A file that appears whole: written under a name of its own, then linked to its place. */
export function publishFile(line: string, path: string): void {
  const [owner = "", token = ""] = line.trimEnd().split(" ");
  const draft = nodePath.join(nodePath.dirname(path), `new-${owner}-${token}`);
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

/** What cannot be judged otherwise is kept for a day. */
const keptMsMax = 86_400_000;
const sweptMax = 1_000;

function sweep(folder: string, take: (name: string, giveUp: GiveUp) => Taken): void {
  const isOld: GiveUp = ({ beatMs }) => Date.now() - beatMs > keptMsMax;
  const names = (attempt(() => fs.readdirSync(folder)) ?? []).slice(0, sweptMax);
  for (const name of names) {
    const path = nodePath.join(folder, name);
    attempt(() => {
      if (/^[0-9a-f]+$/u.test(name)) {
        const holder = holderOf(path);
        // A lock is inherited and given back like any other: removing it would break the second rule.
        if (holder !== undefined && isOver(holder, isOld)) take(name, isOld).held?.release();
      } else if (name.startsWith("new-")) {
        const [, owner = ""] = /^new-(\d+-\d+-[0-9a-f]+)-/u.exec(name) ?? [];
        if (isOver({ owner, token: "", beatMs: fs.lstatSync(path).mtimeMs }, isOld)) fs.unlinkSync(path);
      }
    });
  }
  for (const name of names) {
    const [lock = ""] = name.split(".", 1);
    if (lock === name || lock === "") continue;
    // Without a lock there is no chain, and this file will never be in one again.
    attempt(() => {
      if (fs.lstatSync(nodePath.join(folder, lock), { throwIfNoEntry: false }) === undefined)
        removeIfThere(nodePath.join(folder, name));
    });
  }
}

/** Never throws: what stays is found by the next sweep. */
function removeIfThere(path: string): void {
  attempt(() => fs.unlinkSync(path));
}

function attempt<Value>(action: () => Value): Value | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
