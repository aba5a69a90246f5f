/**
 * What Delete, Move, Copy and MakeFolder share: how a path is found without following a symlink, how everything in a folder is
 * permitted as one, and how it is kept in the history, entry by entry.
 */

import * as nodePath from "node:path";
import { contains } from "../../contract/common.ts";
import type { ChangedFile, TreeSize } from "../../contract/edit.ts";
import type { VersionIs } from "../../contract/history.ts";
import { limits } from "../../contract/limits.ts";
import { type FolderFault, Problem } from "../../contract/problem.ts";
import type { Place, RealPath, Target } from "../../contract/target.ts";
import { mapInSlices, timeSlices, type Tree, type TreeEntry, wholeFile } from "../../disk/disk.ts";
import { type TreeUse, refusal } from "../../guard/guard.ts";
import { type Kept, storedFile } from "../../history/history.ts";
import { createRecorder, type HistoryRecorder, type Moved } from "../change/history-recorder.ts";
import { refuseDenied, requireFileName } from "../change/change-target.ts";
import { locate, notFound } from "../locate.ts";
import type { ToolContext } from "../tool.ts";

/** A file, a symlink as such, or a folder, that a call names. */
export interface Found {
  readonly target: Target;
  readonly entry: TreeEntry;
}

export async function findEntry(asked: string, context: ToolContext): Promise<Found> {
  const link = linkAt(asked, context);
  if (link !== undefined) return link;
  const { target, node } = await locate(asked, "anything", context);
  node.handle.close();
  refuseDenied(target, context);
  const entry = context.disk.entryAt(target.real);
  if (entry !== undefined) return { target, entry };
  if (node.kind !== "file" && node.kind !== "directory") {
    throw new Problem({ code: "SPECIAL_FILE", place: target, special: node.kind });
  }
  throw isRoot(target, context) ? folderProblem(target, "root") : new Problem({ code: "CHANGED", place: target });
}

/** The symlink that the path ends in. Undefined if it does not, and if the path cannot be resolved: `locate` says why. */
function linkAt(asked: string, context: ToolContext): Found | undefined {
  const typed = asked.replace(/(?<=[^/\\])[/\\]+$/, (end) => (nodePath.sep === "/" ? end.replace(/^\/+$/, "") : ""));
  const name = nodePath.basename(typed);
  if (["", ".", ".."].includes(name)) return undefined;
  let above: Target;
  try {
    const resolved = context.guard.resolve(nodePath.dirname(typed));
    if (resolved.seen !== "node") return undefined;
    resolved.node.handle.close();
    if (resolved.node.kind !== "directory") return undefined;
    above = resolved.target;
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
  const entry = context.disk.entryAt(nodePath.join(above.real, name));
  if (entry?.is !== "link") return undefined;
  const target = { ...entryTarget(above, name, "file"), asked };
  refuseDenied(target, context);
  return { target, entry };
}

/** The target of an entry, without a lookup: a symlink is not followed. */
export const entryTarget = (folder: Target, below: string, is: Target["is"]): Target => targetsBelow(folder)(below, is);

/** The same for all entries of a folder: its own paths are made normal once. */
export function targetsBelow(folder: Target): (below: string, is: Target["is"]) => Target {
  const start = (path: string): string => {
    const normal = nodePath.join(path, nodePath.sep);
    return normal === `.${nodePath.sep}` ? "" : normal;
  };
  const [asked, absolute, real] = [start(folder.asked), start(folder.absolute), start(folder.real)];
  return (below, is) => {
    if (below === "") return folder;
    const slashed = nodePath.sep === "/" ? below : below.split(nodePath.sep).join("/");
    return {
      asked: asked + below,
      absolute: absolute + below,
      relative: folder.relative === "" ? slashed : `${folder.relative}/${slashed}`,
      real: (real + below) as RealPath,
      realRelative: folder.realRelative === "" ? slashed : `${folder.realRelative}/${slashed}`,
      root: folder.root,
      is,
    };
  };
}

/** The target of a real path below a root, existing or not. */
export function targetAt(real: string, is: Target["is"], context: ToolContext): Target {
  const root = context.disk.roots.find((one) => contains(one.real, real));
  const place: Place = { asked: real, absolute: real, relative: real };
  if (root === undefined) throw new Problem({ code: "CHANGED", place });
  const top: Target = {
    asked: root.real,
    absolute: root.real,
    relative: "",
    real: root.real,
    realRelative: "",
    root: root.real,
    is: "folder",
  };
  return entryTarget(top, nodePath.relative(root.real, real), is);
}

export const folderProblem = (place: Place, fault: FolderFault, count?: number): Problem =>
  new Problem({ code: "INVALID_PARAM", reason: "folder", place, fault, ...(count === undefined ? {} : { count }) });

const isRoot = (target: Target, { disk }: ToolContext): boolean =>
  disk.roots.some(({ real }) => contains(target.real, real));

/** Everything in it, hidden and ignored files included. Throws if a part of it is nothing that the history could bring back. */
export async function listed(target: Target, context: ToolContext): Promise<Tree> {
  if (isRoot(target, context)) throw folderProblem(target, "root");
  const entriesMax = limits.wholeTreeEntriesMax;
  const tree = await context.disk.listTree({ real: target.real, entriesMax, signal: context.signal });
  if (!("fault" in tree)) return tree;
  if (tree.fault === "missing") throw new Problem({ code: "CHANGED", place: target });
  throw folderProblem(target, tree.fault);
}

/** Throws if the name is taken; names the path inside if a folder has it. */
export async function freeTarget(to: string, source: Target | undefined, context: ToolContext): Promise<Target> {
  const resolved = context.guard.resolve(to);
  if (resolved.seen === "missing" && resolved.target !== undefined) {
    const { target } = resolved;
    requireFileName({ ...target, asked: to.replace(/(?<=[^/\\])[/\\]+$/, "") });
    refuseDenied(target, context);
    if (!context.disk.hasName(target.real)) return target;
    throw new Problem({ code: "EXISTS", place: target, reason: "link" });
  }
  if (resolved.seen !== "node") throw await notFound(resolved, "anything", context);
  const { target, node } = resolved;
  node.handle.close();
  refuseDenied(target, context);
  if (node.kind !== "directory") throw new Problem({ code: "EXISTS", place: target, reason: "file" });
  const name = source === undefined ? undefined : nodePath.basename(source.absolute);
  const inside = name === undefined ? {} : { inside: nodePath.join(to, name) };
  throw new Problem({ code: "EXISTS", place: target, reason: "folder", ...inside });
}

export function sizeOf(tree: Tree): TreeSize {
  const of = (is: TreeEntry["is"]): readonly TreeEntry[] => tree.filter((entry) => entry.is === is);
  const bytes = of("file").reduce((sum, { identity }) => sum + identity.sizeBytes, 0);
  return {
    files: of("file").length,
    links: of("link").length,
    folders: of("folder").length - (tree[0].is === "folder" ? 1 : 0),
    bytes,
  };
}

export interface Asking {
  /** `deletes`: a question says so, and files that undo cannot bring back are counted. */
  readonly does: "deletes" | "moves" | "copies";
  readonly to?: Target;
  /** The diff of other files that change with it. */
  readonly diff?: () => string;
}

/**
 * Throws unless the session may do this with everything in the tree. `mayLose`: a person has agreed to lose what the history
 * cannot keep. Deleting that needs a question whatever the rules allow.
 */
export async function permitTree(
  uses: readonly [TreeUse, ...TreeUse[]],
  tree: Tree,
  asking: Asking,
  context: ToolContext,
): Promise<{ readonly mayLose: boolean }> {
  const [{ target }] = uses;
  const entries = tree.map(({ below, is }) => ({
    below,
    is: is === "folder" ? ("folder" as const) : ("file" as const),
  }));
  const lost = asking.does === "deletes" ? await unkeptIn(target, tree, context) : 0;
  const { does, to, diff } = asking;
  const preview = async (protectedFiles: number): Promise<Readonly<Record<string, unknown>>> => ({
    ...(does === "deletes" && { deletes: true }),
    ...(does === "moves" && to !== undefined && { movedTo: to.absolute }),
    ...(does === "copies" && { copiedFrom: target.absolute }),
    ...(diff !== undefined && { diff: diff() }),
    tree: { does, is: tree[0].is, ...sizeOf(tree), protected: protectedFiles, lost },
  });
  const { signal, dryRun } = context;
  const asked =
    does === "copies" && to !== undefined ? ([uses.at(-1) ?? uses[0], ...uses.slice(0, -1)] as const) : uses;
  try {
    await context.guard.permitTree(asked, entries, signal, { preview, dryRun, askAnyway: lost > 0 });
    return { mayLose: lost > 0 };
  } catch (error) {
    const isUnasked =
      error instanceof Problem && error.data.code === "ACCESS_DENIED" && error.data.reason === "nobody to ask";
    if (isUnasked && lost > 0) throw folderProblem(target, "not kept", lost);
    throw error;
  }
}

/** How many files the history would not keep. */
async function unkeptIn(target: Target, tree: Tree, context: ToolContext): Promise<number> {
  const past = await context.past();
  const slices = timeSlices(context.signal);
  let count = 0;
  for (const { is, below, identity } of tree) {
    if (slices.isOver()) await slices.next();
    // Without a history links and folders are gone as well, but only files have content to lose.
    if (is !== "file") continue;
    const isKept =
      past !== undefined && past.unkept(nodePath.join(target.real, below), identity.sizeBytes) === undefined;
    if (!isKept) count += 1;
  }
  return count;
}

/** The record of one entry under one name. */
export interface Recorded {
  readonly recorder: HistoryRecorder;
  readonly entry: TreeEntry;
  readonly target: Target;
  /** It has this name now, or had it. */
  readonly now: "there" | "gone";
}

export interface Recording {
  readonly all: Recorded[];
  /** Files whose content is not kept. */
  lost: number;
  undo(): Promise<void>;
  /** To be called once the change is made; the identity and mode of what is there now. */
  done(): Promise<void>;
}

export function startRecording(context: ToolContext): Recording {
  const all: Recorded[] = [];
  const each = async (work: (recorded: Recorded) => void): Promise<void> => {
    const slices = timeSlices();
    for (const recorded of all) {
      work(recorded);
      if (slices.isOver()) await slices.next();
    }
  };
  return {
    all,
    lost: 0,
    undo: () => each(({ recorder }) => recorder.undone()),
    done: () =>
      each(({ recorder, entry, target, now }) => {
        if (now === "gone") return void recorder.done(entry.identity);
        const there = context.disk.entryAt(target.real);
        if (there !== undefined) recorder.done(there.identity, there.mode);
      }),
  };
}

interface Names {
  /** Where the tree is, if it leaves that place. */
  readonly from?: Target;
  /** Where it will be. */
  readonly to?: Target;
  /** Where its content can be read. */
  readonly at: Target;
  /** Whether files keep their inode, so that the history must not share it. */
  readonly stays: boolean;
}

/**
 * Keeps every entry before the change. `mayLose` as in `permitTree`; a content that cannot be kept although that was expected
 * stops the change too.
 */
export async function record(
  recording: Recording,
  tree: Tree,
  { from, to, at, stays }: Names,
  mayLose: boolean,
  context: ToolContext,
): Promise<void> {
  const turn = await context.turn();
  if (turn === undefined) {
    recording.lost = from === undefined || to !== undefined ? 0 : sizeOf(tree).files;
    return;
  }
  const slices = timeSlices(context.signal);
  const isLossy = from !== undefined && to === undefined;
  const [sourceOf, goalOf] = [from && targetsBelow(from), to && targetsBelow(to)];
  for (const entry of tree) {
    if (slices.isOver()) await slices.next();
    const real = nodePath.join(at.real, entry.below);
    const is = entry.is === "file" ? undefined : entry.is;
    using opened = is === undefined ? openSame(real, entry, at, context) : undefined;
    const bytes = opened === undefined ? (entry.leadsTo ?? Buffer.alloc(0)) : await wholeFile(opened, smallBytesMax);
    const file = opened ?? storedFile({ bytes: bytes ?? Buffer.alloc(0), mode: entry.mode });
    const kind = entry.is === "folder" ? "folder" : "file";
    const [source, goal] = [sourceOf?.(entry.below, kind), goalOf?.(entry.below, kind)];
    const onKept = (kept: Kept): void => {
      const isLost = kept.before.kind === "file" && (kept.before.notKept !== undefined || kept.id === undefined);
      if (!isLost || !isLossy || is !== undefined) return;
      recording.lost += 1;
      if (!mayLose) throw folderProblem(at, "not kept", recording.lost);
    };
    if (source !== undefined) {
      const recorder = createRecorder(turn, source, onKept);
      recording.all.push({ recorder, entry, target: source, now: "gone" });
      const moved: { readonly moved?: Moved } = goal === undefined ? {} : { moved: { movedTo: goal.real } };
      const will = stays ? "be written in place" : "be renamed over";
      await recorder.keep({ before: { file, bytes, will, at: real, is }, after: "absent", ...moved });
    }
    if (goal !== undefined) {
      const recorder = createRecorder(turn, goal);
      recording.all.push({ recorder, entry, target: goal, now: "there" });
      const moved: { readonly moved?: Moved } = source === undefined ? {} : { moved: { movedFrom: source.real } };
      const shared = { mode: entry.mode, is };
      const after = bytes === undefined ? { ...shared, sizeBytes: entry.identity.sizeBytes } : { ...shared, bytes };
      await recorder.keep({ before: "absent", after, ...moved });
    }
  }
}

/** Contents up to this size are kept with the record of a file that appears, to recognise it and to show it. */
const smallBytesMax = 1_048_576; // local: of one record, as in state/folder/blobs.ts

/** Throws if it is no longer the listed file. */
function openSame(real: string, entry: TreeEntry, top: Target, { disk }: ToolContext) {
  const lookup = disk.lookup(real);
  if (lookup.seen !== "node") throw new Problem({ code: "CHANGED", place: top });
  using _handle = lookup.handle;
  const file = disk.open(lookup);
  if ("errno" in file) throw refusal(top, file.errno, "reading it");
  const { identity } = file;
  const isSame = identity.device === entry.identity.device && identity.inode === entry.identity.inode;
  if (isSame && identity.sizeBytes === entry.identity.sizeBytes) return file;
  file.close();
  throw new Problem({ code: "CHANGED", place: top });
}

/** Keeps folders that are about to be made, the highest first. */
export async function recordFolders(
  recording: Recording,
  folders: readonly Target[],
  context: ToolContext,
): Promise<void> {
  const turn = await context.turn();
  for (const target of turn === undefined ? [] : folders) {
    const recorder = createRecorder(turn, target);
    recording.all.push({ recorder, entry: unknownFolder, target, now: "there" });
    await recorder.keep({ before: "absent", after: { bytes: Buffer.alloc(0), is: "folder" satisfies VersionIs } });
  }
}

const unknownFolder: TreeEntry = {
  below: "",
  is: "folder",
  identity: { device: 0n, inode: 0n, sizeBytes: 0, mtimeNs: 0n, ctimeNs: 0n },
  mode: 0,
  links: 1,
};

/** The folders above a path that do not exist, the highest first. */
export function missingAbove(target: Target, context: ToolContext): readonly Target[] {
  const missing: Target[] = [];
  for (let real = nodePath.dirname(target.real); contains(target.root, real); real = nodePath.dirname(real)) {
    if (context.disk.hasName(real) || real === target.root) break;
    missing.unshift({ ...targetAt(real, "folder", context), asked: context.guard.spell(real) });
  }
  return missing;
}

/** The files of a tree as outcomes list them. */
export function changedFiles(
  tree: Tree,
  did: ChangedFile["did"],
  at: Target,
  movedFrom?: Target,
): Promise<readonly ChangedFile[]> {
  const [entryOf, entryFrom] = [targetsBelow(at), movedFrom && targetsBelow(movedFrom)];
  return mapInSlices(
    tree.filter(({ is }) => is === "file"),
    ({ below }) => ({
      target: entryOf(below, "file"),
      did,
      ...(entryFrom && { movedFrom: entryFrom(below, "file") }),
      hunks: [],
      additions: 0,
      deletions: 0,
      diffComplete: true,
      ...(did !== "moved" && { uncounted: true as const }),
      before: undefined,
      notes: [],
    }),
  );
}
