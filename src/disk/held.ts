/** A descriptor as something that is held: what it is of, and a path that leads to it whatever its name is by now. */

import type { Held } from "./look.ts";
import type { System } from "./system.ts";

export const handlePathOf = (fd: number): string => `/proc/self/fd/${fd}`;

export function hold(fd: number, stat: ReturnType<System["stat"]>, reads: Held["reads"], system: System): Held {
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
  };
}
