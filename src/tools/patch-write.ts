/** Writing the files of a patch, and putting back what was written when one of them fails. */

import type { ChangedFile, ChangeNote, MatchedBy } from "../contract/edit.ts";
import { Problem } from "../contract/problem.ts";
import type { Place, Target } from "../contract/target.ts";
import { othersTurn } from "../disk/others-turn.ts";
import { write } from "./change.ts";
import { fileOf, type Prepared } from "./prepare.ts";
import { commitNew, commitRemoval } from "./commit.ts";
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

/** How a step is taken back. */
interface Undo {
  readonly place: Place;
  readonly keeper: Keeper;
  readonly run: () => Promise<boolean>;
}

/** Files are taken away last: that is what cannot be undone without making them anew. */
export async function writeAll(jobs: readonly Job[], bench: Bench): Promise<readonly ChangedFile[]> {
  const undos: Undo[] = [];
  const notes = new Map<Job, readonly ChangeNote[]>();
  try {
    for (const job of jobs) {
      if (job.does === "delete") continue;
      notes.set(job, await put(job, bench, undos));
      await othersTurn(); // a write may wait for nothing, and others want their turn
    }
    for (const job of jobs) {
      if (job.does !== "delete" && job.moved === undefined) continue;
      notes.set(job, [...(notes.get(job) ?? []), ...(await take(job, bench, undos))]);
      await othersTurn();
    }
  } catch (error) {
    if (undos.length === 0) throw error;
    const { putBack, left } = await takeBack(undos);
    const [place] = [...left, ...putBack];
    if (!(error instanceof Problem) || place === undefined) throw error;
    throw new Problem({ code: "ROLLED_BACK", place, cause: error.data, putBack, left });
  }
  return jobs.map((job) => shownAs(job, notes.get(job) ?? []));
}

async function put(job: Job, bench: Bench, undos: Undo[]): Promise<readonly ChangeNote[]> {
  const { prepared, moved } = job;
  if (moved !== undefined) {
    const { target, bytes, mode } = moved;
    const made = {
      is: "new",
      target,
      bytes,
      mode,
      diff: prepared.diff,
      extra: undefined,
      ...(prepared.is === "there" && { remember: prepared.remember, wrote: prepared.planned.wrote }),
      close: () => undefined,
    } as const;
    const keeper = keeperOf(await bench.turn(), target);
    const notes = await commitNew(made, keeper, bench, { movedFrom: prepared.target.real });
    undos.push({ place: target, keeper, run: () => removeAgain(target, bench) });
    return notes;
  }
  const { target } = prepared;
  const keeper = keeperOf(await bench.turn(), target);
  const { notes } = await write(prepared, bench, keeper);
  if (prepared.is === "new") undos.push({ place: target, keeper, run: () => removeAgain(target, bench) });
  else {
    const { old } = prepared;
    undos.push({ place: target, keeper, run: () => writeAgain(target, old, bench) });
  }
  // Those of the plan come with the file itself.
  return notes.filter((note) => prepared.is === "new" || !prepared.planned.notes.includes(note));
}

async function take(job: Job, bench: Bench, undos: Undo[]): Promise<readonly ChangeNote[]> {
  const { prepared } = job;
  if (prepared.is === "new") return [];
  const { target, old, file } = prepared;
  const keeper = keeperOf(await bench.turn(), target);
  const moved = job.moved === undefined ? undefined : { movedTo: job.moved.target.real };
  const notes = await commitRemoval(prepared, keeper, bench, moved);
  undos.push({ place: target, keeper, run: () => createAgain(target, old, file.mode, bench) });
  return notes;
}

async function takeBack(undos: readonly Undo[]): Promise<{ readonly putBack: Place[]; readonly left: Place[] }> {
  const putBack: Place[] = [];
  const left: Place[] = [];
  for (const { place, keeper, run } of undos.toReversed()) {
    const isBack = await run();
    if (isBack) keeper.undone();
    (isBack ? putBack : left).push(place);
  }
  return { putBack, left };
}

/** Undoing must come to its end, whoever has lost interest. */
const uninterrupted = (): AbortSignal => new AbortController().signal;

async function removeAgain(target: Target, { disk, ledger }: Bench): Promise<boolean> {
  ledger.drop(target.real);
  const look = disk.look(target.real);
  if (look.seen !== "node") return look.seen === "missing";
  try {
    const removed = await disk.remove({ found: look, identity: look.held.identity, signal: uninterrupted() });
    return removed.did !== "nothing";
  } finally {
    look.held.close();
  }
}

async function writeAgain(target: Target, old: Buffer | undefined, { disk, ledger }: Bench): Promise<boolean> {
  ledger.drop(target.real);
  const look = disk.look(target.real);
  if (look.seen !== "node") return false;
  const file = disk.open(look);
  try {
    if ("errno" in file || old === undefined) return false;
    const pieces = old.length === 0 ? [] : [old];
    const replaced = await disk.replace({ found: look, file, pieces, hardLinks: "separate", signal: uninterrupted() });
    return replaced.did === "replaced" || replaced.did === "unconfirmed";
  } finally {
    if (!("errno" in file)) file.close();
    look.held.close();
  }
}

async function createAgain(target: Target, old: Buffer | undefined, mode: number, { disk }: Bench): Promise<boolean> {
  if (old === undefined) return false;
  const pieces = old.length === 0 ? [] : [old];
  const created = await disk.create({ real: target.real, pieces, mode, signal: uninterrupted() });
  return created.did !== "nothing";
}

export function shownAs(job: Job, notes: ChangedFile["notes"]): ChangedFile {
  const file = fileOf(job.prepared, notes);
  if (job.does === "delete") return { ...file, did: "deleted" };
  if (job.moved === undefined) return file;
  return { ...file, did: "moved", target: job.moved.target, movedFrom: file.target };
}
