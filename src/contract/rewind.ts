/** Going back: what is asked, what came of each file. */

import type { Hunk } from "./edit.ts";
import type { DiagnosticsReport } from "./language.ts";
import type { Loss, RewindAction, RewindKind, RewindStep } from "./history.ts";
import type { ProblemData } from "./problem.ts";

/** The name of the state before the first change of a session; no turn is called so. */
export const beginning = "start";

export interface RewindRequest {
  readonly verb: "rewind";
  /** The message before whose changes the files shall be as they were; or the last that is in effect, or was undone. */
  readonly to: string | { readonly last: "undo" | "redo" };
  /** Only these; all that were changed since by default. */
  readonly files: readonly string[] | undefined;
  /** Also over what somebody else changed since. */
  readonly force: boolean;
  readonly as: RewindKind;
  /** A model's call: the turn may be named by the beginning of its id, and what rules hide is not named. */
  readonly byModel?: { readonly dryRun: boolean };
}

/** One file of a rewind: what was planned, and whether it was done. */
export interface RewoundFile {
  /** Real and absolute, and as short as it means the same in a call. */
  readonly path: string;
  readonly relative: string;
  readonly step: RewindStep;
  /** `planned`: a dry run. `left`: there was nothing to do, or it could not be done without force. */
  readonly came: "done" | "planned" | "left" | { readonly problem: ProblemData };
  readonly action: RewindAction | undefined;
  /** Of one that is `done` or `planned`: what was there is not kept, so that for this file it cannot be taken back. */
  readonly lost?: Loss;
  /** For a model, of a file that was left in conflict. */
  readonly sides?: ConflictSides;
}

/** Two diffs: from the content that would be brought back to what the session left, and from there to what is there now. */
export interface ConflictSides {
  readonly ours: readonly Hunk[];
  readonly theirs: readonly Hunk[];
  /** Is the file gone? */
  readonly removed: boolean;
  /** Is not all of it shown? */
  readonly cut: boolean;
}

export interface RewindOutcome {
  readonly kind: "rewind";
  readonly to: string;
  /** Turns that an undo or a redo went past: what they changed is as it was, or cannot be brought back. Newest first. */
  readonly passed: readonly string[];
  /** The turn that this rewind is itself, to go back before it; undefined if nothing was changed, or if that could not be recorded. */
  readonly turn: string | undefined;
  readonly files: readonly RewoundFile[];
  readonly dryRun: boolean;
  /** Records of the session that cannot be read, so that a change may be missing; left out where there are none. */
  readonly damaged?: number;
  /** What language servers say of the files that were brought back. */
  readonly diagnostics?: readonly DiagnosticsReport[];
  /** For a model: how many files rules hide from it, and which of the files it asked for were not changed since. */
  readonly forModel?: { readonly withheld: number; readonly unchanged: readonly string[] };
}
