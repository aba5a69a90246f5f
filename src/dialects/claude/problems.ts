/** Failures in the words of the `claude` dialect. */

import type { Names } from "../change-words.ts";
import type { LspNames } from "../lsp-text.ts";
import type { OutlineNames } from "../outline-text.ts";
import { sentencesWith } from "../problem-sentences.ts";
import { denialClause } from "../words.ts";
import { grepNames } from "../shared-tools.ts";

/** What the calls of this dialect are made of. */
export const names: Names = {
  old: "old_string",
  new: "new_string",
  allPlaces: "set replace_all to true",
  reading: (from, lines) => `offset ${from} and limit ${lines}`,
  readingRest: (line, column) => `column ${column} and offset ${line}`,
  line: (number, text) => `${number}→${text}`,
  notebookTool: "NotebookEdit",
  repair: "read its text with offset 1 and limit 200 and repair that with Edit",
};

export const outlineNames: OutlineNames = { reading: names.reading, search: "Grep" };

export const lspNames: LspNames = { search: "Grep", read: "Read" };

export const sentenceOf = sentencesWith({
  change: names,
  outline: outlineNames,
  lsp: lspNames,
  grep: grepNames,
  denial: denialClause,
});
