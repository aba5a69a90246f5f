/** The middle steps of a change: read the current file, check the ledger, plan. Nothing is written here. */

import { FileTruncated, type FileNode, type Handle, HandleStack, type OpenFile, ReadFailed } from "../../disk/disk.ts";
import type { ChangedFile, ChangeNote } from "../../contract/edit.ts";
import { type LineSpan, Problem } from "../../contract/problem.ts";
import type { Target } from "../../contract/target.ts";
import { refusal } from "../../guard/guard.ts";
import { nothingShown, type Seen, type Wrote } from "../../session/session.ts";
import { moreLine, noDiffLine, unified } from "../../text/text.ts";
import { notFound } from "../locate.ts";
import type { ToolContext } from "../tool.ts";
import type { Diff, Plan, Planned } from "./change.ts";
import {
  type CurrentFile,
  type UncheckedCurrentFile,
  hashOfView,
  type Holds,
  readCurrentFile,
} from "./current-file.ts";
import { requireFileName, type ChangeTarget } from "./change-target.ts";

export type Prepared<Extra> = { readonly target: Target; readonly extra: Extra; readonly diff: Diff } & (
  | {
      readonly is: "new";
      /** An open file is copied in chunks and never in memory as a whole. */
      readonly bytes: Uint8Array | OpenFile;
      readonly mode?: number;
      readonly executable?: boolean | undefined;
      /** The file that it is moved from, whose metadata it gets. */
      readonly like?: { readonly node: FileNode; readonly file: OpenFile };
      readonly folder?: Handle | undefined;
      readonly remember?: CurrentFile["remember"];
      /** What the session knows of it afterwards; all of it by default. */
      readonly wrote?: Wrote;
      readonly notes?: readonly ChangeNote[];
    }
  | {
      readonly is: "there";
      readonly changeTarget: Extract<ChangeTarget, { readonly is: "there" }>;
      readonly file: OpenFile;
      readonly old: Buffer | undefined;
      /** What the plan is based on; undefined if nothing was planned. */
      readonly current?: CurrentFile;
      readonly remember: CurrentFile["remember"];
      readonly planned: Planned<Extra>;
    }
);

export const openFileOf = <Extra>(prepared: Prepared<Extra>): OpenFile | undefined =>
  prepared.is === "there" ? prepared.file : undefined;

export async function prepare<Extra>(
  changeTarget: ChangeTarget,
  plan: Plan<Extra>,
  context: ToolContext,
): Promise<Prepared<Extra>> {
  const { target } = changeTarget;
  if (changeTarget.is === "new") {
    const isGone = context.changes.readFirst !== false && context.ledger.has(target.real);
    // There is nothing to overwrite, so only a plan that changes what is there is refused.
    if (isGone && (context.changes.readFirst === "lines" || plan.missing === undefined)) {
      // Reported once: a second call means that a new file is wanted. A dry run does not count as the first.
      if (!context.dryRun) context.ledger.drop(target.real);
      throw new Problem({ code: "STALE", place: target, reason: "deleted" });
    }
    if (plan.missing === undefined)
      throw await notFound({ seen: "missing", place: target, reason: "missing", target }, "file", context);
    requireFileName(target);
    const made = await plan.missing(target);
    const notes: readonly ChangeNote[] = isGone ? [{ note: "was deleted" }] : [];
    return { is: "new", target, folder: changeTarget.folder, ...made, notes };
  }
  const file = context.disk.open(changeTarget.node);
  if ("errno" in file) throw refusal(target, file.errno, "opening it");
  using handles = new HandleStack();
  handles.use(file);
  try {
    // If the plan asks for the whole file, the change is based on that reading.
    let current = await readAndCheckLedger(file, target, plan, context, (whole) => (current = whole));
    const planned = await plan.there(current);
    handles.move();
    return {
      is: "there",
      target,
      changeTarget,
      file,
      old: current.bytes,
      current,
      remember: planned.remember ?? current.remember,
      planned,
      extra: planned.extra,
      diff: planned.diff,
    };
  } catch (error) {
    if (error instanceof ReadFailed) throw refusal(target, error.errno, "reading it");
    if (error instanceof FileTruncated)
      throw new Problem({ code: "STALE", place: target, reason: "while changing it" });
    throw error;
  }
}

/** Throws if the session has not read the file as it is now. `onCurrent` gets the file that `whole()` reads. */
async function readAndCheckLedger<Extra>(
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
  // Before the ledger check: "read it first" would be wrong advice for a file that cannot be read as text.
  const read = (holds?: Holds) => readCurrentFile(file, target, plan.profile, plan.wants, context, holds);
  const current = await read(plan.holds);
  const seen = await requireSeen(current, plan, context);
  const whole = async (): Promise<CurrentFile> => {
    const now = { ...(await read()), seen, rules: context.changes, whole };
    onCurrent(now);
    return now;
  };
  return { ...current, seen, rules: context.changes, whole };
}

async function requireSeen<Extra>(
  current: UncheckedCurrentFile,
  plan: Plan<Extra>,
  context: ToolContext,
): Promise<Seen> {
  const { file, target } = current;
  const { readFirst, staleness } = context.changes;
  const all: Seen = { state: "fresh", whole: true, ...nothingShown };
  // An empty file has no content to see or to lose.
  if (!readFirst || file.sizeBytes === 0) return all;
  const seen = await context.ledger.seen(target.real, current.fingerprint, (span) =>
    hashOfView(span, file, target, plan.profile, context),
  );
  // `whole: false`: the session has not seen the file after the change either.
  if (plan.unseen === "permitted" && seen.state !== "fresh") return { state: "fresh", whole: false, ...nothingShown };
  if (plan.unseen !== undefined && seen.state === "never") return { state: "fresh", whole: false, ...nothingShown };
  if (seen.state === "never") {
    await plan.fits?.(current);
    throw new Problem({ code: "NOT_READ", place: target, reason: "never" });
  }
  const isCertain = plan.changedSince === "where certain";
  if (seen.state === "changed" && (staleness === "refuse" || !isCertain)) throw stale(current, seen);
  if (seen.state === "fresh" && seen.since !== undefined && !isCertain && plan.unseen !== "permitted") {
    throw stale(current, seen.since, seen.since.changed);
  }
  if (seen.state === "fresh" && plan.overwrites && !seen.whole) {
    const { shown: lines, cut, parts = [], cells } = seen;
    const line = cut[0]?.from;
    const ofLine = parts.filter((part) => part.line === line);
    const column = (ofLine.find(({ from }) => from === 1)?.to ?? 0) + 1;
    const more = ofLine.some(({ from }) => from > column);
    const rest = line === undefined ? {} : { cutRest: { line, column, more } };
    const seenParts =
      cells.length > 0 ? ({ unit: "cell", shown: cells } as const) : ({ unit: "line", shown: lines } as const);
    throw new Problem({ code: "NOT_READ", place: target, reason: "partly", ...seenParts, cut, ...rest });
  }
  return seen;
}

/** The file changed since the session saw it; `lines` are the changed ones, if known, as they are numbered now. */
export function stale(
  { file, target }: Pick<CurrentFile, "file" | "target">,
  { sizeThen }: { readonly sizeThen: number | undefined },
  lines?: readonly LineSpan[],
): Problem {
  const { sizeBytes: sizeNow, mtimeMs } = file;
  const changed = lines?.filter(({ from, to }) => from <= to).map(({ from, to }) => ({ from, to }));
  const known = changed === undefined ? {} : { lines: changed };
  return new Problem({ code: "STALE", place: target, reason: "changed", sizeThen, sizeNow, mtimeMs, ...known });
}

export function changedFileOf<Extra>(prepared: Prepared<Extra>, notes: readonly ChangeNote[]): ChangedFile {
  const { target, diff } = prepared;
  const { hunks, additions, deletions, complete: diffComplete, uncounted } = diff;
  if (prepared.is === "new") {
    const all = [...(prepared.notes ?? []), ...notes];
    return { target, hunks, additions, deletions, diffComplete, did: "created", before: undefined, notes: all };
  }
  const { before, notes: planned } = prepared.planned;
  const all = [...planned, ...notes];
  const file = { target, hunks, additions, deletions, diffComplete, did: "updated", before, notes: all } as const;
  return uncounted === undefined ? file : { ...file, uncounted };
}

const isRemoval = <Extra>(prepared: Prepared<Extra>): boolean =>
  prepared.is === "there" && prepared.planned.removes === true;

export interface QuestionAboutChange {
  readonly diff: string;
  readonly deletes?: true;
  /** If that changes. */
  readonly executable?: boolean;
}

export function questionOf<Extra>(prepared: Prepared<Extra>): QuestionAboutChange {
  const { after } = modesOf(prepared) ?? {};
  return {
    diff: diffText(prepared),
    ...(isRemoval(prepared) && { deletes: true }),
    ...(after !== undefined && { executable: isExecutable(after) }),
  };
}

const isExecutable = (mode: number): boolean => (mode & 0o100) !== 0;

/** Undefined if the file is as executable as before; a new file was not. */
export function modesOf<Extra>(
  prepared: Prepared<Extra>,
): { readonly before: number; readonly after: number } | undefined {
  if (prepared.is === "new") return prepared.executable === true ? { before: 0o644, after: 0o755 } : undefined;
  const { mode: before } = prepared.file;
  const { mode: after = before } = prepared.planned;
  return isExecutable(before) === isExecutable(after) ? undefined : { before, after };
}

/** The diff that a person is shown. The change is only made if its diff is still the one that was approved. */
export function diffText<Extra>(prepared: Prepared<Extra>): string {
  const { did, hunks, additions, deletions, diffComplete, uncounted } = changedFileOf(prepared, []);
  if (uncounted === true) return `${noDiffLine}\n`;
  const kind = did === "created" ? "create" : isRemoval(prepared) ? "delete" : "update";
  const text = unified(prepared.target.relative, hunks, kind, { modes: modesOf(prepared) });
  return diffComplete ? text : `${text}${moreLine(additions, deletions)}\n`;
}
