/** Traps: calls that ask for what is not there, or is there more than once. Whatever is written is wrong. */

import { refused } from "./cases.js";
import { numbered } from "./must-apply.js";
import { afterOf, beforeOf, hasWords, isKept, linesBefore, otherWord, sceneOf } from "./scenes.js";
import { curled, placesOf, straight, withTabs } from "./texts.js";

/** @typedef {import("./random.js").Random} Random */
/** @typedef {import("./cases.js").Case} Case */
/** @typedef {import("./cases.js").CallForm} CallForm */
/** @typedef {import("./must-apply.js").Make} Make */
/** @typedef {import("./scenes.js").Entry} Entry */
/** @typedef {import("./scenes.js").Scene} Scene */
/** @typedef {import("./scenes.js").SceneWish} SceneWish */

/**
 * The call is about other lines than the file has: `asks` makes them from the block. Undefined where the block is not
 * fit for it.
 * @param {(block: readonly Entry[], random: Random) => readonly Entry[] | undefined} asks
 * @param {SceneWish} [wish]
 * @param {Partial<CallForm>} [form]
 * @returns {Make}
 */
const asking =
  (asks, wish = {}, form = {}) =>
  (random, texts, ends) => {
    for (;;) {
      const scene = sceneOf(random, texts, wish);
      const asked = asks(scene.block, random);
      if (asked === undefined || asked.every(isKept)) continue;
      const lines = linesBefore(scene);
      if (form.call === undefined && placesOf(lines, beforeOf(asked)).length > 0) continue;
      return refused(lines, beforeOf(asked), afterOf(asked), { random, ends, ...form }, scene.above.length + 1);
    }
  };

/** A kept line of the block as the call believes it to be. @param {(line: string, random: Random) => string | undefined} believe */
const oneLineOff = (believe, /** @type {SceneWish} */ wish = {}) =>
  asking((block, random) => {
    const rows = block.flatMap((entry, row) => (isKept(entry) && hasWords(entry.before ?? "") ? [row] : []));
    if (rows.length === 0) return undefined;
    const row = random.pick(rows);
    const other = believe(block[row]?.before ?? "", random);
    if (other === undefined || other === block[row]?.before) return undefined;
    return block.map((entry, at) => (at === row ? { before: other, after: other } : entry));
  }, wish);

/** Rows between the first and the last that are kept and have words. @param {readonly Entry[]} block */
const innerRows = (block) =>
  block.flatMap((entry, row) =>
    row > 0 && row < block.length - 1 && isKept(entry) && hasWords(entry.before ?? "") ? [row] : [],
  );

/**
 * The block is there twice, as `one` and as `two` have it.
 * @param {(line: string) => string} one
 * @param {(line: string) => string} two
 * @param {(line: string) => string} call
 * @param {SceneWish} [wish]
 * @returns {Make}
 */
const twoCopies =
  (one, two, call, wish = {}) =>
  (random, texts, ends) => {
    const { above, block, below } = sceneOf(random, texts, wish);
    const old = beforeOf(block);
    const lines = [...above, ...old.map(one), "between(the, copies);", ...old.map(two), ...below];
    return refused(lines, old, afterOf(block), { random, ends, call });
  };

const same = (/** @type {string} */ line) => line;
const deeper = (/** @type {string} */ prefix) => (/** @type {string} */ line) => (line === "" ? "" : prefix + line);
const arrow = (/** @type {number} */ number) => `${String(number).padStart(6)}→`;

/** @type {Readonly<Record<string, Make>>} */
export const traps = {
  "block gone": (random, texts, ends) => {
    const { above, block, below } = sceneOf(random, texts);
    return refused([...above, ...below], beforeOf(block), afterOf(block), { random, ends });
  },
  "already applied": (random, texts, ends) => alreadyThere(sceneOf(random, texts), { random, ends }),
  "already applied, shifted": (random, texts, ends) => {
    const scene = sceneOf(random, texts, { dress: withTabs, indent: () => "\t" });
    return alreadyThere(scene, { random, ends, call: (line) => line.replace(/^\t/, "") });
  },
  "two copies, to the letter": twoCopies(same, same, same),
  "two copies, at two other depths": twoCopies(deeper("  "), deeper("    "), same, { linesMin: 4 }),
  "two copies, at the same other depth": twoCopies(deeper("\t"), deeper("\t"), same, { linesMin: 4 }),
  "two copies, curly quotes": twoCopies(same, same, straight, {
    dressBlock: (line, random) => curled(otherWord(random, line, (word) => `"${word}"`)),
  }),
  "two copies, look-alikes": twoCopies(same, same, (line) => line.replaceAll("\u00a0", " "), {
    dressBlock: (line) => line.replace(/(?<=\w) (?=\w)/, "\u00a0"),
    allows: (line) => !hasWords(line) || line.includes("\u00a0"),
  }),
  "two copies, blanks at line ends": twoCopies(deeper(""), same, (line) => line.trimEnd(), {
    dressBlock: (line) => `${line}  `,
  }),
  "two copies, numbers of Read": (random, texts, ends) => {
    const { above, block, below } = sceneOf(random, texts);
    const old = beforeOf(block);
    const sent = (/** @type {import("./cases.js").Texts} */ both, /** @type {number} */ first) => ({
      old: numbered(arrow, both.old, first),
      new: numbered(arrow, both.new, first),
    });
    const form = { random, ends, texts: sent };
    return refused([...above, ...old, "between", ...old, ...below], old, afterOf(block), form, above.length + 1);
  },
  "one word off": oneLineOff((line, random) => otherWord(random, line, (word) => `${word}Too`)),
  "one letter off": oneLineOff((line, random) =>
    otherWord(random, line, (word) => word.slice(0, -1) + (word.endsWith("e") ? "a" : "e")),
  ),
  "one digit off": oneLineOff(
    (line) => (/\d/.test(line) ? line.replace(/\d(?=\D*$)/, (digit) => String((Number(digit) + 1) % 10)) : undefined),
    { dressBlock: (line, random) => `${line} ${random.between(10, 99)}` },
  ),
  "letter case off": oneLineOff((line, random) =>
    otherWord(random, line, (word) =>
      word === word.toUpperCase() ? word.toLowerCase() : word[0]?.toUpperCase() + word.slice(1).toUpperCase(),
    ),
  ),
  "a line missing": asking((block, random) => {
    const rows = innerRows(block);
    if (rows.length === 0) return undefined;
    const gone = random.pick(rows);
    return block.filter((_, row) => row !== gone);
  }),
  "a blank line missing": asking((block) => {
    const gone = block.findIndex(({ before }, row) => before === "" && row > 0 && row < block.length - 1);
    return gone < 0 ? undefined : block.filter((_, row) => row !== gone);
  }),
  "a blank line invented": asking((block, random) => {
    const at = random.between(1, block.length - 1);
    return [...block.slice(0, at), { before: "", after: "" }, ...block.slice(at)];
  }),
  "a line invented": asking((block, random) => {
    const at = random.between(1, block.length - 1);
    const line = `  invented(line${random.between(100, 999)});`;
    return [...block.slice(0, at), { before: line, after: line }, ...block.slice(at)];
  }),
  "two lines swapped": asking((block, random) => {
    const rows = innerRows(block).filter((row) => innerRows(block).includes(row + 1));
    if (rows.length === 0) return undefined;
    const row = random.pick(rows);
    return block.map((entry, at) => {
      if (at === row) return block[row + 1] ?? entry;
      return at === row + 1 ? (block[row] ?? entry) : entry;
    });
  }),
  "the middle invented": asking(
    (block) => {
      const middle = block.slice(1, -1).map((_, row) => ({ before: `  made up ${row}`, after: `  made up ${row}` }));
      return [block[0] ?? { before: "", after: "" }, ...middle, last(block)];
    },
    { linesMin: 5 },
  ),
  "the middle left out": asking(
    (block) => [block[0] ?? { before: "", after: "" }, { before: "...", after: "..." }, last(block)],
    { linesMin: 5 },
  ),
  "blanks inside a literal": oneLineOff((line) => line.replace('"two  blanks"', '"two blanks"'), {
    dressBlock: (line) => `${line} "two  blanks"`,
  }),
  "more blanks inside a line": oneLineOff((line) => line.replace(/(?<=\w) (?=\w)/, "  ")),
  "no blank inside a line": oneLineOff((line) => line.replace(/(?<=\w) (?=\w)/, "")),
  "numbers out of sequence": asking((block) => block, {}, { ...numbersWith((row) => (row < 2 ? row : row + 1)) }),
  "numbers on some lines": asking(
    (block) => block,
    {},
    {
      ...numbersWith((row) => (row === 1 ? undefined : row)),
    },
  ),
  "the number of another line, on one line": asking(
    (block) => block,
    {},
    { call: same, texts: (both, first) => ({ old: `${first + 1}\t${both.old}`, new: `${first + 1}\t${both.new}` }) },
  ),
  "uneven indentation, one line": asking(
    (block, random) => {
      const rows = innerRows(block);
      if (rows.length === 0) return undefined;
      const row = random.pick(rows);
      return block.map((entry, at) => (at === row ? both(entry, (line) => `  ${line}`) : entry));
    },
    { indent: () => "  " },
    { call: same },
  ),
  "uneven indentation, half of the lines": asking(
    (block) =>
      block.map((entry, at) => both(entry, (line) => line.replace(at < block.length / 2 ? /^ {2}/ : /^ {4}/, ""))),
    { indent: () => "    ", linesMin: 4, fixed: true },
    { call: same },
  ),
  "uneven indentation, tabs": asking(
    (block) => block.map((entry, at) => both(entry, (line) => (at === 1 ? line : line.replace(/^\t/, "")))),
    { dress: withTabs, indent: () => "\t", linesMin: 4, allows: (line) => line !== "", fixed: true },
    { call: same },
  ),
  "old and new the same": (random, texts, ends) => {
    const scene = sceneOf(random, texts);
    const old = beforeOf(scene.block);
    return refused(linesBefore(scene), old, old, { random, ends });
  },
  "no old text": (random, texts, ends) => {
    const scene = sceneOf(random, texts);
    return refused(linesBefore(scene), [], afterOf(scene.block), { random, ends, closing: false });
  },
};

/** @param {Scene} scene @param {CallForm} form */
function alreadyThere({ above, block, below }, form) {
  const made = refused([...above, ...afterOf(block), ...below], beforeOf(block), afterOf(block), form);
  return { ...made, applied: true };
}

/** @param {readonly Entry[]} block @returns {Entry} */
const last = (block) => {
  const { before, after } = block.at(-1) ?? { before: "", after: "" };
  return before === after ? { before, after: `${after} altered` } : { before, after };
};

/** Both sides of a line in another form. @param {Entry} entry @param {(line: string) => string} form @returns {Entry} */
const both = ({ before, after }, form) => ({
  before: before === undefined ? undefined : form(before),
  after: after === undefined ? undefined : form(after),
});

/**
 * Numbers in front of the lines of both texts; undefined: this line has none.
 * @param {(row: number) => number | undefined} count
 * @returns {Partial<CallForm>}
 */
function numbersWith(count) {
  const show = (/** @type {string} */ text, /** @type {number} */ first) =>
    text
      .split("\n")
      .map((line, row, all) => {
        const number = count(row);
        return (line === "" && row === all.length - 1) || number === undefined ? line : arrow(first + number) + line;
      })
      .join("\n");
  return { call: same, texts: (sent, first) => ({ old: show(sent.old, first), new: show(sent.new, first) }) };
}
