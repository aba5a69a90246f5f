/** One file of a rewind: it becomes what it was, if it still is what the plan was made for and what is there can be kept. */

import type { Piece } from "../../contract/edit.ts";
import type { FileVersion, Loss, RewindAction, RewindStep, RewoundFile } from "../../contract/history.ts";
import { limits } from "../../contract/limits.ts";
import { Problem } from "../../contract/problem.ts";
import { wholeFile } from "../../disk/disk.ts";
import { refusal } from "../../guard/guard.ts";
import { type Kept, lossReasons } from "../../history/history.ts";
import type { Planned as Change } from "../change/change.ts";
import { commit, commitNew, commitRemoval } from "../change/commit.ts";
import type { Prepared } from "../change/prepare.ts";
import { exclusively, type ChangeTarget, resolveChangeTarget } from "../change/change-target.ts";
import { createRecorder, type Turn } from "../change/history-recorder.ts";
import { statKeyOf } from "../fingerprint.ts";
import { type ToolContext, orFileUnreadable } from "../tool.ts";
import { release } from "./ask.ts";

const cancelled = { came: { problem: { code: "CANCELLED", tool: "Rewind" } } } as const;

interface Swap {
  readonly path: string;
  readonly action: RewindAction;
  /** What the file was known by when it was planned for. */
  readonly seen: string | undefined;
  /** Also if what is there cannot be kept. */
  readonly force: boolean;
}

type Attempted =
  | { readonly came: RewoundFile["came"]; readonly lost?: Loss | undefined; readonly isRecorded?: boolean }
  /** It was left, and this is what it turned out to be. */
  | { readonly step: RewindStep; readonly isRecorded?: undefined };

/** What is there could not be kept, and nobody said that it may be lost. */
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

/** One file that cannot be brought back does not keep the others from it. */
export async function attempt(swap: Swap, turn: Turn, context: ToolContext): Promise<Attempted> {
  const { signal } = context;
  if (signal.aborted) return cancelled;
  let kept: Kept | undefined;
  const onKept = (now: Kept): void => {
    kept = now;
    const loss = lossOf(now);
    if (loss !== undefined && !swap.force) throw new WouldBeLost(loss, now.before);
  };
  try {
    await orFileUnreadable(swap.path, () => bringBack(swap, onKept, turn, context));
    return { came: "done", lost: lossOf(kept), isRecorded: kept?.id !== undefined };
  } catch (error) {
    if (error instanceof WouldBeLost) return { step: conflictOf(error, swap.action) };
    if (error instanceof Problem) return { came: { problem: error.data } };
    if (signal.aborted && error === signal.reason) return cancelled;
    throw error;
  }
}

/** Content that is in the store is lost as well, if no record leads to it. */
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

async function bringBack(
  { path, action, seen }: Swap,
  onKept: (kept: Kept) => void,
  turn: Turn,
  context: ToolContext,
): Promise<void> {
  const first = await resolveChangeTarget(path, context);
  release(first);
  await exclusively([first.target], context, async () => {
    const now = await resolveChangeTarget(path, context);
    try {
      // What was planned for a file is not done to what somebody made of it since, or to what a link leads to now.
      if (stateOf(now) !== seen || now.target.real !== path) {
        throw new Problem({ code: "STALE", place: now.target, reason: "while changing it" });
      }
      await apply(now, action, onKept, turn, context);
      // What is there now was not shown to anybody.
      context.ledger.drop(now.target.real);
    } finally {
      release(now);
    }
  });
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
  // What is large is copied, not held.
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

/** With the open file that is there, as a change of it. */
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
