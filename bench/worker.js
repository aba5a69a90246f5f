/**
 * The child process in which one reader works: it loads it, then times calls as the parent asks for them. The time is
 * that of the call alone; what the reader answered is taken apart afterwards.
 */

import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";

/** @typedef {import("./corpus.js").Span} Span */

/**
 * What a reader is. `Answer` is its own; the bench looks into it only through `lines` and `total`.
 * @template [Answer=unknown]
 * @typedef {object} Reader
 * @property {((path: string, span: Span) => Answer | Promise<Answer>) | undefined} [read]  undefined: it has no offset
 * @property {((path: string, span: Span) => Answer | Promise<Answer>) | undefined} [tail]  undefined: `read` does it
 * @property {(answer: Answer) => string[]} lines
 * @property {(answer: Answer) => number | undefined} total
 * @property {Editor} [editor]
 * @property {(pattern: string) => unknown} [grep]  searches the folder it was opened with
 * @property {(answer: any) => number} [grepLines]  how many matching lines that answer shows
 * @property {(pattern: string) => unknown} [glob]  files below the folder it was opened with
 * @property {(path: string) => unknown} [list]     the entries of a folder, not what is below them
 * @property {(answer: any) => string[]} [globPaths]  absolute, or below the folder
 * @property {(answer: any) => string[]} [listNames]
 */

/**
 * What changes files. Its answers are not looked at: the bytes on disk tell whether it did what it was asked to.
 * @typedef {object} Editor
 * @property {(path: string, change: Change) => unknown} [edit]  throws if it did not
 * @property {(path: string, change: Change) => string | Promise<string>} [miss]  the old text is not there; what it says
 * @property {(path: string, content: string) => unknown} [write]
 */

/** @typedef {{ readonly old: string, readonly new: string }} Change */
/** @typedef {{ readonly what: "edit" | "miss" | "write" | "create", readonly path: string, readonly change: Change, readonly forMs?: number, readonly calls?: number }} ChangeQuestion */

/** @typedef {{ readonly folder: string, readonly variant: string | undefined }} Setting */
/**
 * `roams`: every call asks for other lines, for a method that keeps what it has read would otherwise warm up nothing but
 * finding it again.
 * `others`: these are read after `span`, and each is timed alone.
 * @typedef {{ readonly what: "read" | "tail", readonly path: string, readonly span: Span, readonly others?: readonly Span[], readonly forMs?: number, readonly roams?: boolean }} Question
 */

/**
 * @typedef {object} Answered
 * @property {number} ms     one call
 * @property {number} cpuMs  one call, all threads
 * @property {number} lagMs  the longest that the event loop stood still
 * @property {number} rssMb  peak of the process so far
 * @property {number} baseMb peak before the call
 * @property {readonly string[]} lines
 * @property {number | undefined} total
 * @property {readonly Answered[]} [others]  in the order in which they were asked for
 */

/** @typedef {{ readonly pattern: string }} GrepQuestion */
/** @typedef {{ readonly glob: string }} GlobQuestion */
/** @typedef {{ readonly list: string }} ListQuestion */
/** @typedef {{ readonly path: string, readonly together: readonly Change[] }} TogetherQuestion  all at once, and nothing is timed */
/** @typedef {Question | ChangeQuestion | TogetherQuestion | GrepQuestion | GlobQuestion | ListQuestion} AnyQuestion */

const [moduleUrl = "", settingText = "{}"] = process.argv.slice(2);
/** @type {{ readonly open: (setting: Setting) => Promise<Reader> }} */
const { open } = await import(moduleUrl);
/** @type {Setting} */
const setting = JSON.parse(settingText);
const { folder } = setting;
const reader = await open(setting);

process.on("message", (/** @type {AnyQuestion} */ question) => {
  answerTo(question).then(
    (answered) => process.send?.(answered),
    // A table is read elsewhere: it names no folder of this machine.
    (error) =>
      process.send?.({ failure: String(error instanceof Error ? error.message : error).replaceAll(folder, "<files>") }),
  );
});
process.send?.({ ready: true });

/** @param {AnyQuestion} question @returns {Promise<Answered>} */
function answerTo(question) {
  if ("change" in question) return answerChange(question);
  if ("together" in question) return answerTogether(question);
  if ("pattern" in question) return answerGrep(question);
  if ("glob" in question) return answerNames(() => reader.glob?.(question.glob), reader.globPaths);
  if ("list" in question) return answerNames(() => reader.list?.(question.list), reader.listNames);
  return answer(question);
}

/** @param {() => unknown} call @param {((answer: any) => string[]) | undefined} namesIn @returns {Promise<Answered>} */
async function answerNames(call, namesIn) {
  if (namesIn === undefined) throw new Error("has no such tool");
  const baseMb = peakMb();
  const { last, took } = await once(call);
  const names = namesIn(last).map((name) => relative(folder, resolve(folder, name)));
  return { ...took, baseMb, rssMb: peakMb(), lines: names.toSorted(), total: undefined };
}

/** @param {GrepQuestion} question @returns {Promise<Answered>} */
async function answerGrep({ pattern }) {
  const { grep, grepLines } = reader;
  if (grep === undefined || grepLines === undefined) throw new Error("has no search");
  const baseMb = peakMb();
  const { last, took } = await once(() => grep(pattern));
  return { ...took, baseMb, rssMb: peakMb(), lines: [], total: grepLines(last) };
}

/** @param {Question} question @returns {Promise<Answered>} */
async function answer({ what, path, span, others = [], forMs, roams = false }) {
  const call = what === "tail" ? (reader.tail ?? reader.read) : reader.read;
  if (call === undefined) throw new Error("has no offset");
  const baseMb = peakMb();
  const timed = await (forMs === undefined
    ? once(() => call(path, span))
    : often((calls) => call(path, roams ? shifted(span, calls) : span), forMs));
  const rssMb = peakMb();
  const timedOthers = [];
  for (const other of others) timedOthers.push(await once(() => call(path, other)));
  const answered = (
    /** @type {{ last: unknown, took: { ms: number, cpuMs: number, lagMs: number } }} */ { last, took },
  ) => ({
    ...took,
    baseMb,
    rssMb,
    lines: reader.lines(last),
    total: reader.total(last),
  });
  return { ...answered(timed), others: timedOthers.map(answered) };
}

/**
 * Again and again means there and back: old for new, then new for old.
 * @param {ChangeQuestion} question
 * @returns {Promise<Answered>}
 */
async function answerChange({ what, path, change, forMs, calls: callsMax }) {
  const { edit, miss, write } = reader.editor ?? {};
  const back = { old: change.new, new: change.old };
  const calls = {
    edit: edit && (async (/** @type {number} */ count) => edit(path, count % 2 === 0 ? change : back)),
    miss: miss && (async () => miss(path, change)),
    write: write && (async (/** @type {number} */ count) => write(path, count % 2 === 0 ? change.new : change.old)),
    create:
      write && (async (/** @type {number} */ count) => write(`${path}-${count}-${performance.now()}`, change.new)),
  };
  const call = calls[what];
  if (call === undefined) throw new Error(`has no ${what}`);
  let made = -1;
  const next = () => call((made += 1));
  const baseMb = peakMb();
  const { last, took } = await (callsMax !== undefined
    ? often(next, Number.POSITIVE_INFINITY, callsMax)
    : forMs === undefined
      ? once(next)
      : often(next, forMs));
  const rssMb = peakMb();
  if (what === "edit" && made % 2 === 0 && forMs !== undefined) await next(); // and back again
  return { ...took, baseMb, rssMb, lines: typeof last === "string" ? [last] : [], total: undefined };
}

/** @param {TogetherQuestion} question @returns {Promise<Answered>} */
async function answerTogether({ path, together }) {
  const { edit } = reader.editor ?? {};
  if (edit === undefined) throw new Error("has no edit");
  const settled = await Promise.allSettled(together.map(async (change) => edit(path, change)));
  const lines = settled.map(({ status }) => (status === "fulfilled" ? "done" : "failed"));
  return { ms: 0, cpuMs: 0, lagMs: 0, baseMb: 0, rssMb: 0, lines, total: undefined };
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

/** Not more than a few thousand lines further on, so that the file has them. @param {Span} span @param {number} calls @returns {Span} */
function shifted({ from, count, fromByte, toByte }, calls) {
  const by = 1 + (calls % 4096);
  return { from: from + by, count: count - (calls % 64), fromByte: fromByte + by, toByte: toByte + by };
}

/** @param {(calls: number) => unknown} call @param {number} forMs @param {number} [callsMax] */
async function often(call, forMs, callsMax = Number.POSITIVE_INFINITY) {
  let calls = 0;
  let last = await call(calls); // and the parent's question is no longer on the stack
  const cpuBefore = process.cpuUsage();
  const started = performance.now();
  while (calls < callsMax && performance.now() - started < forMs) {
    last = await call(calls);
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
