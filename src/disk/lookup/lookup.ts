/** What a lookup beneath the roots can find: the answers of `beneath.ts` and `realpath.ts`, and nothing else. */

import { type BigIntStats, constants } from "node:fs";
import type { SpecialKind } from "../../contract/problem.ts";
import type { RealPath } from "../../contract/target.ts";
import { Descriptor } from "../descriptor.ts";
import type { System } from "../system.ts";

/** A workspace root as it was when the toolkit was made. */
export interface Root {
  /** As the operator gave it, made absolute. */
  readonly given: string;
  readonly real: RealPath;
  readonly device: bigint;
  readonly inode: bigint;
  /** When it was made; undefined where the system does not say. Numbers of inodes are given out again, times are not. */
  readonly birthNs?: bigint | undefined;
  readonly reads: ReadMode;
}

/** A folder that is made in the place of one that was removed often gets its inode's number, but not its birth. */
export const isSameFolder = (stat: BigIntStats, root: Root): boolean =>
  stat.dev === root.device &&
  stat.ino === root.inode &&
  (root.birthNs === undefined || stat.birthtimeNs === root.birthNs);

/** What the operator wants to be kept out, although its path lies beneath a root. */
export interface Border {
  /** Nothing of another mount: its data lies elsewhere. */
  readonly sameDevice?: boolean | undefined;
  /** No file with several names: one of them may lie outside. */
  readonly denyHardlinks?: boolean | undefined;
}

/** `at once`: local, a sync read is safe. `later`: reading may hang, so it must not hold the process. */
export type ReadMode = "at once" | "later";

/** Which file it is, and in which state, as `fstat` of the open file says; never as a name says. */
export interface Identity {
  readonly device: bigint;
  readonly inode: bigint;
  readonly sizeBytes: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** A file or folder that was found and is held by a descriptor until `close`. */
export interface FileNode {
  readonly seen: "node";
  readonly kind: "file" | "directory" | SpecialKind;
  readonly real: RealPath;
  readonly root: Root;
  /** True when `..` was taken after a link: then the path as typed names something else than its letters say. */
  readonly bent: boolean;
  readonly through?: readonly string[] | undefined;
  /** Closing it closes the folder too. */
  readonly handle: Handle;
  /** The folder that it is in, held open, if that was asked for and can be told without another look. */
  readonly folder?: Handle | undefined;
  /**
   * Closes what was found, in another thread, but not its folder, which then is still to be closed. If it has no name any
   * more its bytes are freed with that: 9 kB take as long as a sync, 1 GB a third of a second.
   */
  readonly letGo?: (() => Promise<void>) | undefined;
}

/**
 * What a lookup is to hold besides what it finds; those who change files need the folder as well. A file that is thought
 * to be new is asked for in a way that costs little where it is.
 */
export type LookupAlso = "its folder" | "the folder of a new file" | undefined;

/** The descriptor behind a `Found`. Whoever looked closes it, once. */
export interface Handle extends Disposable {
  readonly identity: Identity;
  readonly reads: ReadMode;
  /** A path that leads to this very inode, whatever its name is now. */
  readonly handlePath: string;
  close(): void;
}

/** The same and held no longer: for those who want to know what is there, and not what is in it. */
export function released<Seen extends Lookup | undefined>(lookup: Seen): Seen {
  if (lookup?.seen === "node") lookup.handle.close();
  return lookup;
}

/** Where a lookup ended: the folder that is there, and what is missing of the path, without links and as it was asked. */
export interface Nearest {
  readonly real: RealPath;
  readonly root: Root;
  readonly rest: string;
  /** Is it known that the folder is within the border? Otherwise another look at it tells. */
  readonly isWithin: boolean;
  /** The folder held open, if that was asked for and only one name is missing. The caller closes it. */
  readonly handle?: Handle | undefined;
}

/**
 * `through`: the real names of the links that were followed, each with the rest of the path below it. A rule may speak of any
 * of them. Known on Linux only.
 */
export type Lookup = AnyLookup & { readonly through?: readonly string[] | undefined };

type AnyLookup =
  | FileNode
  | {
      readonly seen: "missing";
      readonly reason: "missing" | "file on the way";
      readonly nearest?: Nearest;
      /** Of a link that leads nowhere: the real path that it names, if that would be beneath a root. */
      readonly leadsTo?: string;
    }
  | { readonly seen: "outside" | "loop" | "root changed" | "too long" | "changed" }
  /** Inside, but not wanted by `Border`. */
  | { readonly seen: "other mount" | "other names" }
  /** The system said no: EACCES, EPERM, EIO and their like, by name. */
  | { readonly seen: "refused"; readonly errno: string };

/** What a rule about the end of a path goes by, be it there or not; undefined where nothing can be said of it. */
export function endOf(lookup: Lookup): { readonly real: string; readonly is: "file" | "folder" } | undefined {
  if (lookup.seen === "node") return { real: lookup.real, is: lookup.kind === "directory" ? "folder" : "file" };
  return lookup.seen === "missing" && lookup.leadsTo !== undefined ? { real: lookup.leadsTo, is: "file" } : undefined;
}

export function kindOfMode(mode: bigint): "file" | "directory" | "link" | SpecialKind {
  switch (Number(mode) & 0o170000) {
    case 0o100000:
      return "file";
    case 0o040000:
      return "directory";
    case 0o120000:
      return "link";
    case 0o010000:
      return "FIFO";
    case 0o140000:
      return "socket";
    case 0o060000:
      return "block device";
    default:
      return "character device";
  }
}

/** A system error on the way, as an answer; anything else is a bug and is thrown on. */
export function lookupOfErrno(name: string | undefined, error: unknown): Lookup {
  switch (name) {
    case undefined:
      throw error;
    case "ENOENT":
      return { seen: "missing", reason: "missing" };
    case "ENOTDIR":
      return { seen: "missing", reason: "file on the way" };
    case "ELOOP":
      return { seen: "loop" };
    case "ENAMETOOLONG":
      return { seen: "too long" };
    default:
      return { seen: "refused", errno: name };
  }
}

// The stricter borders that an operator may ask for: another mount, and files with several names.

/** `fd` is what was found, `rootFd` its root. Both are numbers of this process. */
export function refusedAtBorder(
  fd: number,
  rootFd: number,
  stat: ReturnType<System["stat"]>,
  border: Border,
  system: System,
): Extract<Lookup, { readonly seen: "other mount" | "other names" }> | undefined {
  // A bind mount has the device of what it shows, so only the mount itself can be compared.
  if (border.sameDevice === true && mountOf(fd, system) !== mountOf(rootFd, system)) return { seen: "other mount" };
  return hasOtherNames(stat, border) ? { seen: "other names" } : undefined;
}

export const hasOtherNames = (stat: ReturnType<System["stat"]>, { denyHardlinks }: Border): boolean =>
  denyHardlinks === true && kindOfMode(stat.mode) === "file" && stat.nlink > 1n;

/** What the kernel says of a descriptor is a few lines. */
const infoBytesMax = 1_024;

function mountOf(fd: number, system: System): string {
  using info = new Descriptor(system.open(`/proc/self/fdinfo/${fd}`, constants.O_RDONLY), system);
  const bytes = Buffer.alloc(infoBytesMax);
  const text = bytes.toString("latin1", 0, system.read(info.fd, bytes, 0, bytes.length, 0));
  const [, id] = /^mnt_id:\s*(\d+)$/mu.exec(text) ?? [];
  if (id === undefined) throw new Error("the kernel names no mount of an open file");
  return id;
}

// A descriptor as something that is held: what it is of, and a path that leads to it whatever its name is by now.

/** O_PATH has no name in Node. The value holds on every Linux architecture but alpha, parisc and sparc. */
export const O_PATH = 0o10000000;

export const handlePathOf = (fd: number): string => `/proc/self/fd/${fd}`;

export interface OwnedHandle extends Handle {
  /** Closes it in another thread and leaves open what else is held with it. */
  readonly closeLater: () => Promise<void>;
}

/** `folder` is held with it and closed with it. */
export function createHandle(
  fd: number,
  stat: ReturnType<System["stat"]>,
  reads: Handle["reads"],
  system: System,
  folder?: Handle,
): OwnedHandle {
  let open = true;
  const close = (): void => {
    if (open) system.close(fd);
    open = false;
    folder?.close();
  };
  return {
    identity: {
      device: stat.dev,
      inode: stat.ino,
      sizeBytes: Number(stat.size),
      mtimeNs: stat.mtimeNs,
      ctimeNs: stat.ctimeNs,
    },
    reads,
    handlePath: handlePathOf(fd),
    close,
    [Symbol.dispose]: close,
    closeLater: async () => {
      if (!open) return;
      open = false;
      await system.closeLater(fd);
    },
  };
}
