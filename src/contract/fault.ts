/** What exactly is the matter: the finer reasons of problems, as data. */

/** What is wrong with one argument of a call. */
export type ArgumentIssue =
  | {
      readonly fault: "missing";
      readonly name: string;
      readonly expected: string;
      /** It would have held a long text: perhaps the call was cut off before it. */
      readonly long: boolean;
    }
  /** Not an object or a list but the beginning of its JSON. */
  | { readonly fault: "cut off"; readonly name: string; readonly chars: number }
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
