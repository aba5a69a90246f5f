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
  /** A pattern for paths that cannot be understood, or that would take too long. */
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
  /** A column past the end of its line. */
  | {
      readonly code: "INVALID_PARAM";
      readonly reason: "column";
      readonly place: Place;
      readonly line: number;
      readonly column: number;
      readonly charsTotal: number;
    }
  /** Pages were asked of something that has none, or that has others; more pages than can be read whole demand a choice. */
  | {
      readonly code: "INVALID_PARAM";
      readonly reason: "pages";
      readonly place: Place;
      readonly fault: "no pages" | "form" | "order" | "past the end" | "too many" | "choose";
      /** What it is instead of a document with pages, if it is not read line by line. */
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
  /** In this mode nothing is written, whatever rules say. */
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
      /** The rule that asks, and the one that would allow it, if one could. */
      readonly rule: string;
      readonly remedy: string | undefined;
      readonly feedback: string | undefined;
      /** It is asked about every time, whatever rules say. */
      readonly everyTime?: boolean;
      /** The question was shown, and nobody has answered it. */
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
      /** There is nothing in it at all. */
      readonly empty?: boolean;
    }
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
  | CodeProblem
  | { readonly code: "CHANGED"; readonly place: Place }
  /** The caller must see a file before it may change it. */
  | { readonly code: "NOT_READ"; readonly place: Place; readonly reason: "never" }
  | {
      readonly code: "NOT_READ";
      readonly place: Place;
      /** The text that would change was not shown. */
      readonly reason: "elsewhere";
      /** What is counted. */
      readonly unit: "line" | "cell";
      readonly shown: readonly LineSpan[];
      /** What must be read first: all of it, in order and without overlaps. */
      readonly needed: readonly LineSpan[];
    }
  | {
      readonly code: "NOT_READ";
      readonly place: Place;
      /** Not all of what would go was shown. */
      readonly reason: "partly";
      readonly unit: "line" | "cell";
      readonly shown: readonly LineSpan[];
      /** Lines that were shown, but cut short. */
      readonly cut: readonly LineSpan[];
      /** The first of them: its first character that was not shown, counted from 1, and whether any after that one was. */
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
      /** Large files are searched for the very letters only. */
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
  /** The two texts of an edit are the same, or there is nothing to look for. */
  | {
      readonly code: "INVALID_PARAM";
      readonly reason: "edit";
      readonly place: Place;
      readonly fault: EditFault /** Of several edits. */;
      readonly which?: { readonly index: number; readonly of: number };
    }
  | {
      readonly code: "INVALID_PARAM";
      readonly reason: "patch";
      readonly fault: PatchFault;
      readonly line: number;
      readonly text: string;
    }
  /** A folder that cannot be deleted or moved as a whole. */
  /** The name is a link: taking it away would take away what it leads to, and leave the name. */
  | {
      readonly code: "INVALID_PARAM";
      readonly reason: "link";
      readonly place: Place;
      /** As the caller could name it. */
      readonly leadsTo: string;
      readonly would: "be deleted" | "be moved";
    }
  | { readonly code: "INVALID_PARAM"; readonly reason: "folder"; readonly place: Place; readonly fault: FolderFault }
  | { readonly code: "INVALID_PARAM"; readonly reason: "cell"; readonly place: Place; readonly fault: CellFault }
  | {
      readonly code: "NO_CELL";
      readonly place: Place;
      readonly cellId: string;
      /** The first of the ids there are. */
      readonly known: readonly string[];
    }
  /** The file's encoding has no such character. */
  | { readonly code: "ENCODING"; readonly place: Place; readonly encoding: string; readonly character: string }
  | { readonly code: "EXISTS"; readonly place: Place; readonly reason: "file" | "folder" | "link" }
  | {
      readonly code: "TOO_LARGE";
      readonly place: Place;
      readonly kind: "text";
      readonly limit: string;
      /** What can be done without anybody's help. */
      readonly remedy?: "one by one" | "convert";
    }
  | { readonly code: "ACCESS_DENIED"; readonly place: Place; readonly reason: "read-only" }
  /** What is searched for, or where, is malformed. */
  | { readonly code: "INVALID_PARAM"; readonly reason: "search"; readonly fault: SearchFault }
  /** No ripgrep is installed. */
  | { readonly code: "NO_RIPGREP"; readonly install: string }
  /** There is no such turn to go back to, or none at all. */
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
        /** What is in effect was changed in turns that are no longer kept one by one. */
        | "undo forgotten"
        | "nothing to redo";
      /** The latest turns there are, newest first, for who asked for another one. */
      readonly known?: readonly string[];
    }
  /** `busy`: somebody else works on the file. `no locks`: nobody can be kept from it; what is wrong, and what helps. */
  | { readonly code: "LOCKED"; readonly place: Place; readonly reason: "busy"; readonly holder: string }
  | {
      readonly code: "LOCKED";
      readonly place: Place;
      readonly reason: "no locks";
      readonly fault: string;
      readonly remedy: string;
    }
  /** Of several files one failed: what was written was put back, but for those that could not be. */
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

/** Thrown inside the engine, caught once, in `toolkit.ts`. Its message is for logs; dialects word it for the model. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly data: ProblemData;
  constructor(data: ProblemData) {
    super(data.code);
    this.data = data;
  }
}

// Failures of questions about code: language servers, renames, outlines. A part of the one closed union in problem.ts.

type CodeProblem =
  /** No language server can be asked about the file: none are used, none is known, none is there, it is nothing for them. */
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
  /** There is one, and it has no answer. */
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
  /** What is asked about is not where the call says. */
  | {
      readonly code: "INVALID_PARAM";
      readonly reason: "code place";
      readonly place: Place;
      readonly fault: CodePlaceFault;
    }
  /** What a server wants to change for a new name is not done. */
  | { readonly code: "NO_RENAME"; readonly place: Place; readonly reason: RenameFault; readonly count: number }
  /** What the file declares cannot be told. `language`: there is no grammar for it. */
  | { readonly code: "NO_OUTLINE"; readonly place: Place; readonly reason: "language" | "time" | "memory" | "crash" }
  | {
      readonly code: "NO_OUTLINE";
      readonly place: Place;
      readonly reason: "not installed";
      readonly install: string;
    };

// What exactly is the matter: the finer reasons of problems, as data.

/** What is wrong with one argument of a call. */
export type ArgumentIssue =
  | {
      readonly fault: "missing";
      readonly name: string;
      readonly expected: string;
      /** It would have held a long text: perhaps the call was cut off before it. */
      readonly long: boolean;
    }
  /** Not an object or a list but the beginning of its JSON, or JSON with more objects, lists or keys than are parsed. */
  | { readonly fault: "cut off" | "too many parts"; readonly name: string; readonly chars: number }
  | {
      readonly fault: "type";
      readonly name: string;
      readonly expected: string;
      readonly got: string;
      /** It may be left out. */
      readonly optional: boolean;
    }
  | {
      readonly fault: "range";
      readonly name: string;
      readonly got: number;
      readonly min: number | undefined;
      readonly max: number | undefined;
      /** It may be left out. */
      readonly optional: boolean;
    }
  | {
      readonly fault: "unknown";
      readonly name: string;
      readonly nearest: string | undefined;
      readonly known: readonly string[];
    };

/** Why a path is refused for its letters: before any file system call, but `names a folder`, which only a file that is to be made is. */
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
  /** `$HOME/x`, `%TEMP%\\x`: nothing puts a value in. */
  | "variable"
  /** `~root/x`: the home of somebody else. */
  | "home of another"
  /** `C:\\x` where there are no drives. */
  | "drive"
  | "names a folder";

/** What is wrong with a pattern for paths. */
export type PatternFault =
  | "empty"
  | "nul"
  | "parent"
  /** Nothing but slashes and dots. */
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

/** A path that exists and may have been meant. */
export interface Suggestion {
  readonly absolute: string;
  /** Below its root, with forward slashes. */
  readonly relative: string;
  readonly kind: "file" | "directory";
}

/** Lines `from` to `to`, both included; lines count from 1. */
export interface LineSpan {
  readonly from: number;
  readonly to: number;
}

/** Which edit of a call, counted from 1, and which of the others would have been found. */
export interface WhichEdit {
  readonly index: number;
  readonly of: number;
  readonly othersFound: readonly number[];
}

export type EditFault = "same text" | "empty old text" | "lone surrogate" | "notebook" | "stub";
/** Why a hunk has no place. */
export type HunkFault =
  | { readonly why: "not found" }
  | { readonly why: "header not found"; readonly header: string }
  | { readonly why: "out of order"; readonly line: number };

/** What is wrong with the text of a patch. */
export type PatchFault =
  | "no begin"
  | "no end"
  | "text after end"
  /** Nothing between begin and end, or no text at all. */
  | "empty"
  | "unknown line"
  | "no path"
  | "blanks around path"
  | "add line without +"
  /** A hunk whose only old lines are empty ones without a mark: added lines that lack their `+`, or context? */
  | "blank line without mark"
  | "empty hunk"
  /** An update that neither changes a line nor moves the file. */
  | "nothing changes"
  /** The lines that the hunks of an update take out are those that they put in. */
  | "same lines"
  | "same file twice"
  /** The text is a path to a file that the patch named before by another one. */
  | "two names"
  /** The text is a path below a file that the patch makes. */
  | "in a new file"
  | "unified diff";

/** Why a place in code is none. */
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
 * `name`: it cannot be one. `same name`: it is called so. `nothing`: the server changes nothing. `files`: it wants to make, move or
 * delete files as well. `other name`: it would change another name than the one that stands there. `outside`, `withheld`: so many
 * files lie outside, or are hidden by rules. `overlap`: its edits contradict each other. `incomplete`: not all of them are understood,
 * or there are too many.
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
 * `root`: it is a root of the workspace. `into itself`: its new name lies in it. `links`, `special`, `withheld`: there are links in it,
 * things that are no files, or files that rules keep from this session. `too many`: more files than one call takes.
 */
export type FolderFault = "root" | "into itself" | "links" | "special" | "withheld" | "too many" | "unreadable";

export type CellFault = "not a notebook" | "empty file" | "no cell named" | "same source" | "renumbered";

export type SpecialKind = "FIFO" | "socket" | "character device" | "block device" | "kernel file";
export type MediaKind = "image" | "pdf" | "notebook" | "office";

// What the library throws: a code that programs can rely on, and a sentence that says what to do next.

export type FailureCode = Code | "NO_ROOT" | "UNCLEAR_RULE" | "UNKNOWN_DIALECT";

export class FilehandError extends Error {
  override readonly name = "FilehandError";
  readonly code: FailureCode;
  /** What exactly is the matter, where a call of a tool was refused. */
  readonly problem: ProblemData | undefined;
  constructor(code: FailureCode, message: string, problem?: ProblemData) {
    super(message);
    this.code = code;
    this.problem = problem;
  }
}

/** Told to people by its message: what the library throws on purpose. `StoreFailed`: the history cannot be read. */
export const isFailure = (error: unknown): error is Error & { readonly code: FailureCode } =>
  error instanceof FilehandError || (error instanceof Error && error.name === "StoreFailed");
