/** Checks right before a change that a name still leads to exactly the file that was read. */

import type { BigIntStats } from "node:fs";
import * as nodePath from "node:path";
import { orErrno } from "../errno.ts";
import type { FolderHandle } from "../lookup/folder-handle.ts";
import type { FileNode, Handle, Identity } from "../lookup/lookup.ts";
import type { OpenFile } from "../lookup/open-file.ts";
import type { System } from "../system.ts";
import { isRacy } from "../time-grain.ts";
import { comparedBytes, inChunks, type IoOptions } from "./content.ts";
import { during, duringLater, FileChanged, WriteFailed } from "./write-failed.ts";

/** A hard link to the file, such as history creates, moves its ctime; then only the rest can be compared. */
export type Comparison = "all" | "all but ctime";

/** Throws FileChanged if the name is gone, a symlink, another file or another state of the file, or its folder was moved. */
export function requireUnchanged(
  folder: FolderHandle,
  name: string,
  seen: Identity,
  system: System,
  compare: Comparison = "all",
): BigIntStats {
  const stat = orErrno(
    () => system.statLink(folder.at(name)),
    (errno) => {
      throw errno === "ENOENT" ? new FileChanged() : new WriteFailed(errno, "looking at the file");
    },
  );
  const same =
    stat.isFile() &&
    stat.dev === seen.device &&
    stat.ino === seen.inode &&
    Number(stat.size) === seen.sizeBytes &&
    stat.mtimeNs === seen.mtimeNs &&
    (compare === "all but ctime" || stat.ctimeNs === seen.ctimeNs);
  // A folder moved out of the root would take the change along.
  if (!same || folder.hasMoved()) throw new FileChanged();
  return stat;
}

/** The same file under the same name in the same place, in whatever state. In doubt false. */
export function isStill({ handle, folder, real }: FileNode, system: System): boolean {
  if (folder === undefined) return false;
  const { device, inode } = handle.identity;
  const look = (): boolean => {
    const stat = system.statLink(`${folder.handlePath}/${nodePath.basename(real)}`);
    return stat.isFile() && stat.dev === device && stat.ino === inode && isAt(folder, real, system);
  };
  return orErrno(look, () => false);
}

export const isStillMissing = (folder: Handle, real: string, system: System): boolean =>
  orErrno(
    () => system.glance(`${folder.handlePath}/${nodePath.basename(real)}`) === undefined && isAt(folder, real, system),
    () => false,
  );

const isAt = (folder: Handle, real: string, system: System): boolean =>
  system.pathOfHandle(folder.handlePath) === nodePath.dirname(real);

/** A rename would get past the mode of a read-only file, and the system lets root write anything, so it is checked. */
export function refuseReadOnly(node: FileNode, stat: BigIntStats, system: System): void {
  const step = "writing: it is read-only";
  during(step, () => system.checkWritable(node.handle.handlePath));
  if ((Number(stat.mode) & 0o222) === 0) throw new WriteFailed("EACCES", step);
}

/** For racy files: throws FileChanged unless the content equals what the caller read. Without that, the times decide. */
export async function checkBytes(file: OpenFile, readBytes: Uint8Array | undefined, io: IoOptions): Promise<void> {
  if (readBytes === undefined || !isRacy(file.identity)) return;
  if (readBytes.length !== file.sizeBytes) throw new FileChanged();
  await inChunks(0, readBytes.length, { signal: io.signal, stepBytes: comparedBytes }, async (now, at) => {
    const got = await duringLater("reading the old content", () => file.read(now, at));
    if (got < now.length || now.compare(readBytes, at, at + got) !== 0) throw new FileChanged();
  });
}
