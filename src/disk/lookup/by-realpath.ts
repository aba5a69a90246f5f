/**
 * The weaker lookup, for systems without `/proc/self/fd` (macOS, Windows): resolve, compare, open, and check again that the name
 * still leads to what was opened. That narrows the window for a swapped symlink, but does not close it (docs/behaviour/border.md).
 */

import { constants } from "node:fs";
import * as nodePath from "node:path";
import { contains } from "../../contract/common.ts";
import { limits } from "../../contract/limits.ts";
import type { RealPath } from "../../contract/target.ts";
import { Descriptor, noFollow } from "../descriptor.ts";
import { errnoName } from "../errno.ts";
import type { System } from "../system.ts";
import {
  type Border,
  hasOtherNames,
  identityOf,
  isSameFolder,
  kindOfMode,
  type Lookup,
  lookupOfErrno,
  type Root,
} from "./lookup.ts";

/** `path` is absolute. `flavour` is the platform's path module, injected so that each can be tested anywhere. */
export function lookupByRealpath(
  path: string,
  roots: readonly Root[],
  system: System,
  flavour: nodePath.PlatformPath = nodePath,
  border: Border = {},
): Lookup {
  const isInside = (text: string): boolean => rootOf(text, roots, flavour) !== undefined;
  if (flavour.sep === "\\" && leadsToNetwork(path, system, flavour, isInside)) return { seen: "outside" };
  try {
    const real = system.realPath(path);
    const root = rootOf(real, roots, flavour);
    if (root === undefined) return { seen: "outside" };
    if (!isSameFolder(system.statPath(root.real), root)) return { seen: "root changed" };
    const kind = kindOfMode(system.statPath(real).mode);
    if (kind === "link") return { seen: "changed" };
    // Folders are listed by path; only files are opened. O_NONBLOCK: opening a FIFO must not block.
    using opened =
      kind === "file" ? new Descriptor(system.open(real, constants.O_RDONLY | noFollow), system) : undefined;
    const stat = opened === undefined ? system.statPath(real) : system.stat(opened.fd);
    const again = system.statPath(system.realPath(path));
    const same = kindOfMode(stat.mode) === kind && again.dev === stat.dev && again.ino === stat.ino;
    if (!same || system.realPath(path) !== real) return { seen: "changed" };
    // Without mount ids a mount is recognised by its device only.
    if (border.sameDevice === true && stat.dev !== root.device) return { seen: "other mount" };
    if (hasOtherNames(stat, border)) return { seen: "other names" };
    const identity = identityOf(stat);
    const moved = opened?.move();
    const close = (): void => moved?.close();
    return {
      seen: "node",
      kind,
      real: real as RealPath,
      root,
      bent: path.split(/[\\/]/).includes(".."),
      handle: { identity, reads: "later", handlePath: real, close, [Symbol.dispose]: close },
    };
  } catch (error) {
    const lookup = lookupOfErrno(errnoName(error), error);
    return existingPartIsInside(path, roots, system, flavour) ? lookup : { seen: "outside" };
  }
}

/** A path that does not resolve is judged by the nearest folder above it that does. */
function existingPartIsInside(
  path: string,
  roots: readonly Root[],
  system: System,
  flavour: nodePath.PlatformPath,
): boolean {
  for (let folder = path; ; folder = flavour.dirname(folder)) {
    try {
      return rootOf(system.realPath(folder), roots, flavour) !== undefined;
    } catch (error) {
      if (errnoName(error) === undefined) throw error;
      if (folder === flavour.dirname(folder)) return false;
    }
  }
}

const rootOf = (real: string, roots: readonly Root[], flavour: nodePath.PlatformPath): Root | undefined =>
  roots.find((root) => contains(root.real, real, flavour));

// Windows: a symlink to a network share. Resolving it would contact that host and send it the user's credentials. So
// symlinks are read one by one, and nothing beyond such a target is touched.

/** `\\host\share`, `\\?\UNC\host`, `\\.\pipe`; not `\\?\C:\`, which is a disk. */
const isNetwork = (text: string): boolean => /^[\\/]{2}(?![?.][\\/][a-z]:)/iu.test(text);

function leadsToNetwork(
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
      if (hops > limits.linkHopsMax) return false; // resolving the path then fails with ELOOP
      const target = flavour.resolve(flavour.dirname(at), text);
      at = flavour.parse(target).root;
      todo.push(...target.slice(at.length).split(/[\\/]/u).reverse());
    }
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
  }
  return false;
}
