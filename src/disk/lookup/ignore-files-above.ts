/** Whether a folder above could contain ignore files for a program that reads them up to the file system's root. */

import * as fs from "node:fs";
import * as nodePath from "node:path";

/** Checks names only, reads no content; in doubt true. */
export function existAbove(folder: string, names: readonly string[]): boolean {
  for (let at = folder, up = nodePath.dirname(at); up !== at; at = up, up = nodePath.dirname(at)) {
    if (names.some((name) => isThere(nodePath.join(up, name)))) return true;
  }
  return false;
}

function isThere(path: string): boolean {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
