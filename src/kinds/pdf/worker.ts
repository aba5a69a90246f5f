/**
 * The part of reading a PDF that runs in a worker: opens a document, chooses the pages, sends them one by one. Every
 * document has a PDFium of its own, so what a hostile one did to its memory does not reach the next.
 */

import { Buffer } from "node:buffer";
import { crc32, deflateSync } from "node:zlib";
import type { WrappedPdfiumModule } from "@embedpdf/pdfium";
import type { CompiledWasm, WorkerContext } from "../worker/worker.ts";

export interface PdfTask {
  readonly bytes: Uint8Array;
  /** Files of PDFium, by absolute path. */
  readonly library: string;
  readonly wasm: string;
  /** As the caller wrote them, or those that an earlier worker did not get to. */
  readonly pages: string | readonly number[] | undefined;
  readonly wholePagesMax: number;
  readonly pagesMax: number;
  /** Pixels of the longer side of a page's image, or undefined for no images. */
  readonly imageLongEdge: number | undefined;
}

/** What it sends before its answer: "opened", then a "page" for each that was asked for. */
export type PdfPart =
  | { readonly is: "opened"; readonly pagesTotal: number; readonly pages: readonly number[] }
  | {
      readonly is: "page";
      readonly page: number;
      readonly text: string;
      readonly png: PngImage | undefined;
      readonly error: "damaged" | "image" | undefined;
    };

export type PdfAnswer =
  | { readonly kind: "read" }
  | { readonly kind: "no codec" }
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
  const file = open(pdfium, task.bytes);
  if (file === 0) {
    if (context.memory.isFull) return { kind: "memory" };
    const why = whyNot(pdfium.FPDF_GetLastError());
    return why === "encrypted" ? { kind: why } : { kind: why, detail: "it does not have the form of a PDF" };
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

/** The library's types leave out its memory. */
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

/** Characters of one page: many times what an answer can show. */
const textCharsMax = 2_000_000;

function open(pdfium: WrappedPdfiumModule, bytes: Uint8Array): number {
  const place = pdfium.pdfium.wasmExports.malloc(bytes.length);
  if (place === 0) return 0;
  heapOf(pdfium).set(bytes, place);
  // The empty password opens what only an owner's password protects.
  return pdfium.FPDF_LoadMemDocument(place, bytes.length, "");
}

/** 4: a password is needed, 5: a lock that PDFium does not know, 3 and others: no PDF. */
const whyNot = (code: number): "encrypted" | "damaged" => (code === 4 || code === 5 ? "encrypted" : "damaged");

function readPage(
  pdfium: WrappedPdfiumModule,
  file: number,
  number: number,
  imageLongEdge: number | undefined,
): Omit<PdfPart & { readonly is: "page" }, "is" | "page"> {
  const page = pdfium.FPDF_LoadPage(file, number - 1);
  if (page === 0) return { text: "", png: undefined, error: "damaged" };
  try {
    const text = textOf(pdfium, page);
    if (text === undefined) return { text: "", png: undefined, error: "damaged" };
    if (imageLongEdge === undefined) return { text, png: undefined, error: undefined };
    const png = pngOf(pdfium, page, imageLongEdge);
    return { text, png, error: png === undefined ? "image" : undefined };
  } finally {
    pdfium.FPDF_ClosePage(page);
  }
}

function textOf(pdfium: WrappedPdfiumModule, page: number): string | undefined {
  const textPage = pdfium.FPDFText_LoadPage(page);
  if (textPage === 0) return undefined;
  const count = Math.min(pdfium.FPDFText_CountChars(textPage), textCharsMax);
  let text = "";
  if (count > 0) {
    // A character above U+FFFF has two units, of two bytes each.
    const place = pdfium.pdfium.wasmExports.malloc((count + 1) * 4);
    if (place === 0) throw new Error("no memory for the text");
    const units = pdfium.FPDFText_GetText(textPage, 0, count, place);
    // The last unit is a NUL.
    const bytes = heapOf(pdfium).subarray(place, place + Math.max(0, units - 1) * 2);
    text = new TextDecoder("utf-16le", { ignoreBOM: true }).decode(bytes);
    pdfium.pdfium.wasmExports.free(place);
  }
  pdfium.FPDFText_ClosePage(textPage);
  return text;
}

const annotations = 0x01;
const redFirst = 0x10;
/** Pixels per point: more shows nothing new on a page of usual size. */
const scaleMax = 4;

function pngOf(pdfium: WrappedPdfiumModule, page: number, longEdge: number): PngImage | undefined {
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

/** Four bytes a pixel in; a PNG of one (grey) or three out. */
function writePng(pixels: Uint8Array, width: number, height: number, stride: number): Uint8Array {
  const channels = isGrey(pixels, width, height, stride) ? 1 : 3;
  const rows = new Uint8Array((width * channels + 1) * height);
  let to = 0;
  for (let y = 0; y < height; y += 1) {
    to += 1; // the row is stored as it is: prediction makes pages of text an eighth larger
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

/** The parameter `pages` of a paged document: "3" or "1-5", counted from 1, both ends included. */

export interface Pages {
  readonly pages: readonly number[];
}

/** Why a text names no pages, with what is legal: up to `pagesMax` pages from 1 to `pagesTotal`. */
export interface PagesFault {
  /** "form": neither "3" nor "1-5", or a page 0. "order": "5-3". */
  readonly fault: "form" | "order" | "past the end" | "too many";
  readonly pagesTotal: number | undefined;
  readonly pagesMax: number;
}

/**
 * A range that begins inside the document ends with it at the latest, as a range of lines does; only one that begins
 * behind it is a fault. Without a total nothing is past the end.
 */
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
