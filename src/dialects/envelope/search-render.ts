/** What was found by name, in the envelopes of the `envelope` dialect. */

import type { Reply } from "../../contract/call.ts";
import type { GlobOutcome } from "../../contract/glob.ts";
import type { TreeEntry, TreeOutcome } from "../../contract/read.ts";
import { escapeName } from "../../text/escape.ts";
import type { Facts } from "../dialect.ts";
import { globNotes, numberOf } from "../glob-words.ts";
import { treeLines, treeNotes } from "../tree-text.ts";
import { counted } from "../words.ts";
import { type Context, contextOf, wholeMs } from "./context.ts";

export interface GlobEnvelope {
  readonly status: "success" | "partial";
  readonly data: {
    /** Newest first; relative to the project root, or absolute where that would mean another file. */
    readonly files: readonly string[];
    readonly truncated: boolean;
  };
  readonly text: string;
  readonly stats: {
    readonly time_ms: number;
    readonly files_shown: number;
    readonly total_matches: number;
    /** False if the search was stopped: then there are at least so many. */
    readonly count_is_complete: boolean;
    readonly ignored_matches: number;
    readonly hidden_matches: number;
    /** False if counting those two stopped early. */
    readonly left_out_is_complete: boolean;
    readonly withheld_matches: number;
    readonly withheld_folders: number;
    readonly unreadable_folders: number;
  };
  readonly context: Context;
}

export interface LsEnvelope {
  readonly status: "success" | "partial";
  readonly data: { readonly entries: readonly TreeEntry[]; readonly truncated: boolean };
  readonly text: string;
  readonly stats: {
    readonly time_ms: number;
    readonly entries_read: number;
    readonly total_entries: number;
    readonly entries_left_out: number;
    readonly entries_ignored: number;
    readonly entries_withheld: number;
  };
  readonly context: Context;
}

export function renderGlob(outcome: GlobOutcome, facts: Facts): Reply<GlobEnvelope> {
  const { files, total, ignored, hidden } = outcome;
  const truncated = files.length < total.count || total.counted !== "all";
  const names = files.map(({ absolute }) => facts.spell(absolute));
  const pattern = escapeName(outcome.pattern);
  const text = [
    `Found ${numberOf(total)} ${total.count === 1 ? "file" : "files"} matching '${pattern}'.`,
    `(Took ${wholeMs(facts)}ms)`,
    ...globNotes(outcome, ({ absolute }) => facts.spell(absolute)).map((note) => `[${note}.]`),
  ].join("\n");
  const envelope: GlobEnvelope = {
    status: truncated ? "partial" : "success",
    data: { files: names, truncated },
    text,
    stats: {
      time_ms: wholeMs(facts),
      files_shown: files.length,
      total_matches: total.count,
      count_is_complete: total.counted === "all",
      ignored_matches: ignored.count,
      hidden_matches: hidden.count,
      left_out_is_complete: ignored.counted === "all" && hidden.counted === "all",
      withheld_matches: outcome.withheld,
      withheld_folders: outcome.withheldFolders,
      unreadable_folders: outcome.unreadableFolders,
    },
    context: contextOf(facts, outcome.target.realRelative),
  };
  return replyOf(envelope, names.map(escapeName).join("\n"));
}

export function renderTree(outcome: TreeOutcome, facts: Facts): Reply<LsEnvelope> {
  const { target, entries, entriesTotal, shown, leftOut } = outcome;
  const text = [
    `Listed ${counted(shown, "entry", "entries")} of '${escapeName(target.asked)}'.`,
    `(Took ${wholeMs(facts)}ms)`,
    ...treeNotes(outcome, (from) => `use offset=${from} to continue`).map((note) => `[${note}.]`),
  ].join("\n");
  const envelope: LsEnvelope = {
    status: leftOut > 0 ? "partial" : "success",
    data: { entries, truncated: leftOut > 0 },
    text,
    stats: {
      time_ms: wholeMs(facts),
      entries_read: shown,
      total_entries: entriesTotal,
      entries_left_out: leftOut,
      entries_ignored: outcome.ignored,
      entries_withheld: outcome.withheld,
    },
    context: contextOf(facts, target.realRelative),
  };
  return replyOf(envelope, treeLines(entries, "", "").join("\n"));
}

const replyOf = <Envelope extends { readonly text: string }>(envelope: Envelope, body: string): Reply<Envelope> => ({
  content: [{ type: "text", text: body === "" ? envelope.text : `${envelope.text}\n\n${body}` }],
  structured: envelope,
  isError: false,
});
