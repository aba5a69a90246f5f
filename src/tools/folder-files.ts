/** All that is in a folder, for what is done to it as a whole: every file, hidden and ignored ones too. */

import * as nodePath from "node:path";
import { limits } from "../contract/limits.ts";
import { type FolderFault, Problem } from "../contract/problem.ts";
import type { Target } from "../contract/target.ts";
import { kindOfEntry } from "../disk/folder-entry.ts";
import { compareCodePoints } from "../text/order.ts";
import { folderAgain } from "./folder-again.ts";
import type { Bench } from "./tool.ts";

export interface FolderFiles {
  /** Paths below the folder, in order. */
  readonly files: readonly string[];
  /** The folders below it, and the folder itself last: each before the one that holds it. */
  readonly folders: readonly string[];
  /** The links in it, which are not followed. */
  readonly links: readonly string[];
}

/** Throws if something is in it that this session may not work with, whatever shall be done. */
export async function folderFiles(folder: Target, bench: Bench): Promise<FolderFiles> {
  const refuse = (fault: FolderFault): Problem =>
    new Problem({ code: "INVALID_PARAM", reason: "folder", place: folder, fault });
  if (bench.disk.roots.some(({ real }) => isWithin(real, folder.real))) throw refuse("root");
  const files: string[] = [];
  const folders: string[] = [];
  const links: string[] = [];
  const todo = [""];
  for (let below = todo.pop(); below !== undefined; below = todo.pop()) {
    bench.signal.throwIfAborted();
    folders.push(below);
    for (const entry of await entriesOf(nodePath.join(folder.real, below), bench, refuse)) {
      const path = below === "" ? entry.name : nodePath.join(below, entry.name);
      const kind = kindOfEntry(entry);
      const is = kind === "directory" ? "folder" : "file";
      const names = [nodePath.join(folder.real, path), nodePath.join(folder.absolute, path)];
      // Neither that it is there nor what it is called may be told.
      if ((["read", "edit"] as const).some((one) => bench.guard.denied(one, names, is) !== undefined)) {
        throw refuse("withheld");
      }
      if (kind === "directory") todo.push(path);
      else if (kind !== "file" && kind !== "link") throw refuse("special");
      else (kind === "link" ? links : files).push(path);
      if (files.length + links.length > limits.folderFilesMax) throw refuse("too many");
    }
    if (folders.length > limits.folderFilesMax) throw refuse("too many");
  }
  // What lies deeper was found later.
  return { files: files.sort(compareCodePoints), folders: folders.toSorted(deepestFirst), links };
}

async function entriesOf(real: string, bench: Bench, refuse: (fault: FolderFault) => Problem) {
  const walked = folderAgain(real, bench);
  if (walked === undefined) throw refuse("unreadable");
  try {
    const entries = await walked.entries();
    if ("errno" in entries) throw refuse("unreadable");
    return entries;
  } finally {
    walked.close();
  }
}

const depthOf = (path: string): number => (path === "" ? 0 : path.split(nodePath.sep).length);

const deepestFirst = (a: string, b: string): number => depthOf(b) - depthOf(a);

/** Is `path` the folder, or something in it? */
export function isWithin(path: string, folder: string): boolean {
  const rest = nodePath.relative(folder, path);
  return rest !== ".." && !rest.startsWith(`..${nodePath.sep}`) && !nodePath.isAbsolute(rest);
}
