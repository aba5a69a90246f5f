/**
 * Suite `kinds`: a photo and a long PDF through Filehand's readers, against the libraries underneath alone. The readers
 * are no public part of the package, so they are bundled from the source for this.
 */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "rolldown";
import sharp from "sharp";
import { textFiles } from "../../scripts/text-files.js";
import { folder } from "../corpus.js";
import { addGate, addRatios, addSample, rowOf, startTable } from "../results.js";

/** @typedef {import("../results.js").Table} Table */

const roundsDefault = 9;
const pages = 100;

/**
 * @param {import("../run.js").Setting} setting
 * @returns {Promise<Table[]>}
 */
export async function kinds({ rounds = roundsDefault, progress }) {
  progress("kinds, bundling the readers");
  const { readImage, readPdf, photo, prosePdf } = await readers();
  const jpeg = await photo(4_000, 3_000).jpeg({ quality: 85 }).toBuffer();
  const pdf = prosePdf(pages, 48);
  const signal = new AbortController().signal;

  const images = startTable(
    "kinds",
    `kinds: a photo of 12 megapixels, ${jpeg.length} bytes, ${rounds} rounds`,
    "sharp alone",
    jpeg.length,
  );
  const documents = startTable(
    "kinds",
    `kinds: text of ${pages} PDF pages, ${pdf.length} bytes, ${rounds} rounds`,
    "PDFium alone",
    pdf.length,
  );
  const bare = await openPdfium();
  for (let round = 0; round <= rounds; round += 1) {
    progress(`kinds, round ${round} of ${rounds}`);
    const keep = round > 0; // the first one warms up
    await sample(images, "sharp alone", keep, async () => {
      const out = await sharp(jpeg).rotate().resize(1_568, 1_568, { fit: "inside" }).jpeg({ quality: 80 }).toBuffer();
      return out.length > 0;
    });
    await sample(images, "Filehand", keep, async () => {
      const budget = { tokensMax: 25_000, longEdgeMax: 1_568, sideMax: 2_000, pixelsMax: 1e8 };
      const result = await readImage(jpeg, budget, signal);
      return result.kind === "image" && result.display.width === 1_568;
    });
    let chars = 0;
    await sample(documents, "PDFium alone", keep, async () => {
      chars = bare(pdf);
      return chars > 0;
    });
    const wants = { images: false, timeMsMax: 60_000, memoryMbMax: 256, imageLongEdge: 1_568 };
    await sample(documents, "Filehand, one call", keep, async () => {
      const result = await readPdf(pdf, { ...wants, pages: undefined, wholePagesMax: pages, pagesMax: pages }, signal);
      return result.kind === "pdf" && result.pages.length === pages && result.hasText;
    });
    // A tool call reads 20 pages at most, so this is what a model pays for 100; its `pages` also draws them.
    for (const images of [false, true]) {
      await sample(documents, `Filehand, five calls of 20${images ? ", with pictures" : ""}`, keep, async () => {
        let read = 0;
        for (let from = 1; from <= pages; from += 20) {
          const asked = { ...wants, images, pages: `${from}-${from + 19}`, wholePagesMax: 10, pagesMax: 20 };
          const result = await readPdf(pdf, asked, signal);
          if (result.kind === "pdf") read += result.pages.length;
        }
        return read === pages;
      });
    }
  }
  for (const table of [images, documents]) addRatios(table);
  const photoRow = rowOf(images, "Filehand");
  addGate(photoRow, "of sharp alone", photoRow.ratio?.value, 1.3);
  for (const method of ["Filehand, one call", "Filehand, five calls of 20"]) {
    const row = rowOf(documents, method);
    addGate(row, "of PDFium alone", row.ratio?.value, 1.5);
  }
  return [images, documents];
}

/** @param {Table} table @param {string} method @param {boolean} keep @param {() => Promise<boolean>} work */
async function sample(table, method, keep, work) {
  const started = performance.now();
  const right = await work();
  const ms = performance.now() - started;
  if (keep) addSample(rowOf(table, method), { ms }, { counts: right, words: right ? "yes" : "wrong" });
}

/** Filehand's readers and the makers of samples, bundled from the source. */
async function readers() {
  const dir = join(folder, "..", "kinds");
  await build({
    input: {
      image: "src/kinds/image/image.ts",
      pdf: "src/kinds/pdf/pdf.ts",
      images: "test/samples/images.ts",
      pdfs: "test/samples/pdfs.ts",
    },
    platform: "node",
    transform: { target: "node20" },
    plugins: [textFiles()],
    external: [/^(?!@oxc-project\/)[@a-z]/],
    output: { dir, format: "es", entryFileNames: "[name].mjs", chunkFileNames: "[name].mjs" },
    logLevel: "silent",
  });
  const load = (/** @type {string} */ name) => import(pathToFileURL(join(dir, `${name}.mjs`)).href);
  const [{ readImage }, { readPdf }, { photo }, { prosePdf }] = await Promise.all(
    ["image", "pdf", "images", "pdfs"].map(load),
  );
  return { readImage, readPdf, photo, prosePdf };
}

/** Text of all pages by the library alone, in this thread; answers with the number of characters. */
async function openPdfium() {
  const require = createRequire(import.meta.url);
  const { init } = await import("@embedpdf/pdfium");
  const wasmBinary = new Uint8Array(readFileSync(require.resolve("@embedpdf/pdfium/pdfium.wasm"))).buffer;
  const pdfium = await init({ wasmBinary });
  pdfium.PDFiumExt_Init();
  return (/** @type {Uint8Array} */ bytes) => {
    const { wasmExports, HEAPU8 } = /** @type {any} */ (pdfium.pdfium); // the package does not type it
    const place = wasmExports.malloc(bytes.length);
    HEAPU8.set(bytes, place);
    const file = pdfium.FPDF_LoadMemDocument(place, bytes.length, "");
    let chars = 0;
    for (let number = 0; number < pdfium.FPDF_GetPageCount(file); number += 1) {
      const page = pdfium.FPDF_LoadPage(file, number);
      const text = pdfium.FPDFText_LoadPage(page);
      const count = pdfium.FPDFText_CountChars(text);
      const out = wasmExports.malloc((count + 1) * 4);
      pdfium.FPDFText_GetText(text, 0, count, out);
      chars += Buffer.from(/** @type {any} */ (pdfium.pdfium).HEAPU8.subarray(out, out + count * 2)).toString(
        "utf16le",
      ).length;
      wasmExports.free(out);
      pdfium.FPDFText_ClosePage(text);
      pdfium.FPDF_ClosePage(page);
    }
    pdfium.FPDF_CloseDocument(file);
    wasmExports.free(place);
    return chars;
  };
}
