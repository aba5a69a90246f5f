/** What was before: the nouns of history that tools, surfaces and stores share. */

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
