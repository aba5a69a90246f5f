/** History: file versions, the records of changes, rewinds and what they report. */

import type { Hunk } from "./edit.ts";
import type { DiagnosticsReport } from "./lsp.ts";
import type { ProblemData } from "./problem.ts";
import type { Profile } from "./profile.ts";

/** What a version is if it is no regular file: the content of a symlink is where it leads to, that of a folder is empty. */
export type VersionIs = "link" | "folder";

export type NotKept = "secret" | "too large" | "failed";

export type FileVersion =
  | { readonly kind: "absent" }
  | {
      readonly kind: "file";
      /** Set for a symlink and for a folder. */
      readonly is?: VersionIs;
      readonly sizeBytes: number;
      /** Permission bits; undefined if unknown, as before a new file has its name. */
      readonly mode?: number;
      readonly links?: number;
      /** The id of the content: its sha256 in hex, or `inode-…` if the file is too large to hash. */
      readonly content?: string;
      /** The fingerprint `inode-…`, which recognises a large file without reading it. Records on disk use this name. */
      readonly mark?: string;
      readonly notKept?: NotKept;
    };

/** `partial`: only some files of the turn, so undo and redo treat it as an ordinary change. */
export type RewindKind = "rewind" | "undo" | "redo" | "partial";

export type HistoryRecord =
  | {
      readonly type: "start";
      readonly session: string;
      readonly roots: readonly string[];
      readonly dialect: string;
      readonly timeMs: number;
      /** The program that made the calls, as people know it: "Claude Code", "Codex", "command line". */
      readonly client?: string;
    }
  /** The changes that follow belong to this message. */
  | {
      readonly type: "turn";
      readonly messageId: string;
      readonly timeMs: number;
      /** What made the changes, for people: the shell command of a turn that was observed. */
      readonly title?: string;
      /** What the command changed besides, and no undo brings back: ignored by git, too many, dependencies. */
      readonly notCovered?: NotCovered;
      readonly rewinds?: Rewinds;
    }
  | ChangeRecord
  /** The result of a change, if it was unknown before the change was made. */
  | { readonly type: "after"; readonly of: string; readonly after: FileVersion }
  /** The change with this id was recorded and then not made. */
  | { readonly type: "void"; readonly of: string }
  /** First in a compacted journal: the journals that were merged into it. */
  | {
      readonly type: "base";
      readonly absorbed: readonly string[];
      readonly ids: readonly string[];
      readonly pruned: readonly string[];
    };

export type StartRecord = Extract<HistoryRecord, { readonly type: "start" }>;

/** What a turn went back to. */
export interface Rewinds {
  readonly to: string;
  readonly as: RewindKind;
  /** The newest turn of the session that the rewind knew: what came between it and the rewind was not taken back. */
  readonly upTo?: string;
  /** The sessions whose turns it took back, if there are several; each has a record of it under the same id. */
  readonly sessions?: readonly string[];
  /** `begun`: its process ended before it was through. A record with `ended` follows when it is; neither is in older journals. */
  readonly state?: "begun" | "ended";
}

/** Written before the file is changed: if the change never happens, the file is still as in `before`. */
export interface ChangeRecord {
  readonly type: "change";
  /** Empty for the merged changes of pruned turns. */
  readonly messageId: string;
  readonly path: string;
  /** Relative to its root, for people. */
  readonly relative: string;
  readonly before: FileVersion;
  readonly after: FileVersion;
  /** The tool's name; `observed` if another program made the change and a scan found it. */
  readonly tool: string;
  readonly timeMs: number;
  /** The other half of a rename. */
  readonly movedTo?: string;
  readonly movedFrom?: string;
  /** Of several merged changes: another program changed the file between them. */
  readonly broken?: true;
}

export interface Snapshot {
  readonly messageId: string;
  /** By real path: the version before the first change of this turn. */
  readonly trackedFileBackups: Readonly<Record<string, FileVersion>>;
  readonly timestamp: Date;
  readonly rewinds: Rewinds | undefined;
}

export interface FileChange {
  /** Real and absolute; and relative to its root. */
  readonly path: string;
  readonly relative: string;
  readonly before: FileVersion;
  readonly after: FileVersion;
  readonly movedFrom: string | undefined;
  readonly movedTo: string | undefined;
  /** Another program made the change, and a scan found it. */
  readonly observed: boolean;
  /** A later rewind restored the version before this change, and that rewind is still in effect. */
  readonly undone: boolean;
}

/** The first few names, relative to their root, and how many there are. */
export interface NotCovered {
  readonly names: readonly string[];
  readonly count: number;
}

export interface TurnChanges {
  readonly messageId: string;
  /** The session that made the changes; the first of them for a rewind over several. */
  readonly session: string;
  /** The tools that made them, in the order of their first change; `observed` if another program did. */
  readonly tools: readonly string[];
  /** The shell command that made them, if it is known. */
  readonly title: string | undefined;
  readonly notCovered?: NotCovered;
  readonly timestamp: Date;
  readonly rewinds: Snapshot["rewinds"];
  readonly files: readonly FileChange[];
}

export interface DiffStats {
  readonly insertions: number;
  readonly deletions: number;
  readonly filesChanged: number;
  /** Files whose lines could not be counted: binary, too large, or not in the store. */
  readonly uncounted: number;
}

export type StoreFault =
  | { readonly fault: "damaged line"; readonly session: string; readonly file: string; readonly atByte: number }
  | { readonly fault: "unreadable"; readonly file: string }
  | { readonly fault: "damaged content" | "missing content"; readonly content: string; readonly session?: string };

export type CurrentState =
  | { readonly kind: "absent" }
  | {
      readonly kind: "file";
      readonly is?: VersionIs;
      readonly sizeBytes: number;
      readonly mode: number;
      /** `inode-…`, as `mark` in `FileVersion`. */
      readonly fingerprint: string;
      readonly links: number;
      /** sha256 in hex; called only if `fingerprint` does not decide. */
      readonly hash: () => Promise<string>;
    }
  /** A rewind must not touch it. */
  | { readonly kind: "other"; readonly what: "folder" | "link" | "special" | "outside" | "refused" };

/** What a rewind does to a file. `mode` is left out if the current mode stays. */
export type RewindAction =
  | {
      readonly does: "restore" | "create";
      readonly is?: VersionIs;
      /** Something of another kind that the session left there, which is removed first. */
      readonly replaces?: VersionIs | "file";
      readonly content: string;
      readonly sizeBytes: number;
      readonly mode?: number;
    }
  | { readonly does: "delete"; readonly is?: VersionIs };

/**
 * `linked since`: a restore would change, or separate, another name of the file. The last three: the current content
 * would be lost, because it contains secrets, is too large to store, or the store refuses it.
 */
export type ConflictReason =
  | "changed since"
  | "changed in between"
  | "linked since"
  | "never stored"
  | "too large to keep"
  | "cannot be kept";

/** The current content will not be in the store once it is overwritten; `detail` is the error of a store that failed. */
export interface Loss {
  readonly why: NotKept;
  readonly detail?: string;
}

export type RewindStep =
  | RewindAction
  | { readonly does: "nothing" }
  /** Another program changed or renamed the file. `forced`: what a forced rewind does. */
  | {
      readonly does: "conflict";
      readonly why: ConflictReason;
      readonly base: FileVersion;
      readonly ours: FileVersion;
      /** The hash of the current content; undefined if the file is gone. */
      readonly theirs: string | undefined;
      readonly forced: RewindAction;
      /** Set if a forced rewind would lose the current content for good. */
      readonly loses?: Loss;
    }
  | {
      readonly does: "unavailable";
      /** `file`, `folder`, `link`: something else has the name now. `unreadable`: the current file cannot be read. `damaged record`: nothing to do by the readable records, but one is corrupt. */
      readonly why:
        | NotKept
        | "pruned"
        | "damaged"
        | "damaged record"
        | "file"
        | "not empty"
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

// History: the past of a session, as a model asks for it.

export interface HistoryRequest {
  readonly verb: "history";
  /** One turn with its diffs; by default all turns, newest first. */
  readonly turn: string | undefined;
  readonly path: string | undefined;
  /** The first turn to list, or the first file of the one turn; counts from 1. */
  readonly from: number;
  readonly itemsMax: number;
  readonly profile: Profile;
}

export interface HistoryOutcome {
  readonly kind: "history";
  /** `turns`: a list of turns. `files`: one turn, with diffs. `from`, `total` and `next` count these. */
  readonly of: "turns" | "files";
  readonly turns: readonly TurnSeen[];
  readonly from: number;
  readonly total: number;
  readonly next: number | undefined;
  readonly path: string | undefined;
}

export interface TurnSeen {
  readonly messageId: string;
  /** The shortest prefix of the id that names the turn. */
  readonly name: string;
  readonly timestamp: Date;
  /** With the name of the turn that it went back to. */
  readonly rewinds: Snapshot["rewinds"];
  /** Has a later rewind restored its files? */
  readonly undone: "all" | "part" | "no";
  readonly files: readonly FileSeen[];
  /** Files that the session may see, including those not in `files`. */
  readonly filesTotal: number;
  readonly hiddenByRules: number;
}

export interface FileSeen {
  /** Real and absolute; and relative to its root. */
  readonly path: string;
  readonly relative: string;
  readonly did: "created" | "changed" | "deleted" | "moved" | "mode" | "nothing";
  readonly movedFrom: { readonly path: string; readonly relative: string } | undefined;
  readonly modes: readonly [number, number] | undefined;
  readonly observed: boolean;
  readonly undone: boolean;
  /** Undefined if lines were not counted, for the reason in `why`. */
  readonly lines: { readonly additions: number; readonly deletions: number } | undefined;
  readonly why: Uncounted | undefined;
  /** Undefined in a list of turns. */
  readonly hunks: readonly Hunk[] | undefined;
  /** The hunks are truncated: at the end, or at the ends of long lines. */
  readonly cut: boolean;
}

/** `refused`: reading it needs approval, and that was not given. */
export type Uncounted = NotKept | "pruned" | "damaged" | "not text" | "over the limit" | "refused";

// Rewind: the request, and the result for each file.

/** The name of the state before the first change of a session; no turn has this name. */
export const beginning = "start";

export interface RewindRequest {
  readonly verb: "rewind";
  /** The message whose changes, and all later ones, are undone; or the last turn in effect (`undo`), or undone (`redo`). */
  readonly to: string | { readonly last: "undo" | "redo" };
  /** Only these; by default all that were changed since. */
  readonly files: readonly string[] | undefined;
  readonly force: boolean;
  readonly as: RewindKind;
  /** Shows the plan to a person before anything is changed. False ends the call as cancelled. */
  readonly confirm?: (plan: RewindOutcome) => Promise<boolean>;
  /** The call of a model: it may name a turn by a prefix of its id, and files hidden by rules are not named. */
  readonly byModel?: { readonly dryRun: boolean };
}

export interface RewoundFile {
  /** Real and absolute; and the shortest form that means the same in a call. */
  readonly path: string;
  readonly relative: string;
  readonly step: RewindStep;
  /** `planned`: a dry run. `left`: nothing to do, or not possible without force. */
  readonly came: "done" | "planned" | "left" | { readonly problem: ProblemData };
  readonly action: RewindAction | undefined;
  /** The content before the rewind is not stored, so the rewind of this file cannot be undone. */
  readonly lost?: Loss;
  /** For a model: the two diffs of a file left in conflict. */
  readonly sides?: ConflictSides;
}

/** Diffs from the version to restore to the session's last version (`ours`), and from there to the file (`theirs`). */
export interface ConflictSides {
  readonly ours: readonly Hunk[];
  readonly theirs: readonly Hunk[];
  readonly removed: boolean;
  readonly cut: boolean;
}

export interface RewindOutcome {
  readonly kind: "rewind";
  readonly to: string;
  /** Turns that an undo or redo skipped: their changes are undone already, or cannot be restored. Newest first. */
  readonly passed: readonly string[];
  /** The turn of this rewind, to undo it; undefined if nothing changed, or if the turn could not be recorded. */
  readonly turn: string | undefined;
  readonly files: readonly RewoundFile[];
  readonly dryRun: boolean;
  /** Corrupt records of the session, so a change may be missing; left out if there are none. */
  readonly damaged?: number;
  readonly diagnostics?: readonly DiagnosticsReport[];
  /** For a model: the number of files hidden by rules, and the requested files that had not changed. */
  readonly forModel?: { readonly hiddenByRules: number; readonly unchanged: readonly string[] };
}

/** The size of the store. */
export interface Usage {
  readonly bytes: number;
  readonly contents: number;
  readonly contentBytes: number;
  readonly journalBytes: number;
  /** Bytes of contents that no record needs and the next collection removes. */
  readonly asideBytes: number;
  readonly sessions: number;
  /** When the oldest stored session began. */
  readonly oldestMs: number | undefined;
}
