/** The text of a small file beneath the roots, at once; for those who cannot await. */

import { isUtf8 } from "node:buffer";
import type { Disk } from "./disk.ts";
import { ReadFailed } from "./open-file.ts";

/** Undefined for what is gone, too large, or not in UTF-8. */
export function readSmallText(path: string, disk: Disk, bytesMax: number): string | undefined {
  const look = disk.look(path);
  if (look.seen !== "node") return undefined;
  try {
    if (look.kind !== "file") return undefined;
    const file = disk.open(look);
    if ("errno" in file) return undefined;
    try {
      // Where reading may hang it is not done at once.
      if (file.sizeBytes > bytesMax || file.descriptor === undefined) return undefined;
      const bytes = Buffer.allocUnsafe(file.sizeBytes);
      const read = file.read(bytes, 0);
      return read === bytes.length && isUtf8(bytes) ? bytes.toString("utf8").replace(/^\ufeff/, "") : undefined;
    } catch (error) {
      if (error instanceof ReadFailed) return undefined;
      throw error;
    } finally {
      file.close();
    }
  } finally {
    look.held.close();
  }
}
