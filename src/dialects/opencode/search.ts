/** Answers of the search tools in the two opencode dialects. */

import type { Reply } from "../../contract/call.ts";
import type { GlobOutcome } from "../../contract/glob.ts";
import type { GrepFile, GrepOutcome } from "../../contract/grep.ts";
import type { TreeOutcome } from "../../contract/read.ts";
import { escapeName } from "../../text/text.ts";
import { globNotes, grepNotes, shownLineText, tallyWords, treeLines, treeNotes } from "../grep-text.ts";
import { type Names, successReply } from "../words.ts";
import type { GlobInput, LsInput } from "../inputs.ts";
import type { GrepInput } from "./inputs.ts";
import type { Titled } from "./read.ts";

export type SearchResult = Titled<{
  /** Files or entries that are shown. */
  readonly count: number;
  readonly truncated: boolean;
  /** Of `glob`: all matching files; a minimum if `complete` is false. */
  readonly total?: number;
  readonly complete?: boolean;
}>;

export interface SearchTools {
  readonly glob: { readonly input: GlobInput; readonly output: SearchResult };
  readonly list: { readonly input: LsInput; readonly output: SearchResult };
}

export function renderGlob(outcome: GlobOutcome): Reply<SearchResult> {
  const { files, total, target } = outcome;
  const names = files.map(({ absolute }) => escapeName(absolute));
  const notes = globNotes(outcome).map((note) => `(${note})`);
  const output = [
    ...(files.length === 0 ? ["No files found"] : names),
    ...(notes.length > 0 && files.length > 0 ? [""] : []),
    ...notes,
  ].join("\n");
  const metadata = {
    count: files.length,
    truncated: files.length < total.count || total.counted !== "all",
    total: total.count,
    complete: total.counted === "all",
  };
  return successReply(output, { title: escapeName(target.relative), output, metadata });
}

export function renderTree(outcome: TreeOutcome): Reply<SearchResult> {
  const { target, entries, shown, leftOut, ignored, hiddenByRules } = outcome;
  const notes = treeNotes(outcome, (from) => `use 'offset' ${from} to go on`).map((note) => `(${note})`);
  const none = ignored + hiddenByRules > 0 ? "(0 entries shown)" : "(0 entries)";
  const lines = entries.length === 0 ? [none] : treeLines(entries, "");
  const head = `${escapeName(target.absolute)}/`;
  const output = [head, ...lines, ...(notes.length > 0 ? [""] : []), ...notes].join("\n");
  return successReply(output, {
    title: escapeName(target.relative),
    output,
    metadata: { count: shown, truncated: leftOut > 0 },
  });
}

export type GrepResult = Titled<{
  /** Matching lines, of all files. */
  readonly matches: number;
  readonly truncated: boolean;
  /** False if counting stopped before the search ended. */
  readonly countIsComplete: boolean;
  /** Files that were not searched because rules hide them. */
  readonly hiddenByRules: number;
}>;

export interface GrepTools {
  readonly grep: { readonly input: GrepInput; readonly output: GrepResult };
}

export function renderGrep(outcome: GrepOutcome, names: Names): Reply<GrepResult> {
  const notes = grepNotes(outcome, names).map((note) => `(${note})`);
  const output = [headOf(outcome), ...outcome.files.map((file) => blockOf(file, outcome)), notes.join("\n")]
    .filter((part) => part !== "")
    .join("\n\n");
  const { linesTotal, filesTotal, hiddenByRules } = outcome;
  return successReply(output, {
    title: escapeName(outcome.pattern),
    output,
    metadata: {
      matches: linesTotal?.number ?? filesTotal.number,
      truncated: outcome.stopped !== "end" || outcome.timedOutMs !== undefined,
      countIsComplete: outcome.entriesTotal.counted === "all" && filesTotal.counted === "all",
      hiddenByRules: hiddenByRules.number,
    },
  });
}

function headOf({ linesTotal, filesTotal }: GrepOutcome): string {
  if (filesTotal.number === 0) return "No files found";
  return `Found ${linesTotal === undefined ? tallyWords(filesTotal, "file") : tallyWords(linesTotal, "match", "matches")}`;
}

/** This dialect's tool shows lines; only a host gets files or counts, by its own request. */
function blockOf(file: GrepFile, { mode }: GrepOutcome): string {
  const path = escapeName(file.absolute);
  if (mode === "files") return path;
  if (mode === "count") return `${path}: ${file.count}`;
  const lines = file.lines.map(
    (line) => `  Line ${line.line}${line.is === "match" ? ":" : "-"} ${shownLineText(line)}`,
  );
  return [`${path}:`, ...lines].join("\n");
}
