/** Searches and lists: by the files of a tree, the entries of a folder, depth, matches, lines of an ignore file. */

import { existsSync, linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mustFail, mustSucceed, openSession, row, tens } from "../row.js";

/** @typedef {import("../row.js").Place} Place */

const counts = tens(2, 6);
const quickCounts = [100, 300, 1_000, 3_000, 10_000];
const filesOfFolder = 50;

/** A tree that rows share: made under another name first, for a killed process must leave nothing behind that looks whole. @param {string} path @param {(making: string) => void} make */
function once(path, make) {
  if (existsSync(path)) return path;
  const making = `${path}.making`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { recursive: true });
  make(making);
  renameSync(making, path);
  return path;
}

/** Fifty files in a folder, fifty folders in a folder above. All are hard links to ten files, of which one has the word. @param {string} shared @param {number} files */
const treeOf = (shared, files) =>
  once(join(shared, `tree-${files}`), (top) => {
    mkdirSync(join(top, ".git")); // a checkout to ignore files, whatever is above it
    writeFileSync(join(top, ".gitignore"), "node_modules/\n*.log\n");
    const sources = sourcesIn(join(top, "sources"));
    for (let at = 0; at < files; at += 1) {
      const folder = Math.floor(at / filesOfFolder);
      const place = join(top, `p${Math.floor(folder / 50)}`, `d${folder}`);
      if (at % filesOfFolder === 0) mkdirSync(place, { recursive: true });
      linkSync(sources[at % 10] ?? "", join(place, `file${at}.${at % 4 === 0 ? "ts" : "js"}`));
    }
    rmSync(join(top, "sources"), { recursive: true });
  });

/** @param {string} shared @param {number} entries */
const folderOf = (shared, entries) =>
  once(join(shared, `folder-${entries}`), (top) => {
    const [source = ""] = sourcesIn(join(top, "sources"));
    for (let at = 0; at < entries; at += 1) linkSync(source, join(top, `entry-number-${at}.txt`));
    rmSync(join(top, "sources"), { recursive: true });
  });

/** @param {string} folder @returns {readonly string[]} */
function sourcesIn(folder) {
  mkdirSync(folder);
  return Array.from({ length: 10 }, (_, at) => {
    const path = join(folder, String(at));
    writeFileSync(path, `export const value = ${at};\n${at === 0 ? "needle" : "hay"}\n`);
    return path;
  });
}

/**
 * A call in a tree or a folder that rows share.
 * @param {(shared: string, size: number) => string} make
 * @param {string} tool
 * @param {(root: string, size: number) => object} input
 * @param {(reply: any, size: number) => void} check
 */
const inShared =
  (make, tool, input, check) =>
  async (/** @type {number} */ size, /** @type {Place} */ { shared }) => {
    const root = make(shared, size);
    const session = await openSession(root, { searchMsMax: 120_000 });
    return { measure: async () => check(await session.call(tool, input(root, size)), size) };
  };

const filesRow = { unit: "files", sizes: counts, quick: quickCounts, grows: /** @type {const} */ ("linear") };
const entriesRow = { ...filesRow, unit: "entries" };

export const search = [
  row({
    ...filesRow,
    name: "glob",
    title: "Glob of **/*.ts in a tree, newest first",
    prepare: inShared(
      treeOf,
      "Glob",
      () => ({ pattern: "**/*.ts" }),
      (reply) => mustSucceed(reply, ".ts"),
    ),
  }),
  row({
    ...filesRow,
    name: "grep-files",
    title: "Grep of a word in a tree: the files that have it",
    prepare: inShared(
      treeOf,
      "Grep",
      () => ({ pattern: "needle" }),
      (reply) => mustSucceed(reply, "file"),
    ),
  }),
  row({
    ...filesRow,
    name: "grep-lines",
    title: "Grep of a word in a tree: the lines",
    prepare: inShared(
      treeOf,
      "Grep",
      () => ({ pattern: "needle", output_mode: "content" }),
      (reply) => mustSucceed(reply, "needle"),
    ),
  }),
  row({
    ...filesRow,
    name: "ls-tree",
    title: "LS of the top of a tree",
    prepare: inShared(
      treeOf,
      "LS",
      (root) => ({ path: root }),
      (reply) => mustSucceed(reply, "p0"),
    ),
  }),
  row({
    ...filesRow,
    name: "resources-first",
    title: "the first 500 resources of a tree",
    prepare: async (size, { shared }) => {
      const session = await openSession(treeOf(shared, size));
      return {
        measure: async () => {
          const { files: paths } = await session.workspace.files({ max: 500 });
          if (paths.length !== Math.min(500, size + 1)) throw new Error(`${paths.length} resources`);
        },
      };
    },
  }),
  row({
    ...filesRow,
    name: "resources-later",
    title: "500 resources from the middle of a tree",
    prepare: async (size, { shared }) => {
      const root = treeOf(shared, size);
      const session = await openSession(root);
      const folder = Math.floor(size / 2 / filesOfFolder);
      const after = join(root, `p${Math.floor(folder / 50)}`, `d${folder}`);
      return {
        measure: async () => {
          const { files: paths } = await session.workspace.files({ max: 500, after });
          if (paths.length === 0) throw new Error("no resources");
        },
      };
    },
  }),
  row({
    ...entriesRow,
    name: "ls-folder",
    title: "LS of a folder",
    prepare: inShared(
      folderOf,
      "LS",
      (root) => ({ path: root }),
      (reply) => mustSucceed(reply, "entry-number-"),
    ),
  }),
  row({
    ...entriesRow,
    name: "glob-folder",
    title: "Glob of *.txt in a folder, newest first",
    prepare: inShared(
      folderOf,
      "Glob",
      () => ({ pattern: "*.txt" }),
      (reply) => mustSucceed(reply, "entry-number-"),
    ),
  }),
  row({
    ...entriesRow,
    name: "suggestions",
    title: "Read of a path that does not exist, in a folder: similar names",
    prepare: inShared(
      folderOf,
      "Read",
      (root, size) => ({ file_path: join(root, `entry-number-${size - 1}.tx`) }),
      (reply, size) => mustFail(reply, `entry-number-${size - 1}.txt`),
    ),
  }),
  row({
    name: "suggestions-tree",
    title: "Read of a path that does not exist, in a tree: similar names",
    ...filesRow,
    prepare: inShared(
      treeOf,
      "Read",
      (root) => ({ file_path: join(root, "p0", "d00", "file1.js") }),
      (reply) => mustFail(reply, "file1.js"),
    ),
  }),
  row({
    name: "glob-depth",
    title: "Glob through folders in folders",
    unit: "folders deep",
    sizes: [1, 10, 100, 300, 1_000],
    quick: [1, 10, 100, 300, 1_000],
    grows: "linear",
    prepare: async (size, { folder }) => {
      writeFileSync(join(deep(folder, size), "last.txt"), "needle\n");
      const session = await openSession(folder);
      return { measure: async () => mustSucceed(await session.call("Glob", { pattern: "**/*.txt" }), "last.txt") };
    },
  }),
  row({
    name: "read-depth",
    title: "Read of a small file in folders in folders",
    unit: "folders deep",
    sizes: [1, 10, 100, 300, 1_000],
    quick: [1, 10, 100, 300, 1_000],
    grows: "linear",
    prepare: async (size, { folder }) => {
      const path = join(deep(folder, size), "last.txt");
      writeFileSync(path, "needle\n");
      const session = await openSession(folder);
      return { measure: async () => mustSucceed(await session.call("Read", { file_path: path }), "needle") };
    },
  }),
  row({
    name: "grep-matches",
    title: "Grep in one file, with as many matching lines",
    unit: "matches",
    sizes: tens(1, 6),
    quick: tens(1, 5),
    grows: "linear",
    prepare: async (size, { folder }) => {
      writeFileSync(join(folder, "file.txt"), "a line with the needle in it\n".repeat(size));
      const session = await openSession(folder);
      const input = { pattern: "needle", output_mode: "content", "-n": true };
      return { measure: async () => mustSucceed(await session.call("Grep", input), "needle") };
    },
  }),
  row({
    name: "ignore-lines",
    title: "Glob over 1,000 files with an ignore file",
    unit: "lines",
    sizes: [1, 10, 100, 1_000, 10_000],
    quick: [1, 10, 100, 1_000, 3_000],
    grows: "linear",
    prepare: async (size, { folder }) => {
      mkdirSync(join(folder, ".git"));
      const lines = Array.from(
        { length: size },
        (_, at) => [`name-${at}`, `*.kind${at}`, `/a${at}/**/b`, `!d${at}/`][at % 4],
      );
      writeFileSync(join(folder, ".gitignore"), `${lines.join("\n")}\n`);
      for (let at = 0; at < 1_000; at += 1) {
        const place = join(folder, `d${at % 20}`);
        mkdirSync(place, { recursive: true });
        writeFileSync(join(place, `file${at}.ts`), "");
      }
      const session = await openSession(folder);
      return { measure: async () => mustSucceed(await session.call("Glob", { pattern: "**/*.ts" }), ".ts") };
    },
  }),
];

/** @param {string} folder @param {number} levels */
function deep(folder, levels) {
  const path = join(folder, ...Array.from({ length: levels }, () => "d"));
  mkdirSync(path, { recursive: true });
  return path;
}
