/**
 * Folders of ours that may be missing, and those above them. Node's own `recursive` tries without end, and without
 * being stopped by anything, where a folder is there and says that it is not: whatever is asked of `/proc`.
 */

import * as fs from "node:fs";
import * as nodePath from "node:path";
import { errnoName } from "../errno.ts";

/** Throws the system's error if there is no folder of this name afterwards. */
export function makeFolders(path: string, mode?: number): void {
  try {
    fs.mkdirSync(path, mode);
    return;
  } catch (error) {
    if (isFolder(path)) return;
    const above = nodePath.dirname(path);
    if (errnoName(error) !== "ENOENT" || above === path) throw error;
    if (!isFolder(above)) makeFolders(above, mode);
  }
  try {
    fs.mkdirSync(path, mode);
  } catch (error) {
    // Somebody else was quicker.
    if (!isFolder(path)) throw error;
  }
}

/** Also by way of a link. */
function isFolder(path: string): boolean {
  try {
    return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false; // it cannot even be looked at
  }
}
