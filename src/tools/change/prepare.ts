/** A change before it is written: the file is read, its author is asked whether they know it, and the plan is made. */

import { HandleStack } from "../../disk/descriptor.ts";
import type { ChangedFile, ChangeNote } from "../../contract/edit.ts";
import { Problem } from "../../contract/problem.ts";
import type { Target } from "../../contract/target.ts";
import { FileCut } from "../../disk/lines/scan.ts";
import type { Found, Held } from "../../disk/lookup/look.ts";
import { type OpenFile, ReadFailed } from "../../disk/lookup/open-file.ts";
import { refusal } from "../../guard/guard.ts";
import { nothingShown, type Seen, type Wrote } from "../../session/ledger.ts";
import { moreLine, noDiffLine, unified } from "../../text/diff/unified.ts";
import { notFound } from "../locate.ts";
import type { Bench } from "../tool.ts";
import type { Diff, Plan, Planned } from "./change.ts";
import { type Before, type BeforeJudged, hashOfView, type Holds, readBefore } from "./current-file.ts";
import { requireFileName, type Subject } from "./subject.ts";

/** A change that is ready to be written, with the open file that it is of. */
export type Prepared<Extra> = { readonly target: Target; readonly extra: Extra; readonly diff: Diff } & (
  | {
      readonly is: "new";
      /** An open file is copied, not held. */
      readonly bytes: Uint8Array | OpenFile;
      readonly mode?: number;
      /** What else it is like: the file that it was. */
      readonly like?: { readonly found: Found; readonly file: OpenFile };
      /** The folder that it will be in, if that is held. */
      readonly folder?: Held | undefined;
      readonly remember?: Before["remember"];
      /** What the session knows of it from then on; all of it by default. */
      readonly wrote?: Wrote;
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
);

/** What whoever prepared it has to close. */
export const openedBy = <Extra>(prepared: Prepared<Extra>): OpenFile | undefined =>
  prepared.is === "there" ? prepared.file : undefined;

export async function prepare<Extra>(subject: Subject, plan: Plan<Extra>, bench: Bench): Promise<Prepared<Extra>> {
  const { target } = subject;
  if (subject.is === "new") {
    if (bench.changes.readFirst && bench.ledger.has(target.real)) {
      // Told once: who asks again wants a new file. A dry run asks for nothing yet.
      if (!bench.dryRun) bench.ledger.drop(target.real);
      throw new Problem({ code: "STALE", place: target, reason: "deleted" });
    }
    if (plan.missing === undefined)
      throw await notFound({ seen: "missing", place: target, reason: "missing", target }, "file", bench);
    requireFileName(target);
    const { bytes, diff, extra } = await plan.missing(target);
    return { is: "new", target, folder: subject.folder, bytes, diff, extra };
  }
  const file = bench.disk.open(subject.found);
  if ("errno" in file) throw refusal(target, file.errno, "opening it");
  using handles = new HandleStack();
  handles.use(file);
  try {
    // What was held for the plan is known from then on.
    let before = await look(file, target, plan, bench, (held) => (before = held));
    const planned = await plan.there(before);
    handles.move();
    return {
      is: "there",
      target,
      subject,
      file,
      old: before.bytes,
      remember: planned.remember ?? before.remember,
      planned,
      extra: planned.extra,
      diff: planned.diff,
    };
  } catch (error) {
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
  const all: Seen = { state: "fresh", whole: true, ...nothingShown };
  // In an empty file there is nothing to be seen or lost.
  if (!readFirst || file.sizeBytes === 0) return all;
  const seen = await bench.ledger.seen(target.real, before.stamp, (span) =>
    hashOfView(span, file, target, plan.profile, bench),
  );
  // Then it has not seen the file afterwards either.
  if (plan.unseen === "permitted" && seen.state !== "fresh") return { state: "fresh", whole: false, ...nothingShown };
  if (seen.state === "never") {
    await plan.fits?.(before);
    throw new Problem({ code: "NOT_READ", place: target, reason: "never" });
  }
  if (seen.state === "changed" && (staleness === "refuse" || plan.changedSince !== "where certain")) {
    const { sizeBytes: sizeNow, mtimeMs } = file;
    throw new Problem({ code: "STALE", place: target, reason: "changed", sizeThen: seen.sizeThen, sizeNow, mtimeMs });
  }
  if (seen.state === "fresh" && plan.overwrites && !seen.whole) {
    const { shown: lines, cut, parts = [], cells } = seen;
    const line = cut[0]?.from;
    const ofLine = parts.filter((part) => part.line === line);
    const column = (ofLine.find(({ from }) => from === 1)?.to ?? 0) + 1;
    const more = ofLine.some(({ from }) => from > column);
    const rest = line === undefined ? {} : { cutRest: { line, column, more } };
    const seenSo =
      cells.length > 0 ? ({ unit: "cell", shown: cells } as const) : ({ unit: "line", shown: lines } as const);
    throw new Problem({ code: "NOT_READ", place: target, reason: "partly", ...seenSo, cut, ...rest });
  }
  return seen;
}

/** What the answer says of a change. */
export function fileOf<Extra>(prepared: Prepared<Extra>, notes: readonly ChangeNote[]): ChangedFile {
  const { target, diff } = prepared;
  const { hunks, additions, deletions, complete: diffComplete, uncounted } = diff;
  if (prepared.is === "new") {
    return { target, hunks, additions, deletions, diffComplete, did: "created", before: undefined, notes };
  }
  const { before, notes: planned } = prepared.planned;
  const all = [...planned, ...notes];
  const file = { target, hunks, additions, deletions, diffComplete, did: "updated", before, notes: all } as const;
  return uncounted === undefined ? file : { ...file, uncounted };
}

const isRemoval = <Extra>(prepared: Prepared<Extra>): boolean =>
  prepared.is === "there" && prepared.planned.removes === true;

/** What a question says of a change: its diff, and what no diff says. */
export const questionOf = <Extra>(prepared: Prepared<Extra>): { readonly diff: string; readonly deletes?: true } => ({
  diff: diffText(prepared),
  ...(isRemoval(prepared) && { deletes: true }),
});

/** What a person is shown of a change, and what their yes was said to. */
export function diffText<Extra>(prepared: Prepared<Extra>): string {
  const { did, hunks, additions, deletions, diffComplete, uncounted } = fileOf(prepared, []);
  if (uncounted === true) return `${noDiffLine}\n`;
  const kind = did === "created" ? "create" : isRemoval(prepared) ? "delete" : "update";
  const text = unified(prepared.target.relative, hunks, kind);
  return diffComplete ? text : `${text}${moreLine(additions, deletions)}\n`;
}
