/**
 * Delete, Move, Copy and MakeFolder, of a file, a symlink as such, or a folder with everything in it:
 *
 *   find      tree.ts: the path, without following a symlink that it ends in
 *   list      disk: everything in it, through handles; other mounts, devices and too many entries are refused
 *   permit    one question for all of it; rules that deny a part refuse the whole
 *   lock      every file under each of its names
 *   list      again: what a person approved must still be there
 *   record    every entry under each of its names, so that undo brings back bytes, modes, links and empty folders
 *   change    one system call gives or takes the name; a failure leaves everything as it was
 *
 * One file that is deleted takes the way of a patch instead (change-many.ts): the question shows its lines.
 */

import { isUtf8 } from "node:buffer";
import * as nodePath from "node:path";
import { contains } from "../../contract/common.ts";
import type { ChangedFile, MatchedBy, PatchOutcome, TreeChange } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import type { NotifiedChange } from "../../contract/lsp.ts";
import { Problem } from "../../contract/problem.ts";
import type { Profile } from "../../contract/profile.ts";
import type { Target } from "../../contract/target.ts";
import { type HeldLocks, mapInSlices, runInSlices, type Tree } from "../../disk/disk.ts";
import { nothingShown } from "../../session/session.ts";
import { hunksBetween } from "../../text/text.ts";
import type { Diff, Plan, Planned } from "../change/change.ts";
import { writeProblem } from "../change/commit.ts";
import type { CurrentFile } from "../change/current-file.ts";
import { changeMany } from "../change/change-many.ts";
import { exclusively } from "../change/change-target.ts";
import { statKeyOf } from "../fingerprint.ts";
import { notifyServers, withDiagnostics } from "../languages.ts";
import type { ToolContext, Tool } from "../tool.ts";
import { importsFor, updateImports } from "./imports.ts";
import {
  changedFiles,
  targetsBelow,
  findEntry,
  folderProblem,
  freeTarget,
  listed,
  missingAbove,
  permitTree,
  record,
  recordFolders,
  type Recording,
  sizeOf,
  startRecording,
} from "./tree.ts";

export const remove: Tool<"delete"> = async ({ path, profile }, context) => {
  const { target, entry } = await findEntry(path, context);
  if (entry.is === "file") {
    const plan = await planOfDelete(target, entry.identity.sizeBytes, profile, context);
    return changeMany([{ path, does: "delete", plan, moveTo: undefined }], profile, context);
  }
  const tree = await listed(target, context);
  const { mayLose } = await permitTree([{ target, permissions: ["read", "edit"] }], tree, { does: "deletes" }, context);
  const made = await exclusively(await locked(tree, [target], context), context, async (locks) => {
    await requireSame(tree, await listed(target, context), target, context);
    const recording = startRecording(context);
    let remains: { readonly remains?: true } = {};
    if (!context.dryRun) {
      context.guard.requireWriting(target);
      const names = { from: target, at: target, stays: false };
      const keep = (): Promise<void> => record(recording, tree, names, mayLose, context);
      const { isClear } = await removeNow(tree, target, keep, recording, locks, context);
      remains = isClear ? {} : { remains: true };
      await dropAll(tree, target, context);
    }
    const change: TreeChange = {
      did: "deleted",
      is: entry.is,
      size: sizeOf(tree),
      foldersMade: [],
      notKept: recording.lost,
      ...remains,
    };
    return reported(await changedFiles(tree, "deleted", target), target, change, context);
  });
  return finished(made, context);
};

async function removeNow(
  tree: Tree,
  target: Target,
  beforeSwap: () => Promise<void>,
  recording: Recording,
  locks: HeldLocks,
  context: ToolContext,
): Promise<{ readonly isClear: boolean }> {
  const { signal } = context;
  const removed = await orUndone(recording, () =>
    context.disk.removeTree({ real: target.real, entries: tree, signal, beforeSwap }, locks),
  );
  switch (removed.did) {
    case "removed":
      await recording.done();
      return removed;
    case "unconfirmed":
      await recording.done();
      return { isClear: true };
    case "nothing":
      await recording.undo();
      throw removed.why === "changed"
        ? new Problem({ code: "CHANGED", place: target })
        : writeProblem(target, removed.errno, removed.during);
    case "damaged": {
      const during = "putting it back after a failure; the next start of Filehand tries that again";
      throw new Problem({ code: "IO_ERROR", place: target, errno: removed.errno, during });
    }
  }
}

export const move: Tool<"move"> = async ({ path, to, profile }, context) => {
  const { target, entry } = await findEntry(path, context);
  const tree = await listed(target, context);
  const goal = await freeTarget(to, target, context);
  if (contains(target.real, goal.real)) throw folderProblem(target, "into itself");
  const imports = await importsFor(tree, target, goal, context);
  const uses = [
    { target, permissions: ["read", "edit"] },
    { target: goal, permissions: ["edit"] },
    ...imports.uses,
  ] as const;
  await permitTree(uses, tree, { does: "moves", to: goal, diff: imports.diff }, context);
  const made = await exclusively(await locked(tree, [target, goal], context), context, async (locks) => {
    await requireSame(tree, await listed(target, context), target, context);
    const foldersAbove = missingAbove(goal, context);
    const recording = startRecording(context);
    if (!context.dryRun) {
      for (const one of [target, goal]) context.guard.requireWriting(one);
      await moveNow(tree, target, goal, foldersAbove, recording, locks, context);
    }
    const foldersMade = foldersAbove.map(({ asked }) => asked);
    const change: TreeChange = {
      did: "moved",
      is: entry.is,
      from: target,
      size: sizeOf(tree),
      foldersMade,
      notKept: recording.lost,
    };
    return reported(await changedFiles(tree, "moved", goal, target), goal, change, context);
  });
  const updated = await updateImports(imports, profile, context);
  const outcome = await finished(made, context);
  if (updated === undefined) return outcome;
  return { ...outcome, files: [...outcome.files, ...updated.files], tree: { ...made.tree, imports: updated.imports } };
};

async function moveNow(
  tree: Tree,
  target: Target,
  goal: Target,
  foldersAbove: readonly Target[],
  recording: Recording,
  locks: HeldLocks,
  context: ToolContext,
): Promise<void> {
  const { signal, disk } = context;
  const input = { real: target.real, to: goal.real, signal };
  const beforeSwap = async (): Promise<void> => {
    await recordFolders(recording, foldersAbove, context);
    await record(recording, tree, { from: target, to: goal, at: target, stays: true }, true, context);
  };
  const before = statKeys(tree, target, context);
  let moved = await orUndone(recording, () => disk.moveTree({ ...input, top: tree[0], beforeSwap }));
  if (moved.did === "nothing" && moved.why === "refused" && moved.errno === "EXDEV") {
    await recording.undo();
    recording.all.length = 0;
    const copied = await orUndone(recording, () =>
      disk.copyTree({ ...input, entries: tree, beforeSwap, keepsTimes: true }),
    );
    moved = copied.did === "copied" ? { did: "moved" } : copied;
    if (moved.did === "moved") await removeSource(tree, target, goal, recording, locks, context);
  }
  if (moved.did === "nothing") {
    await recording.undo();
    if (moved.why === "exists") throw new Problem({ code: "EXISTS", place: goal, reason: "file" });
    if (moved.why === "changed") throw new Problem({ code: "CHANGED", place: target });
    throw writeProblem(target, moved.errno, moved.during);
  }
  await recording.done();
  carryAll(before, goal, context);
  await dropAll(tree, target, context);
}

/** The second half of a move to another file system: if the source cannot be removed, the copy goes again. */
async function removeSource(
  tree: Tree,
  target: Target,
  goal: Target,
  recording: Recording,
  locks: HeldLocks,
  context: ToolContext,
): Promise<void> {
  const { disk, signal } = context;
  try {
    await removeNow(tree, target, async () => {}, startRecording(context), locks, context);
  } catch (error) {
    const copy = await disk.listTree({
      real: goal.real,
      entriesMax: limits.wholeTreeEntriesMax,
      signal: new AbortController().signal,
    });
    const isGone =
      "fault" in copy
        ? false
        : (await disk.removeTree({ real: goal.real, entries: copy, signal: new AbortController().signal }, locks))
            .did === "removed";
    // A copy that stays is a change of its own: its records stay as well.
    for (const { recorder, now } of recording.all) if (isGone || now === "gone") recorder.undone();
    recording.all.length = 0;
    signal.throwIfAborted();
    throw error;
  }
}

export const copy: Tool<"copy"> = async ({ path, to }, context) => {
  const { target, entry } = await findEntry(path, context);
  const tree = await listed(target, context);
  const goal = await freeTarget(to, target, context);
  if (contains(target.real, goal.real)) throw folderProblem(target, "into itself");
  const uses = [
    { target, permissions: ["read"] as const },
    { target: goal, permissions: ["edit"] as const },
  ] as const;
  await permitTree(uses, tree, { does: "copies", to: goal }, context);
  const made = await exclusively(await locked(tree, [goal], context), context, async () => {
    await requireSame(tree, await listed(target, context), target, context);
    const foldersAbove = missingAbove(goal, context);
    const recording = startRecording(context);
    const { signal, dryRun, disk } = context;
    if (!dryRun) {
      context.guard.requireWriting(goal);
      const before = statKeys(tree, target, context);
      const beforeSwap = async (): Promise<void> => {
        await recordFolders(recording, foldersAbove, context);
        await record(recording, tree, { to: goal, at: target, stays: true }, true, context);
      };
      const copied = await orUndone(recording, () =>
        disk.copyTree({ real: target.real, entries: tree, to: goal.real, signal, beforeSwap }),
      );
      if (copied.did === "nothing") {
        await recording.undo();
        if (copied.why === "exists") throw new Problem({ code: "EXISTS", place: goal, reason: "file" });
        if (copied.why === "changed") throw new Problem({ code: "CHANGED", place: target });
        throw writeProblem(goal, copied.errno, copied.during);
      }
      await recording.done();
      carryAll(before, goal, context);
    }
    const foldersMade = foldersAbove.map(({ asked }) => asked);
    const change: TreeChange = {
      did: "copied",
      is: entry.is,
      from: target,
      size: sizeOf(tree),
      foldersMade,
      notKept: 0,
    };
    return reported(await changedFiles(tree, "created", goal), goal, change, context);
  });
  return finished(made, context);
};

export const makeFolder: Tool<"make-folder"> = async ({ path }, context) => {
  const { guard, disk, dryRun, signal } = context;
  const size = { files: 0, links: 0, folders: 0, bytes: 0 };
  const there = folderAt(path, context);
  if (there !== undefined) {
    await guard.permit("read", there, signal);
    const tree: TreeChange = { did: "made", is: "folder", size, foldersMade: [], wasThere: true, notKept: 0 };
    return finished({ files: [], target: there, tree, notified: undefined }, context);
  }
  const found = await freeTarget(path, undefined, context);
  const target: Target = { ...found, is: "folder" };
  const preview = async () => ({ tree: { does: "makes", is: "folder", ...size, protected: 0, lost: 0 } });
  await guard.permit("edit", target, signal, { preview, dryRun });
  const madeNow = await exclusively([target], context, async () => {
    const above = missingAbove(target, context);
    const recording = startRecording(context);
    if (!dryRun) {
      guard.requireWriting(target);
      const beforeSwap = (): Promise<void> => recordFolders(recording, [...above, target], context);
      const made = await orUndone(recording, () => disk.makeEntry({ real: target.real, beforeSwap }));
      if (made.did === "nothing") {
        await recording.undo();
        if (made.why === "exists") throw new Problem({ code: "EXISTS", place: target, reason: "file" });
        if (made.why === "changed") throw new Problem({ code: "CHANGED", place: target });
        throw writeProblem(target, made.errno, made.during);
      }
      await recording.done();
    }
    const foldersMade = above.map(({ asked }) => asked);
    return reported([], target, { did: "made", is: "folder", size, foldersMade, notKept: 0 }, context);
  });
  return finished(madeNow, context);
};

function folderAt(path: string, context: ToolContext): Target | undefined {
  const resolved = context.guard.resolve(path);
  if (resolved.seen !== "node") return undefined;
  resolved.node.handle.close();
  return resolved.node.kind === "directory" ? resolved.target : undefined;
}

/** Every name of every file, and the names of the tree itself. */
async function locked(
  tree: Tree,
  [first, ...others]: readonly [Target, ...Target[]],
  { signal }: ToolContext,
): Promise<[Target, ...Target[]]> {
  const all: [Target, ...Target[]] = [first, ...others];
  const files = tree.filter(({ is, below }) => is === "file" && below !== "");
  for (const entryOf of [first, ...others].map(targetsBelow)) {
    await mapInSlices(files, ({ below }) => all.push(entryOf(below, "file")), signal);
  }
  return all;
}

/** What was permitted, and shown in a question, is what is changed. */
async function requireSame(then: Tree, now: Tree, place: Target, { signal }: ToolContext): Promise<void> {
  const keyOf = ({ below, is, identity }: Tree[number]): string =>
    is === "file" ? `${below}\0${statKeyOf(identity)}` : `${below}\0${is}\0${identity.inode}`;
  const known = new Set(await mapInSlices(then, keyOf, signal));
  const isKnown = await mapInSlices(now, (entry) => known.has(keyOf(entry)), signal);
  if (then.length === now.length && !isKnown.includes(false)) return;
  throw new Problem({ code: "CHANGED", place });
}

async function orUndone<Result>(recording: Recording, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    await recording.undo();
    throw error;
  }
}

/** Of the files that the session has seen: their old path, the path below the top, and the stat key. */
const statKeys = (tree: Tree, target: Target, { ledger }: ToolContext) =>
  tree.flatMap(({ is, below, identity }) => {
    const real = nodePath.join(target.real, below);
    return is === "file" && ledger.has(real) ? [{ real, below, statKey: statKeyOf(identity) }] : [];
  });

/** What was shown under the old name counts as shown under the new one. */
function carryAll(seen: ReturnType<typeof statKeys>, goal: Target, { ledger, disk }: ToolContext): void {
  for (const { real, below, statKey } of seen) {
    const to = nodePath.join(goal.real, below);
    const there = disk.entryAt(to);
    if (there !== undefined) ledger.carry(real, to, statKey, statKeyOf(there.identity));
  }
}

async function dropAll(tree: Tree, target: Target, { ledger }: ToolContext): Promise<void> {
  const entryOf = targetsBelow(target);
  await mapInSlices(tree, ({ is, below }) => is === "file" && ledger.drop(entryOf(below, is).real));
}

interface Made {
  readonly files: readonly ChangedFile[];
  readonly target: Target;
  readonly tree: TreeChange;
  readonly notified: NotifiedChange | undefined;
}

/** Tells language servers, while the files are still locked. */
async function reported(
  files: readonly ChangedFile[],
  target: Target,
  tree: TreeChange,
  context: ToolContext,
): Promise<Made> {
  // A server is sent no more files than it has open at once; that files are gone is short.
  const some = tree.did === "deleted" ? files : files.slice(0, limits.languageDocumentsMax);
  return { files, target, tree, notified: await notifyServers(some, context) };
}

/** Tells the host, and lists the first files. */
async function finished({ files, target, tree, notified }: Made, context: ToolContext): Promise<PatchOutcome> {
  const exact: MatchedBy = "exact";
  const all = await withDiagnostics(files, notified, context);
  const listedFiles = all.slice(0, limits.wholeTreeFilesListedMax);
  return { kind: "patch", target, files: listedFiles, matchedBy: exact, tree, dryRun: context.dryRun };
}

/** Deletes a file of any kind; its content only matters for the diff. */
async function planOfDelete(
  target: Target,
  sizeBytes: number,
  profile: Profile,
  context: ToolContext,
): Promise<Plan<MatchedBy>> {
  const past = await context.past();
  // What undo brings back need not have been read first.
  const isKept = past !== undefined && past.unkept(target.real, sizeBytes) === undefined;
  const there = (current: CurrentFile): Promise<Planned<MatchedBy>> => planned(current, context.signal);
  return { wants: "bytes", profile, overwrites: false, there, ...(isKept && { unseen: "unless changed" }) };
}

const noDiff: Diff = { hunks: [], additions: 0, deletions: 0, complete: true };

async function planned({ bytes }: CurrentFile, signal: AbortSignal): Promise<Planned<MatchedBy>> {
  const gone = { notes: [], extra: "exact", pieces: [], removes: true, wrote: nothingShown } as const;
  const isText = bytes !== undefined && isUtf8(bytes) && !bytes.includes(0);
  if (!isText) return { ...gone, diff: { ...noDiff, complete: false, uncounted: true }, before: undefined };
  const text = bytes.toString("utf8");
  return { ...gone, diff: await runInSlices(hunksBetween(text, ""), signal), before: text };
}
