/** Every row of the suite `growth`, in the order of the table. */

import { edits } from "./rows/edit.js";
import { history, observe } from "./rows/history.js";
import { kinds } from "./rows/kinds.js";
import { permissions } from "./rows/permissions.js";
import { read } from "./rows/read.js";
import { search } from "./rows/search.js";
import { languages, servers } from "./rows/servers.js";

/** @typedef {import("./row.js").Row} Row */

/** @type {readonly Row[]} */
export const rows = [
  ...read,
  ...edits,
  ...search,
  ...permissions,
  ...history,
  ...observe,
  ...servers,
  ...languages,
  ...kinds,
];

/** @param {string} name @param {string} [module]  that exports other rows as `rows`, for tests @returns {Promise<Row>} */
export async function findRow(name, module) {
  const all = module ? (await import(module)).rows : rows;
  const found = all.find((/** @type {Row} */ row) => row.name === name);
  if (found === undefined) throw new Error(`there is no row "${name}"`);
  return found;
}
