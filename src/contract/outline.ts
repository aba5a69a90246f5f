/** The verb `outline`: the declarations of a file and their lines, without its text. */

import type { Profile } from "./profile.ts";
import type { EncodingName } from "./read.ts";
import type { Target } from "./target.ts";

export interface OutlineRequest {
  readonly verb: "outline";
  readonly path: string;
  /** Levels to show: 1 is the top level, 2 also its children. By default as many as fit. */
  readonly depth?: number;
  readonly profile: Profile;
}

/** One declaration. Items are in file order; the children of an item follow it, with `depth` + 1. */
export interface OutlineItem {
  readonly name: string;
  /** In one common word: class, function, method, section. */
  readonly kind: string;
  /** First and last line, inclusive, from 1. */
  readonly from: number;
  readonly to: number;
  /** 0 at the top level. */
  readonly depth: number;
  /** Descendants that are not shown. */
  readonly hidden: number;
}

export interface OutlineOutcome {
  readonly kind: "outline";
  readonly target: Target;
  /** Did the call ask for an outline, or does it replace the text of a file over the budget? */
  readonly why: "asked" | "over budget";
  readonly language: string;
  readonly by: "grammar" | "language server";
  readonly items: readonly OutlineItem[];
  /** All items, shown or not; a lower bound if not all were counted. */
  readonly total: number;
  readonly counted: "all" | "at least";
  /** Levels that are shown, if there are more. */
  readonly depthShown: number | undefined;
  readonly linesTotal: number;
  /** Lines that were parsed, if not all. */
  readonly linesRead: number | undefined;
  /** The first line with a syntax error: later items may be missing. */
  readonly faultLine: number | undefined;
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  readonly encoding: EncodingName;
  /** Some bytes could not be decoded and are shown as U+FFFD. */
  readonly lossy: boolean;
}
