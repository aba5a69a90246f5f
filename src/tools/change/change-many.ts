/** Changes several files, all or none: all are planned and permitted before the first is written, and put back if one fails. */

import * as nodePath from "node:path";
import {
  HandleStack,
  type HeldLocks,
  type Staged,
  timeSlices,
  WriteFailed,
  yieldToEventLoop,
} from "../../disk/disk.ts";
import type { OfferedHunk } from "../../contract/ask.ts";
import type { ChangedFile, ChangeNote, MatchedBy, PatchOutcome } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import type { NotifiedChange } from "../../contract/lsp.ts";
import { Problem, type ProblemData } from "../../contract/problem.ts";
import type { Profile } from "../../contract/profile.ts";
import type { Place, Target } from "../../contract/target.ts";
import type { Preview } from "../../guard/guard.ts";
import { noDiffLine, type PatchFile } from "../../text/text.ts";
import { withDiagnostics, notifyServers } from "../languages.ts";
import { locatePermitted } from "../locate.ts";
import type { ToolContext } from "../tool.ts";
import { permitReading, type Plan, writePrepared } from "./change.ts";
import { commitNew, commitRemoval, joined, writeProblem, requireNothingAt, requireWritable } from "./commit.ts";
import { runFormatter } from "./formatted.ts";
import { chosenIn, offeredHunks, partOf } from "./part.ts";
import {
  diffText,
  changedFileOf,
  prepare,
  type Prepared,
  openFileOf,
  type QuestionAboutChange,
  questionOf,
} from "./prepare.ts";
import {
  exclusively,
  handleOf,
  refuseDenied,
  requireFileName,
  type ChangeTarget,
  resolveChangeTarget,
} from "./change-target.ts";
import { type HistoryRecorder, createRecorder } from "./history-recorder.ts";

export interface FilePlan {
  readonly path: string;
  /** `add or update`: an edit that creates the file if there is none. */
  readonly does: PatchFile["does"] | "add or update";
  readonly plan: Plan<MatchedBy>;
  readonly moveTo: string | undefined;
  /** The file that its content is copied from; reading it needs permission too. */
  readonly copyOf?: CopySource | undefined;
}

export interface CopySource {
  readonly path: string;
  /** The real path of the file that the session may read, once that is known. */
  permitted?: string;
}

export async function changeMany(
  files: readonly [FilePlan, ...FilePlan[]],
  profile: Profile,
  context: ToolContext,
): Promise<PatchOutcome> {
  let made = await changeManyOnce(files, profile, context);
  for (let tries = 1; "askAgain" in made; tries += 1) {
    if (tries >= limits.lookupTriesMax) throw new Problem({ code: "CHANGED", place: made.askAgain });
    made = await changeManyOnce(files, profile, context);
  }
  const { outcome, notified } = made;
  return { ...outcome, files: await withDiagnostics(outcome.files, notified, context) };
}

interface Made {
  readonly outcome: PatchOutcome;
  readonly notified: NotifiedChange | undefined;
}

/** `askAgain`: a file changed after a person approved its diff, so the approval does not count. */
async function changeManyOnce(
  all: readonly [FilePlan, ...FilePlan[]],
  profile: Profile,
  context: ToolContext,
): Promise<Made | { readonly askAgain: Target }> {
  const answers = await permitFiles(all, context);
  refuseClashes(answers.flatMap(targetsOf));
  const accepted = answers.filter(({ isRefused }) => !isRefused);
  const [head, ...rest] = accepted;
  if (head === undefined) throw new Error("a person accepts at least one hunk");
  const targets: [Target, ...Target[]] = [...targetsOf(head), ...rest.flatMap(targetsOf)];

  const slices = timeSlices(context.signal);
  return exclusively(targets, context, async (locks) => {
    await using handles = new HandleStack();
    const jobs: Job[] = [];
    for (const answer of accepted) {
      const { file } = answer;
      const changeTarget = await resolveChangeTarget(file.path, context);
      handles.use(handleOf(changeTarget));
      // Checked before the file is read: an error could show its content.
      if (changeTarget.target.real !== answer.target.real) throw new Problem({ code: "CHANGED", place: answer.target });
      const job = await jobOf(file, changeTarget, context);
      handles.use(openFileOf(job.prepared));
      if (job.moved?.target.real !== answer.destination?.real)
        throw new Problem({ code: "CHANGED", place: answer.target });
      const { approved, hunks } = answer;
      if (approved !== undefined && approved !== diffText(job.prepared)) return { askAgain: changeTarget.target };
      jobs.push(hunks === undefined ? job : { ...job, prepared: await partOf(job.prepared, hunks, context) });
      if (slices.isOver()) await slices.next();
    }
    refuseSharedInodes(jobs, context);
    context.signal.throwIfAborted();
    // Every foreseeable failure is reported before the first file is written.
    const foreseen: Notes[] = [];
    for (const { prepared, moved } of jobs) {
      const notes = requireWritable(prepared, context);
      // A moved file is created at its destination, so notes about overwriting do not apply.
      foreseen.push(moved === undefined ? notes : requireNothingAt(moved.target, context));
      if (slices.isOver()) await slices.next();
    }
    const files = context.dryRun
      ? jobs.map((job, at) => shownAs(job, foreseen[at] ?? []))
      : [...(await writeAll(jobs, locks, context))];
    // The formatter runs when all files are written: until then they may be rolled back.
    const formatting = { hangs: false };
    for (const [at, file] of files.entries()) files[at] = await runFormatter(file, profile, context, formatting);
    const [one, ...more] = files;
    if (one === undefined) throw new Error("there is at least one file");
    const outcome: PatchOutcome = {
      kind: "patch",
      target: one.target,
      files: [one, ...more],
      matchedBy: jobs.map(({ prepared }) => prepared.extra).find((step) => step !== "exact") ?? "exact",
      ...(accepted.length < answers.length && {
        refused: answers.filter(({ isRefused }) => isRefused).map(({ target }) => target),
      }),
      dryRun: context.dryRun,
    };
    return { outcome, notified: await notifyServers(files, context) };
  });
}

interface Permitted {
  readonly file: FilePlan;
  readonly target: Target;
  readonly destination: Target | undefined;
  readonly approved: string | undefined;
  /** The hunks that a person chose; undefined for all of the file's change. */
  readonly hunks: readonly number[] | undefined;
  /** A person accepted nothing of this file's change. */
  readonly isRefused: boolean;
}

const targetsOf = ({ target, destination }: Pick<Permitted, "target" | "destination">): [Target, ...Target[]] =>
  destination === undefined ? [target] : [target, destination];

/** Permission for all files, with one question that shows all diffs. Throws if one of the changes is bound to fail. */
async function permitFiles(
  [first, ...others]: readonly [FilePlan, ...FilePlan[]],
  context: ToolContext,
): Promise<readonly Permitted[]> {
  const { signal, dryRun, guard } = context;
  const slices = timeSlices(signal);
  const all: [Located, ...Located[]] = [await located(first, context)];
  for (const file of others) {
    all.push(await located(file, context));
    if (slices.isOver()) await slices.next();
  }
  let diffs: readonly string[] | undefined;
  let offered: readonly OfferedHunk[] = [];
  const preview = async (): Promise<Preview> => {
    const questions: FileQuestion[] = [];
    for (const [at, one] of all.entries()) {
      questions.push(await questionAbout(one, at, context));
      if (slices.isOver()) await slices.next();
    }
    diffs = questions.map(({ diff }) => diff);
    const question = wholeQuestion(questions);
    offered = question.hunks ?? [];
    return question;
  };
  const targets = all.flatMap(targetsOf);
  const permit = await guard.permitAll("edit", targets, signal, { preview, dryRun });
  return all.map(({ file, target, destination }, at): Permitted => {
    const approved = permit === "free" ? undefined : diffs?.[at];
    const hunks = typeof permit === "string" ? undefined : chosenIn(at, offered, permit.hunks);
    return { file, target, destination, approved, hunks, isRefused: hunks?.length === 0 };
  });
}

interface Located extends Pick<Permitted, "target" | "destination"> {
  readonly file: FilePlan;
}

/** The names that a file has and will have. Whatever fails without its content fails here. */
async function located(file: FilePlan, context: ToolContext): Promise<Located> {
  const changeTarget = await resolveChangeTarget(file.path, context);
  const { target } = changeTarget;
  using _handle = handleOf(changeTarget);
  refuseIfThere(file, changeTarget, context);
  if (changeTarget.is === "there" && file.does === "delete") await refuseLink(target, "be deleted", context);
  if (changeTarget.is === "there" && file.moveTo !== undefined) await refuseLink(target, "be moved", context);
  const destination = await destinationOf(file, context);
  await permitReading(changeTarget, file.plan, context);
  if (file.copyOf !== undefined) {
    const source = await locatePermitted(file.copyOf.path, "file", context);
    source.node.handle.close();
    file.copyOf.permitted = source.target.real;
  }
  return { file, target, destination };
}

/** What a question says of one file. */
interface FileQuestion extends QuestionAboutChange {
  readonly path: string;
  readonly movedTo?: string;
  readonly hunks: readonly OfferedHunk[];
}

async function questionAbout(
  { file, target, destination }: Located,
  at: number,
  context: ToolContext,
): Promise<FileQuestion> {
  const changeTarget = await resolveChangeTarget(file.path, context);
  using _handle = handleOf(changeTarget);
  if (changeTarget.target.real !== target.real) throw new Problem({ code: "CHANGED", place: target });
  const prepared = await prepare(changeTarget, file.plan, context);
  using _file = openFileOf(prepared);
  requireWritable(prepared, context);
  const moved = destination === undefined || file.moveTo === undefined ? {} : { movedTo: file.moveTo };
  const hunks = offeredHunks(prepared, at, destination === undefined ? "it is" : "moved");
  return { path: target.absolute, ...questionOf(prepared), ...moved, hunks };
}

/** Characters of all diffs in one question: more than a person reads. */
const questionCharsMax = 1_000_000;

function wholeQuestion(files: readonly FileQuestion[]): Preview {
  const [first, ...others] = files;
  if (others.length === 0) return { ...first };
  let charsLeft = questionCharsMax;
  const shown = files.map((file) => {
    charsLeft -= file.diff.length;
    // What is not shown cannot be chosen; that a file is deleted is shown in any case.
    const hunks = file.deletes === true ? file.hunks : [];
    return charsLeft >= 0 ? file : { ...file, diff: `${noDiffLine}\n`, hunks };
  });
  return {
    diff: shown.map(({ diff }) => diff).join(""),
    files: shown.map(({ hunks: _hunks, ...file }) => file),
    hunks: shown.flatMap(({ hunks }) => hunks),
  };
}

async function destinationOf(file: FilePlan, context: ToolContext): Promise<Target | undefined> {
  if (file.moveTo === undefined) return undefined;
  const destination = await resolveChangeTarget(file.moveTo, context);
  if (destination.is === "new") {
    requireFileName(destination.target);
    return destination.target;
  }
  destination.node.handle.close();
  refuseDenied(destination.target, context);
  throw new Problem({ code: "EXISTS", place: destination.target, reason: "file" });
}

function refuseIfThere(file: FilePlan, changeTarget: ChangeTarget, context: ToolContext): void {
  if (file.does === "add" && changeTarget.is === "there") {
    refuseDenied(changeTarget.target, context);
    throw new Problem({ code: "EXISTS", place: changeTarget.target, reason: "file" });
  }
}

/** Throws if two sections change the same file, or if one file would be the folder of another. */
function refuseClashes(targets: readonly Target[]): void {
  const refuse = (fault: "two names" | "in a new file", { asked }: Target): Problem =>
    new Problem({ code: "INVALID_PARAM", reason: "patch", fault, line: 1, text: asked });
  const files = new Set<string>();
  for (const target of targets) {
    if (files.has(target.real)) throw refuse("two names", target);
    files.add(target.real);
  }
  const folders = new Set<string>();
  for (const target of targets) {
    for (let above = nodePath.dirname(target.real); !folders.has(above); above = nodePath.dirname(above)) {
      if (files.has(above)) throw refuse("in a new file", target);
      folders.add(above);
    }
  }
}

/** Writing a file in place changes it under all of its hard links, so no other section may have planned with one of them. */
function refuseSharedInodes(jobs: readonly Job[], { changes }: ToolContext): void {
  if (changes.hardLinks !== "keep") return;
  const there = jobs.flatMap(({ does, moved, prepared }) =>
    prepared.is === "new" ? [] : [{ prepared, inPlace: does === "update" && moved === undefined }],
  );
  const inPlaceByInode = new Map<string, boolean>();
  for (const { prepared, inPlace } of there) {
    const { device, inode } = prepared.file.identity;
    const key = `${device}:${inode}`;
    const twin = inPlaceByInode.get(key);
    inPlaceByInode.set(key, inPlace || twin === true);
    if (twin === undefined || !(inPlace || twin)) continue;
    const text = prepared.target.asked;
    throw new Problem({ code: "INVALID_PARAM", reason: "patch", fault: "two names", line: 1, text });
  }
}

async function jobOf(file: FilePlan, changeTarget: ChangeTarget, context: ToolContext): Promise<Job> {
  refuseIfThere(file, changeTarget, context);
  const prepared = await prepare(changeTarget, file.plan, context);
  using handles = new HandleStack();
  handles.use(openFileOf(prepared));
  const target = await destinationOf(file, context);
  const isMoved = target !== undefined && prepared.is === "there" && prepared.old !== undefined;
  const moved = isMoved
    ? {
        target,
        bytes: joined(prepared.planned.pieces, prepared.old),
        mode: prepared.planned.mode ?? prepared.file.mode,
      }
    : undefined;
  handles.move();
  return { does: file.does, prepared, moved };
}

// Writing all files or none (`disk/write/change-set.ts`).

interface Job {
  readonly does: FilePlan["does"];
  readonly prepared: Prepared<MatchedBy>;
  readonly moved: { readonly target: Target; readonly bytes: Buffer; readonly mode: number } | undefined;
}

type Existing = Extract<Prepared<MatchedBy>, { readonly is: "there" }>;
type Notes = readonly ChangeNote[];

/** One change of one name: a moved file takes two steps. */
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
    for (const [step, more] of await runTogether(steps, locks, context)) add(step.job, more);
  }
  return jobs.map((job) => shownAs(job, notes.get(job) ?? []));
}

/** Removals come last, so that a failure before them leaves the old files in place. */
function stepsOf(jobs: readonly Job[]): readonly Step[] {
  const writes = jobs.flatMap((job): readonly Step[] => {
    if (job.does === "delete") return [];
    const { target } = job.moved ?? job.prepared;
    return [{ job, target, run: (recorder, context) => writeJob(job, recorder, context) }];
  });
  const removals = jobs.flatMap((job): readonly Step[] => {
    const { prepared, moved } = job;
    if (prepared.is === "new" || (job.does !== "delete" && moved === undefined)) return [];
    const to = moved === undefined ? undefined : { movedTo: moved.target.real };
    return [
      { job, target: prepared.target, run: (recorder, context) => commitRemoval(prepared, recorder, context, to) },
    ];
  });
  return [...writes, ...removals];
}

async function writeJob({ prepared, moved }: Job, recorder: HistoryRecorder, context: ToolContext): Promise<Notes> {
  if (moved === undefined) {
    const { notes } = await writePrepared(prepared, context, recorder);
    // `shownAs` adds the notes of the plan again.
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

interface StagedStep {
  readonly step: Step;
  readonly recorder: HistoryRecorder;
  readonly staged: Staged<Notes>;
}

/** Stages all steps before the first takes effect; rolls back those that did if one fails. */
async function runTogether(
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
  const stagedSteps: StagedStep[] = [];
  const notes = new Map<Step, Notes>();
  try {
    for (const step of steps) {
      const recorder = createRecorder(await context.turn(), step.target);
      stagedSteps.push({ step, recorder, staged: await set.stage(() => step.run(recorder, within)) });
      await yieldToEventLoop(); // a write may finish without a single wait
    }
    const [first] = steps;
    const stopped = await set.begin();
    if (stopped !== undefined && first !== undefined) throw problemOf(first.target, stopped);
    for (const { step, staged } of stagedSteps) {
      context.signal.throwIfAborted();
      staged.go?.();
      notes.set(step, await staged.over);
      await yieldToEventLoop();
    }
    const { errno } = await orProblem(steps, () => set.finish());
    if (errno === undefined) return notes;
    return new Map([...notes].map(([step, some]) => [step, [...some, { note: "unconfirmed", errno }]]));
  } catch (error) {
    const results = await set.takeBack(error);
    const putBack: Place[] = [];
    const left: Place[] = [];
    for (const { step, recorder } of stagedSteps.toReversed()) {
      const { target } = step;
      const result = results.get(target.real);
      if (result === undefined) continue;
      context.ledger.drop(target.real);
      if (result === "failed" || (result === "not ours" && notes.has(step))) left.push(target);
      else {
        recorder.undone();
        if (result === "put back") putBack.push(target);
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
  const [firstLeft] = left;
  const isCancelled = signal.aborted && error === signal.reason;
  // Even a cancelled call must report the files that could not be put back.
  const changed = firstLeft && ({ code: "STALE", place: firstLeft, reason: "while changing it" } as const);
  const cause: ProblemData | undefined = error instanceof Problem ? error.data : isCancelled ? changed : undefined;
  if (cause === undefined || place === undefined) return error;
  return new Problem({ code: "ROLLED_BACK", place, cause, putBack, left });
}

function problemOf(
  place: Target,
  stopped: Awaited<ReturnType<ReturnType<ToolContext["disk"]["together"]>["begin"]>>,
): Problem {
  if (stopped?.why === "refused") return writeProblem(place, stopped.errno, stopped.during);
  return new Problem({ code: "STALE", place, reason: "while changing it" });
}

async function orProblem<Result>([first]: readonly Step[], work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WriteFailed && first !== undefined)
      throw writeProblem(first.target, error.errno, error.during);
    throw error;
  }
}

function shownAs(job: Job, notes: ChangedFile["notes"]): ChangedFile {
  const file = changedFileOf(job.prepared, notes);
  if (job.does === "delete") return { ...file, did: "deleted" };
  if (job.moved === undefined) return file;
  return { ...file, did: "moved", target: job.moved.target, movedFrom: file.target };
}

/** Symlinks are neither deleted nor moved: the file that they lead to would go, and the history cannot bring back a link. */
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

/** Is the last name of the path a symlink? Links before it only spell the folder differently. */
async function isLink({ absolute, real }: Target, { disk }: ToolContext): Promise<boolean> {
  const name = nodePath.basename(absolute);
  const above = disk.lookup(nodePath.dirname(absolute));
  if (above.seen !== "node") return false;
  using _handle = above.handle;
  if (nodePath.join(above.real, name) === real) return false;
  const entries = above.kind === "directory" ? await disk.list(above) : { errno: "ENOTDIR" };
  const own = "errno" in entries ? undefined : entries.find((entry) => entry.name === name);
  // The disk may list the name in another spelling (case, Unicode form); then the real path shows whether it is a link.
  return own === undefined ? nodePath.dirname(real) !== above.real : own.kind === "link";
}
