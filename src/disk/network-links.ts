/**
 * Windows: a link whose text is a network share. Resolving it would ask that share, and asking sends the user's
 * credentials to whoever runs it. So links are read one by one, and nothing behind such a text is touched.
 */

import type * as nodePath from "node:path";
import { limits } from "../contract/limits.ts";
import { errnoName } from "./errno.ts";
import { kindOfMode } from "./look.ts";
import type { System } from "./system.ts";

/** `\\host\share`, `\\?\UNC\host`, `\\.\pipe`; not `\\?\C:\`, which is a disk. */
const isNetwork = (text: string): boolean => /^[\\/]{2}(?![?.][\\/][a-z]:)/iu.test(text);

/** `isInside` says that a share is a root. */
export function leadsToNetwork(
  path: string,
  system: System,
  flavour: nodePath.PlatformPath,
  isInside: (path: string) => boolean,
): boolean {
  const { root } = flavour.parse(path);
  const todo = path.slice(root.length).split(/[\\/]/u).reverse();
  let at = root;
  let hops = 0;
  try {
    while (todo.length > 0) {
      const name = todo.pop() ?? "";
      if (name === "" || name === ".") continue;
      at = flavour.join(at, name);
      if (name === ".." || kindOfMode(system.statLink(at).mode) !== "link") continue;
      const text = system.readLink(at).toString("utf8");
      if (isNetwork(text) && !isInside(text)) return true;
      hops += 1;
      if (hops > limits.linkHopsMax) return false; // the system itself will say so
      const target = flavour.resolve(flavour.dirname(at), text);
      at = flavour.parse(target).root;
      todo.push(...target.slice(at.length).split(/[\\/]/u).reverse());
    }
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
  }
  return false;
}
