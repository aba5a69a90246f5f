/** What a change leaves behind in the history of its session: the old content before the swap, what became of it after. */

import type { ChangeNote } from "../../contract/edit.ts";
import type { Target } from "../../contract/target.ts";
import type { Identity } from "../../disk/disk.ts";
import type { Keeping, Kept, SessionHistory } from "../../history/history.ts";

/** The message that a change belongs to, and where its past is kept. */
export interface Turn {
  readonly history: SessionHistory;
  readonly messageId: string;
  readonly tool: string;
}

export type KeepWhat = Pick<Keeping, "before" | "after"> & { readonly moved?: Moved };
export type Moved = { readonly movedTo: string } | { readonly movedFrom: string };

/** One change on its way into the history. */
export interface HistoryRecorder {
  /** Is anything kept at all? */
  readonly keeps: boolean;
  /** Right before the swap. It may be called a second time, when the swap turns out to be another one. */
  keep(what: KeepWhat): Promise<void>;
  /** The change was made. */
  done(identity: Identity, mode?: number): readonly ChangeNote[];
  /** It was not, or was taken back. */
  undone(): void;
}

/** `onKept` hears what is about to be swapped and what became of keeping it; what it throws stops the change. */
export function createRecorder(turn: Turn | undefined, target: Target, onKept?: (kept: Kept) => void): HistoryRecorder {
  let kept: Kept | undefined;
  return {
    keeps: turn !== undefined,
    async keep({ before, after, moved }) {
      if (turn === undefined) return;
      const { history, messageId, tool } = turn;
      const { real: path, realRelative: relative } = target;
      const instead = kept && { instead: kept };
      kept = await history.keep({ messageId, tool, path, relative, before, after, ...moved, ...instead });
      onKept?.(kept);
    },
    done(identity, mode) {
      if (kept === undefined) return [];
      turn?.history.done(kept, identity, mode);
      return notesOf(kept);
    },
    undone() {
      if (kept !== undefined) turn?.history.undone(kept);
      kept = undefined;
    },
  };
}

/** Secrets are never kept, which nobody needs to be told of each change. */
function notesOf({ id, before, failed = "" }: Kept): readonly ChangeNote[] {
  const notKept = before.kind === "file" ? before.notKept : undefined;
  if (notKept === "too large") {
    return [{ note: "not kept", what: "old content", why: "it is larger than what the history keeps of one file" }];
  }
  if (failed === "") return [];
  const what = notKept === "failed" ? "old content" : id === undefined ? "record" : "new content";
  return [{ note: "not kept", what, why: failed }];
}
