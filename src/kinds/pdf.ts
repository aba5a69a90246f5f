/**
 * PDF documents: text and, on request, images of pages, by PDFium. It runs in a thread of its own with limits of time
 * and memory, so a hostile document ends the thread and not the process. A page that breaks costs only itself: the
 * pages behind it are read by a new thread.
 */

import { Buffer } from "node:buffer";
import { createRequire } from "node:module";
import { type Pages, type PagesFault, parsePages } from "./page-ranges.ts";
import { type Codec, type Failed, putBack, type Thread, takeThread } from "./pdf-thread.ts";
import type { PdfThreadMessage, PngImage } from "./pdf-worker.ts";

export interface PdfWants {
  /** Pages to read, or all when the document has at most `wholePagesMax`. */
  readonly pages: string | undefined;
  readonly images: boolean;
  readonly wholePagesMax: number;
  readonly pagesMax: number;
  /** For all of it, the start of the thread (some 90 ms) included. */
  readonly timeMsMax: number;
  /** What PDFium may hold; the document is part of it. */
  readonly memoryMbMax: number;
  /** Pixels of the longer side of an image. */
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
  /** False: no page that was read has any text (scanned). */
  readonly hasText: boolean;
}

export type PdfFailure =
  | { readonly kind: "encrypted" }
  | { readonly kind: "damaged"; readonly detail: string }
  | { readonly kind: "too many pages"; readonly pagesTotal: number; readonly wholePagesMax: number }
  | {
      readonly kind: "pages";
      readonly fault: PagesFault["fault"];
      readonly pagesTotal: number;
      readonly pagesMax: number;
    }
  | { readonly kind: "time"; readonly timeMsMax: number }
  | { readonly kind: "memory" }
  | { readonly kind: "no codec"; readonly install: typeof codecName };

const codecName = "@embedpdf/pdfium";

export async function readPdf(
  bytes: Uint8Array,
  wants: PdfWants,
  signal: AbortSignal,
): Promise<PdfResult | PdfFailure> {
  signal.throwIfAborted();
  const codec = findCodec();
  if (codec === undefined) return { kind: "no codec", install: codecName };
  const stop = new AbortController();
  const onAbort = (): void => stop.abort();
  signal.addEventListener("abort", onAbort);
  const timer = setTimeout(onAbort, wants.timeMsMax);
  try {
    const result = await readChosen(codec, bytes, wants, stop.signal);
    signal.throwIfAborted();
    return result;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/** Where PDFium is. The bundler puts the address of the bundle for `import.meta.url`, also in CommonJS. */
function findCodec(): Codec | undefined {
  const { resolve } = createRequire(import.meta.url);
  try {
    return { library: resolve(codecName), wasm: resolve(`${codecName}/pdfium.wasm`) };
  } catch {
    return undefined; // optional: npm may have left it out
  }
}

async function readChosen(
  codec: Codec,
  bytes: Uint8Array,
  wants: PdfWants,
  stop: AbortSignal,
): Promise<PdfResult | PdfFailure> {
  let document: { readonly pagesTotal: number; readonly pages: readonly number[] } | undefined;
  const read: PdfPage[] = [];
  while (document === undefined || (read.length < document.pages.length && !stop.aborted)) {
    const thread = takeThread(codec);
    const onStop = (): void => thread.fail("time");
    stop.addEventListener("abort", onStop);
    try {
      thread.start(bytes, wants);
      const first = await thread.next();
      if (document === undefined) {
        if (first.is !== "opened") return failureOf(whyOf(first), wants, "it does not have the form of a PDF");
        const chosen = choosePages(first.pagesTotal, wants);
        if ("kind" in chosen) {
          thread.read([]);
          return chosen;
        }
        document = { pagesTotal: first.pagesTotal, pages: chosen.pages };
      }
      await takePages(thread, document.pages, read);
    } finally {
      stop.removeEventListener("abort", onStop);
      await putBack(thread);
    }
  }
  for (const page of document.pages.slice(read.length)) read.push({ page, text: "", error: "time" });

  const lost = read.flatMap(({ error }) => (error === undefined || error === "image" ? [] : [error]));
  if (lost.length === read.length) return failureOf(lost[0] ?? "damaged", wants, "none of its pages can be read");
  return { kind: "pdf", pagesTotal: document.pagesTotal, pages: read, hasText: read.some(({ text }) => text !== "") };
}

function choosePages(pagesTotal: number, wants: PdfWants): Pages | PdfFailure {
  const { pages, wholePagesMax, pagesMax } = wants;
  if (pagesTotal === 0) return { kind: "damaged", detail: "it has no pages" };
  if (pages === undefined && pagesTotal > wholePagesMax) return { kind: "too many pages", pagesTotal, wholePagesMax };
  const parsed = parsePages(pages ?? `1-${pagesTotal}`, pagesTotal, pages === undefined ? wholePagesMax : pagesMax);
  return "fault" in parsed ? { kind: "pages", fault: parsed.fault, pagesTotal, pagesMax } : parsed;
}

/** Until all have come or the thread is of no more use; the page it broke at has the error. */
async function takePages(thread: Thread, pages: readonly number[], read: PdfPage[]): Promise<void> {
  const missing = pages.slice(read.length);
  thread.read(missing);
  for (const page of missing) {
    const message = await thread.next();
    if (message.is !== "page") {
      const why = whyOf(message);
      read.push({ page, text: "", error: why === "time" || why === "memory" ? why : "damaged" });
      return;
    }
    const image = message.png === undefined ? undefined : await imageOf(message.png);
    read.push({
      page,
      text: cleanText(message.text),
      ...(image === undefined ? {} : { image }),
      ...(message.error === undefined ? {} : { error: message.error }),
    });
  }
}

/** A message out of turn is no better than a crash. */
const whyOf = (message: PdfThreadMessage): Failed["why"] => (message.is === "failed" ? message.why : "damaged");

function failureOf(why: Failed["why"], wants: PdfWants, damage: string): PdfFailure {
  switch (why) {
    case "encrypted":
    case "memory":
      return { kind: why };
    case "time":
      return { kind: "time", timeMsMax: wants.timeMsMax };
    case "damaged":
      return { kind: "damaged", detail: damage };
    case "no codec":
      return { kind: "no codec", install: codecName };
  }
}

/** As it stands on the page. PDFium joins the lines of a hyphenated word and puts U+FFFE there. */
function cleanText(text: string): string {
  const lines = text
    .replaceAll("\ufffe", "-\n")
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, "") // glyphs of which the document does not say what they mean
    .split("\n");
  return lines
    .map((line) => line.trimEnd())
    .join("\n")
    .trimEnd();
}

/** A page of text is a small PNG, a scanned one is not. */
const pngBytesMax = 1_048_576;

async function imageOf({ bytes, width, height }: PngImage): Promise<PdfImage> {
  const jpeg = bytes.length > pngBytesMax ? await jpegOf(bytes) : undefined;
  const base64 = Buffer.from(jpeg ?? bytes).toString("base64");
  return { mime: jpeg === undefined ? "image/png" : "image/jpeg", base64, width, height };
}

/** Undefined without sharp: it is optional, and npm may have left it out. */
async function jpegOf(png: Uint8Array): Promise<Uint8Array | undefined> {
  try {
    const { default: sharp } = await import("sharp");
    return await sharp(png).jpeg({ quality: 80 }).toBuffer();
  } catch {
    return undefined;
  }
}
