/** The part of the state folder in which undo journals lie that have no place beside their file. */

import * as nodePath from "node:path";
import { errnoName } from "./errno.ts";
import type { HeldFolder, WriteContext } from "./held-folder.ts";
import type { System } from "./system.ts";
import { asWriteFailed, during, identityOf, WriteFailed } from "./write-failed.ts";

/** Undefined if the toolkit has no state folder, or if it is only looked for and not there. Readable by its owner only. */
export function stateFolder(context: WriteContext, how: "find" | "make"): HeldFolder | undefined {
  const { stateDir, system } = context;
  if (stateDir === undefined) return undefined;
  const path = nodePath.join(stateDir, "undo");
  if (how === "make") makeAll(path, system);
  let stat: ReturnType<System["statLink"]>;
  try {
    stat = system.statLink(path);
  } catch (error) {
    if (how === "find" && errnoName(error) !== undefined) return undefined;
    throw asWriteFailed(error, "looking at the folder");
  }
  // A link there, or another's folder, would take old contents to where nobody expects them.
  const isOurs = stat.isDirectory() && (process.geteuid === undefined || stat.uid === BigInt(process.geteuid()));
  if (!isOurs) {
    if (how === "find") return undefined;
    throw new WriteFailed("ENOTDIR", "keeping the old content");
  }
  return {
    path,
    reads: "later", // it may lie on a file system that hangs, and nothing here is in a hurry
    identity: identityOf(stat),
    at: (name) => nodePath.join(path, name),
    hasMoved: () => false,
    close: () => {},
  };
}

function makeAll(path: string, system: System): void {
  try {
    system.makeFolder(path, 0o700);
  } catch (error) {
    switch (errnoName(error)) {
      case "EEXIST":
        return;
      case "ENOENT":
        makeAll(nodePath.dirname(path), system);
        return during("making a folder", () => system.makeFolder(path, 0o700));
      default:
        throw asWriteFailed(error, "making a folder");
    }
  }
}
