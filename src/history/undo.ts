/** Which turns an undo or a redo can go back to. */

import { changesIn, type Story } from "./snapshots.ts";

export interface UndoTargets {
  /** Turns that are in effect, the latest first. */
  readonly undo: readonly string[];
  /** Rewinds that no new change has followed, the latest first: going back to before one brings back what it undid. */
  readonly redo: readonly string[];
}

/** Two stacks, as in an editor: a new change empties the second. */
export function undoTargets(story: Story): UndoTargets {
  const changed = new Set(changesIn(story.steps).map(({ messageId }) => messageId));
  const rewinding = new Set<string>();
  const done: string[] = [];
  const undone: { readonly by: string; readonly turns: readonly string[] }[] = [];
  for (const step of story.steps) {
    const { messageId } = step;
    if (!changed.has(messageId) || messageId === "") continue;
    if (step.type === "change") {
      // A message that goes on after it was undone is in effect again.
      if (rewinding.has(messageId)) continue;
      if (!done.includes(messageId)) done.push(messageId);
      undone.length = 0;
      continue;
    }
    const { rewinds } = step;
    if (rewinds === undefined || rewinds.as === "partial") {
      done.push(messageId);
      undone.length = 0;
      continue;
    }
    rewinding.add(messageId);
    const again = undone.findLastIndex(({ by }) => by === rewinds.to);
    if (again >= 0) {
      // Back to before a rewind: what that one and later ones had taken is in effect again.
      for (const { turns } of undone.splice(again).toReversed()) done.push(...turns);
      continue;
    }
    undone.push({ by: messageId, turns: done.splice(firstFrom(story, done, rewinds.to)) });
  }
  return { undo: done.toReversed(), redo: undone.map(({ by }) => by).toReversed() };
}

/** Where in `done` the turns begin that lie at or behind a turn; that one may have changed nothing itself. */
function firstFrom(story: Story, done: readonly string[], to: string): number {
  const exact = done.indexOf(to);
  if (exact >= 0) return exact;
  const order = story.steps.flatMap((step) => (step.type === "turn" ? [step.messageId] : []));
  const place = order.indexOf(to);
  const first = done.findIndex((messageId) => order.indexOf(messageId) >= place);
  return first < 0 ? done.length : first;
}
