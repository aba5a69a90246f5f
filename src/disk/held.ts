/** A descriptor as something that is held: what it is of, and a path that leads to it whatever its name is by now. */

import type { Held } from "./look.ts";
import type { System } from "./system.ts";

/** O_PATH has no name in Node. The value holds on every Linux architecture but alpha, parisc and sparc. */
export const O_PATH = 0o10000000;

export const handlePathOf = (fd: number): string => `/proc/self/fd/${fd}`;

export interface Holding extends Held {
  /** Closes it in another thread and leaves open what else is held with it. */
  readonly closeLater: () => Promise<void>;
}

/** `folder` is held with it and closed with it. */
export function hold(
  fd: number,
  stat: ReturnType<System["stat"]>,
  reads: Held["reads"],
  system: System,
  folder?: Held,
): Holding {
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
      folder?.close();
    },
    closeLater: async () => {
      if (!open) return;
      open = false;
      await system.closeLater(fd);
    },
  };
}
