/** The verb `glob`: what is asked, what comes out. */

import type { Suggestion } from "./problem.ts";
import type { Place, Target } from "./target.ts";

export interface GlobRequest {
  readonly verb: "glob";
  readonly pattern: string;
  /** Where to search; by default where relative paths start, and in all other roots. */
  readonly path: string | undefined;
  readonly filesMax: number;
}

export interface GlobFile {
  readonly absolute: string;
  readonly mtimeMs: number | undefined;
  /** It is a link, and its time is its own. */
  readonly link: boolean;
}

/** `at least`: counting stopped early. */
export interface Counted {
  readonly count: number;
  readonly counted: "all" | "at least";
}

export interface GlobOutcome {
  readonly kind: "glob";
  /** The folder that was searched, or the first of several. */
  readonly target: Target;
  readonly pattern: string;
  /** Newest first; of the same time, by path. */
  readonly files: readonly GlobFile[];
  readonly total: Counted;
  /** Files that match too and are left out. */
  readonly ignored: Counted;
  readonly hidden: Counted;
  /** Files and folders that permission rules withhold. */
  readonly withheld: number;
  readonly withheldFolders: number;
  readonly unreadableFolders: number;
  /** Folders that were not searched because their names are not UTF-8. */
  readonly unnamedFolders: number;
  /** Folders that match, and links to folders; neither are files. */
  readonly folders: number;
  readonly linkedFolders: number;
  /** The search was stopped after this long; undefined: it came to its end. */
  readonly stoppedAfterMs: number | undefined;
  /** The folder that the pattern begins with does not exist. */
  readonly missing: { readonly place: Place; readonly suggestions: readonly Suggestion[] } | undefined;
}
