/** Failures of questions about code: language servers, renames, outlines. A part of the one closed union in problem.ts. */

import type { CodePlaceFault, RenameFault } from "./fault.ts";
import type { ServerRemedy } from "./language.ts";
import type { Place } from "./target.ts";

export type CodeProblem =
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
