/** Answers in the `claude` dialect: a typed object for programs, numbered lines for the model. */

import type { Reply } from "../../contract/call.ts";
import { limits } from "../../contract/limits.ts";
import type { NotebookCell } from "../../contract/notebook.ts";
import type { OutlineOutcome } from "../../contract/outline.ts";
import type { Profile } from "../../contract/profile.ts";
import type { DirectoryOutcome, Entry, ImageOutcome, Page, PdfOutcome, TextOutcome } from "../../contract/read.ts";
import { escapeName } from "../../text/text.ts";
import { byKind, type Facts } from "../dialect.ts";
import { imageAnswer, joinedLines, notebookParts, numberedLines, pageNotices, pdfParts } from "../media-text.ts";
import { historyAnswer, type HistoryResult } from "../history-text.ts";
import { lspAnswer, type LspResult } from "../lsp-text.ts";
import { outlineEntries, type OutlineEntry, outlineText } from "../outline-text.ts";
import { rewindAnswer, type RewindResult } from "../rewind-text.ts";
import { sentencesWith } from "../problem-sentences.ts";
import { numberStyles, plainNames as names, type SharedAnswer, successReply } from "../words.ts";
import { type ChangeResult, renderChange } from "./change-render.ts";
import reminder from "./reminder.txt";
import {
  type GlobResult,
  type GrepResult,
  type LsResult,
  renderGlob,
  renderGrep,
  renderTree,
} from "./search-render.ts";
import unchanged from "./unchanged.txt";

export interface TextResult {
  readonly type: "text";
  readonly file: {
    readonly filePath: string;
    /** The lines themselves, without numbers, joined by newlines. */
    readonly content: string;
    readonly numLines: number;
    readonly startLine: number;
    /** Null only if lines are counted from the end, which no tool call does. */
    readonly totalLines: number | null;
    readonly truncatedByTokenCap?: true;
    /** Present when the file is not plain UTF-8. */
    readonly encoding?: string;
    /** Present when bytes could not be decoded and are shown as U+FFFD. */
    readonly lossy?: true;
  };
}

export interface ImageResult {
  readonly type: "image";
  readonly file: {
    readonly base64: string;
    readonly type: string;
    readonly originalSize: number;
    readonly dimensions: {
      readonly originalWidth: number;
      readonly originalHeight: number;
      readonly displayWidth: number;
      readonly displayHeight: number;
    };
  };
}

export interface NotebookResult {
  readonly type: "notebook";
  readonly file: {
    readonly filePath: string;
    readonly cells: readonly NotebookCell[];
    /** Present if the budget left out cells, or parts of the only one. */
    readonly truncatedByTokenCap?: true;
    /** Present where more cells follow: how many there are, and the offset to go on with. */
    readonly totalCells?: number;
    readonly nextOffset?: number;
  };
}

/** A short document: the file itself. The text of its pages is in the reply's content. */
export interface PdfResult {
  readonly type: "pdf";
  readonly file: { readonly filePath: string; readonly base64: string; readonly originalSize: number };
}

/** The pages that were asked for. They are here and in no folder, so `outputDir` is null. */
export interface PartsResult {
  readonly type: "parts";
  readonly file: {
    readonly filePath: string;
    readonly originalSize: number;
    readonly count: number;
    readonly outputDir: null;
  };
  readonly pages: readonly {
    readonly page: number;
    readonly text: string;
    readonly base64?: string;
    readonly mediaType?: string;
    readonly error?: string;
  }[];
}

export interface UnchangedResult {
  readonly type: "file_unchanged";
  readonly file: { readonly filePath: string };
}

export type ReadResult =
  | TextResult
  | ImageResult
  | NotebookResult
  | PdfResult
  | PartsResult
  | OutlineResult
  | UnchangedResult;

export interface DirectoryResult {
  readonly type: "directory";
  readonly path: string;
  readonly entries: readonly Entry[];
  readonly totalEntries: number;
}

export const render = byKind<
  Reply<
    | ReadResult
    | DirectoryResult
    | GlobResult
    | GrepResult
    | LsResult
    | ChangeResult
    | HistoryResult
    | RewindResult
    | LspResult
  >
>({
  text: (outcome, facts) => renderText(outcome, outcome.pages[0], facts),
  directory: renderDirectory,
  image: renderImage,
  pdf: (outcome) => ({ content: pdfParts(outcome, "pages"), structured: pdfResult(outcome), isError: false }),
  notebook: (outcome) => {
    const { cells, cellsTotal, next, overBudget } = outcome;
    const file = {
      filePath: outcome.target.absolute,
      cells,
      ...(overBudget ? { truncatedByTokenCap: true as const } : {}),
      ...(next === undefined ? {} : { totalCells: cellsTotal, nextOffset: next }),
    };
    return { content: notebookParts(outcome), structured: { type: "notebook", file }, isError: false };
  },
  unchanged: ({ target }) => successReply(unchanged, { type: "file_unchanged", file: { filePath: target.absolute } }),
  lsp: (outcome, facts) => sharedReply(lspAnswer(outcome, names, facts)),
  outline: renderOutline,
  glob: renderGlob,
  tree: renderTree,
  grep: renderGrep,
  rewind: (outcome, facts) => sharedReply(rewindAnswer(outcome, sentencesFor(facts), names)),
  history: (outcome) => sharedReply(historyAnswer(outcome, names)),
  edit: renderChange,
  write: renderChange,
  "notebook-edit": renderChange,
  patch: renderChange,
});

export const sentencesFor = ({ numbers }: Facts) => sentencesWith({ names: { ...names, numbers } });

const sharedReply = <Fields>({ text, fields }: SharedAnswer<Fields>): Reply<Fields> => successReply(text, fields);

function renderImage(outcome: ImageOutcome): Reply<ImageResult> {
  const { base64, mime, sizeBytes, original, display } = outcome;
  return {
    content: imageAnswer(outcome),
    structured: {
      type: "image",
      file: {
        base64,
        type: mime,
        originalSize: sizeBytes,
        dimensions: {
          originalWidth: original.width,
          originalHeight: original.height,
          displayWidth: display.width,
          displayHeight: display.height,
        },
      },
    },
    isError: false,
  };
}

function pdfResult(outcome: PdfOutcome): PdfResult | PartsResult {
  const { sizeBytes, base64, pages, target } = outcome;
  if (outcome.asked === "whole" && base64 !== undefined) {
    return { type: "pdf", file: { filePath: target.absolute, base64, originalSize: sizeBytes } };
  }
  return {
    type: "parts",
    file: { filePath: target.absolute, originalSize: sizeBytes, count: pages.length, outputDir: null },
    pages: pages.map(({ page, text, image, error }) => ({
      page,
      text,
      ...(image === undefined ? {} : { base64: image.base64, mediaType: image.mime }),
      ...(error === undefined ? {} : { error }),
    })),
  };
}

function renderText(outcome: TextOutcome, page: Page, facts: Facts): Reply<TextResult> {
  const notices = pageNotices(outcome, page, {
    ends: facts.numbers === undefined ? "long" : "short",
    outlineTool: "Outline",
  });
  const parts = notices.length > 0 ? [notices.join("\n")] : [];
  if (facts.reminder && page.count > 0) parts.push(`<system-reminder>\n${reminder}\n</system-reminder>`);
  const overBudget = isOverBudget(page) || page.cut.some(({ by }) => by === "tokens");
  const text =
    page.count === 0
      ? parts.join("\n\n")
      : numberedLines(page, facts.numbers, "", parts.map((part) => `\n\n${part}`).join(""));
  return successReply(text, {
    type: "text",
    file: {
      filePath: outcome.target.absolute,
      content: joinedLines(page),
      numLines: page.count,
      startLine: page.from,
      totalLines: page.linesTotal ?? null,
      ...(overBudget ? { truncatedByTokenCap: true as const } : {}),
      ...(outcome.encoding === "utf-8" ? {} : { encoding: outcome.encoding }),
      ...(outcome.lossy ? { lossy: true as const } : {}),
    },
  });
}

const isOverBudget = ({ stopped }: Page): boolean =>
  stopped === "tokens" || stopped === "bytes" || stopped === "answer";

function renderDirectory(outcome: DirectoryOutcome): Reply<DirectoryResult> {
  const names = outcome.entries.map(entryLine);
  const foot =
    outcome.next === undefined
      ? []
      : [`[${outcome.entries.length} of ${outcome.entriesTotal} entries, go on with offset ${outcome.next}]`];
  const lines = [`${escapeName(outcome.target.absolute)}/`, ...names.map((name) => `  - ${name}`), ...foot];
  const nothing =
    outcome.hiddenByRules > 0 ? "[All of its entries are withheld by permission rules]" : "[The folder is empty]";
  return successReply(outcome.entriesTotal === 0 ? `${lines[0]}\n${nothing}` : lines.join("\n"), {
    type: "directory",
    path: outcome.target.absolute,
    entries: outcome.entries,
    totalEntries: outcome.entriesTotal,
  });
}

function entryLine(entry: Entry): string {
  const name = escapeName(entry.name);
  if (entry.kind === "directory") return `${name}/`;
  if (entry.kind !== "link") return name;
  if (entry.linkText === undefined) return `${name} (link)`;
  return `${name} -> ${escapeName(entry.linkText)}${entry.leadsTo === "directory" ? "/" : ""}`;
}

/** Shown for a long code file instead of its text, or on request. */
export interface OutlineResult {
  readonly type: "outline";
  readonly file: {
    readonly filePath: string;
    readonly language: string;
    readonly outline: readonly OutlineEntry[];
    readonly totalDeclarations: number;
    readonly totalLines: number;
  };
}

function renderOutline(outcome: OutlineOutcome): Reply<OutlineResult> {
  return successReply(outlineText(outcome, names), {
    type: "outline",
    file: {
      filePath: outcome.target.absolute,
      language: outcome.language,
      outline: outlineEntries(outcome),
      totalDeclarations: outcome.total,
      totalLines: outcome.linesTotal,
    },
  });
}

// Reading in the `claude` dialect: lines end with newlines, the page ends with the token budget.

export const profile: Profile = {
  lines: "terminated",
  // Tokens are the limit. These two only bound a page of nothing but whitespace.
  lineCharsMax: limits.budgetedLineCharsMax,
  cutMark: "...",
  pageBytesMax: limits.budgetedPageBytesMax,
  pageTokensMax: limits.pageTokensMax,
  numbers: numberStyles.tab,
  total: "always",
  pastEnd: "refused",
  nulSampleBytes: 8_192,
  longCode: "first page",
  repeats: "stub",
  documents: "pages",
  kinds: { directory: "refuse", image: "read", pdf: "read", notebook: "read", office: "read" },
};
