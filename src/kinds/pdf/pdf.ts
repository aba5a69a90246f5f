/** Reads PDFs with PDFium, in a worker. If a page crashes it, a new worker reads the pages after that one. */

import { Buffer } from "node:buffer";
import { hasFailed, runInWorker, packageFiles, type TaskFailed } from "../worker/host.ts";
import type { PdfAnswer, PdfPart, PngImage, Unread } from "./worker.ts";

export interface PdfWants {
  /** Pages to read, or all when the document has at most `wholePagesMax`. */
  readonly pages: string | undefined;
  readonly images: boolean;
  readonly wholePagesMax: number;
  readonly pagesMax: number;
  /** In total, including the start of the thread (some 90 ms). */
  readonly timeMsMax: number;
  readonly memoryMbMax: number;
  readonly imageLongEdge: number;
}

export interface PdfImage {
  readonly mime: "image/png" | "image/jpeg";
  readonly base64: string;
  readonly width: number;
  readonly height: number;
}

export interface PdfPage {
  readonly page: number;
  readonly text: string;
  readonly image?: PdfImage;
  /** Why the page is missing, or only its image. */
  readonly error?: "damaged" | "time" | "memory" | "image";
}

export interface PdfResult {
  readonly kind: "pdf";
  readonly pagesTotal: number;
  readonly pages: readonly PdfPage[];
  /** False: no page that was read has text (scanned). */
  readonly hasText: boolean;
}

export type PdfFailure =
  | Unread
  | { readonly kind: "time"; readonly timeMsMax: number }
  | { readonly kind: "no codec"; readonly install: typeof codecName };

const codecName = "@embedpdf/pdfium";

export async function readPdf(
  bytes: Uint8Array,
  wants: PdfWants,
  signal: AbortSignal,
): Promise<PdfResult | PdfFailure> {
  signal.throwIfAborted();
  const codec = packageFiles({ library: codecName, wasm: `${codecName}/pdfium.wasm` });
  if (codec === undefined) return { kind: "no codec", install: codecName };
  const { wholePagesMax, pagesMax, timeMsMax, memoryMbMax: megabytesMax } = wants;
  const imageLongEdge = wants.images ? wants.imageLongEdge : undefined;
  let leftMs = timeMsMax;
  const read: PdfPage[] = [];
  let opened: Extract<PdfPart, { is: "opened" }> | undefined;
  let missing: readonly number[] = [];
  do {
    const parts: PdfPart[] = [];
    const answer = await runInWorker(
      "pdf",
      { bytes, ...codec, pages: opened === undefined ? wants.pages : missing, wholePagesMax, pagesMax, imageLongEdge },
      { signal, msMax: leftMs, megabytesMax },
      (part) => void parts.push(part as PdfPart),
    );
    if (hasFailed(answer)) leftMs = answer.failed === "time" ? 0 : leftMs - answer.workedMs;
    for (const part of parts) {
      if (part.is === "opened") opened ??= part;
      else read.push(await pageOf(part));
    }
    if (opened === undefined) return failureOf(answer, wants);
    missing = opened.pages.slice(read.length);
    // The page at which the worker ended gets the error; a new worker continues after it.
    const [page] = missing;
    if (page === undefined) break;
    read.push({ page, text: "", error: lostBy(answer) });
    missing = missing.slice(1);
  } while (missing.length > 0 && leftMs > 0);
  for (const page of missing) read.push({ page, text: "", error: "time" });

  const lost = read.flatMap(({ error }) => (error === undefined || error === "image" ? [] : [error]));
  if (lost.length < read.length) {
    const { pagesTotal } = opened;
    return { kind: "pdf", pagesTotal, pages: read, hasText: read.some(({ text }) => text !== "") };
  }
  const [why = "damaged"] = lost;
  if (why === "time") return { kind: why, timeMsMax };
  return why === "memory" ? { kind: why } : { kind: why, detail: "none of its pages can be read" };
}

const lostBy = (answer: PdfAnswer | TaskFailed): "damaged" | "time" | "memory" =>
  hasFailed(answer) && answer.failed !== "crash" ? answer.failed : "damaged";

/** For a document that did not open. PDFium crashes on damaged documents, so a crash means damaged. */
function failureOf(answer: PdfAnswer | TaskFailed, { timeMsMax }: PdfWants): PdfFailure {
  if (!hasFailed(answer)) {
    if (answer.kind === "no codec") return { kind: answer.kind, install: codecName };
    return answer.kind === "read" ? { kind: "damaged", detail: "it has no pages" } : answer;
  }
  if (answer.failed === "memory") return { kind: "memory" };
  if (answer.failed === "time") return { kind: "time", timeMsMax };
  return { kind: "damaged", detail: "it does not have the form of a PDF" };
}

async function pageOf({ page, text, png, error }: Extract<PdfPart, { is: "page" }>): Promise<PdfPage> {
  const image = png === undefined ? undefined : await imageOf(png);
  return { page, text, ...(image === undefined ? {} : { image }), ...(error === undefined ? {} : { error }) };
}

/** A page of text is a small PNG; a larger one is a scan, for which JPEG is smaller. */
const pngBytesMax = 1_048_576;

async function imageOf({ bytes, width, height }: PngImage): Promise<PdfImage> {
  const jpeg = bytes.length > pngBytesMax ? await jpegOf(bytes) : undefined;
  const base64 = Buffer.from(jpeg ?? bytes).toString("base64");
  return { mime: jpeg === undefined ? "image/png" : "image/jpeg", base64, width, height };
}

async function jpegOf(png: Uint8Array): Promise<Uint8Array | undefined> {
  try {
    const { default: sharp } = await import("sharp");
    return await sharp(png).jpeg({ quality: 80 }).toBuffer();
  } catch {
    return undefined;
  }
}
