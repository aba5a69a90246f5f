/**
 * The spine of every change: find, ask, lock, look again, see whether the author knows the file as it is, plan, write.
 * Tools differ only in the plan. Nothing is created before it is permitted, and no lock is held while somebody is asked.
 */

import type { ChangedFile, ChangeNote, Hunk, Piece } from "../contract/edit.ts";
import type { ToldChange } from "../contract/language.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Profile } from "../contract/profile.ts";
import type { Target } from "../contract/target.ts";
import type { Held } from "../disk/look.ts";
import { type OpenFile, ReadFailed } from "../disk/open-file.ts";
import { FileCut } from "../disk/scan.ts";
import { refusal, type Resolved } from "../guard/guard.ts";
import type { Seen, Wrote } from "../session/ledger.ts";
import type { Ticket } from "../session/turns.ts";
import { unified } from "../text/unified.ts";
import { moreLine } from "../text/unified-text.ts";
import { type Before, type BeforeJudged, hashOfView, type Holds, readBefore, type Wants } from "./before.ts";
import { commit, commitNew } from "./commit.ts";
import { formatted } from "./formatted.ts";
import { reported, tell } from "./languages.ts";
import { notFound } from "./locate.ts";
import { type Keeper, keeperOf } from "./turn.ts";
import { exclusively, heldBy, isStill, keysOf, type Subject, subjectFrom, subjectOf, ticketOf } from "./subject.ts";
import type { Bench } from "./tool.ts";

export interface Diff {
  readonly hunks: readonly Hunk[];
  readonly additions: number;
  readonly deletions: number;
  readonly complete: boolean;
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
  missing?(target: Target): NewFile<Extra>;
  /** Throws if the file is nothing for this tool: then reading it first would not help. */
  fits?(before: BeforeJudged): void;
  /** At once, unless said otherwise. */
  readonly holds?: Holds;
  /** Is the whole file overwritten, so that all of it must have been seen? */
  readonly overwrites: boolean;
  /** May files be changed that the session has not seen? Only where somebody who has read them says what to change. */
  readonly unseen?: "permitted";
}

export interface NewFile<Extra> {
  readonly bytes: Uint8Array;
  readonly diff: Diff;
  readonly extra: Extra;
}

export interface Changed<Extra> {
  readonly file: ChangedFile;
  readonly extra: Extra;
}

export async function change<Extra>(path: string, plan: Plan<Extra>, bench: Bench): Promise<Changed<Extra>> {
  // Resolved before anything is awaited, so that calls queue in the order in which they came.
  const first = bench.guard.resolve(path, "its folder");
  const ticket = ticketOf(first, bench);
  const { file, extra, told } = await changeInTurn(first, path, plan, ticket, bench);
  // Nobody stands behind a call that waits for language servers.
  const [shown] = await reported([file] as const, told, bench);
  return { file: shown, extra };
}

/** A change that was made, and that language servers were told of. */
interface Made<Extra> extends Changed<Extra> {
  readonly told: ToldChange | undefined;
}

async function changeInTurn<Extra>(
  first: Resolved,
  path: string,
  plan: Plan<Extra>,
  ticket: Ticket,
  bench: Bench,
): Promise<Made<Extra>> {
  try {
    for (let tries = 1; ; tries += 1) {
      const resolved = tries === 1 ? first : bench.guard.resolve(path, "its folder");
      const changed = await changeOnce(resolved, path, plan, ticket, bench);
      if ("file" in changed) return changed;
      // Who is asked about a file that never rests would be asked without end.
      if (tries >= limits.lookupTriesMax) throw new Problem({ code: "CHANGED", place: changed.askAgain });
    }
  } finally {
    ticket.release();
  }
}

async function changeOnce<Extra>(
  resolved: Resolved,
  path: string,
  plan: Plan<Extra>,
  ticket: Ticket,
  bench: Bench,
): Promise<Made<Extra> | { readonly askAgain: Target }> {
  const subject = await subjectFrom(resolved, bench);
  const { target } = subject;
  const held = heldBy(subject);
  let approved: string | undefined;
  let keeps = false;
  try {
    approved = await permitted(subject, plan, ticket, bench);
    // Those who wait hold nothing open: they may be many.
    keeps = approved === undefined && ticket.isFirst;
  } finally {
    if (!keeps) held?.close();
  }
  const keys = keysOf(subject);
  const work = async (): Promise<Made<Extra> | { readonly askAgain: Target }> => {
    // The question may have taken its time, and so may the turn.
    const now = keeps && isStill(subject, bench) ? subject : await subjectOf(path, bench, "its folder");
    try {
      if (now.target.real !== target.real) throw new Problem({ code: "CHANGED", place: target });
      const prepared = await prepare(now, plan, bench);
      try {
        // A yes was said to what was shown, and to nothing else.
        if (approved !== undefined && approved !== diffText(prepared)) return { askAgain: target };
        bench.signal.throwIfAborted();
        if (bench.dryRun) return { file: fileOf(prepared, []), extra: prepared.extra, told: undefined };
        const file = await formatted(await write(prepared, bench), plan.profile, bench);
        return { file, extra: prepared.extra, told: await tell([file], bench) };
      } finally {
        prepared.close();
      }
    } finally {
      heldBy(now)?.close();
    }
  };
  try {
    return await exclusively([target], ticket, bench, work, keys);
  } finally {
    held?.close();
  }
}

/**
 * Throws unless the session may do this. What it would see of the file in a question or an error, it may read. Answers
 * with the diff that somebody said yes to, if somebody was asked.
 */
export async function permitted<Extra>(
  subject: Subject,
  plan: Plan<Extra>,
  ticket: Ticket,
  bench: Bench,
): Promise<string | undefined> {
  const { target } = subject;
  // Nothing can be done to what is not there, whoever permits it.
  if (subject.is === "new" && plan.missing === undefined) (await prepare(subject, plan, bench)).close();
  if (subject.is === "there") await bench.guard.permit("read", target, bench.signal);
  let diff = "";
  // A change that cannot be made is told to its author before anybody is asked.
  const preview = async (): Promise<{ readonly diff: string }> => {
    // A person takes their time; nobody waits for that.
    ticket.release();
    const prepared = await prepare(subject, plan, bench);
    prepared.close();
    diff = diffText(prepared);
    return { diff };
  };
  const { signal, dryRun } = bench;
  return (await bench.guard.permit("edit", target, signal, { preview, dryRun })) === "asked" ? diff : undefined;
}

/** What a person is shown of a change, and what their yes was said to. */
export function diffText<Extra>(prepared: Prepared<Extra>): string {
  const { did, hunks, additions, deletions, diffComplete } = fileOf(prepared, []);
  const text = unified(prepared.target.relative, hunks, did === "created" ? "create" : "update");
  return diffComplete ? text : `${text}${moreLine(additions, deletions)}\n`;
}

/** A change that is ready to be written, with the open file that it is of. */
export type Prepared<Extra> = { readonly target: Target; readonly extra: Extra; readonly diff: Diff } & (
  | {
      readonly is: "new";
      /** An open file is copied, not held. */
      readonly bytes: Uint8Array | OpenFile;
      readonly mode?: number;
      /** The folder that it will be in, if that is held. */
      readonly folder?: Held | undefined;
      readonly remember?: Before["remember"];
    }
  | {
      readonly is: "there";
      readonly subject: Extract<Subject, { readonly is: "there" }>;
      readonly file: OpenFile;
      /** All of its bytes, if they are held. */
      readonly old: Buffer | undefined;
      readonly remember: Before["remember"];
      readonly planned: Planned<Extra>;
    }
) & { readonly close: () => void };

export async function prepare<Extra>(subject: Subject, plan: Plan<Extra>, bench: Bench): Promise<Prepared<Extra>> {
  const { target } = subject;
  if (subject.is === "new") {
    if (bench.ledger.has(target.real)) {
      // Told once: who asks again wants a new file.
      bench.ledger.drop(target.real);
      throw new Problem({ code: "STALE", place: target, reason: "deleted" });
    }
    if (plan.missing === undefined)
      throw await notFound({ seen: "missing", place: target, reason: "missing", target }, "file", bench);
    const { bytes, diff, extra } = plan.missing(target);
    return { is: "new", target, folder: subject.folder, bytes, diff, extra, close: () => undefined };
  }
  const file = bench.disk.open(subject.found);
  if ("errno" in file) throw refusal(target, file.errno, "opening it");
  try {
    // What was held for the plan is known from then on.
    let before = await look(file, target, plan, bench, (held) => (before = held));
    const planned = await plan.there(before);
    return {
      is: "there",
      target,
      subject,
      file,
      old: before.bytes,
      remember: before.remember,
      planned,
      extra: planned.extra,
      diff: planned.diff,
      close: () => file.close(),
    };
  } catch (error) {
    file.close();
    if (error instanceof ReadFailed) throw refusal(target, error.errno, "reading it");
    if (error instanceof FileCut) throw new Problem({ code: "STALE", place: target, reason: "while changing it" });
    throw error;
  }
}

/** Reads the file, unless its author has not seen it or not as it is now. */
async function look<Extra>(
  file: OpenFile,
  target: Target,
  plan: Plan<Extra>,
  bench: Bench,
  onHeld: (before: Before) => void,
): Promise<Before> {
  const { editBytesMax } = bench.changes;
  if (file.sizeBytes > editBytesMax) {
    throw new Problem({ code: "TOO_LARGE", place: target, kind: "text", limit: `${editBytesMax} bytes` });
  }
  // What cannot be read as text cannot be read first either.
  const read = (holds?: Holds) => readBefore(file, target, plan.profile, plan.wants, bench, holds);
  const before = await read(plan.holds);
  const seen = await seenAs(before, plan, bench);
  const held = async (): Promise<Before> => {
    const now = knownAs(await read(), seen, held);
    onHeld(now);
    return now;
  };
  return knownAs(before, seen, held);
}

/** Name by name: what is spread out and then added to is slow. */
const knownAs = (judged: BeforeJudged, seen: Seen, held: Before["held"]): Before => ({
  target: judged.target,
  file: judged.file,
  form: judged.form,
  bytes: judged.bytes,
  head: judged.head,
  source: judged.source,
  stamp: judged.stamp,
  remember: judged.remember,
  seen,
  held,
});

async function seenAs<Extra>(before: BeforeJudged, plan: Plan<Extra>, bench: Bench): Promise<Seen> {
  const { file, target } = before;
  const { readFirst, staleness } = bench.changes;
  const all: Seen = { state: "fresh", whole: true, shown: [] };
  // In an empty file there is nothing to be seen or lost.
  if (!readFirst || file.sizeBytes === 0) return all;
  const seen = await bench.ledger.seen(target.real, before.stamp, (span) =>
    hashOfView(span, file, target, plan.profile, bench),
  );
  // Then it has not seen the file afterwards either.
  if (plan.unseen === "permitted" && seen.state !== "fresh") return { state: "fresh", whole: false, shown: [] };
  if (seen.state === "never") {
    plan.fits?.(before);
    throw new Problem({ code: "NOT_READ", place: target, reason: "never" });
  }
  if (seen.state === "changed" && (staleness === "refuse" || plan.overwrites)) {
    const { sizeBytes: sizeNow, mtimeMs } = file;
    throw new Problem({ code: "STALE", place: target, reason: "changed", sizeThen: seen.sizeThen, sizeNow, mtimeMs });
  }
  if (seen.state === "fresh" && plan.overwrites && !seen.whole) {
    throw new Problem({ code: "NOT_READ", place: target, reason: "partly", shown: seen.shown, needed: undefined });
  }
  return seen;
}

/** What the answer says of a change. */
export function fileOf<Extra>(prepared: Prepared<Extra>, notes: readonly ChangeNote[]): ChangedFile {
  const { target, diff } = prepared;
  const { hunks, additions, deletions, complete: diffComplete } = diff;
  if (prepared.is === "new") {
    return { target, hunks, additions, deletions, diffComplete, did: "created", before: undefined, notes };
  }
  const { before, notes: planned } = prepared.planned;
  const all = [...planned, ...notes];
  return { target, hunks, additions, deletions, diffComplete, did: "updated", before, notes: all };
}

export async function write<Extra>(prepared: Prepared<Extra>, bench: Bench, keeper?: Keeper): Promise<ChangedFile> {
  const by = keeper ?? keeperOf(await bench.turn(), prepared.target);
  const notes = prepared.is === "new" ? await commitNew(prepared, by, bench) : await commit(prepared, by, bench);
  return fileOf(prepared, notes);
}
