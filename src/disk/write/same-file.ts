/** Is a name still the very file that was read? Asked right before it is changed. */

import type { BigIntStats } from "node:fs";
import * as nodePath from "node:path";
import { errnoName } from "../errno.ts";
import type { FolderHandle } from "../lookup/folder-handle.ts";
import type { FileNode, Handle, Identity } from "../lookup/lookup.ts";
import type { OpenFile } from "../lookup/open-file.ts";
import type { System } from "../system.ts";
import { isRacy } from "../time-grain.ts";
import { comparedBytes, inChunks, type Moving } from "./content.ts";
import { during, duringLater, FileChanged, WriteFailed } from "./write-failed.ts";

/**
 * What is known of the file's state. A link to it, such as history makes, moves ctime and the number of names; then
 * only the rest can be compared.
 */
export type Comparison = "all" | "all but ctime";

/** Throws FileChanged if the name is gone, a link, another file or another state of the file, or its folder elsewhere. */
export function stillThere(
  folder: FolderHandle,
  name: string,
  seen: Identity,
  system: System,
  compare: Comparison = "all",
): BigIntStats {
  let stat: BigIntStats;
  try {
    stat = during("looking at the file", () => system.statLink(folder.at(name)));
  } catch (error) {
    if (error instanceof WriteFailed && error.errno === "ENOENT") throw new FileChanged();
    throw error;
  }
  const same =
    stat.isFile() &&
    stat.dev === seen.device &&
    stat.ino === seen.inode &&
    Number(stat.size) === seen.sizeBytes &&
    stat.mtimeNs === seen.mtimeNs &&
    (compare === "all but ctime" || stat.ctimeNs === seen.ctimeNs);
  // Who moves the folder out of the root would take the change along.
  if (!same || folder.hasMoved()) throw new FileChanged();
  return stat;
}

/** The same file under the same name in the same place, whatever its state. A doubt is a no. */
export function isStill({ handle, folder, real }: FileNode, system: System): boolean {
  if (folder === undefined) return false;
  return isSure(() => {
    const stat = system.statLink(`${folder.handlePath}/${nodePath.basename(real)}`);
    const { device, inode } = handle.identity;
    return stat.isFile() && stat.dev === device && stat.ino === inode && isAt(folder, real, system);
  });
}

/** Still nothing of this name in the same place. A doubt is a no. */
export const isStillMissing = (folder: Handle, real: string, system: System): boolean =>
  isSure(() => {
    const there = system.glance(`${folder.handlePath}/${nodePath.basename(real)}`);
    return there === undefined && isAt(folder, real, system);
  });

const isAt = (folder: Handle, real: string, system: System): boolean =>
  system.pathOfHandle(folder.handlePath) === nodePath.dirname(real);

function isSure(look: () => boolean): boolean {
  try {
    return look();
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return false;
  }
}

/**
 * A read-only file is refused although a rename would get past it: someone meant it. The system lets root write
 * anything, so the mode is looked at too.
 */
export function refuseReadOnly(node: FileNode, stat: BigIntStats, system: System): void {
  const step = "writing: it is read-only";
  during(step, () => system.checkWritable(node.handle.handlePath));
  if ((Number(stat.mode) & 0o222) === 0) throw new WriteFailed("EACCES", step);
}

/** For racy files: has it the content that it had when the caller read it? Without that content the times must do. */
export async function checkBytes(file: OpenFile, readBytes: Uint8Array | undefined, moving: Moving): Promise<void> {
  if (readBytes === undefined || !isRacy(file.identity)) return;
  if (readBytes.length !== file.sizeBytes) throw new FileChanged();
  await inChunks(0, readBytes.length, { signal: moving.signal, stepBytes: comparedBytes }, async (now, at) => {
    const got = await duringLater("reading the old content", () => file.read(now, at));
    if (got < now.length || now.compare(readBytes, at, at + got) !== 0) throw new FileChanged();
  });
}
