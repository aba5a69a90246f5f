/** Diffs page by page, and pictures before and after. */

import type { Hunk } from "../edit.ts";

/**
 * `POST /api/w/<name>/diff`. Of a call (`change`: index in `CallEvent.changes`), of an open question, or between any two
 * versions. Large diffs are told page by page: `from` is the first row (0 by default), `rows` how many (1 to 2,000;
 * 500 by default). A diff is computed once and kept for the pages that follow.
 */
export interface DiffAsked {
  readonly of:
    | { readonly call: number; readonly change: number }
    | { readonly question: string }
    | { readonly before: VersionRef; readonly after: VersionRef };
  readonly from?: number;
  readonly rows?: number;
  /** Unchanged lines around a change: 0 to 100, 3 by default. Only between versions that are kept. */
  readonly context?: number;
}

/** A version of a file. `now`: as it is on the disk, read under the rules. Paths are real and absolute. */
export type VersionRef =
  | { readonly session: string; readonly turn: string; readonly path: string; readonly when: "before" | "after" }
  | { readonly now: string }
  /** No file: for the one side of a file that came or went. */
  | { readonly nothing: true };

export interface DiffPage {
  readonly path: string;
  readonly relative: string;
  readonly did: "created" | "updated" | "deleted" | "moved" | "nothing";
  readonly movedFrom: string | null;
  readonly additions: number;
  readonly deletions: number;
  /** Rows are the lines of all hunks, one after the other. */
  readonly rowsTotal: number;
  readonly from: number;
  readonly hunks: readonly HunkPart[];
  /** For `from` of the next page; null at the end. */
  readonly next: number | null;
  /** False if there is more that no page tells: the diff was cut off, or lines are told as changed that are not. */
  readonly complete: boolean;
  /** Why there are no hunks; null where there are some. */
  readonly none: NoDiff | null;
  /** Are both sides pictures (or one of them, and the other is nothing)? Then `POST .../image` has them. */
  readonly image: boolean;
}
/**
 * The rows of one hunk that are on this page, with the numbers of the first of them. Lines carry ` `, `-` or `+` in front;
 * `\ No newline at end of file` may stand among them. A line of more than 2,000 characters is cut around
 * what changed in it, with `…` where something is left out.
 */
export interface HunkPart extends Hunk {
  /** Does it go on from the page before? Then there is no header to show. */
  readonly continued: boolean;
}
export type NoDiff =
  | "same"
  | "not text"
  | "too large"
  /** No longer kept, or not kept at all. */
  | "gone"
  | "damaged"
  /** It holds secrets, or a rule denies reading it (or would ask). Its content is not shown here. */
  | "withheld"
  /** The call kept none: it was dropped, or there never was one. */
  | "none";

/**
 * `POST /api/w/<name>/image`: a picture before or after. Of a call, by the index of its change, or by version.
 * PNG, JPEG, GIF, WebP and BMP by their first bytes, at most 16 MiB.
 */
export interface ImageAsked {
  readonly of: { readonly call: number; readonly change: number; readonly when: "before" | "after" } | VersionRef;
}
export type ImageView =
  | { readonly is: "image"; readonly mimeType: string; readonly data: string; readonly sizeBytes: number }
  | { readonly is: "none"; readonly why: "nothing" | "not an image" | "too large" | "gone" | "withheld" };
