/** Glob: files by the pattern of their paths, newest first. */

import * as nodePath from "node:path";
import { lookupEnd, type Glance, withHandleClosed, type WalkFolder } from "../../disk/disk.ts";
import type { Counted, GlobFile, GlobOutcome, GlobRequest } from "../../contract/glob.ts";
import { limits } from "../../contract/limits.ts";
import type { Problem } from "../../contract/problem.ts";
import type { Target } from "../../contract/target.ts";
import { defaultRules, literalHints, refusal, type SearchView } from "../../guard/guard.ts";
import { countPruned, type FilesTally, newestFiles, walkFiles } from "../../search/search.ts";
import { folderAgain, ignoredAt } from "../ignored-at.ts";
import type { ToolContext, Tool } from "../tool.ts";
import { type SearchStarts, searchStarts, searchTops, slashed } from "../workspace-walk.ts";
import { type GlobNowhere, type GlobStart, startOf } from "./start.ts";

export const glob: Tool<"glob"> = async (request, context) => {
  let nowhere: GlobNowhere | undefined;
  const startAt = async (path: string | undefined): Promise<GlobStart | undefined> => {
    const start = await startOf({ ...request, path }, context);
    if (!("missing" in start)) return start;
    nowhere ??= start;
    return undefined;
  };
  // INVALID_PARAM: in that root the text is neither a pattern nor the name of a file, so it matches nothing there.
  const isNoMatch = ({ data }: Problem): boolean => data.code === "INVALID_PARAM";
  using started = await searchStarts(pathsOf(request, context), startAt, isNoMatch);
  const [first] = started.starts;
  if (first !== undefined) return await search(request, first.target, started, context);
  if (nowhere === undefined) throw started.problem;
  return nothing(request, nowhere.target, nowhere.missing);
};

const pathsOf = ({ path, pattern }: GlobRequest, context: ToolContext): readonly (string | undefined)[] =>
  path !== undefined || nodePath.isAbsolute(pattern) ? [path] : searchTops(context);

async function search(
  request: GlobRequest,
  target: Target,
  all: SearchStarts<GlobStart>,
  context: ToolContext,
): Promise<GlobOutcome> {
  const best = newestFiles<GlobFile>(request.filesMax);
  const startedMs = performance.now();
  const sum: Sum = { ...noSum, foldersHiddenByRules: all.denied, unreadableFolders: all.unreadable };
  let entries = 0;
  for (const start of all.starts) {
    const onTurn = (more: number): "more" | "enough" => {
      context.signal.throwIfAborted();
      context.onProgress?.(entries + more, 0);
      return performance.now() - startedMs > limits.globMsMax ? "enough" : "more";
    };
    const tally = await searchIn(start, best, sum, onTurn, context);
    entries += tally.entries;
    if (tally.refused !== undefined) {
      // With several roots the others are still searched.
      if (all.starts.length === 1) throw refusal(start.target, tally.refused, "listing it");
      sum.unreadableFolders += 1;
    }
    // The time is up, also for the other roots.
    if (!sum.complete) break;
  }
  const counted = (count: number, whole = sum.complete): Counted => ({ count, counted: whole ? "all" : "at least" });
  return {
    ...nothing(request, target),
    files: best.sorted(),
    total: counted(sum.matched),
    ignored: counted(sum.ignored, sum.complete && sum.countedAll),
    hidden: counted(sum.hidden, sum.complete && sum.countedAll),
    hiddenByRules: sum.hiddenByRules,
    foldersHiddenByRules: sum.foldersHiddenByRules,
    unreadableFolders: sum.unreadableFolders,
    unnamedFolders: sum.unnamedFolders,
    folders: sum.folders,
    linkedFolders: sum.linkedFolders,
    stoppedAfterMs: sum.complete ? undefined : performance.now() - startedMs,
  };
}

/** The counts of all roots together. */
type Sum = { -readonly [Key in keyof typeof noSum]: (typeof noSum)[Key] extends boolean ? boolean : number };

const noSum = {
  matched: 0,
  ignored: 0,
  hidden: 0,
  hiddenByRules: 0,
  foldersHiddenByRules: 0,
  unreadableFolders: 0,
  unnamedFolders: 0,
  folders: 0,
  linkedFolders: 0,
  complete: true,
  /** Were all left-out files counted? */
  countedAll: true,
} as const;

async function searchIn(
  { target, node, state, foldersOnly }: GlobStart,
  best: ReturnType<typeof newestFiles<GlobFile>>,
  sum: Sum,
  onTurn: (entries: number) => "more" | "enough",
  context: ToolContext,
): Promise<FilesTally> {
  const view = searchView(target, context);
  const tally = await walkFiles(context.disk.walk(node), {
    above: target.realRelative === "" ? [] : target.realRelative.split("/"),
    ignored: await ignoredAt(target, context),
    state,
    hides: view.hides,
    shows: view.shows,
    hidesEnd,
    take,
    onTurn,
  });
  context.signal.throwIfAborted();
  const more = await countPruned(tally, {
    entriesMax: tally.ended === "all" ? limits.globCountedEntriesMax : 0,
    open: (real) => folderAgain(real, context),
    hides: view.hides,
    hidesEnd,
    signal: context.signal,
  });
  sum.matched += tally.matched;
  sum.ignored += tally.ignored + more.ignored;
  sum.hidden += tally.hidden + more.hidden;
  sum.hiddenByRules += tally.hiddenByRules;
  sum.foldersHiddenByRules += tally.foldersHiddenByRules;
  sum.unreadableFolders += tally.unreadable;
  sum.unnamedFolders += tally.unnamed;
  sum.folders += tally.folders;
  if (tally.ended !== "all") sum.complete = false;
  if (!more.complete) sum.countedAll = false;
  return tally;

  function take(path: string, name: string, at: WalkFolder): boolean | Promise<boolean> {
    const glance = at.glance(name);
    return glance instanceof Promise ? glance.then((seen) => offer(path, seen)) : offer(path, glance);
  }

  /** A file without a stat (its name is not UTF-8, or it was just deleted) is listed as the oldest. */
  function offer(path: string, { kind, mtimeMs }: Partial<Glance> = {}): boolean {
    // It became a folder meanwhile, it is not a file, or the pattern matches folders only.
    if (kind === "directory" || kind === "special" || foldersOnly) return false;
    if (kind === "link" && !isShownLink(path)) return false;
    const found = { mtimeMs, link: kind === "link" };
    // Without a path it comes before all others of its time: only a file that may be listed gets one.
    if (best.accepts({ absolute: "", ...found }))
      best.add({ absolute: nodePath.join(target.absolute, path), ...found });
    return true;
  }

  function hidesEnd(path: string): boolean {
    return context.guard.denies && endAt(path)?.isDenied === true;
  }

  /** The lookup stays beneath the roots, so the answer does not show whether a target outside exists. */
  function isShownLink(path: string): boolean {
    const end = endAt(path);
    if (end === undefined) return true;
    // A hidden link is not counted: only links that match are looked up, so a count would reveal their names.
    if (!end.isDenied && end.is === "folder") sum.linkedFolders += 1;
    return !end.isDenied && end.is === "file";
  }

  function endAt(path: string) {
    const { disk, guard } = context;
    const end = lookupEnd(withHandleClosed(disk.lookup(nodePath.join(target.real, path))));
    return end && { is: end.is, isDenied: guard.denies && guard.denied("read", [end.real], end.is) !== undefined };
  }
}

/** What a search may show. Paths are relative to the searched folder, with forward slashes. */
function searchView(target: Target, { guard }: ToolContext): SearchView {
  const below = (root: string, folder: string): SearchView => {
    const view = guard.search(root);
    const prefix = folder === "" ? "" : `${slashed(folder)}/`;
    return {
      hides: (path, is) => view.hides(prefix + path, is),
      shows: (path) => view.shows(prefix + path),
    };
  };
  const views = [below(target.root, target.realRelative)];
  // The folder was reached through a symlink: a rule may name either path.
  if (target.absolute !== target.real && target.relative !== target.absolute) {
    const root = target.absolute.slice(0, target.absolute.length - target.relative.length).replace(/[\\/]$/, "");
    views.push(below(root, target.relative));
  }
  return {
    hides: (path, is) => views.some((view) => view.hides(path, is)),
    shows: (path) => !mayBeSecret(path) || views.every((view) => view.shows(path)),
  };
}

/**
 * A cheap test before the rules, which take microseconds per path, and there may be a hundred thousand paths. The last name is
 * enough, because all default rules about folders are about hidden ones.
 */
const mayBeSecret = (path: string): boolean =>
  path.startsWith(".") || path.includes("/.") || secretHints()(path.slice(path.lastIndexOf("/") + 1));

let hints: ReturnType<typeof literalHints> | undefined;

const secretHints = () =>
  (hints ??= literalHints(defaultRules.map(({ text }) => text).filter((text) => !text.includes("/"))));

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
    hiddenByRules: 0,
    foldersHiddenByRules: 0,
    unreadableFolders: 0,
    unnamedFolders: 0,
    folders: 0,
    linkedFolders: 0,
    stoppedAfterMs: undefined,
    missing,
  };
}
