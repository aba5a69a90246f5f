/** The ignore rules that apply in a folder that a call names. */

import { HandleStack, type WalkFolder } from "../disk/disk.ts";
import type { Target } from "../contract/target.ts";
import { type Ignored, ignoredIn, isIgnored, nothingIgnored } from "../search/search.ts";
import type { ToolContext } from "./tool.ts";

export interface IgnoredAbove {
  readonly ignored: Ignored;
  /** The real path of the uppermost folder whose ignore files apply. */
  readonly from: string;
  /** Is one of the folders from there down a repository? */
  readonly inRepository: boolean;
  /** Is one of the ignore files a symlink? Those are not read. */
  readonly links: boolean;
}

export const ignoredAt = async (target: Target, context: ToolContext): Promise<Ignored> =>
  (await ignoredAbove(target, context)).ignored;

/**
 * Reads the ignore files from the root down to the folder, without the folder's own. A call that names an ignored folder wants
 * its content, so there only ignore files inside it apply.
 */
export async function ignoredAbove(target: Target, { disk }: ToolContext): Promise<IgnoredAbove> {
  const nothing: IgnoredAbove = { ignored: nothingIgnored, from: target.real, inRepository: false, links: false };
  const names = target.realRelative === "" ? [] : target.realRelative.split("/");
  const lookup = disk.lookup(target.root);
  if (lookup.seen !== "node") return nothing;
  using _handle = lookup.handle;
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

/** Opens a folder by its real path; undefined if the path now leads elsewhere. The caller closes it. */
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
