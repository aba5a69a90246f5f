/** Which turns an undo or a redo can go back to. */

import { isRewind } from "./cancelled.ts";
import { beginning } from "../contract/rewind.ts";
import { changesIn, type Story } from "./snapshots.ts";
import { isSameContent } from "./versions.ts";

export interface UndoTargets {
  /** Turns that are in effect, the latest first. */
  readonly undo: readonly string[];
  /** Rewinds that no new change has followed, the latest first: going back to before one brings back what it undid. */
  readonly redo: readonly string[];
  /** Are changes in effect of turns that are no longer kept one by one? */
  readonly forgotten: boolean;
}

/**
 * Two stacks, as in an editor: a new change empties the second. To go back before a turn is to have just those turns in
 * effect that were when it began, as `effect.ts` has it for single files; so who goes back before a rewind has again what
 * that one took, also if changes came since.
 */
export function undoTargets(story: Story): UndoTargets {
  const changed = new Set(changesIn(story.steps).map(({ messageId }) => messageId));
  const hasForgotten = changesIn(story.steps).some(
    ({ messageId, before: then, after }) => messageId === "" && !isSameContent(then, after),
  );
  const before = new Map<string, Pick<UndoTargets, "forgotten"> & { readonly done: readonly string[] }>();
  const rewinding = new Set<string>();
  let done: readonly string[] = [];
  let forgotten = hasForgotten;
  let redo: readonly string[] = [];
  for (const step of story.steps) {
    const { messageId } = step;
    if (step.type === "turn") before.set(messageId, { done, forgotten });
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
    // Else what was before all that is still known; only the beginning is before what is forgotten too.
    ({ done, forgotten } = before.get(rewinds.to) ?? { done: [], forgotten: hasForgotten && rewinds.to !== beginning });
    const again = redo.lastIndexOf(rewinds.to);
    redo = again < 0 ? [...redo, messageId] : redo.slice(0, again);
  }
  return { undo: done.toReversed(), redo: redo.toReversed(), forgotten };
}
