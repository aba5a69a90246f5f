/** Writing the files of a patch, and putting back what was written when one of them fails. */

import type { ChangedFile, ChangeNote, MatchedBy } from "../contract/edit.ts";
import { Problem } from "../contract/problem.ts";
import type { Place, Target } from "../contract/target.ts";
import type { Found } from "../disk/look.ts";
import { type OpenFile, ReadFailed } from "../disk/open-file.ts";
import { othersTurn } from "../disk/others-turn.ts";
import { FileCut } from "../disk/scan.ts";
import { wholeFile } from "../disk/whole-file.ts";
import { write } from "./change.ts";
import { fileOf, type Prepared } from "./prepare.ts";
import { commitNew, commitRemoval } from "./commit.ts";
import type { PatchFile } from "../text/patch.ts";
import { stampOf } from "./stamp.ts";
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

/** How a step is taken back. */
interface Undo {
  readonly place: Place;
  readonly keeper: Keeper;
  readonly run: () => Promise<boolean>;
}

/** Files are taken away last: that is what cannot be undone without making them anew. */
export async function writeAll(jobs: readonly Job[], bench: Bench): Promise<readonly ChangedFile[]> {
  const undos: Undo[] = [];
  const touched = new Set<string>();
  const notes = new Map<Job, readonly ChangeNote[]>();
  try {
    for (const job of jobs) {
      if (job.does === "delete") continue;
      notes.set(job, await put(job, bench, undos, touched));
      await othersTurn(); // a write may wait for nothing, and others want their turn
    }
    for (const job of jobs) {
      if (job.does !== "delete" && job.moved === undefined) continue;
      notes.set(job, [...(notes.get(job) ?? []), ...(await take(job, bench, undos, touched))]);
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

/** By which two names of one file are known. */
const inodeOf = ({ file }: Existing): string => `${file.identity.device}:${file.identity.inode}`;

/**
 * A file of which an earlier step took one of its other names: by that its times are others, and nothing else is. Where more is,
 * it stays as it was, and the disk refuses it.
 */
async function renewed(prepared: Existing, touched: Set<string>, { disk }: Bench): Promise<Existing> {
  const isTouched = touched.has(inodeOf(prepared));
  touched.add(inodeOf(prepared));
  const { old, file: before, subject } = prepared;
  if (!isTouched || old === undefined) return prepared;
  const file = disk.open(subject.found);
  if ("errno" in file) return prepared;
  const isSame = file.identity.mtimeNs === before.identity.mtimeNs && (await holds(file, old));
  if (isSame) return { ...prepared, file, close: () => file.close() };
  file.close();
  return prepared;
}

async function holds(file: OpenFile, bytes: Buffer): Promise<boolean> {
  try {
    return file.sizeBytes === bytes.length && ((await wholeFile(file, bytes.length))?.equals(bytes) ?? false);
  } catch (error) {
    if (error instanceof ReadFailed || error instanceof FileCut) return false;
    throw error;
  }
}

async function put(job: Job, bench: Bench, undos: Undo[], touched: Set<string>): Promise<readonly ChangeNote[]> {
  const { prepared, moved } = job;
  const { target } = moved ?? prepared;
  const keeper = keeperOf(await bench.turn(), target);
  if (moved === undefined && prepared.is === "there") {
    const now = await renewed(prepared, touched, bench);
    const { notes } = await write(now, bench, keeper).finally(now.close);
    const { old } = prepared;
    undos.push({ place: target, keeper, run: () => writeAgain(target, old, bench) });
    // Those of the plan come with the file itself.
    return notes.filter((note) => !prepared.planned.notes.includes(note));
  }
  let folders: readonly string[] = [];
  const notes = await commitNew(newFileOf(job), keeper, bench, {
    ...(moved && { moved: { movedFrom: prepared.target.real } }),
    onFolders: (made) => (folders = made),
  });
  undos.push({ place: target, keeper, run: () => removeAgain(target, folders, bench) });
  return notes;
}

function newFileOf({ prepared, moved }: Job): Extract<Prepared<MatchedBy>, { readonly is: "new" }> {
  if (prepared.is === "new") return prepared;
  if (moved === undefined) throw new Error("a file that is there is made anew only where it is moved to");
  const { diff, extra, remember, planned } = prepared;
  const { target, bytes, mode } = moved;
  const kept = { like: likeOf(prepared), remember, wrote: planned.wrote };
  return { is: "new", target, bytes, mode, diff, extra, ...kept, close: () => undefined };
}

const likeOf = ({ subject, file }: Existing) => ({
  found: subject.found,
  file,
});

async function take(job: Job, bench: Bench, undos: Undo[], touched: Set<string>): Promise<readonly ChangeNote[]> {
  const { prepared } = job;
  if (prepared.is === "new") return [];
  const { target } = prepared;
  const keeper = keeperOf(await bench.turn(), target);
  const moved = job.moved === undefined ? undefined : { movedTo: job.moved.target.real };
  const now = await renewed(prepared, touched, bench);
  const notes = await commitRemoval(now, keeper, bench, moved).finally(() => now !== prepared && now.close());
  undos.push({ place: target, keeper, run: () => createAgain(prepared, bench) });
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

/** Is it what was written a moment ago? What somebody else made of it since is not taken away from them. */
async function isOurs(target: Target, file: OpenFile, { ledger }: Bench): Promise<boolean> {
  const seen = await ledger.seen(target.real, stampOf(file), () => Promise.resolve(undefined));
  ledger.drop(target.real);
  return seen.state === "fresh";
}

async function removeAgain(target: Target, folders: readonly string[], bench: Bench): Promise<boolean> {
  const { disk } = bench;
  const isGone = await withFile(target, bench, async (found, file) => {
    if (!(await isOurs(target, file, bench))) return false;
    const removed = await disk.remove({ found, identity: file.identity, signal: uninterrupted() });
    return removed.did !== "nothing";
  });
  // One that somebody has put something into stays.
  if (isGone !== false) for (const folder of folders.toReversed()) await disk.removeFolder(folder);
  return isGone !== false;
}

async function writeAgain(target: Target, old: Buffer | undefined, bench: Bench): Promise<boolean> {
  const isBack = await withFile(target, bench, async (found, file) => {
    if (!(await isOurs(target, file, bench)) || old === undefined) return false;
    const pieces = old.length === 0 ? [] : [old];
    // Other names that were kept got the new content too.
    const { hardLinks } = bench.changes;
    const replaced = await bench.disk.replace({ found, file, pieces, hardLinks, signal: uninterrupted() });
    return replaced.did === "replaced" || replaced.did === "unconfirmed";
  });
  return isBack === true;
}

/** What the work answers; `missing` if there is nothing any more, false if it cannot be worked on. */
async function withFile(
  target: Target,
  { disk, ledger }: Bench,
  work: (found: Found, file: OpenFile) => Promise<boolean>,
): Promise<boolean | "missing"> {
  const look = disk.look(target.real);
  if (look.seen !== "node") {
    ledger.drop(target.real);
    return look.seen === "missing" ? "missing" : false;
  }
  const file = disk.open(look);
  try {
    return "errno" in file ? false : await work(look, file);
  } finally {
    if (!("errno" in file)) file.close();
    look.held.close();
  }
}

async function createAgain(prepared: Existing, { disk }: Bench): Promise<boolean> {
  const { target, old, file } = prepared;
  if (old === undefined) return false;
  const pieces = old.length === 0 ? [] : [old];
  const input = { real: target.real, pieces, mode: file.mode, signal: uninterrupted() };
  const created = await disk.create({ ...input, like: likeOf(prepared) });
  // Where a file without a name can be asked for nothing: rather without its owner and attributes than not at all.
  if (created.did === "nothing" && created.why === "refused") return (await disk.create(input)).did !== "nothing";
  return created.did !== "nothing";
}

export function shownAs(job: Job, notes: ChangedFile["notes"]): ChangedFile {
  const file = fileOf(job.prepared, notes);
  if (job.does === "delete") return { ...file, did: "deleted" };
  if (job.moved === undefined) return file;
  return { ...file, did: "moved", target: job.moved.target, movedFrom: file.target };
}
