/** The verb `glob`: request and outcome. */

import type { Suggestion } from "./problem.ts";
import type { Place, Target } from "./target.ts";

export interface GlobRequest {
  readonly verb: "glob";
  readonly pattern: string;
  /** Where to search; by default the working directory and all other roots. */
  readonly path: string | undefined;
  readonly filesMax: number;
}

export interface GlobFile {
  readonly absolute: string;
  readonly mtimeMs: number | undefined;
  /** A symlink; `mtimeMs` is its own. */
  readonly link: boolean;
}

/** `at least`: counting stopped early. */
export interface Counted {
  readonly count: number;
  readonly counted: "all" | "at least";
}

export interface GlobOutcome {
  readonly kind: "glob";
  /** The searched folder, or the first of several. */
  readonly target: Target;
  readonly pattern: string;
  /** Newest first, then by path. */
  readonly files: readonly GlobFile[];
  readonly total: Counted;
  readonly ignored: Counted;
  readonly hidden: Counted;
  readonly hiddenByRules: number;
  readonly foldersHiddenByRules: number;
  readonly unreadableFolders: number;
  /** Folders that were not searched because their names are not UTF-8. */
  readonly unnamedFolders: number;
  /** Matching folders, and matching links to folders; neither are files. */
  readonly folders: number;
  readonly linkedFolders: number;
  /** Set if the search was stopped by the time limit. */
  readonly stoppedAfterMs: number | undefined;
  /** The folder that the pattern begins with does not exist. */
  readonly missing: { readonly place: Place; readonly suggestions: readonly Suggestion[] } | undefined;
}
