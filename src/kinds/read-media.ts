/**
 * Pictures, documents and notebooks: read whole within a limit, by the reader of their kind, into an outcome. Readers
 * are loaded when the first file of their kind is read, so that text never pays for them.
 */

import { limits } from "../contract/limits.ts";
import { lineNumber } from "../contract/brand.ts";
import { type MediaKind, Problem } from "../contract/problem.ts";
import type { ImageOutcome, NotebookOutcome, PdfOutcome, ReadRequest, TextOutcome } from "../contract/read.ts";
import type { Target } from "../contract/target.ts";
import type { OpenFile } from "../disk/open-file.ts";
import { wholeFile } from "../disk/whole-file.ts";
import { estimateTokens } from "../text/tokens.ts";
import { readText } from "./text.ts";
import type { Scanning, TextFile } from "./text-file.ts";

export interface MediaFile {
  readonly file: OpenFile;
  readonly target: Target;
  /** The same file as the text that it is. */
  readonly asText: () => Promise<TextFile>;
}

type MediaOutcome = ImageOutcome | PdfOutcome | NotebookOutcome | TextOutcome;

export async function readMedia(
  kind: MediaKind,
  media: MediaFile,
  request: ReadRequest,
  scanning: Scanning,
): Promise<MediaOutcome> {
  const { file, target } = media;
  if (kind !== "pdf" && request.pages !== undefined) {
    throw new Problem({
      code: "INVALID_PARAM",
      reason: "pages",
      place: target,
      fault: "no pages",
      pagesTotal: 0,
      pagesMax: 0,
    });
  }
  const bytesMax = kind === "image" ? limits.imageBytesMax : limits.documentBytesMax;
  const bytes = await wholeFile(file, bytesMax);
  if (bytes === undefined) {
    const limit = `${file.sizeBytes} bytes of at most ${bytesMax}`;
    throw new Problem({ code: "TOO_LARGE", place: target, kind, limit });
  }
  switch (kind) {
    case "image":
      return image(bytes, target, request, scanning.signal);
    case "pdf":
      return pdf(bytes, target, request, scanning.signal);
    case "notebook":
      return notebook(bytes, media, request, scanning);
    case "office":
      return office(bytes, media, request, scanning);
  }
}

/** Pictures have a budget also where the dialect has none for text. */
const tokensOf = (request: ReadRequest): number => request.profile.pageTokensMax ?? limits.pageTokensMax;

async function image(bytes: Buffer, target: Target, request: ReadRequest, signal: AbortSignal): Promise<ImageOutcome> {
  const { readImage } = await import("./image.ts");
  const budget = {
    tokensMax: tokensOf(request),
    longEdgeMax: limits.imageLongEdgeMax,
    sideMax: limits.imageSideMax,
    pixelsMax: limits.imagePixelsMax,
  };
  const result = await readImage(bytes, budget, signal);
  switch (result.kind) {
    case "image":
      return { ...result, target, sizeBytes: bytes.length };
    case "damaged":
      throw new Problem({ code: "DAMAGED", place: target, kind: "image", detail: result.detail });
    case "too large": {
      const limit = `${result.width}x${result.height} pixels of at most ${result.pixelsMax}`;
      throw new Problem({ code: "TOO_LARGE", place: target, kind: "image", limit });
    }
    case "no codec":
      throw new Problem({ code: "NO_CODEC", place: target, kind: "image", install: result.install });
  }
}

async function pdf(bytes: Buffer, target: Target, request: ReadRequest, signal: AbortSignal): Promise<PdfOutcome> {
  const attach = request.profile.documents === "attached" && bytes.length <= limits.attachmentBytesMax;
  const { readPdf } = await import("./pdf.ts");
  const wants = {
    pages: attach ? "1" : request.pages,
    images: request.pages !== undefined,
    wholePagesMax: limits.pdfWholePagesMax,
    pagesMax: limits.pdfPagesMax,
    timeMsMax: limits.pdfMsMax,
    memoryMbMax: limits.pdfMegabytesMax,
    imageLongEdge: limits.imageLongEdgeMax,
  };
  const result = await readPdf(bytes, wants, signal);
  const pagesProblem = { code: "INVALID_PARAM", reason: "pages", place: target, pagesMax: limits.pdfPagesMax } as const;
  switch (result.kind) {
    case "pdf":
      break;
    case "encrypted":
      throw new Problem({ code: "ENCRYPTED", place: target, kind: "pdf" });
    case "damaged":
      throw new Problem({ code: "DAMAGED", place: target, kind: "pdf", detail: result.detail });
    case "too many pages":
      throw new Problem({ ...pagesProblem, fault: "choose", pagesTotal: result.pagesTotal });
    case "pages":
      throw new Problem({ ...pagesProblem, fault: result.fault, pagesTotal: result.pagesTotal });
    case "time":
      throw new Problem({
        code: "TOO_LARGE",
        place: target,
        kind: "pdf",
        limit: `${result.timeMsMax / 1_000} seconds of work`,
      });
    case "memory":
      throw new Problem({
        code: "TOO_LARGE",
        place: target,
        kind: "pdf",
        limit: `${limits.pdfMegabytesMax} MB of memory`,
      });
    case "no codec":
      throw new Problem({ code: "NO_CODEC", place: target, kind: "pdf", install: result.install });
  }
  if (!attach)
    refuseOverBudget(
      result.pages.map(({ text }) => text),
      result.pages[0]?.page ?? 1,
      "pages",
      target,
      request,
    );
  // The file itself goes along where it is the answer, or all that a short document is.
  const whole = request.pages === undefined && bytes.length <= limits.attachmentBytesMax;
  return {
    kind: "pdf",
    target,
    sizeBytes: bytes.length,
    pagesTotal: result.pagesTotal,
    pages: result.pages,
    hasText: result.hasText,
    asked: request.pages === undefined ? "whole" : "pages",
    base64: attach || whole ? bytes.toString("base64") : undefined,
  };
}

async function notebook(
  bytes: Buffer,
  { target, asText }: MediaFile,
  request: ReadRequest,
  scanning: Scanning,
): Promise<NotebookOutcome | TextOutcome> {
  const { parseNotebook } = await import("../text/notebook.ts");
  const parsed = parseNotebook(bytes.toString("utf8"), {
    outputCharsMax: limits.notebookOutputCharsMax,
    outputsMax: limits.notebookOutputsMax,
    cellsMax: limits.notebookCellsMax,
  });
  const [range] = request.ranges;
  if ("fault" in parsed) {
    const empty = parsed.fault === "empty";
    // Who names lines after that wants the text, and needs it to repair it.
    if (!empty && ("last" in range || range.from > 1 || Number.isFinite(range.linesMax))) {
      return readText(await asText(), request, scanning);
    }
    const detail =
      parsed.fault === "not json"
        ? `not JSON from line ${parsed.line}, column ${parsed.column} on`
        : empty
          ? "empty"
          : parsed.detail;
    throw new Problem({ code: "DAMAGED", place: target, kind: "notebook", detail, empty });
  }
  const total = parsed.cellsTotal;
  const from = "last" in range ? Math.max(1, total - range.last + 1) : range.from;
  const limit = "last" in range ? range.last : range.linesMax;
  if (from > Math.max(1, total)) {
    throw new Problem({ code: "INVALID_PARAM", reason: "range", place: target, of: "cells", from, total });
  }
  const asked = parsed.cells.slice(from - 1, from - 1 + limit);
  const texts = asked.map((cell) =>
    JSON.stringify([cell.source, cell.outputs.map((output) => ("text" in output ? output.text : ""))]),
  );
  const fitting = Number.isFinite(limit) ? asked.length : fittingCount(texts, tokensOf(request));
  if (Number.isFinite(limit)) refuseOverBudget(texts, from, "cells", target, request);
  const cells = asked.slice(0, Math.max(1, fitting));
  const next = from + cells.length;
  return {
    kind: "notebook",
    target,
    sizeBytes: bytes.length,
    language: parsed.language,
    cells,
    from: lineNumber(from),
    cellsTotal: total,
    next: next <= total ? lineNumber(next) : undefined,
  };
}

/** An office document is read as the text it is made of, page by page like any text. */
async function office(
  bytes: Buffer,
  { file, target }: MediaFile,
  request: ReadRequest,
  scanning: Scanning,
): Promise<TextOutcome> {
  const { officeText } = await import("./office.ts");
  const format = /\.(docx|xlsx|pptx)$/i.exec(target.real)?.[1]?.toLowerCase() as "docx" | "xlsx" | "pptx"; // that made it office
  const officeLimits = {
    entryBytesMax: 67_108_864,
    totalBytesMax: 134_217_728,
    ratioMax: 200,
    entriesMax: 10_000,
    cellsMax: 2_000_000,
    depthMax: 200,
  };
  const result = await officeText(bytes, format, officeLimits, scanning.signal);
  switch (result.kind) {
    case "office":
      break;
    case "encrypted":
      throw new Problem({ code: "ENCRYPTED", place: target, kind: "office" });
    case "damaged":
      throw new Problem({ code: "DAMAGED", place: target, kind: "office", detail: result.detail });
    case "bomb":
    case "too large":
      throw new Problem({ code: "TOO_LARGE", place: target, kind: "office", limit: result.detail });
  }
  const whole = Buffer.from(result.text);
  const guess = { encoding: "utf-8", decided: true } as const;
  const text = { file, target, form: undefined, whole, head: async () => whole, guess, guessed: () => undefined };
  const outcome = await readText(text, request, scanning);
  return { ...outcome, sizeBytes: bytes.length, converted: { from: result.format, notes: result.notes } };
}

function refuseOverBudget(
  texts: readonly string[],
  from: number,
  of: "pages" | "cells",
  target: Target,
  request: ReadRequest,
): void {
  const tokensMax = tokensOf(request);
  const tokens = texts.reduce((sum, text) => sum + estimateTokens(text), 0);
  if (tokens <= tokensMax) return;
  const linesThatFit = fittingCount(texts, tokensMax);
  const data = {
    place: target,
    tokens,
    counted: "all",
    tokensMax,
    of,
    from,
    lines: texts.length,
    linesThatFit,
  } as const;
  throw new Problem({ code: "OVER_BUDGET", ...data });
}

function fittingCount(texts: readonly string[], tokensMax: number): number {
  let tokens = 0;
  const over = texts.findIndex((text) => {
    tokens += estimateTokens(text);
    return tokens > tokensMax;
  });
  return over === -1 ? texts.length : over;
}
