/**
 * The durable write of Filehand by itself: what finds a file without leaving the root, checks it, writes beside it, syncs,
 * carries over owner and attributes, compares, swaps, syncs the folder and looks again. Neither rules nor locks, no diff and
 * no answer. It is no public part of the package: the variant is a bundle of src/disk/disk.ts.
 */

import { pathToFileURL } from "node:url";

/**
 * @param {import("../worker.js").Setting} setting
 * @returns {Promise<import("../worker.js").Reader>}
 */
export async function open({ folder, variant = "" }) {
  const { createDisk } = await import(pathToFileURL(variant).href);
  const disk = createDisk([folder]);
  const { signal } = new AbortController();

  const replace = async (/** @type {any} */ found, /** @type {Buffer[]} */ pieces) => {
    const file = disk.open(found);
    try {
      return await disk.replace({ found, file, pieces, hardLinks: "separate", signal });
    } finally {
      file.close();
    }
  };

  const write = async (/** @type {string} */ path, /** @type {string} */ content) => {
    const pieces = [Buffer.from(content)];
    const look = disk.look(path, "the folder of a new file");
    const held = look.held ?? look.nearest.held;
    try {
      const { did } = await (look.seen === "node"
        ? replace(look, pieces)
        : disk.create({ real: path, folder: held, pieces, signal }));
      if (did !== "replaced" && did !== "created") throw new Error(`did ${did}`);
    } finally {
      held.close();
    }
  };
  return { lines: () => [], total: () => undefined, editor: { write } };
}
