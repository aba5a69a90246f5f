/** What a host hears of a session's work, such as to bring an editor up to date. */

import type { DiagnosticsReport } from "./language.ts";

/** A file that a call has just changed. */
export interface FileChanged {
  /** Real and absolute; of a moved file where it is now. */
  readonly path: string;
  readonly did: "created" | "updated" | "deleted" | "moved";
  readonly movedFrom?: string;
  /** The session's id. */
  readonly session: string;
  /** What language servers say of it, if one is in charge of it. */
  readonly diagnostics?: DiagnosticsReport;
}

/** Called when the change is made and before it is answered. What it throws is lost: the change stays made. */
export type ChangeListener = (change: FileChanged) => void;
