/** Answers in the `envelope` dialect: every outcome has the same keys, in the same order. */

import type { Reply } from "../../contract/call.ts";
import { limits } from "../../contract/limits.ts";
import type { OutlineOutcome } from "../../contract/outline.ts";
import type { ProblemData } from "../../contract/problem.ts";
import type { Profile } from "../../contract/profile.ts";
import type { DirectoryOutcome, Entry, Page, ReadOutcome, TextOutcome } from "../../contract/read.ts";
import { codePoints, escapeName } from "../../text/text.ts";
import type { Doing } from "../change-words.ts";
import { byKind, type Facts } from "../dialect.ts";
import { historyAnswer, type HistoryResult } from "../history-text.ts";
import { lspAnswer, type LspResult } from "../lsp-text.ts";
import {
  imageAnswer,
  imageNote,
  joinedLines,
  notebookParts,
  numberedLines,
  pdfParts,
  restOfCutLine,
  textOfParts,
} from "../media-text.ts";
import { isOutlineCut, outlineEntries, type OutlineEntry, outlineLines, outlineText } from "../outline-text.ts";
import { rewindAnswer, type RewindResult } from "../rewind-text.ts";
import { counted, type SharedAnswer } from "../words.ts";
import { type ChangeEnvelope, renderChange } from "./change-render.ts";
import {
  contextOf,
  type Envelope,
  envelopeReply,
  roundedElapsed,
  type Snaked,
  snaked,
  statusOf,
  took,
} from "./context.ts";
import { names, sentenceOf } from "./problems.ts";
import {
  type GlobEnvelope,
  type GrepEnvelope,
  type LsEnvelope,
  renderGlob,
  renderGrep,
  renderTree,
} from "./search-render.ts";

export type HistoryEnvelope = SharedEnvelope<HistoryResult>;
export type RewindEnvelope = SharedEnvelope<RewindResult>;
export type LspEnvelope = SharedEnvelope<LspResult>;

type SharedEnvelope<Fields> = Envelope<Snaked<Fields> & { readonly truncated: boolean }>;

/** `Total` is null only for a program that counts lines from the end through `session.run`. */
type TextEnvelope<Total extends number | null = number> = Envelope<
  {
    readonly content: string;
    readonly truncated: boolean;
    readonly fallback_encoding?: "replace";
    /** Present if `content` is an outline and not text. */
    readonly outline?: Snaked<readonly OutlineEntry[]>;
  },
  {
    readonly lines_read: number;
    readonly chars_read: number;
    readonly total_lines: Total;
    readonly file_size_bytes: number;
    readonly file_mtime_ms: number;
    readonly encoding: string;
  }
>;

export interface ErrorEnvelope extends Envelope<Readonly<Record<string, never>>, unknown, "error"> {
  readonly error: { readonly code: string; readonly message: string };
}

type DirectoryEnvelope = Envelope<
  { readonly entries: readonly Entry[]; readonly truncated: boolean },
  { readonly entries_read: number; readonly total_entries: number }
>;

/** What `Read` and `Outline` answer, also for a failure. */
export type ReadResult = TextEnvelope | ErrorEnvelope;

/** Kinds that this dialect refuses; a host that asks for them by a profile of its own gets them as text. */
type MediaEnvelope = Envelope<{ readonly content: string; readonly truncated: boolean; readonly unchanged?: true }>;

export const render = byKind<
  Reply<
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
  >
>({
  text: renderText,
  directory: renderDirectory,
  unchanged: (outcome, facts) => renderMedia(outcome, "", facts),
  image: (outcome, facts) => ({ ...renderMedia(outcome, imageNote(outcome), facts), content: imageAnswer(outcome) }),
  pdf: (outcome, facts) => renderMedia(outcome, textOfParts(pdfParts(outcome)), facts),
  notebook: (outcome, facts) => renderMedia(outcome, textOfParts(notebookParts(outcome)), facts),
  lsp: (outcome, facts) => sharedReply(lspAnswer(outcome, names, facts, facts.spell), facts),
  outline: renderOutline,
  glob: renderGlob,
  tree: renderTree,
  grep: renderGrep,
  rewind: (outcome, facts) => sharedReply(rewindAnswer(outcome, sentenceIn(facts), names, facts.spell), facts),
  history: (outcome, facts) => sharedReply(historyAnswer(outcome, names, facts.spell), facts),
  edit: renderChange,
  write: renderChange,
  "notebook-edit": renderChange,
  patch: renderChange,
});

const sharedReply = <Fields>(answer: SharedAnswer<Fields>, facts: Facts): Reply<SharedEnvelope<Fields>> =>
  envelopeReply(facts, {
    status: statusOf(answer.partial),
    data: { ...snaked(answer.fields), truncated: answer.truncated },
    text: [answer.text, took(facts)],
    stats: {},
    resolved: answer.resolved,
  });

const sentenceIn =
  ({ spell }: Facts) =>
  (problem: ProblemData, about: Doing): string =>
    sentenceOf(problem, about, spell);

function renderMedia(outcome: ReadOutcome, content: string, facts: Facts): Reply<MediaEnvelope> {
  const path = escapeName(outcome.target.asked);
  const unchanged = outcome.kind === "unchanged";
  const text = unchanged ? `File '${path}' is unchanged since it was last read.` : `Read '${path}'.`;
  const truncated = outcome.kind === "notebook" && (outcome.overBudget || outcome.next !== undefined);
  return envelopeReply(facts, {
    status: statusOf(truncated),
    data: { content, truncated, ...(unchanged ? { unchanged: true as const } : {}) },
    text: [text, took(facts)],
    stats: {},
    resolved: outcome.target.realRelative,
    body: content,
  });
}

export function renderProblem(problem: ProblemData, facts: Facts): Reply<ErrorEnvelope> {
  const message = sentenceOf(problem, facts.verb ?? "read", facts.spell);
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

function renderText(outcome: TextOutcome, facts: Facts): Reply<TextEnvelope<number | null>> {
  const page = outcome.pages[0];
  const { count, from } = page;
  const truncated = page.next !== undefined || page.cut.length > 0;
  const total = page.linesTotal;
  const isEmpty = total === 0 || (total === undefined && count === 0);
  const path = escapeName(outcome.target.asked);
  const range = `(Lines ${from}-${from + count - 1})`;
  const text = [`Read ${count} lines from '${path}' ${isEmpty ? "(file is empty)" : range}.`, took(facts)];
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
  const content = count === 0 ? "" : numberedLines(page, names.numbers, "", "\n");
  return envelopeReply(facts, {
    status: statusOf(truncated || outcome.lossy),
    data: { content, truncated, ...(outcome.lossy ? { fallback_encoding: "replace" as const } : {}) },
    text,
    stats: {
      lines_read: count,
      // Of the file, so without the mark on a cut line.
      chars_read: charsIn(page) + page.lineEndChars - page.cut.length * profile.cutMark.length,
      total_lines: total ?? null,
      file_size_bytes: outcome.sizeBytes,
      file_mtime_ms: outcome.mtimeMs,
      encoding: outcome.encoding,
    },
    resolved: outcome.target.realRelative,
    body: content,
  });
}

/** Of the lines, without the newlines between them. */
function charsIn(page: Page): number {
  const joined = joinedLines(page);
  return (page.ascii ? joined.length : codePoints(joined)) - Math.max(0, page.count - 1);
}

function renderDirectory(outcome: DirectoryOutcome, facts: Facts): Reply<DirectoryEnvelope> {
  const { entries, entriesTotal, next } = outcome;
  const truncated = next !== undefined;
  const more = `[Truncated: Showing ${entries.length} of ${entriesTotal} entries. Go on with entry ${next}.]`;
  const head = `Listed ${counted(entries.length, "entry", "entries")} of '${escapeName(outcome.target.asked)}'.`;
  return envelopeReply(facts, {
    status: statusOf(truncated),
    data: { entries, truncated },
    text: [head, took(facts), ...(truncated ? [more] : [])],
    stats: { entries_read: entries.length, total_entries: entriesTotal },
    resolved: outcome.target.realRelative,
    body: entries.map(({ name, kind }) => escapeName(name) + (kind === "directory" ? "/" : "")).join("\n"),
  });
}

/** The envelope of a text with declarations in place of lines. */
function renderOutline(outcome: OutlineOutcome, facts: Facts): Reply<TextEnvelope> {
  const truncated = isOutlineCut(outcome);
  return envelopeReply(facts, {
    status: statusOf(truncated || outcome.lossy),
    data: {
      content: outlineLines(outcome)
        .map((line) => `${line}\n`)
        .join(""),
      truncated,
      ...(outcome.lossy ? { fallback_encoding: "replace" as const } : {}),
      outline: snaked(outlineEntries(outcome)),
    },
    text: [outlineText(outcome, names), took(facts)],
    stats: {
      lines_read: 0,
      chars_read: 0,
      total_lines: outcome.linesTotal,
      file_size_bytes: outcome.sizeBytes,
      file_mtime_ms: outcome.mtimeMs,
      encoding: outcome.encoding,
    },
    resolved: outcome.target.realRelative,
  });
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
