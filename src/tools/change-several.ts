/**
 * Several files in one call, all of them or none. Everything is planned and permitted before anything is written; if writing
 * fails half way, what was written is put back.
 */

import * as nodePath from "node:path";
import type { MatchedBy, PatchOutcome } from "../contract/edit.ts";
import type { ToldChange } from "../contract/language.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Profile } from "../contract/profile.ts";
import type { Target } from "../contract/target.ts";
import { permitted } from "./change.ts";
import type { Plan } from "./plan.ts";
import { diffText, prepare } from "./prepare.ts";
import { joined, requireNothingAt, requireWritable } from "./commit.ts";
import { formatted } from "./formatted.ts";
import { reported, tell } from "./languages.ts";
import { type Job, shownAs, writeAll } from "./patch-write.ts";
import { refuseLink } from "./refuse-link.ts";
import { exclusively, heldBy, refuseDenied, requireFileName, type Subject, subjectOf } from "./subject.ts";
import type { Bench } from "./tool.ts";

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
  bench: Bench,
): Promise<PatchOutcome> {
  const { outcome, told } = await appliedAtRest(parts, profile, bench);
  // There is one wait for all files.
  return { ...outcome, files: await reported(outcome.files, told, bench) };
}

/** What was done, and that language servers were told of it. */
interface Made {
  readonly outcome: PatchOutcome;
  readonly told: ToldChange | undefined;
}

async function appliedAtRest(parts: readonly [Part, ...Part[]], profile: Profile, bench: Bench): Promise<Made> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await applied(parts, profile, bench);
    if ("told" in outcome) return outcome;
    // Who is asked about files that never rest would be asked without end.
    if (tries >= limits.lookupTriesMax) throw new Problem({ code: "CHANGED", place: outcome.askAgain });
  }
}

async function applied(
  all: readonly [Part, ...Part[]],
  profile: Profile,
  bench: Bench,
): Promise<Made | { readonly askAgain: Target }> {
  const [first, ...others] = all;
  let looked: Promise<void> | undefined;
  const beforeAsking = (): Promise<void> => (looked ??= foresee(all, bench));
  const answers: [Permitted, ...Permitted[]] = [await asked(first, beforeAsking, bench)];
  for (const file of others) answers.push(await asked(file, beforeAsking, bench));
  const [head, ...rest] = answers;
  const targets: [Target, ...Target[]] = [...targetsOf(head), ...rest.flatMap(targetsOf)];
  refuseClashes(targets);

  return exclusively(targets, bench, async (locks) => {
    const subjects: Subject[] = [];
    const jobs: Job[] = [];
    try {
      for (const [index, file] of all.entries()) {
        const subject = await subjectOf(file.path, bench);
        subjects.push(subject);
        const answer = answers[index] ?? head;
        // Before anything of it is read: what it says could stand in an error.
        if (subject.target.real !== answer.target.real) throw new Problem({ code: "CHANGED", place: answer.target });
        const job = await jobOf(file, subject, bench);
        jobs.push(job);
        if (job.moved?.target.real !== answer.goal?.real) throw new Problem({ code: "CHANGED", place: answer.target });
        // A yes was said to what was shown, and to nothing else.
        const { approved } = answer;
        if (approved !== undefined && approved !== diffText(job.prepared)) return { askAgain: subject.target };
      }
      refuseTwins(jobs, bench);
      bench.signal.throwIfAborted();
      // What can be known before is not found out half way.
      const foreseen = jobs.map(({ prepared, moved }) => {
        const notes = requireWritable(prepared, bench);
        // What is moved is made anew at its goal: what holds for writing over a file is not told of it.
        return moved === undefined ? notes : requireNothingAt(moved.target, bench);
      });
      const files = bench.dryRun
        ? jobs.map((job, at) => shownAs(job, foreseen[at] ?? []))
        : [...(await writeAll(jobs, locks, bench))];
      // Only when all are written: until then they may be put back.
      const formatting = { hangs: false };
      for (const [at, file] of files.entries()) files[at] = await formatted(file, profile, bench, formatting);
      const [one, ...more] = files;
      if (one === undefined) throw new Error("there is at least one file");
      const outcome: PatchOutcome = {
        kind: "patch",
        target: one.target,
        files: [one, ...more],
        matchedBy: jobs.map(({ prepared }) => prepared.extra).find((step) => step !== "exact") ?? "exact",
        dryRun: bench.dryRun,
      };
      return { outcome, told: await tell(files, bench) };
    } finally {
      for (const { prepared } of jobs) prepared.close();
      for (const subject of subjects) if (subject.is === "there") subject.found.held.close();
    }
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
async function foresee(parts: readonly Part[], bench: Bench): Promise<void> {
  for (const part of parts) {
    const subject = await subjectOf(part.path, bench);
    try {
      refuseIfThere(part, subject, bench);
      if (subject.is === "there" && bench.guard.explain("patch", "read", part.path).verdict !== "allow") continue;
      const prepared = await prepare(subject, part.plan, bench);
      try {
        requireWritable(prepared, bench);
      } finally {
        prepared.close();
      }
    } finally {
      heldBy(subject)?.close();
    }
  }
}

/** Everything that is to be permitted, before anything is locked or written. */
async function asked(file: Part, beforeAsking: () => Promise<void>, bench: Bench): Promise<Permitted> {
  const subject = await subjectOf(file.path, bench);
  const { target } = subject;
  let approved: string | undefined;
  try {
    refuseIfThere(file, subject, bench);
    if (subject.is === "there" && file.does === "delete") await refuseLink(target, "be deleted", bench);
    if (subject.is === "there" && file.moveTo !== undefined) await refuseLink(target, "be moved", bench);
    // Nobody is asked about a move that cannot be made.
    const goal = await goalOf(file, bench);
    approved = await permitted(subject, file.plan, bench, { movedTo: file.moveTo, beforeAsking });
    if (goal === undefined) return { target, goal, approved };
    const preview = async () => {
      const prepared = await prepare(subject, file.plan, bench);
      prepared.close();
      await beforeAsking();
      approved = diffText(prepared);
      return { diff: approved, movedFrom: target.absolute };
    };
    const { signal, dryRun } = bench;
    await bench.guard.permit("edit", goal, signal, { preview, dryRun });
    return { target, goal, approved };
  } finally {
    if (subject.is === "there") subject.found.held.close();
  }
}

/** Where a file is moved to: nothing may be there. */
async function goalOf(file: Part, bench: Bench): Promise<Target | undefined> {
  if (file.moveTo === undefined) return undefined;
  const goal = await subjectOf(file.moveTo, bench);
  if (goal.is === "new") {
    requireFileName(goal.target);
    return goal.target;
  }
  goal.found.held.close();
  refuseDenied(goal.target, bench);
  throw new Problem({ code: "EXISTS", place: goal.target, reason: "file" });
}

function refuseIfThere(file: Part, subject: Subject, bench: Bench): void {
  if (file.does === "add" && subject.is === "there") {
    refuseDenied(subject.target, bench);
    throw new Problem({ code: "EXISTS", place: subject.target, reason: "file" });
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
function refuseTwins(jobs: readonly Job[], { changes }: Bench): void {
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

async function jobOf(file: Part, subject: Subject, bench: Bench): Promise<Job> {
  refuseIfThere(file, subject, bench);
  const prepared = await prepare(subject, file.plan, bench);
  try {
    const goal = await goalOf(file, bench);
    if (goal === undefined || prepared.is === "new" || prepared.old === undefined) {
      return { does: file.does, prepared, moved: undefined };
    }
    const bytes = joined(prepared.planned.pieces, prepared.old);
    return { does: file.does, prepared, moved: { target: goal, bytes, mode: prepared.file.mode } };
  } catch (error) {
    prepared.close();
    throw error;
  }
}
