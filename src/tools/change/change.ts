/**
 * How every tool changes one file:
 *
 *   queue by file     session/call-queue.ts, before the tool runs: calls on the same file keep their order
 *   resolve           change-target.ts: the path becomes a `Target` inside the roots and an open handle
 *   permit            the rules decide, or a person who is shown the diff; no lock is held meanwhile
 *   lock              against other sessions and processes; afterwards the path is checked again
 *   read current      current-file.ts: bytes, encoding, fingerprint
 *   ledger check      prepare.ts: the session must have read the file as it is now
 *   plan              the `Plan` of the tool, the only step in which tools differ
 *   record, replace   commit.ts: the history gets the old content, then the disk swaps the file
 *   ledger            commit.ts: the session knows the file as it was written
 *   diagnostics       languages.ts: what language servers report about the new content
 *
 * Nothing is created before it is permitted. change-many.ts takes the same steps for all files of a patch.
 */

import type { OfferedHunk } from "../../contract/ask.ts";
import type { ChangedFile, ChangeNote, Hunk, Piece } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import type { NotifiedChange } from "../../contract/lsp.ts";
import { Problem } from "../../contract/problem.ts";
import type { Profile } from "../../contract/profile.ts";
import type { EncodingName } from "../../contract/read.ts";
import type { Target } from "../../contract/target.ts";
import type { LookupAlso, OpenFile } from "../../disk/disk.ts";
import type { Preview } from "../../guard/guard.ts";
import type { LinesMoved, Wrote } from "../../session/session.ts";
import { notifyServers, withDiagnostics } from "../languages.ts";
import type { ToolContext } from "../tool.ts";
import { type ChangeTarget, exclusively, handleOf, isStill, lockKeysOf, resolveChangeTarget } from "./change-target.ts";
import { commit, commitNew, requireWritable } from "./commit.ts";
import type { CurrentFile, Holds, UncheckedCurrentFile, Wants } from "./current-file.ts";
import { runFormatter } from "./formatted.ts";
import { createRecorder, type HistoryRecorder } from "./history-recorder.ts";
import { chosenIn, inMemory, offeredHunks, partOf } from "./part.ts";
import { changedFileOf, diffText, openFileOf, prepare, type Prepared, questionOf } from "./prepare.ts";

export interface Changed<Extra> {
  readonly file: ChangedFile;
  readonly extra: Extra;
}

export async function change<Extra>(path: string, plan: Plan<Extra>, context: ToolContext): Promise<Changed<Extra>> {
  // A file that the session has not seen is most likely a new one.
  const also = context.ledger.has(path) ? "its folder" : "the folder of a new file";
  let made = await changeOnce(path, plan, also, context);
  for (let tries = 1; "askAgain" in made; tries += 1) {
    if (tries >= limits.lookupTriesMax) throw new Problem({ code: "CHANGED", place: made.askAgain });
    made = await changeOnce(path, plan, "its folder", context);
  }
  const [file] = await withDiagnostics([made.file] as const, made.notified, context);
  return { file, extra: made.extra };
}

interface Made<Extra> extends Changed<Extra> {
  /** What language servers were sent; the call waits for their reports after it has unlocked the file. */
  readonly notified: NotifiedChange | undefined;
}

/** `askAgain`: the file changed after a person approved its diff, so the approval does not count. */
type Attempt<Extra> = Made<Extra> | { readonly askAgain: Target };

async function changeOnce<Extra>(
  path: string,
  plan: Plan<Extra>,
  also: LookupAlso,
  context: ToolContext,
): Promise<Attempt<Extra>> {
  const resolved = await resolveChangeTarget(path, context, also);
  using handle = handleOf(resolved);
  const approved = await permitChange(resolved, plan, context);
  const wasAsked = approved !== undefined;
  if (wasAsked) handle?.close();

  const changeLocked = async (): Promise<Attempt<Extra>> => {
    // The question and the wait for the lock may have taken minutes.
    const isCurrent = !wasAsked && isStill(resolved, context);
    const changeTarget = isCurrent ? resolved : await resolveChangeTarget(path, context, "its folder");
    using _handle = handleOf(changeTarget);
    if (changeTarget.target.real !== resolved.target.real) {
      throw new Problem({ code: "CHANGED", place: resolved.target });
    }
    const hunks = approved?.hunks;
    const whole = await prepare(changeTarget, hunks === undefined ? plan : inMemory(plan), context); // read current, ledger check, plan
    using _file = openFileOf(whole);
    if (wasAsked && approved.diff !== diffText(whole)) return { askAgain: resolved.target };
    const prepared = hunks === undefined ? whole : await partOf(whole, hunks, context);
    context.signal.throwIfAborted();
    const { extra } = prepared;
    if (context.dryRun) {
      return { file: changedFileOf(prepared, requireWritable(prepared, context)), extra, notified: undefined };
    }
    const written = await writePrepared(prepared, context); // record, replace, ledger
    const file = await runFormatter(written, plan.profile, context);
    return { file, extra, notified: await notifyServers([file], context) };
  };
  return await exclusively([resolved.target], context, changeLocked, lockKeysOf(resolved));
}

/** The diff that a person was shown, and the hunks of it that the person accepted; undefined for all of the change. */
interface Approved {
  readonly diff: string;
  readonly hunks: readonly number[] | undefined;
}

/**
 * Throws unless the session may make this change. It must also be allowed to read the file, because a question and an error
 * show parts of it. Answers with what a person approved; undefined if no person was asked.
 */
async function permitChange<Extra>(
  changeTarget: ChangeTarget,
  plan: Plan<Extra>,
  context: ToolContext,
): Promise<Approved | undefined> {
  const { target } = changeTarget;
  await permitReading(changeTarget, plan, context);
  let diff = "";
  let offered: readonly OfferedHunk[] = [];
  // A change that cannot be made fails here, before the person is asked.
  const preview = async (): Promise<Preview> => {
    const prepared = await prepare(changeTarget, plan, context);
    using _file = openFileOf(prepared);
    requireWritable(prepared, context);
    const question = questionOf(prepared);
    ({ diff } = question);
    offered = offeredHunks(prepared, 0);
    return { ...question, hunks: offered };
  };
  const { signal, dryRun } = context;
  const permit = await context.guard.permit("edit", target, signal, { preview, dryRun });
  if (permit === "free") return undefined;
  return { diff, hunks: permit === "asked" ? undefined : chosenIn(0, offered, permit.hunks) };
}

/** A missing file is an error whatever the rules say: `prepare` throws it. */
export async function permitReading<Extra>(
  changeTarget: ChangeTarget,
  plan: Plan<Extra>,
  context: ToolContext,
): Promise<void> {
  if (changeTarget.is === "new" && plan.missing === undefined) await prepare(changeTarget, plan, context);
  if (changeTarget.is === "there") await context.guard.permit("read", changeTarget.target, context.signal);
}

export async function writePrepared<Extra>(
  prepared: Prepared<Extra>,
  context: ToolContext,
  recorder?: HistoryRecorder,
): Promise<ChangedFile> {
  const by = recorder ?? createRecorder(await context.turn(), prepared.target);
  const notes = prepared.is === "new" ? await commitNew(prepared, by, context) : await commit(prepared, by, context);
  return changedFileOf(prepared, notes);
}

export interface Plan<Extra> {
  readonly wants: Wants;
  readonly profile: Profile;
  there(current: CurrentFile): Promise<Planned<Extra>> | Planned<Extra>;
  /** The content of a file that does not exist yet; without this method a missing file is an error. */
  missing?(target: Target): NewFile<Extra> | Promise<NewFile<Extra>>;
  /** Throws if the tool cannot change this kind of file; without this check the reply would say to read it first. */
  fits?(current: UncheckedCurrentFile): Promise<void>;
  readonly holds?: Holds;
  /** Is the whole file overwritten, so that the session must have seen all of it? */
  readonly overwrites: boolean;
  /** Set by plans that refuse an uncertain match: only these edit files that changed since (`staleness: "content-match"`). */
  readonly changedSince?: "where certain";
  /**
   * Set if the session need not have seen the file. `permitted`: the edits come from a language server, which has read it.
   * `unless changed`: undo brings it back; but a session that saw another content means that one.
   */
  readonly unseen?: "permitted" | "unless changed";
}

export interface Planned<Extra> {
  readonly pieces: readonly Piece[];
  /** The file that copied pieces are copied from; by default the file itself. */
  readonly source?: OpenFile | undefined;
  readonly diff: Diff;
  readonly mode?: number | undefined;
  readonly before: string | undefined;
  readonly notes: readonly ChangeNote[];
  readonly removes?: true;
  /** Set if the change is made as a whole or not at all, so that its hunks cannot be accepted one by one. */
  readonly indivisible?: true;
  /** The encoding to remember, where only planning revealed it. */
  readonly remember?: EncodingName;
  readonly wrote: Wrote;
  /** Where lines are afterwards, for plans that know the changed lines. */
  readonly lines?: LinesMoved;
  readonly extra: Extra;
}

export interface NewFile<Extra> {
  readonly bytes: Uint8Array;
  readonly diff: Diff;
  readonly executable?: boolean | undefined;
  readonly extra: Extra;
}

export interface Diff {
  readonly hunks: readonly Hunk[];
  readonly additions: number;
  readonly deletions: number;
  readonly complete: boolean;
  /** The two states cannot be compared as lines: there are no hunks, and both counts mean nothing. */
  readonly uncounted?: true;
}
