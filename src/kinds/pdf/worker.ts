/** Runs in a worker: sends the pages of a PDF. Each document has its own PDFium, so none can corrupt the next. */

import { Buffer } from "node:buffer";
import { crc32, deflateSync } from "node:zlib";
import type { WrappedPdfiumModule } from "@embedpdf/pdfium";
import type { CompiledWasm, WorkerContext } from "../worker/worker.ts";

export interface PdfTask {
  readonly bytes: Uint8Array;
  readonly library: string;
  readonly wasm: string;
  /** As the caller wrote them, or the pages that an earlier worker did not reach. */
  readonly pages: string | readonly number[] | undefined;
  readonly wholePagesMax: number;
  readonly pagesMax: number;
  readonly imageLongEdge: number | undefined;
}

/** Sent before the answer: "opened", then a "page" for each page. */
export type PdfPart =
  | { readonly is: "opened"; readonly pagesTotal: number; readonly pages: readonly number[] }
  | {
      readonly is: "page";
      readonly page: number;
      readonly text: string;
      readonly png: PngImage | undefined;
      readonly error: "damaged" | "image" | undefined;
    };

export type PdfAnswer = { readonly kind: "read" } | { readonly kind: "no codec" } | Unread;

export type Unread =
  | { readonly kind: "encrypted" | "memory" }
  | { readonly kind: "damaged"; readonly detail: string }
  | { readonly kind: "too many pages"; readonly pagesTotal: number; readonly wholePagesMax: number }
  | {
      readonly kind: "pages";
      readonly fault: PagesFault["fault"];
      readonly pagesTotal: number;
      readonly pagesMax: number;
    };

export interface PngImage {
  readonly bytes: Uint8Array;
  readonly width: number;
  readonly height: number;
}

export async function readPages(task: PdfTask, context: WorkerContext): Promise<PdfAnswer> {
  const pdfium = await loadPdfium(task, context).catch(() => undefined);
  if (pdfium === undefined) return { kind: context.memory.isFull ? "memory" : "no codec" };
  const file = openDocument(pdfium, task.bytes);
  if (file === 0) {
    if (context.memory.isFull) return { kind: "memory" };
    if (isEncrypted(pdfium.FPDF_GetLastError())) return { kind: "encrypted" };
    return { kind: "damaged", detail: "it does not have the form of a PDF" };
  }
  const pagesTotal = pdfium.FPDF_GetPageCount(file);
  const chosen = choosePages(pagesTotal, task);
  if ("kind" in chosen) return chosen;
  context.part({ is: "opened", pagesTotal, pages: chosen.pages } satisfies PdfPart);
  for (const page of chosen.pages) {
    const read = readPage(pdfium, file, page, task.imageLongEdge);
    context.part({ is: "page", page, ...read, text: cleanText(read.text) } satisfies PdfPart);
  }
  return { kind: "read" };
}

/** The library's types do not declare its memory. */
const heapOf = (pdfium: WrappedPdfiumModule): Uint8Array => (pdfium.pdfium as unknown as { HEAPU8: Uint8Array }).HEAPU8;

interface WasmStart {
  readonly instantiateWasm: (imports: object, receive: (instance: { exports: object }) => void) => object;
  readonly print: () => void;
  readonly printErr: () => void;
}
declare const WebAssembly: { readonly Instance: new (wasm: CompiledWasm, imports: object) => { exports: object } };

async function loadPdfium({ library, wasm }: PdfTask, context: WorkerContext): Promise<WrappedPdfiumModule> {
  const { init } = context.load(library) as { init: (start: WasmStart) => Promise<WrappedPdfiumModule> };
  const pdfium = await init({
    print: () => undefined,
    printErr: () => undefined,
    instantiateWasm(imports, receive) {
      const instance = new WebAssembly.Instance(context.compiled(wasm), imports);
      receive(instance);
      return instance.exports;
    },
  });
  pdfium.PDFiumExt_Init();
  return pdfium;
}

function choosePages(pagesTotal: number, task: PdfTask): { readonly pages: readonly number[] } | PdfAnswer {
  const { pages, wholePagesMax, pagesMax } = task;
  if (pagesTotal === 0) return { kind: "damaged", detail: "it has no pages" };
  if (typeof pages === "object") return { pages };
  if (pages === undefined && pagesTotal > wholePagesMax) return { kind: "too many pages", pagesTotal, wholePagesMax };
  const parsed = parsePages(pages ?? `1-${pagesTotal}`, pagesTotal, pages === undefined ? wholePagesMax : pagesMax);
  return "fault" in parsed ? { kind: "pages", fault: parsed.fault, pagesTotal, pagesMax } : parsed;
}

/** The text as it is on the page. PDFium joins the lines of a hyphenated word and puts U+FFFE there. */
function cleanText(text: string): string {
  const lines = text
    .replaceAll("\ufffe", "-\n")
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, "") // glyphs that the document maps to no character
    .split("\n");
  return lines
    .map((line) => line.trimEnd())
    .join("\n")
    .trimEnd();
}

/** For one page: many times what an answer can show. */
const textCharsMax = 2_000_000;

function openDocument(pdfium: WrappedPdfiumModule, bytes: Uint8Array): number {
  const address = pdfium.pdfium.wasmExports.malloc(bytes.length);
  if (address === 0) return 0;
  heapOf(pdfium).set(bytes, address);
  // The empty password opens a file that only an owner's password protects.
  return pdfium.FPDF_LoadMemDocument(address, bytes.length, "");
}

/** 4: a password is needed, 5: an unknown security handler, 3 and others: no PDF. */
const isEncrypted = (code: number): boolean => code === 4 || code === 5;

function readPage(
  pdfium: WrappedPdfiumModule,
  file: number,
  number: number,
  imageLongEdge: number | undefined,
): Omit<PdfPart & { readonly is: "page" }, "is" | "page"> {
  const page = pdfium.FPDF_LoadPage(file, number - 1);
  if (page === 0) return { text: "", png: undefined, error: "damaged" };
  try {
    const text = pageText(pdfium, page);
    if (text === undefined) return { text: "", png: undefined, error: "damaged" };
    if (imageLongEdge === undefined) return { text, png: undefined, error: undefined };
    const png = pageImage(pdfium, page, imageLongEdge);
    return { text, png, error: png === undefined ? "image" : undefined };
  } finally {
    pdfium.FPDF_ClosePage(page);
  }
}

function pageText(pdfium: WrappedPdfiumModule, page: number): string | undefined {
  const textPage = pdfium.FPDFText_LoadPage(page);
  if (textPage === 0) return undefined;
  const count = Math.min(pdfium.FPDFText_CountChars(textPage), textCharsMax);
  let text = "";
  if (count > 0) {
    // A character above U+FFFF takes two units of two bytes each.
    const address = pdfium.pdfium.wasmExports.malloc((count + 1) * 4);
    if (address === 0) throw new Error("no memory for the text");
    const units = pdfium.FPDFText_GetText(textPage, 0, count, address);
    const bytes = heapOf(pdfium).subarray(address, address + Math.max(0, units - 1) * 2);
    text = new TextDecoder("utf-16le", { ignoreBOM: true }).decode(bytes);
    pdfium.pdfium.wasmExports.free(address);
  }
  pdfium.FPDFText_ClosePage(textPage);
  return text;
}

// Flags of FPDF_RenderPageBitmap: draw annotations, and RGBA instead of BGRA.
const annotations = 0x01;
const redFirst = 0x10;
/** Pixels per point: more adds no detail to a page of usual size. */
const scaleMax = 4;

function pageImage(pdfium: WrappedPdfiumModule, page: number, longEdge: number): PngImage | undefined {
  const pageWidth = pdfium.FPDF_GetPageWidthF(page);
  const pageHeight = pdfium.FPDF_GetPageHeightF(page);
  const scale = Math.min(longEdge / Math.max(pageWidth, pageHeight), scaleMax);
  const width = Math.max(1, Math.round(pageWidth * scale));
  const height = Math.max(1, Math.round(pageHeight * scale));
  const bitmap = pdfium.FPDFBitmap_Create(width, height, 0);
  if (bitmap === 0) return undefined;
  pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xffffffff);
  pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, annotations | redFirst);
  const from = pdfium.FPDFBitmap_GetBuffer(bitmap);
  const stride = pdfium.FPDFBitmap_GetStride(bitmap);
  const bytes = writePng(heapOf(pdfium).subarray(from, from + stride * height), width, height, stride);
  pdfium.FPDFBitmap_Destroy(bitmap);
  return { bytes, width, height };
}

/** Takes four bytes a pixel; writes a PNG with one channel (grey) or three. */
function writePng(pixels: Uint8Array, width: number, height: number, stride: number): Uint8Array {
  const channels = isGrey(pixels, width, height, stride) ? 1 : 3;
  const rows = new Uint8Array((width * channels + 1) * height);
  let to = 0;
  for (let y = 0; y < height; y += 1) {
    to += 1; // filter 0: prediction makes pages of text an eighth larger
    for (let from = y * stride; from < y * stride + width * 4; from += 4) {
      rows[to++] = pixels[from] ?? 0;
      if (channels === 1) continue;
      rows[to++] = pixels[from + 1] ?? 0;
      rows[to++] = pixels[from + 2] ?? 0;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, channels === 1 ? 0 : 2], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function isGrey(pixels: Uint8Array, width: number, height: number, stride: number): boolean {
  for (let y = 0; y < height; y += 1) {
    for (let at = y * stride; at < y * stride + width * 4; at += 4) {
      if (pixels[at] !== pixels[at + 1] || pixels[at] !== pixels[at + 2]) return false;
    }
  }
  return true;
}

function chunk(name: string, data: Uint8Array): Uint8Array {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  whole.set(body, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}

export interface Pages {
  readonly pages: readonly number[];
}

/** Why a text names no pages, with what is allowed: up to `pagesMax` pages from 1 to `pagesTotal`. */
export interface PagesFault {
  /** "form": neither "3" nor "1-5", or a page 0. "order": "5-3". */
  readonly fault: "form" | "order" | "past the end" | "too many";
  readonly pagesTotal: number | undefined;
  readonly pagesMax: number;
}

/** A range is cut at the end of the document; one that begins after it is a fault. Without a total there is no end. */
export function parsePages(text: string, pagesTotal: number | undefined, pagesMax: number): Pages | PagesFault {
  const fault = (what: PagesFault["fault"]): PagesFault => ({ fault: what, pagesTotal, pagesMax });

  // More digits would lose precision as a number.
  const match = /^\s*(\d{1,15})(?:\s*-\s*(\d{1,15}))?\s*$/.exec(text);
  if (match === null) return fault("form");
  const first = Number(match[1]);
  const last = Number(match[2] ?? match[1]);
  if (first < 1) return fault("form");
  if (last < first) return fault("order");
  if (pagesTotal !== undefined && first > pagesTotal) return fault("past the end");
  const asked = Math.min(last, pagesTotal ?? last) - first + 1;
  if (asked > pagesMax) return fault("too many");
  return { pages: Array.from({ length: asked }, (_, index) => first + index) };
}
