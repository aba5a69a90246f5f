/** The package of this name: a temporary file, a sync and a rename. The folder is not synced, and nothing is looked at again. */

import writeFileAtomic from "write-file-atomic";

/** @returns {Promise<import("../worker.js").Reader>} */
export async function open() {
  return {
    lines: () => [],
    total: () => undefined,
    editor: { write: (path, content) => writeFileAtomic(path, content) },
  };
}
