/**
 * The weaker lookup, for systems without `/proc/self/fd` (macOS, Windows): resolve the path, compare, open without
 * following a last link, and ask again whether the name still leads to what was opened. That narrows the moment in
 * which a swapped link could win; it does not close it (docs/behaviour/border.md).
 */

import { constants } from "node:fs";
import * as nodePath from "node:path";
import type { RealPath } from "../contract/brand.ts";
import { errnoName } from "./errno.ts";
import { kindOfMode, type Look, lookOfErrno, type Root } from "./look.ts";
import type { System } from "./system.ts";

/** `path` is absolute. `flavour` is the path module of the platform, handed in so that each can be tested anywhere. */
export function lookByRealpath(
  path: string,
  roots: readonly Root[],
  system: System,
  flavour: nodePath.PlatformPath = nodePath,
): Look {
  try {
    const real = system.realPath(path);
    const root = rootOf(real, roots, flavour);
    if (root === undefined) return { seen: "outside" };
    const rootStat = system.statPath(root.real);
    if (rootStat.dev !== root.device || rootStat.ino !== root.inode) return { seen: "root changed" };
    const kind = kindOfMode(system.statPath(real).mode);
    if (kind === "link") return { seen: "changed" };
    // Folders are listed by path; only files are opened. O_NONBLOCK: a FIFO must not hold us.
    const opensIt = kind === "file";
    const fd = opensIt
      ? system.open(real, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
      : -1;
    const close = (): void => {
      if (fd >= 0) system.close(fd);
    };
    const stat = opensIt ? system.stat(fd) : system.statPath(real);
    const again = system.statPath(system.realPath(path));
    if (system.realPath(path) !== real || again.dev !== stat.dev || again.ino !== stat.ino) {
      close();
      return { seen: "changed" };
    }
    const identity = {
      device: stat.dev,
      inode: stat.ino,
      sizeBytes: Number(stat.size),
      mtimeNs: stat.mtimeNs,
      ctimeNs: stat.ctimeNs,
    };
    let open = true;
    return {
      seen: "node",
      kind,
      real: real as RealPath,
      root,
      bent: path.split(/[\\/]/).includes(".."),
      held: {
        identity,
        reads: "later",
        handlePath: real,
        close: () => {
          if (open) close();
          open = false;
        },
      },
    };
  } catch (error) {
    const look = lookOfErrno(errnoName(error), error);
    return look.seen === "missing" && !existingPartIsInside(path, roots, system, flavour) ? { seen: "outside" } : look;
  }
}

/** A missing path is judged by the nearest folder above it that exists. */
function existingPartIsInside(
  path: string,
  roots: readonly Root[],
  system: System,
  flavour: nodePath.PlatformPath,
): boolean {
  for (let folder = flavour.dirname(path); ; folder = flavour.dirname(folder)) {
    try {
      return rootOf(system.realPath(folder), roots, flavour) !== undefined;
    } catch (error) {
      if (errnoName(error) === undefined) throw error;
      if (folder === flavour.dirname(folder)) return false;
    }
  }
}

function rootOf(real: string, roots: readonly Root[], flavour: nodePath.PlatformPath): Root | undefined {
  return roots.find((root) => {
    const rest = flavour.relative(root.real, real);
    return rest === "" || (!rest.startsWith("..") && !flavour.isAbsolute(rest)) || rest.startsWith("...");
  });
}
