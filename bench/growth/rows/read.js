/** Read of a page: the first time, when the file is known, and from the end; by the number of a line, and by its length. */

import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { mustSucceed, openSession, row, tens } from "../row.js";

const quickBytes = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8];
const bytesOfFiles = [...tens(3, 9), 8e9];
const block = "a line of text, as long as the lines of a source file are on average\n".repeat(2_000);
const lineBytes = block.length / 2_000;

/** @param {string} path @param {number} bytes */
function writeLines(path, bytes) {
  const file = openSync(path, "w");
  for (let left = bytes; left > 0; left -= block.length)
    writeSync(file, left >= block.length ? block : block.slice(0, left));
  closeSync(file);
}

/** @param {"first" | "later" | "end"} when */
const page =
  (when) =>
  (/** @type {number} */ size, /** @type {import("../row.js").Place} */ { folder }) => {
    const path = join(folder, "file.txt");
    writeLines(path, size);
    const lines = Math.ceil(size / lineBytes);
    const offset = when === "end" ? Math.max(1, lines - 19) : Math.max(1, Math.floor(lines / 2));
    const call = async (/** @type {any} */ session) =>
      mustSucceed(await session.call("Read", { file_path: path, offset, limit: 20 }), "a line of text");
    if (when === "first") return { measure: async () => call(await openSession(folder)) };
    return openSession(folder).then(async (session) => {
      await call(session);
      return { measure: () => call(session) };
    });
  };

export const read = [
  row({
    name: "read-first",
    title: "Read of 20 lines in the middle of a file, the first time",
    unit: "bytes",
    sizes: bytesOfFiles,
    quick: quickBytes,
    grows: "linear",
    onDisk: true,
    prepare: page("first"),
  }),
  row({
    name: "read-later",
    title: "Read of 20 lines in the middle of a file that was read before",
    unit: "bytes",
    sizes: bytesOfFiles,
    quick: quickBytes,
    grows: "constant",
    onDisk: true,
    prepare: page("later"),
  }),
  row({
    name: "read-end",
    title: "Read of the last 20 lines of a file that was read before",
    unit: "bytes",
    sizes: bytesOfFiles,
    quick: quickBytes,
    grows: "constant",
    onDisk: true,
    prepare: page("end"),
  }),
  row({
    name: "read-line-number",
    title: "Read of 20 lines that end with a line number, the first time",
    unit: "lines",
    sizes: tens(2, 8),
    quick: tens(2, 7),
    grows: "linear",
    prepare: (size, { folder }) => {
      const path = join(folder, "file.txt");
      const file = openSync(path, "w");
      const lines = "ab\n".repeat(100_000);
      for (let left = size; left > 0; left -= 100_000) writeSync(file, lines.slice(0, 3 * left));
      closeSync(file);
      const input = { file_path: path, offset: size - 19, limit: 20 };
      return { measure: async () => mustSucceed(await (await openSession(folder)).call("Read", input), `${size}\tab`) };
    },
  }),
  row({
    name: "read-line-length",
    title: "Read of a file of one long line",
    unit: "characters",
    sizes: tens(1, 8),
    quick: tens(1, 7),
    grows: "linear",
    prepare: (size, { folder }) => {
      const path = join(folder, "file.txt");
      writeFileSync(path, "some words of a line ".repeat(Math.ceil(size / 21)).slice(0, size));
      return {
        measure: async () =>
          mustSucceed(await (await openSession(folder)).call("Read", { file_path: path }), "some words"),
      };
    },
  }),
];
