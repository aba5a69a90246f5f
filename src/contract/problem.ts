/** Expected failures: one closed union. Codes are public and the same in all dialects; finer reasons are data. */

import type { Place } from "./target.ts";

/** What is wrong with one argument of a call. */
export type ArgumentIssue =
  | { readonly fault: "missing"; readonly name: string; readonly expected: string }
  | { readonly fault: "type"; readonly name: string; readonly expected: string; readonly got: string }
  | {
      readonly fault: "range";
      readonly name: string;
      readonly got: number;
      readonly min: number | undefined;
      readonly max: number | undefined;
    }
  | {
      readonly fault: "unknown";
      readonly name: string;
      readonly nearest: string | undefined;
      readonly known: readonly string[];
    };

/** Why a path is refused before any file system call. */
export type PathFault =
  | "empty"
  | "nul"
  | "network"
  | "device namespace"
  | "drive relative"
  | "stream"
  | "reserved"
  | "too long";

/** A path that exists and may have been meant. */
export interface Suggestion {
  readonly absolute: string;
  /** Below its root, with forward slashes. */
  readonly relative: string;
  readonly kind: "file" | "directory";
}

export type ProblemData =
  | {
      readonly code: "UNKNOWN_TOOL";
      readonly tool: string;
      readonly known: readonly string[];
      readonly nearest: string | undefined;
    }
  | {
      readonly code: "INVALID_PARAM";
      readonly reason: "arguments";
      readonly tool: string;
      readonly issues: readonly [ArgumentIssue, ...ArgumentIssue[]];
    }
  | { readonly code: "INVALID_PARAM"; readonly reason: "path"; readonly asked: string; readonly fault: PathFault }
  | {
      readonly code: "INVALID_PARAM";
      readonly reason: "range";
      readonly place: Place;
      readonly of: "lines" | "entries" | "cells";
      readonly from: number;
      readonly total: number;
    }
  /** Pages were asked of something that has none, or that has others; more pages than can be read whole demand a choice. */
  | {
      readonly code: "INVALID_PARAM";
      readonly reason: "pages";
      readonly place: Place;
      readonly fault: "no pages" | "form" | "order" | "past the end" | "too many" | "choose";
      readonly pagesTotal: number;
      readonly pagesMax: number;
    }
  | {
      readonly code: "NOT_FOUND";
      readonly place: Place;
      /** `file on the way`: a name before the last one is a file. */
      readonly reason: "missing" | "file on the way";
      readonly suggestions: readonly Suggestion[];
    }
  | {
      readonly code: "ACCESS_DENIED";
      readonly place: Place;
      readonly reason: "outside";
      readonly roots: readonly string[];
      readonly suggestions: readonly Suggestion[];
    }
  | { readonly code: "ACCESS_DENIED"; readonly place: Place; readonly reason: "root changed" | "system" }
  | {
      readonly code: "ACCESS_DENIED";
      readonly place: Place;
      readonly reason: "rule";
      readonly rule: string;
      readonly source: string;
    }
  | {
      readonly code: "ACCESS_DENIED";
      readonly place: Place;
      readonly reason: "nobody to ask" | "rejected";
      /** The rule that asks, and the one that would allow it, if one could. */
      readonly rule: string;
      readonly remedy: string | undefined;
      readonly feedback: string | undefined;
    }
  | { readonly code: "IS_DIRECTORY"; readonly place: Place }
  | { readonly code: "NOT_DIRECTORY"; readonly place: Place }
  | { readonly code: "LINK_LOOP"; readonly place: Place }
  | { readonly code: "SPECIAL_FILE"; readonly place: Place; readonly special: SpecialKind }
  | { readonly code: "BINARY_FILE"; readonly place: Place; readonly reason: "content" }
  | {
      readonly code: "BINARY_FILE";
      readonly place: Place;
      readonly reason: "extension" | "name";
      readonly restricted: string;
    }
  | { readonly code: "BINARY_FILE"; readonly place: Place; readonly reason: "kind"; readonly kind: MediaKind }
  | { readonly code: "DAMAGED"; readonly place: Place; readonly kind: MediaKind; readonly detail: string }
  | { readonly code: "ENCRYPTED"; readonly place: Place; readonly kind: MediaKind }
  /** Over a limit that guards against bombs and endless work; `limit` says which, in words. */
  | { readonly code: "TOO_LARGE"; readonly place: Place; readonly kind: MediaKind; readonly limit: string }
  /** A package that reads this kind is not installed. */
  | { readonly code: "NO_CODEC"; readonly place: Place; readonly kind: MediaKind; readonly install: string }
  | {
      readonly code: "OVER_BUDGET";
      readonly place: Place;
      readonly tokens: number;
      /** False when counting stopped early: there are at least `tokens`. */
      readonly counted: "all" | "at least";
      readonly tokensMax: number;
      /** What the range counts. */
      readonly of: "lines" | "pages" | "cells";
      readonly from: number;
      readonly lines: number;
      /** Of these, as many as fit, from `from` on. */
      readonly linesThatFit: number;
    }
  | { readonly code: "CHANGED"; readonly place: Place }
  | { readonly code: "IO_ERROR"; readonly place: Place; readonly errno: string; readonly during: string }
  | { readonly code: "CANCELLED"; readonly tool: string };

export type SpecialKind = "FIFO" | "socket" | "character device" | "block device" | "kernel file";
export type MediaKind = "image" | "pdf" | "notebook" | "office";

export type Code = ProblemData["code"];
export type ProblemOf<C extends Code> = Extract<ProblemData, { readonly code: C }>;

/** Thrown inside the engine, caught once, in `toolkit.ts`. Its message is for logs; dialects word it for the model. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly data: ProblemData;
  constructor(data: ProblemData) {
    super(data.code);
    this.data = data;
  }
}
