/**
 * Roots that a client names can only narrow what the operator allowed. Those that lie in no root of ours are left out; if
 * none is left, or a client root holds all of ours, everything stays as the operator wanted it.
 */

import * as nodePath from "node:path";
import { decodeFileUri } from "./file-uri.ts";

/** Folders to keep to; undefined for all of the operator's roots. */
export function narrowedRoots(
  named: readonly { readonly uri: string }[],
  roots: readonly string[],
): readonly string[] | undefined {
  const wanted = named.flatMap(({ uri }) => {
    const decoded = decodeFileUri(uri);
    return "path" in decoded ? [nodePath.resolve(decoded.path)] : [];
  });
  const kept = new Set<string>();
  for (const root of roots) {
    for (const folder of wanted) {
      if (holds(folder, root)) kept.add(root);
      else if (holds(root, folder)) kept.add(folder);
    }
  }
  if (kept.size === 0 || roots.every((root) => kept.has(root))) return undefined;
  return [...kept].toSorted();
}

function holds(folder: string, path: string): boolean {
  const rest = nodePath.relative(folder, path);
  return rest !== ".." && !rest.startsWith(`..${nodePath.sep}`) && !nodePath.isAbsolute(rest);
}
