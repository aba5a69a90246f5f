/** What was before: the nouns of history that tools, surfaces and stores share. */

import type { Hunk } from "./edit.ts";
import type { DiagnosticsReport } from "./lsp.ts";
import type { ProblemData } from "./problem.ts";
import type { Profile } from "./profile.ts";

/** Why the content of a version is not in the store. */
export type NotKept = "secret" | "too large" | "failed";

/** A file at one moment, as history knows it. */
export type FileVersion =
  | { readonly kind: "absent" }
  | {
      readonly kind: "file";
      readonly sizeBytes: number;
      /** Permission bits; left out where they are not known, as before a new file has got its name. */
      readonly mode?: number;
      /** Names that the file had (hard links), where it had more than one. */
      readonly links?: number;
      /** What the content is known by: its sha256 in hex, or `inode-…` for one that is too large to be hashed. */
      readonly content?: string;
      /** Which file it was, in the form `inode-…`: recognises a large file without reading it. */
      readonly mark?: string;
      /** Set if the content is not in the store. */
      readonly notKept?: NotKept;
    };

/** `partial`: only some files of the turn, so that it is a change like others to undo and redo. */
export type RewindKind = "rewind" | "undo" | "redo" | "partial";

export type HistoryRecord =
  | {
      readonly type: "start";
      readonly session: string;
      readonly roots: readonly string[];
      readonly dialect: string;
      readonly timeMs: number;
    }
  /** From here on changes belong to this message. */
  | {
      readonly type: "turn";
      readonly messageId: string;
      readonly timeMs: number;
      readonly rewinds?: { readonly to: string; readonly as: RewindKind };
    }
  | ChangeRecord
  /** What a change came to, where it could not be said before it was done. */
  | { readonly type: "after"; readonly of: string; readonly after: FileVersion }
  /** A change that was announced and did not happen. */
  | { readonly type: "void"; readonly of: string }
  /** First in a compacted journal: what went into it. */
  | {
      readonly type: "base";
      readonly absorbed: readonly string[];
      readonly ids: readonly string[];
      readonly pruned: readonly string[];
    };

/** Written before the file is changed: if the change never happens, the file still is as in `before`. */
export interface ChangeRecord {
  readonly type: "change";
  /** Empty for what is left of turns that were pruned. */
  readonly messageId: string;
  /** Real and absolute. */
  readonly path: string;
  /** Below its root, for people. */
  readonly relative: string;
  readonly before: FileVersion;
  readonly after: FileVersion;
  /** Which tool did it; `observed` for what somebody else did and a scan found. */
  readonly tool: string;
  readonly timeMs: number;
  /** The other half of a rename. */
  readonly movedTo?: string;
  readonly movedFrom?: string;
  /** Of several changes in one: somebody else changed the file in between. */
  readonly broken?: true;
}

/** What the files of a turn were before it. */
export interface Snapshot {
  readonly messageId: string;
  /** By real path: the version before the first change in this turn. */
  readonly trackedFileBackups: Readonly<Record<string, FileVersion>>;
  readonly timestamp: Date;
  readonly rewinds: { readonly to: string; readonly as: RewindKind } | undefined;
}

/** What one turn did to one file. */
export interface FileChange {
  /** Real and absolute, and below its root. */
  readonly path: string;
  readonly relative: string;
  readonly before: FileVersion;
  readonly after: FileVersion;
  /** Real paths: where a file came from, or went to. */
  readonly movedFrom: string | undefined;
  readonly movedTo: string | undefined;
  /** Somebody else did it, and a scan found it. */
  readonly observed: boolean;
  /** Has a later rewind brought the file back to before it, and was that not taken back itself? */
  readonly undone: boolean;
}

/** A turn with what it changed. */
export interface TurnChanges {
  readonly messageId: string;
  readonly timestamp: Date;
  readonly rewinds: Snapshot["rewinds"];
  readonly files: readonly FileChange[];
}

export interface DiffStats {
  readonly insertions: number;
  readonly deletions: number;
  readonly filesChanged: number;
  /** Files whose lines could not be counted: not text, too large, or not kept. */
  readonly uncounted: number;
}

/** Something in the store that is not as it was written. */
export type StoreFault =
  | { readonly fault: "damaged line"; readonly session: string; readonly file: string; readonly atByte: number }
  | { readonly fault: "unreadable"; readonly file: string }
  | { readonly fault: "damaged content" | "missing content"; readonly content: string; readonly session?: string };

/** A file as it is now, told by whoever may look at it. */
export type CurrentState =
  | { readonly kind: "absent" }
  | {
      readonly kind: "file";
      readonly sizeBytes: number;
      readonly mode: number;
      readonly mark: string;
      /** Names that it has. */
      readonly links: number;
      /** sha256 in hex; asked only where the mark does not decide. */
      readonly hash: () => Promise<string>;
    }
  /** Nothing that a rewind may touch. */
  | { readonly kind: "other"; readonly what: "folder" | "link" | "special" | "outside" | "refused" };

/** What a rewind does to a file, if it does it. `mode` is left out where the file's present mode stays. */
export type RewindAction =
  | {
      readonly does: "restore" | "create";
      readonly content: string;
      readonly sizeBytes: number;
      readonly mode?: number;
    }
  | { readonly does: "delete" };

/**
 * `linked since`: bringing it back would change, or separate, what another name leads to. The last three: what is there
 * would be lost for good, since it holds secrets, is too large to be kept, or the store does not take it.
 */
export type ConflictReason =
  | "changed since"
  | "changed in between"
  | "linked since"
  | "never stored"
  | "too large to keep"
  | "cannot be kept";

/** What is there is not in the store once it is overwritten; `detail` has the words of a store that failed. */
export interface Loss {
  readonly why: NotKept;
  readonly detail?: string;
}

export type RewindStep =
  | RewindAction
  | { readonly does: "nothing" }
  /** Somebody else has changed the file, or given it another name: `forced` is what is done if they insist. */
  | {
      readonly does: "conflict";
      readonly why: ConflictReason;
      readonly base: FileVersion;
      readonly ours: FileVersion;
      /** The hash of what is there; undefined if the file is gone. */
      readonly theirs: string | undefined;
      readonly forced: RewindAction;
      /** Then what is there cannot be brought back; left out where it can. */
      readonly loses?: Loss;
    }
  | {
      readonly does: "unavailable";
      /**
       * `unreadable`: the disk fails to say what is in it, so nobody knows what would be overwritten. `damaged record`: it is as the
       * records that can be read say, and there was one more of which nobody knows what it said.
       */
      readonly why:
        | NotKept
        | "pruned"
        | "damaged"
        | "damaged record"
        | "folder"
        | "link"
        | "special"
        | "outside"
        | "refused"
        | "unreadable";
    };

export interface RewindFile {
  readonly path: string;
  readonly relative: string;
  readonly step: RewindStep;
}

export type RewindPlan =
  | { readonly found: "turn"; readonly messageId: string; readonly files: readonly RewindFile[] }
  | { readonly found: "pruned" | "unknown"; readonly messageId: string };

// Looking back: what a model asks about the past of its session, and what it is told.

export interface HistoryRequest {
  readonly verb: "history";
  /** One turn with its diffs; all turns, newest first, by default. */
  readonly turn: string | undefined;
  /** Only what happened to this file, or below this folder. */
  readonly path: string | undefined;
  /** The first turn to tell of, or the first file of the one turn; the first is 1. */
  readonly from: number;
  readonly itemsMax: number;
  readonly profile: Profile;
}

export interface HistoryOutcome {
  readonly kind: "history";
  /** `turns`: a list of turns. `files`: one turn, with diffs. What `from`, `total` and `next` count. */
  readonly of: "turns" | "files";
  readonly turns: readonly TurnSeen[];
  readonly from: number;
  readonly total: number;
  /** Where to go on; undefined at the end. */
  readonly next: number | undefined;
  /** What only was asked about, below its root. */
  readonly path: string | undefined;
}

export interface TurnSeen {
  readonly messageId: string;
  /** Enough of the id to name the turn by. */
  readonly name: string;
  readonly timestamp: Date;
  /** With the name of the turn that was gone back to. */
  readonly rewinds: Snapshot["rewinds"];
  /** Did a later rewind bring back its files? */
  readonly undone: "all" | "part" | "no";
  readonly files: readonly FileSeen[];
  /** Files that may be told of, though not all are in `files`. */
  readonly filesTotal: number;
  /** Files that rules hide. */
  readonly withheld: number;
}

export interface FileSeen {
  /** Real and absolute, and below its root. */
  readonly path: string;
  readonly relative: string;
  readonly did: "created" | "changed" | "deleted" | "moved" | "mode" | "nothing";
  readonly movedFrom: { readonly path: string; readonly relative: string } | undefined;
  readonly modes: readonly [number, number] | undefined;
  readonly observed: boolean;
  readonly undone: boolean;
  /** Undefined where lines were not counted; `why` says why. */
  readonly lines: { readonly additions: number; readonly deletions: number } | undefined;
  readonly why: Uncounted | undefined;
  /** In a list there are none. */
  readonly hunks: readonly Hunk[] | undefined;
  /** Of the hunks something is missing: the end, or the ends of long lines. */
  readonly cut: boolean;
}

/** `refused`: it may not be read without being asked for, and was not allowed. */
export type Uncounted = NotKept | "pruned" | "damaged" | "not text" | "over the limit" | "refused";

// Going back: what is asked, what came of each file.

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
