/**
 * The spine of every change: find, ask, lock, look again, see whether the author knows the file as it is, plan, write.
 * Tools differ only in the plan. Nothing is created before it is permitted, and no lock is held while somebody is asked.
 */

import type { ChangedFile, ChangeNote, Hunk, Piece } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import type { ToldChange } from "../../contract/lsp.ts";
import { Problem } from "../../contract/problem.ts";
import type { Profile } from "../../contract/profile.ts";
import type { EncodingName } from "../../contract/read.ts";
import type { Target } from "../../contract/target.ts";
import type { OpenFile } from "../../disk/lookup/open-file.ts";
import type { Wrote } from "../../session/ledger.ts";
import { reported, tell } from "../languages.ts";
import type { Bench } from "../tool.ts";
import { commit, commitNew, requireWritable } from "./commit.ts";
import type { Before, BeforeJudged, Holds, Wants } from "./current-file.ts";
import { formatted } from "./formatted.ts";
import { diffText, fileOf, prepare, type Prepared, questionOf, openedBy } from "./prepare.ts";
import { exclusively, heldBy, isStill, keysOf, type Subject, subjectOf } from "./subject.ts";
import { type Keeper, keeperOf } from "./turn.ts";

export interface Changed<Extra> {
  readonly file: ChangedFile;
  readonly extra: Extra;
}

export async function change<Extra>(path: string, plan: Plan<Extra>, bench: Bench): Promise<Changed<Extra>> {
  const { file, extra, told } = await changeAtRest(path, plan, bench);
  const [shown] = await reported([file] as const, told, bench);
  return { file: shown, extra };
}

/** A change that was made, and that language servers were told of. */
interface Made<Extra> extends Changed<Extra> {
  readonly told: ToldChange | undefined;
}

async function changeAtRest<Extra>(path: string, plan: Plan<Extra>, bench: Bench): Promise<Made<Extra>> {
  for (let tries = 1; ; tries += 1) {
    const changed = await changeOnce(path, plan, tries === 1 && !bench.ledger.has(path), bench);
    if ("file" in changed) return changed;
    // Who is asked about a file that never rests would be asked without end.
    if (tries >= limits.lookupTriesMax) throw new Problem({ code: "CHANGED", place: changed.askAgain });
  }
}

/** A file that the session has not seen most likely is a new one. */
async function changeOnce<Extra>(
  path: string,
  plan: Plan<Extra>,
  isUnseen: boolean,
  bench: Bench,
): Promise<Made<Extra> | { readonly askAgain: Target }> {
  const subject = await subjectOf(path, bench, isUnseen ? "the folder of a new file" : "its folder");
  const { target } = subject;
  using held = heldBy(subject);
  const approved = await permitted(subject, plan, bench);
  const keeps = approved === undefined;
  if (!keeps) held?.close();
  const keys = keysOf(subject);
  const work = async (): Promise<Made<Extra> | { readonly askAgain: Target }> => {
    // The question may have taken its time, and so may the turn.
    const now = keeps && isStill(subject, bench) ? subject : await subjectOf(path, bench, "its folder");
    using _held = heldBy(now);
    if (now.target.real !== target.real) throw new Problem({ code: "CHANGED", place: target });
    const prepared = await prepare(now, plan, bench);
    using _file = openedBy(prepared);
    // A yes was said to what was shown, and to nothing else.
    if (approved !== undefined && approved !== diffText(prepared)) return { askAgain: target };
    bench.signal.throwIfAborted();
    if (bench.dryRun) {
      const file = fileOf(prepared, requireWritable(prepared, bench));
      return { file, extra: prepared.extra, told: undefined };
    }
    const file = await formatted(await write(prepared, bench), plan.profile, bench);
    return { file, extra: prepared.extra, told: await tell([file], bench) };
  };
  return await exclusively([target], bench, work, keys);
}

/**
 * Throws unless the session may do this. What it would see of the file in a question or an error, it may read. Answers
 * with the diff that somebody said yes to, if somebody was asked. `beforeAsking` may throw what makes the question idle.
 */
export async function permitted<Extra>(
  subject: Subject,
  plan: Plan<Extra>,
  bench: Bench,
  {
    movedTo,
    beforeAsking,
  }: { readonly movedTo?: string | undefined; readonly beforeAsking?: () => Promise<void> } = {},
): Promise<string | undefined> {
  const { target } = subject;
  // Nothing can be done to what is not there, whoever permits it.
  if (subject.is === "new" && plan.missing === undefined) await prepare(subject, plan, bench);
  if (subject.is === "there") await bench.guard.permit("read", target, bench.signal);
  let diff = "";
  // A change that cannot be made is told to its author before anybody is asked.
  const preview = async (): Promise<Readonly<Record<string, unknown>>> => {
    const prepared = await prepare(subject, plan, bench);
    using file = openedBy(prepared);
    requireWritable(prepared, bench);
    file?.close();
    await beforeAsking?.();
    const question = questionOf(prepared);
    ({ diff } = question);
    return movedTo === undefined ? question : { ...question, movedTo };
  };
  const { signal, dryRun } = bench;
  return (await bench.guard.permit("edit", target, signal, { preview, dryRun })) === "asked" ? diff : undefined;
}

export async function write<Extra>(prepared: Prepared<Extra>, bench: Bench, keeper?: Keeper): Promise<ChangedFile> {
  const by = keeper ?? keeperOf(await bench.turn(), prepared.target);
  const notes = prepared.is === "new" ? await commitNew(prepared, by, bench) : await commit(prepared, by, bench);
  return fileOf(prepared, notes);
}

// What a tool makes of a file: the pieces of the new content, and what is told and known of the change.

export interface Diff {
  readonly hunks: readonly Hunk[];
  readonly additions: number;
  readonly deletions: number;
  readonly complete: boolean;
  /** The two states cannot be compared as lines, so that there is no diff and the numbers say nothing. */
  readonly uncounted?: true;
}

/** A file as it shall be. */
export interface Planned<Extra> {
  readonly pieces: readonly Piece[];
  /** What copied pieces are copied from, if not the file itself. */
  readonly source?: OpenFile | undefined;
  /** May be made when it is first looked at. */
  readonly diff: Diff;
  /** Permissions that the file shall have; those it has by default. */
  readonly mode?: number | undefined;
  /** The old text, where it is at hand. */
  readonly before: string | undefined;
  readonly notes: readonly ChangeNote[];
  /** The file goes. */
  readonly removes?: true;
  /** The encoding to remember, where it became known only while this was planned. */
  readonly remember?: EncodingName;
  /** What the session knows of the file from then on. */
  readonly wrote: Wrote;
  readonly extra: Extra;
}

export interface Plan<Extra> {
  readonly wants: Wants;
  readonly profile: Profile;
  /** What becomes of a file that is there. */
  there(before: Before): Promise<Planned<Extra>> | Planned<Extra>;
  /** What becomes of one that is not; without it that is an error. */
  missing?(target: Target): NewFile<Extra> | Promise<NewFile<Extra>>;
  /** Throws if the file is nothing for this tool: then reading it first would not help. */
  fits?(before: BeforeJudged): Promise<void>;
  /** At once, unless said otherwise. */
  readonly holds?: Holds;
  /** Is the whole file overwritten, so that all of it must have been seen? */
  readonly overwrites: boolean;
  /**
   * Where the operator lets edits find their text in a file that somebody else changed: does the plan refuse what is not
   * certain there? All other plans are refused such a file.
   */
  readonly changedSince?: "where certain";
  /** May files be changed that the session has not seen? Only where somebody who has read them says what to change. */
  readonly unseen?: "permitted";
}

export interface NewFile<Extra> {
  readonly bytes: Uint8Array;
  readonly diff: Diff;
  readonly extra: Extra;
}
