/** The optional kinds of files, up to their limits and just above. */

import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "rolldown";
import { folder as files } from "../../corpus.js";
import { mustSucceed, openSession, row } from "../row.js";

/** @typedef {import("../row.js").Place} Place */

/** The makers of samples, which the tests use; below the project, where their packages are found. @param {"images" | "office" | "pdfs" | "notebooks"} name @returns {Promise<any>} */
async function samples(name) {
  const path = join(files, "..", "samples", `${name}.mjs`);
  const making = `${path}.${process.pid}`;
  await build({
    input: fileURLToPath(new URL(`../../../test/samples/${name}.ts`, import.meta.url)),
    platform: "node",
    transform: { target: "node20" },
    external: [/^(?!@oxc-project\/)[@a-z]/],
    output: { file: making, format: "es", codeSplitting: false },
    logLevel: "silent",
  });
  renameSync(making, path);
  return import(pathToFileURL(path).href);
}

/** @param {string} name @param {(size: number) => string | Uint8Array | Promise<string | Uint8Array>} make @param {object} [more] @param {string} [tool] */
const reads =
  (name, make, more = {}, tool = "Read") =>
  async (/** @type {number} */ size, /** @type {Place} */ { folder }) => {
    const path = join(folder, name);
    writeFileSync(path, await make(size));
    return {
      measure: async () => {
        // A toolkit of its own each time: the next read of the same file would come from its cache.
        const session = await openSession(folder);
        const reply = await session.call(tool, { file_path: path, ...more });
        const text = reply.content.map((/** @type {any} */ part) => part.text ?? "").join("\n");
        // Above a limit the answer is a refusal that says what to do, or a smaller answer; both are answers.
        if (reply.isError && !text.startsWith("Cannot ")) throw new Error(`a wrong answer: ${text.slice(0, 300)}`);
        if (!reply.isError) mustSucceed(reply);
      },
    };
  };

export const kinds = [
  row({
    name: "pdf",
    title: "Read of a PDF, pages 1 to 5",
    unit: "pages",
    sizes: [5, 20, 100, 500, 2_000],
    quick: [5, 10, 20, 50, 100],
    grows: "linear",
    prepare: reads("a.pdf", async (size) => (await samples("pdfs")).prosePdf(size, 40), {
      pages: "1-5",
    }),
  }),
  row({
    name: "image",
    title: "Read of a photo",
    unit: "pixels",
    sizes: [10_000, 100_000, 1_000_000, 10_000_000, 50_000_000, 110_000_000],
    quick: [10_000, 30_000, 100_000, 300_000, 1_000_000],
    grows: "linear",
    note: "The limit is 100,000,000 pixels; the largest size is above it and is refused.",
    prepare: reads("a.jpg", async (size) => {
      const side = Math.round(Math.sqrt(size));
      return (await samples("images")).flat(side, side).jpeg().toBuffer();
    }),
  }),
  row({
    name: "docx",
    title: "Read of a text document",
    unit: "paragraphs",
    sizes: [10, 100, 1_000, 10_000, 50_000],
    quick: [10, 30, 100, 300, 1_000],
    grows: "linear",
    prepare: reads("a.docx", async (size) => {
      const { zipOf, docxParts, paragraph } = await samples("office");
      const body = Array.from({ length: size }, (_, at) =>
        paragraph(`${at}: a sentence of a paragraph that goes on for a while`),
      );
      return zipOf(docxParts(body.join("")));
    }),
  }),
  row({
    name: "xlsx",
    title: "Read of a table",
    unit: "rows",
    sizes: [10, 100, 1_000, 10_000, 100_000],
    quick: [10, 30, 100, 300, 1_000],
    grows: "linear",
    prepare: reads("a.xlsx", async (size) => {
      const { zipOf, xlsxParts, rowsXml } = await samples("office");
      const rows = Array.from(
        { length: size },
        (_, at) =>
          `<row r="${at + 1}"><c r="A${at + 1}"><v>${at}</v></c><c r="B${at + 1}" t="inlineStr"><is><t>note ${at}</t></is></c></row>`,
      );
      return zipOf(xlsxParts([{ name: "Data", xml: rowsXml(rows) }]));
    }),
  }),
  row({
    name: "notebook-read",
    title: "Read of the first cells of a notebook",
    unit: "cells",
    sizes: [1, 10, 100, 1_000, 10_000, 20_000],
    quick: [1, 10, 100, 300, 1_000],
    grows: "linear",
    note: "A notebook of more than 10,000 cells is read as text.",
    prepare: reads(
      "a.ipynb",
      async (size) => {
        const { notebook4, codeCell } = await samples("notebooks");
        return notebook4(Array.from({ length: size }, (_, at) => codeCell(`value = ${at}\nprint(value)`)));
      },
      { offset: 1, limit: 10 },
    ),
  }),
  row({
    name: "outline",
    title: "Outline of a source file",
    unit: "bytes",
    sizes: [1_000, 10_000, 100_000, 1_000_000, 4_000_000, 5_000_000],
    quick: [1_000, 3_000, 10_000, 30_000, 100_000],
    grows: "linear",
    note: "The limit is 4 MiB; the largest size is above it and is refused.",
    prepare: reads(
      "a.ts",
      (size) => {
        const parts = [];
        for (let [at, left] = [0, size]; left > 0; at += 1) {
          const part = `export function work${at}(value: number): number {\n  return value + ${at};\n}\n\n`;
          parts.push(part);
          left -= part.length;
        }
        return parts.join("");
      },
      {},
      "Outline",
    ),
  }),
];
