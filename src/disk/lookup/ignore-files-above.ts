/** Whether something above a folder could speak of what lies in it to a program that reads ignore files up to the top. */

import * as fs from "node:fs";
import * as nodePath from "node:path";

/** Asked by names alone, and a doubt is a yes: nothing of what lies above is read. */
export function areAbove(folder: string, names: readonly string[]): boolean {
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
