/**
 * Cline's readFile executor: start_line and end_line, numbers before every line, at most 48,000 characters. Its editor
 * executor changes a text that stands once.
 */

import { load } from "./index.js";

/**
 * @param {import("../worker.js").Setting} setting
 * @returns {Promise<import("../worker.js").Reader<string>>}
 */
export async function open({ folder }) {
  const { createDefaultExecutors, createEditorExecutor } = await load("@cline/core/dist/index.js");
  const { readFile } = createDefaultExecutors({});
  const change = createEditorExecutor({});
  return {
    read: (path, { from, count }) => readFile({ path, start_line: from, end_line: from + count - 1 }, { metadata: {} }),
    lines: (text) =>
      text
        .split("\n")
        .filter((line) => /^ *\d+ \| /.test(line))
        .map((line) => line.replace(/^ *\d+ \| /, "")),
    total: () => undefined,
    editor: {
      edit: (path, { old, new: fresh }) => change({ path, old_text: old, new_text: fresh }, folder, { metadata: {} }),
    },
  };
}
