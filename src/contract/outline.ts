/** The verb `outline`: what a file declares and where, without its text. */

import type { Profile } from "./profile.ts";
import type { EncodingName } from "./read.ts";
import type { Target } from "./target.ts";

export interface OutlineRequest {
  readonly verb: "outline";
  readonly path: string;
  /** Levels that are shown: 1 is what stands by itself, 2 also what is inside of that. As many as have room by default. */
  readonly depth?: number;
  readonly profile: Profile;
}

/** One declaration. The list is in the order of the file, and what is inside of an item follows it, one deeper. */
export interface OutlineItem {
  readonly name: string;
  /** In a word, as people call it: class, function, method, section. */
  readonly kind: string;
  /** First and last line, both included; lines count from 1. */
  readonly from: number;
  readonly to: number;
  /** 0 for what stands by itself. */
  readonly depth: number;
  /** Items inside of this one that are not shown. */
  readonly hidden: number;
}

export interface OutlineOutcome {
  readonly kind: "outline";
  readonly target: Target;
  /** Was it asked for, or does it stand for a file over the budget? */
  readonly why: "asked" | "over budget";
  /** What the file is written in. */
  readonly language: string;
  /** Who read it. */
  readonly by: "grammar" | "language server";
  readonly items: readonly OutlineItem[];
  /** Items there are, shown or not; at least so many where not all were counted. */
  readonly total: number;
  readonly counted: "all" | "at least";
  /** Levels that are shown, if there are more. */
  readonly depthShown: number | undefined;
  readonly linesTotal: number;
  /** Lines that were looked at, if not all of them. */
  readonly linesRead: number | undefined;
  /** The first line with something that is no part of the language: what follows may be missing. */
  readonly faultLine: number | undefined;
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  readonly encoding: EncodingName;
  /** True when bytes could not be decoded and stand as U+FFFD. */
  readonly lossy: boolean;
}
