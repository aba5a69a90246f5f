/** A name in a folder, as the folder itself tells it. */

import type { Dirent } from "node:fs";
import type { EntryKind } from "../contract/read.ts";

/** Links are not followed. */
export interface FolderEntry {
  readonly name: string;
  readonly kind: EntryKind;
}

export function kindOfEntry(entry: Dirent): EntryKind {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  if (entry.isSymbolicLink()) return "link";
  return entry.isFIFO() || entry.isSocket() || entry.isCharacterDevice() || entry.isBlockDevice()
    ? "special"
    : "unknown";
}
