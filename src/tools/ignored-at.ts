/** What ignore files of the workspace say about a folder that was asked for by name, and about what lies in it. */

import { HandleStack, type WalkFolder } from "../disk/disk.ts";
import type { Target } from "../contract/target.ts";
import { type Ignored, ignoredIn, isIgnored, nothingIgnored } from "../search/search.ts";
import type { ToolContext } from "./tool.ts";

export interface IgnoredAbove {
  readonly ignored: Ignored;
  /** The real path of the uppermost folder whose ignore files are in it. */
  readonly from: string;
  /** Is one of the folders from there down a repository? */
  readonly inRepository: boolean;
  /** Was there an ignore file that is not read? */
  readonly links: boolean;
}

export const ignoredAt = async (target: Target, context: ToolContext): Promise<Ignored> =>
  (await ignoredAbove(target, context)).ignored;

/**
 * From the root down to the folder, its own ignore files left out. Who names a folder that is ignored wants what is in it:
 * then only ignore files in it hold.
 */
export async function ignoredAbove(target: Target, { disk }: ToolContext): Promise<IgnoredAbove> {
  const nothing: IgnoredAbove = { ignored: nothingIgnored, from: target.real, inRepository: false, links: false };
  const names = target.realRelative === "" ? [] : target.realRelative.split("/");
  const lookup = disk.lookup(target.root);
  if (lookup.seen !== "node") return nothing;
  using _held = lookup.handle;
  using below = new HandleStack();
  let ignored = nothingIgnored;
  let folder = disk.walk(lookup);
  let from = folder.real;
  let inRepository = false;
  let links = false;
  for (const [depth, name] of names.entries()) {
    const entries = await folder.entries();
    if ("errno" in entries) return nothing;
    ignored = await ignoredIn(folder, entries, depth, ignored, (what) => {
      if (what === "link") links = true;
    });
    inRepository ||= entries.some((entry) => entry.name === ".git");
    const next = folder.enter(name);
    if ("errno" in next) return nothing;
    folder = below.use(next);
    if (isIgnored(ignored, names.slice(0, depth), name, "folder")) {
      ({ ignored, inRepository, links } = nothing);
      from = folder.real;
    }
  }
  return { ignored, from, inRepository, links };
}

// A folder of the workspace by its real path, if it still is one under this very name. The caller closes it.

export function folderAgain(
  real: string,
  { disk }: ToolContext,
  onRefused: (errno: string) => void = () => {},
): WalkFolder | undefined {
  const lookup = disk.lookup(real);
  if (lookup.seen === "refused") onRefused(lookup.errno);
  if (lookup.seen !== "node") return undefined;
  if (lookup.kind === "directory" && lookup.real === real) {
    return disk.walk(lookup, () => lookup.handle.close());
  }
  lookup.handle.close();
  return undefined;
}
