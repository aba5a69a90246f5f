/** Glob: files by the pattern of their paths, newest first. */

import * as nodePath from "node:path";
import { endOf, type Glance, HandleStack, released, type WalkFolder } from "../../disk/disk.ts";
import type { Counted, GlobFile, GlobOutcome, GlobRequest } from "../../contract/glob.ts";
import { limits } from "../../contract/limits.ts";
import { Problem } from "../../contract/problem.ts";
import type { Target } from "../../contract/target.ts";
import { defaultRules, refusal } from "../../guard/guard.ts";
import { countPruned, type Dated, type FilesTally, newest, type Newest, walkFiles } from "../../search/search.ts";
import { folderAgain, ignoredAt } from "../ignored-at.ts";
import type { ToolContext, Tool } from "../tool.ts";
import { searchTops, slashed, unsearchedRoots } from "../workspace-walk.ts";
import { type GlobNowhere, type GlobStart, startOf } from "./start.ts";

export const glob: Tool<"glob"> = async (request, context) => {
  const started = await startsOf(request, context);
  if ("missing" in started) return nothing(request, started.target, started.missing);
  using all = started;
  return await search(request, all, context);
};

/** Where a glob starts: in one folder, or in every root if the call names no folder. */
interface GlobStarts extends Disposable {
  /** Their handles are open until this is disposed. */
  readonly starts: readonly [GlobStart, ...GlobStart[]];
  /** Roots that are not searched. */
  readonly denied: number;
  readonly unreadable: number;
}

async function startsOf(request: GlobRequest, context: ToolContext): Promise<GlobStarts | GlobNowhere> {
  using handles = new HandleStack();
  const starts: GlobStart[] = [];
  const problems: Problem[] = [];
  let nowhere: GlobNowhere | undefined;
  for (const path of pathsOf(request, context)) {
    try {
      const start = await startOf({ ...request, path }, context);
      if ("missing" in start) nowhere ??= start;
      else {
        handles.use(start.node.handle);
        starts.push(start);
      }
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      problems.push(error);
    }
  }
  const [first, ...others] = starts;
  if (first === undefined) {
    if (nowhere !== undefined) return nowhere;
    throw problems[0];
  }
  // INVALID_PARAM: in that root the text is neither a pattern nor the name of a file, so it matches nothing there.
  const elsewhere = problems.filter(({ data }) => data.code !== "INVALID_PARAM");
  const moved = handles.move();
  return { starts: [first, ...others], ...unsearchedRoots(elsewhere), [Symbol.dispose]: () => moved[Symbol.dispose]() };
}

const pathsOf = ({ path, pattern }: GlobRequest, context: ToolContext): readonly (string | undefined)[] =>
  path !== undefined || nodePath.isAbsolute(pattern) ? [path] : searchTops(context);

async function search(request: GlobRequest, all: GlobStarts, context: ToolContext): Promise<GlobOutcome> {
  const best = newest<GlobFile & Dated>(request.filesMax);
  const startedMs = performance.now();
  const sum: Sum = { ...noSum, withheldFolders: all.denied, unreadableFolders: all.unreadable };
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
    ...nothing(request, all.starts[0].target),
    files: best.list().map(({ absolute, mtimeMs, link }) => ({ absolute, mtimeMs, link })),
    total: counted(sum.matched),
    ignored: counted(sum.ignored, sum.complete && sum.countedAll),
    hidden: counted(sum.hidden, sum.complete && sum.countedAll),
    withheld: sum.withheld,
    withheldFolders: sum.withheldFolders,
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
  withheld: 0,
  withheldFolders: 0,
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
  best: Newest<GlobFile & Dated>,
  sum: Sum,
  onTurn: (entries: number) => "more" | "enough",
  context: ToolContext,
): Promise<FilesTally> {
  const view = searchView(target, context);
  const tally = await walkFiles(context.disk.walk(node), {
    above: target.realRelative === "" ? [] : target.realRelative.split("/"),
    ignored: await ignoredAt(target, context),
    state,
    hides: (path, is) => view.hides(path, is),
    shows: (path) => view.shows(path),
    hidesEnd,
    take,
    onTurn,
  });
  context.signal.throwIfAborted();
  const more = await countPruned(tally, {
    entriesMax: tally.ended === "all" ? limits.globCountedEntriesMax : 0,
    open: (real) => folderAgain(real, context),
    hides: (path, is) => view.hides(path, is),
    hidesEnd,
    signal: context.signal,
  });
  sum.matched += tally.matched;
  sum.ignored += tally.ignored + more.ignored;
  sum.hidden += tally.hidden + more.hidden;
  sum.withheld += tally.withheld;
  sum.withheldFolders += tally.withheldFolders;
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
    best.offer(mtimeMs, () => {
      const absolute = nodePath.join(target.absolute, path);
      return { path: absolute, absolute, mtimeMs, link: kind === "link" };
    });
    return true;
  }

  function isDenied({ real, is }: NonNullable<ReturnType<typeof endOf>>): boolean {
    return context.guard.denies && context.guard.denied("read", [real], is) !== undefined;
  }

  function hidesEnd(path: string): boolean {
    if (!context.guard.denies) return false;
    const end = endAt(path);
    return end !== undefined && isDenied(end);
  }

  /** The lookup stays beneath the roots, so the answer does not show whether a target outside exists. */
  function isShownLink(path: string): boolean {
    const end = endAt(path);
    if (end === undefined) return true;
    const hidden = isDenied(end);
    // A hidden link is not counted: only links that match are looked up, so a count would reveal their names.
    if (!hidden && end.is === "folder") sum.linkedFolders += 1;
    return !hidden && end.is === "file";
  }

  function endAt(path: string): ReturnType<typeof endOf> {
    const lookup = released(context.disk.lookup(nodePath.join(target.real, path)));
    return endOf(lookup);
  }
}

/** What a search may show. Paths are relative to the searched folder, with forward slashes. */
interface SearchView {
  /** The path is denied. A hidden folder need not be entered: everything in it is hidden too. */
  hides(path: string, is: "file" | "folder"): boolean;
  /** The path may be listed although the pattern does not name it; false for files that commonly contain secrets. */
  shows(path: string): boolean;
}

function searchView(target: Target, { guard }: ToolContext): SearchView {
  const below = (root: string, prefix: string) => {
    const view = guard.search(root);
    const pathOf = (path: string): string => (prefix === "" ? path : `${prefix}/${path}`);
    return {
      hides: (path: string, is: "file" | "folder"): boolean => view.hides(pathOf(path), is),
      shows: (path: string): boolean => view.shows(pathOf(path)),
    };
  };
  const views = [below(target.root, slashed(target.realRelative))];
  // The folder was reached through a symlink: a rule may name either path.
  if (target.absolute !== target.real && target.relative !== target.absolute) {
    const root = target.absolute.slice(0, target.absolute.length - target.relative.length).replace(/[\\/]$/, "");
    views.push(below(root, slashed(target.relative)));
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
  path.startsWith(".") || path.includes("/.") || hints().test(path.slice(path.lastIndexOf("/") + 1));

let secretHints: RegExp | undefined;

/** Matches the longest literal part of each default rule. */
function hints(): RegExp {
  secretHints ??= new RegExp(
    defaultRules
      .map(({ text }) => /^Read\(([^!].*)\)$/.exec(text)?.[1] ?? "")
      .filter((pattern) => pattern !== "" && !pattern.includes("/"))
      .map((pattern) =>
        pattern.split(/[*?]|\[.*\]/).reduce((longest, part) => (part.length > longest.length ? part : longest)),
      )
      .map((text) => text.replace(/[.\\+^$(){}|]/g, "\\$&"))
      .join("|"),
    "i",
  );
  return secretHints;
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
    unnamedFolders: 0,
    folders: 0,
    linkedFolders: 0,
    stoppedAfterMs: undefined,
    missing,
  };
}
