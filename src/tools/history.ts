/**
 * History: the turns of this session, or one of them with its diffs. An answer is as long as is good for a model: what
 * does not fit is left for the next call, and said.
 */

import type { TurnChanges } from "../contract/history.ts";
import { limits } from "../contract/limits.ts";
import type { FileSeen, HistoryOutcome, HistoryRequest, TurnSeen } from "../contract/looking-back.ts";
import { Problem } from "../contract/problem.ts";
import type { SessionHistory } from "../history/session-history.ts";
import { namedTurn, turnNames } from "./named-turn.ts";
import { isOrIsBelow, mayName, mayShow, realPathOf } from "./past-paths.ts";
import type { Bench, Tool } from "./tool.ts";
import { didOf, modesOf, type Touched, type TurnFiles, turnFiles, versionsOf } from "./turn-files.ts";
import { charsOf, fittedHunks, type Purse, versionDiff } from "./version-diff.ts";

/** What every part of an answer is made with. */
interface Looking {
  readonly request: HistoryRequest;
  readonly past: SessionHistory;
  readonly bench: Bench;
  readonly names: ReadonlyMap<string, string>;
  readonly filesOf: (turn: TurnChanges) => TurnFiles;
  readonly purse: Purse;
  /** What only is asked about, below its root. */
  readonly path: string | undefined;
}

export const history: Tool<"history"> = async (request, bench) => {
  const past = await bench.past();
  if (past === undefined) throw new Problem({ code: "NO_TURN", asked: request.turn ?? "", reason: "no history" });
  const only = request.path === undefined ? undefined : await realPathOf(request.path, bench);
  const turns = past.turns().toReversed();
  const isNamed = mayName(bench);
  const isAsked = (path: string): boolean => only === undefined || isOrIsBelow(path, only.real);
  const looking: Looking = {
    request,
    past,
    bench,
    names: turnNames(turns.map(({ messageId }) => messageId)),
    filesOf: (turn) => {
      const { files, withheld } = turnFiles(turn, isNamed);
      const asked = files.filter(({ change, from }) => isAsked(change.path) || (from && isAsked(from.path)));
      return { files: asked, withheld: only === undefined ? withheld : 0 };
    },
    purse: { bytes: limits.historyBytesMax },
    path: only?.shown,
  };
  if (request.turn === undefined) {
    const touching = turns.filter((turn) => only === undefined || looking.filesOf(turn).files.length > 0);
    return listed(touching, looking);
  }
  const asked = request.turn;
  const isKnown = turns.some(({ messageId }) => messageId === asked);
  const id = isKnown ? asked : await namedTurn(asked, past);
  return inDetail(
    turns.find(({ messageId }) => messageId === id),
    looking,
  );
};

/** A line of the list, besides its path. */
const lineChars = 40;

async function listed(turns: readonly TurnChanges[], looking: Looking): Promise<HistoryOutcome> {
  const { from, itemsMax } = looking.request;
  const shown: TurnSeen[] = [];
  let charsLeft = limits.historyCharsMax;
  for (const turn of turns.slice(from - 1, from - 1 + itemsMax)) {
    looking.bench.signal.throwIfAborted();
    const { files, withheld } = looking.filesOf(turn);
    const some = files.slice(0, limits.historyFilesMax);
    charsLeft -= some.reduce((sum, { change, from: source }) => sum + charsIn(change.path, source?.path), lineChars);
    if (charsLeft < 0 && shown.length > 0) break;
    const seen: FileSeen[] = [];
    for (const touched of some) seen.push(await counted(touched, looking));
    shown.push({ ...headOf(turn, looking), files: seen, filesTotal: files.length, withheld });
  }
  return outcomeOf("turns", shown, shown.length, turns.length, looking);
}

const charsIn = (path: string, other = ""): number => path.length + other.length + lineChars;

/** `undefined`: a turn that is known and changed nothing. */
async function inDetail(turn: TurnChanges | undefined, looking: Looking): Promise<HistoryOutcome> {
  if (turn === undefined) return outcomeOf("files", [], 0, 0, looking);
  const { from, itemsMax } = looking.request;
  const { files, withheld } = looking.filesOf(turn);
  const shown: FileSeen[] = [];
  let charsLeft = limits.historyCharsMax;
  for (const touched of files.slice(from - 1, from - 1 + itemsMax)) {
    looking.bench.signal.throwIfAborted();
    const whole = await compared(touched, looking);
    const chars = charsIn(touched.change.path, touched.from?.path) + charsOf(whole.hunks ?? []);
    if (chars > charsLeft && shown.length > 0) break;
    const { hunks, cut } = fittedHunks(whole.hunks ?? [], Math.max(0, charsLeft));
    charsLeft -= chars;
    shown.push({ ...whole, hunks, cut: cut || whole.cut });
  }
  const seen = { ...headOf(turn, looking), files: shown, filesTotal: files.length, withheld };
  return outcomeOf("files", [seen], shown.length, files.length, looking);
}

function headOf({ messageId, timestamp, rewinds, files }: TurnChanges, { names }: Looking) {
  const count = files.filter((file) => file.undone).length;
  const undone = count === 0 ? "no" : count === files.length ? "all" : "part";
  const nameOf = (id: string): string => names.get(id) ?? id;
  const back = rewinds === undefined ? undefined : { ...rewinds, to: nameOf(rewinds.to) };
  return { messageId, name: nameOf(messageId), timestamp, rewinds: back, undone } as const;
}

function outcomeOf(
  of: HistoryOutcome["of"],
  turns: readonly TurnSeen[],
  count: number,
  total: number,
  { request: { from }, path }: Looking,
): HistoryOutcome {
  const next = from + count;
  return { kind: "history", of, turns, from, total, next: next > total ? undefined : next, path };
}

/** With its lines counted. What is a secret today was perhaps none when it was kept. */
async function counted(touched: Touched, { past, bench, purse }: Looking): Promise<FileSeen> {
  const told = { ...placeOf(touched, bench), hunks: undefined, cut: false };
  const { before, after } = versionsOf(touched);
  if (isSecret(touched, bench)) return { ...told, lines: undefined, why: "secret" };
  const diff = await versionDiff(before, after, past, purse, bench.signal);
  if ("why" in diff) return { ...told, lines: undefined, why: diff.why };
  const { additions, deletions } = diff;
  return { ...told, lines: { additions, deletions }, why: undefined };
}

/** With its diff, if it may be read. */
async function compared(touched: Touched, { past, bench, purse }: Looking): Promise<FileSeen> {
  const told = { ...placeOf(touched, bench), lines: undefined, hunks: [], cut: false };
  const { before, after } = versionsOf(touched);
  if (isSecret(touched, bench)) return { ...told, why: "secret" };
  const { change, from } = touched;
  for (const path of from === undefined ? [change.path] : [change.path, from.path]) {
    if (!(await mayShow(path, bench))) return { ...told, why: "refused" };
  }
  const diff = await versionDiff(before, after, past, purse, bench.signal);
  if ("why" in diff) return { ...told, why: diff.why };
  const { additions, deletions, hunks, complete } = diff;
  return { ...told, lines: { additions, deletions }, why: undefined, hunks, cut: !complete };
}

const isSecret = ({ change, from }: Touched, { guard }: Bench): boolean =>
  guard.isSecret(change.path) || (from !== undefined && guard.isSecret(from.path));

function placeOf(touched: Touched, bench: Bench) {
  const { change, from } = touched;
  const { path, observed, undone } = change;
  const relative = bench.guard.spell(path);
  const movedFrom = from === undefined ? undefined : { path: from.path, relative: bench.guard.spell(from.path) };
  return { path, relative, did: didOf(touched), movedFrom, modes: modesOf(touched), observed, undone };
}
