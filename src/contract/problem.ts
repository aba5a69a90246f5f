/** Expected failures: one closed union. Codes are public and the same in all dialects; finer reasons are data. */

import type { MatchedBy, NearestRegion } from "./edit.ts";
import type { SearchFault } from "./grep.ts";
import type { ServerRemedy } from "./lsp.ts";
import type { NoWriteMode } from "./permission.ts";
import type { Place } from "./target.ts";

type Coded<Table, Common> = { [C in keyof Table]: WithCode<C, Common, Table[C]> }[keyof Table];
type WithCode<C, Common, Data> = Data extends unknown ? Readonly<{ code: C } & Common & Data> : never;

/** By code: the data of failures that are not about one file. */
interface Failures {
  UNKNOWN_TOOL: { tool: string; known: readonly string[]; nearest: string | undefined };
  INVALID_PARAM:
    | { reason: "arguments"; tool: string; issues: readonly [ArgumentIssue, ...ArgumentIssue[]] }
    | { reason: "path"; asked: string; fault: PathFault }
    | { reason: "pattern"; pattern: string; fault: PatternFault }
    | { reason: "patch"; fault: PatchFault; line: number; text: string }
    | { reason: "search"; fault: SearchFault };
  NO_RIPGREP: { install: string };
  NO_TURN: {
    asked: string;
    reason:
      | "unknown"
      | "pruned"
      | "no history"
      | "content gone"
      | "unreadable"
      | "nothing to undo"
      /** The latest change in effect belongs to turns that were merged and pruned. */
      | "undo forgotten"
      | "nothing to redo";
    known?: readonly string[];
  };
  CANCELLED: { tool: string };
}

/** By code: what a failure says besides its `place`. */
interface FailuresAt {
  INVALID_PARAM:
    | { reason: "range"; of: "lines" | "entries" | "cells"; from: number; total: number }
    | { reason: "column"; line: number; column: number; charsTotal: number }
    | {
        reason: "pages";
        fault: "no pages" | "form" | "order" | "past the end" | "too many" | "choose";
        kind?: "image";
        pagesTotal: number;
        pagesMax: number;
        /** The first page that was asked for, if there are too many. */
        from?: number;
      }
    | { reason: "code place"; fault: CodePlaceFault }
    | { reason: "edit"; fault: EditFault; which?: Readonly<{ index: number; of: number }> }
    /** The name is a symlink: the call would delete or move its target, and leave the link. */
    | { reason: "link"; leadsTo: string; would: "be deleted" | "be moved" }
    /** `count`: of the entries that the fault is about. */
    | { reason: "folder"; fault: FolderFault; count?: number }
    | { reason: "cell"; fault: CellFault };
  NOT_FOUND: {
    /** `file on the way`: a name before the last one is a file. */
    reason: "missing" | "file on the way";
    suggestions: readonly Suggestion[];
  };
  ACCESS_DENIED:
    | { reason: "outside"; roots: readonly string[]; suggestions: readonly Suggestion[] }
    | { reason: "root changed" | "system" | "other mount" | "other names" }
    | { reason: "mode"; mode: NoWriteMode }
    | { reason: "rule"; rule: string; source: string }
    | {
        reason: "nobody to ask" | "rejected";
        /** The rule that asks, and a rule that would allow it, if one can. */
        rule: string;
        remedy: string | undefined;
        feedback: string | undefined;
        /** Filehand asks every time, whatever the rules are. */
        everyTime?: boolean;
        /** The question was shown, and was not answered. */
        closed?: boolean;
      }
    | { reason: "read-only" };
  IS_DIRECTORY: unknown;
  NOT_DIRECTORY: unknown;
  LINK_LOOP: unknown;
  SPECIAL_FILE: { special: SpecialKind };
  BINARY_FILE:
    | { reason: "content" }
    | { reason: "extension" | "name"; restricted: string }
    | { reason: "kind"; kind: MediaKind };
  DAMAGED: { kind: MediaKind; detail: string; empty?: boolean };
  ENCRYPTED: { kind: MediaKind };
  /** Over a limit that stops decompression bombs and endless work; `limit` names it in words. */
  TOO_LARGE: { kind: MediaKind; limit: string } | { kind: "text"; limit: string; remedy?: "one by one" | "convert" };
  NO_CODEC: { kind: MediaKind; install: string };
  OVER_BUDGET: {
    tokens: number;
    /** `at least`: counting stopped early. */
    counted: "all" | "at least";
    tokensMax: number;
    /** What `from`, `lines` and `linesThatFit` count. */
    of: "lines" | "pages" | "cells";
    from: number;
    lines: number;
    linesThatFit: number;
  };
  /** No language server for the file. `not shown`: the file is secret, too large or not UTF-8. */
  LANGUAGE_SERVER:
    | { reason: "off" | "unknown language" | "not shown" }
    | { reason: "not installed"; servers: readonly ServerRemedy[] }
    | { reason: "failed"; server: string; why: string }
    | { reason: "not offered"; server: string }
    | { reason: "too slow"; server: string; waitedMs: number };
  NO_RENAME: { reason: RenameFault; count: number };
  /** The declarations of the file are unknown. `language`: there is no grammar for it. */
  NO_OUTLINE: { reason: "language" | "time" | "memory" | "crash" } | { reason: "not installed"; install: string };
  CHANGED: unknown;
  NOT_READ:
    | { reason: "never" }
    | {
        /** The session has not read the text that would change. */
        reason: "elsewhere";
        unit: "line" | "cell";
        shown: readonly LineSpan[];
        /** What the session must read first: complete, in order, without overlaps. */
        needed: readonly LineSpan[];
      }
    | {
        /** The session has read only a part of the text that would be removed. */
        reason: "partly";
        unit: "line" | "cell";
        shown: readonly LineSpan[];
        /** Lines that were truncated when they were shown. */
        cut: readonly LineSpan[];
        /** The first truncated line: its first column (from 1) that was not shown, and whether a later part of it was. */
        cutRest?: Readonly<{ line: number; column: number; more: boolean }>;
      };
  STALE:
    | {
        reason: "changed";
        sizeThen: number | undefined;
        sizeNow: number;
        mtimeMs: number;
        /** The changed lines as they are numbered now, if known; none at all where lines were only removed. */
        lines?: readonly LineSpan[];
      }
    | { reason: "deleted" | "while changing it" };
  /**
   * The lines of an edit by line are not certain. `moved`: another program changed the file above them. `first differs`: the line
   * has another text than the call says. `shown twice`: the session was shown different lines under this number.
   */
  WRONG_LINES: {
    reason: "moved" | "first differs" | "shown twice";
    which: Readonly<{ index: number; of: number }>;
    asked: LineSpan;
    first: string | undefined;
    /** The lines that may be meant, as they are now. */
    now: readonly NumberedLines[];
  };
  NO_MATCH: {
    which: WhichEdit;
    nearest: NearestRegion | undefined;
    /** Large files are searched for exact matches only. */
    searched: "loosely" | "exactly";
    /** For a hunk of a patch, `which` counts hunks. */
    hunk?: HunkFault;
  };
  AMBIGUOUS: { which: WhichEdit; matchedBy: MatchedBy; lines: readonly number[]; total: number; hunk?: true };
  ALREADY_APPLIED: { which: WhichEdit; line: number };
  NO_CELL: { cellId: string; known: readonly string[] };
  ENCODING: { encoding: string; character: string };
  /** `inside`: the path in the folder that may have been meant. */
  EXISTS: { reason: "file" | "folder" | "link"; inside?: string };
  /** `busy`: another process is changing the file. `no locks`: locking does not work here, for the reason `fault`. */
  LOCKED: { reason: "busy"; holder: string } | { reason: "no locks"; fault: string; remedy: string };
  /** One of several files failed: the files already written were restored, except those in `left`. */
  ROLLED_BACK: { cause: ProblemData; putBack: readonly Place[]; left: readonly Place[] };
  IO_ERROR: { errno: string; during: string };
  /** The state that several machines share cannot be reached, so the change can be neither locked nor recorded. Nothing was written. */
  STATE_UNAVAILABLE: { fault: string };
}

/** Lines of a file as they are now, numbered from `from`; the first few. */
export interface NumberedLines extends LineSpan {
  readonly lines: readonly string[];
}

export type ProblemData = Coded<Failures, unknown> | Coded<FailuresAt, { place: Place }>;

export type Code = ProblemData["code"];
export type ProblemOf<C extends Code> = Extract<ProblemData, { readonly code: C }>;

/** Thrown inside the engine; `session.ts` turns it into a reply. Its message is for logs; dialects word it for the model. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly data: ProblemData;
  constructor(data: ProblemData) {
    super(data.code);
    this.data = data;
  }
}

export type ArgumentIssue = Readonly<
  { name: string } & (
    | {
        fault: "missing";
        expected: string;
        /** A long text was expected: perhaps the call was cut off before it. */
        long: boolean;
      }
    /** Text with the beginning of the JSON of an object or array, or JSON with more objects, arrays or keys than are parsed. */
    | { fault: "cut off" | "too many parts"; chars: number }
    | { fault: "type"; expected: string; got: string; optional: boolean }
    | { fault: "range"; got: number; min: number | undefined; max: number | undefined; optional: boolean }
    | { fault: "unknown"; nearest: string | undefined; known: readonly string[] }
  )
>;

/** A path refused by its spelling, before any file system call. `names a folder`: a new file's path ends with `/` or `/.`. */
export type PathFault =
  | "empty"
  | "nul"
  | "network"
  | "device namespace"
  | "drive relative"
  | "stream"
  | "reserved"
  | "too long"
  | "half character"
  /** `$HOME/x`, `%TEMP%\\x`: variables are not expanded. */
  | "variable"
  /** `~root/x`: the home folder of another user. */
  | "home of another"
  /** `C:\\x` on a system without drives. */
  | "drive"
  /** `"a.txt"`: a new file whose path has quotes around it. */
  | "quoted"
  | "names a folder";

export type PatternFault =
  | "empty"
  | "nul"
  | "parent"
  /** Only slashes and dots. */
  | "no name"
  | "too long"
  | "unclosed bracket"
  | "unclosed group"
  | "unclosed brace"
  | "trailing backslash"
  | "reversed range"
  | "unknown class"
  | "too many groups"
  | "long negation"
  | "too many choices"
  | "too many wildcards"
  | "too many names";

export interface Suggestion {
  readonly absolute: string;
  /** Relative to its root, with forward slashes. */
  readonly relative: string;
  readonly kind: "file" | "directory";
}

/** Lines `from` to `to`, inclusive, from 1. */
export interface LineSpan {
  readonly from: number;
  readonly to: number;
}

/** Which edit of a call, counted from 1, and which other edits would have matched. */
export interface WhichEdit {
  readonly index: number;
  readonly of: number;
  readonly othersFound: readonly number[];
}

export type EditFault =
  | "same text"
  | "empty old text"
  | "lone surrogate"
  | "notebook"
  | "stub"
  /** Two edits of a call change the same line. */
  | "overlapping lines"
  /** The edits of one file are partly by text and partly by line. */
  | "text and lines";
export type HunkFault =
  | { readonly why: "not found" }
  | { readonly why: "header not found"; readonly header: string }
  | { readonly why: "out of order"; readonly line: number }
  /** Lines are added by a line number alone, and nothing shows that it is right for this file. */
  | { readonly why: "no context" };

export type PatchFault =
  | "no begin"
  | "no end"
  | "text after end"
  /** Nothing between begin and end, or no text. */
  | "empty"
  | "unknown line"
  | "no path"
  | "whitespace around path"
  | "add line without +"
  /** All old lines of a hunk are empty lines without a mark: either context, or added lines that lack their `+`. */
  | "empty line without prefix"
  | "empty hunk"
  /** An update that neither changes a line nor moves the file. */
  | "nothing changes"
  /** The hunks of an update remove and add the same lines. */
  | "same lines"
  | "same file twice"
  /** The path names a file that the patch has named before by another path. */
  | "two names"
  /** The path is below a file that the patch creates. */
  | "in a new file"
  /** `*** Begin Patch` and a unified diff in one text. */
  | "mixed forms"
  /** Of a unified diff: a line between hunks or files that belongs to neither. */
  | "not of a diff"
  | "binary"
  /** A symlink or a submodule. */
  | "special file"
  /** `---` and `+++` name different files without `rename from`. */
  | "names differ"
  /** A deleted file has other lines than those that the patch removes. */
  | "other lines deleted";

export type CodePlaceFault =
  | { readonly why: "nothing named" | "no query" }
  | { readonly why: "line"; readonly line: number; readonly linesTotal: number }
  | { readonly why: "column"; readonly column: number; readonly columnsMax: number }
  | {
      readonly why: "symbol";
      readonly symbol: string;
      readonly line: number | undefined;
      readonly lines: readonly number[];
    };

/**
 * `name`: not a valid name. `same name`: the symbol has this name already. `nothing`: the server returned no edits.
 * `files`: it wants to create, move or delete files as well. `other name`: its edits change another name than the one
 * at the place. `outside`, `hidden by rules`: so many files are outside the roots, or hidden by rules. `overlap`: its edits
 * overlap. `incomplete`: some edits are malformed, or there are too many.
 */
export type RenameFault =
  | "name"
  | "same name"
  | "other name"
  | "nothing"
  | "files"
  | "outside"
  | "hidden by rules"
  | "overlap"
  | "incomplete";

/**
 * `root`: a root of the workspace. `into itself`: the new path is inside the folder. `links`, `special`, `hidden by rules`: it
 * contains symlinks, special files, or files hidden by rules. `too many`: more files than one call may change.
 */
export type FolderFault =
  | "root"
  | "into itself"
  | "special"
  | "hidden by rules"
  | "too many"
  | "unreadable"
  | "other mount"
  /** The history cannot keep `count` of its files, and nobody was asked whether they may be lost. */
  | "not kept";

export type CellFault = "not a notebook" | "empty file" | "no cell named" | "same source" | "renumbered";

export type SpecialKind = "FIFO" | "socket" | "character device" | "block device" | "kernel file";
export type MediaKind = "image" | "pdf" | "notebook" | "office";

// What the library throws: a stable code, and a sentence that says what to do next.

export type FailureCode = Code | "NO_ROOT" | "UNCLEAR_RULE" | "UNKNOWN_DIALECT";

export class FilehandError extends Error {
  override readonly name = "FilehandError";
  readonly code: FailureCode;
  readonly problem: ProblemData | undefined;
  constructor(code: FailureCode, message: string, problem?: ProblemData) {
    super(message);
    this.code = code;
    this.problem = problem;
  }
}

/** An error that the library throws on purpose, so its message is for people. `StoreFailed`: the history cannot be read. */
export const isFailure = (error: unknown): error is Error & { readonly code: FailureCode } =>
  error instanceof FilehandError || (error instanceof Error && error.name === "StoreFailed");
