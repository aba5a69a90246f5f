/** Reads images, documents and notebooks. Readers are loaded on first use, so that text does not pay for them. */

import { limits } from "../contract/limits.ts";
import { type MediaKind, Problem } from "../contract/problem.ts";
import type {
  DocumentPage,
  ImageOutcome,
  NotebookOutcome,
  PdfOutcome,
  ReadRequest,
  TextOutcome,
} from "../contract/read.ts";
import type { Target } from "../contract/target.ts";
import { lazily, type OpenFile, wholeFile } from "../disk/disk.ts";
import { estimateTokens, fittingStart } from "../text/text.ts";
import { readText } from "./text.ts";
import { hasFailed, runInWorker } from "./worker/host.ts";
import type { Scanning, TextFile } from "./text-file.ts";

const notebooks = lazily(() => import("./notebook.ts"));
const images = lazily(() => import("./image/image.ts"));
const pdfs = lazily(() => import("./pdf/pdf.ts"));

export interface MediaFile {
  readonly file: OpenFile;
  readonly target: Target;
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
      ...(kind === "image" ? { kind } : {}),
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
      return readImageFile(bytes, target, request, scanning.signal);
    case "pdf":
      return readPdfFile(bytes, target, request, scanning.signal);
    case "notebook": {
      const { readNotebook } = await notebooks();
      const readAsText = async (): Promise<TextOutcome> => readText(await media.asText(), request, scanning);
      return readNotebook({ bytes, target, readAsText }, request, tokensOf(request), scanning.signal);
    }
    case "office":
      return readOfficeFile(bytes, media, request, scanning);
  }
}

/** Images have a budget even if the dialect has none for text. */
const tokensOf = (request: ReadRequest): number => request.profile.pageTokensMax ?? limits.pageTokensMax;

async function readImageFile(
  bytes: Buffer,
  target: Target,
  request: ReadRequest,
  signal: AbortSignal,
): Promise<ImageOutcome> {
  const { imageBudget, readImage } = await images();
  const result = await readImage(bytes, imageBudget(tokensOf(request)), signal);
  const of = { place: target, kind: "image" } as const;
  switch (result.kind) {
    case "image":
      return { ...result, target, sizeBytes: bytes.length };
    case "damaged":
      throw new Problem({ code: "DAMAGED", ...of, detail: result.detail });
    case "too large":
      throw new Problem({ code: "TOO_LARGE", ...of, limit: result.limit });
    case "no codec":
      throw new Problem({ code: "NO_CODEC", ...of, install: result.install });
  }
}

async function readPdfFile(
  bytes: Buffer,
  target: Target,
  request: ReadRequest,
  signal: AbortSignal,
): Promise<PdfOutcome> {
  const attaches = request.profile.documents === "attached";
  const { readPdf } = await pdfs();
  const wants = {
    pages: request.pages,
    images: request.pages !== undefined,
    wholePagesMax: limits.pdfWholePagesMax,
    pagesMax: limits.pdfPagesMax,
    timeMsMax: limits.pdfMsMax,
    memoryMbMax: limits.pdfMegabytesMax,
    imageLongEdge: limits.imageLongEdgeMax,
  };
  // The text alone takes a fraction of the time: pages whose text is over the budget are refused before any is drawn.
  if (request.pages?.includes("-") === true) {
    const text = await readPdf(bytes, { ...wants, images: false }, signal);
    if (text.kind === "pdf") pagesWithin(text.pages, false, target, request);
  }
  let result = await readPdf(bytes, wants, signal);
  // A dialect without a parameter for pages gets the first pages.
  if (attaches && result.kind === "too many pages") {
    const pages = `1-${Math.min(limits.pdfPagesMax, result.pagesTotal)}`;
    result = await readPdf(bytes, { ...wants, pages }, signal);
  }
  const of = { place: target, kind: "pdf" } as const;
  const pagesProblem = { code: "INVALID_PARAM", reason: "pages", place: target, pagesMax: limits.pdfPagesMax } as const;
  switch (result.kind) {
    case "pdf":
      break;
    case "encrypted":
      throw new Problem({ code: "ENCRYPTED", ...of });
    case "damaged":
      throw new Problem({ code: "DAMAGED", ...of, detail: result.detail });
    case "too many pages":
      throw new Problem({ ...pagesProblem, fault: "choose", pagesTotal: result.pagesTotal });
    case "pages":
      throw new Problem({
        ...pagesProblem,
        fault: result.fault,
        pagesTotal: result.pagesTotal,
        from: Number.parseInt(request.pages ?? "1", 10) || 1,
      });
    case "time":
      throw new Problem({ code: "TOO_LARGE", ...of, limit: `${result.timeMsMax / 1_000} seconds of work` });
    case "memory":
      throw new Problem({ code: "TOO_LARGE", ...of, limit: `${limits.pdfMegabytesMax} MB of memory` });
    case "no codec":
      throw new Problem({ code: "NO_CODEC", ...of, install: result.install });
  }
  // An attached file comes with its text: not every model is shown attachments.
  const pages = pagesWithin(result.pages, attaches && request.pages === undefined, target, request);
  const whole = request.pages === undefined && bytes.length <= limits.attachmentBytesMax;
  return {
    kind: "pdf",
    target,
    sizeBytes: bytes.length,
    pagesTotal: result.pagesTotal,
    pages,
    hasText: result.hasText,
    asked: request.pages === undefined ? "whole" : "pages",
    base64: whole ? bytes.toString("base64") : undefined,
  };
}

async function readOfficeFile(
  bytes: Buffer,
  { file, target }: MediaFile,
  request: ReadRequest,
  scanning: Scanning,
): Promise<TextOutcome> {
  const format = /\.(docx|xlsx|pptx)$/i.exec(target.real)?.[1]?.toLowerCase() as "docx" | "xlsx" | "pptx"; // that made it office
  // Far above real documents: a file that needs more is a zip bomb.
  const officeLimits = {
    entryBytesMax: 67_108_864,
    totalBytesMax: 134_217_728,
    ratioMax: 200,
    entriesMax: 10_000,
    cellsMax: 1_100_000,
    depthMax: 200,
  };
  const { officeMsMax: msMax, workerHeapMegabytesMax } = limits;
  const result = await runInWorker(
    "office",
    { bytes, format, limits: officeLimits },
    { signal: scanning.signal, msMax },
  );
  const of = { place: target, kind: "office" } as const;
  if (hasFailed(result)) {
    if (result.failed === "crash") throw new Problem({ code: "DAMAGED", ...of, detail: "its reader failed" });
    const limit =
      result.failed === "time" ? `${msMax / 1_000} seconds of work` : `${workerHeapMegabytesMax} MB of memory`;
    throw new Problem({ code: "TOO_LARGE", ...of, limit });
  }
  switch (result.kind) {
    case "office":
      break;
    case "encrypted":
      throw new Problem({ code: "ENCRYPTED", ...of });
    case "damaged":
      throw new Problem({ code: "DAMAGED", ...of, detail: result.detail });
    case "bomb":
    case "too large":
      throw new Problem({ code: "TOO_LARGE", ...of, limit: result.detail });
  }
  const whole = Buffer.from(result.text.buffer, result.text.byteOffset, result.text.byteLength);
  const guess = { encoding: "utf-8", decided: true } as const;
  const text = { file, target, form: undefined, whole, head: async () => whole, guess, guessed: () => undefined };
  const outcome = await readText(text, request, scanning);
  return { ...outcome, sizeBytes: bytes.length, converted: { from: result.format, notes: result.notes } };
}

/** The pages within the budget. If no pages were chosen, the first that fit; else all of them, or a refusal. */
function pagesWithin(
  pages: readonly DocumentPage[],
  firstOnes: boolean,
  target: Target,
  request: ReadRequest,
): readonly DocumentPage[] {
  const tokensMax = tokensOf(request);
  let tokens = 0;
  let fit = 0;
  for (const { text } of pages) {
    tokens += estimateTokens(text);
    if (tokens <= tokensMax) fit += 1;
  }
  if (tokens <= tokensMax) return pages;
  if (firstOnes || pages.length === 1) {
    // A single page that exceeds the budget is cut.
    return fit > 0 ? pages.slice(0, fit) : pages.slice(0, 1).map((page) => cutPage(page, tokensMax));
  }
  const from = pages[0]?.page ?? 1;
  const data = { place: target, tokens, counted: "all", tokensMax, of: "pages", from } as const;
  throw new Problem({ code: "OVER_BUDGET", ...data, lines: pages.length, linesThatFit: fit });
}

function cutPage(page: DocumentPage, tokensMax: number): DocumentPage {
  const text = fittingStart(page.text, tokensMax);
  return { ...page, text, cutChars: page.text.length - text.length };
}
