/**
 * The least a change that outlasts a power cut must do, with nothing around it: read, find, write the parts to a new
 * file, fsync, rename. A write is the same without the reading; the folder is synced as well.
 */

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writevSync } from "node:fs";
import { dirname } from "node:path";

/** @returns {Promise<import("../worker.js").Reader>} */
export async function open() {
  return {
    lines: () => [],
    total: () => undefined,
    editor: {
      edit: (path, { old, new: fresh }) => {
        const bytes = readFileSync(path);
        const wanted = Buffer.from(old);
        const at = bytes.indexOf(wanted);
        if (at < 0 || bytes.indexOf(wanted, at + 1) >= 0) throw new Error("not there once");
        replace(path, [bytes.subarray(0, at), Buffer.from(fresh), bytes.subarray(at + wanted.length)]);
      },
      write: (path, content) => {
        replace(path, [Buffer.from(content)]);
        const folder = openSync(dirname(path), "r");
        fsyncSync(folder);
        closeSync(folder);
      },
    },
  };
}

/** @param {string} path @param {readonly Buffer[]} parts */
function replace(path, parts) {
  const descriptor = openSync(`${path}.new`, "w");
  writevSync(descriptor, parts);
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(`${path}.new`, path);
}
