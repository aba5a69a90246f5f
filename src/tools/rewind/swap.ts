/** Restores one file of a rewind, if it is unchanged since the plan and its current content can be kept in the history. */

import type { Piece } from "../../contract/edit.ts";
import type { FileVersion, Loss, RewindAction, RewindStep, RewoundFile } from "../../contract/history.ts";
import { limits } from "../../contract/limits.ts";
import { Problem } from "../../contract/problem.ts";
import type { Target } from "../../contract/target.ts";
import { hashOf, type TreeEntry, wholeFile } from "../../disk/disk.ts";
import { refusal } from "../../guard/guard.ts";
import { type Kept, lossReasons, storedFile } from "../../history/history.ts";
import type { Planned as Change } from "../change/change.ts";
import { commit, commitNew, commitRemoval } from "../change/commit.ts";
import type { Prepared } from "../change/prepare.ts";
import { type ChangeTarget, exclusively, handleOf, resolveChangeTarget } from "../change/change-target.ts";
import { createRecorder, type Turn } from "../change/history-recorder.ts";
import { targetAt } from "../files/tree.ts";
import { statKeyOf } from "../fingerprint.ts";
import { isEntryAction } from "./ask.ts";
import { type ToolContext, orFileUnreadable } from "../tool.ts";

const cancelled = { came: { problem: { code: "CANCELLED", tool: "Rewind" } } } as const;

interface Swap {
  readonly path: string;
  readonly action: RewindAction;
  /** The stat key that the plan is based on; "absent" if there was no file. */
  readonly seen: string | undefined;
  readonly force: boolean;
  /** The files, without their times, that this rewind has restored under one of their names. */
  readonly restored: Set<string>;
}

type Attempted =
  | { readonly came: RewoundFile["came"]; readonly lost?: Loss | undefined; readonly isRecorded?: boolean }
  | { readonly step: RewindStep; readonly isRecorded?: undefined };

/** The current content cannot be kept, and the call has no `force`. */
class WouldBeLost extends Error {
  override readonly name = "WouldBeLost";
  readonly loss: Loss;
  readonly version: FileVersion;
  constructor(loss: Loss, version: FileVersion) {
    super("What is there could not be kept");
    this.loss = loss;
    this.version = version;
  }
}

/** Never throws for a file that cannot be restored, so that the others are. */
export async function restoreFile(swap: Swap, turn: Turn, context: ToolContext): Promise<Attempted> {
  const { signal } = context;
  if (signal.aborted) return cancelled;
  let kept: Kept | undefined;
  const onKept = (now: Kept): void => {
    kept = now;
    const loss = lossOf(now);
    if (loss !== undefined && !swap.force) throw new WouldBeLost(loss, now.before);
  };
  try {
    await orFileUnreadable(swap.path, () => restore(swap, onKept, turn, context));
    return { came: "done", lost: lossOf(kept), isRecorded: kept?.id !== undefined };
  } catch (error) {
    if (error instanceof NotEmpty) return { step: { does: "unavailable", why: "not empty" } };
    if (error instanceof WouldBeLost) return { step: conflictOf(error, swap.action) };
    if (error instanceof Problem) return { came: { problem: error.data } };
    if (signal.aborted && error === signal.reason) return cancelled;
    throw error;
  }
}

/** A stored content without a record counts as lost too. */
function lossOf(kept: Kept | undefined): Loss | undefined {
  if (kept?.before.kind !== "file") return undefined;
  const { id, before, failed } = kept;
  const why = before.notKept ?? (id === undefined ? "failed" : undefined);
  if (why === undefined) return undefined;
  return { why, ...(why === "failed" && failed !== undefined ? { detail: failed } : {}) };
}

function conflictOf({ loss, version }: WouldBeLost, action: RewindAction): RewindStep {
  const base: FileVersion = action.does === "delete" ? { kind: "absent" } : versionOf(action);
  const why = lossReasons[loss.why];
  return { does: "conflict", why, base, ours: version, theirs: undefined, forced: action, loses: loss };
}

const versionOf = ({ does: _does, ...content }: Exclude<RewindAction, { readonly does: "delete" }>): FileVersion => ({
  kind: "file",
  ...content,
});

async function restore(
  { path, action, seen, restored }: Swap,
  onKept: (kept: Kept) => void,
  turn: Turn,
  context: ToolContext,
): Promise<void> {
  if (isEntryAction(action)) return restoreEntry({ path, action, seen }, onKept, turn, context);
  const first = await resolveChangeTarget(path, context);
  handleOf(first)?.close();
  await exclusively([first.target], context, async () => {
    const changeTarget = await resolveChangeTarget(path, context);
    using _handle = handleOf(changeTarget);
    const { target } = changeTarget;
    // The file changed since the plan, or the path now leads through a symlink.
    const now = stateOf(changeTarget);
    // A hard link of it was replaced: that changes the ctime here.
    const isSame =
      now === seen || (seen !== undefined && restored.has(timeless(now)) && timeless(now) === timeless(seen));
    if (!isSame || target.real !== path) {
      if (target.real === path && (await isAlready(changeTarget, action, context))) return;
      throw new Problem({ code: "STALE", place: target, reason: "while changing it" });
    }
    await apply(changeTarget, action, onKept, turn, context);
    if (seen !== undefined) restored.add(timeless(seen));
    // The session has not seen the restored content.
    context.ledger.drop(target.real);
  });
}

/** A stat key without the ctime. */
const timeless = (statKey: string): string => statKey.slice(0, statKey.lastIndexOf(":"));

/** Another name of the same file was restored before: with it came this one. */
async function isAlready(changeTarget: ChangeTarget, action: RewindAction, context: ToolContext): Promise<boolean> {
  if (changeTarget.is === "new" || action.does === "delete" || action.is !== undefined) return false;
  const opened = context.disk.open(changeTarget.node);
  if ("errno" in opened) return false;
  using file = opened;
  if (file.sizeBytes !== action.sizeBytes || (action.mode !== undefined && action.mode !== file.mode)) return false;
  const bytes = await wholeFile(file, limits.editInMemoryBytesMax);
  return bytes !== undefined && hashOf(bytes).toString("hex") === action.content;
}

/** A folder's times change with what is in it. */
export const entryKeyOf = ({ is, identity }: TreeEntry): string =>
  is === "folder" ? `folder ${identity.device}:${identity.inode}` : statKeyOf(identity);

/** The folder has something in it that is not to be removed. */
class NotEmpty extends Error {
  override readonly name = "NotEmpty";
}

/** Restores, makes or removes a symlink or a folder, or puts one where the session left something else. */
async function restoreEntry(
  { path, action, seen }: Pick<Swap, "path" | "action" | "seen">,
  onKept: (kept: Kept) => void,
  turn: Turn,
  context: ToolContext,
): Promise<void> {
  const target = targetAt(path, "file", context);
  await exclusively([target], context, async () => {
    context.guard.requireWriting(target);
    const entry = context.disk.entryAt(path);
    if ((entry === undefined ? "absent" : entryKeyOf(entry)) !== seen)
      throw new Problem({ code: "STALE", place: target, reason: "while changing it" });
    if (entry?.is === "folder" && action.is === "folder" && action.does !== "delete") {
      await giveMode(entry, action.mode ?? entry.mode, target, onKept, turn, context);
      return;
    }
    if (entry?.is === "file") {
      const changeTarget = await resolveChangeTarget(path, context);
      using _handle = handleOf(changeTarget);
      await apply(changeTarget, { does: "delete" }, onKept, turn, context);
    } else if (entry !== undefined) await removeEntry(entry, target, onKept, turn, context);
    if (action.does === "delete") return;
    if (action.is === undefined) {
      const changeTarget = await resolveChangeTarget(path, context);
      using _handle = handleOf(changeTarget);
      await apply(changeTarget, action, onKept, turn, context);
      return;
    }
    const opened = await turn.history.open(action.content);
    if (typeof opened === "string") throw new Problem({ code: "NO_TURN", asked: target.asked, reason: "content gone" });
    using kept = opened;
    const bytes = (await wholeFile(kept, limits.pathBytesMax)) ?? Buffer.alloc(0);
    const { is, mode } = action;
    const recorder = createRecorder(turn, target, onKept);
    const beforeSwap = (): Promise<void> => recorder.keep({ before: "absent", after: { bytes, is, mode } });
    const made = await context.disk.makeEntry({
      real: path,
      mode,
      beforeSwap,
      ...(is === "link" && { leadsTo: bytes }),
    });
    if (made.did === "nothing") {
      recorder.undone();
      if (made.why === "refused") throw refusal(target, made.errno, made.during);
      throw new Problem({ code: "STALE", place: target, reason: "while changing it" });
    }
    const there = context.disk.entryAt(path);
    if (there !== undefined) recorder.done(there.identity, there.mode);
  });
}

async function giveMode(
  entry: TreeEntry,
  mode: number,
  target: Target,
  onKept: (kept: Kept) => void,
  turn: Turn,
  context: ToolContext,
): Promise<void> {
  const recorder = createRecorder(turn, target, onKept);
  const bytes = Buffer.alloc(0);
  const file = storedFile({ bytes, mode: entry.mode });
  const before = { file, bytes, will: "be written in place", is: "folder" } as const;
  const beforeSwap = (): Promise<void> => recorder.keep({ before, after: { bytes, is: "folder", mode } });
  const changed = await context.disk.changeFolderMode({ real: target.real, entry, mode, beforeSwap });
  if (changed.did !== "nothing") return void recorder.done(entry.identity, mode);
  recorder.undone();
  if (changed.why === "changed") throw new Problem({ code: "STALE", place: target, reason: "while changing it" });
  throw refusal(target, changed.errno, changed.during);
}

async function removeEntry(
  entry: TreeEntry,
  target: Target,
  onKept: (kept: Kept) => void,
  turn: Turn,
  context: ToolContext,
): Promise<void> {
  const recorder = createRecorder(turn, target, onKept);
  const { leadsTo: bytes = Buffer.alloc(0), mode } = entry;
  const is = entry.is === "folder" ? "folder" : "link";
  const file = storedFile({ bytes, mode });
  const before = { file, bytes, will: "be written in place", is } as const;
  const beforeSwap = (): Promise<void> => recorder.keep({ before, after: "absent" });
  const removed = await context.disk.removeEntry({ real: target.real, entry, beforeSwap });
  if (removed.did !== "nothing") return void recorder.done(entry.identity);
  recorder.undone();
  if (removed.why === "changed") throw new Problem({ code: "STALE", place: target, reason: "while changing it" });
  if (["ENOTEMPTY", "EEXIST"].includes(removed.errno)) throw new NotEmpty();
  throw refusal(target, removed.errno, removed.during);
}

const stateOf = (changeTarget: ChangeTarget): string =>
  changeTarget.is === "new" ? "absent" : statKeyOf(changeTarget.node.handle.identity);

async function apply(
  changeTarget: ChangeTarget,
  action: RewindAction,
  onKept: (kept: Kept) => void,
  turn: Turn,
  context: ToolContext,
): Promise<void> {
  const { target } = changeTarget;
  const recorder = createRecorder(turn, target, onKept);
  if (action.does === "delete") {
    if (changeTarget.is === "new") return;
    await withOld(changeTarget, { pieces: [] }, context, (prepared) => commitRemoval(prepared, recorder, context));
    return;
  }
  const opened = await turn.history.open(action.content);
  if (typeof opened === "string") throw new Problem({ code: "NO_TURN", asked: target.asked, reason: "content gone" });
  using kept = opened;
  // Undefined for a large file, which is copied in chunks instead.
  const bytes = await wholeFile(kept, limits.editInMemoryBytesMax);
  const { mode } = action;
  if (changeTarget.is === "new") {
    const given = mode === undefined ? {} : { mode };
    await commitNew({ is: "new", target, bytes: bytes ?? kept, ...given, ...blank }, recorder, context);
    return;
  }
  const whole: Piece = bytes ?? { from: 0, to: kept.sizeBytes };
  const pieces = kept.sizeBytes === 0 ? [] : [whole];
  const planned = { pieces, source: bytes === undefined ? kept : undefined, mode };
  await withOld(changeTarget, planned, context, (prepared) => commit(prepared, recorder, context));
}

const blank = { diff: { hunks: [], additions: 0, deletions: 0, complete: false }, extra: undefined } as const;

async function withOld(
  changeTarget: Extract<ChangeTarget, { readonly is: "there" }>,
  plan: Pick<Change<undefined>, "pieces" | "source" | "mode">,
  context: ToolContext,
  work: (prepared: Extract<Prepared<undefined>, { readonly is: "there" }>) => Promise<unknown>,
): Promise<void> {
  const { target, node } = changeTarget;
  const opened = context.disk.open(node);
  if ("errno" in opened) throw refusal(target, opened.errno, "opening it");
  using file = opened;
  const old = await wholeFile(file, limits.editInMemoryBytesMax);
  const planned = { ...plan, before: undefined, notes: [], wrote: "all", ...blank } as const;
  await work({ is: "there", target, changeTarget, file, old, planned, ...blank, remember: undefined });
}
