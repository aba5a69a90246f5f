/**
 * Move: a file, or a folder with all that is in it, gets another name. A folder is moved in one step of the system, so that all of it
 * is at one place or at the other; every file in it is permitted, locked and written down under both of its names before.
 */

import * as nodePath from "node:path";
import type { RealPath } from "../contract/brand.ts";
import type { ChangedFile, ChangeNote, MatchedBy, PatchOutcome } from "../contract/edit.ts";
import { Problem } from "../contract/problem.ts";
import type { Profile } from "../contract/profile.ts";
import type { Target } from "../contract/target.ts";
import type { MoveInput } from "../disk/whole-folder.ts";
import { refusal } from "../guard/guard.ts";
import { permitted } from "./change.ts";
import { diffText, fileOf, type Prepared, prepare } from "./prepare.ts";
import { changeSeveral } from "./change-several.ts";
import { hashIfSmall, rememberAs } from "./commit.ts";
import { folderFiles, isWithin } from "./folder-files.ts";
import { tell } from "./languages.ts";
import { type Located, locatePermitted, notFound } from "./locate.ts";
import { planOfBytes } from "./plan-of-bytes.ts";
import { refuseLink } from "./refuse-link.ts";
import { exclusively, refuseDenied, type Subject, subjectOf } from "./subject.ts";
import type { Bench, Tool } from "./tool.ts";
import { type Keeper, keeperOf } from "./turn.ts";

export const move: Tool<"move"> = async ({ path, to, profile }, bench) => {
  const located = await locatePermitted(path, "anything", bench);
  try {
    await refuseLink(located.target, "be moved", bench);
    const goal = await goalOf(to, bench);
    if (located.found.kind === "directory") return await moveFolder(located, goal, profile, bench);
  } finally {
    located.found.held.close();
  }
  const plan = planOfBytes("move", profile);
  return changeSeveral([{ path, does: "update", plan, moveTo: to }], profile, bench);
};

/** Nothing may be there, neither a file nor a folder. */
async function goalOf(to: string, bench: Bench): Promise<Target> {
  const resolved = bench.guard.resolve(to);
  if (resolved.seen === "missing" && resolved.target !== undefined) return resolved.target;
  if (resolved.seen !== "node") throw await notFound(resolved, "anything", bench);
  const { target, found } = resolved;
  found.held.close();
  refuseDenied(target, bench);
  const reason = found.kind === "directory" ? "folder" : "file";
  throw new Problem({ code: "EXISTS", place: target, reason });
}

/** One file of the folder: from where to where, and the diff that somebody said yes to, if somebody was asked. */
interface Pair {
  readonly path: string;
  readonly target: Target;
  readonly goal: Target;
  readonly approved: string | undefined;
}

async function moveFolder(located: Located, goal: Target, profile: Profile, bench: Bench): Promise<PatchOutcome> {
  const { target } = located;
  const { files, links } = await folderFiles(target, bench);
  if (isWithin(goal.real, target.real)) {
    throw new Problem({ code: "INVALID_PARAM", reason: "folder", place: target, fault: "into itself" });
  }
  const paths = files.map((file) => [nodePath.join(target.asked, file), nodePath.join(goal.asked, file)] as const);
  const { dryRun, signal } = bench;
  if (paths.length === 0) {
    for (const one of [target, goal]) await bench.guard.permit("edit", one, signal, { dryRun });
  }
  // A link is moved as it is, and what it leads to is run or obeyed under its new name as well.
  for (const link of links) await permitLink(entryOf(target, link), entryOf(goal, link), bench);
  const pairs: Pair[] = [];
  for (const [path, to] of paths) pairs.push(await asked(path, to, profile, bench));
  // The folders' own names are locked too: two moves of one folder are done one after the other.
  const locked: [Target, ...Target[]] = [target, goal, ...pairs.flatMap((one) => [one.target, one.goal])];
  const moved = await exclusively(locked, bench, () => moveNow(located, goal, pairs, profile, bench));
  const exact: MatchedBy = "exact";
  return { kind: "patch", target: goal, files: moved, matchedBy: exact, foldersLeft: [], dryRun };
}

/** The name of something in the folder; nothing is looked up, so a link is not followed. */
function entryOf(folder: Target, below: string): Target {
  const at = (path: string): string => nodePath.join(path, below);
  const slashed = below.split(nodePath.sep).join("/");
  return {
    asked: at(folder.asked),
    absolute: at(folder.absolute),
    relative: folder.relative === "" ? slashed : `${folder.relative}/${slashed}`,
    real: at(folder.real) as RealPath,
    realRelative: folder.realRelative === "" ? slashed : `${folder.realRelative}/${slashed}`,
    root: folder.root,
    is: "file",
  };
}

async function permitLink(target: Target, goal: Target, bench: Bench): Promise<void> {
  const { signal, dryRun } = bench;
  await bench.guard.permit("edit", target, signal, { preview: async () => ({ movedTo: goal.absolute }), dryRun });
  await bench.guard.permit("edit", goal, signal, { preview: async () => ({ movedFrom: target.absolute }), dryRun });
}

/** Everything that is to be permitted, before anything is locked or moved. */
async function asked(path: string, to: string, profile: Profile, bench: Bench): Promise<Pair> {
  const subject = await subjectOf(path, bench);
  const { target } = subject;
  try {
    const approved = await permitted(subject, planOfBytes("move", profile), bench);
    const goal = await goalOf(to, bench);
    const preview = async () => ({ diff: approved ?? "", movedFrom: target.absolute });
    const { signal, dryRun } = bench;
    await bench.guard.permit("edit", goal, signal, { preview, dryRun });
    return { path, target, goal, approved };
  } finally {
    if (subject.is === "there") subject.found.held.close();
  }
}

/** A file that is ready to be moved. */
interface Ready extends Pair {
  readonly prepared: Extract<Prepared<MatchedBy>, { readonly is: "there" }>;
}

async function moveNow(
  { target, found }: Located,
  goal: Target,
  pairs: readonly Pair[],
  profile: Profile,
  bench: Bench,
): Promise<readonly ChangedFile[]> {
  const ready: Ready[] = [];
  const subjects: Subject[] = [];
  const letGo = (): void => {
    for (const { prepared } of ready) prepared.close();
    for (const subject of subjects.splice(0)) if (subject.is === "there") subject.found.held.close();
  };
  try {
    for (const pair of pairs) {
      const subject = await subjectOf(pair.path, bench);
      subjects.push(subject);
      if (subject.target.real !== pair.target.real) throw new Problem({ code: "CHANGED", place: pair.target });
      const prepared = await prepare(subject, planOfBytes("move", profile), bench);
      if (prepared.is === "new") throw new Problem({ code: "CHANGED", place: pair.target });
      ready.push({ ...pair, prepared });
      const { approved } = pair;
      if (approved !== undefined && approved !== diffText(prepared)) {
        throw new Problem({ code: "CHANGED", place: pair.target });
      }
    }
    bench.signal.throwIfAborted();
    if (bench.dryRun) return ready.map((one) => shownAs(one, []));
    for (const one of [target, goal]) bench.guard.requireWriting(one);
    const keepers = new Map<Ready, Keepers>();
    const beforeSwap = async (): Promise<void> => {
      for (const one of ready) keepers.set(one, await keep(one, bench));
      letGo(); // some systems move no folder in which files are open
    };
    await swap({ found, to: goal.real, signal: bench.signal, beforeSwap }, [target, goal], keepers, bench);
    const moved = ready.map((one) => shownAs(one, finished(one, keepers.get(one), bench)));
    await tell(moved, bench);
    return moved;
  } finally {
    letGo();
  }
}

/** The old name of a file and the new one. */
type Keepers = readonly [Keeper, Keeper];

/** Its content is written down although it stays as it is: when the turn is undone it is made anew at its old place. */
async function keep({ target, goal, prepared }: Ready, bench: Bench): Promise<Keepers> {
  const { file, old } = prepared;
  const keepers: Keepers = [keeperOf(await bench.turn(), target), keeperOf(await bench.turn(), goal)];
  // The file lives on under its new name, so that no second name for it may stand for what it was.
  const before = { file, bytes: old, will: "be written in place", at: target.real } as const;
  await keepers[0].keep({ before, after: "absent", moved: { movedTo: goal.real } });
  const after = old === undefined ? { sizeBytes: file.sizeBytes, mode: file.mode } : { bytes: old, mode: file.mode };
  await keepers[1].keep({ before: "absent", after, moved: { movedFrom: target.real } });
  return keepers;
}

async function swap(
  input: MoveInput,
  [target, goal]: readonly [Target, Target],
  keepers: ReadonlyMap<Ready, Keepers>,
  bench: Bench,
): Promise<void> {
  const undone = (): void => [...keepers.values()].flat().forEach((keeper) => keeper.undone());
  let moved: Awaited<ReturnType<Bench["disk"]["moveFolder"]>>;
  try {
    moved = await bench.disk.moveFolder(input);
  } catch (error) {
    undone();
    throw error;
  }
  if (moved.did !== "nothing") return;
  undone();
  if (moved.why === "exists") throw new Problem({ code: "EXISTS", place: goal, reason: "folder" });
  if (moved.why === "changed") throw new Problem({ code: "CHANGED", place: target });
  throw refusal(target, moved.errno, moved.during);
}

/** What the session knew of a file it knows under its new name. */
function finished(
  { target, goal, prepared }: Ready,
  keepers: Keepers | undefined,
  bench: Bench,
): readonly ChangeNote[] {
  bench.ledger.drop(target.real);
  const look = bench.disk.look(goal.real);
  if (look.seen !== "node") return [];
  look.held.close();
  const { identity } = look.held;
  rememberAs(goal, identity, hashIfSmall(prepared.old), prepared.planned.wrote, bench);
  return keepers?.flatMap((keeper) => keeper.done(identity, prepared.file.mode)) ?? [];
}

function shownAs({ prepared, goal, target }: Ready, notes: readonly ChangeNote[]): ChangedFile {
  return { ...fileOf(prepared, notes), did: "moved", target: goal, movedFrom: target };
}
