/**
 * PDF documents: text and, on request, images of pages, by PDFium. It runs in a thread of its own with limits of time
 * and memory, so a hostile document ends the thread and not the process. A page that breaks costs only itself: the
 * pages behind it are read by a new thread.
 */

import { Buffer } from "node:buffer";
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { type Pages, type PagesFault, parsePages } from "./page-ranges.ts";
import {
  type CompiledWasm,
  type PdfThreadData,
  type PdfThreadMessage,
  type PdfThreadTask,
  type PngImage,
  pdfWorkerSource,
} from "./pdf-worker.ts";

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

type Codec = Pick<PdfThreadData, "library" | "wasm">;

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

type Failed = Extract<PdfThreadMessage, { is: "failed" }>;

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

interface Thread {
  start(bytes: Uint8Array, wants: PdfWants): void;
  read(pages: readonly number[]): void;
  /** The next message; "failed" when there will be no more. */
  next(): Promise<PdfThreadMessage>;
  fail(why: Failed["why"]): void;
  /** May it read another document? Only where all went well and its memory is small. */
  readonly isGood: boolean;
  /** Does it keep the process alive? */
  keepsAlive(keeps: boolean): void;
  end(): Promise<unknown>;
}

/** A thread takes some 50 ms to start, so one waits for the next document. */
let idle: { readonly thread: Thread; readonly timer: NodeJS.Timeout } | undefined;
const idleMsMax = 30_000;
/** Just above what PDFium begins with: what a large document took is given back with the thread. */
const idleHeapBytesMax = 33_554_432;

function takeThread(codec: Codec): Thread {
  const waiting = idle;
  if (waiting === undefined) return startThread(codec);
  idle = undefined;
  clearTimeout(waiting.timer);
  if (!waiting.thread.isGood) return startThread(codec); // it ended while it waited
  waiting.thread.keepsAlive(true);
  return waiting.thread;
}

async function putBack(thread: Thread): Promise<void> {
  if (!thread.isGood || idle !== undefined) {
    await thread.end();
    return;
  }
  thread.keepsAlive(false);
  const timer = setTimeout(() => {
    idle = undefined;
    void thread.end();
  }, idleMsMax);
  timer.unref();
  idle = { thread, timer };
}

/** PDFium as the first thread compiled it: the next ones start sooner and run its optimised code from the beginning. */
let compiled: CompiledWasm | undefined;

function startThread(codec: Codec): Thread {
  const data: PdfThreadData = { ...codec, compiled };
  const worker = new Worker(pdfWorkerSource, {
    eval: true,
    workerData: data,
    // Whatever the host process was started with is not for this thread, and nothing it prints is for the user.
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    // Holds little more than the text of a page. With less, V8 collects garbage at the start, for 15 ms.
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 },
  });

  const arrived: PdfThreadMessage[] = [];
  let wake = (): void => undefined;
  let isGood = true;
  const arrive = (message: PdfThreadMessage): void => {
    if (message.is === "opened") compiled = message.compiled;
    isGood &&= message.is !== "failed" && message.heapBytes <= idleHeapBytesMax;
    arrived.push(message);
    wake();
  };
  const fail = (why: Failed["why"]): void => arrive({ is: "failed", why });
  worker.on("message", arrive);
  worker.once("error", (error: NodeJS.ErrnoException) =>
    fail(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : "damaged"),
  );
  worker.once("exit", () => fail("damaged"));

  return {
    start(bytes, wants) {
      // A copy to give away: sending a view would copy all of the memory that it is a view of.
      const copy = new Uint8Array(bytes);
      const task: PdfThreadTask = {
        bytes: copy,
        heapBytesMax: wants.memoryMbMax * 1_048_576,
        imageLongEdge: wants.images ? wants.imageLongEdge : undefined,
      };
      worker.postMessage(task, [copy.buffer]);
    },
    read: (pages) => worker.postMessage(pages, []),
    async next() {
      while (arrived.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return arrived.shift() ?? { is: "failed", why: "damaged" };
    },
    fail,
    get isGood() {
      return isGood && arrived.length === 0;
    },
    keepsAlive: (keeps) => (keeps ? worker.ref() : worker.unref()),
    end: () => worker.terminate(),
  };
}
