/** Looking back: what a model asks about the past of its session, and what it is told. */

import type { Hunk } from "./edit.ts";
import type { NotKept, Snapshot } from "./history.ts";
import type { Profile } from "./profile.ts";

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
