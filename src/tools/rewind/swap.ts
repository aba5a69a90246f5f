/** One file of a rewind: it becomes what it was, if it still is what the plan was made for and what is there can be kept. */

import type { Piece } from "../../contract/edit.ts";
import type { FileVersion, Loss, RewindAction, RewindStep, RewoundFile } from "../../contract/history.ts";
import { limits } from "../../contract/limits.ts";
import { Problem } from "../../contract/problem.ts";
import { wholeFile } from "../../disk/lookup/open-file.ts";
import { refusal } from "../../guard/guard.ts";
import type { Kept } from "../../history/keeping.ts";
import { lossReasons } from "../../history/rewind-plan.ts";
import type { Planned as Change } from "../change/change.ts";
import { commit, commitNew, commitRemoval } from "../change/commit.ts";
import type { Prepared } from "../change/prepare.ts";
import { exclusively, type Subject, subjectOf } from "../change/subject.ts";
import { keeperOf, type Turn } from "../change/turn.ts";
import { signOf } from "../stamp.ts";
import { type Bench, orFileUnreadable } from "../tool.ts";
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
export async function attempt(swap: Swap, turn: Turn, bench: Bench): Promise<Attempted> {
  const { signal } = bench;
  if (signal.aborted) return cancelled;
  let kept: Kept | undefined;
  const onKept = (now: Kept): void => {
    kept = now;
    const loss = lossOf(now);
    if (loss !== undefined && !swap.force) throw new WouldBeLost(loss, now.before);
  };
  try {
    await orFileUnreadable(swap.path, () => bringBack(swap, onKept, turn, bench));
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
  bench: Bench,
): Promise<void> {
  const first = await subjectOf(path, bench);
  release(first);
  await exclusively([first.target], bench, async () => {
    const now = await subjectOf(path, bench);
    try {
      // What was planned for a file is not done to what somebody made of it since, or to what a link leads to now.
      if (stateOf(now) !== seen || now.target.real !== path) {
        throw new Problem({ code: "STALE", place: now.target, reason: "while changing it" });
      }
      await apply(now, action, onKept, turn, bench);
      // What is there now was not shown to anybody.
      bench.ledger.drop(now.target.real);
    } finally {
      release(now);
    }
  });
}

const stateOf = (subject: Subject): string => (subject.is === "new" ? "absent" : signOf(subject.found.held.identity));

async function apply(
  subject: Subject,
  action: RewindAction,
  onKept: (kept: Kept) => void,
  turn: Turn,
  bench: Bench,
): Promise<void> {
  const { target } = subject;
  const keeper = keeperOf(turn, target, onKept);
  if (action.does === "delete") {
    if (subject.is === "new") return;
    await withOld(subject, { pieces: [] }, bench, (prepared) => commitRemoval(prepared, keeper, bench));
    return;
  }
  const opened = await turn.history.open(action.content);
  if (typeof opened === "string") throw new Problem({ code: "NO_TURN", asked: target.asked, reason: "content gone" });
  using kept = opened;
  // What is large is copied, not held.
  const bytes = await wholeFile(kept, limits.editHeldBytesMax);
  const { mode } = action;
  if (subject.is === "new") {
    const given = mode === undefined ? {} : { mode };
    await commitNew({ is: "new", target, bytes: bytes ?? kept, ...given, ...blank }, keeper, bench);
    return;
  }
  const whole: Piece = bytes ?? { from: 0, to: kept.sizeBytes };
  const pieces = kept.sizeBytes === 0 ? [] : [whole];
  const planned = { pieces, source: bytes === undefined ? kept : undefined, mode };
  await withOld(subject, planned, bench, (prepared) => commit(prepared, keeper, bench));
}

const blank = { diff: { hunks: [], additions: 0, deletions: 0, complete: false }, extra: undefined } as const;

/** With the open file that is there, as a change of it. */
async function withOld(
  subject: Extract<Subject, { readonly is: "there" }>,
  plan: Pick<Change<undefined>, "pieces" | "source" | "mode">,
  bench: Bench,
  work: (prepared: Extract<Prepared<undefined>, { readonly is: "there" }>) => Promise<unknown>,
): Promise<void> {
  const { target, found } = subject;
  const opened = bench.disk.open(found);
  if ("errno" in opened) throw refusal(target, opened.errno, "opening it");
  using file = opened;
  const old = await wholeFile(file, limits.editHeldBytesMax);
  const planned = { ...plan, before: undefined, notes: [], wrote: "all", ...blank } as const;
  await work({ is: "there", target, subject, file, old, planned, ...blank, remember: undefined });
}
