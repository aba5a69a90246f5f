/**
 * The spine of every change: find, ask, lock, look again, see whether the author knows the file as it is, plan, write.
 * Tools differ only in the plan. Nothing is created before it is permitted, and no lock is held while somebody is asked.
 */

import type { ChangedFile, ChangeNote, Hunk, Piece } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import type { NotifiedChange } from "../../contract/lsp.ts";
import { Problem } from "../../contract/problem.ts";
import type { Profile } from "../../contract/profile.ts";
import type { EncodingName } from "../../contract/read.ts";
import type { Target } from "../../contract/target.ts";
import type { OpenFile } from "../../disk/disk.ts";
import type { Wrote } from "../../session/session.ts";
import { reported, notify } from "../languages.ts";
import type { ToolContext } from "../tool.ts";
import { commit, commitNew, requireWritable } from "./commit.ts";
import type { CurrentFile, JudgedCurrentFile, Holds, Wants } from "./current-file.ts";
import { formatted } from "./formatted.ts";
import { diffText, fileOf, prepare, type Prepared, questionOf, openedBy } from "./prepare.ts";
import { exclusively, handleOf, isStill, keysOf, type ChangeTarget, resolveChangeTarget } from "./change-target.ts";
import { type HistoryRecorder, createRecorder } from "./history-recorder.ts";

export interface Changed<Extra> {
  readonly file: ChangedFile;
  readonly extra: Extra;
}

export async function change<Extra>(path: string, plan: Plan<Extra>, context: ToolContext): Promise<Changed<Extra>> {
  const { file, extra, notified } = await changeAtRest(path, plan, context);
  const [shown] = await reported([file] as const, notified, context);
  return { file: shown, extra };
}

/** A change that was made, and that language servers were told of. */
interface Made<Extra> extends Changed<Extra> {
  readonly notified: NotifiedChange | undefined;
}

async function changeAtRest<Extra>(path: string, plan: Plan<Extra>, context: ToolContext): Promise<Made<Extra>> {
  for (let tries = 1; ; tries += 1) {
    const changed = await changeOnce(path, plan, tries === 1 && !context.ledger.has(path), context);
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
  context: ToolContext,
): Promise<Made<Extra> | { readonly askAgain: Target }> {
  const changeTarget = await resolveChangeTarget(path, context, isUnseen ? "the folder of a new file" : "its folder");
  const { target } = changeTarget;
  using handle = handleOf(changeTarget);
  const approved = await permitted(changeTarget, plan, context);
  const keeps = approved === undefined;
  if (!keeps) handle?.close();
  const keys = keysOf(changeTarget);
  const work = async (): Promise<Made<Extra> | { readonly askAgain: Target }> => {
    // The question may have taken its time, and so may the turn.
    const now =
      keeps && isStill(changeTarget, context) ? changeTarget : await resolveChangeTarget(path, context, "its folder");
    using _held = handleOf(now);
    if (now.target.real !== target.real) throw new Problem({ code: "CHANGED", place: target });
    const prepared = await prepare(now, plan, context);
    using _file = openedBy(prepared);
    // A yes was said to what was shown, and to nothing else.
    if (approved !== undefined && approved !== diffText(prepared)) return { askAgain: target };
    context.signal.throwIfAborted();
    if (context.dryRun) {
      const file = fileOf(prepared, requireWritable(prepared, context));
      return { file, extra: prepared.extra, notified: undefined };
    }
    const file = await formatted(await writePrepared(prepared, context), plan.profile, context);
    return { file, extra: prepared.extra, notified: await notify([file], context) };
  };
  return await exclusively([target], context, work, keys);
}

/**
 * Throws unless the session may do this. What it would see of the file in a question or an error, it may read. Answers
 * with the diff that somebody said yes to, if somebody was asked. `beforeAsking` may throw what makes the question idle.
 */
export async function permitted<Extra>(
  changeTarget: ChangeTarget,
  plan: Plan<Extra>,
  context: ToolContext,
  {
    movedTo,
    beforeAsking,
  }: { readonly movedTo?: string | undefined; readonly beforeAsking?: () => Promise<void> } = {},
): Promise<string | undefined> {
  const { target } = changeTarget;
  // Nothing can be done to what is not there, whoever permits it.
  if (changeTarget.is === "new" && plan.missing === undefined) await prepare(changeTarget, plan, context);
  if (changeTarget.is === "there") await context.guard.permit("read", target, context.signal);
  let diff = "";
  // A change that cannot be made is told to its author before anybody is asked.
  const preview = async (): Promise<Readonly<Record<string, unknown>>> => {
    const prepared = await prepare(changeTarget, plan, context);
    using file = openedBy(prepared);
    requireWritable(prepared, context);
    file?.close();
    await beforeAsking?.();
    const question = questionOf(prepared);
    ({ diff } = question);
    return movedTo === undefined ? question : { ...question, movedTo };
  };
  const { signal, dryRun } = context;
  return (await context.guard.permit("edit", target, signal, { preview, dryRun })) === "asked" ? diff : undefined;
}

export async function writePrepared<Extra>(
  prepared: Prepared<Extra>,
  context: ToolContext,
  recorder?: HistoryRecorder,
): Promise<ChangedFile> {
  const by = recorder ?? createRecorder(await context.turn(), prepared.target);
  const notes = prepared.is === "new" ? await commitNew(prepared, by, context) : await commit(prepared, by, context);
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
  there(current: CurrentFile): Promise<Planned<Extra>> | Planned<Extra>;
  /** What becomes of one that is not; without it that is an error. */
  missing?(target: Target): NewFile<Extra> | Promise<NewFile<Extra>>;
  /** Throws if the file is nothing for this tool: then reading it first would not help. */
  fits?(current: JudgedCurrentFile): Promise<void>;
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
