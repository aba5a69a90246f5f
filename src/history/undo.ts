/** Which turn an undo or a redo goes back to. */

import { changesIn, type Story } from "./snapshots.ts";

export interface UndoTargets {
  /** The latest turn that is in effect. */
  readonly undo: string | undefined;
  /** The latest rewind that has not been followed by a new change: going back to before it brings back what it undid. */
  readonly redo: string | undefined;
}

/** Two stacks, as in an editor: a new change empties the second. */
export function undoTargets(story: Story): UndoTargets {
  const changed = new Set(changesIn(story.steps).map(({ messageId }) => messageId));
  const done: string[] = [];
  const undone: { readonly by: string; readonly turns: readonly string[] }[] = [];
  for (const step of story.steps) {
    if (step.type !== "turn" || !changed.has(step.messageId)) continue;
    const { messageId, rewinds } = step;
    if (rewinds === undefined || rewinds.as === "partial") {
      done.push(messageId);
      undone.length = 0;
      continue;
    }
    const again = undone.findLastIndex(({ by }) => by === rewinds.to);
    if (again >= 0) {
      // Back to before a rewind: what that one and later ones had taken is in effect again.
      for (const { turns } of undone.splice(again).toReversed()) done.push(...turns);
      continue;
    }
    undone.push({ by: messageId, turns: done.splice(firstFrom(story, done, rewinds.to)) });
  }
  return { undo: done.at(-1), redo: undone.at(-1)?.by };
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
