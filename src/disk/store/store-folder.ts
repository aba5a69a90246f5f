/**
 * A private folder for our own data: names in, bytes out. Files appear whole, because they are written under another name first;
 * an append is one write, so several processes can append to one file. Nothing is synced unless asked for: a killed process
 * loses no written data, a power cut may.
 *
 * Calls are sync: they cost a few microseconds each, and a state folder is expected on a local disk.
 */

import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import { Descriptor, noFollow } from "../descriptor.ts";
import { attempt, errnoName, unlessMissing } from "../errno.ts";
import { lifeOf, processIdentity } from "../lock/process-identity.ts";
import type { Identity } from "../lookup/lookup.ts";
import { makeFolders } from "../write/make-folders.ts";

/**
 * The store cannot be used; the message says why. It reaches users of the library, so it has a code like a FilehandError
 * (`contract/problem.ts`). It does not extend that class: both would then be bundled into a second file that the command line
 * loads at each start.
 */
export class StoreFailed extends Error {
  override readonly name = "StoreFailed";
  readonly code = "IO_ERROR";
  readonly reason: "full" | "not permitted" | "read-only" | "failed";
  /** The file, or the folder if no single file is concerned. */
  readonly path: string;
  constructor(reason: StoreFailed["reason"], message: string, path: string) {
    super(message);
    this.reason = reason;
    this.path = path;
  }
}

export interface Stored {
  readonly sizeBytes: number;
  /** Hard links of this inode: more than one if a workspace file was linked here and still exists. */
  readonly links: number;
  readonly device: bigint;
  readonly inode: bigint;
  readonly mtimeNs: bigint;
  /** When the file was stored or last touched; unlike mtime it is not inherited through a hard link. */
  readonly ctimeMs: number;
}

export interface StoredFile extends Stored, Disposable {
  readonly descriptor: number;
  read(into: Uint8Array, at: number): number;
  close(): void;
}

export function openStored(path: string): StoredFile | undefined {
  const fd = unlessMissing(() => fs.openSync(path, fs.constants.O_RDONLY | noFollow));
  if (fd === undefined) return undefined;
  using opened = new Descriptor(fd);
  const stored = storedOf(fs.fstatSync(fd, { bigint: true }));
  if (stored === undefined) return undefined;
  const read = (into: Uint8Array, from: number): number => {
    let done = 0;
    while (done < into.length) {
      const bytes = fs.readSync(fd, into, done, into.length - done, from + done);
      if (bytes === 0) break;
      done += bytes;
    }
    return done;
  };
  const file = opened.move();
  const close = (): void => file[Symbol.dispose]();
  return {
    ...stored,
    descriptor: fd,
    read: (into, from) => orStoreFailed(path, () => read(into, from), "read"),
    close,
    [Symbol.dispose]: close,
  };
}

export function storedOf(stat: fs.BigIntStats | undefined): Stored | undefined {
  if (stat === undefined || !stat.isFile()) return undefined;
  return {
    sizeBytes: Number(stat.size),
    links: Number(stat.nlink),
    device: stat.dev,
    inode: stat.ino,
    mtimeNs: stat.mtimeNs,
    ctimeMs: Number(stat.ctimeNs / 1_000_000n),
  };
}

const reasons: Readonly<Record<string, StoreFailed["reason"]>> = {
  ENOSPC: "full",
  EDQUOT: "full",
  EFBIG: "full",
  EACCES: "not permitted",
  EPERM: "not permitted",
  EROFS: "read-only",
};

export function orStoreFailed<Result>(
  path: string,
  call: () => Result,
  doing: "store in" | "read" = "store in",
): Result {
  try {
    return call();
  } catch (error) {
    const errno = errnoName(error);
    if (errno === undefined) throw error;
    const advice = doing === "read" ? ", filehand history verify tells what is wrong" : "";
    const message = `Cannot ${doing} "${path}": the system says ${errno}${advice}`;
    throw new StoreFailed(reasons[errno] ?? "failed", message, path);
  }
}

export type StoreFolder = ReturnType<typeof openStoreFolder>;

const { O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_WRONLY } = fs.constants;
const draftFolder = "drafts";
/** A file can be replaced during an append a few times by chance, but not this often. */
const appendTriesMax = 100;

/** Creates nothing until the first write. `durable`: syncs every write before the call returns. */
export function openStoreFolder(path: string, { durable = false }: { readonly durable?: boolean } = {}) {
  const at = (name: string): string => nodePath.join(path, name);
  let ready = false;
  const prepare = (): void => {
    if (ready) return;
    makePrivate(path);
    ready = true;
  };

  const within = <Result>(name: string, call: () => Result): Result => {
    prepare();
    try {
      return call();
    } catch (error) {
      if (errnoName(error) !== "ENOENT") throw error;
      makePrivate(path);
      makeFolders(nodePath.dirname(at(name)), 0o700);
      return call();
    }
  };

  const draft = () => {
    const temporary = nodePath.join(draftFolder, draftName());
    const fd = within(temporary, () => fs.openSync(at(temporary), O_CREAT | O_EXCL | O_WRONLY | noFollow, 0o600));
    const file = new Descriptor(fd);
    const drop = (): void => {
      attempt(() => file.close());
      attempt(() => fs.unlinkSync(at(temporary)));
    };
    const orDrop = (call: () => void): void => {
      try {
        orStoreFailed(path, call);
      } catch (error) {
        drop();
        throw error;
      }
    };
    return {
      write: (bytes: Uint8Array): void => orDrop(() => writeWhole(fd, bytes)),
      keep: (name: string): void =>
        orDrop(() => {
          if (durable) fs.fsyncSync(fd);
          file.close();
          within(name, () => fs.renameSync(at(temporary), at(name)));
          if (durable) syncFolder(nodePath.dirname(at(name)));
        }),
      drop,
    };
  };

  const appendOnce = (name: string, bytes: Uint8Array): number | "replaced" => {
    const fd = within(name, () => fs.openSync(at(name), O_APPEND | O_CREAT | O_WRONLY | noFollow, 0o600));
    using file = new Descriptor(fd);
    if (fs.writeSync(fd, bytes) !== bytes.length)
      throw new StoreFailed("full", `Cannot store in "${path}": only a part could be written`, path);
    if (durable) fs.fsyncSync(fd);
    const own = fs.fstatSync(fd);
    const named = fs.lstatSync(at(name), { throwIfNoEntry: false });
    file.close();
    return named?.ino === own.ino && named.dev === own.dev ? own.size : "replaced";
  };

  /** Creates a file under a temporary name and renames it to `name` if `isRight` accepts it. */
  const adopt = (name: string, make: (temporary: string) => void, isRight: (temporary: string) => boolean): boolean => {
    const temporary = nodePath.join(draftFolder, draftName());
    try {
      within(temporary, () => make(at(temporary)));
      if (isRight(at(temporary))) {
        within(name, () => fs.renameSync(at(temporary), at(name)));
        return true;
      }
    } catch (error) {
      if (errnoName(error) === undefined) throw error;
    } finally {
      attempt(() => fs.unlinkSync(at(temporary))); // also needed where both names are one inode: rename then does nothing
    }
    return false;
  };

  return {
    path,
    look: (name: string): Stored | undefined =>
      orStoreFailed(path, () => storedOf(fs.lstatSync(at(name), { bigint: true, throwIfNoEntry: false })), "read"),
    open: (name: string): StoredFile | undefined => orStoreFailed(at(name), () => openStored(at(name)), "read"),
    read(name: string): Buffer | undefined {
      const read = (): Buffer | undefined => {
        using file = openStored(at(name));
        if (file === undefined) return undefined;
        const bytes = Buffer.allocUnsafe(file.sizeBytes);
        return bytes.subarray(0, file.read(bytes, 0));
      };
      return orStoreFailed(at(name), read, "read");
    },
    list: (name: string): readonly string[] =>
      orStoreFailed(at(name), () => unlessMissing(() => fs.readdirSync(at(name))) ?? [], "read"),
    /** Appends in one write to the file that has this name when the call ends. Returns the new size. */
    append: (name: string, bytes: Uint8Array): number =>
      orStoreFailed(path, () => {
        for (let tries = 0; tries < appendTriesMax; tries += 1) {
          const size = appendOnce(name, bytes);
          if (size !== "replaced") return size;
        }
        throw new StoreFailed("failed", `Cannot store in "${path}": "${name}" is replaced all the time`, path);
      }),
    put(name: string, bytes: Uint8Array): void {
      const file = orStoreFailed(path, draft);
      file.write(bytes);
      file.keep(name);
    },
    draft: () => orStoreFailed(path, draft),
    /** Hard-links the inode `identity`, if it is ours and has one name. MUST NOT be used for one written in place. */
    link: (source: string, identity: Identity, name: string): boolean =>
      orStoreFailed(path, () =>
        adopt(
          name,
          (temporary) => {
            const { nlink, uid } = fs.lstatSync(source);
            if (nlink === 1 && uid === (process.geteuid?.() ?? uid)) fs.linkSync(source, temporary);
          },
          (temporary) => {
            const linked = storedOf(fs.lstatSync(temporary, { bigint: true, throwIfNoEntry: false }));
            return linked?.device === identity.device && linked.inode === identity.inode && linked.links === 2;
          },
        ),
      ),
    clone({ descriptor }: { readonly descriptor: number | undefined }, name: string): boolean {
      if (descriptor === undefined || process.platform !== "linux") return false;
      return orStoreFailed(path, () =>
        adopt(
          name,
          (temporary) => {
            // Created by us first: a copy would take over the mode of its source.
            fs.closeSync(fs.openSync(temporary, O_CREAT | O_EXCL | O_WRONLY | noFollow, 0o600));
            fs.copyFileSync(`/proc/self/fd/${descriptor}`, temporary, fs.constants.COPYFILE_FICLONE_FORCE);
            fs.chmodSync(temporary, 0o600);
          },
          () => true,
        ),
      );
    },
    rename: (from: string, to: string): boolean =>
      orStoreFailed(path, () => {
        if (fs.lstatSync(at(from), { throwIfNoEntry: false }) === undefined) return false;
        within(to, () => fs.renameSync(at(from), at(to)));
        return true;
      }),
    remove: (name: string): void => orStoreFailed(path, () => fs.rmSync(at(name), { recursive: true, force: true })),
    touch: (name: string): void =>
      orStoreFailed(path, () => {
        const stat = fs.lstatSync(at(name), { throwIfNoEntry: false });
        // A chmod to the same mode moves ctime and keeps mtime, which identifies a linked file.
        if (stat !== undefined) unlessMissing(() => fs.chmodSync(at(name), stat.mode & 0o7777));
      }),
    sweep: (): number => orStoreFailed(path, () => sweepDrafts(at(draftFolder))),
  };
}

/** Contents of files are stored here: no other user may read them or plant any. */
function makePrivate(path: string): void {
  makeFolders(path, 0o700);
  const stat = fs.lstatSync(path);
  const user = process.geteuid?.() ?? stat.uid;
  if (!stat.isDirectory() || stat.uid !== user) {
    throw new StoreFailed("not permitted", `Cannot store in "${path}": it is not a folder of this user`, path);
  }
  if (process.platform !== "win32" && (stat.mode & 0o077) !== 0) fs.chmodSync(path, 0o700);
}

const draftName = (): string => `${processIdentity()}-${randomBytes(6).toString("hex")}`;
const draftShape = /^(\d{1,10}-\d{1,20}-[0-9a-f]{12})-[0-9a-f]{12}$/u;
/** A draft whose process cannot be checked from here is removed after a day. */
const dayMs = 86_400_000;

function sweepDrafts(folder: string): number {
  let removed = 0;
  for (const name of unlessMissing(() => fs.readdirSync(folder)) ?? []) {
    const owner = draftShape.exec(name)?.[1] ?? "";
    const path = nodePath.join(folder, name);
    const stat = fs.lstatSync(path, { throwIfNoEntry: false });
    const life = lifeOf(owner);
    if (stat === undefined || life === "alive" || (life === "elsewhere" && Date.now() - stat.ctimeMs < dayMs)) continue;
    if (attempt(() => (fs.unlinkSync(path), true)) === true) removed += 1;
  }
  return removed;
}

function writeWhole(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += fs.writeSync(fd, bytes, done);
}

function syncFolder(path: string): void {
  if (process.platform === "win32") return; // folders cannot be opened there
  using folder = new Descriptor(fs.openSync(path, O_RDONLY));
  fs.fsyncSync(folder.fd);
}
