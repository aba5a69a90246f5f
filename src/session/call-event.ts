/** A finished call as an event for listeners. Built only if there are any. */

import { isLeaving } from "../contract/ask.ts";
import type { Outcome, Reply, Request } from "../contract/call.ts";
import type { ChangedFile } from "../contract/edit.ts";
import type { CallChange, CallDetail, CallEvent, CallListener, CallRange } from "../contract/event.ts";
import type { ProblemData } from "../contract/problem.ts";
import type { Place, Target } from "../contract/target.ts";

/** The listeners of a toolkit, and its log. */
export interface Watchers {
  readonly listeners: Set<CallListener>;
  /** Gets every call besides; `absolute`: the path as the caller named it, if it named one. */
  readonly log?: ((event: CallEvent, absolute: string | null, sessionMs: number) => void) | undefined;
  calls: number;
}

/** What becomes known while a call runs. */
export interface CallProgress {
  /** Missing if the call could not be parsed. */
  request?: Request;
  outcome?: Outcome;
  problem?: ProblemData;
  tokens?: number;
  turn?: string;
}

/** What is known before the call runs. */
export interface Called
  extends Pick<CallEvent, "session" | "principal" | "client" | "dialect" | "tool" | "verb" | "dryRun"> {
  readonly input: unknown;
  /** When the session started. */
  readonly sessionMs: number;
}

/** The outcome or the problem is set; neither after a bug. */
interface Ended extends Pick<CallEvent, "elapsedMs" | "tokensGiven"> {
  readonly called: Called;
  readonly request: Request | undefined;
  readonly outcome: Outcome | undefined;
  readonly problem: ProblemData | undefined;
  readonly turn: string | undefined;
  readonly reply: Reply | undefined;
}

/** Notifies the listeners when the call is finished. A call suspended for a question is reported when it returns. */
export async function watched(
  replied: Promise<Reply>,
  seen: CallProgress,
  called: Called,
  watchers: Watchers,
  tokensOf: (reply: Reply) => number,
): Promise<Reply> {
  const startedMs = performance.now();
  const ended = (reply: Reply | undefined): void => {
    const elapsedMs = performance.now() - startedMs;
    const tokensGiven = seen.tokens ?? (reply === undefined ? 0 : tokensOf(reply));
    const { request, problem, turn } = seen;
    const outcome = problem === undefined && reply !== undefined ? seen.outcome : undefined;
    // One literal: spreading what was seen takes V8 as long as opening a file.
    notify(watchers, { called, request, outcome, problem, turn, elapsedMs, tokensGiven, reply });
  };
  try {
    const reply = await replied;
    ended(reply);
    return reply;
  } catch (error) {
    if (!isLeaving(error)) ended(undefined);
    throw error;
  }
}

/** A listener that throws must not fail the call. */
function notify(watchers: Watchers, ended: Ended): void {
  const { reply, outcome } = ended;
  const { input } = ended.called;
  watchers.calls += 1;
  const files = outcome === undefined ? [] : filesOf(outcome);
  const place = placeOf(outcome, ended.problem);
  const event = eventOf(watchers.calls, ended, files, place);
  watchers.log?.(event, place?.absolute ?? null, ended.called.sessionMs);
  if (watchers.listeners.size === 0) return;
  const diffs = files.map(({ hunks, diffComplete }) => ({ hunks, complete: diffComplete }));
  const detail: CallDetail = { input, reply, diffs };
  for (const listener of watchers.listeners) {
    try {
      listener(event, detail);
    } catch (error) {
      // A bug of the host: the host must see it, not the model.
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}

/** A model may write names of any length, and an event is small. */
const toolCharsMax = 256;
/** For paths and patterns: as long as a path can be on Linux. */
const textCharsMax = 4_096;
/** Of a larger patch the event has the first changes and their total. */
const changesMax = 1_000;

const short = <Text extends string | null>(text: Text, charsMax: number): Text =>
  text === null || text.length <= charsMax ? text : (`${text.slice(0, charsMax)}…` as Text); // a text stays one

function eventOf(
  id: number,
  ended: Ended,
  files: readonly ChangedFile[],
  place: Place | Target | undefined,
): CallEvent {
  const { session, principal, client, dialect, tool, verb, dryRun } = ended.called;
  const { elapsedMs, tokensGiven, request, outcome, problem } = ended;
  const named = request !== undefined && "path" in request ? request.path : undefined;
  return {
    type: "call",
    id,
    session,
    principal,
    client,
    dialect,
    tool: short(tool, toolCharsMax),
    verb,
    path: short(place?.relative ?? named ?? null, textCharsMax),
    real: place !== undefined && "real" in place ? textOf(place.real) : null,
    pattern: short(request?.verb === "glob" || request?.verb === "grep" ? request.pattern : null, textCharsMax),
    range: (outcome === undefined ? askedRange(request) : rangeOf(outcome)) ?? null,
    outcome: outcome === undefined ? (problem?.code ?? "INTERNAL") : "ok",
    reason: reasonOf(outcome, problem),
    startedMs: Date.now() - elapsedMs,
    elapsedMs,
    tokensGiven,
    tokensSaved: outcome?.kind === "unchanged" ? outcome.tokensSaved : 0,
    changes: files.slice(0, changesMax).map(changeOf),
    changesTotal: changedIn(outcome, files),
    dryRun,
    turn: turnOf(ended, files),
  };
}

/** A call that changed nothing has no turn, though it may have begun one. */
function turnOf({ outcome, turn, called }: Ended, files: readonly ChangedFile[]): string | null {
  if (outcome?.kind === "rewind") return outcome.turn ?? null;
  return changedIn(outcome, files) === 0 || called.dryRun ? null : (turn ?? null);
}

/** An outcome lists only the first files of a folder. */
function changedIn(outcome: Outcome | undefined, files: readonly ChangedFile[]): number {
  const tree = outcome?.kind === "patch" ? outcome.tree : undefined;
  if (tree === undefined || tree.wasThere) return files.length;
  const { size, imports } = tree;
  const others = imports?.why === undefined ? (imports?.files ?? 0) : 0;
  return size.files + size.links + size.folders + (tree.is === "folder" ? 1 : 0) + others;
}

function filesOf(outcome: Outcome): readonly ChangedFile[] {
  if (outcome.kind === "patch") return outcome.files;
  return "file" in outcome ? [outcome.file] : [];
}

const changeOf = ({ target, did, movedFrom, additions, deletions }: ChangedFile): CallChange => ({
  path: target.real,
  relative: target.realRelative,
  did,
  movedFrom: movedFrom?.relative ?? null,
  additions,
  deletions,
});

/** A problem has a target, or only a place. */
const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

function placeOf(outcome: Outcome | undefined, problem: ProblemData | undefined): Place | Target | undefined {
  if (outcome !== undefined) return "target" in outcome ? outcome.target : undefined;
  return problem !== undefined && "place" in problem ? problem.place : undefined;
}

function reasonOf(outcome: Outcome | undefined, problem: ProblemData | undefined): string | null {
  if (outcome !== undefined) return outcome.kind;
  return problem !== undefined && "reason" in problem ? problem.reason : null;
}

function rangeOf(outcome: Outcome): CallRange | undefined {
  if (outcome.kind === "text") {
    const [first] = outcome.pages;
    const last = outcome.pages.at(-1) ?? first;
    return { of: "lines", from: first.from, to: last.from + last.count - 1, total: last.linesTotal ?? null };
  }
  if (outcome.kind === "directory" || outcome.kind === "tree") {
    const { from, entries, entriesTotal } = outcome;
    return { of: "entries", from, to: from + entries.length - 1, total: entriesTotal };
  }
  if (outcome.kind === "notebook") {
    const { from, cells, cellsTotal } = outcome;
    return { of: "cells", from, to: from + cells.length - 1, total: cellsTotal };
  }
  if (outcome.kind !== "pdf") return undefined;
  const { pages, pagesTotal } = outcome;
  return { of: "pages", from: pages[0]?.page ?? 1, to: pages.at(-1)?.page ?? null, total: pagesTotal };
}

/** Of a call that failed: what it asked for. */
function askedRange(request: Request | undefined): CallRange | undefined {
  if (request?.verb !== "read") return undefined;
  const [range] = request.ranges;
  if ("last" in range || (range.from === 1 && range.linesMax === Number.POSITIVE_INFINITY)) return undefined;
  const to = Number.isFinite(range.linesMax) ? range.from + range.linesMax - 1 : null;
  return { of: "lines", from: range.from, to, total: null };
}
