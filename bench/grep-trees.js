/** Trees to search, made from a fixed seed: small source files, one in a hundred with the word that is looked for. */

import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Part of the folder's name: another recipe makes another tree. */
const recipe = 1;

export const needle = "needle_in_the_hay";

const words =
  "const value index result error handler request response stream buffer table export import return function".split(
    " ",
  );

/**
 * @typedef {object} GrepTree
 * @property {string} path
 * @property {number} files
 * @property {number} matching  files that have the needle, in two lines each
 */

/** Made once, beside other temporary files. @param {number} files @returns {GrepTree} */
export function grepTree(files) {
  const path = join(tmpdir(), `filehand-bench-grep-${recipe}-${files}`);
  if (!existsSync(path)) {
    const unfinished = `${path}-${process.pid}`;
    plant(unfinished, files);
    renameSync(unfinished, path);
  }
  return { path, files, matching: Math.ceil(files / 100) };
}

/** @param {string} top @param {number} files */
function plant(top, files) {
  rmSync(top, { recursive: true, force: true });
  let seed = 1;
  const next = () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return seed >> 8;
  };
  for (let file = 0; file < files; file += 1) {
    const folder = join(top, `package-${file % 50}`, `part-${Math.floor(file / 50) % 40}`);
    if (file < 2_000) mkdirSync(folder, { recursive: true });
    const lines = Array.from({ length: 10 + (next() % 60) }, () =>
      Array.from({ length: 6 }, () => words[next() % words.length]).join(" "),
    );
    if (file % 100 === 0) lines.splice(3, 0, `  ${needle}(1);`, `  ${needle}(2);`);
    writeFileSync(join(folder, `file-${file}.ts`), `${lines.join("\n")}\n`);
  }
}
