/** Answers to `Grep` in the `envelope` dialect. */

import type { Reply } from "../../contract/call.ts";
import type { GrepOutcome } from "../../contract/grep.ts";
import { limits } from "../../contract/limits.ts";
import { escapeName } from "../../text/escape.ts";
import type { Facts } from "../dialect.ts";
import { grepNotes, shownText, tallied } from "../grep-text.ts";
import { spelled } from "../words.ts";
import { type Context, contextOf, wholeMs } from "./context.ts";
import { grepNames } from "./grep-card.ts";

export interface GrepEnvelope {
  readonly status: "success" | "partial";
  readonly data: {
    /** In `content`: the lines. */
    readonly matches?: readonly {
      readonly path: string;
      readonly line: number;
      readonly text: string;
      /** Present for a line that only surrounds a match. */
      readonly context?: true;
      /** Present for a line of which only a part is here. */
      readonly cut?: true;
    }[];
    /** In `files_with_matches`. */
    readonly files?: readonly string[];
    /** In `count`: matching lines. */
    readonly counts?: readonly { readonly path: string; readonly count: number }[];
    readonly truncated: boolean;
    /** Where to go on, if there is more. */
    readonly next_offset?: number;
  };
  readonly text: string;
  readonly stats: {
    readonly time_ms: number;
    readonly files_matched: number;
    /** Matching lines; not counted in `files_with_matches`. */
    readonly lines_matched?: number;
    /** False: counting ended before the search did, so these are floors. */
    readonly count_complete: boolean;
    readonly entries_shown: number;
    readonly entries_total: number;
    readonly files_withheld: number;
    /** Links that were not followed, to what lies elsewhere. */
    readonly links_skipped: number;
    readonly files_unreadable: number;
    readonly files_ignored: number;
  };
  readonly context: Context;
}

export function renderGrep(outcome: GrepOutcome, facts: Facts): Reply<GrepEnvelope> {
  const { filesTotal, linesTotal, entriesTotal, next } = outcome;
  const partial =
    outcome.stopped !== "end" ||
    outcome.timedOutMs !== undefined ||
    outcome.unshown > 0 ||
    outcome.unreadable.number > 0;
  const notes = grepNotes(outcome, grepNames).map((note) => `[${note}.]`);
  const text = [`${headOf(outcome)} (Took ${wholeMs(facts)}ms)`, ...notes].join("\n");
  const envelope: GrepEnvelope = {
    status: partial ? "partial" : "success",
    data: {
      ...dataOf(outcome, facts),
      truncated: outcome.stopped !== "end" || outcome.timedOutMs !== undefined,
      ...(next === undefined || next > limits.searchSkipMax ? {} : { next_offset: next }),
    },
    text,
    stats: {
      time_ms: wholeMs(facts),
      files_matched: filesTotal.number,
      ...(linesTotal === undefined ? {} : { lines_matched: linesTotal.number }),
      count_complete: entriesTotal.counted === "all" && filesTotal.counted === "all",
      entries_shown: outcome.entriesShown,
      entries_total: entriesTotal.number,
      files_withheld: outcome.withheld.number,
      links_skipped: outcome.links.number,
      files_unreadable: outcome.unreadable.number,
      files_ignored: outcome.ignored.number,
    },
    context: contextOf(facts, outcome.target.realRelative),
  };
  const body = bodyOf(outcome, facts);
  return {
    content: [{ type: "text", text: body === "" ? text : `${text}\n\n${body}` }],
    structured: envelope,
    isError: false,
  };
}

function headOf({ pattern, mode, filesTotal, linesTotal }: GrepOutcome): string {
  const wanted = `'${spelled(pattern)}'`;
  if (filesTotal.number === 0) return `No matches for ${wanted}.`;
  const files = tallied(filesTotal, "file");
  return mode === "files" || linesTotal === undefined
    ? `Found ${wanted} in ${files}.`
    : `Found ${tallied(linesTotal, "line")} with ${wanted} in ${files}.`;
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
        return numbers ? `${String(line.line).padStart(4)} ${mark} ${shownText(line)}` : `${mark} ${shownText(line)}`;
      });
      return [`${name}:`, ...shown].join("\n");
    })
    .join("\n");
}
