/**
 * Move and Delete, of a file or a folder with its content. A folder is moved with one system call, so that it is never half
 * moved; every file in it is permitted, locked and recorded under both of its names before.
 */

import { isUtf8 } from "node:buffer";
import * as nodePath from "node:path";
import { HandleStack, runInSlices, kindOfEntry, type MoveInput } from "../../disk/disk.ts";
import { contains } from "../../contract/common.ts";
import type { ChangedFile, ChangeNote, MatchedBy, PatchOutcome } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import { type FolderFault, Problem } from "../../contract/problem.ts";
import type { Profile } from "../../contract/profile.ts";
import type { RealPath, Target } from "../../contract/target.ts";
import { refusal } from "../../guard/guard.ts";
import { nothingShown } from "../../session/session.ts";
import { compareCodePoints, hunksBetween } from "../../text/text.ts";
import { type Diff, permitChange, type Plan, type Planned } from "../change/change.ts";
import { hashIfSmall, rememberWrite } from "../change/commit.ts";
import type { CurrentFile } from "../change/current-file.ts";
import { diffText, changedFileOf, prepare, type Prepared } from "../change/prepare.ts";
import { changeMany, type FilePlan, refuseLink } from "../change/change-many.ts";
import { exclusively, refuseDenied, handleOf, resolveChangeTarget } from "../change/change-target.ts";
import { type HistoryRecorder, createRecorder } from "../change/history-recorder.ts";
import { knownAfter, shownOf } from "../edit/edit-text.ts";
import { folderAgain } from "../ignored-at.ts";
import { notifyServers } from "../languages.ts";
import { type Located, locatePermitted, notFound } from "../locate.ts";
import type { ToolContext, Tool } from "../tool.ts";

export const move: Tool<"move"> = async ({ path, to, profile }, context) => {
  const located = await locatePermitted(path, "anything", context);
  using handle = located.node.handle;
  await refuseLink(located.target, "be moved", context);
  const destination = await destinationOf(to, context);
  if (located.node.kind === "directory") return await moveFolder(located, destination, profile, context);
  handle.close();
  const plan = planOfBytes("move", profile, context);
  return changeMany([{ path, does: "update", plan, moveTo: to }], profile, context);
};

/** Throws if the name is taken. */
async function destinationOf(to: string, context: ToolContext): Promise<Target> {
  const resolved = context.guard.resolve(to);
  if (resolved.seen === "missing" && resolved.target !== undefined) return resolved.target;
  if (resolved.seen !== "node") throw await notFound(resolved, "anything", context);
  const { target, node } = resolved;
  node.handle.close();
  refuseDenied(target, context);
  const reason = node.kind === "directory" ? "folder" : "file";
  throw new Problem({ code: "EXISTS", place: target, reason });
}

interface Pair {
  readonly path: string;
  readonly target: Target;
  readonly destination: Target;
  /** The diff that a person approved, if a person was asked. */
  readonly approved: string | undefined;
}

async function moveFolder(
  located: Located,
  destination: Target,
  profile: Profile,
  context: ToolContext,
): Promise<PatchOutcome> {
  const { target } = located;
  const { files, links } = await folderFiles(target, context);
  if (contains(target.real, destination.real)) {
    throw new Problem({ code: "INVALID_PARAM", reason: "folder", place: target, fault: "into itself" });
  }
  const paths = files.map(
    (file) => [nodePath.join(target.asked, file), nodePath.join(destination.asked, file)] as const,
  );
  const { dryRun, signal } = context;
  if (paths.length === 0) {
    for (const one of [target, destination]) await context.guard.permit("edit", one, signal, { dryRun });
  }
  // A symlink is moved as it is, but programs may run or read its target under the new name, so it needs permission too.
  for (const link of links) await permitLink(entryOf(target, link), entryOf(destination, link), context);
  const pairs: Pair[] = [];
  for (const [path, to] of paths) pairs.push(await permitPair(path, to, profile, context));
  // The folder's own two names are locked too, so that two moves of one folder run one after the other.
  const locked: [Target, ...Target[]] = [target, destination, ...pairs.flatMap((one) => [one.target, one.destination])];
  const moved = await exclusively(locked, context, () => moveNow(located, destination, pairs, profile, context));
  const exact: MatchedBy = "exact";
  return { kind: "patch", target: destination, files: moved, matchedBy: exact, foldersLeft: [], dryRun };
}

/** The target of an entry, without a lookup: a symlink is not followed. */
function entryOf(folder: Target, below: string): Target {
  const at = (path: string): string => nodePath.join(path, below);
  const slashed = below.split(nodePath.sep).join("/");
  return {
    asked: at(folder.asked),
    absolute: at(folder.absolute),
    relative: folder.relative === "" ? slashed : `${folder.relative}/${slashed}`,
    real: at(folder.real) as RealPath,
    realRelative: folder.realRelative === "" ? slashed : `${folder.realRelative}/${slashed}`,
    root: folder.root,
    is: "file",
  };
}

async function permitLink(target: Target, destination: Target, context: ToolContext): Promise<void> {
  const { guard, signal, dryRun } = context;
  const [to, from] = [{ movedTo: destination.absolute }, { movedFrom: target.absolute }];
  await guard.permit("edit", target, signal, { preview: async () => to, dryRun });
  await guard.permit("edit", destination, signal, { preview: async () => from, dryRun });
}

async function permitPair(path: string, to: string, profile: Profile, context: ToolContext): Promise<Pair> {
  const changeTarget = await resolveChangeTarget(path, context);
  const { target } = changeTarget;
  using _handle = handleOf(changeTarget);
  const approved = await permitChange(changeTarget, planOfBytes("move", profile, context), context);
  const destination = await destinationOf(to, context);
  const preview = async () => ({ diff: approved ?? "", movedFrom: target.absolute });
  const { signal, dryRun } = context;
  await context.guard.permit("edit", destination, signal, { preview, dryRun });
  return { path, target, destination, approved };
}

interface Ready extends Pair {
  readonly prepared: Extract<Prepared<MatchedBy>, { readonly is: "there" }>;
}

async function moveNow(
  { target, node }: Located,
  destination: Target,
  pairs: readonly Pair[],
  profile: Profile,
  context: ToolContext,
): Promise<readonly ChangedFile[]> {
  const ready: Ready[] = [];
  using handles = new HandleStack();
  for (const pair of pairs) {
    const changeTarget = await resolveChangeTarget(pair.path, context);
    handles.use(handleOf(changeTarget));
    if (changeTarget.target.real !== pair.target.real) throw new Problem({ code: "CHANGED", place: pair.target });
    const prepared = await prepare(changeTarget, planOfBytes("move", profile, context), context);
    if (prepared.is === "new") throw new Problem({ code: "CHANGED", place: pair.target });
    handles.use(prepared.file);
    ready.push({ ...pair, prepared });
    const isApproved = pair.approved === undefined || pair.approved === diffText(prepared);
    if (!isApproved) throw new Problem({ code: "CHANGED", place: pair.target });
  }
  context.signal.throwIfAborted();
  if (context.dryRun) return ready.map((one) => shownAs(one, []));
  for (const one of [target, destination]) context.guard.requireWriting(one);
  const recorders = new Map<Ready, Recorders>();
  const beforeSwap = async (): Promise<void> => {
    for (const one of ready) recorders.set(one, await keep(one, context));
    handles[Symbol.dispose](); // Windows moves no folder in which files are open
  };
  const input = { node, to: destination.real, signal: context.signal, beforeSwap };
  await swap(input, [target, destination], recorders, context);
  const moved = ready.map((one) => shownAs(one, finished(one, recorders.get(one), context)));
  await notifyServers(moved, context);
  return moved;
}

type Recorders = readonly [HistoryRecorder, HistoryRecorder];

/** Records the content although it does not change: undoing the turn creates the file again at its old place. */
async function keep({ target, destination, prepared }: Ready, context: ToolContext): Promise<Recorders> {
  const { file, old } = prepared;
  const recorders: Recorders = [
    createRecorder(await context.turn(), target),
    createRecorder(await context.turn(), destination),
  ];
  // "be written in place" makes the history copy the content: a hard link would share the file that lives on.
  const before = { file, bytes: old, will: "be written in place", at: target.real } as const;
  await recorders[0].keep({ before, after: "absent", moved: { movedTo: destination.real } });
  const after = old === undefined ? { sizeBytes: file.sizeBytes, mode: file.mode } : { bytes: old, mode: file.mode };
  await recorders[1].keep({ before: "absent", after, moved: { movedFrom: target.real } });
  return recorders;
}

async function swap(
  input: MoveInput,
  [target, destination]: readonly [Target, Target],
  recorders: ReadonlyMap<Ready, Recorders>,
  context: ToolContext,
): Promise<void> {
  try {
    const moved = await context.disk.moveFolder(input);
    if (moved.did !== "nothing") return;
    if (moved.why === "exists") throw new Problem({ code: "EXISTS", place: destination, reason: "folder" });
    if (moved.why === "changed") throw new Problem({ code: "CHANGED", place: target });
    throw refusal(target, moved.errno, moved.during);
  } catch (error) {
    for (const recorder of [...recorders.values()].flat()) recorder.undone();
    throw error;
  }
}

/** The session knows the file under its new name as well as it did under the old one. */
function finished(
  { target, destination, prepared }: Ready,
  recorders: Recorders | undefined,
  context: ToolContext,
): readonly ChangeNote[] {
  context.ledger.drop(target.real);
  const lookup = context.disk.lookup(destination.real);
  if (lookup.seen !== "node") return [];
  using handle = lookup.handle;
  const { identity } = handle;
  const { old, planned } = prepared;
  rememberWrite(destination, identity, hashIfSmall(old), planned.wrote, context, undefined, old);
  return recorders?.flatMap((recorder) => recorder.done(identity, prepared.file.mode)) ?? [];
}

function shownAs({ prepared, destination, target }: Ready, notes: readonly ChangeNote[]): ChangedFile {
  return { ...changedFileOf(prepared, notes), did: "moved", target: destination, movedFrom: target };
}

/** Deletes all files or none, as in a patch; then the empty folders. */
export const remove: Tool<"delete"> = async ({ path, profile }, context) => {
  const { target, node } = await locatePermitted(path, "anything", context);
  node.handle.close();
  await refuseLink(target, "be deleted", context);
  return node.kind === "directory"
    ? removeFolder(target, profile, context)
    : changeMany([partOf(path, profile, context)], profile, context);
};

const partOf = (path: string, profile: Profile, context: ToolContext): FilePlan => ({
  path,
  does: "delete",
  plan: planOfBytes("delete", profile, context),
  moveTo: undefined,
});

async function removeFolder(target: Target, profile: Profile, context: ToolContext): Promise<PatchOutcome> {
  const { files, folders, links } = await folderFiles(target, context);
  // The history cannot bring back a symlink.
  if (links.length > 0) throw new Problem({ code: "INVALID_PARAM", reason: "folder", place: target, fault: "links" });
  const [first, ...others] = files.map((file) => partOf(nodePath.join(target.asked, file), profile, context));
  const { dryRun, signal } = context;
  if (first === undefined) await context.guard.permit("edit", target, signal, { dryRun });
  const exact: MatchedBy = "exact";
  const nothing = { kind: "patch", files: [], matchedBy: exact, dryRun } as const;
  // The folders are removed after the files, so the call stays in the call queue until then.
  const queued: ToolContext = { ...context, leaveQueue: () => undefined };
  const outcome = first === undefined ? nothing : await changeMany([first, ...others], profile, queued);
  const foldersLeft: string[] = [];
  for (const folder of dryRun ? [] : folders) {
    context.guard.requireWriting(target);
    const real = nodePath.join(target.real, folder);
    const removed = await context.disk.removeFolder(real);
    if (removed.did === "nothing") foldersLeft.push(nodePath.join(target.asked, folder));
  }
  return { ...outcome, target, foldersLeft };
}

/** Everything in a folder, hidden and ignored files included. */
interface FolderFiles {
  readonly files: readonly string[];
  /** The folders below it, and the folder itself last: each before its parent. */
  readonly folders: readonly string[];
  readonly links: readonly string[];
}

/** Throws if the folder contains something that the session may not change. */
async function folderFiles(folder: Target, context: ToolContext): Promise<FolderFiles> {
  const refuse = (fault: FolderFault): Problem =>
    new Problem({ code: "INVALID_PARAM", reason: "folder", place: folder, fault });
  if (context.disk.roots.some(({ real }) => contains(folder.real, real))) throw refuse("root");
  const files: string[] = [];
  const folders: string[] = [];
  const links: string[] = [];
  const todo = [""];
  for (let below = todo.pop(); below !== undefined; below = todo.pop()) {
    context.signal.throwIfAborted();
    folders.push(below);
    for (const entry of await entriesOf(nodePath.join(folder.real, below), context, refuse)) {
      const path = below === "" ? entry.name : nodePath.join(below, entry.name);
      const kind = kindOfEntry(entry);
      const is = kind === "directory" ? "folder" : "file";
      const names = [nodePath.join(folder.real, path), nodePath.join(folder.absolute, path)];
      // The error must not name a denied entry.
      if ((["read", "edit"] as const).some((one) => context.guard.denied(one, names, is) !== undefined)) {
        throw refuse("hidden by rules");
      }
      if (kind === "directory") todo.push(path);
      else if (kind !== "file" && kind !== "link") throw refuse("special");
      else (kind === "link" ? links : files).push(path);
      if (files.length + links.length > limits.folderFilesMax) throw refuse("too many");
    }
    if (folders.length > limits.folderFilesMax) throw refuse("too many");
  }
  return { files: files.sort(compareCodePoints), folders: folders.toSorted(deepestFirst), links };
}

async function entriesOf(real: string, context: ToolContext, refuse: (fault: FolderFault) => Problem) {
  using walked = folderAgain(real, context);
  if (walked === undefined) throw refuse("unreadable");
  const entries = await walked.entries();
  if ("errno" in entries) throw refuse("unreadable");
  return entries;
}

const depthOf = (path: string): number => (path === "" ? 0 : path.split(nodePath.sep).length);

const deepestFirst = (a: string, b: string): number => depthOf(b) - depthOf(a);

/** Deletes or moves a file of any kind; its content only matters for the diff. */
const planOfBytes = (does: "delete" | "move", profile: Profile, { signal }: ToolContext): Plan<MatchedBy> => ({
  wants: "bytes",
  profile,
  overwrites: false,
  there: (current) => planned(current, does, signal),
});

const noDiff: Diff = { hunks: [], additions: 0, deletions: 0, complete: true };

async function planned(
  current: CurrentFile,
  does: "delete" | "move",
  signal: AbortSignal,
): Promise<Planned<MatchedBy>> {
  const { bytes, target, seen } = current;
  if (bytes === undefined) {
    const limit = `${limits.editInMemoryBytesMax / 1_048_576} MB`;
    throw new Problem({ code: "TOO_LARGE", place: target, kind: "text", limit });
  }
  const shared = { notes: [], extra: "exact" } as const;
  if (does === "move") {
    const wrote = knownAfter(current, shownOf(seen));
    return { ...shared, pieces: [bytes], diff: noDiff, before: undefined, wrote };
  }
  const isText = isUtf8(bytes) && !bytes.includes(0);
  const gone = { ...shared, pieces: [], removes: true, wrote: nothingShown } as const;
  if (!isText) return { ...gone, diff: { ...noDiff, complete: false, uncounted: true }, before: undefined };
  const text = bytes.toString("utf8");
  return { ...gone, diff: await runInSlices(hunksBetween(text, ""), signal), before: text };
}
