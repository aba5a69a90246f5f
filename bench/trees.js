/** Trees to search in, made from a fixed seed: one of 100,000 files in 10,000 folders, one like a small project. */

import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folder } from "./corpus.js";

/** Part of every tree's name: another recipe makes another tree. */
const recipe = 1;
const extensions = ["ts", "js", "json", "md"];

/**
 * @typedef {object} FileTree
 * @property {string} path
 * @property {number} files     without its ignore file
 * @property {number} sources   of these, `.ts`
 * @property {string} words
 */

/** @returns {FileTree} */
export const largeTree = () => tree("large", 10_000, 100_000);
/** @returns {FileTree} */
export const smallTree = () => tree("hundred", 20, 100);

/** One folder with so many files and nothing else. @param {number} files @returns {string} */
export function flatFolder(files) {
  const path = join(folder, `flat-${files}-${recipe}`);
  if (existsSync(path)) return path;
  const making = `${path}.making`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { recursive: true });
  for (let index = 0; index < files; index += 1) writeFileSync(join(making, `file${index}.ts`), "x".repeat(index));
  renameSync(making, path);
  return path;
}

/** @param {string} name @param {number} folders @param {number} files @returns {FileTree} */
function tree(name, folders, files) {
  const path = join(folder, `tree-${name}-${recipe}`);
  const words = `${files} files in ${folders} folders`;
  const answer = { path, files, sources: Math.ceil(files / extensions.length), words };
  if (existsSync(path)) return answer;
  const making = `${path}.making`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { recursive: true });
  writeFileSync(join(making, ".gitignore"), "node_modules/\n*.log\ndist/\n");
  // A folder of its own to git and ripgrep, whatever lies above it.
  mkdirSync(join(making, ".git"));
  const made = [making];
  let seed = 1;
  const next = (/** @type {number} */ below) => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    return Math.floor((seed / 0x80000000) * below);
  };
  for (let index = 1; index < folders; index += 1) {
    const above = made[next(Math.min(made.length, Math.ceil(folders * 0.3)))] ?? making;
    const below = join(above, `d${index}`);
    mkdirSync(below);
    made.push(below);
  }
  for (let index = 0; index < files; index += 1) {
    writeFileSync(join(made[index % folders] ?? making, `file${index}.${extensions[index % extensions.length]}`), "x");
  }
  renameSync(making, path);
  return answer;
}
