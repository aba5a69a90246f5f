/** Answers in the `envelope` dialect: every outcome has the same keys, in the same order. */

import type { Outcome, Reply } from "../../contract/call.ts";
import { limits } from "../../contract/limits.ts";
import type { OutlineOutcome } from "../../contract/outline.ts";
import type { ProblemData } from "../../contract/problem.ts";
import type { Profile } from "../../contract/profile.ts";
import type { DirectoryOutcome, Entry, Page, ReadOutcome, TextOutcome } from "../../contract/read.ts";
import { codePoints, escapeName } from "../../text/text.ts";
import type { Facts } from "../dialect.ts";
import {
  imageNote,
  imageParts,
  joinedLines,
  notebookParts,
  numberedLines,
  pdfParts,
  restOfCutLine,
  textOfParts,
} from "../media-text.ts";
import { outlineEntries, outlineLines, outlineMeasure, outlineNotes } from "../outline-text.ts";
import { counted } from "../words.ts";
import { type ChangeEnvelope, renderChange } from "./change-render.ts";
import { type Context, contextOf, roundedElapsed } from "./context.ts";
import {
  type HistoryEnvelope,
  type LspEnvelope,
  renderHistory,
  renderLsp,
  renderRewind,
  type RewindEnvelope,
} from "./history-render.ts";
import { outlineNames, sentenceOf } from "./problems.ts";
import {
  type GlobEnvelope,
  type GrepEnvelope,
  type LsEnvelope,
  renderGlob,
  renderGrep,
  renderTree,
} from "./search-render.ts";

/** `Total` is null only for a program that counts lines from the end through `session.run`. */
interface TextEnvelope<Total extends number | null = number> {
  readonly status: "success" | "partial";
  readonly data: {
    readonly content: string;
    readonly truncated: boolean;
    readonly fallback_encoding?: "replace";
    /** Present if `content` is an outline and not text. */
    readonly outline?: readonly OutlineEntry[];
  };
  readonly text: string;
  readonly stats: {
    readonly time_ms: number;
    readonly lines_read: number;
    readonly chars_read: number;
    readonly total_lines: Total;
    readonly file_size_bytes: number;
    readonly file_mtime_ms: number;
    readonly encoding: string;
  };
  readonly context: Context;
}

export interface ErrorEnvelope {
  readonly status: "error";
  readonly data: Readonly<Record<string, never>>;
  readonly text: string;
  readonly stats: { readonly time_ms: number };
  readonly context: Context;
  readonly error: { readonly code: string; readonly message: string };
}

interface DirectoryEnvelope {
  readonly status: "success" | "partial";
  readonly data: { readonly entries: readonly Entry[]; readonly truncated: boolean };
  readonly text: string;
  readonly stats: { readonly time_ms: number; readonly entries_read: number; readonly total_entries: number };
  readonly context: Context;
}

/** What `Read` answers, also for a failure. */
export type ReadResult = TextEnvelope | ErrorEnvelope;

/** Kinds that this dialect refuses; a host that asks for them by a profile of its own gets them as text. */
interface MediaEnvelope {
  readonly status: "success" | "partial";
  readonly data: { readonly content: string; readonly truncated: boolean; readonly unchanged?: true };
  readonly text: string;
  readonly stats: { readonly time_ms: number };
  readonly context: Context;
}

export function render(
  outcome: Outcome,
  facts: Facts,
): Reply<
  | TextEnvelope<number | null>
  | DirectoryEnvelope
  | MediaEnvelope
  | GlobEnvelope
  | GrepEnvelope
  | LsEnvelope
  | ChangeEnvelope
  | HistoryEnvelope
  | RewindEnvelope
  | LspEnvelope
> {
  switch (outcome.kind) {
    case "text": {
      const envelope = textEnvelope(outcome, facts);
      return replyOf(envelope, envelope.data.content);
    }
    case "directory": {
      const envelope = directoryEnvelope(outcome, facts);
      return replyOf(envelope, listText(envelope.data.entries));
    }
    case "unchanged":
      return replyOf(mediaEnvelope(outcome, "", facts), "");
    case "image":
      return {
        ...replyOf(mediaEnvelope(outcome, imageNote(outcome), facts), ""),
        content: imageParts(outcome),
      };
    case "pdf":
    case "notebook": {
      const parts = outcome.kind === "pdf" ? pdfParts(outcome) : notebookParts(outcome);
      return replyOf(mediaEnvelope(outcome, textOfParts(parts), facts), textOfParts(parts));
    }
    case "lsp":
      return renderLsp(outcome, facts);
    case "outline":
      return renderOutline(outcome, facts);
    case "glob":
      return renderGlob(outcome, facts);
    case "tree":
      return renderTree(outcome, facts);
    case "grep":
      return renderGrep(outcome, facts);
    case "rewind":
      return renderRewind(outcome, facts);
    case "history":
      return renderHistory(outcome, facts);
    case "edit":
    case "write":
    case "notebook-edit":
    case "patch":
      return renderChange(outcome, facts);
  }
}

const replyOf = <Envelope extends { readonly text: string }>(envelope: Envelope, body: string): Reply<Envelope> => ({
  content: [{ type: "text", text: body === "" ? envelope.text : `${envelope.text}\n\n${body}` }],
  structured: envelope,
  isError: false,
});

function mediaEnvelope(outcome: ReadOutcome, content: string, facts: Facts): MediaEnvelope {
  const path = escapeName(outcome.target.asked);
  const unchanged = outcome.kind === "unchanged";
  const text = unchanged ? `File '${path}' is unchanged since it was last read.` : `Read '${path}'.`;
  const truncated = outcome.kind === "notebook" && (outcome.overBudget || outcome.next !== undefined);
  return {
    status: truncated ? "partial" : "success",
    data: { content, truncated, ...(unchanged ? { unchanged: true as const } : {}) },
    text: `${text}\n(Took ${roundedElapsed(facts)}ms)`,
    stats: { time_ms: roundedElapsed(facts) },
    context: contextOf(facts, outcome.target.realRelative),
  };
}

export function renderProblem(problem: ProblemData, facts: Facts): Reply<ErrorEnvelope> {
  const message = sentenceOf(problem, facts.verb ?? "read", facts);
  const error = { code: problem.code, message };
  const place = "place" in problem ? problem.place : undefined;
  // A denied path gets the same answer whether it exists or not, and only an existing one has a real path.
  const isDenied = problem.code === "ACCESS_DENIED" && problem.reason === "rule";
  const isResolved = !isDenied && place !== undefined && "realRelative" in place;
  const resolved = isResolved ? String(place.realRelative) : undefined;
  const envelope: ErrorEnvelope = {
    status: "error",
    data: {},
    text: message,
    stats: { time_ms: roundedElapsed(facts) },
    context: contextOf(facts, resolved),
    error,
  };
  return { content: [{ type: "text", text: message }], structured: envelope, isError: true, error };
}

const column = { digitsMin: 4, pad: " ", mark: " | " } as const;

function textEnvelope(outcome: TextOutcome, facts: Facts): TextEnvelope<number | null> {
  const page = outcome.pages[0];
  const { count, from } = page;
  const truncated = page.next !== undefined || page.cut.length > 0;
  const total = page.linesTotal;
  const isEmpty = total === 0 || (total === undefined && count === 0);
  const path = escapeName(outcome.target.asked);
  const range = `(Lines ${from}-${from + count - 1})`;
  const text = [
    `Read ${count} lines from '${path}' ${isEmpty ? "(file is empty)" : range}.`,
    `(Took ${roundedElapsed(facts)}ms)`,
  ];
  if (page.next !== undefined) {
    text.push(
      total === undefined
        ? `[Truncated: Showing ${count} lines. More follow from line ${page.next} on.]`
        : `[Truncated: Showing first ${count} of ${total} lines. Use start_line=${page.next} to continue.]`,
    );
  }
  if (page.column !== undefined && page.cut.length === 0) {
    text.push(`[Part: line ${from} is shown from character ${page.column} to its end.]`);
  }
  for (const cut of page.cut.slice(0, 5)) {
    const { line, charsShown } = cut;
    const rest = restOfCutLine(page, cut);
    const what =
      page.column === undefined
        ? `Cut: line ${line} is longer than the ${charsShown} characters shown.`
        : `Part: line ${line} is shown from character ${page.column} to ${rest - 1}.`;
    text.push(`[${what} Use column=${rest} with start_line=${line} to see the rest.]`);
  }
  if (outcome.lossy) text.push("[Encoding: some bytes are not valid UTF-8 and are shown as U+FFFD.]");
  return {
    status: truncated || outcome.lossy ? "partial" : "success",
    data: {
      content: count === 0 ? "" : numberedLines(page, column, "", "\n"),
      truncated,
      ...(outcome.lossy ? { fallback_encoding: "replace" as const } : {}),
    },
    text: text.join("\n"),
    stats: {
      time_ms: roundedElapsed(facts),
      lines_read: count,
      // Of the file, so without the mark on a cut line.
      chars_read: charsIn(page) + page.lineEndChars - page.cut.length * profile.cutMark.length,
      total_lines: total ?? null,
      file_size_bytes: outcome.sizeBytes,
      file_mtime_ms: outcome.mtimeMs,
      encoding: outcome.encoding,
    },
    context: contextOf(facts, outcome.target.realRelative),
  };
}

/** Of the lines, without the newlines between them. */
function charsIn(page: Page): number {
  const joined = joinedLines(page);
  return (page.ascii ? joined.length : codePoints(joined)) - Math.max(0, page.count - 1);
}

function directoryEnvelope(outcome: DirectoryOutcome, facts: Facts): DirectoryEnvelope {
  const count = outcome.entries.length;
  const truncated = outcome.next !== undefined;
  const text = [
    `Listed ${counted(count, "entry", "entries")} of '${escapeName(outcome.target.asked)}'.`,
    `(Took ${roundedElapsed(facts)}ms)`,
    ...(truncated
      ? [`[Truncated: Showing ${count} of ${outcome.entriesTotal} entries. Go on with entry ${outcome.next}.]`]
      : []),
  ];
  return {
    status: truncated ? "partial" : "success",
    data: { entries: outcome.entries, truncated },
    text: text.join("\n"),
    stats: { time_ms: roundedElapsed(facts), entries_read: count, total_entries: outcome.entriesTotal },
    context: contextOf(facts, outcome.target.realRelative),
  };
}

const listText = (entries: readonly Entry[]): string =>
  entries.map(({ name, kind }) => escapeName(name) + (kind === "directory" ? "/" : "")).join("\n");

// Outlines in the `envelope` dialect: the envelope of a text with declarations in place of lines.

interface OutlineEntry {
  readonly name: string;
  readonly kind: string;
  readonly start_line: number;
  readonly end_line: number;
  /** 0 at the top level. */
  readonly depth: number;
  /** How many more are inside and not shown. */
  readonly hidden?: number;
}

function renderOutline(outcome: OutlineOutcome, facts: Facts): Reply<TextEnvelope> {
  const lines = outlineLines(outcome);
  const text = [
    `Outlined '${escapeName(outcome.target.asked)}' (${outlineMeasure(outcome)}).`,
    `(Took ${roundedElapsed(facts)}ms)`,
    ...outlineNotes(outcome, outlineNames).map((note) => `[${note.charAt(0).toUpperCase()}${note.slice(1)}.]`),
  ].join("\n");
  const truncated = outcome.why === "over budget" || outcome.items.length < outcome.total || outcome.counted !== "all";
  const content = lines.map((line) => `${line}\n`).join("");
  const envelope: TextEnvelope = {
    status: truncated || outcome.lossy ? "partial" : "success",
    data: {
      content,
      truncated,
      ...(outcome.lossy ? { fallback_encoding: "replace" as const } : {}),
      outline: outlineEntries(outcome).map(entryOf),
    },
    text,
    stats: {
      time_ms: roundedElapsed(facts),
      lines_read: 0,
      chars_read: 0,
      total_lines: outcome.linesTotal,
      file_size_bytes: outcome.sizeBytes,
      file_mtime_ms: outcome.mtimeMs,
      encoding: outcome.encoding,
    },
    context: contextOf(facts, outcome.target.realRelative),
  };
  const body = content === "" ? text : `${text}\n\n${content}`;
  return { content: [{ type: "text", text: body }], structured: envelope, isError: false };
}

function entryOf({ name, kind, startLine, endLine, ...rest }: ReturnType<typeof outlineEntries>[number]): OutlineEntry {
  return { name, kind, start_line: startLine, end_line: endLine, ...rest };
}

// Reading in the `envelope` dialect: text only, exact totals, no byte cap but the engine's own.

export const profile: Profile = {
  lines: "terminated",
  lineCharsMax: limits.lineCharsMax,
  cutMark: "...",
  pageBytesMax: limits.pageBytesMax,
  pageTokensMax: undefined,
  numbers: undefined,
  total: "always",
  pastEnd: "refused",
  nulSampleBytes: 8_192,
  longCode: "first page",
  repeats: "content",
  documents: "pages",
  kinds: { directory: "refuse", image: "refuse", pdf: "refuse", notebook: "skip", office: "refuse" },
};
