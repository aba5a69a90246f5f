/** What can be told about a folder by looking at it: nothing is written to find out. */

import * as nodePath from "node:path";
import { nodeSystem, type System } from "../system.ts";
import { type FileSystemTraits, isLocalType, traitsOfType } from "./file-systems.ts";

export interface FolderFacts {
  readonly there: "folder" | "something else" | "nothing";
  /** May it be written to; for a folder that is still to be made, its nearest one above. */
  readonly writable: boolean;
  /** May others than its owner look into it? */
  readonly openToOthers: boolean;
  readonly ownedByAnother: boolean;
  /** Are `a` and `A` one name in it? Undefined where no name could tell. */
  readonly foldsCase: boolean | undefined;
  readonly fileSystem: FileSystemTraits | undefined;
  readonly isLocal: boolean | undefined;
}

/** Names that are looked at to see whether case counts. */
const namesMax = 200;

export function folderFacts(path: string, system: System = nodeSystem): FolderFacts {
  const stat = attempt(() => system.statPath(path));
  if (stat === undefined) {
    const above = nodePath.dirname(path);
    const writable = above !== path && folderFacts(above, system).writable;
    return { ...unknown, there: "nothing", writable };
  }
  if (!stat.isDirectory()) return { ...unknown, there: "something else", writable: false };
  const type = system.platform === "linux" ? attempt(() => system.fileSystemType(path)) : undefined;
  const hasOwners = system.platform !== "win32";
  return {
    there: "folder",
    writable: attempt(() => (system.checkWritable(path), true)) ?? false,
    openToOthers: hasOwners && (stat.mode & 0o077n) !== 0n,
    ownedByAnother: hasOwners && process.geteuid !== undefined && stat.uid !== BigInt(process.geteuid()),
    foldsCase: foldsCase(path, system),
    fileSystem: type === undefined ? undefined : traitsOfType(type),
    isLocal: type === undefined ? undefined : isLocalType(type),
  };
}

const unknown = {
  openToOthers: false,
  ownedByAnother: false,
  foldsCase: undefined,
  fileSystem: undefined,
  isLocal: undefined,
} as const;

/** By a name that is in it, else by its own in the folder above. */
function foldsCase(path: string, system: System): boolean | undefined {
  let looked = 0;
  const entries = attempt(() => {
    for (const { name } of system.folderNow(path)) {
      if (swapped(name) !== name) return nodePath.join(path, name);
      looked += 1;
      if (looked >= namesMax) break;
    }
    return undefined;
  });
  const file = entries ?? (swapped(nodePath.basename(path)) === nodePath.basename(path) ? undefined : path);
  if (file === undefined) return undefined;
  const one = attempt(() => system.statLink(file));
  if (one === undefined) return undefined;
  const other = attempt(() => system.statLink(nodePath.join(nodePath.dirname(file), swapped(nodePath.basename(file)))));
  return other !== undefined && other.ino === one.ino && other.dev === one.dev;
}

/** Only letters that every system folds alike. */
const swapped = (name: string): string =>
  name.replace(/[A-Za-z]/g, (letter) => (letter < "a" ? letter.toLowerCase() : letter.toUpperCase()));

function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined; // what cannot be looked at tells nothing
  }
}
