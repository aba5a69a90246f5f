/** The files of the workspace a page at a time, in an order that does not depend on the disk: folder by folder, by name. */

import * as nodePath from "node:path";
import { timeSlices, type TimeSlices } from "../disk/others-turn.ts";
import { relativeTo } from "../guard/paths.ts";
import { type Ignored, isIgnored, nothingIgnored, withGitignore } from "../search/files-ignored.ts";
import { compareCodePoints } from "../text/order.ts";
import { refuseDenied } from "./subject.ts";
import type { Bench } from "./tool.ts";
import { atPath, entriesOf, isLeftOut, namesBelow, slashed, textOf } from "./workspace-walk.ts";

export interface WorkspaceFile {
  readonly path: string;
  /** Below its root, with forward slashes. */
  readonly relative: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

export interface FilePage {
  readonly files: readonly WorkspaceFile[];
  /** Is there more? Then the last path of this page is where to go on. */
  readonly more: boolean;
}

interface Folder {
  readonly path: string;
  readonly root: string;
  readonly ignored: Ignored;
}

/** Only the folders on the way to `after` are looked at again, so a page costs a page, however deep it lies. */
export async function filesAfter(after: string | undefined, filesMax: number, bench: Bench): Promise<FilePage> {
  const roots = bench.disk.roots.map(({ real }) => real as string);
  const first = after === undefined ? 0 : roots.findIndex((root) => relativeTo(after, [root], nodePath) !== undefined);
  const files: WorkspaceFile[] = [];
  if (first === -1) return { files, more: false };
  const slices = timeSlices(bench.signal);
  for (const [at, root] of roots.slice(first).entries()) {
    const from = at === 0 && after !== undefined ? (relativeTo(after, [root], nodePath) ?? "").split("/") : [];
    for await (const file of below({ path: root, root, ignored: nothingIgnored }, from, slices, bench)) {
      if (files.length === filesMax) return { files, more: true };
      files.push(file);
    }
  }
  return { files, more: false };
}

/** `from`: the rest of the path after which to go on, seen from this folder; empty for all of it. */
async function* below(
  folder: Folder,
  from: readonly string[],
  slices: TimeSlices,
  bench: Bench,
): AsyncGenerator<WorkspaceFile> {
  bench.signal.throwIfAborted();
  const entries = await entriesOf(folder.path, bench);
  if (entries === undefined) return;
  const above = namesBelow(folder.root, folder.path);
  let { ignored } = folder;
  if (entries.some(({ name, kind }) => name === ".gitignore" && kind === "file")) {
    ignored = await withGitignore(ignored, above.length, await textOf(nodePath.join(folder.path, ".gitignore"), bench));
  }
  const [reached, ...rest] = from;
  for (const { name, kind } of [...entries].sort((a, b) => compareCodePoints(a.name, b.name))) {
    const order = reached === undefined ? 1 : compareCodePoints(name, reached);
    if (order < 0) continue;
    if (slices.isOver()) await slices.next();
    const path = nodePath.join(folder.path, name);
    if (kind === "directory") {
      if (isLeftOut(name) || isIgnored(ignored, above, name, "folder")) continue;
      if (bench.guard.denied("read", [path], "folder") !== undefined) continue;
      yield* below({ path, root: folder.root, ignored }, order === 0 ? rest : [], slices, bench);
    } else if (kind === "file" && order > 0 && !isIgnored(ignored, above, name, "file")) {
      if (bench.guard.denied("read", [path], "file") !== undefined) continue;
      const state = atPath(path, bench, ({ held }) => held.identity);
      if (state === undefined) continue;
      const relative = [...above, name].join("/");
      yield { path, relative, sizeBytes: state.sizeBytes, modifiedMs: Number(state.mtimeNs / 1_000_000n) };
    }
  }
}

/** Paths that begin so, for one who types: what lies in one folder, folders with a slash behind them. */
export async function pathsThatBegin(start: string, pathsMax: number, bench: Bench): Promise<readonly string[]> {
  const cut = start.lastIndexOf("/") + 1;
  const folder = start.slice(0, cut) || "/";
  const begin = start.slice(cut);
  const roots = bench.disk.roots.map(({ real }) => `${slashed(real)}/`);
  // Above the roots only the way to them is shown.
  const above = roots.filter((root) => root.startsWith(start) && root !== start);
  const resolved = bench.guard.resolve(folder);
  if (resolved.seen !== "node") return above.slice(0, pathsMax);
  resolved.found.held.close();
  refuseDenied(resolved.target, bench, ["read"]);
  const entries = (await entriesOf(resolved.target.real, bench)) ?? [];
  const paths = entries
    .filter(({ name, kind }) => name.startsWith(begin) && (kind === "file" || kind === "directory"))
    .filter(({ name, kind }) => {
      const path = nodePath.join(resolved.target.real, name);
      return bench.guard.denied("read", [path], kind === "directory" ? "folder" : "file") === undefined;
    })
    .map(({ name, kind }) => `${folder}${name}${kind === "directory" ? "/" : ""}`);
  return [...above, ...paths.sort(compareCodePoints)].slice(0, pathsMax);
}
