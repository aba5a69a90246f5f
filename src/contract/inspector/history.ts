/** The past: sessions, turns, versions of a file, and the way back. */

import type { ConflictReason, NotKept, RewindKind } from "../history.ts";
import type { VersionRef } from "./diffs.ts";

/** `GET /api/w/<name>/history/sessions`: those of this workspace, newest first, also of other processes. */
export interface PastSessions {
  readonly sessions: readonly PastSession[];
}
export interface PastSession {
  readonly id: string;
  readonly dialect: string;
  readonly startedMs: number | null;
  readonly lastMs: number;
  /** Turns that changed something. */
  readonly turns: number;
}

/** `POST /api/w/<name>/history/turns`: newest first. `path`: only turns that touched this file, or files below this folder. */
export interface TurnsAsked {
  readonly session: string;
  readonly path?: string;
  /** The first turn to tell, 0 by default; and how many, 1 to 200, 50 by default. */
  readonly from?: number;
  readonly max?: number;
}
export interface TurnPage {
  readonly session: string;
  readonly turns: readonly TurnInfo[];
  readonly total: number;
  readonly next: number | null;
  /** What `undo` and `redo` would take back or bring back; null if there is nothing. */
  readonly undo: string | null;
  readonly redo: string | null;
}
export interface TurnInfo {
  readonly id: string;
  /** Enough of the id to name the turn by. */
  readonly name: string;
  readonly timeMs: number;
  /** Is it a rewind itself, and to before which turn? */
  readonly rewinds: { readonly to: string; readonly as: RewindKind } | null;
  readonly undone: "all" | "part" | "no";
  /** At most 500. */
  readonly files: readonly TurnFile[];
  readonly filesTotal: number;
  /** Files that deny rules hide: they are not even named. */
  readonly withheld: number;
}
export interface TurnFile {
  readonly path: string;
  readonly relative: string;
  readonly did: "created" | "changed" | "deleted" | "moved" | "mode" | "nothing";
  readonly movedFrom: { readonly path: string; readonly relative: string } | null;
  readonly modes: readonly [number, number] | null;
  /** Somebody else did it, and a scan found it. */
  readonly observed: boolean;
  readonly undone: boolean;
  readonly before: VersionInfo;
  readonly after: VersionInfo;
}
export interface VersionInfo {
  /** Null if there was no file. */
  readonly sizeBytes: number | null;
  /** The same for equal contents; null where the content is not kept. */
  readonly content: string | null;
  readonly notKept: NotKept | null;
}

/** `POST /api/w/<name>/history/versions`: what is kept of one file by the newest 200 sessions of the workspace, oldest first,
 * at most 1,000. */
export interface VersionsAsked {
  readonly path: string;
}
export interface VersionList {
  readonly path: string;
  readonly relative: string;
  readonly versions: readonly FileVersionInfo[];
}
export interface FileVersionInfo extends VersionInfo {
  readonly ref: VersionRef;
  /** When it came to be; null for what was there before the first change. */
  readonly timeMs: number | null;
  /** Is this what is on the disk now? Null if that was not looked at. */
  readonly current: boolean | null;
}

/**
 * `POST /api/w/<name>/history/plan`: what a rewind would do. Nothing is changed and nobody is asked.
 * `POST /api/w/<name>/history/rewind`: does it. `plan` must be the one that was shown: if the files have changed since, it is
 * refused (409 `PLAN_CHANGED`, with the new plan) and nothing is done. The click is the approval of the files in the plan: nobody is
 * asked about them again, and no deny rule, lock or conflict is passed over. While it runs the stream tells
 * `progress` with the `job` of the request. It answers when it is over.
 */
export interface RewindAsked {
  readonly session: string;
  /** Before this turn's changes; `start`: before the first. */
  readonly to: string | { readonly last: "undo" | "redo" };
  /** Real paths; all files by default. */
  readonly files?: readonly string[];
  /** Also over what somebody else changed since. */
  readonly force?: boolean;
}
export interface RewindGiven extends RewindAsked {
  readonly plan: string;
  /** A name of the page's own choosing, for the progress. */
  readonly job?: string;
}
export interface RewindView {
  /** Stands for all of it; see `RewindGiven.plan`. */
  readonly plan: string;
  readonly session: string;
  readonly to: string;
  readonly as: RewindKind;
  /** Turns that an undo or a redo went past, because there is nothing left to do about them. */
  readonly passed: readonly string[];
  /** The turn that the rewind itself is; null for a plan, and if nothing was changed. */
  readonly turn: string | null;
  readonly files: readonly RewindFileView[];
  /** Files that deny rules hide: they are not named and not touched. */
  readonly withheld: number;
}
export interface RewindFileView {
  readonly path: string;
  readonly relative: string;
  readonly does: "restore" | "create" | "delete" | "nothing" | "conflict" | "unavailable";
  /** Of a conflict what happened, of `unavailable` why. */
  readonly why:
    | ConflictReason
    | NotKept
    | "pruned"
    | "damaged"
    | "damaged record"
    | "folder"
    | "link"
    | "special"
    | "outside"
    | "refused"
    | "unreadable"
    | null;
  /** Of a conflict: what is done about it with `force`. */
  readonly forced: "restore" | "create" | "delete" | null;
  /** `planned`, `done`; `left`: there was nothing to do, or not without force; `refused`: see `problem`. */
  readonly came: "planned" | "done" | "left" | "refused";
  readonly problem: string | null;
  /** What it would become; for a diff from `now`. Null where there is no such version. */
  readonly target: VersionRef | null;
}
