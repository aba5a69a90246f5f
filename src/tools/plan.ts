/** What a tool makes of a file: the pieces of the new content, and what is told and known of the change. */

import type { ChangeNote, Hunk, Piece } from "../contract/edit.ts";
import type { Profile } from "../contract/profile.ts";
import type { EncodingName } from "../contract/read.ts";
import type { Target } from "../contract/target.ts";
import type { OpenFile } from "../disk/open-file.ts";
import type { Wrote } from "../session/ledger.ts";
import type { Before, BeforeJudged, Holds, Wants } from "./before.ts";

export interface Diff {
  readonly hunks: readonly Hunk[];
  readonly additions: number;
  readonly deletions: number;
  readonly complete: boolean;
  /** The two states cannot be compared as lines, so that there is no diff and the numbers say nothing. */
  readonly uncounted?: true;
}

/** A file as it shall be. */
export interface Planned<Extra> {
  readonly pieces: readonly Piece[];
  /** What copied pieces are copied from, if not the file itself. */
  readonly source?: OpenFile | undefined;
  /** May be made when it is first looked at. */
  readonly diff: Diff;
  /** Permissions that the file shall have; those it has by default. */
  readonly mode?: number | undefined;
  /** The old text, where it is at hand. */
  readonly before: string | undefined;
  readonly notes: readonly ChangeNote[];
  /** The file goes. */
  readonly removes?: true;
  /** The encoding to remember, where it became known only while this was planned. */
  readonly remember?: EncodingName;
  /** What the session knows of the file from then on. */
  readonly wrote: Wrote;
  readonly extra: Extra;
}

export interface Plan<Extra> {
  readonly wants: Wants;
  readonly profile: Profile;
  /** What becomes of a file that is there. */
  there(before: Before): Promise<Planned<Extra>> | Planned<Extra>;
  /** What becomes of one that is not; without it that is an error. */
  missing?(target: Target): NewFile<Extra>;
  /** Throws if the file is nothing for this tool: then reading it first would not help. */
  fits?(before: BeforeJudged): void;
  /** At once, unless said otherwise. */
  readonly holds?: Holds;
  /** Is the whole file overwritten, so that all of it must have been seen? */
  readonly overwrites: boolean;
  /**
   * Where the operator lets edits find their text in a file that somebody else changed: does the plan refuse what is not
   * certain there? All other plans are refused such a file.
   */
  readonly changedSince?: "where certain";
  /** May files be changed that the session has not seen? Only where somebody who has read them says what to change. */
  readonly unseen?: "permitted";
}

export interface NewFile<Extra> {
  readonly bytes: Uint8Array;
  readonly diff: Diff;
  readonly extra: Extra;
}
