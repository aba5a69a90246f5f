/** A page of a folder, for `read` and `ls` alike: permitted already, denied entries left out. */

import * as nodePath from "node:path";
import type { LineNumber } from "../contract/brand.ts";
import { Problem } from "../contract/problem.ts";
import type { DirectoryOutcome } from "../contract/read.ts";
import type { FolderEntry } from "../disk/folder-entry.ts";
import { refusal } from "../guard/guard.ts";
import { readDirectory } from "../kinds/directory.ts";
import type { Located } from "./locate.ts";
import type { Bench } from "./tool.ts";

export async function listing(
  { found, target }: Located,
  range: { readonly from: LineNumber; readonly entriesMax: number },
  bench: Bench,
): Promise<DirectoryOutcome> {
  const hidden = ({ name, kind }: FolderEntry): boolean => {
    if (!bench.guard.denies) return false;
    const path = nodePath.join(target.real, name);
    const look = kind === "link" ? bench.disk.look(path) : undefined;
    if (look?.seen === "node") look.held.close();
    const names = look?.seen === "node" ? [path, look.real] : [path];
    const is = kind === "directory" || (look?.seen === "node" && look.kind === "directory") ? "folder" : "file";
    return bench.guard.denied("read", names, is) !== undefined;
  };
  const page = await readDirectory(bench.disk, found, target, range, hidden, bench.signal);
  if ("errno" in page) throw refusal(target, page.errno, "listing it");
  if ("pastEnd" in page) {
    const data = { place: target, of: "entries", from: range.from, total: page.entriesTotal } as const;
    throw new Problem({ code: "INVALID_PARAM", reason: "range", ...data });
  }
  return { kind: "directory", target, ...page };
}
