/** Walks the files of the roots, without those that are ignored, hidden, denied or a dependency. */

import * as nodePath from "node:path";
import type { Problem } from "../contract/problem.ts";
import { type FileNode, timeSlices, wholeFile } from "../disk/disk.ts";
import { type Ignored, isIgnored, nothingIgnored, withGitignore } from "../search/search.ts";
import { statKeyOf } from "./fingerprint.ts";
import type { ToolContext } from "./tool.ts";

export interface Walked {
  /** By real path. */
  readonly statKeys: Map<string, string>;
  /** False if there are more files than asked for, or folders that cannot be read. */
  readonly complete: boolean;
  /** The texts of all ignore files on the way. */
  readonly rules: string;
}

interface Folder {
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
    context.signal.throwIfAborted();
    const entries = await entriesOf(folder.path, context);
    if (entries === undefined) {
      complete = false;
      continue;
    }
    const { path: top, root } = folder;
    const above = namesBelow(root, top);
    let { ignored } = folder;
    if (entries.some(({ name, kind }) => name === ".gitignore" && kind === "file")) {
      const text = await readSmallText(nodePath.join(top, ".gitignore"), context);
      rules.push(`${top}\n${text}`);
      ignored = await withGitignore(ignored, above.length, text);
    }
    for (const { name, kind } of entries) {
      if (slices.isOver()) await slices.next();
      const path = nodePath.join(top, name);
      if (kind === "directory") {
        if (isLeftOut(name) || isIgnored(ignored, above, name, "folder")) continue;
        if (context.guard.denied("read", [path], "folder") === undefined) todo.push({ path, root, ignored });
      } else if (kind === "file" && !isIgnored(ignored, above, name, "file")) {
        if (context.guard.denied("read", [path], "file") !== undefined) continue;
        if (statKeys.size >= filesMax) return { statKeys, complete: false, rules: rules.toSorted().join("\n") };
        const statKey = statKeyAt(path, context);
        if (statKey !== undefined) statKeys.set(path, statKey);
      }
    }
  }
  return { statKeys, complete, rules: rules.toSorted().join("\n") };
}

/** Folders of tools and of dependencies. */
export const isLeftOut = (name: string): boolean => name.startsWith(".") || name === "node_modules";

/** The names from a root down to a folder in it. */
export const namesBelow = (root: string, folder: string): readonly string[] =>
  slashed(nodePath.relative(root, folder))
    .split("/")
    .filter((name) => name !== "");

export const slashed = (path: string): string => (nodePath.sep === "\\" ? path.replaceAll("\\", "/") : path);

/** Undefined if the path is not the real path of a regular file. */
export function statKeyAt(path: string, context: ToolContext): string | undefined {
  return atPath(path, context, (node) => statKeyOf(node.handle.identity));
}

/** Runs `work` on a regular file; undefined if `path` is not the real path of one. */
export function atPath<Result>(
  path: string,
  { disk }: ToolContext,
  work: (node: FileNode) => Result,
): Result | undefined {
  const lookup = disk.lookup(path);
  if (lookup.seen !== "node") return undefined;
  using _held = lookup.handle;
  return lookup.kind === "file" && lookup.real === path ? work(lookup) : undefined;
}

export async function entriesOf(path: string, { disk }: ToolContext) {
  const lookup = disk.lookup(path);
  if (lookup.seen !== "node") return undefined;
  using _held = lookup.handle;
  const entries = lookup.kind === "directory" ? await disk.list(lookup) : [];
  return "errno" in entries ? undefined : entries;
}

export async function readSmallText(path: string, context: ToolContext): Promise<string> {
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
    if (!tops.has(real) && (isRoot || !isWithin(top, real))) tops.set(real, given);
  }
  const outermost = [...tops].filter(
    ([real]) => ![...tops.keys()].some((other) => other !== real && isWithin(real, other)),
  );
  return outermost.map(([, given]) => given);
}

/** Counts the roots that cannot be searched: denied to the session, or unreadable and gone ones. */
export function unsearchedRoots(problems: readonly Problem[]): {
  readonly denied: number;
  readonly unreadable: number;
} {
  const denied = problems.filter(({ data }) => data.code === "ACCESS_DENIED" && !bySystem.has(data.reason)).length;
  return { denied, unreadable: problems.length - denied };
}

const bySystem: ReadonlySet<string> = new Set(["system", "root changed"]);

/** Is `path` the folder, or something in it? */
export function isWithin(path: string, folder: string): boolean {
  const rest = nodePath.relative(folder, path);
  return !(rest === ".." || rest.startsWith(`..${nodePath.sep}`) || nodePath.isAbsolute(rest));
}
