/** What a path that was looked up is called: the target that exists, or the one that would be made. */

import * as nodePath from "node:path";
import type { RealPath } from "../contract/brand.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Place, Target } from "../contract/target.ts";
import type { Disk } from "../disk/disk.ts";
import type { Found, Look } from "../disk/look.ts";
import { relativeTo, resolved } from "./paths.ts";

interface Above {
  /** The real name that the path would have. */
  readonly real: string;
  readonly root: RealPath;
  readonly kind: Found["kind"];
}

/** For a path that names nothing: the nearest thing above it decides. */
export function nearestAbove(path: string, seen: Look, disk: Disk): Above | undefined {
  if (seen.seen === "missing" && seen.nearest !== undefined) {
    const { real, root, rest } = seen.nearest;
    return { real: resolved(real, rest, nodePath), root: root.real, kind: "directory" };
  }
  // A path of thousands of names must not cost as many lookups.
  if (seen.seen === "too long") return undefined;
  let above = nodePath.dirname(path);
  for (let tries = 1; tries <= limits.lookupsAboveMax; tries += 1, above = nodePath.dirname(above)) {
    const look = disk.look(above);
    if (look.seen === "node") {
      look.held.close();
      const real = nodePath.resolve(nodePath.join(look.real, path.slice(above.length)));
      return { real, root: look.root.real, kind: look.kind };
    }
    if (above === nodePath.dirname(above)) return undefined;
  }
  return undefined;
}

/** A file that is not there yet. Its folder is; or the folders between it and one that is will be made. */
export function newTarget(place: Place, above: Above | undefined): Target | undefined {
  if (above === undefined || above.kind !== "directory") return undefined;
  const realRelative = relativeTo(above.real, [above.root], nodePath);
  if (realRelative === undefined || realRelative === "") return undefined;
  const { asked, absolute, relative } = place;
  return { asked, absolute, relative, real: above.real as RealPath, realRelative, root: above.root, is: "file" };
}

/** The system's own refusal, in our words. */
export function refusal(place: Place, errno: string, during: string): Problem {
  if (errno === "EACCES" || errno === "EPERM") return new Problem({ code: "ACCESS_DENIED", place, reason: "system" });
  if (errno === "ESTALE" || errno === "ENOENT") return new Problem({ code: "CHANGED", place });
  return new Problem({ code: "IO_ERROR", place, errno, during });
}

export function targetOf(place: Place, found: Found, rootPaths: readonly string[]): Target {
  const realRelative = relativeTo(found.real, [found.root.real], nodePath) ?? "";
  const is = found.kind === "directory" ? "folder" : "file";
  const through = found.through?.filter((name) => name !== place.absolute && name !== found.real) ?? [];
  const further = through.length === 0 ? {} : { through };
  const real = { real: found.real, realRelative, root: found.root.real, is, ...further } as const;
  const { asked } = place;
  if (!found.bent) return { asked, absolute: place.absolute, relative: place.relative, ...real };
  return {
    asked,
    absolute: found.real,
    relative: relativeTo(found.real, rootPaths, nodePath) ?? realRelative,
    ...real,
  };
}
