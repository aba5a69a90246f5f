/** A call with the file it is made for and the bytes that must be there afterwards. */

import { afterOf, beforeOf, isKept, linesBefore } from "./scenes.js";

/** @typedef {import("./random.js").Random} Random */
/** @typedef {import("./scenes.js").Scene} Scene */
/** @typedef {"LF" | "CRLF" | "mixed"} Ends */

/**
 * @typedef {object} Case
 * @property {Buffer} before
 * @property {Buffer} after   what must be in the file; the same as before where the call must be refused
 * @property {{ readonly old_string: string, readonly new_string: string, readonly replace_all?: true }} input
 * @property {number} head    bytes at the file's beginning that no right change touches
 * @property {number} tail    the same at its end
 * @property {boolean} [applied]  the new text is in the file and the old is not
 * @property {boolean} [twice]    the call is made a second time, and that one must be refused
 */

/** @typedef {{ readonly old: string, readonly new: string }} Texts */

/**
 * @typedef {object} CallForm
 * @property {Random} random
 * @property {Ends} ends
 * @property {(line: string, row: number) => string} [call]  a line of the file as the call has it
 * @property {(texts: Texts, firstLine: number) => Texts} [texts]  both texts of the call as they are sent
 * @property {"\n" | "\r\n"} [callEnds]
 * @property {boolean} [closing]  do both texts end with a line end?
 * @property {boolean} [open]  the file has no final line end
 * @property {(text: string) => Buffer} [encode]
 */

/** @typedef {{ readonly text: string, readonly end: string }} Line */

/**
 * The line ends of a file, one for every line.
 * @param {Random} random
 * @param {Ends} ends
 * @param {number} count
 */
export const endsFor = (random, ends, count) =>
  Array.from({ length: count }, () => {
    if (ends === "mixed") return random.chance(0.5) ? "\r\n" : "\n";
    return ends === "CRLF" ? "\r\n" : "\n";
  });

/**
 * A call that must be applied.
 * @param {Scene} scene
 * @param {CallForm} form
 * @returns {Case}
 */
export function applied(scene, form) {
  const { random, ends, encode = utf8 } = form;
  const { above, block, below } = scene;
  const all = endsFor(random, ends, linesBefore(scene).length);
  let at = above.length;
  /** @type {{ before: Line | undefined, after: Line | undefined, kept: boolean }[]} */
  const lines = block.map((entry) => {
    const isThere = entry.before !== undefined;
    const end = all[isThere ? at : Math.max(0, at - 1)] ?? "\n";
    if (isThere) at += 1;
    const line = (/** @type {string | undefined} */ text) => (text === undefined ? undefined : { text, end });
    return { before: line(entry.before), after: line(entry.after), kept: isKept(entry) };
  });
  const join = (/** @type {readonly (Line | undefined)[]} */ list) =>
    list.map((line) => (line === undefined ? "" : line.text + line.end)).join("");
  const start = above.map((text, row) => text + all[row]).join("");
  let end = below.map((text, row) => text + all[at + row]).join("");
  if (form.open === true) end = end.replace(/\r?\n$/, "");
  const first = lines.findIndex(({ kept }) => !kept);
  const last = lines.findLastIndex(({ kept }) => !kept);
  return {
    before: encode(start + join(lines.map(({ before }) => before)) + end),
    after: encode(start + join(lines.map(({ after }) => after)) + end),
    input: inputOf(beforeOf(block), afterOf(block), above.length + 1, form),
    head: encode(start + join(lines.slice(0, first).map(({ before }) => before))).length,
    tail: encode(join(lines.slice(last + 1).map(({ before }) => before)) + end).length,
  };
}

/**
 * A call that must be refused: the lines it asks for are not those of the file, or are there more than once.
 * @param {readonly string[]} lines  of the file
 * @param {readonly string[]} old
 * @param {readonly string[]} fresh
 * @param {CallForm} form
 * @param {number} [firstLine]
 * @returns {Case}
 */
export function refused(lines, old, fresh, form, firstLine = 1) {
  const ends = endsFor(form.random, form.ends, lines.length);
  const before = (form.encode ?? utf8)(lines.map((text, row) => text + ends[row]).join(""));
  return { before, after: before, input: inputOf(old, fresh, firstLine, form), head: 0, tail: 0 };
}

/**
 * @param {readonly string[]} old
 * @param {readonly string[]} fresh
 * @param {number} firstLine
 * @param {CallForm} form
 */
function inputOf(old, fresh, firstLine, { random, call = same, callEnds = "\n", closing, texts }) {
  const close = (closing ?? random.chance(0.5)) ? callEnds : "";
  const join = (/** @type {readonly string[]} */ lines) => lines.map(call).join(callEnds) + close;
  const sent = { old: join(old), new: join(fresh) };
  const made = texts?.(sent, firstLine) ?? sent;
  return { old_string: made.old, new_string: made.new };
}

const same = (/** @type {string} */ line) => line;
export const utf8 = (/** @type {string} */ text) => Buffer.from(text);
