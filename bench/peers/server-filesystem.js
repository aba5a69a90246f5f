/** The reference MCP file server: it reads the first or the last lines and has no offset; edit_file; search_files. Called without its protocol. */

import { load } from "./index.js";

/**
 * @param {import("../worker.js").Setting} setting
 * @returns {Promise<import("../worker.js").Reader<string>>}
 */
export async function open({ folder }) {
  const { setAllowedDirectories, validatePath, headFile, tailFile, applyFileEdits, searchFilesWithValidation } =
    await load("@modelcontextprotocol/server-filesystem/dist/lib.js");
  setAllowedDirectories([folder]);
  return {
    read: async (path, { from, count }) => {
      if (from !== 1) throw new Error("has no offset");
      return headFile(await validatePath(path), count);
    },
    // One more: what stands behind a final newline counts as a line for it.
    tail: async (path, { count }) => tailFile(await validatePath(path), count + 1),
    lines: (text) => text.replace(/\n$/, "").split("\n"),
    total: () => undefined,
    glob: async (pattern) => searchFilesWithValidation(await validatePath(folder), pattern, [folder]),
    globPaths: (paths) => paths,
    editor: {
      edit: async (path, { old, new: fresh }) =>
        applyFileEdits(await validatePath(path), [{ oldText: old, newText: fresh }], false),
    },
  };
}
