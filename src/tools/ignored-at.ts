/** What ignore files of the workspace say about a folder that was asked for by name, and about what lies in it. */

import type { Target } from "../contract/target.ts";
import { type Ignored, ignoredIn, isIgnored, nothingIgnored } from "../search/files-ignored.ts";
import type { WalkFolder } from "../disk/walk.ts";
import type { Bench } from "./tool.ts";

/** No file is called so: what is true of it is true of everything in its folder. */
const anyName = "\u0001";

/**
 * From the root down to the folder, its own ignore files left out. Who names a folder that is ignored, or of which all is
 * ignored, wants what is in it: then only ignore files below it hold.
 */
export async function ignoredAt(target: Target, { disk }: Bench): Promise<Ignored> {
  const names = target.realRelative === "" ? [] : target.realRelative.split("/");
  const look = disk.look(target.root);
  if (look.seen !== "node") return nothingIgnored;
  const held: WalkFolder[] = [];
  try {
    let ignored = nothingIgnored;
    let folder = disk.walk(look);
    for (const [depth, name] of names.entries()) {
      const entries = await folder.entries();
      if ("errno" in entries) return nothingIgnored;
      ignored = await ignoredIn(folder, entries, depth, ignored);
      const next = folder.enter(name);
      if ("errno" in next) return nothingIgnored;
      held.push(next);
      folder = next;
      if (isIgnored(ignored, names.slice(0, depth), name, "folder")) ignored = nothingIgnored;
    }
    const all = (["file", "folder"] as const).every((is) => isIgnored(ignored, names, anyName, is));
    return names.length > 0 && all ? nothingIgnored : ignored;
  } finally {
    for (const folder of held.toReversed()) folder.close();
    look.held.close();
  }
}
