/**
 * pi's read tool: offset and limit in lines, at most 2,000 lines and 50 KB, the rest announced in brackets; its edit tool;
 * its grep tool, which runs the `rg` on the PATH: the one that Filehand uses; its find tool, which needs an `fd` on the PATH;
 * its ls tool.
 */

import { delimiter, dirname } from "node:path";
import { ripgrepPath } from "../ripgrep-path.js";
import { load } from "./index.js";

/**
 * @param {import("../worker.js").Setting} setting
 * @returns {Promise<import("../worker.js").Reader<{ text: string, end: number }>>}
 */
export async function open({ folder }) {
  const { createEditTool, createFindTool, createGrepTool, createLsTool, createReadTool } = await load(
    "@mariozechner/pi-coding-agent/dist/index.js",
  );
  const tool = createReadTool(folder);
  const editTool = createEditTool(folder);
  const grepTool = createGrepTool(folder);
  const findTool = createFindTool(folder);
  const lsTool = createLsTool(folder);
  process.env["PATH"] = `${dirname(ripgrepPath())}${delimiter}${process.env["PATH"] ?? ""}`;
  return {
    read: async (path, { from, count }) => {
      const { content } = await tool.execute("bench", { path, offset: from, limit: count });
      return { text: content[0].text, end: from + count - 1 };
    },
    lines: ({ text }) =>
      text
        .replace(/\n\n\[[^\n]*\]$/, "")
        .replace(/\n$/, "")
        .split("\n"),
    total: ({ text, end }) => {
      const of = /\[Showing lines \d+-\d+ of (\d+)/.exec(text)?.[1];
      const more = /\[(\d+) more lines in file/.exec(text)?.[1];
      if (of !== undefined) return Number(of);
      return more === undefined ? undefined : end + Number(more);
    },
    grep: (pattern) => grepTool.execute("bench", { pattern, limit: 1_000_000 }),
    grepLines: ({ content }) => content[0].text.match(/^.+:\d+: /gm)?.length ?? 0,
    glob: (pattern) => findTool.execute("bench", { pattern, limit: 1_000_000 }),
    list: (path) => lsTool.execute("bench", { path, limit: 1_000_000 }),
    globPaths: ({ content }) => namesIn(content[0].text),
    listNames: ({ content }) => namesIn(content[0].text),
    editor: {
      edit: (path, { old, new: fresh }) =>
        editTool.execute("bench", { path, edits: [{ oldText: old, newText: fresh }] }),
    },
  };
}

/** What stands in brackets at the end is about limits. @param {string} text */
const namesIn = (text) => text.replace(/\n\n\[[^\n]*\]$/, "").split("\n");
