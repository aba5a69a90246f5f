/** History: the turns of this session, or one of them with its diffs. What does not fit is left for the next call. */

import * as nodePath from "node:path";
import type { FileSeen, HistoryOutcome, HistoryRequest, TurnChanges, TurnSeen } from "../../contract/history.ts";
import { limits } from "../../contract/limits.ts";
import { Problem } from "../../contract/problem.ts";
import { deniedBy, relativeTo } from "../../guard/guard.ts";
import type { SessionHistory } from "../../history/history.ts";
import { didTo, modesOf, shortCharsMin, shortNames, type TouchedFile, turnFiles, undoneIn } from "../../text/text.ts";
import { notFound } from "../locate.ts";
import type { ToolContext, Tool } from "../tool.ts";
import { charsOf, type DiffBudget, fittedHunks, versionDiff, withSides } from "./ask.ts";
import { rewind } from "./rewind.ts";

export const history: Tool<"history"> = async (request, context) => {
  const past = await context.past();
  if (past === undefined) throw new Problem({ code: "NO_TURN", asked: request.turn ?? "", reason: "no history" });
  await past.prepare(context.signal);
  const only = request.path === undefined ? undefined : await realPathOf(request.path, context);
  const turns = past.turns().toReversed();
  const isNamed = mayName(context);
  const isAsked = (path: string): boolean => only === undefined || isOrIsBelow(path, only.real);
  const view: HistoryView = {
    request,
    past,
    context,
    names: turnNames(turns.map(({ messageId }) => messageId)),
    filesOf: (turn) => {
      const { files, hiddenByRules } = turnFiles(turn, isNamed);
      const asked = files.filter(({ change, from }) => isAsked(change.path) || (from && isAsked(from.path)));
      return { files: asked, hiddenByRules: only === undefined ? hiddenByRules : 0 };
    },
    budget: { bytes: limits.historyBytesMax },
    path: only?.shown,
  };
  if (request.turn === undefined) {
    const touching = turns.filter((turn) => only === undefined || view.filesOf(turn).files.length > 0);
    return listed(touching, view);
  }
  const asked = request.turn;
  const isKnown = turns.some(({ messageId }) => messageId === asked);
  const id = isKnown ? asked : await namedTurn(asked, past);
  return inDetail(
    turns.find(({ messageId }) => messageId === id),
    view,
  );
};

interface HistoryView {
  readonly request: HistoryRequest;
  readonly past: SessionHistory;
  readonly context: ToolContext;
  readonly names: ReadonlyMap<string, string>;
  readonly filesOf: (turn: TurnChanges) => ReturnType<typeof turnFiles>;
  readonly budget: DiffBudget;
  /** The only file or folder that the call asks about, below its root. */
  readonly path: string | undefined;
}

const lineChars = 40;

async function listed(turns: readonly TurnChanges[], view: HistoryView): Promise<HistoryOutcome> {
  const { from, itemsMax } = view.request;
  const shown: TurnSeen[] = [];
  let charsLeft = limits.historyCharsMax;
  for (const turn of turns.slice(from - 1, from - 1 + itemsMax)) {
    view.context.signal.throwIfAborted();
    const { files, hiddenByRules } = view.filesOf(turn);
    const some = files.slice(0, limits.historyFilesMax);
    charsLeft -= some.reduce((sum, { change, from: source }) => sum + charsIn(change.path, source?.path), lineChars);
    if (charsLeft < 0 && shown.length > 0) break;
    const counted: FileSeen[] = [];
    for (const touched of some) counted.push(await seen(touched, view, "lines"));
    shown.push({ ...headOf(turn, view), files: counted, filesTotal: files.length, hiddenByRules });
  }
  return outcomeOf("turns", shown, shown.length, turns.length, view);
}

const charsIn = (path: string, other = ""): number => path.length + other.length + lineChars;

/** `undefined`: a known turn that changed nothing. */
async function inDetail(turn: TurnChanges | undefined, view: HistoryView): Promise<HistoryOutcome> {
  if (turn === undefined) return outcomeOf("files", [], 0, 0, view);
  const { from, itemsMax } = view.request;
  const { files, hiddenByRules } = view.filesOf(turn);
  const shown: FileSeen[] = [];
  let charsLeft = limits.historyCharsMax;
  for (const touched of files.slice(from - 1, from - 1 + itemsMax)) {
    view.context.signal.throwIfAborted();
    const whole = await seen(touched, view, "diff");
    const chars = charsIn(touched.change.path, touched.from?.path) + charsOf(whole.hunks ?? []);
    if (chars > charsLeft && shown.length > 0) break;
    const { hunks, cut } = fittedHunks(whole.hunks ?? [], Math.max(0, charsLeft));
    charsLeft -= chars;
    shown.push({ ...whole, hunks, cut: cut || whole.cut });
  }
  const detailed = { ...headOf(turn, view), files: shown, filesTotal: files.length, hiddenByRules };
  return outcomeOf("files", [detailed], shown.length, files.length, view);
}

function headOf(turn: TurnChanges, { names }: HistoryView) {
  const { messageId, timestamp, rewinds } = turn;
  const nameOf = (id: string): string => names.get(id) ?? id;
  const back = rewinds === undefined ? undefined : { ...rewinds, to: nameOf(rewinds.to) };
  return { messageId, name: nameOf(messageId), timestamp, rewinds: back, undone: undoneIn(turn) };
}

function outcomeOf(
  of: HistoryOutcome["of"],
  turns: readonly TurnSeen[],
  count: number,
  total: number,
  { request: { from }, path }: HistoryView,
): HistoryOutcome {
  const next = from + count;
  return { kind: "history", of, turns, from, total, next: next > total ? undefined : next, path };
}

/** With its lines counted or, if it may be read, with its diff. A file that is a secret now may not have been one when recorded. */
async function seen(
  touched: TouchedFile,
  { past, context, budget }: HistoryView,
  as: "lines" | "diff",
): Promise<FileSeen> {
  const file = { ...placeOf(touched, context), lines: undefined, hunks: as === "diff" ? [] : undefined, cut: false };
  const { change, from, before, after } = touched;
  const paths = from === undefined ? [change.path] : [change.path, from.path];
  if (paths.some((path) => context.guard.isSecret(path))) return { ...file, why: "secret" };
  for (const path of as === "diff" ? paths : []) {
    if (!(await mayShow(path, context))) return { ...file, why: "refused" };
  }
  const diff = await versionDiff(before, after, past, budget, context.signal);
  if ("why" in diff) return { ...file, why: diff.why };
  const { additions, deletions, hunks, complete } = diff;
  const counted = { ...file, lines: { additions, deletions }, why: undefined };
  return as === "diff" ? { ...counted, hunks, cut: !complete } : counted;
}

function placeOf(touched: TouchedFile, context: ToolContext) {
  const { change, from, before, after } = touched;
  const { path, observed, undone } = change;
  const relative = context.guard.spell(path);
  const movedFrom = from === undefined ? undefined : { path: from.path, relative: context.guard.spell(from.path) };
  return { path, relative, did: didTo(touched), movedFrom, modes: modesOf(before, after), observed, undone };
}

/** Rewind as a model calls it: turns and files are named as History shows them; files that the model may not know are counted. */
export const rewindByModel: Tool<"rewind"> = async (request, context) => {
  const { to: asking } = request;
  if (typeof asking !== "string") throw new Error("a model names the turn that it wants to go back to");
  const past = await context.past();
  if (past === undefined) throw new Problem({ code: "NO_TURN", asked: asking, reason: "no history" });
  await past.refresh();
  const to = await namedTurn(asking, past);
  const tracked = past.tracked();
  const asked: { readonly path: string; readonly files: readonly string[] }[] = [];
  for (const path of request.files ?? []) {
    const { real } = await realPathOf(path, context);
    asked.push({
      path,
      files: tracked.has(real) ? [real] : [...tracked.keys()].filter((file) => isOrIsBelow(file, real)),
    });
  }
  const files = request.files === undefined ? undefined : [...new Set(asked.flatMap((one) => one.files))];
  const dryRun = context.dryRun || request.byModel?.dryRun === true;
  const outcome = await rewind({ ...request, to, files }, { ...context, dryRun });

  const isNamed = mayName(context);
  const named = outcome.files.filter(({ path }) => isNamed(path));
  const concerned = new Set(outcome.files.map(({ path }) => path));
  const unchanged = asked.filter((one) => !one.files.some((file) => concerned.has(file))).map(({ path }) => path);
  return {
    ...outcome,
    files: await withSides(named, past, context),
    forModel: { hiddenByRules: outcome.files.length - named.length, unchanged },
  };
};

/** Short names for turns. Ids of a host are shown whole: `message-1` must never become `message-12`. */
function turnNames(ids: readonly string[]): ReadonlyMap<string, string> {
  const short = shortNames(ids.filter(isRandom));
  return new Map(ids.map((id) => [id, short.get(id) ?? id]));
}

const isRandom = (id: string): boolean => /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/.test(id);

/** The id of the turn that a model names by its id or the short form that History shows. Throws a Problem that lists the turns. */
async function namedTurn(asked: string, past: SessionHistory): Promise<string> {
  // A plan without files only says whether the turn is known.
  const { found } = await past.plan(asked, { current: async () => ({ kind: "absent" }), files: [] });
  if (found === "turn") return asked;
  const ids = past.snapshots().map(({ messageId }) => messageId);
  const long = asked.length >= shortCharsMin && found === "unknown";
  const [only, second] = long ? ids.filter((id) => isRandom(id) && id.startsWith(asked)) : [];
  if (only !== undefined && second === undefined) return only;
  const names = turnNames(ids);
  const known = ids
    .slice(-limits.turnsNamedMax)
    .toReversed()
    .map((id) => names.get(id) ?? id);
  throw new Problem({ code: "NO_TURN", asked, reason: found, known });
}

/** Files that are now outside the roots or denied are not named: they were recorded under other rules. */
function mayName(context: ToolContext): (path: string) => boolean {
  const roots = context.disk.roots.map(({ real }) => real);
  const { guard } = context;
  return (path) =>
    relativeTo(path, roots, nodePath) !== undefined &&
    (!guard.denies || guard.denied("read", [path], "file") === undefined);
}

/** The real path that a call names, also of a file that no longer exists. Throws if it is outside the roots or denied. */
async function realPathOf(
  path: string,
  context: ToolContext,
): Promise<{ readonly real: string; readonly shown: string }> {
  const resolved = context.guard.resolve(path);
  if (resolved.seen === "outside") throw await notFound(resolved, "file", context);
  if (resolved.seen === "node") resolved.node.handle.close();
  const place = resolved.seen === "node" ? resolved.target : resolved.place;
  const real = resolved.target?.real ?? place.absolute;
  const is = resolved.target?.is ?? "file";
  const rule = context.guard.denied("read", [place.absolute, real], is);
  if (rule === undefined) return { real, shown: context.guard.spell(place.absolute) };
  throw deniedBy(rule, place);
}

const isOrIsBelow = (path: string, real: string): boolean =>
  path === real || path.startsWith(real.endsWith(nodePath.sep) ? real : real + nodePath.sep);

async function mayShow(path: string, context: ToolContext): Promise<boolean> {
  try {
    const resolved = context.guard.resolve(path);
    if (resolved.seen === "node") resolved.node.handle.close();
    if (resolved.seen === "outside" || resolved.target === undefined) return false;
    await context.guard.permit("read", resolved.target, context.signal);
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}
