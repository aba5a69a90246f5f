/** Lists the files of the workspace page by page, in an order that does not depend on the disk: folder by folder, by name. */

import { isUtf8 } from "node:buffer";
import * as nodePath from "node:path";
import type { Verdict } from "../contract/permission.ts";
import { Problem } from "../contract/problem.ts";
import type { EntryKind } from "../contract/read.ts";
import { FileTruncated, ReadFailed, timeSlices, type TimeSlices, wholeFile } from "../disk/disk.ts";
import { refusal, relativeTo } from "../guard/guard.ts";
import { nothingIgnored } from "../search/search.ts";
import { compareCodePoints } from "../text/text.ts";
import { refuseDenied } from "./change/change-target.ts";
import { locate } from "./locate.ts";
import type { ToolContext } from "./tool.ts";
import { atPath, entriesOf, type Folder, slashed, visibleIn } from "./workspace-walk.ts";

export interface WorkspaceFile {
  readonly path: string;
  readonly relative: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

export interface FilePage {
  readonly files: readonly WorkspaceFile[];
  /** If true, the next page begins after the last path of this one. */
  readonly more: boolean;
}

/** Only the folders on the way to `after` are listed again, so the cost of a page does not grow with its position. */
export async function filesAfter(after: string | undefined, filesMax: number, context: ToolContext): Promise<FilePage> {
  const roots = context.disk.roots.map(({ real }) => real as string);
  const first = after === undefined ? 0 : roots.findIndex((root) => relativeTo(after, [root], nodePath) !== undefined);
  const files: WorkspaceFile[] = [];
  if (first === -1) return { files, more: false };
  const slices = timeSlices(context.signal);
  for (const [at, root] of roots.slice(first).entries()) {
    const from = at === 0 && after !== undefined ? (relativeTo(after, [root], nodePath) ?? "").split("/") : [];
    for await (const file of below({ path: root, root, ignored: nothingIgnored }, from, slices, context)) {
      if (files.length === filesMax) return { files, more: true };
      files.push(file);
    }
  }
  return { files, more: false };
}

/** `from`: the names from this folder down to the path after which to continue; empty for the whole folder. */
async function* below(
  folder: Folder,
  from: readonly string[],
  slices: TimeSlices,
  context: ToolContext,
): AsyncGenerator<WorkspaceFile> {
  const listed = await visibleIn(folder, context);
  if (listed === undefined) return;
  const { above, ignored } = listed;
  const [reached, ...rest] = from;
  for (const entry of [...listed.entries].sort((a, b) => compareCodePoints(a.name, b.name))) {
    const { name, kind } = entry;
    const order = reached === undefined ? 1 : compareCodePoints(name, reached);
    if (order < 0) continue;
    if (slices.isOver()) await slices.next();
    if ((kind === "file" && order === 0) || !listed.isVisible(entry)) continue;
    const path = nodePath.join(folder.path, name);
    if (kind === "directory") {
      yield* below({ path, root: folder.root, ignored }, order === 0 ? rest : [], slices, context);
      continue;
    }
    const identity = atPath(path, context, ({ handle }) => handle.identity);
    if (identity === undefined) continue;
    const relative = [...above, name].join("/");
    yield { path, relative, sizeBytes: identity.sizeBytes, modifiedMs: Number(identity.mtimeNs / 1_000_000n) };
  }
}

/** The names of the files and folders in a folder that rules do not hide; those of folders end in a slash. */
async function markedNames(real: string, context: ToolContext): Promise<readonly string[]> {
  return ((await entriesOf(real, context)) ?? []).flatMap(({ name, kind }) => {
    if (kind !== "file" && kind !== "directory") return [];
    const is = kind === "directory" ? "folder" : "file";
    if (context.guard.denied("read", [nodePath.join(real, name)], is) !== undefined) return [];
    return is === "folder" ? `${name}/` : name;
  });
}

/** Completes a path while it is typed, from the entries of one folder; folders end in a slash. */
export async function pathsThatBegin(
  start: string,
  pathsMax: number,
  context: ToolContext,
): Promise<readonly string[]> {
  const cut = start.lastIndexOf("/") + 1;
  const folder = start.slice(0, cut) || "/";
  const begin = start.slice(cut);
  const roots = context.disk.roots.map(({ real }) => `${slashed(real)}/`);
  // Above the roots only the way to them is shown.
  const above = roots.filter((root) => root.startsWith(start) && root !== start);
  const resolved = context.guard.resolve(folder);
  if (resolved.seen !== "node") return above.slice(0, pathsMax);
  resolved.node.handle.close();
  refuseDenied(resolved.target, context, ["read"]);
  const names = await markedNames(resolved.target.real, context);
  const paths = names.filter((name) => name.startsWith(begin)).map((name) => folder + name);
  return [...above, ...paths.sort(compareCodePoints)].slice(0, pathsMax);
}

export interface JudgedEntry {
  readonly name: string;
  readonly path: string;
  readonly relative: string;
  readonly kind: EntryKind;
  readonly sizeBytes: number | undefined;
  /** What the rules say, without asking a person. */
  readonly read: Verdict;
  readonly edit: Verdict;
}

export interface EntryPage {
  readonly path: string;
  readonly relative: string;
  readonly entries: readonly JudgedEntry[];
  readonly total: number;
}

/** A folder for the person who maintains the rules. The rules are evaluated for the entries of the page only. */
export async function folderEntries(
  path: string,
  { from, max }: { readonly from: number; readonly max: number },
  context: ToolContext,
): Promise<EntryPage> {
  const { target, node } = await locate(path, "anything", context);
  using _handle = node.handle;
  await context.guard.permit("read", target, context.signal);
  if (node.kind !== "directory") throw new Problem({ code: "NOT_DIRECTORY", place: target });
  const listed = await context.disk.list(node);
  if ("errno" in listed) throw refusal(target, listed.errno, "listing it");
  const isFolder = (kind: EntryKind): number => (kind === "directory" ? 0 : 1);
  const ordered = listed.toSorted((a, b) => isFolder(a.kind) - isFolder(b.kind) || compareCodePoints(a.name, b.name));
  const entries: JudgedEntry[] = [];
  for (const { name, kind } of ordered.slice(from, from + max)) {
    context.signal.throwIfAborted();
    const entryPath = nodePath.join(target.real, name);
    const verdict = (tool: string, permission: "read" | "edit"): Verdict =>
      context.guard.explain(tool, permission, entryPath).verdict;
    entries.push({
      name,
      path: entryPath,
      relative: slashed(nodePath.relative(target.root, entryPath)),
      kind,
      sizeBytes: kind === "file" ? atPath(entryPath, context, ({ handle }) => handle.identity.sizeBytes) : undefined,
      read: verdict("Read", "read"),
      edit: verdict("Edit", "edit"),
    });
  }
  return { path: target.real, relative: target.realRelative, entries, total: listed.length };
}

/** The content of a file for programs, without line numbers, pages or notes. */
export type Content =
  | { readonly is: "text"; readonly path: string; readonly text: string }
  | { readonly is: "bytes"; readonly path: string; readonly base64: string }
  /** The paths in a folder; those of folders end in a slash. */
  | { readonly is: "folder"; readonly path: string; readonly paths: readonly string[] }
  | { readonly is: "too large"; readonly path: string; readonly sizeBytes: number };

export async function contentOf(path: string, bytesMax: number, context: ToolContext): Promise<Content> {
  const { target, node } = await locate(path, "file", context);
  using _handle = node.handle;
  await context.guard.permit("read", target, context.signal);
  if (node.kind === "directory") return await folderContent(target.real, context);
  if (node.kind !== "file") throw new Problem({ code: "SPECIAL_FILE", place: target, special: node.kind });
  const opened = context.disk.open(node);
  if ("errno" in opened) throw refusal(target, opened.errno, "opening it");
  using file = opened;
  try {
    const bytes = await wholeFile(file, bytesMax);
    if (bytes === undefined) return { is: "too large", path: target.real, sizeBytes: file.sizeBytes };
    return isText(bytes)
      ? { is: "text", path: target.real, text: bytes.toString("utf8") }
      : { is: "bytes", path: target.real, base64: bytes.toString("base64") };
  } catch (error) {
    if (error instanceof FileTruncated) throw new Problem({ code: "CHANGED", place: target });
    if (error instanceof ReadFailed) throw refusal(target, error.errno, "reading it");
    throw error;
  }
}

/** Anything else is returned as bytes, so that none is lost in decoding. */
const isText = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0);

async function folderContent(folder: string, context: ToolContext): Promise<Content> {
  const start = folder.endsWith(nodePath.sep) ? folder : folder + nodePath.sep;
  const paths = (await markedNames(folder, context)).map((name) => start + name);
  return { is: "folder", path: folder, paths: paths.sort(compareCodePoints) };
}
