/** The tree of files, and why one may or may not be read. */

import type { Explanation } from "../permission.ts";
import type { EntryKind } from "../read.ts";

/**
 * `POST /api/w/<name>/folder`: the entries of one folder, folders first, by name. `path`: absolute, one of the roots or
 * below. A denied entry is named, with its mark, and never opened: of a denied folder nothing is told.
 */
export interface FolderAsked {
  readonly path: string;
  /** The first entry to tell, 0 by default; and how many, 1 to 1,000, 200 by default. */
  readonly from?: number;
  readonly max?: number;
}
export interface FolderView {
  readonly path: string;
  readonly relative: string;
  readonly entries: readonly FileEntry[];
  readonly total: number;
  readonly next: number | null;
}
export interface FileEntry {
  readonly name: string;
  readonly path: string;
  readonly relative: string;
  readonly kind: EntryKind;
  readonly sizeBytes: number | null;
  /** What the rules say, before anybody is asked. */
  readonly read: "allow" | "ask" | "deny";
  readonly edit: "allow" | "ask" | "deny";
  /** Did a call of a session that is watched here read it, or change it? Of a folder: how many files below. */
  readonly wasRead: number;
  readonly wasChanged: number;
}

/** `POST /api/w/<name>/explain`: why it may, or may not, be read and edited. `session`: with what a person allowed there. */
export interface ExplainAsked {
  readonly path: string;
  readonly session?: string;
}
export interface Explained {
  readonly read: ExplanationView;
  readonly edit: ExplanationView;
}
/** As `permissions.explain` of the library has it, and as a few sentences. */
export interface ExplanationView {
  readonly explanation: Explanation;
  readonly lines: readonly string[];
}
