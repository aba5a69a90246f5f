/** Writing the files of a patch: all of them, or none (`disk/change-set.ts`). */

import type { ChangedFile, ChangeNote, MatchedBy } from "../contract/edit.ts";
import { Problem, type ProblemData } from "../contract/problem.ts";
import type { Place, Target } from "../contract/target.ts";
import type { Staged } from "../disk/change-set.ts";
import type { HeldLocks } from "../disk/lock.ts";
import { othersTurn } from "../disk/others-turn.ts";
import { WriteFailed } from "../disk/write-failed.ts";
import { write } from "./change.ts";
import { fileOf, type Prepared } from "./prepare.ts";
import { commitNew, commitRemoval, refused } from "./commit.ts";
import type { PatchFile } from "../text/patch.ts";
import type { Bench } from "./tool.ts";
import { type Keeper, keeperOf } from "./turn.ts";

/** One file of a patch, ready to be written. */
export interface Job {
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
  readonly run: (keeper: Keeper, bench: Bench) => Promise<Notes>;
}

export async function writeAll(jobs: readonly Job[], locks: HeldLocks, bench: Bench): Promise<readonly ChangedFile[]> {
  const steps = stepsOf(jobs);
  const notes = new Map<Job, Notes>();
  const add = (job: Job, more: Notes): void => void notes.set(job, [...(notes.get(job) ?? []), ...more]);
  const [first, ...others] = steps;
  if (first !== undefined && others.length === 0) {
    add(first.job, await first.run(keeperOf(await bench.turn(), first.target), bench));
  } else {
    for (const [step, more] of await together(steps, locks, bench)) add(step.job, more);
  }
  return jobs.map((job) => shownAs(job, notes.get(job) ?? []));
}

/** Files are taken away last: until then whatever fails leaves them where they are. */
function stepsOf(jobs: readonly Job[]): readonly Step[] {
  const puts = jobs.flatMap((job): readonly Step[] => {
    if (job.does === "delete") return [];
    const { target } = job.moved ?? job.prepared;
    return [{ job, target, run: (keeper, bench) => put(job, keeper, bench) }];
  });
  const takes = jobs.flatMap((job): readonly Step[] => {
    const { prepared, moved } = job;
    if (prepared.is === "new" || (job.does !== "delete" && moved === undefined)) return [];
    const to = moved === undefined ? undefined : { movedTo: moved.target.real };
    return [{ job, target: prepared.target, run: (keeper, bench) => commitRemoval(prepared, keeper, bench, to) }];
  });
  return [...puts, ...takes];
}

async function put({ prepared, moved }: Job, keeper: Keeper, bench: Bench): Promise<Notes> {
  if (moved === undefined) {
    const { notes } = await write(prepared, bench, keeper);
    // Those of the plan come with the file itself.
    return prepared.is === "new" ? notes : notes.filter((note) => !prepared.planned.notes.includes(note));
  }
  if (prepared.is === "new") throw new Error("a file that is not there is not moved");
  return commitNew(movedFile(prepared, moved), keeper, bench, { movedFrom: prepared.target.real });
}

function movedFile(prepared: Existing, { target, bytes, mode }: NonNullable<Job["moved"]>) {
  const { diff, extra, remember, planned, subject, file } = prepared;
  const kept = { like: { found: subject.found, file }, remember, wrote: planned.wrote };
  return { is: "new", target, bytes, mode, diff, extra, ...kept, close: () => undefined } as const;
}

interface Begun {
  readonly step: Step;
  readonly keeper: Keeper;
  readonly staged: Staged<Notes>;
}

/** All are prepared before the first is made. */
async function together(steps: readonly Step[], locks: HeldLocks, bench: Bench): Promise<ReadonlyMap<Step, Notes>> {
  const set = bench.disk.together(
    steps.map(({ target }) => target.real),
    locks,
  );
  const { replace, create, remove } = set;
  const within: Bench = { ...bench, disk: { ...bench.disk, replace, create, remove } };
  const begun: Begun[] = [];
  const notes = new Map<Step, Notes>();
  try {
    for (const step of steps) {
      const keeper = keeperOf(await bench.turn(), step.target);
      begun.push({ step, keeper, staged: await set.stage(() => step.run(keeper, within)) });
      await othersTurn(); // a write may wait for nothing, and others want their turn
    }
    const [first] = steps;
    const stopped = await set.begin();
    if (stopped !== undefined && first !== undefined) throw problemOf(first.target, stopped);
    for (const { step, staged } of begun) {
      bench.signal.throwIfAborted();
      staged.go?.();
      notes.set(step, await staged.over);
      await othersTurn();
    }
    const errno = await orProblem(steps, () => set.finish());
    if (errno === undefined) return notes;
    return new Map([...notes].map(([step, some]) => [step, [...some, { note: "unconfirmed", errno }]]));
  } catch (error) {
    const came = await set.takeBack(error);
    const putBack: Place[] = [];
    const left: Place[] = [];
    for (const { step, keeper } of begun.toReversed()) {
      const { target } = step;
      const how = came.get(target.real);
      if (how === undefined) continue;
      bench.ledger.drop(target.real);
      if (how === "failed" || (how === "not ours" && notes.has(step))) left.push(target);
      else {
        keeper.undone();
        if (how === "put back") putBack.push(target);
      }
    }
    throw rolledBack(error, putBack, left, bench);
  }
}

function rolledBack(error: unknown, putBack: readonly Place[], left: readonly Place[], { signal }: Bench): unknown {
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
  stopped: Awaited<ReturnType<ReturnType<Bench["disk"]["together"]>["begin"]>>,
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

export function shownAs(job: Job, notes: ChangedFile["notes"]): ChangedFile {
  const file = fileOf(job.prepared, notes);
  if (job.does === "delete") return { ...file, did: "deleted" };
  if (job.moved === undefined) return file;
  return { ...file, did: "moved", target: job.moved.target, movedFrom: file.target };
}
