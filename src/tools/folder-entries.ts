/** One folder for the person who looks after the rules: every name in it, and what the rules say of reading and editing it. */

import * as nodePath from "node:path";
import { Problem } from "../contract/problem.ts";
import type { EntryKind } from "../contract/read.ts";
import type { Verdict } from "../contract/rule.ts";
import { refusal } from "../guard/guard.ts";
import { compareCodePoints } from "../text/order.ts";
import { locate } from "./locate.ts";
import type { Bench } from "./tool.ts";
import { atPath, slashed } from "./workspace-walk.ts";

export interface JudgedEntry {
  readonly name: string;
  /** Absolute; and below its root with forward slashes. */
  readonly path: string;
  readonly relative: string;
  readonly kind: EntryKind;
  /** Of regular files. */
  readonly sizeBytes: number | undefined;
  /** Before anybody is asked. */
  readonly read: Verdict;
  readonly edit: Verdict;
}

export interface EntryPage {
  readonly path: string;
  readonly relative: string;
  readonly entries: readonly JudgedEntry[];
  readonly total: number;
}

/** Only the entries of the page are judged, however many there are. */
export async function folderEntries(
  path: string,
  { from, max }: { readonly from: number; readonly max: number },
  bench: Bench,
): Promise<EntryPage> {
  const { target, found } = await locate(path, "anything", bench);
  try {
    await bench.guard.permit("read", target, bench.signal);
    if (found.kind !== "directory") throw new Problem({ code: "NOT_DIRECTORY", place: target });
    const listed = await bench.disk.list(found);
    if ("errno" in listed) throw refusal(target, listed.errno, "listing it");
    const isFolder = (kind: EntryKind): number => (kind === "directory" ? 0 : 1);
    const ordered = listed.toSorted((a, b) => isFolder(a.kind) - isFolder(b.kind) || compareCodePoints(a.name, b.name));
    const entries: JudgedEntry[] = [];
    for (const { name, kind } of ordered.slice(from, from + max)) {
      bench.signal.throwIfAborted();
      const whole = nodePath.join(target.real, name);
      const verdict = (tool: string, permission: "read" | "edit"): Verdict =>
        bench.guard.explain(tool, permission, whole).verdict;
      entries.push({
        name,
        path: whole,
        relative: slashed(nodePath.relative(target.root, whole)),
        kind,
        sizeBytes: kind === "file" ? atPath(whole, bench, ({ held }) => held.identity.sizeBytes) : undefined,
        read: verdict("Read", "read"),
        edit: verdict("Edit", "edit"),
      });
    }
    return { path: target.real, relative: target.realRelative, entries, total: listed.length };
  } finally {
    found.held.close();
  }
}
