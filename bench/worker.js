/**
 * The child process in which one reader works: it loads it, then times calls as the parent asks for them. The time is
 * that of the call alone; what the reader answered is taken apart afterwards.
 */

import { readFileSync } from "node:fs";

/** @typedef {import("./corpus.js").Span} Span */

/**
 * What a reader is. `Answer` is its own; the bench looks into it only through `lines` and `total`.
 * @template [Answer=unknown]
 * @typedef {object} Reader
 * @property {((path: string, span: Span) => Answer | Promise<Answer>) | undefined} [read]  undefined: it has no offset
 * @property {((path: string, span: Span) => Answer | Promise<Answer>) | undefined} [tail]  undefined: `read` does it
 * @property {(answer: Answer) => string[]} lines
 * @property {(answer: Answer) => number | undefined} total
 */

/** @typedef {{ readonly folder: string, readonly variant: string | undefined }} Setting */
/** @typedef {{ readonly what: "read" | "tail", readonly path: string, readonly span: Span, readonly forMs?: number }} Question */

/**
 * @typedef {object} Answered
 * @property {number} ms     one call
 * @property {number} cpuMs  one call, all threads
 * @property {number} lagMs  the longest that the event loop stood still
 * @property {number} rssMb  peak of the process so far
 * @property {number} baseMb peak before the call
 * @property {readonly string[]} lines
 * @property {number | undefined} total
 */

const [moduleUrl = "", settingText = "{}"] = process.argv.slice(2);
/** @type {{ readonly open: (setting: Setting) => Promise<Reader> }} */
const { open } = await import(moduleUrl);
/** @type {Setting} */
const setting = JSON.parse(settingText);
const { folder } = setting;
const reader = await open(setting);

process.on("message", (/** @type {Question} */ question) => {
  answer(question).then(
    (answered) => process.send?.(answered),
    // A table is read elsewhere: it names no folder of this machine.
    (error) =>
      process.send?.({ failure: String(error instanceof Error ? error.message : error).replaceAll(folder, "<files>") }),
  );
});
process.send?.({ ready: true });

/** @param {Question} question @returns {Promise<Answered>} */
async function answer({ what, path, span, forMs }) {
  const call = what === "tail" ? (reader.tail ?? reader.read) : reader.read;
  if (call === undefined) throw new Error("has no offset");
  const baseMb = peakMb();
  const timed = await (forMs === undefined ? once(() => call(path, span)) : often(() => call(path, span), forMs));
  const rssMb = peakMb();
  return { ...timed.took, baseMb, rssMb, lines: reader.lines(timed.last), total: reader.total(timed.last) };
}

/** @param {() => unknown} call */
async function once(call) {
  const lag = watchLoop();
  const cpuBefore = process.cpuUsage();
  const started = performance.now();
  const last = await call();
  const ms = performance.now() - started;
  const cpuMs = cpuSince(cpuBefore);
  return { last, took: { ms, cpuMs, lagMs: lag() } };
}

/** @param {() => unknown} call @param {number} forMs */
async function often(call, forMs) {
  let calls = 0;
  let last = await call(); // and the parent's question is no longer on the stack
  const cpuBefore = process.cpuUsage();
  const started = performance.now();
  while (performance.now() - started < forMs) {
    last = await call();
    calls += 1;
  }
  const ms = (performance.now() - started) / calls;
  return { last, took: { ms, cpuMs: cpuSince(cpuBefore) / calls, lagMs: 0 } };
}

/** Starts watching; the function that comes back stops it and tells the longest standstill. */
function watchLoop() {
  const everyMs = 1;
  let worst = 0;
  let last = performance.now();
  const look = () => {
    const now = performance.now();
    worst = Math.max(worst, now - last - everyMs);
    last = now;
  };
  const timer = setInterval(look, everyMs);
  return () => {
    clearInterval(timer);
    look();
    return worst;
  };
}

/** @param {NodeJS.CpuUsage} before */
function cpuSince(before) {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function peakMb() {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS / 1024;
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024;
}
