/** The verbs `read` and `ls`: requests and outcomes. */

import type { LineNumber, Target } from "./target.ts";
import type { NotebookCell } from "./notebook.ts";
import type { OutlineOutcome } from "./outline.ts";
import type { Profile } from "./profile.ts";

/**
 * Lines from a number on, or the last ones. `linesMax` may be Infinity. With numbers counted `from the end` (-1 is the
 * last line) the last lines of a huge file are found without reading the rest. A `column` above 1 selects a part of the
 * line `from`: from this UTF-16 unit on, counted from 1.
 */
export type LineRange =
  | { readonly from: LineNumber; readonly linesMax: number; readonly column?: number }
  | { readonly last: number; readonly numbered?: "from the end" };

export interface ReadRequest {
  readonly verb: "read";
  readonly path: string;
  readonly ranges: readonly [LineRange, ...LineRange[]];
  readonly pages?: string;
  /** What to return if the range does not fit the token budget. */
  readonly overBudget: "first page" | "refuse";
  /** The call selects no part of the file: the reply may be an outline instead of a truncated page, if the profile says so. */
  readonly whole?: boolean;
  readonly profile: Profile;
}

export interface LsRequest {
  readonly verb: "ls";
  readonly path: string;
  /** First entry of the folder itself, and how many entries. */
  readonly from: LineNumber;
  readonly entriesMax: number;
  /** Levels to show: 1 (the default) is the folder itself, 2 also the content of its folders. */
  readonly depth?: number;
  /** Entries to leave out: patterns as in `glob`. */
  readonly ignore?: readonly string[];
}

export type EncodingName = "utf-8" | "utf-16le" | "utf-16be" | "utf-32le" | "utf-32be" | LegacyEncodingName;

/** Encodings that are detected from the bytes, by their `TextDecoder` names. */
export type LegacyEncodingName =
  | "gb18030"
  | "big5"
  | "shift_jis"
  | "euc-jp"
  | "euc-kr"
  | "iso-2022-jp"
  | "koi8-r"
  | "koi8-u"
  | "ibm866"
  | "macintosh"
  | "windows-874"
  | `windows-125${0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8}`
  | `iso-8859-${2 | 3 | 4 | 5 | 6 | 7 | 8 | 10 | 13 | 14 | 15}`;

export interface CutLine {
  readonly line: LineNumber;
  /** Counted from the page's `column`. */
  readonly charsShown: number;
  /** Too long, or over the rest of the token budget. */
  readonly by: "chars" | "tokens";
}

export interface Page {
  /** Negative if lines are counted from the end. */
  readonly from: LineNumber;
  /** The first character shown, from 1, if the page is a part of one line. */
  readonly column?: number;
  /** Split from `joined` when first used: many replies need no single line. */
  readonly lines: readonly string[];
  readonly count: number;
  /** The lines joined by newlines, if available. */
  readonly joined?: string;
  /** True only if all lines are known to be ASCII. */
  readonly ascii: boolean;
  /** Exact; undefined if not requested and the page ends before the file does, or if lines are counted from the end. */
  readonly linesTotal: number | undefined;
  /** `answer`: the limit of one reply (`answerBytesMax`). */
  readonly stopped: "end" | "lines" | "bytes" | "tokens" | "answer";
  /** The page as dialects rendered it, by their own keys: a cached page keeps these, too. */
  readonly forms: Map<object, PageForm>;
  readonly next: LineNumber | undefined;
  readonly cut: readonly CutLine[];
  /** Characters of the line endings of `lines`. */
  readonly lineEndChars: number;
}

export interface PageForm {
  readonly before: string;
  readonly after: string;
  readonly text: string;
}

export interface TextOutcome {
  readonly kind: "text";
  readonly target: Target;
  /** One page per requested range. */
  readonly pages: readonly [Page, ...Page[]];
  readonly encoding: EncodingName;
  /** Some bytes could not be decoded and are shown as U+FFFD. */
  readonly lossy: boolean;
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  /** The format that the text was extracted from, and what was left out. */
  readonly converted?: { readonly from: string; readonly notes: readonly string[] };
  /** Instruction files that apply to this file and were not yet named in this session. */
  readonly instructions?: readonly string[];
  /** The first page of a longer file of which the model can get an outline. */
  readonly hasOutline?: true;
}

export type EntryKind = "file" | "directory" | "link" | "special" | "unknown";

export interface Entry {
  readonly name: string;
  readonly kind: EntryKind;
  /** The kind of a link's target, if it is below the roots. */
  readonly leadsTo?: "file" | "directory" | "special";
  /** The text of a link, if its target is below the roots. */
  readonly linkText?: string;
  readonly sizeBytes?: number;
}

export interface DirectoryOutcome {
  readonly kind: "directory";
  readonly target: Target;
  readonly from: LineNumber;
  readonly entries: readonly Entry[];
  readonly entriesTotal: number;
  /** Entries hidden by rules; not counted in `entriesTotal`. */
  readonly hiddenByRules: number;
  readonly next: LineNumber | undefined;
}

/** An entry of a tree. A folder that was opened has entries of its own. */
export interface TreeEntry extends Entry {
  readonly entries?: readonly TreeEntry[];
  /** All entries of a folder, shown or not; undefined if it was not opened. */
  readonly entriesTotal?: number;
  /** Entries that the call's patterns or rules leave out; not counted in `entriesTotal`. */
  readonly entriesLeftOut?: number;
  /** Why a folder was not opened: too deep, no room for more entries, ignored by an ignore file, refused by the system. */
  readonly closed?: "depth" | "budget" | "ignored" | "unreadable";
}

export interface TreeOutcome {
  readonly kind: "tree";
  readonly target: Target;
  readonly from: LineNumber;
  readonly depth: number;
  readonly entries: readonly TreeEntry[];
  /** Of the folder itself. */
  readonly entriesTotal: number;
  readonly next: LineNumber | undefined;
  /** Entries of all levels: shown, and left out for lack of room. Neither counts levels that were not opened. */
  readonly shown: number;
  readonly leftOut: number;
  /** Left out by the patterns of the call, and by rules. */
  readonly ignored: number;
  readonly hiddenByRules: number;
}

export interface ImageOutcome {
  readonly kind: "image";
  readonly target: Target;
  readonly mime: string;
  readonly base64: string;
  /** The type of the file, if the image was converted. */
  readonly originalMime: string;
  readonly sizeBytes: number;
  /** Pixels, after rotation. */
  readonly original: Dimensions;
  readonly display: Dimensions;
  /** Of an animation the first frame is shown. */
  readonly frames: number;
  readonly steps: "untouched" | "resized" | "compressed" | "last resort";
  /** Estimated from the length of the base64, and by the vendors' rule of 28-pixel tiles. */
  readonly tokens: number;
  readonly vendorTokens: number;
}

export interface Dimensions {
  readonly width: number;
  readonly height: number;
}

export interface DocumentPage {
  readonly page: number;
  readonly text: string;
  /** Characters left out because the page alone is over the budget. */
  readonly cutChars?: number;
  readonly image?: { readonly mime: string; readonly base64: string; readonly width: number; readonly height: number };
  readonly error?: string;
}

export interface PdfOutcome {
  readonly kind: "pdf";
  readonly target: Target;
  readonly sizeBytes: number;
  readonly pagesTotal: number;
  readonly pages: readonly DocumentPage[];
  /** False: a scan, images only. */
  readonly hasText: boolean;
  /** `whole`: the call selected no pages, and the document is short. */
  readonly asked: "whole" | "pages";
  /** The file itself, if the profile returns documents as files. */
  readonly base64: string | undefined;
}

export interface NotebookOutcome {
  readonly kind: "notebook";
  readonly target: Target;
  readonly sizeBytes: number;
  readonly language: string;
  readonly cells: readonly NotebookCell[];
  readonly from: LineNumber;
  readonly cellsTotal: number;
  readonly next: LineNumber | undefined;
  /** The token budget was reached: cells are left out, or the only cell shown is truncated. */
  readonly overBudget: boolean;
}

export interface UnchangedOutcome {
  readonly kind: "unchanged";
  readonly target: Target;
  readonly tokensSaved: number;
}

export type ReadOutcome =
  | TextOutcome
  | DirectoryOutcome
  | ImageOutcome
  | PdfOutcome
  | NotebookOutcome
  | OutlineOutcome
  | UnchangedOutcome;
export type LsOutcome = TreeOutcome;
