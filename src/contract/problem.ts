/** Expected failures: one closed union. Codes are public and the same in all dialects; finer reasons are data. */

import type { MatchedBy, NearestRegion } from "./edit.ts";
import type { SearchFault } from "./grep.ts";
import type { ServerRemedy } from "./lsp.ts";
import type { NoWriteMode } from "./permission.ts";
import type { Place } from "./target.ts";

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
  /** A glob that cannot be parsed, or that would take too long. */
  | {
      readonly code: "INVALID_PARAM";
      readonly reason: "pattern";
      readonly pattern: string;
      readonly fault: PatternFault;
    }
  | {
      readonly code: "INVALID_PARAM";
      readonly reason: "range";
      readonly place: Place;
      readonly of: "lines" | "entries" | "cells";
      readonly from: number;
      readonly total: number;
    }
  | {
      readonly code: "INVALID_PARAM";
      readonly reason: "column";
      readonly place: Place;
      readonly line: number;
      readonly column: number;
      readonly charsTotal: number;
    }
  /** The file has no pages, or not these, or so many that the call must choose some. */
  | {
      readonly code: "INVALID_PARAM";
      readonly reason: "pages";
      readonly place: Place;
      readonly fault: "no pages" | "form" | "order" | "past the end" | "too many" | "choose";
      /** What it is instead, if it is not read line by line. */
      readonly kind?: "image";
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
  | {
      readonly code: "ACCESS_DENIED";
      readonly place: Place;
      readonly reason: "root changed" | "system" | "other mount" | "other names";
    }
  /** This mode writes nothing, whatever the rules are. */
  | { readonly code: "ACCESS_DENIED"; readonly place: Place; readonly reason: "mode"; readonly mode: NoWriteMode }
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
      /** The rule that asks, and a rule that would allow it, if one can. */
      readonly rule: string;
      readonly remedy: string | undefined;
      readonly feedback: string | undefined;
      /** Filehand asks every time, whatever the rules are. */
      readonly everyTime?: boolean;
      /** The question was shown, and was not answered. */
      readonly closed?: boolean;
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
  | {
      readonly code: "DAMAGED";
      readonly place: Place;
      readonly kind: MediaKind;
      readonly detail: string;
      /** The file has 0 bytes. */
      readonly empty?: boolean;
    }
  | { readonly code: "ENCRYPTED"; readonly place: Place; readonly kind: MediaKind }
  /** Over a limit that stops decompression bombs and endless work; `limit` names it in words. */
  | { readonly code: "TOO_LARGE"; readonly place: Place; readonly kind: MediaKind; readonly limit: string }
  /** The package that reads this kind is not installed. */
  | { readonly code: "NO_CODEC"; readonly place: Place; readonly kind: MediaKind; readonly install: string }
  | {
      readonly code: "OVER_BUDGET";
      readonly place: Place;
      readonly tokens: number;
      /** `at least`: counting stopped early. */
      readonly counted: "all" | "at least";
      readonly tokensMax: number;
      /** What `from`, `lines` and `linesThatFit` count. */
      readonly of: "lines" | "pages" | "cells";
      readonly from: number;
      readonly lines: number;
      /** How many of them fit, starting at `from`. */
      readonly linesThatFit: number;
    }
  | CodeProblem
  | { readonly code: "CHANGED"; readonly place: Place }
  /** The session must read a file before it may change it. */
  | { readonly code: "NOT_READ"; readonly place: Place; readonly reason: "never" }
  | {
      readonly code: "NOT_READ";
      readonly place: Place;
      /** The session has not read the text that would change. */
      readonly reason: "elsewhere";
      readonly unit: "line" | "cell";
      readonly shown: readonly LineSpan[];
      /** What the session must read first: complete, in order, without overlaps. */
      readonly needed: readonly LineSpan[];
    }
  | {
      readonly code: "NOT_READ";
      readonly place: Place;
      /** The session has read only a part of the text that would be removed. */
      readonly reason: "partly";
      readonly unit: "line" | "cell";
      readonly shown: readonly LineSpan[];
      /** Lines that were truncated when they were shown. */
      readonly cut: readonly LineSpan[];
      /** The first truncated line: its first column (from 1) that was not shown, and whether a later part of it was. */
      readonly cutRest?: { readonly line: number; readonly column: number; readonly more: boolean };
    }
  | {
      readonly code: "STALE";
      readonly place: Place;
      readonly reason: "changed";
      readonly sizeThen: number | undefined;
      readonly sizeNow: number;
      readonly mtimeMs: number;
    }
  | { readonly code: "STALE"; readonly place: Place; readonly reason: "deleted" | "while changing it" }
  | {
      readonly code: "NO_MATCH";
      readonly place: Place;
      readonly which: WhichEdit;
      readonly nearest: NearestRegion | undefined;
      /** Large files are searched for exact matches only. */
      readonly searched: "loosely" | "exactly";
      /** For a hunk of a patch, `which` counts hunks. */
      readonly hunk?: HunkFault;
    }
  | {
      readonly code: "AMBIGUOUS";
      readonly place: Place;
      readonly which: WhichEdit;
      readonly matchedBy: MatchedBy;
      readonly lines: readonly number[];
      readonly total: number;
      /** For a hunk of a patch, `which` counts hunks. */
      readonly hunk?: true;
    }
  | { readonly code: "ALREADY_APPLIED"; readonly place: Place; readonly which: WhichEdit; readonly line: number }
  /** The two texts of an edit are equal, or the old text is empty. */
  | {
      readonly code: "INVALID_PARAM";
      readonly reason: "edit";
      readonly place: Place;
      readonly fault: EditFault;
      readonly which?: { readonly index: number; readonly of: number };
    }
  | {
      readonly code: "INVALID_PARAM";
      readonly reason: "patch";
      readonly fault: PatchFault;
      readonly line: number;
      readonly text: string;
    }
  /** The name is a symlink: the call would delete or move its target, and leave the link. */
  | {
      readonly code: "INVALID_PARAM";
      readonly reason: "link";
      readonly place: Place;
      /** The target, in a form that a call can use. */
      readonly leadsTo: string;
      readonly would: "be deleted" | "be moved";
    }
  | { readonly code: "INVALID_PARAM"; readonly reason: "folder"; readonly place: Place; readonly fault: FolderFault }
  | { readonly code: "INVALID_PARAM"; readonly reason: "cell"; readonly place: Place; readonly fault: CellFault }
  | {
      readonly code: "NO_CELL";
      readonly place: Place;
      readonly cellId: string;
      /** The first ids of the notebook. */
      readonly known: readonly string[];
    }
  /** The file's encoding cannot represent the character. */
  | { readonly code: "ENCODING"; readonly place: Place; readonly encoding: string; readonly character: string }
  | { readonly code: "EXISTS"; readonly place: Place; readonly reason: "file" | "folder" | "link" }
  | {
      readonly code: "TOO_LARGE";
      readonly place: Place;
      readonly kind: "text";
      readonly limit: string;
      /** What the caller can do about it without changing a limit. */
      readonly remedy?: "one by one" | "convert";
    }
  | { readonly code: "ACCESS_DENIED"; readonly place: Place; readonly reason: "read-only" }
  /** The pattern, the globs or the type of a search are malformed. */
  | { readonly code: "INVALID_PARAM"; readonly reason: "search"; readonly fault: SearchFault }
  | { readonly code: "NO_RIPGREP"; readonly install: string }
  /** The turn to go back to does not exist, or there is none. */
  | {
      readonly code: "NO_TURN";
      readonly asked: string;
      readonly reason:
        | "unknown"
        | "pruned"
        | "no history"
        | "content gone"
        | "unreadable"
        | "nothing to undo"
        /** The latest change in effect belongs to turns that were merged and pruned. */
        | "undo forgotten"
        | "nothing to redo";
      /** The latest turns, newest first. */
      readonly known?: readonly string[];
    }
  /** `busy`: another process is changing the file. `no locks`: locking does not work here, for the reason `fault`. */
  | { readonly code: "LOCKED"; readonly place: Place; readonly reason: "busy"; readonly holder: string }
  | {
      readonly code: "LOCKED";
      readonly place: Place;
      readonly reason: "no locks";
      readonly fault: string;
      readonly remedy: string;
    }
  /** One of several files failed: the files already written were restored, except those in `left`. */
  | {
      readonly code: "ROLLED_BACK";
      readonly place: Place;
      readonly cause: ProblemData;
      readonly putBack: readonly Place[];
      readonly left: readonly Place[];
    }
  | { readonly code: "IO_ERROR"; readonly place: Place; readonly errno: string; readonly during: string }
  | { readonly code: "CANCELLED"; readonly tool: string };

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

// Failures of queries about code: language servers, renames, outlines.

type CodeProblem =
  /** No language server for the file. `not shown`: the file is secret, too large or not UTF-8. */
  | {
      readonly code: "LANGUAGE_SERVER";
      readonly place: Place;
      readonly reason: "off" | "unknown language" | "not shown";
    }
  | {
      readonly code: "LANGUAGE_SERVER";
      readonly place: Place;
      readonly reason: "not installed";
      readonly servers: readonly ServerRemedy[];
    }
  /** The server gave no answer. */
  | {
      readonly code: "LANGUAGE_SERVER";
      readonly place: Place;
      readonly reason: "failed";
      readonly server: string;
      readonly why: string;
    }
  | { readonly code: "LANGUAGE_SERVER"; readonly place: Place; readonly reason: "not offered"; readonly server: string }
  | {
      readonly code: "LANGUAGE_SERVER";
      readonly place: Place;
      readonly reason: "too slow";
      readonly server: string;
      readonly waitedMs: number;
    }
  /** The symbol is not where the call says. */
  | {
      readonly code: "INVALID_PARAM";
      readonly reason: "code place";
      readonly place: Place;
      readonly fault: CodePlaceFault;
    }
  /** The edits that a server returned for a new name cannot be applied. */
  | { readonly code: "NO_RENAME"; readonly place: Place; readonly reason: RenameFault; readonly count: number }
  /** The declarations of the file are unknown. `language`: there is no grammar for it. */
  | { readonly code: "NO_OUTLINE"; readonly place: Place; readonly reason: "language" | "time" | "memory" | "crash" }
  | {
      readonly code: "NO_OUTLINE";
      readonly place: Place;
      readonly reason: "not installed";
      readonly install: string;
    };

// Finer reasons of problems, as data.

export type ArgumentIssue =
  | {
      readonly fault: "missing";
      readonly name: string;
      readonly expected: string;
      /** A long text was expected: perhaps the call was cut off before it. */
      readonly long: boolean;
    }
  /** Text with the beginning of the JSON of an object or array, or JSON with more objects, arrays or keys than are parsed. */
  | { readonly fault: "cut off" | "too many parts"; readonly name: string; readonly chars: number }
  | {
      readonly fault: "type";
      readonly name: string;
      readonly expected: string;
      readonly got: string;
      readonly optional: boolean;
    }
  | {
      readonly fault: "range";
      readonly name: string;
      readonly got: number;
      readonly min: number | undefined;
      readonly max: number | undefined;
      readonly optional: boolean;
    }
  | {
      readonly fault: "unknown";
      readonly name: string;
      readonly nearest: string | undefined;
      readonly known: readonly string[];
    };

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
  | "names a folder";

/** What is wrong with a glob. */
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

/** An existing path that the caller may have meant. */
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

export type EditFault = "same text" | "empty old text" | "lone surrogate" | "notebook" | "stub";
/** Why a hunk does not apply. */
export type HunkFault =
  | { readonly why: "not found" }
  | { readonly why: "header not found"; readonly header: string }
  | { readonly why: "out of order"; readonly line: number };

/** What is wrong with the text of a patch. */
export type PatchFault =
  | "no begin"
  | "no end"
  | "text after end"
  /** Nothing between begin and end, or no text. */
  | "empty"
  | "unknown line"
  | "no path"
  | "blanks around path"
  | "add line without +"
  /** All old lines of a hunk are empty lines without a mark: either context, or added lines that lack their `+`. */
  | "blank line without mark"
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
  | "unified diff";

/** Why a place in code cannot be found. */
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
 * at the place. `outside`, `withheld`: so many files are outside the roots, or hidden by rules. `overlap`: its edits
 * overlap. `incomplete`: some edits are malformed, or there are too many.
 */
export type RenameFault =
  | "name"
  | "same name"
  | "other name"
  | "nothing"
  | "files"
  | "outside"
  | "withheld"
  | "overlap"
  | "incomplete";

/**
 * `root`: a root of the workspace. `into itself`: the new path is inside the folder. `links`, `special`, `withheld`: it
 * contains symlinks, special files, or files hidden by rules. `too many`: more files than one call may change.
 */
export type FolderFault = "root" | "into itself" | "links" | "special" | "withheld" | "too many" | "unreadable";

export type CellFault = "not a notebook" | "empty file" | "no cell named" | "same source" | "renumbered";

export type SpecialKind = "FIFO" | "socket" | "character device" | "block device" | "kernel file";
export type MediaKind = "image" | "pdf" | "notebook" | "office";

// What the library throws: a stable code, and a sentence that says what to do next.

export type FailureCode = Code | "NO_ROOT" | "UNCLEAR_RULE" | "UNKNOWN_DIALECT";

export class FilehandError extends Error {
  override readonly name = "FilehandError";
  readonly code: FailureCode;
  /** The details of a refused tool call. */
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
