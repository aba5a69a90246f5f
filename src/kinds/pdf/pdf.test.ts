import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fc from "fast-check";
import sharp from "sharp";
import { expect, test, vi } from "vitest";
import {
  bombs,
  cjkPdf,
  compressedPdf,
  damagedPdfs,
  emptyPagesPdf,
  encryptedPdf,
  mappedPdf,
  pageBombPdf,
  pageDrawnForHoursPdf,
  pageMissingPdf,
  prosePdf,
  redPdf,
  scannedPdf,
  textPdf,
} from "../../../test/samples/pdfs.ts";
import { type PdfFailure, type PdfResult, type PdfWants, readPdf } from "./pdf.ts";

const usual: PdfWants = {
  pages: undefined,
  images: false,
  wholePagesMax: 10,
  pagesMax: 20,
  timeMsMax: 120_000,
  memoryMbMax: 200,
  imageLongEdge: 1_568,
};

const never = new AbortController().signal;

const read = (bytes: Uint8Array, wants: Partial<PdfWants> = {}): Promise<PdfResult | PdfFailure> =>
  readPdf(bytes, { ...usual, ...wants }, never);

/** The texts of the pages, or what went wrong. */
async function texts(bytes: Uint8Array, wants: Partial<PdfWants> = {}): Promise<readonly string[] | PdfFailure> {
  const result = await read(bytes, wants);
  return result.kind === "pdf" ? result.pages.map(({ text }) => text) : result;
}

test("a document is read page by page, line by line", async () => {
  const pages = [["First page", "  two (2) \\ words  ", "caf\xe9 \x93quoted\x94"], [], ["Third page"]];
  deepEqual(await read(textPdf(pages)), {
    kind: "pdf",
    pagesTotal: 3,
    pages: [
      { page: 1, text: "First page\n two (2) \\ words\ncafé “quoted”" },
      { page: 2, text: "" },
      { page: 3, text: "Third page" },
    ],
    hasText: true,
  });
});

test("a hyphenated word stays as it is on the page", async () =>
  deepEqual(await texts(textPdf([["an exam-", "ple and a well-", "Known one"]])), [
    "an exam-\nple and a well-\nKnown one",
  ]));

test("object streams and a cross-reference stream are no encryption", async () =>
  deepEqual(await texts(compressedPdf([["first"], ["second"]])), ["first", "second"]));

test("Chinese and Japanese are read by the names of their character maps", async () =>
  deepEqual(await texts(cjkPdf("汉字测试，。", "日本語のテスト")), ["汉字测试，。\n日本語のテスト"]));

test("glyphs are read by the map in the document, also above U+FFFF", async () => {
  deepEqual(await texts(mappedPdf("汉字 😀 Ωé")), ["汉字 😀 Ωé"]);
  deepEqual(await texts(mappedPdf("😀🎉".repeat(20))), ["😀🎉".repeat(20)]);
});

test("glyphs without a meaning are not text", async () => {
  const unmapped = mappedPdf("abc").toString("latin1").replace("/ToUnicode 6 0 R", " ".repeat(16));
  const result = await read(Buffer.from(unmapped, "latin1"));
  equal(result.kind === "pdf" && result.hasText, false);
});

test("a document without text is told from one that is encrypted or damaged", async () => {
  deepEqual(await read(scannedPdf(1)), { kind: "pdf", pagesTotal: 1, pages: [{ page: 1, text: "" }], hasText: false });
  deepEqual(await read(encryptedPdf(["secret"], "password")), { kind: "encrypted" });
  deepEqual(await read(Buffer.from("%PDF-1.7\n")), { kind: "damaged", detail: "it does not have the form of a PDF" });
});

test("a document that only has an owner's password opens", async () =>
  deepEqual(await texts(encryptedPdf(["no secret"], "")), ["no secret"]));

test("10 pages are read whole, 11 are not", async () => {
  const whole = await read(prosePdf(10, 3));
  equal(whole.kind === "pdf" && whole.pages.length, 10);
  deepEqual(await read(prosePdf(11, 3)), { kind: "too many pages", pagesTotal: 11, wholePagesMax: 10 });
});

for (const [pages, numbers] of [
  ["1-3", [1, 2, 3]],
  ["12", [12]],
  ["11-20", [11, 12]],
] as const) {
  test(`pages "${pages}" of 12 are read`, async () => {
    const found = await texts(prosePdf(12, 2), { pages });
    ok(Array.isArray(found));
    deepEqual(
      found.map((text: string) => text.split("\n")[0]),
      numbers.map((number) => `Page ${number}`),
    );
  });
}

for (const [pages, fault] of [
  ["0", "form"],
  ["5-3", "order"],
  ["99", "past the end"],
] as const) {
  test(`pages "${pages}" of 12 are a fault`, async () =>
    deepEqual(await read(prosePdf(12, 2), { pages }), { kind: "pages", fault, pagesTotal: 12, pagesMax: 20 }));
}

test("any 20 of 1,000 pages are read, and 21 are too many", async () => {
  const thousand = emptyPagesPdf(1_000);
  const result = await read(thousand, { pages: "981-1000" });
  equal(result.kind === "pdf" && result.pages.length, 20);
  deepEqual(await read(thousand, { pages: "1-21" }), {
    kind: "pages",
    fault: "too many",
    pagesTotal: 1_000,
    pagesMax: 20,
  });
});

test("a page that is missing does not cost the others", async () => {
  const result = await read(pageMissingPdf());
  deepEqual(result.kind === "pdf" && result.pages, [
    { page: 1, text: "first" },
    { page: 2, text: "", error: "damaged" },
    { page: 3, text: "third" },
  ]);
});

test("a page that takes all memory does not cost the others", async () => {
  const result = await read(pageBombPdf());
  deepEqual(result.kind === "pdf" && result.pages, [
    { page: 1, text: "first" },
    { page: 2, text: "", error: "memory" },
    { page: 3, text: "third" },
  ]);
});

test("what was read before the time ended is given", async () => {
  // However slow the machine is, at some time the first page is read before it is over.
  const within = (timeMsMax: number) => read(pageDrawnForHoursPdf(), { images: true, timeMsMax });
  const isTooEarly = (read: Awaited<ReturnType<typeof within>>): boolean =>
    read.kind === "time" || (read.kind === "pdf" && read.pages[0]?.error === "time");
  let result = await within(2_000);
  for (let timeMsMax = 4_000; isTooEarly(result); timeMsMax *= 2) result = await within(timeMsMax);
  deepEqual(result.kind === "pdf" && result.pages.map(({ text, error }) => ({ text, error })), [
    { text: "first", error: undefined },
    { text: "", error: "time" },
    { text: "", error: "time" },
  ]);
});

async function firstImage(bytes: Uint8Array, wants: Partial<PdfWants> = {}) {
  const result = await read(bytes, { images: true, ...wants });
  const image = result.kind === "pdf" ? result.pages[0]?.image : undefined;
  ok(image !== undefined);
  const opened = sharp(Buffer.from(image.base64, "base64"));
  const { format, width, height, channels } = await opened.metadata();
  deepEqual([`image/${format}`, width, height], [image.mime, image.width, image.height]);
  return { ...image, channels, stats: await opened.stats() };
}

test("a page of text is a grey PNG that fits the longer side", async () => {
  const image = await firstImage(prosePdf(1, 40));
  deepEqual([image.mime, image.width, image.height, image.channels], ["image/png", 1_212, 1_568, 1]);
  const [grey] = image.stats.channels;
  deepEqual([grey?.min, grey?.max], [0, 255]);
  ok(grey !== undefined && grey.mean > 200, "most of it is paper");
});

test("colours are kept", async () => {
  const image = await firstImage(redPdf(), { imageLongEdge: 100 });
  deepEqual([image.width, image.height], [77, 100]);
  deepEqual(
    image.stats.channels.map(({ mean }) => mean),
    [255, 0, 0],
  );
});

test("a scanned page is a JPEG", async () => {
  const image = await firstImage(scannedPdf(1, 1_500));
  deepEqual([image.mime, image.width, image.height], ["image/jpeg", 1_212, 1_568]);
  ok(image.base64.length < 1_500_000);
});

for (const [name, bytes] of damagedPdfs()) {
  test(`damaged: ${name}`, async () => equal((await read(bytes)).kind, "damaged"));
}

test("bytes that were changed at random always have an answer", async () => {
  const whole = compressedPdf([["one", "two"], ["three"]]);
  const change = fc.tuple(fc.nat(whole.length - 1), fc.nat(255));
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 20 }), async (changes) => {
      const bytes = Buffer.from(whole);
      for (const [at, byte] of changes) bytes[at] = byte;
      ok(["pdf", "damaged", "encrypted", "memory", "time"].includes((await read(bytes, { timeMsMax: 2_000 })).kind));
    }),
    { numRuns: 40 },
  );
});

for (const [name, make] of Object.entries(bombs)) {
  test(`bomb: ${name}`, async () => {
    const bytes = make();
    for (const images of [false, true]) {
      const beforeBytes = process.memoryUsage.rss();
      let peakBytes = 0;
      const watch = setInterval(() => {
        peakBytes = Math.max(peakBytes, process.memoryUsage.rss() - beforeBytes);
      }, 10);
      const result = await read(bytes, { images, timeMsMax: 2_000 });
      clearInterval(watch);
      ok(["pdf", "damaged", "memory", "time"].includes(result.kind));
      ok(peakBytes < 300_000_000, `took ${peakBytes} bytes`);
    }
    deepEqual(await texts(textPdf([["still there"]])), ["still there"]);
  });
}

test("a document larger than the memory limit is refused", async () =>
  deepEqual(await read(Buffer.concat([textPdf([["x"]]), Buffer.alloc(60_000_000)]), { memoryMbMax: 48 }), {
    kind: "memory",
  }));

test("many at once are all read", async () => {
  const found = await Promise.all(Array.from({ length: 6 }, (_, index) => texts(textPdf([[`document ${index}`]]))));
  deepEqual(
    found,
    Array.from({ length: 6 }, (_, index) => [`document ${index}`]),
  );
});

test("a caller who stops hears so at once", async () => {
  const stop = new AbortController();
  const reading = readPdf(pageDrawnForHoursPdf(), { ...usual, images: true, timeMsMax: 3_600_000 }, stop.signal);
  setTimeout(() => stop.abort(new Error("enough")), 300);
  await rejects(reading, /enough/);
  await rejects(readPdf(textPdf([["x"]]), usual, stop.signal), /enough/);
});

test("the bytes stay the caller's", async () => {
  const bytes = textPdf([["x"]]);
  const copy = Buffer.from(bytes);
  await read(bytes.subarray());
  expect(bytes).toEqual(copy);
});

test("without PDFium the answer says what to install", async () => {
  vi.resetModules();
  vi.doMock("node:module", () => ({
    createRequire: () => ({
      resolve: (name: string) => {
        throw new Error(`Cannot find module '${name}'`);
      },
    }),
  }));
  const without = await import("./pdf.ts");
  deepEqual(await without.readPdf(textPdf([["x"]]), usual, never), { kind: "no codec", install: "@embedpdf/pdfium" });
  vi.doUnmock("node:module");
});
