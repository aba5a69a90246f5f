/** The verb `grep`: the request, the outcome, and what can be wrong with a search. */

import type { PatternFault } from "./problem.ts";
import type { Target } from "./target.ts";

/** Matching lines with context, the files that contain a match, or the number of matching lines of each file. */
export type GrepMode = "content" | "files" | "count";

export interface GrepRequest {
  readonly verb: "grep";
  /** In the syntax of ripgrep's default engine. */
  readonly pattern: string;
  /** A folder or a single file; by default the working directory and all other roots. */
  readonly path: string | undefined;
  /** Globs as the caller wrote them, separated by whitespace or commas. */
  readonly glob: string | undefined;
  /** File types as ripgrep names them: `ts`, `py`. */
  readonly types: readonly string[];
  readonly mode: GrepMode;
  readonly before: number;
  readonly after: number;
  readonly letterCase: "exact" | "any";
  /** `lines`: a match may span several lines. */
  readonly reach: "line" | "lines";
  readonly numbers: boolean;
  /** Entries (lines of the reply, or files) to skip, and how many to return after that. */
  readonly skip: number;
  readonly entriesMax: number;
  /** The order of files; `content` and `count` always sort by path, root by root. */
  readonly order: "path" | "newest";
  /** UTF-16 units of a line; of a longer line the part around its match is shown. */
  readonly lineCharsMax: number;
  /** Report the position of each match; this takes a second, short search. */
  readonly spans?: true;
}

export interface GrepLine {
  readonly line: number;
  readonly is: "match" | "context";
  readonly text: string;
  /** Is the line truncated before or after the text? */
  readonly cutBefore: boolean;
  readonly cutBehind: boolean;
  /** Start and end of each match, in UTF-16 units of `text`; only if requested. */
  readonly spans?: readonly (readonly [number, number])[];
}

export interface GrepFile {
  readonly absolute: string;
  /** The same with symlinks resolved, if lines are shown. */
  readonly real?: string;
  readonly lines: readonly GrepLine[];
  readonly count: number;
}

/** `at least`: counting stopped at this number. */
export interface Tally {
  readonly number: number;
  readonly counted: "all" | "at least";
}

export interface GrepOutcome {
  readonly kind: "grep";
  /** The searched folder or file, or the first of several. */
  readonly target: Target;
  readonly pattern: string;
  /** The pattern that was searched for, if braces that can only be literal had to be escaped. */
  readonly takenAs?: string;
  readonly mode: GrepMode;
  readonly numbers: boolean;
  readonly files: readonly GrepFile[];
  readonly skip: number;
  readonly entriesMax: number;
  readonly entriesShown: number;
  readonly entriesTotal: Tally;
  readonly filesTotal: Tally;
  /** Matching lines; unknown in mode `files`. */
  readonly linesTotal: Tally | undefined;
  /** Why the reply ends before the entries do. */
  readonly stopped: "end" | "entries" | "bytes";
  /** The `skip` of the next page. */
  readonly next: number | undefined;
  /** The search was stopped after this many milliseconds. */
  readonly timedOutMs: number | undefined;
  /** Files that were not searched because rules hide them. */
  readonly hiddenByRules: Tally;
  /** Symlinks that were not followed, because they lead out of the searched folder. */
  readonly links: Tally;
  readonly unreadable: Tally;
  /** Matching files that are binary, so some of their lines are missing. */
  readonly binary: number;
  /** Matching files whose names are not UTF-8, so no call can name them. */
  readonly unnamed: number;
  /** Entries that are missing because their file changed during the search. */
  readonly unshown: number;
  /** Matching files that are ignored; searched only if nothing else matches. */
  readonly ignored: Tally;
}

export type SearchFault =
  | { readonly of: "pattern"; readonly pattern: string; readonly why: "empty" | "nul" | "too long" }
  | {
      readonly of: "pattern";
      readonly pattern: string;
      readonly why: "engine";
      readonly message: string;
      /** The position in the pattern, from 1, if the engine reports one. */
      readonly at: number | undefined;
      readonly remedy: "escape braces" | "escape" | "no look-around" | "several lines" | undefined;
    }
  | { readonly of: "glob"; readonly glob: string; readonly fault: PatternFault }
  | { readonly of: "type"; readonly type: string; readonly nearest: readonly string[] };
