/** Facts about a folder, found without writing anything. */

import * as nodePath from "node:path";
import type { FolderFacts } from "../../contract/checkup.ts";
import { attempt } from "../errno.ts";
import { nodeSystem, type System } from "../system.ts";
import { isLocalType, traitsOfType } from "./file-systems.ts";

/** The most names to search for one with a letter. */
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

function foldsCase(path: string, system: System): boolean | undefined {
  let looked = 0;
  const entries = attempt(() => {
    for (const { name } of system.folderNow(path)) {
      if (swapCase(name) !== name) return nodePath.join(path, name);
      looked += 1;
      if (looked >= namesMax) break;
    }
    return undefined;
  });
  const file = entries ?? (swapCase(nodePath.basename(path)) === nodePath.basename(path) ? undefined : path);
  if (file === undefined) return undefined;
  const one = attempt(() => system.statLink(file));
  if (one === undefined) return undefined;
  const other = attempt(() =>
    system.statLink(nodePath.join(nodePath.dirname(file), swapCase(nodePath.basename(file)))),
  );
  return other !== undefined && other.ino === one.ino && other.dev === one.dev;
}

/** Only letters that every system folds alike. */
const swapCase = (name: string): string =>
  name.replace(/[A-Za-z]/g, (letter) => (letter < "a" ? letter.toLowerCase() : letter.toUpperCase()));
