/** Creates our own folders. Node's `recursive` loops for ever where a folder reports ENOENT, as below `/proc`. */

import * as fs from "node:fs";
import * as nodePath from "node:path";
import { errnoName } from "../errno.ts";

/** Throws the system's error if the folder does not exist afterwards. */
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
    if (!isFolder(path)) throw error;
  }
}

/** Follows symlinks. */
function isFolder(path: string): boolean {
  try {
    return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false; // not accessible
  }
}
