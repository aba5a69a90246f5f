/** Cline's readFile executor: start_line and end_line, numbers before every line, at most 48,000 characters. */

import { load } from "./index.js";

/** @returns {Promise<import("../worker.js").Reader<string>>} */
export async function open() {
  const { createDefaultExecutors } = await load("@cline/core/dist/index.js");
  const { readFile } = createDefaultExecutors({});
  return {
    read: (path, { from, count }) => readFile({ path, start_line: from, end_line: from + count - 1 }, { metadata: {} }),
    lines: (text) =>
      text
        .split("\n")
        .filter((line) => /^ *\d+ \| /.test(line))
        .map((line) => line.replace(/^ *\d+ \| /, "")),
    total: () => undefined,
  };
}
