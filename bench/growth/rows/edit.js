/** Changes: by the size of the file, the number of edits or hunks, of matches, of lines that differ, of cells. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { mustFail, mustSucceed, openSession, row, tens } from "../row.js";

/** @typedef {import("../row.js").Place} Place */

const bytesOfFiles = tens(3, 9);
const quickBytes = tens(3, 7);
const counts = [1, 10, 100, 1_000, 5_000, 20_000];
const quickCounts = [1, 10, 100, 1_000, 4_000];

const lineOf = (/** @type {number} */ at) => `line ${at} of a file that is edited, with a few words\n`;

/** Numbered lines. @param {number} count @param {(at: number) => string} [line] */
function linesOf(count, line = lineOf) {
  const parts = [];
  for (let at = 0; at < count; at += 1) parts.push(line(at));
  return parts.join("");
}

/** Numbered lines, as many as fit into so many bytes, and one that is there once, in the middle. @param {string} path @param {number} bytes */
function writeNumbered(path, bytes) {
  const half = Math.floor((bytes - 60) / 2);
  const filler = "a line of a file that is edited, with a few words\n";
  const part = filler.repeat(Math.max(1, Math.floor(half / filler.length)));
  writeFileSync(path, part);
  writeFileSync(path, "    the one line  with\tthe value = 1;\n", { flag: "a" });
  writeFileSync(path, part, { flag: "a" });
}

/** @param {(call: number) => Record<string, unknown>} input @param {(reply: any) => void} [check] */
const edit =
  (input, check = mustSucceed) =>
  async (/** @type {number} */ size, /** @type {Place} */ { folder }) => {
    const path = join(folder, "file.txt");
    writeNumbered(path, size);
    const session = await openSession(folder);
    let call = 0;
    return {
      measure: async () => {
        check(await session.call("Edit", { file_path: path, ...input(call) }));
        call += 1;
      },
    };
  };

const there = (/** @type {number} */ call) =>
  call % 2 === 0
    ? { old_string: "value = 1;", new_string: "value = 2;" }
    : { old_string: "value = 2;", new_string: "value = 1;" };

export const edits = [
  row({
    name: "edit-exact",
    title: "Edit of one line, exact",
    unit: "bytes",
    sizes: bytesOfFiles,
    quick: quickBytes,
    grows: "linear",
    prepare: edit(there),
  }),
  row({
    name: "edit-lenient",
    title: "Edit of one line with other whitespace",
    unit: "bytes",
    sizes: [...tens(3, 7), 3.3e7],
    quick: quickBytes,
    grows: "linear",
    note: "A file of more than 32 MiB is searched for exact text only, so the largest size is just below.",
    prepare: edit((call) => {
      const [from, to] = call % 2 === 0 ? [1, 2] : [2, 1];
      return {
        old_string: `the one line  with\tthe value = ${from};   \n`,
        new_string: `the one line  with\tthe value = ${to};\n`,
      };
    }),
  }),
  row({
    name: "edit-failing",
    title: "Edit of a text that is not in the file",
    unit: "bytes",
    sizes: bytesOfFiles,
    quick: quickBytes,
    grows: "linear",
    prepare: edit(
      () => ({ old_string: "    the only line with\tanother value = 1;\n", new_string: "x" }),
      (reply) => mustFail(reply, ""),
    ),
  }),
  row({
    name: "multiedit",
    title: "MultiEdit of as many edits, one for each line",
    unit: "edits",
    sizes: counts,
    quick: quickCounts,
    grows: "linear",
    prepare: async (size, { folder }) => {
      const path = join(folder, "file.txt");
      writeFileSync(path, linesOf(size));
      const session = await openSession(folder);
      let call = 0;
      return {
        measure: async () => {
          const [from, to] = call % 2 === 0 ? ["line", "LINE"] : ["LINE", "line"];
          const all = Array.from({ length: size }, (_, at) => ({
            old_string: `${from} ${at} of`,
            new_string: `${to} ${at} of`,
          }));
          mustSucceed(await session.call("MultiEdit", { file_path: path, edits: all }));
          call += 1;
        },
      };
    },
  }),
  row({
    name: "multiedit-failing",
    title: "MultiEdit of as many edits whose text is not in the file",
    unit: "edits",
    sizes: counts,
    quick: quickCounts,
    grows: "linear",
    prepare: async (size, { folder }) => {
      const path = join(folder, "file.txt");
      writeFileSync(path, linesOf(size));
      const session = await openSession(folder);
      const all = Array.from({ length: size }, (_, at) => ({
        old_string: `line ${at} of another file, with other words\n`,
        new_string: "x",
      }));
      return { measure: async () => mustFail(await session.call("MultiEdit", { file_path: path, edits: all }), "") };
    },
  }),
  row({
    name: "patch",
    title: "patch of as many hunks",
    unit: "hunks",
    sizes: counts,
    quick: quickCounts,
    grows: "linear",
    prepare: async (size, { folder }) => {
      const path = join(folder, "file.txt");
      const before = linesOf(4 * size);
      writeFileSync(path, before);
      const session = await openSession(folder, {}, "opencode");
      const lines = before.split("\n");
      const text = (/** @type {boolean} */ isBack) =>
        [
          "*** Begin Patch",
          "*** Update File: file.txt",
          ...Array.from({ length: size }, (_, at) => {
            const [old, now] = [lines[4 * at + 1], `changed ${at}`];
            const [from, to] = isBack ? [now, old] : [old, now];
            return `@@\n ${lines[4 * at]}\n-${from}\n+${to}\n ${lines[4 * at + 2]}`;
          }),
          "*** End Patch",
        ].join("\n");
      const texts = [text(false), text(true)];
      let call = 0;
      return {
        measure: async () => {
          mustSucceed(await session.call("patch", { patchText: texts[call % 2] }));
          call += 1;
        },
      };
    },
  }),
  row({
    name: "patch-failing",
    title: "patch of as many hunks, the last of which is not in the file",
    unit: "hunks",
    sizes: counts,
    quick: quickCounts,
    grows: "linear",
    prepare: async (size, { folder }) => {
      const path = join(folder, "file.txt");
      const before = linesOf(4 * size);
      writeFileSync(path, before);
      const session = await openSession(folder, {}, "opencode");
      const lines = before.split("\n");
      const hunks = Array.from(
        { length: size },
        (_, at) =>
          `@@\n ${lines[4 * at]}\n-${at === size - 1 ? "a line of another file" : lines[4 * at + 1]}\n+changed`,
      );
      const patchText = ["*** Begin Patch", "*** Update File: file.txt", ...hunks, "*** End Patch"].join("\n");
      return { measure: async () => mustFail(await session.call("patch", { patchText }), "") };
    },
  }),
  row({
    name: "unified-diff",
    title: "patch of as many hunks of a unified diff",
    unit: "hunks",
    sizes: counts,
    quick: quickCounts,
    grows: "linear",
    prepare: async (size, { folder }) => {
      const path = join(folder, "file.txt");
      const before = linesOf(4 * size);
      writeFileSync(path, before);
      const session = await openSession(folder, {}, "opencode");
      const lines = before.split("\n");
      const text = (/** @type {boolean} */ isBack) =>
        [
          "--- a/file.txt",
          "+++ b/file.txt",
          ...Array.from({ length: size }, (_, at) => {
            const [old, now] = [lines[4 * at + 1], `changed ${at}`];
            const [from, to] = isBack ? [now, old] : [old, now];
            const first = 4 * at + 1;
            return `@@ -${first},3 +${first},3 @@\n ${lines[4 * at]}\n-${from}\n+${to}\n ${lines[4 * at + 2]}`;
          }),
          "",
        ].join("\n");
      const texts = [text(false), text(true)];
      let call = 0;
      return {
        measure: async () => {
          mustSucceed(await session.call("patch", { patchText: texts[call % 2] }));
          call += 1;
        },
      };
    },
  }),
  row({
    name: "replace-all",
    title: "Edit with replace_all, as many matches",
    unit: "matches",
    sizes: tens(1, 7),
    quick: tens(1, 5),
    grows: "linear",
    prepare: async (size, { folder }) => {
      const path = join(folder, "file.txt");
      const lines = "a b\n".repeat(Math.min(size, 1_000_000));
      writeFileSync(path, "");
      for (let left = size; left > 0; left -= 1_000_000) writeFileSync(path, lines.slice(0, 4 * left), { flag: "a" });
      const session = await openSession(folder);
      let call = 0;
      return {
        measure: async () => {
          const [from, to] = call % 2 === 0 ? ["b", "c"] : ["c", "b"];
          const input = { file_path: path, old_string: from, new_string: to, replace_all: true };
          mustSucceed(await session.call("Edit", input));
          call += 1;
        },
      };
    },
  }),
  row({
    name: "write-diff",
    title: "Write over a file of which every tenth line changes, with its diff",
    unit: "lines",
    sizes: tens(1, 6),
    quick: tens(1, 5),
    grows: "linear",
    prepare: async (size, { folder }) => {
      const path = join(folder, "file.txt");
      const texts = [
        linesOf(size),
        linesOf(size, (at) => (at % 10 === 0 ? `line ${at} is another one\n` : lineOf(at))),
      ];
      writeFileSync(path, texts[0] ?? "");
      const session = await openSession(folder);
      await session.call("Read", { file_path: path });
      let call = 0;
      return {
        measure: async () => {
          call += 1;
          mustSucceed(await session.call("Write", { file_path: path, content: texts[call % 2] }));
        },
      };
    },
  }),
  row({
    name: "notebook-edit",
    title: "NotebookEdit of a cell in the middle",
    unit: "cells",
    sizes: [1, 10, 100, 1_000, 3_000, 10_000],
    quick: [1, 10, 100, 1_000, 3_000],
    grows: "linear",
    note: "A notebook of more than 10,000 cells is edited as text, which the row notebook-refused measures.",
    prepare: async (size, { folder }) => {
      const path = join(folder, "book.ipynb");
      writeFileSync(path, notebookOf(size));
      const session = await openSession(folder);
      const cell = `cell-${Math.floor(size / 2)}`;
      let call = 0;
      return {
        measure: async () => {
          call += 1;
          const input = { notebook_path: path, cell_id: cell, new_source: `value = ${call}\n` };
          mustSucceed(await session.call("NotebookEdit", input));
        },
      };
    },
  }),
  row({
    name: "notebook-refused",
    title: "NotebookEdit of a notebook with too many cells: refused, with the way on",
    unit: "cells",
    sizes: [10_001, 20_000, 40_000, 70_000, 100_000],
    quick: [10_001, 12_000, 15_000, 20_000, 30_000],
    grows: "linear",
    prepare: async (size, { folder }) => {
      const path = join(folder, "book.ipynb");
      writeFileSync(path, notebookOf(size));
      const session = await openSession(folder);
      const input = { notebook_path: path, cell_id: "cell-1", new_source: "value = 2\n" };
      return { measure: async () => mustFail(await session.call("NotebookEdit", input), "10000") };
    },
  }),
];

/** @param {number} cells */
function notebookOf(cells) {
  const cell = (/** @type {number} */ at) => ({
    cell_type: "code",
    id: `cell-${at}`,
    metadata: {},
    execution_count: at,
    source: [`value = ${at}\n`, "print(value)"],
    outputs: [{ output_type: "stream", name: "stdout", text: [`${at}\n`] }],
  });
  const metadata = { language_info: { name: "python" } };
  return JSON.stringify(
    { cells: Array.from({ length: cells }, (_, at) => cell(at)), metadata, nbformat: 4, nbformat_minor: 5 },
    undefined,
    1,
  );
}
