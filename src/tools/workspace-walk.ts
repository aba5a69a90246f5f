/** Walks the files of the roots, without those that are ignored, hidden, denied or a dependency. */

import * as nodePath from "node:path";
import { contains } from "../contract/common.ts";
import { Problem } from "../contract/problem.ts";
import { type FileNode, type FolderEntry, HandleStack, timeSlices, wholeFile } from "../disk/disk.ts";
import { type Ignored, isIgnored, nothingIgnored, withGitignore } from "../search/search.ts";
import { statKeyOf } from "./fingerprint.ts";
import type { ToolContext } from "./tool.ts";

export interface Walked {
  readonly statKeys: Map<string, string>;
  /** False if there are more files than asked for, or folders that cannot be read. */
  readonly complete: boolean;
  readonly rules: string;
}

export interface Folder {
  readonly path: string;
  readonly root: string;
  readonly ignored: Ignored;
}

/** Larger ignore files count as empty: they are generated or hostile. */
const ignoreFileBytesMax = 1_048_576;

export async function walkWorkspace(filesMax: number, context: ToolContext): Promise<Walked> {
  const statKeys = new Map<string, string>();
  const rules: string[] = [];
  let complete = true;
  const todo: Folder[] = context.disk.roots.map(({ real }) => ({ path: real, root: real, ignored: nothingIgnored }));
  const slices = timeSlices(context.signal);
  for (let folder = todo.pop(); folder !== undefined; folder = todo.pop()) {
    const { path: top, root } = folder;
    const listed = await visibleIn(folder, context);
    if (listed === undefined) {
      complete = false;
      continue;
    }
    const { ignored, gitignore } = listed;
    if (gitignore !== undefined) rules.push(`${top}\n${gitignore}`);
    for (const entry of listed.entries) {
      if (slices.isOver()) await slices.next();
      if (!listed.isVisible(entry)) continue;
      const path = nodePath.join(top, entry.name);
      if (entry.kind === "directory") todo.push({ path, root, ignored });
      else {
        if (statKeys.size >= filesMax) return { statKeys, complete: false, rules: rules.toSorted().join("\n") };
        const statKey = statKeyAt(path, context);
        if (statKey !== undefined) statKeys.set(path, statKey);
      }
    }
  }
  return { statKeys, complete, rules: rules.toSorted().join("\n") };
}

/** The entries of a folder, and which of them are files and folders that a walk shows; undefined if it cannot be listed. */
export async function visibleIn({ path: top, root, ignored: outer }: Folder, context: ToolContext) {
  context.signal.throwIfAborted();
  const entries = await entriesOf(top, context);
  if (entries === undefined) return undefined;
  const above = slashed(nodePath.relative(root, top))
    .split("/")
    .filter((name) => name !== "");
  const hasIgnoreFile = entries.some(({ name, kind }) => name === ".gitignore" && kind === "file");
  const gitignore = hasIgnoreFile ? await readSmallText(nodePath.join(top, ".gitignore"), context) : undefined;
  const ignored = gitignore === undefined ? outer : await withGitignore(outer, above.length, gitignore);
  const isVisible = ({ name, kind }: FolderEntry): boolean => {
    if (kind !== "file" && kind !== "directory") return false;
    const is = kind === "directory" ? "folder" : "file";
    const isLeftOut = is === "folder" && (name.startsWith(".") || name === "node_modules");
    if (isLeftOut || isIgnored(ignored, above, name, is)) return false;
    return context.guard.denied("read", [nodePath.join(top, name)], is) === undefined;
  };
  return { entries, above, ignored, gitignore, isVisible };
}

export const slashed = (path: string): string => (nodePath.sep === "\\" ? path.replaceAll("\\", "/") : path);

export function statKeyAt(path: string, context: ToolContext): string | undefined {
  return atPath(path, context, (node) => statKeyOf(node.handle.identity));
}

/** Runs `work` on a regular file; undefined if `path` is not the real path of one. */
export function atPath<Result>(
  path: string,
  { disk }: Pick<ToolContext, "disk">,
  work: (node: FileNode) => Result,
): Result | undefined {
  const lookup = disk.lookup(path);
  if (lookup.seen !== "node") return undefined;
  using _handle = lookup.handle;
  return lookup.kind === "file" && lookup.real === path ? work(lookup) : undefined;
}

export async function entriesOf(path: string, { disk }: ToolContext) {
  const lookup = disk.lookup(path);
  if (lookup.seen !== "node") return undefined;
  using _handle = lookup.handle;
  const entries = lookup.kind === "directory" ? await disk.list(lookup) : [];
  return "errno" in entries ? undefined : entries;
}

async function readSmallText(path: string, context: ToolContext): Promise<string> {
  const opened = atPath(path, context, (node) => context.disk.open(node));
  if (opened === undefined || "errno" in opened) return "";
  using file = opened;
  return String((await wholeFile(file, ignoreFileBytesMax)) ?? "");
}

/**
 * The folders that a search without a folder covers: all roots; or, if relative paths start in a subfolder of a root, that
 * subfolder and the other roots. None of them is inside another. The first is where relative paths start, as `.`, or the root
 * that contains it.
 */
export function searchTops({ guard }: ToolContext): readonly string[] {
  if (guard.roots.length < 2) return ["."];
  const here = guard.resolve(".");
  if (here.seen !== "node") return ["."];
  here.node.handle.close();
  const { real: top } = here.target;
  const isRoot = guard.roots.some(({ real }) => real === top);
  // By real path, so that a root that is named twice is searched once.
  const tops = new Map<string, string>([[top, "."]]);
  for (const { real, given } of guard.roots) {
    if (!tops.has(real) && (isRoot || !contains(real, top))) tops.set(real, given);
  }
  const outermost = [...tops].filter(
    ([real]) => ![...tops.keys()].some((other) => other !== real && contains(other, real)),
  );
  return outermost.map(([, given]) => given);
}

/** Where a search starts: in the folder that the call names, or in every root. */
export interface SearchStarts<Start> extends Disposable {
  /** Their handles are open until this is disposed. */
  readonly starts: readonly Start[];
  /** The first reason why a start is missing. */
  readonly problem: Problem | undefined;
  /** Roots that are not searched: denied to the session, or unreadable and gone ones. */
  readonly denied: number;
  readonly unreadable: number;
}

/** `isNoMatch`: nothing can match there, so it counts as searched. */
export async function searchStarts<Path, Start extends { readonly node: FileNode }>(
  paths: readonly Path[],
  startAt: (path: Path) => Promise<Start | undefined>,
  isNoMatch: (problem: Problem) => boolean = () => false,
): Promise<SearchStarts<Start>> {
  using handles = new HandleStack();
  const starts: Start[] = [];
  const problems: Problem[] = [];
  for (const path of paths) {
    try {
      const start = await startAt(path);
      if (start === undefined) continue;
      handles.use(start.node.handle);
      starts.push(start);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      problems.push(error);
    }
  }
  const counted = problems.filter((problem) => !isNoMatch(problem));
  const denied = counted.filter(({ data }) => data.code === "ACCESS_DENIED" && !bySystem.has(data.reason)).length;
  const moved = handles.move();
  const unreadable = counted.length - denied;
  return { starts, problem: problems[0], denied, unreadable, [Symbol.dispose]: () => moved[Symbol.dispose]() };
}

const bySystem: ReadonlySet<string> = new Set(["system", "root changed"]);
