/** A change before it is written: the file is read, its author is asked whether they know it, and the plan is made. */

import { FileCut, type FileNode, type Handle, HandleStack, type OpenFile, ReadFailed } from "../../disk/disk.ts";
import type { ChangedFile, ChangeNote } from "../../contract/edit.ts";
import { Problem } from "../../contract/problem.ts";
import type { Target } from "../../contract/target.ts";
import { refusal } from "../../guard/guard.ts";
import { nothingShown, type Seen, type Wrote } from "../../session/session.ts";
import { moreLine, noDiffLine, unified } from "../../text/text.ts";
import { notFound } from "../locate.ts";
import type { ToolContext } from "../tool.ts";
import type { Diff, Plan, Planned } from "./change.ts";
import { type CurrentFile, type JudgedCurrentFile, hashOfView, type Holds, readBefore } from "./current-file.ts";
import { requireFileName, type ChangeTarget } from "./change-target.ts";

/** A change that is ready to be written, with the open file that it is of. */
export type Prepared<Extra> = { readonly target: Target; readonly extra: Extra; readonly diff: Diff } & (
  | {
      readonly is: "new";
      /** An open file is copied, not held. */
      readonly bytes: Uint8Array | OpenFile;
      readonly mode?: number;
      /** What else it is like: the file that it was. */
      readonly like?: { readonly node: FileNode; readonly file: OpenFile };
      /** The folder that it will be in, if that is held. */
      readonly folder?: Handle | undefined;
      readonly remember?: CurrentFile["remember"];
      /** What the session knows of it from then on; all of it by default. */
      readonly wrote?: Wrote;
    }
  | {
      readonly is: "there";
      readonly changeTarget: Extract<ChangeTarget, { readonly is: "there" }>;
      readonly file: OpenFile;
      /** All of its bytes, if they are held. */
      readonly old: Buffer | undefined;
      readonly remember: CurrentFile["remember"];
      readonly planned: Planned<Extra>;
    }
);

/** What whoever prepared it has to close. */
export const openedBy = <Extra>(prepared: Prepared<Extra>): OpenFile | undefined =>
  prepared.is === "there" ? prepared.file : undefined;

export async function prepare<Extra>(
  changeTarget: ChangeTarget,
  plan: Plan<Extra>,
  context: ToolContext,
): Promise<Prepared<Extra>> {
  const { target } = changeTarget;
  if (changeTarget.is === "new") {
    if (context.changes.readFirst && context.ledger.has(target.real)) {
      // Told once: who asks again wants a new file. A dry run asks for nothing yet.
      if (!context.dryRun) context.ledger.drop(target.real);
      throw new Problem({ code: "STALE", place: target, reason: "deleted" });
    }
    if (plan.missing === undefined)
      throw await notFound({ seen: "missing", place: target, reason: "missing", target }, "file", context);
    requireFileName(target);
    const { bytes, diff, extra } = await plan.missing(target);
    return { is: "new", target, folder: changeTarget.folder, bytes, diff, extra };
  }
  const file = context.disk.open(changeTarget.node);
  if ("errno" in file) throw refusal(target, file.errno, "opening it");
  using handles = new HandleStack();
  handles.use(file);
  try {
    // What was held for the plan is known from then on.
    let current = await look(file, target, plan, context, (whole) => (current = whole));
    const planned = await plan.there(current);
    handles.move();
    return {
      is: "there",
      target,
      changeTarget,
      file,
      old: current.bytes,
      remember: planned.remember ?? current.remember,
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
  context: ToolContext,
  onCurrent: (current: CurrentFile) => void,
): Promise<CurrentFile> {
  const { editBytesMax } = context.changes;
  if (file.sizeBytes > editBytesMax) {
    throw new Problem({ code: "TOO_LARGE", place: target, kind: "text", limit: `${editBytesMax} bytes` });
  }
  // What cannot be read as text cannot be read first either.
  const read = (holds?: Holds) => readBefore(file, target, plan.profile, plan.wants, context, holds);
  const current = await read(plan.holds);
  const seen = await seenAs(current, plan, context);
  const whole = async (): Promise<CurrentFile> => {
    const now = knownAs(await read(), seen, whole);
    onCurrent(now);
    return now;
  };
  return knownAs(current, seen, whole);
}

/** Name by name: what is spread out and then added to is slow. */
const knownAs = (judged: JudgedCurrentFile, seen: Seen, whole: CurrentFile["whole"]): CurrentFile => ({
  target: judged.target,
  file: judged.file,
  form: judged.form,
  bytes: judged.bytes,
  head: judged.head,
  source: judged.source,
  fingerprint: judged.fingerprint,
  remember: judged.remember,
  seen,
  whole,
});

async function seenAs<Extra>(current: JudgedCurrentFile, plan: Plan<Extra>, context: ToolContext): Promise<Seen> {
  const { file, target } = current;
  const { readFirst, staleness } = context.changes;
  const all: Seen = { state: "fresh", whole: true, ...nothingShown };
  // In an empty file there is nothing to be seen or lost.
  if (!readFirst || file.sizeBytes === 0) return all;
  const seen = await context.ledger.seen(target.real, current.fingerprint, (span) =>
    hashOfView(span, file, target, plan.profile, context),
  );
  // Then it has not seen the file afterwards either.
  if (plan.unseen === "permitted" && seen.state !== "fresh") return { state: "fresh", whole: false, ...nothingShown };
  if (seen.state === "never") {
    await plan.fits?.(current);
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
