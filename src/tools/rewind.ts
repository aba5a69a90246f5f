/** Rewind: files become what they were before a turn, through the same gate, locks and swap as every change. */

import type { Piece } from "../contract/edit.ts";
import type {
  CurrentState,
  FileVersion,
  Loss,
  RewindAction,
  RewindFile,
  RewindPlan,
  RewindStep,
} from "../contract/history.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { RewindOutcome, RewindRequest, RewoundFile } from "../contract/rewind.ts";
import type { Place } from "../contract/target.ts";
import { othersTurn } from "../disk/others-turn.ts";
import { wholeFile } from "../disk/whole-file.ts";
import { refusal } from "../guard/guard.ts";
import type { Kept } from "../history/keeping.ts";
import { lossReasons } from "../history/rewind-plan.ts";
import type { SessionHistory } from "../history/session-history.ts";
import { commit, commitNew, commitRemoval } from "./commit.ts";
import type { Planned as Change } from "./plan.ts";
import type { Prepared } from "./prepare.ts";
import { currentState, type Seen } from "./current-state.ts";
import { tellOfPaths } from "./languages.ts";
import { release, type RewindTask, rewindRefusals } from "./rewind-asking.ts";
import { signOf } from "./stamp.ts";
import { exclusively, type Subject, subjectOf, ticketFor } from "./subject.ts";
import type { Bench, Tool } from "./tool.ts";
import { keeperOf, type Turn } from "./turn.ts";
import { orUnreadable } from "./unreadable.ts";

export const rewind: Tool<"rewind"> = (request, bench) =>
  orUnreadable(typeof request.to === "string" ? request.to : request.to.last, () => goBack(request, bench));

async function goBack(request: RewindRequest, bench: Bench): Promise<RewindOutcome> {
  const history = await bench.past();
  const { to: asked, as } = request;
  if (history === undefined) {
    throw new Problem({
      code: "NO_TURN",
      asked: typeof asked === "string" ? asked : asked.last,
      reason: "no history",
    });
  }
  const { to, plan, passed, seen } = await planned(request, history, bench);
  const todo = plan.files.map((file) => ({
    file: { ...file, relative: bench.guard.spell(file.path) },
    action: actionOf(file, request),
  }));
  if (bench.dryRun || todo.every(({ action }) => action === undefined)) {
    const files: RewoundFile[] = [];
    for (const { file, action } of todo) {
      const came = action === undefined ? "left" : await foreseen(file, seen.get(file.path), bench);
      files.push(shown(file, action, came, came === "planned" ? foreseenLoss(file) : undefined));
    }
    return { kind: "rewind", to, passed, turn: undefined, files, dryRun: bench.dryRun };
  }

  // Told once for all, and before a turn is begun.
  const [first] = todo.filter(({ action }) => action !== undefined);
  if (first !== undefined) bench.guard.requireWriting(placeOf(first.file));

  const refused = await rewindRefusals(todo, to, history, bench);
  const messageId = bench.newId();
  const turn: Turn = { history, messageId, tool: "Rewind" };
  const isAllowed = ({ file, action }: RewindTask): boolean => action !== undefined && !refused.has(file.path);
  if (todo.some(isAllowed)) await history.checkpoint(messageId, { to, as });
  const files: RewoundFile[] = [];
  let isRecorded = false;
  for (const [index, { file, action }] of todo.entries()) {
    bench.onProgress?.(index, todo.length);
    const problem = refused.get(file.path);
    if (problem !== undefined) files.push(shown(file, action, { problem }));
    else if (action === undefined) files.push(shown(file, action, "left"));
    else {
      const swap = { ...file, action, seen: seen.get(file.path)?.sign, force: request.force };
      const result = await attempt(swap, turn, bench);
      if ("step" in result) files.push(shown({ ...file, step: result.step }, undefined, "left"));
      else files.push(shown(file, action, result.came, result.lost));
      isRecorded ||= result.isRecorded === true;
      await othersTurn(); // a write may wait for nothing, and whoever cancels wants to be heard
    }
  }
  // Who cancels it is told what was done until then; if that is nothing, that it was nothing.
  if (!files.some(({ came }) => came === "done")) bench.signal.throwIfAborted();
  bench.onProgress?.(todo.length, todo.length);
  const diagnostics = await tellOfPaths(
    files.flatMap(({ path, action, came }) =>
      came === "done" && action !== undefined ? [{ path, did: broughtBack[action.does] }] : [],
    ),
    bench,
  );
  // Where every file was refused, or nothing could be written down, there is nothing that could be rewound.
  const turnId = isRecorded ? messageId : undefined;
  return {
    kind: "rewind",
    to,
    passed,
    turn: turnId,
    files,
    dryRun: false,
    ...(diagnostics.length > 0 ? { diagnostics } : {}),
  };
}

const broughtBack = { restore: "updated", create: "created", delete: "deleted" } as const;

interface Planned {
  readonly to: string;
  readonly plan: Extract<RewindPlan, { readonly found: "turn" }>;
  readonly passed: readonly string[];
  /** By path: what each file was when it was planned for. */
  readonly seen: ReadonlyMap<string, Seen>;
}

/** The turn that was named; or the last one of which there is something to bring back. */
async function planned(request: RewindRequest, history: SessionHistory, bench: Bench): Promise<Planned> {
  const files = request.files?.map((path) => realOf(path, bench));
  const planFor = async (to: string): Promise<Omit<Planned, "passed">> => {
    const seen = new Map<string, Seen>();
    const current = (path: string): Promise<CurrentState> => currentState(path, bench, seen);
    // Files are looked at before the first is changed: until then none is done, but for a dry run, which does no more.
    const onProgress = (done: number, total: number): void => {
      bench.signal.throwIfAborted();
      bench.onProgress?.(bench.dryRun ? done : 0, total);
    };
    const plan = await history.plan(to, { current, files, onProgress });
    if (plan.found !== "turn") throw new Problem({ code: "NO_TURN", asked: to, reason: plan.found });
    return { to, plan, seen };
  };
  if (typeof request.to === "string") return { ...(await planFor(request.to)), passed: [] };
  const { last } = request.to;
  const targets = history.undoTargets();
  const [newest, ...older] = targets[last];
  if (newest === undefined) {
    const reason = last === "undo" && targets.forgotten ? "undo forgotten" : (`nothing to ${last}` as const);
    throw new Problem({ code: "NO_TURN", asked: last, reason });
  }
  const first = await planFor(newest);
  if (files !== undefined || first.plan.files.some(isOpen)) return { ...first, passed: [] };
  const passed = [newest];
  for (const to of older) {
    bench.signal.throwIfAborted();
    const next = await planFor(to);
    if (next.plan.files.some(isOpen)) return { ...next, passed };
    passed.push(to);
  }
  return { ...first, passed: [] };
}

/** Not yet as it was, and somebody could make it so. What was never stored stays lost, however often it is asked for. */
function isOpen({ step }: RewindFile): boolean {
  if (step.does === "nothing") return false;
  return step.does !== "unavailable" || !lost.has(step.why);
}

const lost: ReadonlySet<string> = new Set<Extract<RewindFile["step"], { readonly does: "unavailable" }>["why"]>([
  "secret",
  "too large",
  "failed",
  "pruned",
  "damaged",
]);

/** As the answer names it. */
const placeOf = ({ path, relative }: RewindFile): Place => ({ asked: relative, absolute: path, relative });

const shown = (
  file: RewindFile,
  action: RewindAction | undefined,
  came: RewoundFile["came"],
  lost?: Loss,
): RewoundFile => ({ ...file, action, came, ...(lost === undefined ? {} : { lost }) });

const foreseenLoss = ({ step }: RewindFile): Loss | undefined => (step.does === "conflict" ? step.loses : undefined);

function actionOf({ step }: RewindFile, { force }: RewindRequest): RewindAction | undefined {
  if (step.does === "conflict") return force ? step.forced : undefined;
  return step.does === "nothing" || step.does === "unavailable" ? undefined : step;
}

/** What a dry run can know of the refusals to come; nobody is asked. */
async function foreseen({ path }: RewindFile, seen: Seen | undefined, bench: Bench): Promise<RewoundFile["came"]> {
  try {
    const subject = await subjectOf(path, bench);
    const { target: place } = subject;
    const mode = subject.is === "there" ? seen?.mode : undefined;
    release(subject);
    const rule = bench.guard.denied("edit", [path], "file");
    if (rule !== undefined) {
      return { problem: { code: "ACCESS_DENIED", place, reason: "rule", rule: rule.text, source: rule.source } };
    }
    if (mode !== undefined && (mode & 0o222) === 0) {
      return { problem: { code: "ACCESS_DENIED", place, reason: "read-only" } };
    }
    return "planned";
  } catch (error) {
    if (error instanceof Problem) return { problem: error.data };
    throw error;
  }
}

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
async function attempt(swap: Swap, turn: Turn, bench: Bench): Promise<Attempted> {
  const { signal } = bench;
  if (signal.aborted) return cancelled;
  let kept: Kept | undefined;
  const onKept = (now: Kept): void => {
    kept = now;
    const loss = lossOf(now);
    if (loss !== undefined && !swap.force) throw new WouldBeLost(loss, now.before);
  };
  try {
    await orUnreadable(swap.path, () => bringBack(swap, onKept, turn, bench));
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
  const ticket = ticketFor([path], bench);
  try {
    const first = await subjectOf(path, bench);
    release(first);
    await exclusively([first.target], ticket, bench, async () => {
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
  } finally {
    ticket.release();
  }
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
  const kept = await turn.history.open(action.content);
  if (typeof kept === "string") throw new Problem({ code: "NO_TURN", asked: target.asked, reason: "content gone" });
  try {
    // What is large is copied, not held.
    const bytes = await wholeFile(kept, limits.editHeldBytesMax);
    const { mode } = action;
    if (subject.is === "new") {
      const given = mode === undefined ? {} : { mode };
      await commitNew({ is: "new", target, bytes: bytes ?? kept, ...given, ...blank, close: nothing }, keeper, bench);
      return;
    }
    const whole: Piece = bytes ?? { from: 0, to: kept.sizeBytes };
    const pieces = kept.sizeBytes === 0 ? [] : [whole];
    const planned = { pieces, source: bytes === undefined ? kept : undefined, mode };
    await withOld(subject, planned, bench, (prepared) => commit(prepared, keeper, bench));
  } finally {
    kept.close();
  }
}

const nothing = (): void => undefined;
const blank = { diff: { hunks: [], additions: 0, deletions: 0, complete: false }, extra: undefined } as const;

/** With the open file that is there, as a change of it. */
async function withOld(
  subject: Extract<Subject, { readonly is: "there" }>,
  plan: Pick<Change<undefined>, "pieces" | "source" | "mode">,
  bench: Bench,
  work: (prepared: Extract<Prepared<undefined>, { readonly is: "there" }>) => Promise<unknown>,
): Promise<void> {
  const { target, found } = subject;
  const file = bench.disk.open(found);
  if ("errno" in file) throw refusal(target, file.errno, "opening it");
  try {
    const old = await wholeFile(file, limits.editHeldBytesMax);
    const planned = { ...plan, before: undefined, notes: [], wrote: "all", ...blank } as const;
    await work({ is: "there", target, subject, file, old, planned, ...blank, remember: undefined, close: nothing });
  } finally {
    file.close();
  }
}

function realOf(path: string, bench: Bench): string {
  const resolved = bench.guard.resolve(path);
  if (resolved.seen === "node") resolved.found.held.close();
  return resolved.seen === "outside" ? path : (resolved.target?.real ?? path);
}
