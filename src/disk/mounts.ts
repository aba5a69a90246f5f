/** Where the kernel's own file systems are mounted beneath a folder: they have no end and no files, so no walk goes in. */

import { constants } from "node:fs";
import { errnoName } from "./errno.ts";
import type { System } from "./system.ts";

/** By the names that the kernel gives them; asking each mount by itself could hang on one that does not answer. */
const kernelTypes: ReadonlySet<string> = new Set(
  "binfmt_misc bpf cgroup cgroup2 configfs debugfs devpts devtmpfs efivarfs fusectl mqueue nsfs proc pstore rpc_pipefs securityfs selinuxfs sysfs tracefs".split(
    " ",
  ),
);

const tableBytesMax = 4_194_304;

/** Real paths beneath a folder, as the table of mounts said at most a second ago. */
export function kernelMounts(system: System): (folder: string) => ReadonlySet<string> {
  let known: readonly string[] = [];
  let untilMs = Number.NEGATIVE_INFINITY;
  return (folder) => {
    if (performance.now() > untilMs) {
      known = mountsIn(tableOf(system));
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
    if (!kernelTypes.has(after.split(" ")[0] ?? "")) return [];
    const escaped = before.split(" ")[4] ?? "";
    return [escaped.replace(/\\([0-7]{3})/gu, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))];
  });

function tableOf(system: System): string {
  let fd: number | undefined;
  try {
    fd = system.open("/proc/self/mountinfo", constants.O_RDONLY);
    const chunks: Buffer[] = [];
    for (let done = 0; done < tableBytesMax; ) {
      const chunk = Buffer.alloc(65_536);
      const bytes = system.read(fd, chunk, 0, chunk.length, done);
      if (bytes === 0) break;
      chunks.push(chunk.subarray(0, bytes));
      done += bytes;
    }
    return Buffer.concat(chunks).toString("utf8");
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return "";
  } finally {
    if (fd !== undefined) system.close(fd);
  }
}
