/**
 * Filehand's Edit and Write, as a library. The variant `dry run` shows what would be done and writes nothing; `history
 * FOLDER` keeps the past in a state folder.
 */

import { pathToFileURL } from "node:url";
import { library } from "../filehand.js";

/**
 * @param {import("../worker.js").Setting} setting
 * @returns {Promise<import("../worker.js").Reader>}
 */
export async function open({ folder, variant }) {
  const { createFilehand } = await import(pathToFileURL(library).href);
  const [, stateDir] = /^history (.*)$/.exec(variant ?? "") ?? [];
  // A read before every edit would be measured with it: peers ask for none.
  const setting = { roots: [folder], ask: "yes", readFirst: false, ...(stateDir === undefined ? {} : { stateDir }) };
  const session = createFilehand(setting).session({ dialect: "claude" });
  const options = { dryRun: variant === "dry run" };
  const edit = (/** @type {string} */ path, /** @type {import("../worker.js").Change} */ change) =>
    session.call("Edit", { file_path: path, old_string: change.old, new_string: change.new }, options);
  return {
    read: async (path, { from, count }) => {
      const reply = await session.call("Read", { file_path: path, offset: from, limit: count });
      orThrow(reply);
      return reply.content[0].text;
    },
    lines: (text) => String(text).split("\n"),
    total: () => undefined,
    editor: {
      edit: async (path, change) => orThrow(await edit(path, change)),
      miss: async (path, change) => {
        const { isError, error } = await edit(path, change);
        if (!isError) throw new Error("the edit was made");
        return error.message;
      },
      write: async (path, content) => orThrow(await session.call("Write", { file_path: path, content }, options)),
    },
  };
}

/** @param {{ isError: boolean, error?: { message: string } }} reply */
function orThrow(reply) {
  if (reply.isError) throw new Error(reply.error?.message ?? "the call failed");
}
