/** Changing files: what is asked, how a place was found, what a change is made of. */

import type { DiagnosticsReport } from "./lsp.ts";
import type { Profile } from "./profile.ts";
import type { Target } from "./target.ts";

/**
 * The step of the ladder that found the place. Every step but `exact` compares something looser than the letters, and
 * is told in the answer.
 */
export type MatchedBy =
  | "exact"
  | "line ends"
  | "quotes"
  | "look-alikes"
  | "trailing blanks"
  | "indentation"
  | "line numbers"
  | "escapes";

/** One replacement as the caller wrote it. */
export interface TextEdit {
  readonly oldText: string;
  readonly newText: string;
  /** Every place, or the only one. */
  readonly all: boolean;
  /** Nothing is looked for: the new text becomes lines of its own behind this line; 0 is before the first. */
  readonly behindLine?: number;
}

/** UTF-16 units `from` up to `to` of a text give way to `text`. */
export interface TextChange {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** What a file consists of after a change: bytes `from` up to `to` of the file as it was, new ones, or a block of both. */
export type Piece = { readonly from: number; readonly to: number } | Uint8Array | MadePiece;

/** Bytes that are put together when they are written, the same each time, so that a change in very many places takes no memory. */
export interface MadePiece {
  readonly sizeBytes: number;
  /** At once where the file is in memory. */
  readonly make: () => Uint8Array | Promise<Uint8Array>;
}

/** A part of a diff. Lines carry ` `, `-` or `+` in front and no line end; `\ No newline at end of file` may stand among them. */
export interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
  /** All of its lines end so, but for one without a newline; by default a `\r` before the newline is in the line. */
  readonly lineEnd?: "\r\n";
}

/** Why a text that looks alike is not the one that was asked for. */
export type DifferenceKind =
  | "tab or space"
  | "indentation"
  | "trailing blank"
  | "blank inside the line"
  | "line end"
  | "final newline"
  /** The call has a line end in front, and nothing stands before the file's first line. */
  | "newline in front"
  /** The file has bytes there that cannot be decoded, which Read shows as U+FFFD. */
  | "undecoded byte"
  | "quote"
  | "look-alike"
  | "escape"
  | "case"
  | "number"
  | "missing line"
  | "extra line"
  | "text";

/** The first place where the nearest region and the text that was looked for part ways. */
export interface Difference {
  readonly kind: DifferenceKind;
  /** The line of the file; lines count from 1. */
  readonly line: number;
  /** That line as the call has it and as the file has it, without line ends; undefined where one of them lacks it. */
  readonly asked: string | undefined;
  readonly actual: string | undefined;
}

/** The part of a file that is most like a text that was not found. It is shown, never written to. */
export interface NearestRegion {
  /** Its first line; lines count from 1. */
  readonly from: number;
  /** At most a few; without line ends. */
  readonly lines: readonly string[];
  /** How many lines the region has; more than are shown, perhaps. */
  readonly linesTotal: number;
  readonly difference: Difference;
  /** Nothing is like it; these lines stand where it was expected. */
  readonly isExpectedPlace?: true;
}

export interface EditRequest {
  readonly verb: "edit";
  readonly path: string;
  /** All or nothing; a later one sees what the earlier ones did. */
  readonly edits: readonly [TextEdit, ...TextEdit[]];
  readonly profile: Profile;
}

export interface WriteRequest {
  readonly verb: "write";
  readonly path: string;
  readonly content: string;
  readonly profile: Profile;
}

export type CellMode = "replace" | "insert" | "delete";
export type CellType = "code" | "markdown" | "raw";

export interface NotebookEditRequest {
  readonly verb: "notebook-edit";
  readonly path: string;
  readonly cellId: string | undefined;
  readonly source: string;
  readonly cellType: CellType | undefined;
  readonly mode: CellMode;
  readonly profile: Profile;
}

export interface PatchRequest {
  readonly verb: "patch";
  /** In the `*** Begin Patch` form. */
  readonly patchText: string;
  readonly profile: Profile;
}

/** A file, or a folder with all that is in it, is taken away. */
export interface DeleteRequest {
  readonly verb: "delete";
  readonly path: string;
  readonly profile: Profile;
}

/** A file, or a folder with all that is in it, gets another name. Nothing may be there. */
export interface MoveRequest {
  readonly verb: "move";
  readonly path: string;
  readonly to: string;
  readonly profile: Profile;
}

/** What the caller should know about a change besides the change itself. */
export type ChangeNote =
  /** The file had other names; they keep the old content. */
  | { readonly note: "links separated" }
  /** The folder does not let files be replaced, so the file was written where it is. */
  | { readonly note: "in place" }
  /** The new content is there, but the system could not confirm that it will outlast a power cut. */
  | { readonly note: "unconfirmed"; readonly errno: string }
  /** Somebody else changed the file since it was read; those changes are still there. */
  | { readonly note: "other changes" }
  /** The content that was written has other line ends than the file had. */
  | { readonly note: "line ends"; readonly before: LineEndName; readonly after: LineEndName }
  /** Something about the file besides its content could not be kept, in words. */
  | { readonly note: "metadata"; readonly detail: string }
  /**
   * Something is not in the history; why, in words. Without the old content the change cannot be undone, without its
   * record undo does not know of it, and without the new content it can be undone but not shown.
   */
  | { readonly note: "not kept"; readonly what: "old content" | "record" | "new content"; readonly why: string }
  /** The host's formatter changed what was written; `hunks` are empty where that would be too much to show. */
  | {
      readonly note: "reformatted";
      readonly additions: number;
      readonly deletions: number;
      readonly hunks: readonly Hunk[];
    }
  | { readonly note: "formatter failed"; readonly why: string }
  /** What was written is what was there. */
  | { readonly note: "same content" };

export type LineEndName = "LF" | "CRLF" | "CR" | "mixed";

/** One file and what became of it. */
export interface ChangedFile {
  /** The file as it is called now. */
  readonly target: Target;
  readonly did: "created" | "updated" | "deleted" | "moved";
  /** Where a moved file was. */
  readonly movedFrom?: Target;
  readonly hunks: readonly Hunk[];
  readonly additions: number;
  readonly deletions: number;
  /** False where the diff would have been too long: then `hunks` is not all of it. */
  readonly diffComplete: boolean;
  /** The old content was too large to be compared, or no text: no diff was made, and no line counted. */
  readonly uncounted?: true;
  /** The old content; undefined for a new file, and where it was too large to be held. */
  readonly before: string | undefined;
  readonly notes: readonly ChangeNote[];
  /** What language servers say of it as it is now, if one is in charge of it. */
  readonly diagnostics?: DiagnosticsReport;
}

/** How one edit of a call was found. */
export interface EditFound {
  readonly matchedBy: MatchedBy;
  readonly replacements: number;
  /** The first line it changed, as the file is now. */
  readonly line: number;
}

export interface EditOutcome {
  readonly kind: "edit";
  readonly target: Target;
  readonly file: ChangedFile;
  readonly edits: readonly [TextEdit, ...TextEdit[]];
  readonly found: readonly EditFound[];
  readonly dryRun: boolean;
}

export interface WriteOutcome {
  readonly kind: "write";
  readonly target: Target;
  readonly file: ChangedFile;
  readonly content: string;
  readonly dryRun: boolean;
}

export interface NotebookEditOutcome {
  readonly kind: "notebook-edit";
  readonly target: Target;
  readonly file: ChangedFile;
  readonly mode: CellMode;
  readonly cell: {
    /** Counted from 0. */
    readonly index: number;
    readonly id: string;
    readonly type: CellType;
    /** Of code what it is written in, of others the type. */
    readonly language: string;
    readonly oldSource: string | undefined;
  };
  readonly source: string;
  readonly cellsTotal: number;
  /** Outputs of the old source were taken away. */
  readonly cleared: boolean;
  /** Cells behind this one have no id of their own, and are shown by another one from now on. */
  readonly renumbered: boolean;
  readonly dryRun: boolean;
}

export interface PatchOutcome {
  readonly kind: "patch";
  /** The first file's, or the folder's. */
  readonly target: Target;
  /** None only of a folder that held none. */
  readonly files: readonly ChangedFile[];
  readonly matchedBy: MatchedBy;
  /** Was it a whole folder? Then those of its folders that stayed, since something had come into them meanwhile. */
  readonly foldersLeft?: readonly string[];
  /** Was it a language server that said what to change, for a new name? */
  readonly renamed?: Renamed;
  readonly dryRun: boolean;
}

export interface Renamed {
  readonly from: string;
  readonly to: string;
  readonly places: number;
  readonly server: string;
}

export type ChangeOutcome = EditOutcome | WriteOutcome | NotebookEditOutcome | PatchOutcome;

// What a host does to a file after a tool changed it, and before the tool answers.

/**
 * `path` is the file's real path. It may rewrite that file and nothing else of the workspace; Filehand holds its lock
 * meanwhile, so it MUST NOT call a tool. What it throws is told with the change, which stays made. The signal is aborted when the
 * call is cancelled, or when the formatter has taken too long (`formatterMsMax`); then it is not waited for any more.
 */
export type Formatter = (file: { readonly path: string; readonly signal: AbortSignal }) => Promise<void> | void;
