/** Answers of Glob, LS and Grep in the `claude` dialect. */

import type { Reply } from "../../contract/call.ts";
import type { GlobOutcome } from "../../contract/glob.ts";
import type { GrepLine, GrepOutcome } from "../../contract/grep.ts";
import type { TreeEntry, TreeOutcome } from "../../contract/read.ts";
import { escapeName } from "../../text/text.ts";
import type { Facts } from "../dialect.ts";
import { globNotes, grepBody, grepHead, grepNotes, treeLines, treeNotes } from "../grep-text.ts";
import { plainNames, successReply } from "../words.ts";
import type { OutputMode } from "../shared-tools.ts";

/** What `Glob` answers for programs. */
export interface GlobResult {
  /** Absolute, newest first. */
  readonly filenames: readonly string[];
  readonly numFiles: number;
  /** Whether there are more files than the answer lists. */
  readonly truncated: boolean;
  readonly totalMatches: number;
  /** False if the search was stopped; the number is then a minimum. */
  readonly countIsComplete: boolean;
  readonly durationMs: number;
  /** Present if matching files are left out; minimums if `leftOutIsComplete` is false. */
  readonly ignoredMatches?: number;
  readonly hiddenMatches?: number;
  readonly leftOutIsComplete?: false;
  /** Present if permission rules hide files or folders. */
  readonly matchesHiddenByRules?: number;
  readonly foldersHiddenByRules?: number;
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
  /** Entries of all levels that did not fit. */
  readonly leftOut?: number;
  readonly ignored?: number;
  readonly hiddenByRules?: number;
}

export function renderGlob(outcome: GlobOutcome, facts: Facts): Reply<GlobResult> {
  const { files, total, ignored, hidden } = outcome;
  const names = files.map(({ absolute }) => escapeName(absolute));
  const notes = globNotes(outcome).map((note) => `[${note}]`);
  const head = files.length === 0 ? ["No files found"] : names;
  const complete = [ignored, hidden].every(({ counted }) => counted === "all");
  return successReply([...head, ...notes].join("\n"), {
    filenames: files.map(({ absolute }) => absolute),
    numFiles: files.length,
    truncated: files.length < total.count || total.counted !== "all",
    totalMatches: total.count,
    countIsComplete: total.counted === "all",
    durationMs: Math.round(facts.elapsedMs),
    ...(ignored.count > 0 ? { ignoredMatches: ignored.count } : {}),
    ...(hidden.count > 0 ? { hiddenMatches: hidden.count } : {}),
    ...(complete ? {} : { leftOutIsComplete: false as const }),
    ...(outcome.hiddenByRules > 0 ? { matchesHiddenByRules: outcome.hiddenByRules } : {}),
    ...(outcome.foldersHiddenByRules > 0 ? { foldersHiddenByRules: outcome.foldersHiddenByRules } : {}),
    ...(outcome.unreadableFolders > 0 ? { unreadableFolders: outcome.unreadableFolders } : {}),
  });
}

export function renderTree(outcome: TreeOutcome): Reply<LsResult> {
  const { target, entries, entriesTotal, next, leftOut, ignored, hiddenByRules } = outcome;
  const notes = treeNotes(outcome, (from) => `go on with offset ${from}`).map((note) => `[${note}]`);
  const isEmpty = entriesTotal + ignored + hiddenByRules === 0;
  const lines = isEmpty ? ["[The folder is empty]"] : treeLines(entries, "- ");
  return successReply([`${escapeName(target.absolute)}/`, ...lines, ...notes].join("\n"), {
    type: "directory",
    path: target.absolute,
    entries,
    totalEntries: entriesTotal,
    ...(next === undefined ? {} : { nextOffset: next }),
    ...(leftOut > 0 ? { leftOut } : {}),
    ...(ignored > 0 ? { ignored } : {}),
    ...(hiddenByRules > 0 ? { hiddenByRules } : {}),
  });
}

// Answers to `Grep` in the `claude` dialect: lines as ripgrep prints them, and the numbers for programs.

/** What `Grep` answers for programs. */
export interface GrepResult {
  readonly mode: OutputMode;
  /** Files of this answer, and all that match. */
  readonly numFiles: number;
  readonly filenames: readonly string[];
  readonly totalFiles: number;
  /** False if counting stopped before the search ended; the totals are then minimums. */
  readonly countIsComplete: boolean;
  /** In `content`: the lines as the model sees them, how many are shown, and how many there are. */
  readonly content?: string;
  readonly numLines?: number;
  readonly totalLines?: number;
  /** Matching lines of all files, in `content` and `count`. */
  readonly numMatches?: number;
  /** The same lines one by one, with the positions of their matches; only for hosts that request them. */
  readonly lines?: readonly (GrepLine & { readonly file: string })[];
  /** In `count`: matching lines of each of `filenames`. */
  readonly counts?: readonly number[];
  readonly appliedLimit?: number;
  readonly appliedOffset?: number;
  readonly timedOut?: true;
  /** Files that were not searched because rules hide them. */
  readonly filesHiddenByRules?: number;
  /** Symlinks to places outside the searched folder, which are not followed. */
  readonly skippedLinks?: number;
  readonly unreadableFiles?: number;
  /** Files that match but are ignored; looked for only if nothing else matches. */
  readonly ignoredFiles?: number;
}

const modes = { content: "content", files: "files_with_matches", count: "count" } as const;

export function renderGrep(outcome: GrepOutcome, facts: Facts): Reply<GrepResult> {
  const { mode, files, filesTotal, entriesTotal, linesTotal, skip } = outcome;
  const filenames = files.map((file) => facts.spell(file.absolute));
  const body = grepBody(outcome, filenames);
  const notes = grepNotes(outcome, plainNames).map((note) => `[${note}]`);
  const content =
    mode === "content" ? { content: body, numLines: outcome.entriesShown, totalLines: entriesTotal.number } : {};
  return successReply([grepHead(outcome), body, ...notes].filter((part) => part !== "").join("\n"), {
    mode: modes[mode],
    numFiles: files.length,
    filenames,
    totalFiles: filesTotal.number,
    countIsComplete: entriesTotal.counted === "all" && filesTotal.counted === "all",
    ...content,
    ...(files.some((file) => file.lines.some(({ spans }) => spans !== undefined))
      ? { lines: files.flatMap((file, index) => file.lines.map((line) => ({ file: filenames[index] ?? "", ...line }))) }
      : {}),
    ...(linesTotal === undefined ? {} : { numMatches: linesTotal.number }),
    ...(mode === "count" ? { counts: files.map(({ count }) => count) } : {}),
    ...(outcome.next === undefined ? {} : { appliedLimit: outcome.entriesShown }),
    ...(skip === 0 ? {} : { appliedOffset: skip }),
    ...(outcome.timedOutMs === undefined ? {} : { timedOut: true }),
    ...some("filesHiddenByRules", outcome.hiddenByRules.number),
    ...some("skippedLinks", outcome.links.number),
    ...some("unreadableFiles", outcome.unreadable.number),
    ...some("ignoredFiles", outcome.ignored.number),
  });
}

const some = <Name extends string>(name: Name, number: number): { readonly [N in Name]?: number } =>
  number === 0 ? {} : ({ [name]: number } as { readonly [N in Name]: number }); // the one key that is asked for
