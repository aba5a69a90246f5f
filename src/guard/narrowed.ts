/**
 * A guard for a session that is kept to some folders of the workspace. It only takes away: whatever the guard behind it
 * refuses stays refused. The folders above those are open for looking through, since the way down leads there.
 */

import * as nodePath from "node:path";
import { Problem } from "../contract/problem.ts";
import type { Place } from "../contract/target.ts";
import type { Guard } from "./guard.ts";
import { relativeTo } from "./paths.ts";

/** Absolute paths without links (`toolkit.ts` sees to relative ones); none at all leave the guard as it is. */
export function narrowed(guard: Guard, folders: readonly string[] | undefined): Guard {
  if (folders === undefined) return guard;
  const inside = (path: string): boolean => relativeTo(path, folders, nodePath) !== undefined;
  const onTheWay = (path: string): boolean =>
    folders.some((folder) => relativeTo(folder, [path], nodePath) !== undefined);
  const open = (path: string, is: "file" | "folder"): boolean => inside(path) || (is === "folder" && onTheWay(path));
  const outside = ({ asked, absolute, relative }: Place): Problem =>
    new Problem({
      code: "ACCESS_DENIED",
      place: { asked, absolute, relative },
      reason: "outside",
      roots: folders,
      suggestions: [],
    });

  return {
    ...guard,
    denies: true,
    resolve(asked, also) {
      const resolved = guard.resolve(asked, also);
      if (resolved.seen === "missing" && !inside(resolved.target?.real ?? resolved.place.absolute)) {
        resolved.folder?.close();
        return { seen: "outside", place: resolved.place };
      }
      return resolved;
    },
    async permit(permission, target, ...rest) {
      const free = permission === "read" ? open(target.real, target.is) : inside(target.real);
      if (!free) throw outside(target);
      return guard.permit(permission, target, ...rest);
    },
    hidesBeneath(names) {
      const hides = guard.hidesBeneath(names);
      return (below) => (names.every((name) => inside(nodePath.join(name, below))) ? hides(below) : "denied");
    },
    hiddenPatterns: (where) => ({ ...guard.hiddenPatterns(where), cover: "some", mayBeHidden: () => true }),
    search(root) {
      const view = guard.search(root);
      return {
        hides: (relative, is) => !open(nodePath.join(root, relative), is) || view.hides(relative, is),
        shows: (relative) => inside(nodePath.join(root, relative)) && view.shows(relative),
      };
    },
    // Who is kept to a part of the workspace has no business outside of it.
    admit: async () => undefined,
    get mode() {
      return guard.mode;
    },
    denied(permission, paths, is) {
      const shut = paths.some((path) => !open(path, is));
      if (shut) return { verdict: "deny", text: "client roots", source: "client" };
      return guard.denied(permission, paths, is);
    },
  };
}
