/** The verb `grep`: which lines of which files match, what is asked and what comes out. */

import type { PatternFault } from "./problem.ts";
import type { Target } from "./target.ts";

/** Matching lines with their surroundings, only the files they are in, or how many each file has. */
export type GrepMode = "content" | "files" | "count";

export interface GrepRequest {
  readonly verb: "grep";
  /** A regular expression in the syntax of ripgrep's own engine. */
  readonly pattern: string;
  /** A folder, or a file that is then the only one; by default where relative paths start, and all other roots. */
  readonly path: string | undefined;
  /** Which files: globs as the caller wrote them, several of them between blanks or commas. */
  readonly glob: string | undefined;
  /** Kinds of files as ripgrep names them: `ts`, `py`. */
  readonly types: readonly string[];
  readonly mode: GrepMode;
  /** Lines of context. */
  readonly before: number;
  readonly after: number;
  readonly letterCase: "exact" | "any";
  /** May a match reach over the end of a line? */
  readonly reach: "line" | "lines";
  readonly numbers: boolean;
  /** Entries (lines of the answer, or files) that are left out at the beginning, and how many are wanted then. */
  readonly skip: number;
  readonly entriesMax: number;
  /** In which order files come; in `content` and `count` always by path, root by root. */
  readonly order: "path" | "newest";
  /** UTF-16 units of a line; of a longer one the part around its match is shown. */
  readonly lineCharsMax: number;
  /** Shall each line say where it matches? That takes a second, short search. */
  readonly spans?: true;
}

export interface GrepLine {
  readonly line: number;
  readonly is: "match" | "context";
  readonly text: string;
  /** Does the line go on before and behind what is shown of it? */
  readonly cutBefore: boolean;
  readonly cutBehind: boolean;
  /** From and to of each match, in UTF-16 units of `text`; only if they were asked for. */
  readonly spans?: readonly (readonly [number, number])[];
}

export interface GrepFile {
  readonly absolute: string;
  /** The same without links, where lines of it are shown. */
  readonly real?: string;
  /** In `content`. */
  readonly lines: readonly GrepLine[];
  /** Matching lines of this file, in `count`. */
  readonly count: number;
}

/** A number that is exact, or that counting stopped at. */
export interface Tally {
  readonly number: number;
  readonly counted: "all" | "at least";
}

export interface GrepOutcome {
  readonly kind: "grep";
  /** What was searched, or the first of several. */
  readonly target: Target;
  readonly pattern: string;
  readonly mode: GrepMode;
  readonly numbers: boolean;
  readonly files: readonly GrepFile[];
  readonly skip: number;
  readonly entriesMax: number;
  readonly entriesShown: number;
  readonly entriesTotal: Tally;
  readonly filesTotal: Tally;
  /** Matching lines; not known in `files`. */
  readonly linesTotal: Tally | undefined;
  /** Why the answer ends before the entries do. */
  readonly stopped: "end" | "entries" | "bytes";
  /** Entries to skip to go on. */
  readonly next: number | undefined;
  /** The search was ended by the clock after so many milliseconds. */
  readonly timedOutMs: number | undefined;
  /** Files that were not searched because a rule hides them. */
  readonly withheld: Tally;
  /** Links that were not followed, to what lies elsewhere than in the searched folder. */
  readonly links: Tally;
  readonly unreadable: Tally;
  /** Files that match but are binary, so that not all of their lines are here. */
  readonly binary: number;
  /** Matching files whose names are not UTF-8, so that no call could name them. */
  readonly unnamed: number;
  /** Entries that could not be shown: their file changed meanwhile. */
  readonly unshown: number;
  /** Files that match but are ignored; looked for only if nothing else matches. */
  readonly ignored: Tally;
}

/** What is wrong with what is searched for, or where. */
export type SearchFault =
  | { readonly of: "pattern"; readonly pattern: string; readonly why: "empty" | "nul" | "too long" }
  | {
      readonly of: "pattern";
      readonly pattern: string;
      readonly why: "engine";
      /** The engine's own words. */
      readonly message: string;
      /** Where in the pattern, counted from 1, if the engine says so. */
      readonly at: number | undefined;
      readonly remedy: "escape braces" | "escape" | "no look-around" | "several lines" | undefined;
    }
  | { readonly of: "glob"; readonly glob: string; readonly fault: PatternFault }
  | { readonly of: "type"; readonly type: string; readonly nearest: readonly string[] };
