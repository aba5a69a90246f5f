/**
 * One look at a history, in a process of its own, so that nothing is warm: prints the milliseconds and what was found.
 *
 *   node history-reader.js list|list-by-hand <root> <state folder>
 *   node history-reader.js diff-by-hand <folder before> <folder after>
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { library } from "./filehand.js";

const [what = "", first = "", second = ""] = process.argv.slice(2);

if (what === "list") {
  const { createFilehand } = await import(pathToFileURL(library).href);
  const startedMs = performance.now();
  const session = createFilehand({ roots: [first], stateDir: second }).session({ dialect: "claude", id: "bench" });
  const history = await session.history();
  const snapshots = history.snapshots();
  const listedMs = performance.now();
  history.snapshots();
  const againMs = performance.now() - listedMs;
  /** @type {Set<string>} */
  const files = new Set();
  for (const { trackedFileBackups } of snapshots) for (const path of Object.keys(trackedFileBackups)) files.add(path);
  print({ ms: listedMs - startedMs, againMs, snapshots: snapshots.length, files: files.size });
}

if (what === "list-by-hand") {
  const startedMs = performance.now();
  const folder = join(second, "history", "sessions", "s-bench");
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"));
  const records = lines.filter((line) => line !== "").map((line) => JSON.parse(line.slice(line.indexOf("{"))));
  const changes = records.filter(({ type }) => type === "change");
  const ms = performance.now() - startedMs;
  const count = (/** @type {string} */ key) => new Set(changes.map((change) => change[key])).size;
  print({ ms, snapshots: count("messageId"), files: count("path") });
}

if (what === "diff-by-hand") {
  let files = 0;
  for (const name of readdirSync(first)) {
    const [before, after] = [first, second].map((folder) => readFileSync(join(folder, name), "utf8").split("\n"));
    if (before?.some((line, at) => line !== after?.[at])) files += 1;
  }
  print({ files });
}

/** @param {unknown} found */
function print(found) {
  process.stdout.write(`${JSON.stringify(found)}\n`);
}
