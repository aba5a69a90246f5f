/**
 * One look at a history, in a process of its own, so that nothing is warm: prints the milliseconds and what was found.
 *
 *   node history-reader.js list|list-by-hand <root> <state folder>
 *   node history-reader.js plan|plan-by-hand|rewind|rewind-by-hand <root> <state folder>
 *   node history-reader.js diff-by-hand <folder before> <folder after>
 */

import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
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
  // Which files a snapshot has is found out when somebody asks: here for all of them.
  let count = 0;
  for (const { trackedFileBackups } of snapshots) for (const _ in trackedFileBackups) count += 1;
  const filesMs = performance.now();
  for (const { trackedFileBackups } of history.snapshots()) for (const _ in trackedFileBackups) count -= 1;
  const againMs = performance.now() - filesMs;
  if (count !== 0) throw new Error("the second look found something else");
  const turnsMs = performance.now();
  const turns = history.turns();
  const turnedMs = performance.now() - turnsMs;
  /** @type {Set<string>} */
  const files = new Set();
  for (const { trackedFileBackups } of snapshots) for (const path of Object.keys(trackedFileBackups)) files.add(path);
  print({
    ms: listedMs - startedMs,
    filesMs: filesMs - startedMs,
    againMs,
    turnsMs: turnedMs,
    snapshots: Math.min(snapshots.length, turns.length),
    files: files.size,
  });
}

/** The last turns: a tenth of the files. */
const rewound = { turn: "message-90", folders: Array.from({ length: 10 }, (_, n) => `folder-${90 + n}`) };

if (what === "plan" || what === "rewind") {
  const { createFilehand } = await import(pathToFileURL(library).href);
  const filehand = createFilehand({ roots: [first], stateDir: second, ask: "yes" });
  const session = filehand.session({ dialect: "claude", id: "bench" });
  const startedMs = performance.now();
  const isPlan = what === "plan";
  const outcome = await session.rewind(isPlan ? "start" : rewound.turn, { dryRun: isPlan });
  const ms = performance.now() - startedMs;
  const came = isPlan ? "planned" : "done";
  print({ ms, files: outcome.files.filter((/** @type {{ came: string }} */ file) => file.came === came).length });
  if (!isPlan) await session.redo();
}

if (what === "plan-by-hand" || what === "rewind-by-hand") {
  const top = join(first, "packages", "some-package", "src");
  const startedMs = performance.now();
  let files = 0;
  for (const folder of what === "plan-by-hand" ? readdirSync(top) : rewound.folders) {
    for (const name of readdirSync(join(top, folder))) {
      const path = join(top, folder, name);
      const bytes = readFileSync(path);
      createHash("sha256").update(bytes).digest();
      if (what === "rewind-by-hand") writeDurably(path, bytes);
      files += 1;
    }
  }
  print({ ms: performance.now() - startedMs, files });
}

/** As little as it takes for the old content or the new one to be there after a power cut. @param {string} path @param {Buffer} bytes */
function writeDurably(path, bytes) {
  const file = openSync(`${path}.tmp`, "wx");
  writeSync(file, bytes);
  fsyncSync(file);
  closeSync(file);
  renameSync(`${path}.tmp`, path);
  const folder = openSync(dirname(path), "r");
  fsyncSync(folder);
  closeSync(folder);
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
