/** A descriptor as something that is held: what it is of, and a path that leads to it whatever its name is by now. */

import type { Held } from "./look.ts";
import type { System } from "./system.ts";

/** O_PATH has no name in Node. The value holds on every Linux architecture but alpha, parisc and sparc. */
export const O_PATH = 0o10000000;

export const handlePathOf = (fd: number): string => `/proc/self/fd/${fd}`;

export function hold(
  fd: number,
  stat: ReturnType<System["stat"]>,
  reads: Held["reads"],
  system: System,
): Held & { closeLater(): Promise<void> } {
  let open = true;
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
    close: () => {
      if (open) system.close(fd);
      open = false;
    },
    closeLater: async () => {
      if (!open) return;
      open = false;
      await system.closeLater(fd);
    },
  };
}
