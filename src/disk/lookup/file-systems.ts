/** What a file system's type number (statfs) says about its files. The numbers are from the kernel's headers. */

import { constants } from "node:fs";
import type { FileSystemTraits } from "../../contract/checkup.ts";
import { Descriptor } from "../descriptor.ts";
import { orErrno } from "../errno.ts";
import type { System } from "../system.ts";

/** Kernel file systems: they contain no regular files, and reading some entries hangs or never ends. */
const kernelTypes = new Set([
  0x9fa0, // proc
  0x62656572, // sysfs
  0x74726163, // tracefs
  0x64626720, // debugfs
  0x63677270, // cgroup2
  0x27e0eb, // cgroup
  0x73636673, // securityfs
  0x6165676c, // pstore
  0xcafe4a11, // bpf
  0x62656570, // configfs
  0xde5e81e4, // efivarfs
  0x1cd1, // devpts
  0x19800202, // mqueue
  0xf97cff8c, // selinuxfs
  0x42494e4d, // binfmt_misc
  0x65735543, // fusectl
  0x6e736673, // nsfs
  0x50495045, // pipefs
  0x534f434b, // sockfs
  0x5a3c69f0, // apparmorfs
  0x43415d53, // smackfs
  0x07655821, // resctrl
  0x6c6f6f70, // binderfs
  0x6e667364, // nfsd
  0x67596969, // rpc_pipefs
  0x9fa1, // openpromfs
]);

export const isKernelType = (type: number): boolean => kernelTypes.has(type >>> 0);

/** `clones`: copies that share blocks until one is changed. */
const traits = (
  name: string,
  hardLinks: boolean,
  attributes: boolean,
  clones: FileSystemTraits["clones"] = false,
): FileSystemTraits => ({ name, hardLinks, attributes, clones });

/** Local file systems answer at once or fail; all others are read without blocking the process. */
const localTypes: ReadonlyMap<number, FileSystemTraits | undefined> = new Map([
  [0xef53, traits("ext2, ext3 or ext4", true, true)],
  [0x58465342, traits("xfs", true, true, "perhaps")],
  [0x9123683e, traits("btrfs", true, true, true)],
  [0x01021994, traits("tmpfs", true, true)],
  [0x858458f6, undefined], // ramfs
  [0x794c7630, traits("overlay", true, true, "perhaps")],
  [0x2fc12fc1, traits("zfs", true, true, "perhaps")],
  [0xf2f52010, traits("f2fs", true, true)],
  [0xca451a4e, traits("bcachefs", true, true, true)],
  [0x73717368, undefined], // squashfs
  [0xe0f5e1e2, undefined], // erofs
  [0x4d44, traits("fat", false, false)],
  [0x2011bab0, traits("exfat", false, false)],
]);

const otherTypes: ReadonlyMap<number, FileSystemTraits> = new Map([
  [0x6969, traits("nfs", true, false, "perhaps")],
  [0xff534d42, traits("cifs", true, true, "perhaps")],
  [0xfe534d42, traits("smb2", true, true, "perhaps")],
  [0x01021997, traits("9p", true, true)],
]);

export const isLocalType = (type: number): boolean => localTypes.has(type >>> 0);

/** Undefined for unknown types and except on Linux, where the numbers mean other things. */
export const traitsOfType = (type: number): FileSystemTraits | undefined =>
  localTypes.get(type >>> 0) ?? otherTypes.get(type >>> 0);

/** Mount types that no walk enters. Compared by name: a statfs of each mount could hang on one that does not answer. */
const kernelMountTypes: ReadonlySet<string> = new Set(
  `binfmt_misc bpf cgroup cgroup2 configfs debugfs devpts devtmpfs efivarfs fusectl mqueue nsfs proc pstore rpc_pipefs securityfs
   selinuxfs sysfs tracefs`.split(/\s+/u),
);

/** Thousands of mounts; a larger table is read only up to here. */
const tableBytesMax = 4_194_304;

/** Kernel mounts beneath a folder as real paths, from a mount table at most a second old. */
export function kernelMounts(system: System): (folder: string) => ReadonlySet<string> {
  let known: readonly string[] = [];
  let untilMs = Number.NEGATIVE_INFINITY;
  return (folder) => {
    if (performance.now() > untilMs) {
      known = orErrno(
        () => mountsIn(mountTable(system)),
        () => [],
      );
      untilMs = performance.now() + 1_000;
    }
    const prefix = folder.endsWith("/") ? folder : `${folder}/`;
    return new Set(known.filter((path) => path.startsWith(prefix)));
  };
}

const mountsIn = (table: string): readonly string[] =>
  table.split("\n").flatMap((line) => {
    // 36 35 98:0 /inside /mount/point options - type source more
    const [before = "", after = ""] = line.split(" - ");
    if (!kernelMountTypes.has(after.split(" ")[0] ?? "")) return [];
    const escaped = before.split(" ")[4] ?? "";
    return [escaped.replace(/\\([0-7]{3})/gu, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))];
  });

function mountTable(system: System): string {
  using file = new Descriptor(system.open("/proc/self/mountinfo", constants.O_RDONLY), system);
  const chunks: Buffer[] = [];
  for (let done = 0; done < tableBytesMax; ) {
    const chunk = Buffer.alloc(65_536);
    const bytes = system.read(file.fd, chunk, 0, chunk.length, done);
    if (bytes === 0) break;
    chunks.push(chunk.subarray(0, bytes));
    done += bytes;
  }
  return Buffer.concat(chunks).toString("utf8");
}
