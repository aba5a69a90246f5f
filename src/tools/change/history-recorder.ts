/** Records one change in the history of its session: the old content before the file is replaced, the result afterwards. */

import type { ChangeNote } from "../../contract/edit.ts";
import { Problem } from "../../contract/problem.ts";
import type { Target } from "../../contract/target.ts";
import type { Identity } from "../../disk/disk.ts";
import type { Keeping, Kept, SessionHistory } from "../../history/history.ts";

export interface Turn {
  readonly history: SessionHistory;
  readonly messageId: string;
  readonly tool: string;
}

type KeepWhat = Pick<Keeping, "before" | "after"> & { readonly moved?: Moved };
export type Moved = { readonly movedTo: string } | { readonly movedFrom: string };

export type HistoryRecorder = ReturnType<typeof createRecorder>;

/** `onKept` gets the record before the file is replaced; if it throws, the change is not made. */
export function createRecorder(turn: Turn | undefined, target: Target, onKept?: (kept: Kept) => void) {
  let kept: Kept | undefined;
  return {
    /** False if the session has no history: then all methods do nothing. */
    keeps: turn !== undefined,
    /** Called right before the file is replaced; called again if the disk then has to replace it in another way. */
    async keep({ before, after, moved }: KeepWhat): Promise<void> {
      if (turn === undefined) return;
      const { history, messageId, tool } = turn;
      const { real: path, realRelative: relative } = target;
      const instead = kept && { instead: kept };
      kept = await history.keep({ messageId, tool, path, relative, before, after, ...moved, ...instead });
      if (history.isRequired && kept.failed !== undefined) {
        throw new Problem({ code: "STATE_UNAVAILABLE", place: target, fault: kept.failed });
      }
      onKept?.(kept);
    },
    done(identity: Identity, mode?: number): readonly ChangeNote[] {
      if (kept === undefined) return [];
      turn?.history.done(kept, identity, mode);
      return notesOf(kept);
    },
    undone(): void {
      if (kept !== undefined) turn?.history.undone(kept);
      kept = undefined;
    },
  };
}

/** No note for a secret: its content is never kept, and a note with each change would help no one. */
function notesOf({ id, before, failed = "" }: Kept): readonly ChangeNote[] {
  const notKept = before.kind === "file" ? before.notKept : undefined;
  if (notKept === "too large") {
    return [{ note: "not kept", what: "old content", why: "it is larger than what the history keeps of one file" }];
  }
  if (failed === "") return [];
  const what = notKept === "failed" ? "old content" : id === undefined ? "record" : "new content";
  return [{ note: "not kept", what, why: failed }];
}
