/** Pure functions that rooms without a common neighbour share. */

import * as nodePath from "node:path";

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Without the keys whose value is undefined. */
export const defined = <Value extends object>(value: Value) =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as {
    [Key in keyof Value]?: Exclude<Value[Key], undefined>;
  };

/** Is a path that `relative` made outside of the folder that it is relative to? */
export const leadsOut = (relative: string, flavour: nodePath.PlatformPath = nodePath): boolean =>
  relative === ".." || relative.startsWith(`..${flavour.sep}`) || flavour.isAbsolute(relative);

/** Is it the folder itself or below it? Compares the text only: links are not resolved. */
export const contains = (folder: string, path: string, flavour: nodePath.PlatformPath = nodePath): boolean =>
  !leadsOut(flavour.relative(folder, path), flavour);

/** Removes the entries that were set first until `sizeMax` are left. */
export function dropOldest(map: Map<string, unknown>, sizeMax: number): void {
  for (const key of map.keys()) {
    if (map.size <= sizeMax) return;
    map.delete(key);
  }
}
