/**
 * Several files in one call, all of them or none. Everything is planned and permitted before anything is written; if writing
 * fails half way, what was written is put back.
 */

import * as nodePath from "node:path";
import { HandleStack, type HeldLocks, type Staged, WriteFailed, yieldToEventLoop } from "../../disk/disk.ts";
import type { ChangedFile, ChangeNote, MatchedBy, PatchOutcome } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import type { NotifiedChange } from "../../contract/lsp.ts";
import { Problem, type ProblemData } from "../../contract/problem.ts";
import type { Profile } from "../../contract/profile.ts";
import type { Place, Target } from "../../contract/target.ts";
import type { PatchFile } from "../../text/text.ts";
import { reported, notify } from "../languages.ts";
import type { ToolContext } from "../tool.ts";
import { permitted, type Plan, writePrepared } from "./change.ts";
import { commitNew, commitRemoval, joined, refused, requireNothingAt, requireWritable } from "./commit.ts";
import { formatted } from "./formatted.ts";
import { diffText, fileOf, prepare, type Prepared, openedBy } from "./prepare.ts";
import {
  exclusively,
  handleOf,
  refuseDenied,
  requireFileName,
  type ChangeTarget,
  resolveChangeTarget,
} from "./change-target.ts";
import { type HistoryRecorder, createRecorder } from "./history-recorder.ts";

/** What one file becomes. */
export interface Part {
  readonly path: string;
  readonly does: Job["does"];
  readonly plan: Plan<MatchedBy>;
  readonly moveTo: string | undefined;
}

export async function changeSeveral(
  parts: readonly [Part, ...Part[]],
  profile: Profile,
  context: ToolContext,
): Promise<PatchOutcome> {
  const { outcome, notified } = await appliedAtRest(parts, profile, context);
  // There is one wait for all files.
  return { ...outcome, files: await reported(outcome.files, notified, context) };
}

/** What was done, and that language servers were told of it. */
interface Made {
  readonly outcome: PatchOutcome;
  readonly notified: NotifiedChange | undefined;
}

async function appliedAtRest(parts: readonly [Part, ...Part[]], profile: Profile, context: ToolContext): Promise<Made> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await applied(parts, profile, context);
    if ("notified" in outcome) return outcome;
    // Who is asked about files that never rest would be asked without end.
    if (tries >= limits.lookupTriesMax) throw new Problem({ code: "CHANGED", place: outcome.askAgain });
  }
}

async function applied(
  all: readonly [Part, ...Part[]],
  profile: Profile,
  context: ToolContext,
): Promise<Made | { readonly askAgain: Target }> {
  const [first, ...others] = all;
  let looked: Promise<void> | undefined;
  const beforeAsking = (): Promise<void> => (looked ??= foresee(all, context));
  const answers: [Permitted, ...Permitted[]] = [await asked(first, beforeAsking, context)];
  for (const file of others) answers.push(await asked(file, beforeAsking, context));
  const [head, ...rest] = answers;
  const targets: [Target, ...Target[]] = [...targetsOf(head), ...rest.flatMap(targetsOf)];
  refuseClashes(targets);

  return exclusively(targets, context, async (locks) => {
    using handles = new HandleStack();
    const jobs: Job[] = [];
    for (const [index, file] of all.entries()) {
      const changeTarget = await resolveChangeTarget(file.path, context);
      handles.use(handleOf(changeTarget));
      const answer = answers[index] ?? head;
      // Before anything of it is read: what it says could stand in an error.
      if (changeTarget.target.real !== answer.target.real) throw new Problem({ code: "CHANGED", place: answer.target });
      const job = await jobOf(file, changeTarget, context);
      handles.use(openedBy(job.prepared));
      jobs.push(job);
      if (job.moved?.target.real !== answer.goal?.real) throw new Problem({ code: "CHANGED", place: answer.target });
      // A yes was said to what was shown, and to nothing else.
      const { approved } = answer;
      if (approved !== undefined && approved !== diffText(job.prepared)) return { askAgain: changeTarget.target };
    }
    refuseTwins(jobs, context);
    context.signal.throwIfAborted();
    // What can be known before is not found out half way.
    const foreseen = jobs.map(({ prepared, moved }) => {
      const notes = requireWritable(prepared, context);
      // What is moved is made anew at its goal: what holds for writing over a file is not told of it.
      return moved === undefined ? notes : requireNothingAt(moved.target, context);
    });
    const files = context.dryRun
      ? jobs.map((job, at) => shownAs(job, foreseen[at] ?? []))
      : [...(await writeAll(jobs, locks, context))];
    // Only when all are written: until then they may be put back.
    const formatting = { hangs: false };
    for (const [at, file] of files.entries()) files[at] = await formatted(file, profile, context, formatting);
    const [one, ...more] = files;
    if (one === undefined) throw new Error("there is at least one file");
    const outcome: PatchOutcome = {
      kind: "patch",
      target: one.target,
      files: [one, ...more],
      matchedBy: jobs.map(({ prepared }) => prepared.extra).find((step) => step !== "exact") ?? "exact",
      dryRun: context.dryRun,
    };
    return { outcome, notified: await notify(files, context) };
  });
}

/** What was permitted, and to what somebody said yes, if somebody was asked. */
interface Permitted {
  readonly target: Target;
  readonly goal: Target | undefined;
  readonly approved: string | undefined;
}

const targetsOf = ({ target, goal }: Permitted): [Target, ...Target[]] =>
  goal === undefined ? [target] : [target, goal];

/** Throws what is known to stand in the way of one of the files. What would have to be asked about to be read is not looked at. */
async function foresee(parts: readonly Part[], context: ToolContext): Promise<void> {
  for (const part of parts) {
    const changeTarget = await resolveChangeTarget(part.path, context);
    using _held = handleOf(changeTarget);
    refuseIfThere(part, changeTarget, context);
    if (changeTarget.is === "there" && context.guard.explain("patch", "read", part.path).verdict !== "allow") continue;
    const prepared = await prepare(changeTarget, part.plan, context);
    using _file = openedBy(prepared);
    requireWritable(prepared, context);
  }
}

/** Everything that is to be permitted, before anything is locked or written. */
async function asked(file: Part, beforeAsking: () => Promise<void>, context: ToolContext): Promise<Permitted> {
  const changeTarget = await resolveChangeTarget(file.path, context);
  const { target } = changeTarget;
  using _held = handleOf(changeTarget);
  refuseIfThere(file, changeTarget, context);
  if (changeTarget.is === "there" && file.does === "delete") await refuseLink(target, "be deleted", context);
  if (changeTarget.is === "there" && file.moveTo !== undefined) await refuseLink(target, "be moved", context);
  // Nobody is asked about a move that cannot be made.
  const goal = await goalOf(file, context);
  let approved = await permitted(changeTarget, file.plan, context, { movedTo: file.moveTo, beforeAsking });
  if (goal === undefined) return { target, goal, approved };
  const preview = async () => {
    const prepared = await prepare(changeTarget, file.plan, context);
    openedBy(prepared)?.close();
    await beforeAsking();
    approved = diffText(prepared);
    return { diff: approved, movedFrom: target.absolute };
  };
  const { signal, dryRun } = context;
  await context.guard.permit("edit", goal, signal, { preview, dryRun });
  return { target, goal, approved };
}

/** Where a file is moved to: nothing may be there. */
async function goalOf(file: Part, context: ToolContext): Promise<Target | undefined> {
  if (file.moveTo === undefined) return undefined;
  const goal = await resolveChangeTarget(file.moveTo, context);
  if (goal.is === "new") {
    requireFileName(goal.target);
    return goal.target;
  }
  goal.node.handle.close();
  refuseDenied(goal.target, context);
  throw new Problem({ code: "EXISTS", place: goal.target, reason: "file" });
}

function refuseIfThere(file: Part, changeTarget: ChangeTarget, context: ToolContext): void {
  if (file.does === "add" && changeTarget.is === "there") {
    refuseDenied(changeTarget.target, context);
    throw new Problem({ code: "EXISTS", place: changeTarget.target, reason: "file" });
  }
}

/** Two names of one file, or two sections that make the same one: who of them is right? And no file is a folder too. */
function refuseClashes(targets: readonly Target[]): void {
  const refuse = (fault: "two names" | "in a new file", { asked }: Target): Problem =>
    new Problem({ code: "INVALID_PARAM", reason: "patch", fault, line: 1, text: asked });
  const files = new Set<string>();
  for (const target of targets) {
    if (files.has(target.real)) throw refuse("two names", target);
    files.add(target.real);
  }
  for (const target of targets) {
    for (
      let above = nodePath.dirname(target.real);
      above !== nodePath.dirname(above);
      above = nodePath.dirname(above)
    ) {
      if (files.has(above)) throw refuse("in a new file", target);
    }
  }
}

/** A file that is written in place changes under all of its names, so that none of the others stays what was read. */
function refuseTwins(jobs: readonly Job[], { changes }: ToolContext): void {
  if (changes.hardLinks !== "keep") return;
  const there = jobs.flatMap(({ does, moved, prepared }) =>
    prepared.is === "new" ? [] : [{ prepared, inPlace: does === "update" && moved === undefined }],
  );
  for (const [index, { prepared, inPlace }] of there.entries()) {
    const { device, inode } = prepared.file.identity;
    const twin = there
      .slice(0, index)
      .find(({ prepared: { file } }) => file.identity.device === device && file.identity.inode === inode);
    if (twin === undefined || !(inPlace || twin.inPlace)) continue;
    const text = prepared.target.asked;
    throw new Problem({ code: "INVALID_PARAM", reason: "patch", fault: "two names", line: 1, text });
  }
}

async function jobOf(file: Part, changeTarget: ChangeTarget, context: ToolContext): Promise<Job> {
  refuseIfThere(file, changeTarget, context);
  const prepared = await prepare(changeTarget, file.plan, context);
  using handles = new HandleStack();
  handles.use(openedBy(prepared));
  const goal = await goalOf(file, context);
  if (goal === undefined || prepared.is === "new" || prepared.old === undefined) {
    handles.move();
    return { does: file.does, prepared, moved: undefined };
  }
  const bytes = joined(prepared.planned.pieces, prepared.old);
  handles.move();
  return { does: file.does, prepared, moved: { target: goal, bytes, mode: prepared.file.mode } };
}

// Writing the files of a patch: all of them, or none (`disk/write/change-set.ts`).

/** One file of a patch, ready to be written. */
interface Job {
  readonly does: PatchFile["does"];
  readonly prepared: Prepared<MatchedBy>;
  /** Where the file goes, and what will be in it. */
  readonly moved: { readonly target: Target; readonly bytes: Buffer; readonly mode: number } | undefined;
}

type Existing = Extract<Prepared<MatchedBy>, { readonly is: "there" }>;
type Notes = readonly ChangeNote[];

/** One change of one name: a file that is moved has two. */
interface Step {
  readonly job: Job;
  readonly target: Target;
  readonly run: (recorder: HistoryRecorder, context: ToolContext) => Promise<Notes>;
}

async function writeAll(jobs: readonly Job[], locks: HeldLocks, context: ToolContext): Promise<readonly ChangedFile[]> {
  const steps = stepsOf(jobs);
  const notes = new Map<Job, Notes>();
  const add = (job: Job, more: Notes): void => void notes.set(job, [...(notes.get(job) ?? []), ...more]);
  const [first, ...others] = steps;
  if (first !== undefined && others.length === 0) {
    add(first.job, await first.run(createRecorder(await context.turn(), first.target), context));
  } else {
    for (const [step, more] of await together(steps, locks, context)) add(step.job, more);
  }
  return jobs.map((job) => shownAs(job, notes.get(job) ?? []));
}

/** Files are taken away last: until then whatever fails leaves them where they are. */
function stepsOf(jobs: readonly Job[]): readonly Step[] {
  const puts = jobs.flatMap((job): readonly Step[] => {
    if (job.does === "delete") return [];
    const { target } = job.moved ?? job.prepared;
    return [{ job, target, run: (recorder, context) => put(job, recorder, context) }];
  });
  const takes = jobs.flatMap((job): readonly Step[] => {
    const { prepared, moved } = job;
    if (prepared.is === "new" || (job.does !== "delete" && moved === undefined)) return [];
    const to = moved === undefined ? undefined : { movedTo: moved.target.real };
    return [
      { job, target: prepared.target, run: (recorder, context) => commitRemoval(prepared, recorder, context, to) },
    ];
  });
  return [...puts, ...takes];
}

async function put({ prepared, moved }: Job, recorder: HistoryRecorder, context: ToolContext): Promise<Notes> {
  if (moved === undefined) {
    const { notes } = await writePrepared(prepared, context, recorder);
    // Those of the plan come with the file itself.
    return prepared.is === "new" ? notes : notes.filter((note) => !prepared.planned.notes.includes(note));
  }
  if (prepared.is === "new") throw new Error("a file that is not there is not moved");
  return commitNew(movedFile(prepared, moved), recorder, context, { movedFrom: prepared.target.real });
}

function movedFile(prepared: Existing, { target, bytes, mode }: NonNullable<Job["moved"]>) {
  const { diff, extra, remember, planned, changeTarget, file } = prepared;
  const kept = { like: { node: changeTarget.node, file }, remember, wrote: planned.wrote };
  return { is: "new", target, bytes, mode, diff, extra, ...kept } as const;
}

interface Begun {
  readonly step: Step;
  readonly recorder: HistoryRecorder;
  readonly staged: Staged<Notes>;
}

/** All are prepared before the first is made. */
async function together(
  steps: readonly Step[],
  locks: HeldLocks,
  context: ToolContext,
): Promise<ReadonlyMap<Step, Notes>> {
  const set = context.disk.together(
    steps.map(({ target }) => target.real),
    locks,
  );
  const { replace, create, remove } = set;
  const within: ToolContext = { ...context, disk: { ...context.disk, replace, create, remove } };
  const begun: Begun[] = [];
  const notes = new Map<Step, Notes>();
  try {
    for (const step of steps) {
      const recorder = createRecorder(await context.turn(), step.target);
      begun.push({ step, recorder, staged: await set.stage(() => step.run(recorder, within)) });
      await yieldToEventLoop(); // a write may wait for nothing, and others want their turn
    }
    const [first] = steps;
    const stopped = await set.begin();
    if (stopped !== undefined && first !== undefined) throw problemOf(first.target, stopped);
    for (const { step, staged } of begun) {
      context.signal.throwIfAborted();
      staged.go?.();
      notes.set(step, await staged.over);
      await yieldToEventLoop();
    }
    const errno = await orProblem(steps, () => set.finish());
    if (errno === undefined) return notes;
    return new Map([...notes].map(([step, some]) => [step, [...some, { note: "unconfirmed", errno }]]));
  } catch (error) {
    const came = await set.takeBack(error);
    const putBack: Place[] = [];
    const left: Place[] = [];
    for (const { step, recorder } of begun.toReversed()) {
      const { target } = step;
      const how = came.get(target.real);
      if (how === undefined) continue;
      context.ledger.drop(target.real);
      if (how === "failed" || (how === "not ours" && notes.has(step))) left.push(target);
      else {
        recorder.undone();
        if (how === "put back") putBack.push(target);
      }
    }
    throw rolledBack(error, putBack, left, context);
  }
}

function rolledBack(
  error: unknown,
  putBack: readonly Place[],
  left: readonly Place[],
  { signal }: ToolContext,
): unknown {
  const [place] = [...left, ...putBack];
  const [theirs] = left;
  const isCancelled = signal.aborted && error === signal.reason;
  // Nobody would hear of a file that could not be put back.
  const changed = theirs && ({ code: "STALE", place: theirs, reason: "while changing it" } as const);
  const cause: ProblemData | undefined = error instanceof Problem ? error.data : isCancelled ? changed : undefined;
  if (cause === undefined || place === undefined) return error;
  return new Problem({ code: "ROLLED_BACK", place, cause, putBack, left });
}

function problemOf(
  place: Target,
  stopped: Awaited<ReturnType<ReturnType<ToolContext["disk"]["together"]>["begin"]>>,
): Problem {
  if (stopped?.why === "refused") return refused(place, stopped.errno, stopped.during);
  return new Problem({ code: "STALE", place, reason: "while changing it" });
}

async function orProblem<Result>([first]: readonly Step[], work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WriteFailed && first !== undefined) throw refused(first.target, error.errno, error.during);
    throw error;
  }
}

function shownAs(job: Job, notes: ChangedFile["notes"]): ChangedFile {
  const file = fileOf(job.prepared, notes);
  if (job.does === "delete") return { ...file, did: "deleted" };
  if (job.moved === undefined) return file;
  return { ...file, did: "moved", target: job.moved.target, movedFrom: file.target };
}

// Taking a file away through a link would take what it leads to, which the answer does not name, and leave the link behind
// leading nowhere. A link itself is no file: nobody could bring it back. So neither is done.

export async function refuseLink(
  target: Target,
  would: "be deleted" | "be moved",
  context: ToolContext,
): Promise<void> {
  if (!(await isLink(target, context))) return;
  refuseDenied(target, context);
  const leadsTo = context.guard.spell(target.real);
  throw new Problem({ code: "INVALID_PARAM", reason: "link", place: target, leadsTo, would });
}

/** Is its last name one? Links above it are spellings of the same folder. */
async function isLink({ absolute, real }: Target, { disk }: ToolContext): Promise<boolean> {
  const name = nodePath.basename(absolute);
  const above = disk.lookup(nodePath.dirname(absolute));
  if (above.seen !== "node") return false;
  using _held = above.handle;
  if (nodePath.join(above.real, name) === real) return false;
  const entries = above.kind === "directory" ? await disk.list(above) : { errno: "ENOTDIR" };
  const own = "errno" in entries ? undefined : entries.find((entry) => entry.name === name);
  // A disk may take another spelling for the same name; then it lies where it was asked for.
  return own === undefined ? nodePath.dirname(real) !== above.real : own.kind === "link";
}
