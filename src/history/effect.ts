/** Which turns are in effect, and which of their files a later rewind brought back. Pure: a story in, data out. */

import type { ChangeRecord } from "../contract/history.ts";
import { beginning } from "./rewind-plan.ts";
import { changesIn, type Story, type TurnRecord } from "./snapshots.ts";
import { isSameContent } from "./versions.ts";

/** Says of a turn and a file of it whether a later rewind took that back, and was not taken back itself. */
export type IsUndone = (messageId: string, path: string) => boolean;

/**
 * To go back before a turn is to have just those turns in effect that were when it began. A rewind is a turn too: who
 * goes back before it has again what it took. A rewind of some files only is a change like others, and takes those
 * files of the turns that it reaches back to.
 */
export function undoneIn(story: Story): IsUndone {
  const turns = story.steps.filter((step): step is TurnRecord => step.type === "turn");
  if (turns.every(({ rewinds }) => rewinds === undefined)) return () => false;
  const paths = pathsByTurn(story);
  const place = new Map(turns.map(({ messageId }, index) => [messageId, index]));
  const before = new Map<string, readonly string[]>([[beginning, []]]);
  const takenBy = new Map<string, TurnRecord>();
  let inEffect: readonly string[] = [];
  const placeOf = (messageId: string): number => place.get(messageId) ?? -1;
  /** Who goes back as far as an earlier rewind did, or further, does not take that one back. */
  const goesFurther = (to: string, messageId: string): boolean => {
    const rewinds = turns[placeOf(messageId)]?.rewinds;
    return rewinds !== undefined && rewinds.as !== "partial" && placeOf(to) <= placeOf(rewinds.to);
  };
  for (const turn of turns) {
    const { messageId, rewinds } = turn;
    before.set(messageId, inEffect);
    if (!paths.has(messageId)) continue;
    if (rewinds === undefined || rewinds.as === "partial") {
      inEffect = [...inEffect, messageId];
      continue;
    }
    const after = before.get(rewinds.to) ?? [];
    const kept = new Set(after);
    for (const taken of inEffect) if (!kept.has(taken) && !goesFurther(rewinds.to, taken)) takenBy.set(taken, turn);
    for (const again of after) takenBy.delete(again);
    inEffect = [...after, messageId];
  }
  const needed = new Map<string, ReadonlySet<string>>();
  /** A rewind leaves alone what is in conflict, refused or not kept; what was as it shall be needs nothing. */
  const leftBy = (rewind: TurnRecord): ReadonlySet<string> => {
    const known = needed.get(rewind.messageId) ?? leftBehind(story, rewind, paths);
    needed.set(rewind.messageId, known);
    return known;
  };
  const present = new Set(inEffect);
  const partial = turns.filter(({ messageId, rewinds }) => rewinds?.as === "partial" && present.has(messageId));
  const reaches = ({ messageId: by, rewinds }: TurnRecord, messageId: string): boolean =>
    rewinds !== undefined && placeOf(rewinds.to) <= placeOf(messageId) && placeOf(messageId) < placeOf(by);
  const changed = ({ messageId }: TurnRecord, path: string): boolean => paths.get(messageId)?.has(path) === true;
  return (messageId, path) => {
    if (partial.some((rewind) => reaches(rewind, messageId) && changed(rewind, path))) return true;
    const taken = takenBy.get(messageId);
    if (taken === undefined) return false;
    if (!leftBy(taken).has(path)) return true;
    // What one rewind left, a later one to the same place may have forced.
    const later = turns.slice(placeOf(taken.messageId) + 1);
    return later.some((rewind) => reaches(rewind, messageId) && changed(rewind, path));
  };
}

function pathsByTurn(story: Story): ReadonlyMap<string, ReadonlySet<string>> {
  const paths = new Map<string, Set<string>>();
  for (const { messageId, path } of changesIn(story.steps)) {
    const known = paths.get(messageId);
    if (known === undefined) paths.set(messageId, new Set([path]));
    else known.add(path);
  }
  return paths;
}

/** Files that were not as a rewind wanted them, and that it did not change. */
function leftBehind(
  { steps }: Story,
  { messageId, rewinds }: TurnRecord,
  paths: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlySet<string> {
  const indexOf = (id: string | undefined): number =>
    steps.findIndex((step) => step.type === "turn" && step.messageId === id);
  const since = changesIn(steps.slice(Math.max(0, indexOf(rewinds?.to)), indexOf(messageId)));
  const ends = new Map<string, { readonly first: ChangeRecord; readonly last: ChangeRecord }>();
  for (const change of since) ends.set(change.path, { first: ends.get(change.path)?.first ?? change, last: change });
  const own = paths.get(messageId);
  const left = [...ends].filter(([path, { first, last }]) => !own?.has(path) && !isKnownSame(first, last));
  return new Set(left.map(([path]) => path));
}

/** Contents that were not kept may differ, however long they are. */
const isKnownSame = ({ before }: ChangeRecord, { after }: ChangeRecord): boolean =>
  [before, after].every((version) => version.kind === "absent" || version.content !== undefined) &&
  isSameContent(before, after);
