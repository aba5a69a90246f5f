/** Glob: files by the pattern of their paths, newest first. */

import * as nodePath from "node:path";
import type { Counted, GlobFile, GlobOutcome, GlobRequest } from "../contract/glob.ts";
import { limits } from "../contract/limits.ts";
import type { Target } from "../contract/target.ts";
import type { Glance, WalkFolder } from "../disk/walk.ts";
import { refusal } from "../guard/guard.ts";
import { walkFiles } from "../search/files.ts";
import { countPruned } from "../search/files-pruned.ts";
import { newest } from "../search/glob-newest.ts";
import { type GlobNowhere, type GlobStart, startOf } from "./glob-start.ts";
import { folderAgain } from "./folder-again.ts";
import { ignoredAt } from "./ignored-at.ts";
import type { Bench, Tool } from "./tool.ts";
import { searchView } from "./withheld.ts";

export const glob: Tool<"glob"> = async (request, bench) => {
  const start = await startOf(request, bench);
  if ("missing" in start) return nothing(request, start.target, start.missing);
  try {
    return await search(request, start, bench);
  } finally {
    start.found.held.close();
  }
};

async function search(request: GlobRequest, start: GlobStart, bench: Bench): Promise<GlobOutcome> {
  const { target, found, state, foldersOnly } = start;
  const view = searchView(target, bench);
  const best = newest<GlobFile & { readonly path: string }>(request.filesMax);
  const links = { toFolders: 0, toHidden: 0 };
  const startedMs = performance.now();
  const tally = await walkFiles(bench.disk.walk(found), {
    above: target.realRelative === "" ? [] : target.realRelative.split("/"),
    ignored: await ignoredAt(target, bench),
    state,
    hides: (path, is) => view.hides(path, is),
    shows: (path) => view.shows(path),
    take,
    onTurn: (entries) => {
      bench.signal.throwIfAborted();
      bench.onProgress?.(entries, 0);
      return performance.now() - startedMs > limits.globMsMax ? "enough" : "more";
    },
  });
  bench.signal.throwIfAborted();
  if (tally.refused !== undefined) throw refusal(target, tally.refused, "listing it");
  const more = await countPruned(tally, {
    entriesMax: tally.ended === "all" ? limits.globCountedEntriesMax : 0,
    open: (real) => folderAgain(real, bench),
    hides: (path, is) => view.hides(path, is),
  });
  const complete = tally.ended === "all";
  const counted = (count: number, all = complete): Counted => ({ count, counted: all ? "all" : "at least" });
  return {
    ...nothing(request, target),
    files: best.list().map(({ absolute, relative, mtimeMs, link }) => ({ absolute, relative, mtimeMs, link })),
    total: counted(tally.matched),
    ignored: counted(tally.ignored + more.ignored, complete && more.complete),
    hidden: counted(tally.hidden + more.hidden, complete && more.complete),
    withheld: tally.withheld + links.toHidden,
    withheldFolders: tally.withheldFolders,
    unreadableFolders: tally.unreadable,
    folders: tally.folders,
    linkedFolders: links.toFolders,
    stoppedAfterMs: complete ? undefined : performance.now() - startedMs,
  };

  function take(path: string, name: string, at: WalkFolder): boolean | Promise<boolean> {
    const glance = at.glance(name);
    return glance instanceof Promise ? glance.then((seen) => offer(path, seen)) : offer(path, glance);
  }

  /** What cannot be looked at (its name is not UTF-8, or it has just gone) is named all the same, as the oldest. */
  function offer(path: string, { kind, mtimeMs }: Partial<Glance> = {}): boolean {
    // Became a folder meanwhile, or was never a file; or only folders are meant.
    if (kind === "directory" || kind === "special" || foldersOnly) return false;
    if (kind === "link" && !isShownLink(path)) return false;
    best.offer(mtimeMs, () => {
      const absolute = nodePath.join(target.absolute, path);
      const relative = target.relative === "" ? path : `${target.relative}/${path}`;
      return { path, absolute, relative, mtimeMs, link: kind === "link" };
    });
    return true;
  }

  /** Looked up beneath the roots only: of what lies outside not even its being there is told. */
  function isShownLink(path: string): boolean {
    const look = bench.disk.look(nodePath.join(target.real, path));
    if (look.seen !== "node") return true;
    look.held.close();
    const is = look.kind === "directory" ? "folder" : "file";
    const hidden = bench.guard.denies && bench.guard.denied("read", [look.real], is) !== undefined;
    if (hidden) links.toHidden += 1;
    else if (is === "folder") links.toFolders += 1;
    return !hidden && is === "file";
  }
}

function nothing({ pattern }: GlobRequest, target: Target, missing?: GlobNowhere["missing"]): GlobOutcome {
  const none: Counted = { count: 0, counted: "all" };
  return {
    kind: "glob",
    target,
    pattern,
    files: [],
    total: none,
    ignored: none,
    hidden: none,
    withheld: 0,
    withheldFolders: 0,
    unreadableFolders: 0,
    folders: 0,
    linkedFolders: 0,
    stoppedAfterMs: undefined,
    missing,
  };
}
