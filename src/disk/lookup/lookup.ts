/** The results of a lookup beneath the roots, shared by `beneath.ts` (Linux) and `by-realpath.ts` (other systems). */

import { type BigIntStats, constants } from "node:fs";
import type { SpecialKind } from "../../contract/problem.ts";
import type { RealPath } from "../../contract/target.ts";
import { Descriptor } from "../descriptor.ts";
import type { System } from "../system.ts";

export interface Root {
  /** As the operator gave it, made absolute. */
  readonly given: string;
  readonly real: RealPath;
  readonly device: bigint;
  readonly inode: bigint;
  /** Creation time; undefined where the system has none. Inode numbers are reused, creation times are not. */
  readonly birthNs?: bigint | undefined;
  readonly reads: ReadMode;
}

/** A folder recreated under the same name often gets the same inode number, but not the same creation time. */
export const isSameFolder = (stat: BigIntStats, root: Root): boolean =>
  stat.dev === root.device &&
  stat.ino === root.inode &&
  (root.birthNs === undefined || stat.birthtimeNs === root.birthNs);

export interface Border {
  /** Refuses other mounts: their data is stored elsewhere. */
  readonly sameDevice?: boolean | undefined;
  /** Refuses files with several hard links: one of them may be outside. */
  readonly denyHardlinks?: boolean | undefined;
}

/** `at once`: local, a sync read is safe. `later`: reading may hang, so it must not block the process. */
export type ReadMode = "at once" | "later";

/** Which file it is, and in which state; always from `fstat` of the open file, never from a name. */
export interface Identity {
  readonly device: bigint;
  readonly inode: bigint;
  readonly sizeBytes: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

export interface FileNode {
  readonly seen: "node";
  readonly kind: "file" | "directory" | SpecialKind;
  readonly real: RealPath;
  readonly root: Root;
  /** True when `..` followed a symlink: the path as typed then names something else than its text suggests. */
  readonly bent: boolean;
  readonly through?: readonly string[] | undefined;
  /** Closing it also closes `folder`. */
  readonly handle: Handle;
  readonly folder?: Handle | undefined;
  /** Closes the handle in another thread, not `folder`: freeing an unlinked 1 GB takes a third of a second. */
  readonly letGo?: (() => Promise<void>) | undefined;
}

/** What to open besides the node: callers that change files need its folder. `a new file` makes a missing name cheap. */
export type LookupAlso = "its folder" | "the folder of a new file" | undefined;

export interface Handle extends Disposable {
  readonly identity: Identity;
  readonly reads: ReadMode;
  /** A path that leads to exactly this inode, whatever its name is now. */
  readonly handlePath: string;
  close(): void;
}

export function withHandleClosed<Seen extends Lookup | undefined>(lookup: Seen): Seen {
  if (lookup?.seen === "node") lookup.handle.close();
  return lookup;
}

export interface Nearest {
  readonly real: RealPath;
  readonly root: Root;
  readonly rest: string;
  /** True if the folder is known to satisfy `Border`; otherwise another lookup decides. */
  readonly isWithin: boolean;
  readonly handle?: Handle | undefined;
}

/** `through`: the real paths of the symlinks followed, with the rest below; a rule may match any. Linux only. */
export type Lookup = AnyLookup & { readonly through?: readonly string[] | undefined };

type AnyLookup =
  | FileNode
  | {
      readonly seen: "missing";
      readonly reason: "missing" | "file on the way";
      readonly nearest?: Nearest;
      /** For a dangling symlink: its real target, if that would be beneath a root. */
      readonly leadsTo?: string;
    }
  | { readonly seen: "outside" | "loop" | "root changed" | "too long" | "changed" }
  | { readonly seen: "other mount" | "other names" }
  | { readonly seen: "refused"; readonly errno: string };

/** The path end that rules are matched against, existing or not; undefined if unknown. */
export function lookupEnd(lookup: Lookup): { readonly real: string; readonly is: "file" | "folder" } | undefined {
  if (lookup.seen === "node") return { real: lookup.real, is: lookup.kind === "directory" ? "folder" : "file" };
  return lookup.seen === "missing" && lookup.leadsTo !== undefined ? { real: lookup.leadsTo, is: "file" } : undefined;
}

const kindsByMode: Readonly<Record<number, "file" | "directory" | "link" | SpecialKind>> = {
  0o100000: "file",
  0o040000: "directory",
  0o120000: "link",
  0o010000: "FIFO",
  0o140000: "socket",
  0o060000: "block device",
};

export const kindOfMode = (mode: bigint): "file" | "directory" | "link" | SpecialKind =>
  kindsByMode[Number(mode) & 0o170000] ?? "character device";

export function lookupOfErrno(name: string | undefined, error: unknown): Lookup {
  if (name === undefined) throw error;
  return lookupsByErrno[name] ?? { seen: "refused", errno: name };
}

const lookupsByErrno: Readonly<Record<string, Lookup>> = {
  ENOENT: { seen: "missing", reason: "missing" },
  ENOTDIR: { seen: "missing", reason: "file on the way" },
  ELOOP: { seen: "loop" },
  ENAMETOOLONG: { seen: "too long" },
};

export function refusedAtBorder(
  fd: number,
  rootFd: number,
  stat: ReturnType<System["stat"]>,
  border: Border,
  system: System,
): Extract<Lookup, { readonly seen: "other mount" | "other names" }> | undefined {
  // A bind mount has the device of its source, so only mount ids tell them apart.
  if (border.sameDevice === true && mountOf(fd, system) !== mountOf(rootFd, system)) return { seen: "other mount" };
  return hasOtherNames(stat, border) ? { seen: "other names" } : undefined;
}

export const hasOtherNames = (stat: ReturnType<System["stat"]>, { denyHardlinks }: Border): boolean =>
  denyHardlinks === true && kindOfMode(stat.mode) === "file" && stat.nlink > 1n;

/** The kernel describes a descriptor in a few lines. */
const infoBytesMax = 1_024;

/** The id of the mount that an open file is on. Linux only. */
export function mountOf(fd: number, system: System): string {
  using info = new Descriptor(system.open(`/proc/self/fdinfo/${fd}`, constants.O_RDONLY), system);
  const bytes = Buffer.alloc(infoBytesMax);
  const text = bytes.toString("latin1", 0, system.read(info.fd, bytes, 0, bytes.length, 0));
  const [, id] = /^mnt_id:\s*(\d+)$/mu.exec(text) ?? [];
  if (id === undefined) throw new Error("the kernel names no mount of an open file");
  return id;
}

/** O_PATH has no name in Node. The value holds on every Linux architecture but alpha, parisc and sparc. */
export const O_PATH = 0o10000000;

export const handlePathOf = (fd: number): string => `/proc/self/fd/${fd}`;

export const identityOf = (stat: Pick<BigIntStats, "dev" | "ino" | "size" | "mtimeNs" | "ctimeNs">): Identity => ({
  device: stat.dev,
  inode: stat.ino,
  sizeBytes: Number(stat.size),
  mtimeNs: stat.mtimeNs,
  ctimeNs: stat.ctimeNs,
});

export function createHandle(
  fd: number,
  stat: ReturnType<System["stat"]>,
  reads: Handle["reads"],
  system: System,
  folder?: Handle,
): Handle & { readonly closeLater: () => Promise<void> } {
  let open = true;
  const close = (): void => {
    if (open) system.close(fd);
    open = false;
    folder?.close();
  };
  return {
    identity: identityOf(stat),
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
