/** Which turns are in effect, and which of their files a later rewind restored. Pure: a story in, data out. */

import { beginning, type ChangeRecord } from "../contract/history.ts";
import { byPath, byTurn, changesIn, lastOf, type Story, type TurnRecord } from "./snapshots.ts";
import { isKnownSame } from "../text/text.ts";

/** Whether a later rewind undid this turn's change of a file, and was not undone itself. */
export type IsUndone = (messageId: string, path: string) => boolean;

/**
 * To go back before a turn means to have those turns in effect that were when it began. A rewind is a turn too: going
 * back before it restores what it undid. Each file has a history of its own, since a rewind may skip a file or be
 * limited to some.
 */
export function undoneIn(story: Story): IsUndone {
  const turns = story.steps.filter((step): step is TurnRecord => step.type === "turn");
  if (turns.every(({ rewinds }) => rewinds === undefined)) return () => false;
  const paths = new Map(
    [...byTurn(changesIn(story.steps))].map(([id, own]) => [id, new Set(own.map(({ path }) => path))]),
  );
  const left = new Map<string, ReadonlySet<string>>();
  /** A rewind skips files in conflict, refused or not stored, and files that already are as they should be. */
  const leftBy = (rewind: TurnRecord): ReadonlySet<string> => {
    const known = left.get(rewind.messageId) ?? leftBehind(story, rewind, paths);
    left.set(rewind.messageId, known);
    return known;
  };
  const rewindsFile = (turn: TurnRecord, path: string): boolean => {
    const own = paths.get(turn.messageId);
    if (turn.rewinds === undefined || own === undefined) return false;
    return turn.rewinds.as === "partial" ? own.has(path) : !leftBy(turn).has(path);
  };
  const changes = byPath(changesIn(story.steps));
  const place = new Map(story.steps.map((step, index) => [step, index] as const));
  const undone = new Map<string, ReadonlySet<string>>();
  return (messageId, path) => {
    const known = undone.get(path) ?? undoneOf(path, turns, changes.get(path) ?? [], place, rewindsFile);
    undone.set(path, known);
    return known.has(messageId);
  };
}

function undoneOf(
  path: string,
  turns: readonly TurnRecord[],
  changes: readonly ChangeRecord[],
  place: ReadonlyMap<TurnRecord | ChangeRecord, number>,
  rewindsFile: (turn: TurnRecord, path: string) => boolean,
): ReadonlySet<string> {
  const placeOf = (step: TurnRecord | ChangeRecord): number => place.get(step) ?? -1;
  const steps = [...turns, ...changes];
  const byId = new Map(turns.map((turn) => [turn.messageId, turn]));
  const turnPlace = (messageId: string): number => {
    const turn = byId.get(messageId);
    return turn === undefined ? -1 : placeOf(turn);
  };
  /** A rewind that goes back as far as an earlier rewind, or further, does not undo that one. */
  const goesFurther = (to: string, messageId: string): boolean => {
    const rewinds = byId.get(messageId)?.rewinds;
    return rewinds !== undefined && turnPlace(to) <= turnPlace(rewinds.to);
  };
  const before = new Map<string, readonly string[]>([[beginning, []]]);
  const undone = new Set<string>();
  let inEffect: readonly string[] = [];
  for (const step of steps.toSorted((a, b) => placeOf(a) - placeOf(b))) {
    const { messageId } = step;
    if (step.type === "change") {
      // A message that continues after it was undone is in effect again.
      if (!inEffect.includes(messageId)) inEffect = [...inEffect, messageId];
      undone.delete(messageId);
      continue;
    }
    before.set(messageId, inEffect);
    if (step.rewinds === undefined || !rewindsFile(step, path)) continue;
    const { to } = step.rewinds;
    const after = before.get(to) ?? [];
    for (const taken of inEffect) if (!after.includes(taken) && !goesFurther(to, taken)) undone.add(taken);
    for (const again of after) undone.delete(again);
    inEffect = after;
  }
  return undone;
}

function leftBehind(
  { steps }: Story,
  { messageId, rewinds }: TurnRecord,
  paths: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlySet<string> {
  const indexOf = (id: string | undefined): number =>
    steps.findIndex((step) => step.type === "turn" && step.messageId === id);
  const since = changesIn(steps.slice(Math.max(0, indexOf(rewinds?.to)), indexOf(messageId)));
  const own = paths.get(messageId);
  const left = [...byPath(since)].filter(
    ([path, changes]) => !own?.has(path) && !isKnownSame(changes[0].before, lastOf(changes).after),
  );
  return new Set(left.map(([path]) => path));
}
