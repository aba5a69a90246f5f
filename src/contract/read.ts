/** The verbs `read` and `ls`: what is asked, what comes out. */

import type { LineNumber, Target } from "./target.ts";
import type { NotebookCell } from "./notebook.ts";
import type { OutlineOutcome } from "./outline.ts";
import type { Profile } from "./profile.ts";

/**
 * Lines from a number on, or the last ones. `linesMax` may be Infinity. The last lines of a huge file are found without
 * reading the rest if their numbers may be counted `from the end`: -1 is the last line then. A `column` above 1 asks for a part
 * of the line `from` alone: from this UTF-16 unit on, counted from 1.
 */
export type LineRange =
  | { readonly from: LineNumber; readonly linesMax: number; readonly column?: number }
  | { readonly last: number; readonly numbered?: "from the end" };

export interface ReadRequest {
  readonly verb: "read";
  readonly path: string;
  readonly ranges: readonly [LineRange, ...LineRange[]];
  /** Pages of a paged document, as the caller wrote them. */
  readonly pages?: string;
  /** What happens when the token budget ends before the range does. */
  readonly overBudget: "first page" | "refuse";
  /** Does the call name no part of the file? Then an outline may stand for a page that is cut, where the profile says so. */
  readonly whole?: boolean;
  readonly profile: Profile;
}

export interface LsRequest {
  readonly verb: "ls";
  readonly path: string;
  /** First entry of the folder itself, and how many of them. */
  readonly from: LineNumber;
  readonly entriesMax: number;
  /** Levels that are shown: 1 (the default) is the folder itself, 2 also what lies in its folders. */
  readonly depth?: number;
  /** Patterns of what is left out, as those of `glob`. */
  readonly ignore?: readonly string[];
}

/** How a text file's bytes were understood. */
export type EncodingName = "utf-8" | "utf-16le" | "utf-16be" | "utf-32le" | "utf-32be" | LegacyEncodingName;

/** Encodings that are found by looking at the bytes; the names `TextDecoder` knows. */
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

/** A line that was shown only in part. */
export interface CutLine {
  readonly line: LineNumber;
  /** Of the line, or of its part from the page's `column` on. */
  readonly charsShown: number;
  /** Too long by itself, or over what was left of the token budget. */
  readonly by: "chars" | "tokens";
}

export interface Page {
  /** Negative where lines are counted from the end. */
  readonly from: LineNumber;
  /** The first character shown, where the page is a part of one line that does not begin with the line. */
  readonly column?: number;
  /** Made of `joined` when they are asked for, where that is at hand: many answers need no line by itself. */
  readonly lines: readonly string[];
  /** How many lines there are. */
  readonly count: number;
  /** The lines joined by newlines, where that is at hand. */
  readonly joined?: string;
  /** True only if all of the lines are ASCII, as far as that is known without looking. */
  readonly ascii: boolean;
  /** Exact, or undefined where nobody asked for it: the page ends before the file does, or is counted from the end. */
  readonly linesTotal: number | undefined;
  /** `answer`: all that one answer may hold (`answerBytesMax`). */
  readonly stopped: "end" | "lines" | "bytes" | "tokens" | "answer";
  /** What dialects made of the page, by their own keys: a page that is kept keeps it too. */
  readonly forms: Map<object, PageForm>;
  /** Where to go on, if there is more. */
  readonly next: LineNumber | undefined;
  readonly cut: readonly CutLine[];
  /** Characters of the line ends that belong to `lines` and are not part of them. */
  readonly lineEndChars: number;
}

/** The lines as a dialect shows them, and what it put around them. */
export interface PageForm {
  readonly before: string;
  readonly after: string;
  readonly text: string;
}

export interface TextOutcome {
  readonly kind: "text";
  readonly target: Target;
  /** One page per range asked for. */
  readonly pages: readonly [Page, ...Page[]];
  readonly encoding: EncodingName;
  /** True when bytes could not be decoded and stand as U+FFFD. */
  readonly lossy: boolean;
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  /** What the text was made from, if it is not the file's own, and what was left out. */
  readonly converted?: { readonly from: string; readonly notes: readonly string[] };
  /** Instruction files that hold for this file and were not named before in this session. */
  readonly instructions?: readonly string[];
}

export type EntryKind = "file" | "directory" | "link" | "special" | "unknown";

export interface Entry {
  readonly name: string;
  readonly kind: EntryKind;
  /** What a link leads to, if that lies beneath the roots. */
  readonly leadsTo?: "file" | "directory" | "special";
  /** The text of a link, if what it leads to lies beneath the roots. */
  readonly linkText?: string;
  readonly sizeBytes?: number;
}

export interface DirectoryOutcome {
  readonly kind: "directory";
  readonly target: Target;
  readonly from: LineNumber;
  readonly entries: readonly Entry[];
  readonly entriesTotal: number;
  /** Entries that permission rules withhold; not among `entriesTotal`. */
  readonly withheld: number;
  /** Where to go on, if there are more. */
  readonly next: LineNumber | undefined;
}

/** An entry of a tree. A folder that was opened has its own entries. */
export interface TreeEntry extends Entry {
  readonly entries?: readonly TreeEntry[];
  /** How many entries a folder has, shown or not; undefined where it was not looked into. */
  readonly entriesTotal?: number;
  /** Entries of a folder that the call's patterns or permission rules leave out; not among `entriesTotal`. */
  readonly entriesLeftOut?: number;
  /** Why a folder was not opened: too deep, too many entries shown already, left out by an ignore file, the system's no. */
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
  /** Where to go on, if the folder itself has more. */
  readonly next: LineNumber | undefined;
  /** Entries of all levels: shown, and left out for want of room. What lies deeper than was looked is in neither. */
  readonly shown: number;
  readonly leftOut: number;
  /** Left out by the patterns of the call, and by permission rules. */
  readonly ignored: number;
  readonly withheld: number;
}

/** A picture that decodes, within the budget. */
export interface ImageOutcome {
  readonly kind: "image";
  readonly target: Target;
  readonly mime: string;
  readonly base64: string;
  /** What the file is, where it had to be converted. */
  readonly originalMime: string;
  readonly sizeBytes: number;
  /** Pixels, upright. */
  readonly original: Dimensions;
  readonly display: Dimensions;
  /** Of an animation the first frame is shown. */
  readonly frames: number;
  /** What was done to it to fit the budget. */
  readonly steps: "untouched" | "resized" | "compressed" | "last resort";
  /** By the length of the base64, and by the vendors' rule of 28-pixel tiles. */
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
  /** Characters of the text that are left out, because the page alone is over the budget. */
  readonly cutChars?: number;
  readonly image?: { readonly mime: string; readonly base64: string; readonly width: number; readonly height: number };
  /** Why this page could not be read; the others are there. */
  readonly error?: string;
}

export interface PdfOutcome {
  readonly kind: "pdf";
  readonly target: Target;
  readonly sizeBytes: number;
  readonly pagesTotal: number;
  readonly pages: readonly DocumentPage[];
  /** False: scanned, there is nothing but pictures. */
  readonly hasText: boolean;
  /** Were pages asked for, or is this all of a short document? */
  readonly asked: "whole" | "pages";
  /** The file itself, where the profile hands it out. */
  readonly base64: string | undefined;
}

export interface NotebookOutcome {
  readonly kind: "notebook";
  readonly target: Target;
  readonly sizeBytes: number;
  readonly language: string;
  /** The cells that are shown, and how many there are. */
  readonly cells: readonly NotebookCell[];
  readonly from: LineNumber;
  readonly cellsTotal: number;
  readonly next: LineNumber | undefined;
  /** Did the token budget end it: are cells left out, or parts of the only one that is shown? */
  readonly overBudget: boolean;
}

/** The session was shown this already, and it is still the same. */
export interface UnchangedOutcome {
  readonly kind: "unchanged";
  readonly target: Target;
  /** Tokens that are not spent again. */
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
