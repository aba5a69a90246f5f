/**
 * Desktop Commander's readFile: offset counted from 0, a negative one counts from the end, a status line on top; edit_block;
 * its searchFiles, which asks its search every 100 ms whether it is done, and listDirectory.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { load } from "./index.js";

/**
 * @param {import("../worker.js").Setting} setting
 * @returns {Promise<import("../worker.js").Reader<string>>}
 */
export async function open({ folder }) {
  // The bench gives each worker a home of its own, so this is nobody's real configuration.
  const settings = join(homedir(), ".claude-server-commander");
  mkdirSync(settings, { recursive: true });
  const config = { allowedDirectories: [folder], telemetryEnabled: false };
  writeFileSync(join(settings, "config.json"), JSON.stringify(config));
  const { listDirectory, readFile, searchFiles } = await load(
    "@wonderwhy-er/desktop-commander/dist/tools/filesystem.js",
  );
  const { performSearchReplace } = await load("@wonderwhy-er/desktop-commander/dist/tools/edit.js");
  return {
    read: async (path, { from, count }) => (await readFile(path, { offset: from - 1, length: count })).content,
    tail: async (path, { count }) => (await readFile(path, { offset: -count, length: count })).content,
    lines: (text) =>
      text
        .replace(/^\[Reading [^\n]*\]\n\n/, "")
        .replace(/\n$/, "")
        .split("\n"),
    total: (text) => {
      const total = /^\[Reading [^\n]*total: (\d+) lines/.exec(text)?.[1];
      return total === undefined ? undefined : Number(total);
    },
    glob: (pattern) => searchFiles(folder, pattern),
    list: (path) => listDirectory(path, 1),
    globPaths: (paths) => paths,
    listNames: (/** @type {string[]} */ lines) => lines.map((line) => line.replace(/^\[(?:DIR|FILE)\] /, "")),
    editor: {
      edit: async (path, { old, new: fresh }) => {
        const { content } = await performSearchReplace(path, { search: old, replace: fresh }, 1);
        // Its failures have no mark besides their words.
        if (/^(?:Expected \d+ occurrences|Exact match not found|Search content not found)/.test(content[0].text))
          throw new Error(content[0].text);
      },
    },
  };
}
