/** System calls that count, fail on demand and notice descriptors that are left open or closed twice. */

import { constants } from "node:os";
import { nodeSystem, type System } from "../../src/disk/system.ts";

export type Errno =
  | "EIO"
  | "EACCES"
  | "EMFILE"
  | "ENOENT"
  | "EINVAL"
  | "ELOOP"
  | "ENOSPC"
  | "EROFS"
  | "EDQUOT"
  | "EPERM"
  | "EBUSY"
  | "EXDEV"
  | "EEXIST"
  | "ENOTSUP";

export interface FaultySystem extends System {
  /** Calls so far, by name. */
  readonly calls: readonly string[];
  /** Descriptors that are open. */
  readonly stillOpen: ReadonlySet<number>;
  /** Descriptors that were closed and were not open. */
  readonly closedTwice: readonly number[];
  /** From now on the n-th call fails (1 is the next one); undefined for none. */
  failAt(n: number | undefined, errno: Errno): void;
  /** Told of every call right before it is made, by number and name. */
  onCall: ((n: number, name: string) => void) | undefined;
}

export function systemError(errno: Errno, call: string): Error {
  return Object.assign(new Error(`${errno}: made up, ${call}`), { errno: -constants.errno[errno], code: errno });
}

/** A disk whose syncs always take so long, as far as anybody knows. */
export const paced = (base: System, ms: number): System => ({
  ...base,
  syncPace: {
    get lastMs() {
      return ms;
    },
    set lastMs(_) {
      // it stays so
    },
  },
});

export function faultySystem(base: System = paced(nodeSystem, 0)): FaultySystem {
  const calls: string[] = [];
  const open = new Set<number>();
  const closedTwice: number[] = [];
  let left = 0;
  let errno: Errno = "EIO";

  /** Counts a call; true if it is the one to fail. */
  const fails = (name: string): boolean => {
    calls.push(name);
    faulty.onCall?.(calls.length, name);
    if (left === 0) return false;
    left -= 1;
    return left === 0;
  };
  const guarded =
    <Arguments extends readonly unknown[], Result>(name: string, call: (...given: Arguments) => Result) =>
    (...given: Arguments): Result => {
      if (fails(name)) throw systemError(errno, name);
      return call(...given);
    };
  const later =
    <Arguments extends readonly unknown[], Result>(name: string, call: (...given: Arguments) => Promise<Result>) =>
    async (...given: Arguments): Promise<Result> => {
      if (fails(name)) throw systemError(errno, name);
      return call(...given);
    };

  const faulty: FaultySystem = {
    platform: base.platform,
    syncPace: base.syncPace,
    open: guarded("open", (path: string, flags: number) => {
      const fd = base.open(path, flags);
      open.add(fd);
      return fd;
    }),
    close: (fd) => {
      const failing = fails("close");
      if (!open.delete(fd)) closedTwice.push(fd);
      base.close(fd); // a close that fails has closed all the same
      if (failing) throw systemError(errno, "close");
    },
    closeLater: async (fd) => {
      const failing = fails("closeLater");
      if (!open.delete(fd)) closedTwice.push(fd);
      await base.closeLater(fd);
      if (failing) throw systemError(errno, "close");
    },
    stat: guarded("stat", (fd) => base.stat(fd)),
    statPath: guarded("statPath", (path) => base.statPath(path)),
    readLink: guarded("readLink", (path) => base.readLink(path)),
    pathOfHandle: guarded("heldAt", (handlePath) => base.pathOfHandle(handlePath)),
    realPath: guarded("realPath", (path) => base.realPath(path)),
    fileSystemType: guarded("fileSystemType", (path) => base.fileSystemType(path)),
    read: guarded("read", (fd, into, offset, length, at) => base.read(fd, into, offset, length, at)),
    readLater: later("readLater", (fd, into, offset, length, at) => base.readLater(fd, into, offset, length, at)),
    folderNow: guarded("folderNow", (path) => base.folderNow(path)),
    folder: later("folder", (path) => base.folder(path)),
    folderWhole: guarded("folderWhole", (path) => base.folderWhole(path)),
    glance: guarded("glance", (path) => base.glance(path)),
    glanceLater: later("glanceLater", (path) => base.glanceLater(path)),
    folderCalls: later("folderCalls", async () => {
      const found = await base.folderCalls();
      return (
        found && {
          enter: guarded("enter", (folder: number, name: string) => {
            const fd = found.enter(folder, name);
            open.add(fd);
            return fd;
          }),
          entries: guarded("entries", (folder: number) => found.entries(folder)),
          glance: guarded("glance in", (folder: number, name: string) => found.glance(folder, name)),
          stat: guarded("stat in", (folder: number, name: string, into: Float64Array) =>
            found.stat(folder, name, into),
          ),
        }
      );
    }),
    make: guarded("make", (path, flags, mode) => {
      const fd = base.make(path, flags, mode);
      open.add(fd);
      return fd;
    }),
    write: guarded("write", (fd, from, offset, length, at) => base.write(fd, from, offset, length, at)),
    writeLater: later("writeLater", (fd, from, offset, length, at) => base.writeLater(fd, from, offset, length, at)),
    copyCalls: later("copyCalls", async () => {
      const found = await base.copyCalls();
      return (
        found && {
          copy: async (...given) => (fails("copy") ? undefined : found.copy(...given)),
          startWriting: later("startWriting", (fd: number, at: number, bytes: number) =>
            found.startWriting(fd, at, bytes),
          ),
        }
      );
    }),
    sync: guarded("sync", (fd) => base.sync(fd)),
    syncLater: later("syncLater", (fd) => base.syncLater(fd)),
    truncate: guarded("truncate", (fd, sizeBytes) => base.truncate(fd, sizeBytes)),
    changeOwner: guarded("changeOwner", (fd, user, group) => base.changeOwner(fd, user, group)),
    changeMode: guarded("changeMode", (fd, mode) => base.changeMode(fd, mode)),
    statLink: guarded("statLink", (path) => base.statLink(path)),
    checkWritable: guarded("checkWritable", (path) => base.checkWritable(path)),
    rename: guarded("rename", (from, to) => base.rename(from, to)),
    link: guarded("link", (existing, added) => base.link(existing, added)),
    symlink: guarded("symlink", (leadsTo, path) => base.symlink(leadsTo, path)),
    changeTime: guarded("changeTime", (fd, timeNs) => base.changeTime(fd, timeNs)),
    unlink: guarded("unlink", (path) => base.unlink(path)),
    makeFolder: guarded("makeFolder", (path, mode) => base.makeFolder(path, mode)),
    removeFolder: guarded("removeFolder", (path) => base.removeFolder(path)),
    pause: (ms) => base.pause(ms),
    attributes: later("attributes", async () => {
      const found = await base.attributes();
      return (
        found && {
          list: guarded("list attributes", (path: string) => found.list(path)),
          listOf: guarded("list attributes of", (fd: number) => found.listOf(fd)),
          get: guarded("get attribute", (path: string, name: string) => found.get(path, name)),
          set: guarded("set attribute", (fd: number, name: string, value: Uint8Array) => found.set(fd, name, value)),
          remove: guarded("remove attribute", (fd: number, name: string) => found.remove(fd, name)),
        }
      );
    }),
    calls,
    stillOpen: open,
    closedTwice,
    failAt: (n, which) => {
      left = n ?? 0;
      errno = which;
    },
    onCall: undefined,
  };
  return faulty;
}
