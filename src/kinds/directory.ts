/** Folders: entries in order, a page of them, links with what they lead to as far as that lies beneath the roots. */

import * as nodePath from "node:path";
import { type LineNumber, lineNumber } from "../contract/brand.ts";
import type { DirectoryOutcome, Entry } from "../contract/read.ts";
import type { Target } from "../contract/target.ts";
import type { Disk } from "../disk/disk.ts";
import type { FolderEntry } from "../disk/folder-entry.ts";
import type { Found } from "../disk/look.ts";
import { compareNames } from "../text/order.ts";

export type DirectoryPage =
  | Omit<DirectoryOutcome, "kind" | "target">
  | { readonly errno: string }
  | { readonly pastEnd: true; readonly entriesTotal: number };

/**
 * `hidden` is the guard's test: an entry that a rule denies is not listed. Whether a link leads to a folder is looked
 * up for the entries of the page only, beneath the roots, so nothing about an outside target leaks.
 */
export async function readDirectory(
  disk: Disk,
  found: Found,
  target: Target,
  range: { readonly from: LineNumber; readonly entriesMax: number },
  hidden: (entry: FolderEntry) => boolean,
): Promise<DirectoryPage> {
  const listed = await disk.list(found);
  if ("errno" in listed) return listed;
  const visible = listed.filter((entry) => !hidden(entry));
  visible.sort((a, b) => compareNames(a.name, b.name));
  const { from, entriesMax } = range;
  if (from > 1 && from > visible.length) return { pastEnd: true, entriesTotal: visible.length };
  const shown = visible.slice(from - 1, from - 1 + entriesMax);
  const entries = shown.map((entry) => entryOf(entry, disk, target));
  const end = from - 1 + shown.length;
  return {
    from,
    entries,
    entriesTotal: visible.length,
    withheld: listed.length - visible.length,
    next: end < visible.length ? lineNumber(end + 1) : undefined,
  };
}

function entryOf(entry: FolderEntry, disk: Disk, target: Target): Entry {
  if (entry.kind !== "link") return entry;
  const look = disk.look(nodePath.join(target.real, entry.name));
  if (look.seen !== "node") return entry;
  look.held.close();
  const leadsTo = look.kind === "file" || look.kind === "directory" ? look.kind : "special";
  return { ...entry, leadsTo, linkText: nodePath.relative(target.root, look.real) || "." };
}
