/** What was found by name, in the words of the `claude` dialect. */

import type { Reply } from "../../contract/call.ts";
import type { GlobOutcome } from "../../contract/glob.ts";
import type { TreeEntry, TreeOutcome } from "../../contract/read.ts";
import { escapeName } from "../../text/escape.ts";
import type { Facts } from "../dialect.ts";
import { globNotes } from "../glob-words.ts";
import { success } from "../replies.ts";
import { treeLines, treeNotes } from "../tree-text.ts";

/** What `Glob` answers for programs. */
export interface GlobResult {
  /** Absolute, newest first. */
  readonly filenames: readonly string[];
  readonly numFiles: number;
  /** Are there more than are named? */
  readonly truncated: boolean;
  readonly totalMatches: number;
  /** False if the search was stopped: then there are at least so many. */
  readonly countIsComplete: boolean;
  readonly durationMs: number;
  /** Present where files match that are left out; floors where `leftOutIsComplete` is false. */
  readonly ignoredMatches?: number;
  readonly hiddenMatches?: number;
  readonly leftOutIsComplete?: false;
  /** Present where permission rules withhold files or folders. */
  readonly withheldMatches?: number;
  readonly withheldFolders?: number;
  readonly unreadableFolders?: number;
}

/** What `LS` answers for programs. */
export interface LsResult {
  readonly type: "directory";
  readonly path: string;
  readonly entries: readonly TreeEntry[];
  readonly totalEntries: number;
  /** The entry to go on with, if there is another page. */
  readonly nextOffset?: number;
  /** Of all levels: entries for which there was no room. */
  readonly leftOut?: number;
  readonly ignored?: number;
  readonly withheld?: number;
}

export function renderGlob(outcome: GlobOutcome, facts: Facts): Reply<GlobResult> {
  const { files, total, ignored, hidden } = outcome;
  const names = files.map(({ absolute }) => escapeName(absolute));
  const notes = globNotes(outcome).map((note) => `[${note}]`);
  const head = files.length === 0 ? ["No files found"] : names;
  const complete = [ignored, hidden].every(({ counted }) => counted === "all");
  return success([...head, ...notes].join("\n"), {
    filenames: files.map(({ absolute }) => absolute),
    numFiles: files.length,
    truncated: files.length < total.count || total.counted !== "all",
    totalMatches: total.count,
    countIsComplete: total.counted === "all",
    durationMs: Math.round(facts.elapsedMs),
    ...(ignored.count > 0 ? { ignoredMatches: ignored.count } : {}),
    ...(hidden.count > 0 ? { hiddenMatches: hidden.count } : {}),
    ...(complete ? {} : { leftOutIsComplete: false as const }),
    ...(outcome.withheld > 0 ? { withheldMatches: outcome.withheld } : {}),
    ...(outcome.withheldFolders > 0 ? { withheldFolders: outcome.withheldFolders } : {}),
    ...(outcome.unreadableFolders > 0 ? { unreadableFolders: outcome.unreadableFolders } : {}),
  });
}

export function renderTree(outcome: TreeOutcome): Reply<LsResult> {
  const { target, entries, entriesTotal, next, leftOut, ignored, withheld } = outcome;
  const notes = treeNotes(outcome, (from) => `go on with offset ${from}`).map((note) => `[${note}]`);
  const isEmpty = entriesTotal + ignored + withheld === 0;
  const lines = isEmpty ? ["[The folder is empty]"] : treeLines(entries, "- ");
  return success([`${escapeName(target.absolute)}/`, ...lines, ...notes].join("\n"), {
    type: "directory",
    path: target.absolute,
    entries,
    totalEntries: entriesTotal,
    ...(next === undefined ? {} : { nextOffset: next }),
    ...(leftOut > 0 ? { leftOut } : {}),
    ...(ignored > 0 ? { ignored } : {}),
    ...(withheld > 0 ? { withheld } : {}),
  });
}
