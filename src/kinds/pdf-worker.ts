/**
 * What the thread that reads PDFs runs: opens a document, is told which pages are wanted, sends them one by one. Every
 * document has a PDFium of its own, so what a hostile one did to its memory does not reach the next. It is a text
 * because a thread's program must be a file of its own or a text, and the command line ships as one bundled file.
 */

/** A `WebAssembly.Module`, only carried about: neither the `es2023` library nor Node 20's types declare it. */
export type CompiledWasm = object;

/** How the thread is started. */
export interface PdfThreadData {
  /** Files of PDFium, by absolute path: a thread made of a text would look for packages in the working directory. */
  readonly library: string;
  readonly wasm: string;
  /** PDFium as compiled by an earlier thread. */
  readonly compiled: CompiledWasm | undefined;
}

/** What it is given, and then a list of pages, counted from 1. */
export interface PdfThreadTask {
  readonly bytes: Uint8Array;
  readonly heapBytesMax: number;
  /** Pixels of the longer side of a page's image, or undefined for no images. */
  readonly imageLongEdge: number | undefined;
}

/** What it sends: "opened", then a "page" for each that was asked for, then it is ready for the next task. */
export type PdfThreadMessage =
  | { readonly is: "opened"; readonly pagesTotal: number; readonly compiled: CompiledWasm; readonly heapBytes: number }
  | {
      readonly is: "page";
      readonly text: string;
      readonly png: PngImage | undefined;
      readonly error: "damaged" | "image" | undefined;
      readonly heapBytes: number;
    }
  /** The last message: the document does not open, or PDFium crashed. */
  | { readonly is: "failed"; readonly why: "encrypted" | "damaged" | "memory" | "time" | "no codec" };

export interface PngImage {
  readonly bytes: Uint8Array;
  readonly width: number;
  readonly height: number;
}

export const pdfWorkerSource = String.raw`
"use strict";
const { on } = require("node:events");
const { readFileSync } = require("node:fs");
const { parentPort, workerData } = require("node:worker_threads");
const { crc32, deflateSync } = require("node:zlib");

let { compiled } = workerData;
const inbox = on(parentPort, "message");
const received = async () => (await inbox.next()).value[0];
const fail = (why) => parentPort.postMessage({ is: "failed", why });

/** The heap grows by up to a fifth more than is asked for. */
const growth = 1.2;

/** A PDFium that nobody has used. The limits of a thread do not count its memory, and its own limit is 2 GB. */
async function loadPdfium(heap) {
  compiled ??= new WebAssembly.Module(readFileSync(workerData.wasm));
  const pdfium = await require(workerData.library).init({
    print() {},
    printErr() {},
    instantiateWasm(imports, receive) {
      const grow = imports.env.emscripten_resize_heap;
      imports.env.emscripten_resize_heap = (bytes) => {
        heap.isFull = (bytes >>> 0) * growth > heap.bytesMax || !grow(bytes);
        return !heap.isFull;
      };
      const instance = new WebAssembly.Instance(compiled, imports);
      receive(instance);
      return instance.exports;
    },
  });
  pdfium.PDFiumExt_Init();
  return pdfium;
}

async function serve() {
  for (;;) {
    const heap = { bytesMax: Infinity, isFull: false };
    const pdfium = await loadPdfium(heap).catch(() => undefined);
    if (pdfium === undefined) return fail("no codec");
    const task = await received();
    heap.bytesMax = task.heapBytesMax;
    try {
      const file = open(pdfium, task.bytes);
      task.bytes = undefined; // PDFium has its own copy
      if (file === 0) return fail(heap.isFull ? "memory" : whyNot(pdfium.FPDF_GetLastError()));
      const heapBytes = () => pdfium.pdfium.HEAPU8.length;
      const pagesTotal = pdfium.FPDF_GetPageCount(file);
      parentPort.postMessage({ is: "opened", pagesTotal, compiled, heapBytes: heapBytes() });
      for (const number of await received()) {
        const page = readPage(pdfium, file, number, task.imageLongEdge);
        parentPort.postMessage({ is: "page", ...page, heapBytes: heapBytes() });
      }
    } catch {
      return fail(heap.isFull ? "memory" : "damaged");
    }
  }
}

function open(pdfium, bytes) {
  const place = pdfium.pdfium.wasmExports.malloc(bytes.length);
  if (place === 0) return 0;
  pdfium.pdfium.HEAPU8.set(bytes, place);
  // The empty password opens what only an owner's password protects.
  return pdfium.FPDF_LoadMemDocument(place, bytes.length, "");
}

/** 4: a password is needed, 5: a lock that PDFium does not know, 3 and others: no PDF. */
const whyNot = (code) => (code === 4 || code === 5 ? "encrypted" : "damaged");

function readPage(pdfium, file, number, imageLongEdge) {
  const page = pdfium.FPDF_LoadPage(file, number - 1);
  if (page === 0) return { text: "", error: "damaged" };
  try {
    const text = textOf(pdfium, page);
    if (text === undefined) return { text: "", error: "damaged" };
    if (imageLongEdge === undefined) return { text };
    const png = pngOf(pdfium, page, imageLongEdge);
    return png === undefined ? { text, error: "image" } : { text, png };
  } finally {
    pdfium.FPDF_ClosePage(page);
  }
}

function textOf(pdfium, page) {
  const textPage = pdfium.FPDFText_LoadPage(page);
  if (textPage === 0) return undefined;
  const count = pdfium.FPDFText_CountChars(textPage);
  let text = "";
  if (count > 0) {
    // A character above U+FFFF has two units, of two bytes each.
    const place = pdfium.pdfium.wasmExports.malloc((count + 1) * 4);
    if (place === 0) throw new Error("no memory for the text");
    const units = pdfium.FPDFText_GetText(textPage, 0, count, place);
    // The last unit is a NUL.
    const bytes = pdfium.pdfium.HEAPU8.subarray(place, place + Math.max(0, units - 1) * 2);
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

function pngOf(pdfium, page, longEdge) {
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
  const bytes = writePng(pdfium.pdfium.HEAPU8.subarray(from, from + stride * height), width, height, stride);
  pdfium.FPDFBitmap_Destroy(bitmap);
  return { bytes, width, height };
}

/** Four bytes a pixel in; a PNG of one (grey) or three out. */
function writePng(pixels, width, height, stride) {
  const channels = isGrey(pixels, width, height, stride) ? 1 : 3;
  const rows = new Uint8Array((width * channels + 1) * height);
  let to = 0;
  for (let y = 0; y < height; y += 1) {
    to += 1; // the row is stored as it is: prediction makes pages of text an eighth larger
    for (let from = y * stride; from < y * stride + width * 4; from += 4) {
      rows[to++] = pixels[from];
      if (channels === 1) continue;
      rows[to++] = pixels[from + 1];
      rows[to++] = pixels[from + 2];
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

function isGrey(pixels, width, height, stride) {
  for (let y = 0; y < height; y += 1) {
    for (let at = y * stride; at < y * stride + width * 4; at += 4) {
      if (pixels[at] !== pixels[at + 1] || pixels[at] !== pixels[at + 2]) return false;
    }
  }
  return true;
}

function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  whole.set(body, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}

serve();
`;
