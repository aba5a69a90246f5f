/** Lists a folder: sorted entries, one page of them, symlinks with their targets if these are beneath the roots. */

import * as nodePath from "node:path";
import { lineNumber, type LineNumber, type Target } from "../contract/target.ts";
import type { DirectoryOutcome, Entry } from "../contract/read.ts";
import { type Disk, type FileNode, type FolderEntry, kindOfEntry, withHandleClosed } from "../disk/disk.ts";
import { compareNames, FirstOnes } from "../text/text.ts";

export type DirectoryPage =
  | Omit<DirectoryOutcome, "kind" | "target">
  | { readonly errno: string }
  | { readonly pastEnd: true; readonly entriesTotal: number };

/** `hidden` is the guard's test. Symlinks are resolved only beneath the roots, so no outside target leaks. */
export async function readDirectory(
  disk: Disk,
  node: FileNode,
  target: Target,
  range: { readonly from: LineNumber; readonly entriesMax: number },
  hidden: (entry: FolderEntry) => boolean,
  signal: AbortSignal,
): Promise<DirectoryPage> {
  const { from, entriesMax } = range;
  // Memory for a huge folder is bounded by the end of the page.
  const first = new FirstOnes<FolderEntry>(
    from - 1 + entriesMax,
    (a, b) => compareNames(a.name, b.name),
    () => 1,
  );
  let entriesTotal = 0;
  let hiddenByRules = 0;
  const refused = await disk.walk(node).each((listed) => {
    const entry = { name: listed.name, kind: kindOfEntry(listed) };
    if (hidden(entry)) hiddenByRules += 1;
    else {
      entriesTotal += 1;
      first.add(entry);
    }
    return undefined;
  }, signal);
  if (refused !== undefined) return refused;
  if (from > 1 && from > entriesTotal) return { pastEnd: true, entriesTotal };
  const shown = first.sorted().slice(from - 1, from - 1 + entriesMax);
  const entries = shown.map((entry) => entryOf(entry, disk, target));
  const end = from - 1 + shown.length;
  return {
    from,
    entries,
    entriesTotal,
    hiddenByRules,
    next: end < entriesTotal ? lineNumber(end + 1) : undefined,
  };
}

function entryOf(entry: FolderEntry, disk: Disk, target: Target): Entry {
  if (entry.kind !== "link") return entry;
  const lookup = withHandleClosed(disk.lookup(nodePath.join(target.real, entry.name)));
  if (lookup.seen !== "node") return entry;
  const leadsTo = lookup.kind === "file" || lookup.kind === "directory" ? lookup.kind : "special";
  return { ...entry, leadsTo, linkText: nodePath.relative(target.root, lookup.real) || "." };
}
