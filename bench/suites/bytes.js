/**
 * Suite `bytes`: what a small edit leaves of a file, and where a read leads, in each tool. Nothing is timed. A cell says `right`, `refused`, or
 * what happened instead; the bytes on the disk decide, not what the tool says.
 */

import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { peerMethods } from "../peers/index.js";
import { addGate, rowOf, startTable } from "../results.js";
import { openWorker } from "../worker-client.js";

/** @typedef {import("../worker-client.js").Method} Method */
/** @typedef {import("../worker-client.js").Worker} Worker */
/** @typedef {import("../worker.js").Change} Change */

/**
 * An edit, and what may be in the file afterwards: these bytes, or the old ones with a refusal.
 * @typedef {object} EditCase
 * @property {string} name
 * @property {Buffer} before
 * @property {Change} change
 * @property {Buffer | undefined} after      undefined: it must be refused
 * @property {boolean} [mayRefuse]
 */

const latin1 = (/** @type {string} */ text) => Buffer.from(text, "latin1");
const utf8 = (/** @type {string} */ text) => Buffer.from(text, "utf8");
const utf16 = (/** @type {string} */ text) => Buffer.from(`\uFEFF${text}`, "utf16le");
/** "中文" in GB18030, around plain lines. */
const chinese = (/** @type {string} */ line) =>
  Buffer.concat([Buffer.from([0xd6, 0xd0, 0xce, 0xc4]), utf8(`\n${line}\n`)]);
const twoToThree = { old: "two", new: "three" };

/** @type {readonly EditCase[]} */
const edits = [
  {
    name: "CRLF file",
    before: utf8("one\r\ntwo\r\nend\r\n"),
    change: twoToThree,
    after: utf8("one\r\nthree\r\nend\r\n"),
  },
  {
    name: "both line endings in one file",
    before: utf8("one\r\ntwo\nend\r\n"),
    change: twoToThree,
    after: utf8("one\r\nthree\nend\r\n"),
  },
  {
    name: "lines added to a CRLF file",
    before: utf8("one\r\ntwo\r\n"),
    change: { old: "one\ntwo", new: "one\nand\ntwo" },
    after: utf8("one\r\nand\r\ntwo\r\n"),
    mayRefuse: true,
  },
  {
    name: "Latin-1, é in another line",
    before: latin1("caf\u00E9\ntwo\n"),
    change: twoToThree,
    after: latin1("caf\u00E9\nthree\n"),
    mayRefuse: true,
  },
  { name: "GB18030", before: chinese("two"), change: twoToThree, after: chinese("three"), mayRefuse: true },
  { name: "UTF-16", before: utf16("one\ntwo\n"), change: twoToThree, after: utf16("one\nthree\n"), mayRefuse: true },
  {
    name: "byte order mark",
    before: utf8("\uFEFFone\ntwo\n"),
    change: { old: "one", new: "1" },
    after: utf8("\uFEFF1\ntwo\n"),
  },
  {
    name: "$& in the new text",
    before: utf8("price\n"),
    change: { old: "price", new: "$& and $1" },
    after: utf8("$& and $1\n"),
  },
  {
    name: "text that occurs twice",
    before: utf8("x = 1\ny\nx = 1\n"),
    change: { old: "x = 1", new: "x = 2" },
    after: undefined,
  },
  {
    name: "curly quotes, and straight ones beside",
    before: utf8("say(\u201Chello\u201D)\nkeep(\u201Cthis\u201D)\n"),
    change: { old: "keep(\u201Cthis\u201D)", new: "keep(\u201Cthat\u201D)" },
    after: utf8("say(\u201Chello\u201D)\nkeep(\u201Cthat\u201D)\n"),
  },
  {
    name: "block sent without its indentation",
    before: utf8("def f():\n    if x:\n        return 1\n    return 2\n"),
    change: { old: "if x:\n    return 1", new: "if y:\n    return 1" },
    after: utf8("def f():\n    if y:\n        return 1\n    return 2\n"),
    mayRefuse: true,
  },
  {
    name: "only the final newline goes",
    before: utf8("one\ntwo\n"),
    change: { old: "two\n", new: "two" },
    after: utf8("one\ntwo"),
  },
];

/** @param {import("../run.js").Setting} setting @returns {Promise<import("../results.js").Table[]>} */
export async function bytes({ peers, progress }) {
  const table = startTable("bytes", "bytes: what is in the file afterwards", "");
  const methods = [
    { name: "Filehand", module: new URL("../editors/filehand.js", import.meta.url) },
    ...(peers ? peerMethods() : []),
  ];
  for (const method of methods) {
    if ("skipped" in method) continue;
    progress(`bytes: ${method.name}`);
    for (const [name, words] of Object.entries(await resultsOf(method))) {
      const row = rowOf(table, name);
      row.counts = { ...row.counts, [method.name]: words };
    }
  }
  const wrong = table.rows.filter(
    ({ counts }) => !/^(?:right|refused|10 of 10, 10 reported)$/.test(String(counts?.["Filehand"])),
  );
  addGate(table.rows.at(-1), "wrong in Filehand", wrong.length, 0);
  return [table];
}

/** @param {Method} method @returns {Promise<Record<string, string>>} */
async function resultsOf(method) {
  const room = realpathSync(mkdtempSync(join(tmpdir(), "filehand-bytes-")));
  const folder = join(room, "workspace");
  mkdirSync(folder);
  /** @type {Record<string, string>} */
  const results = {};
  let worker = await openWorker(method, folder);
  try {
    for (const [at, one] of edits.entries())
      results[one.name] = await editResult(worker, join(folder, `${at}.txt`), one);
    results["ten edits of one file at once"] = await atOnce(worker, join(folder, "many.txt"));
    results["executable bit"] = await modeResult(worker, join(folder, "run.sh"));
    results["read through a symlink out of the folder"] = await outside(worker, room, folder);
    results["read of a named pipe"] = await pipe(worker, join(folder, "pipe"));
  } finally {
    worker.close();
    rmSync(room, { recursive: true, force: true, maxRetries: 5 });
  }
  return results;
}

/** @param {Worker} worker @param {string} path @param {EditCase} one */
async function editResult(worker, path, { before, change, after, mayRefuse }) {
  writeFileSync(path, before);
  const said = await outcome(worker.ask({ what: "edit", path, change }));
  const now = readFileSync(path);
  if (now.equals(before)) {
    if (said !== "done") return after === undefined || mayRefuse ? "refused" : "cannot do it";
    return "does nothing, says it did";
  }
  if (after !== undefined && now.equals(after)) return "right";
  return after === undefined ? "edits the first" : "OTHER BYTES";
}

/** @param {Worker} worker @param {string} path */
async function atOnce(worker, path) {
  const names = Array.from({ length: 10 }, (_, at) => `line ${String.fromCharCode(97 + at)};`);
  writeFileSync(path, `${names.join("\n")}\n`);
  const { lines } = await worker.ask({ path, together: names.map((name) => ({ old: name, new: `${name} done` })) });
  const landed = readFileSync(path, "utf8").split(" done").length - 1;
  return `${landed} of 10, ${lines.filter((line) => line === "done").length} reported`;
}

/** @param {Worker} worker @param {string} path */
async function modeResult(worker, path) {
  writeFileSync(path, "#!/bin/sh\necho two\n", { mode: 0o755 });
  const said = await outcome(worker.ask({ what: "edit", path, change: twoToThree }));
  if (said !== "done") return "cannot do it";
  return (statSync(path).mode & 0o777) === 0o755 ? "right" : "lost";
}

/** @param {Worker} worker @param {string} room @param {string} folder */
async function outside(worker, room, folder) {
  writeFileSync(join(room, "secret.txt"), "the secret\n");
  symlinkSync(join(room, "secret.txt"), join(folder, "link.txt"));
  const span = { from: 1, count: 5, fromByte: 0, toByte: 11 };
  const question = /** @type {const} */ ({ what: "read", path: join(folder, "link.txt"), span });
  try {
    const { lines } = await worker.ask(question);
    return lines.join("\n").includes("the secret") ? "SHOWS IT" : "refused";
  } catch {
    return "refused";
  }
}

/** The last case: a tool that hangs is ended with its worker. @param {Worker} worker @param {string} path */
async function pipe(worker, path) {
  execFileSync("mkfifo", [path]);
  const span = { from: 1, count: 5, fromByte: 0, toByte: 1 };
  const hangs = new Promise((/** @type {(words: string) => void} */ resolve) => {
    setTimeout(resolve, 5_000, "HANGS");
  });
  const read = outcome(worker.ask({ what: "read", path, span })).then((said) =>
    said === "done" ? "an answer" : "refused",
  );
  return Promise.race([read, hangs]);
}

/** @param {Promise<unknown>} asked @returns {Promise<"done" | "failed">} */
const outcome = (asked) =>
  asked.then(
    () => "done",
    () => "failed",
  );
