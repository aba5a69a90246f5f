/** Which turns an undo or a redo can go back to. */

import { isRewind } from "./cancelled.ts";
import { changesIn, type Story } from "./snapshots.ts";
import { isSameContent } from "./versions.ts";

export interface UndoTargets {
  /** Turns that are in effect, the latest first. */
  readonly undo: readonly string[];
  /** Rewinds that no new change has followed, the latest first: going back to before one brings back what it undid. */
  readonly redo: readonly string[];
  /** Were there changes in turns that are no longer kept one by one? */
  readonly forgotten: boolean;
}

/**
 * Two stacks, as in an editor: a new change empties the second. To go back before a turn is to have just those turns in
 * effect that were when it began, as `effect.ts` has it for single files; so who goes back before a rewind has again what
 * that one took, also if changes came since.
 */
export function undoTargets(story: Story): UndoTargets {
  const changed = new Set(changesIn(story.steps).map(({ messageId }) => messageId));
  const before = new Map<string, readonly string[]>();
  const rewinding = new Set<string>();
  let done: readonly string[] = [];
  let redo: readonly string[] = [];
  for (const step of story.steps) {
    const { messageId } = step;
    if (step.type === "turn") before.set(messageId, done);
    if (!changed.has(messageId) || messageId === "") continue;
    const rewinds = isRewind(step) ? step.rewinds : undefined;
    if (rewinds === undefined) {
      // A message that goes on after it was undone is in effect again.
      if (rewinding.has(messageId)) continue;
      if (!done.includes(messageId)) done = [...done, messageId];
      redo = [];
      continue;
    }
    rewinding.add(messageId);
    done = before.get(rewinds.to) ?? []; // the beginning, or what was before all that is still known
    const again = redo.lastIndexOf(rewinds.to);
    redo = again < 0 ? [...redo, messageId] : redo.slice(0, again);
  }
  const forgotten = changesIn(story.steps).some(
    ({ messageId, before: then, after }) => messageId === "" && !isSameContent(then, after),
  );
  return { undo: done.toReversed(), redo: redo.toReversed(), forgotten };
}
