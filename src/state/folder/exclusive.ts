/** Exclusive work on a file of the state folder, against other processes of this machine. */

import { createHash } from "node:crypto";
import { createLocks, type Locks } from "../../disk/disk.ts";

export type Exclusively = <Result>(place: string, work: () => Promise<Result>) => Promise<Result>;

/** `lockFolder`: for tests; see `disk/lock/lock.ts`. */
export function exclusivelyIn(folder: string, lockFolder?: string): Exclusively {
  let locks: Locks | undefined;
  const never = new AbortController().signal;
  return (place, work) => {
    locks ??= createLocks({ folder: lockFolder });
    const name = createHash("sha256").update(`${folder}\n${place}`).digest("hex");
    return locks.exclusively([{ folder: { device: 0n, inode: 0n }, name }], never, work);
  };
}
