/** Answers of Glob, LS and Grep in the `envelope` dialect. */

import type { Reply } from "../../contract/call.ts";
import type { GlobOutcome } from "../../contract/glob.ts";
import type { GrepOutcome } from "../../contract/grep.ts";
import { limits } from "../../contract/limits.ts";
import type { TreeEntry, TreeOutcome } from "../../contract/read.ts";
import { escapeName } from "../../text/text.ts";
import type { Facts } from "../dialect.ts";
import { globNotes, grepNotes, countWords, shownLineText, tallyWords, treeLines, treeNotes } from "../grep-text.ts";
import { counted, spelled } from "../words.ts";
import { type Envelope, envelopeReply, statusOf, took } from "./context.ts";
import { names } from "./problems.ts";

export type GlobEnvelope = Envelope<
  {
    /** Newest first; relative to the project root, or absolute where that would mean another file. */
    readonly files: readonly string[];
    readonly truncated: boolean;
  },
  {
    readonly files_shown: number;
    readonly total_matches: number;
    /** False if the search was stopped; the number is then a minimum. */
    readonly count_is_complete: boolean;
    readonly ignored_matches: number;
    readonly hidden_matches: number;
    /** False if counting those two stopped early. */
    readonly left_out_is_complete: boolean;
    readonly matches_hidden_by_rules: number;
    readonly folders_hidden_by_rules: number;
    readonly unreadable_folders: number;
  }
>;

export type LsEnvelope = Envelope<
  { readonly entries: readonly TreeEntry[]; readonly truncated: boolean },
  {
    readonly entries_read: number;
    readonly total_entries: number;
    readonly entries_left_out: number;
    readonly entries_ignored: number;
    readonly entries_hidden_by_rules: number;
  }
>;

export function renderGlob(outcome: GlobOutcome, facts: Facts): Reply<GlobEnvelope> {
  const { files, total, ignored, hidden } = outcome;
  const truncated = files.length < total.count || total.counted !== "all";
  const paths = files.map(({ absolute }) => facts.spell(absolute));
  return envelopeReply(facts, {
    status: statusOf(truncated),
    data: { files: paths, truncated },
    text: [
      `Found ${countWords(total)} ${total.count === 1 ? "file" : "files"} matching '${escapeName(outcome.pattern)}'.`,
      took(facts),
      ...globNotes(outcome, facts.spell).map((note) => `[${note}.]`),
    ],
    stats: {
      files_shown: files.length,
      total_matches: total.count,
      count_is_complete: total.counted === "all",
      ignored_matches: ignored.count,
      hidden_matches: hidden.count,
      left_out_is_complete: ignored.counted === "all" && hidden.counted === "all",
      matches_hidden_by_rules: outcome.hiddenByRules,
      folders_hidden_by_rules: outcome.foldersHiddenByRules,
      unreadable_folders: outcome.unreadableFolders,
    },
    resolved: outcome.target.realRelative,
    body: paths.map(escapeName).join("\n"),
  });
}

export function renderTree(outcome: TreeOutcome, facts: Facts): Reply<LsEnvelope> {
  const { target, entries, entriesTotal, shown, leftOut } = outcome;
  return envelopeReply(facts, {
    status: statusOf(leftOut > 0),
    data: { entries, truncated: leftOut > 0 },
    text: [
      `Listed ${counted(shown, "entry", "entries")} of '${escapeName(target.asked)}'.`,
      took(facts),
      ...treeNotes(outcome, (from) => `use offset=${from} to continue`).map((note) => `[${note}.]`),
    ],
    stats: {
      entries_read: shown,
      total_entries: entriesTotal,
      entries_left_out: leftOut,
      entries_ignored: outcome.ignored,
      entries_hidden_by_rules: outcome.hiddenByRules,
    },
    resolved: target.realRelative,
    body: treeLines(entries, "", "").join("\n"),
  });
}

export type GrepEnvelope = Envelope<
  {
    /** In `content`: the lines. */
    readonly matches?: readonly {
      readonly path: string;
      readonly line: number;
      readonly text: string;
      /** Present for a line of context. */
      readonly context?: true;
      /** Present for a line that is cut. */
      readonly cut?: true;
    }[];
    /** In `files_with_matches`. */
    readonly files?: readonly string[];
    /** In `count`: matching lines. */
    readonly counts?: readonly { readonly path: string; readonly count: number }[];
    readonly truncated: boolean;
    /** Where to go on, if there is more. */
    readonly next_offset?: number;
  },
  {
    readonly files_matched: number;
    /** Matching lines; not counted in `files_with_matches`. */
    readonly lines_matched?: number;
    /** False if counting stopped before the search ended; these are then minimums. */
    readonly count_complete: boolean;
    readonly entries_shown: number;
    readonly entries_total: number;
    readonly files_hidden_by_rules: number;
    /** Symlinks to places outside the searched folder, which are not followed. */
    readonly links_skipped: number;
    readonly files_unreadable: number;
    readonly files_ignored: number;
  }
>;

export function renderGrep(outcome: GrepOutcome, facts: Facts): Reply<GrepEnvelope> {
  const { filesTotal, linesTotal, entriesTotal, next } = outcome;
  const truncated = outcome.stopped !== "end" || outcome.timedOutMs !== undefined;
  const notes = grepNotes(outcome, names).map((note) => `[${note}.]`);
  return envelopeReply(facts, {
    status: statusOf(truncated || outcome.unshown > 0 || outcome.unreadable.number > 0),
    data: {
      ...dataOf(outcome, facts),
      truncated,
      ...(next === undefined || next > limits.searchSkipMax ? {} : { next_offset: next }),
    },
    text: [`${headOf(outcome)} ${took(facts)}`, ...notes],
    stats: {
      files_matched: filesTotal.number,
      ...(linesTotal === undefined ? {} : { lines_matched: linesTotal.number }),
      count_complete: entriesTotal.counted === "all" && filesTotal.counted === "all",
      entries_shown: outcome.entriesShown,
      entries_total: entriesTotal.number,
      files_hidden_by_rules: outcome.hiddenByRules.number,
      links_skipped: outcome.links.number,
      files_unreadable: outcome.unreadable.number,
      files_ignored: outcome.ignored.number,
    },
    resolved: outcome.target.realRelative,
    body: bodyOf(outcome, facts),
  });
}

function headOf({ pattern, mode, filesTotal, linesTotal }: GrepOutcome): string {
  const wanted = `'${spelled(pattern)}'`;
  if (filesTotal.number === 0) return `No matches for ${wanted}.`;
  const files = tallyWords(filesTotal, "file");
  return mode === "files" || linesTotal === undefined
    ? `Found ${wanted} in ${files}.`
    : `Found ${tallyWords(linesTotal, "line")} with ${wanted} in ${files}.`;
}

function dataOf(
  { mode, files }: GrepOutcome,
  { spell }: Facts,
): Pick<GrepEnvelope["data"], "matches" | "files" | "counts"> {
  switch (mode) {
    case "files":
      return { files: files.map(({ absolute }) => spell(absolute)) };
    case "count":
      return { counts: files.map(({ absolute, count }) => ({ path: spell(absolute), count })) };
    case "content":
      return {
        matches: files.flatMap(({ absolute, lines }) =>
          lines.map((line) => ({
            path: spell(absolute),
            line: line.line,
            text: line.text,
            ...(line.is === "context" ? { context: true as const } : {}),
            ...(line.cutBefore || line.cutBehind ? { cut: true as const } : {}),
          })),
        ),
      };
  }
}

/** A file's name, then its lines as Read shows them; a line of context has a dash in place of the bar. */
function bodyOf({ mode, files, numbers }: GrepOutcome, { spell }: Facts): string {
  return files
    .map(({ absolute, lines, count }) => {
      const name = escapeName(spell(absolute));
      if (mode === "files") return name;
      if (mode === "count") return `${name}: ${count}`;
      const shown = lines.map((line) => {
        const mark = line.is === "match" ? "|" : "-";
        return numbers
          ? `${String(line.line).padStart(4)} ${mark} ${shownLineText(line)}`
          : `${mark} ${shownLineText(line)}`;
      });
      return [`${name}:`, ...shown].join("\n");
    })
    .join("\n");
}
