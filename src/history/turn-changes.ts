/** Turns with what each did to its files. Pure: a story in, data out. */

import type { ChangeRecord, FileChange, TurnChanges } from "../contract/history.ts";
import { type IsUndone, undoneIn } from "./effect.ts";
import { byPath, type ChangesByTurn, type Story } from "./snapshots.ts";

/** Turns that changed something, oldest first; the files of each in the order in which they were first changed. */
export function turnChanges(story: Story, changes: ChangesByTurn): readonly TurnChanges[] {
  const isUndone = undoneIn(story);
  return story.steps.flatMap((step) => {
    const own = step.type === "turn" ? changes.get(step.messageId) : undefined;
    if (step.type !== "turn" || own === undefined) return [];
    const { messageId, rewinds, timeMs } = step;
    const files = [...byPath(own).values()].flatMap((list) => fileChange(list, isUndone));
    return [{ messageId, timestamp: new Date(timeMs), rewinds, files }];
  });
}

/** Several changes of a file in one turn are one: from the first state to the last. */
function fileChange(changes: readonly ChangeRecord[], isUndone: IsUndone): readonly FileChange[] {
  const [first, last] = [changes[0], changes.at(-1)];
  if (first === undefined || last === undefined) return [];
  const { path, relative, before, movedFrom } = first;
  const { after, movedTo } = last;
  const observed = changes.every(({ tool }) => tool === "observed");
  const undone = isUndone(first.messageId, path);
  return [{ path, relative, before, after, movedFrom, movedTo, observed, undone }];
}
