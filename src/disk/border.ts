/** The stricter borders that an operator may ask for: another mount, and files with several names. */

import { constants } from "node:fs";
import { type Border, kindOfMode, type Look } from "./look.ts";
import type { System } from "./system.ts";

/** `fd` is what was found, `rootFd` its root. Both are numbers of this process. */
export function refusedAtBorder(
  fd: number,
  rootFd: number,
  stat: ReturnType<System["stat"]>,
  border: Border,
  system: System,
): Extract<Look, { readonly seen: "other mount" | "other names" }> | undefined {
  // A bind mount has the device of what it shows, so only the mount itself can be compared.
  if (border.sameDevice === true && mountOf(fd, system) !== mountOf(rootFd, system)) return { seen: "other mount" };
  return hasOtherNames(stat, border) ? { seen: "other names" } : undefined;
}

export const hasOtherNames = (stat: ReturnType<System["stat"]>, { denyHardlinks }: Border): boolean =>
  denyHardlinks === true && kindOfMode(stat.mode) === "file" && stat.nlink > 1n;

/** What the kernel says of a descriptor is a few lines. */
const infoBytesMax = 1_024;

function mountOf(fd: number, system: System): string {
  const info = system.open(`/proc/self/fdinfo/${fd}`, constants.O_RDONLY);
  try {
    const bytes = Buffer.alloc(infoBytesMax);
    const text = bytes.toString("latin1", 0, system.read(info, bytes, 0, bytes.length, 0));
    const [, id] = /^mnt_id:\s*(\d+)$/mu.exec(text) ?? [];
    if (id === undefined) throw new Error("the kernel names no mount of an open file");
    return id;
  } finally {
    system.close(info);
  }
}
