/** Changing files: the requests, how an edit was matched, the outcomes. */

import type { DiagnosticsReport } from "./lsp.ts";
import type { LineSpan } from "./problem.ts";
import type { Profile } from "./profile.ts";
import type { Target } from "./target.ts";

/** The step that found the place: Edit tries `exact` first, then looser comparisons. The reply names every step but `exact`. */
export type MatchedBy =
  | "exact"
  | "line ends"
  | "quotes"
  | "look-alikes"
  | "trailing whitespace"
  | "indentation"
  | "line numbers"
  | "escapes";

export interface TextEdit {
  readonly oldText: string;
  readonly newText: string;
  readonly all: boolean;
  /** No search: insert the new text as lines of its own after this line; 0 is before the first. */
  readonly afterLine?: number;
}

/** An edit of whole lines. Numbers are those under which the session was shown the lines, whatever it changed since. */
export interface LineEdit {
  /** `replace`: the lines `from` to `to`. `before`, `after`: new lines beside the line `from`, which is also `to`. */
  readonly does: "replace" | "before" | "after";
  readonly from: number;
  readonly to: number;
  /** The new lines; a newline at the end is not needed. Empty: the lines are deleted. */
  readonly newText: string;
  /** A check: the line `from` MUST have this text, except for whitespace at its ends. */
  readonly first?: string | undefined;
}

/** Replaces the UTF-16 units `from` (inclusive) to `to` (exclusive) of a text by `text`. */
export interface TextChange {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** A part of the new content: bytes `from` to `to` (exclusive) of the old file, new bytes, or a block of both. */
export type Piece = { readonly from: number; readonly to: number } | Uint8Array | MadePiece;

/** Bytes that are computed when they are written, the same each time, so that a change in very many places needs no memory. */
export interface MadePiece {
  readonly sizeBytes: number;
  /** Synchronous if the file is in memory. */
  readonly make: () => Uint8Array | Promise<Uint8Array>;
}

/** A hunk of a diff. Lines start with ` `, `-` or `+` and have no line ending; `\ No newline at end of file` may follow one. */
export interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
  /** The ending of all lines but one without a newline; by default a `\r` before the newline is part of the line. */
  readonly lineEnd?: "\r\n";
}

export type DifferenceKind =
  | "tab or space"
  | "indentation"
  | "trailing whitespace"
  | "whitespace inside the line"
  | "line end"
  | "final newline"
  /** The call's text starts with a line ending, but the similar text starts at the file's first line. */
  | "newline in front"
  /** The file has bytes there that cannot be decoded; Read shows them as U+FFFD. */
  | "undecoded byte"
  | "quote"
  | "look-alike"
  | "escape"
  | "case"
  | "number"
  | "missing line"
  | "extra line"
  | "text";

/** The first difference between the nearest region and the text of the call. */
export interface Difference {
  readonly kind: DifferenceKind;
  /** The line of the file, from 1. */
  readonly line: number;
  /** That line in the call and in the file, without line endings; undefined if it has no such line. */
  readonly asked: string | undefined;
  readonly actual: string | undefined;
}

/** The part of a file that is most similar to a text that was not found. It is shown, never changed. */
export interface NearestRegion {
  readonly from: number;
  /** The first few, without line endings. */
  readonly lines: readonly string[];
  readonly linesTotal: number;
  readonly difference: Difference;
  /** Nothing is similar; these lines are at the expected place. */
  readonly isExpectedPlace?: true;
}

export interface EditRequest {
  readonly verb: "edit";
  readonly path: string;
  /** All or nothing; each edit sees the result of those before it. */
  readonly edits: readonly [TextEdit, ...TextEdit[]];
  readonly profile: Profile;
}

export interface EditLinesRequest {
  readonly verb: "edit-lines";
  readonly path: string;
  /** All or none. All numbers mean the file before the call. */
  readonly lines: readonly [LineEdit, ...LineEdit[]];
  readonly profile: Profile;
}

/** The edits of one file, by text or by line. */
export type EditedFile =
  | { readonly path: string; readonly edits: readonly [TextEdit, ...TextEdit[]] }
  | { readonly path: string; readonly lines: readonly [LineEdit, ...LineEdit[]] };

export interface EditFilesRequest {
  readonly verb: "edit-files";
  /** All or none. */
  readonly files: readonly [EditedFile, ...EditedFile[]];
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
  /** In the `*** Begin Patch` form, or a unified diff. */
  readonly patchText: string;
  readonly profile: Profile;
}

/** The tools for whole files and folders, which operators switch on one by one. */
export const fileTools = ["delete", "move", "copy", "make-folder"] as const;
export type FileTool = (typeof fileTools)[number];

/** Deletes a file, a symlink as such, or a folder with all its content. */
export interface DeleteRequest {
  readonly verb: "delete";
  readonly path: string;
  readonly profile: Profile;
}

/** Moves a file, a symlink, or a folder with all its content. The new path must be free. */
export interface MoveRequest {
  readonly verb: "move";
  readonly path: string;
  readonly to: string;
  readonly profile: Profile;
}

/** The same; the old one stays. */
export interface CopyRequest {
  readonly verb: "copy";
  readonly path: string;
  readonly to: string;
  readonly profile: Profile;
}

export interface MakeFolderRequest {
  readonly verb: "make-folder";
  readonly path: string;
  readonly profile: Profile;
}

export type ChangeNote =
  /** The file had several hard links; the other names keep the old content. */
  | { readonly note: "links separated" }
  /** The folder does not allow files to be replaced, so the file was written in place. */
  | { readonly note: "in place" }
  /** The new content is written, but the system could not confirm that it is durable. */
  | { readonly note: "unconfirmed"; readonly errno: string }
  /** Another program changed the file since it was read; those changes are kept. `lines`: where, as numbered before this change. */
  | { readonly note: "other changes"; readonly lines?: readonly LineSpan[] }
  /** Another program deleted the file after it was read; this call created it again. */
  | { readonly note: "was deleted" }
  /** So many of the replaced places the session had not been shown. */
  | { readonly note: "places not shown"; readonly places: number; readonly of: number }
  /** The written content has other line endings than the file had. */
  | { readonly note: "line ends"; readonly before: LineEndName; readonly after: LineEndName }
  /** Some metadata of the file could not be kept; `detail` says which. */
  | { readonly note: "metadata"; readonly detail: string }
  /**
   * Something is not in the history; `why` says why. Without the old content the change cannot be undone, without its
   * record undo does not know of it, and without the new content it can be undone but not shown.
   */
  | { readonly note: "not kept"; readonly what: "old content" | "record" | "new content"; readonly why: string }
  /** The host's formatter changed the written content; `hunks` is empty if that is too much to show. */
  | {
      readonly note: "reformatted";
      readonly additions: number;
      readonly deletions: number;
      readonly hunks: readonly Hunk[];
    }
  | { readonly note: "formatter failed"; readonly why: string }
  /** A person accepted only some hunks. `now`: the lines of the refused ones, which are as before; empty if they are too many. */
  | ({ readonly note: "part"; readonly now: readonly Hunk[] } & PartAccepted)
  /** The file became executable, or is no longer. */
  | { readonly note: "mode"; readonly executable: boolean }
  | { readonly note: "same content" };

/** The hunks of one file that a person accepted and refused. */
export interface PartAccepted {
  readonly accepted: readonly HunkLines[];
  readonly refused: readonly HunkLines[];
  /** The diff was too long to be shown whole; what was not shown was not accepted. */
  readonly notShown?: true;
}

/** A hunk of the question's diff, counted from 0, and its changed lines as they are numbered now; `to` is less than `from` if there are none. */
export interface HunkLines {
  readonly hunk: number;
  readonly from: number;
  readonly to: number;
}

export type LineEndName = "LF" | "CRLF" | "CR" | "mixed";

export interface ChangedFile {
  /** Under its current name. */
  readonly target: Target;
  readonly did: "created" | "updated" | "deleted" | "moved";
  readonly movedFrom?: Target;
  readonly hunks: readonly Hunk[];
  readonly additions: number;
  readonly deletions: number;
  /** False if the diff was too long and `hunks` is only a part of it. */
  readonly diffComplete: boolean;
  /** The old content was too large or binary: there is no diff, and no lines were counted. */
  readonly uncounted?: true;
  /** The old content; undefined for a new file, and if it was too large to load. */
  readonly before: string | undefined;
  readonly notes: readonly ChangeNote[];
  /** If a language server handles the file. */
  readonly diagnostics?: DiagnosticsReport;
}

export interface EditFound {
  readonly matchedBy: MatchedBy;
  readonly replacements: number;
  /** The first line that it changed, as numbered now. */
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
    /** Of code its language, of other cells the type. */
    readonly language: string;
    readonly oldSource: string | undefined;
  };
  readonly source: string;
  readonly cellsTotal: number;
  /** The outputs of the old source were removed. */
  readonly cleared: boolean;
  /** Later cells have no id of their own, so their generated ids have changed. */
  readonly renumbered: boolean;
  readonly dryRun: boolean;
}

export interface PatchOutcome {
  readonly kind: "patch";
  /** The first file's, or the folder's. */
  readonly target: Target;
  /** Empty only for a folder without files. */
  readonly files: readonly ChangedFile[];
  readonly matchedBy: MatchedBy;
  /** Set if something was deleted, moved, copied or made as a whole. `files` then lists only the first of its files. */
  readonly tree?: TreeChange;
  /** Set if a language server provided the edits, for a rename. */
  readonly renamed?: Renamed;
  /** Files whose change a person refused while accepting others: they are as before. */
  readonly refused?: readonly Target[];
  readonly dryRun: boolean;
}

export interface TreeChange {
  readonly did: "deleted" | "moved" | "copied" | "made";
  readonly is: "file" | "link" | "folder";
  /** Where it was; of a copy its source. */
  readonly from?: Target;
  readonly size: TreeSize;
  /** Folders above it that were missing and were made. */
  readonly foldersMade: readonly string[];
  /** A folder that was to be made was there. */
  readonly wasThere?: true;
  /** Files whose old content is not in the history, so that undo cannot bring them back. */
  readonly notKept: number;
  /** All of it has lost its name, but a part could not be removed from the disk yet. */
  readonly remains?: true;
  readonly imports?: ImportsUpdated;
}

export interface TreeSize {
  readonly files: number;
  readonly links: number;
  /** Without the top itself. */
  readonly folders: number;
  readonly bytes: number;
}

/** What a language server did about the paths of imports that a move changes; `why` if they were left as they were. */
export type ImportsUpdated =
  | { readonly server: string; readonly files: number; readonly why?: undefined }
  | { readonly server: string; readonly why: string };

export interface Renamed {
  readonly from: string;
  readonly to: string;
  readonly places: number;
  readonly server: string;
}

export type ChangeOutcome = EditOutcome | WriteOutcome | NotebookEditOutcome | PatchOutcome;

/**
 * Runs after a tool changed a file and before the tool replies. `path` is the real path, `content` what the tool wrote; undefined
 * if that is no text or too large. The formatter returns the new content, or rewrites that file itself, and no other file of
 * the workspace; the file stays locked meanwhile, so it MUST NOT call a tool. The reply reports an exception; the change stays.
 * The signal is aborted when the call is cancelled, or after `formatterMsMax`; then the call does not wait any longer.
 */
export type Formatter = (file: {
  readonly path: string;
  readonly content: Buffer | undefined;
  readonly signal: AbortSignal;
}) => Formatted | Promise<Formatted>;

/** Nothing, if the file stays as it is or the formatter wrote it. */
type Formatted = Uint8Array | string | undefined | void;

/**
 * Formatters that are programs: a command line by glob, such as `"*.ts": "biome format --stdin-file-path {file}"`. The first glob
 * that matches counts; without a slash it is about names, with one about paths below the root. The program gets the content
 * on standard input and prints the formatted one. It is run without a shell, in the file's root.
 */
export interface FormatterCommands {
  readonly commands: Readonly<Record<string, string>>;
  /** Roots whose own programs (in `node_modules/.bin`) may be run; by default none, or all if the project is trusted. */
  readonly trustedRoots?: readonly string[];
}
