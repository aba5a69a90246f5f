/** A name in a folder, as the folder itself tells it. */

import type { Dirent } from "node:fs";
import type { EntryKind } from "../contract/read.ts";

/** Links are not followed. */
export interface FolderEntry {
  readonly name: string;
  readonly kind: EntryKind;
}

/** What a list tells of a name. */
export type EntryTypes = Pick<
  Dirent,
  "isFile" | "isDirectory" | "isSymbolicLink" | "isFIFO" | "isSocket" | "isCharacterDevice" | "isBlockDevice"
>;

export function kindOfEntry(entry: EntryTypes): EntryKind {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  if (entry.isSymbolicLink()) return "link";
  return entry.isFIFO() || entry.isSocket() || entry.isCharacterDevice() || entry.isBlockDevice()
    ? "special"
    : "unknown";
}
