/**
 * A scene: a file, a block in it, and what becomes of every line of the block. Which lines are kept is known from the
 * making, so the right bytes are put together here and by no diff.
 */

import { loose, placesOf } from "./texts.js";

/** @typedef {import("./random.js").Random} Random */

/**
 * One line of the block. `before` undefined: it comes; `after` undefined: it goes; both alike: it is kept.
 * @typedef {{ before: string | undefined, after: string | undefined }} Entry
 */

/**
 * @typedef {object} Scene
 * @property {string[]} above
 * @property {Entry[]} block
 * @property {string[]} below
 */

/**
 * @typedef {object} SceneWish
 * @property {(line: string, random: Random) => string} [dress]  the file's own form of every line
 * @property {(line: string, random: Random) => string} [dressBlock]  the same for lines of the block with words
 * @property {(line: string) => boolean} [allows]  lines that may be in the block
 * @property {boolean} [apart]  lines come and go only between kept ones, so that each new line has one old line
 * @property {boolean} [touch]  lines change in one word only
 * @property {boolean} [fixed]  no line comes or goes
 * @property {number} [linesMin]
 * @property {(random: Random) => string} [indent]  puts this in front of every line of the block
 */

const linesMax = 12;
const triesMax = 400;

const wordPattern = /(?<![A-Za-z\p{M}\\])[A-Za-z]{3,}(?![A-Za-z\p{M}])/gu;

/** A line with enough words to be told from others. @param {string} line */
export const hasWords = (line) => (line.match(wordPattern)?.length ?? 0) >= 2;

/** @param {string} line */
export const indentOf = (line) => /^[ \t]*/.exec(line)?.[0] ?? "";

/**
 * @param {Random} random
 * @param {readonly (readonly string[])[]} texts
 * @param {SceneWish} [wish]
 * @returns {Scene}
 */
export function sceneOf(random, texts, wish = {}) {
  const { dress = same, dressBlock = same, allows = () => true, linesMin = 3 } = wish;
  for (let tries = 0; tries < triesMax; tries += 1) {
    const lines = random.pick(texts).map((line) => dress(line, random));
    const count = random.between(linesMin, linesMax);
    const at = random.between(1, lines.length - count - 1);
    const prefix = wish.indent?.(random) ?? "";
    const block = lines.slice(at, at + count).map((line) => {
      const dressed = hasWords(line) ? dressBlock(line, random) : line;
      return dressed === "" ? "" : prefix + dressed;
    });
    const [first = "", last = ""] = [block[0], block.at(-1)];
    if (!hasWords(first) || !hasWords(last) || !block.every(allows)) continue;
    const entries = changesOf(random, block, wish);
    if (entries === undefined) continue;
    const scene = { above: lines.slice(0, at), block: entries, below: lines.slice(at + count) };
    if (placesOf(linesBefore(scene), block).length === 1) return scene;
  }
  throw new Error("no block of the texts fits this kind of call");
}

const same = (/** @type {string} */ line) => line;

/** @param {Scene} scene */
export const linesBefore = ({ above, block, below }) => [...above, ...beforeOf(block), ...below];
/** @param {readonly Entry[]} block */
export const beforeOf = (block) => block.flatMap(({ before }) => before ?? []);
/** @param {readonly Entry[]} block */
export const afterOf = (block) => block.flatMap(({ after }) => after ?? []);
/** @param {Entry} entry */
export const isKept = ({ before, after }) => before === after;

/**
 * What becomes of each line: the first and the last line are kept or change, so that a block has firm ends.
 * @param {Random} random
 * @param {readonly string[]} block
 * @param {SceneWish} wish
 * @returns {Entry[] | undefined}
 */
function changesOf(random, block, wish) {
  const isOnly = (/** @type {string} */ line) => block.filter((other) => loose(other) === loose(line)).length === 1;
  const may = block.map((line) => hasWords(line) && isOnly(line));
  /** @type {Entry[]} */
  const entries = [];
  const changed = block.map((_, at) => may[at] === true && random.chance(0.35));
  const calm = (/** @type {number} */ at) => wish.apart !== true || changed[at] !== true;
  let gone = false;
  for (const [at, line] of block.entries()) {
    const inside = at > 0 && at < block.length - 1 && wish.fixed !== true && !gone;
    gone = false;
    if (inside && may[at] && changed[at] !== true && calm(at - 1) && calm(at + 1) && random.chance(0.15)) {
      entries.push({ before: line, after: undefined });
      gone = true;
      continue;
    }
    entries.push({ before: line, after: changed[at] === true ? changedLine(random, line, wish) : line });
    if (at < block.length - 1 && wish.fixed !== true && calm(at) && calm(at + 1) && random.chance(0.15)) {
      const indent = indentOf(line) || indentOf(block[at + 1] ?? "");
      const deeper = random.chance(0.3) ? deeperThan(indent) : indent;
      entries.push({ before: undefined, after: `${deeper}inserted(line${random.between(100, 999)});` });
      gone = true; // no line goes right after one that came
    }
  }
  return entries.some((entry) => !isKept(entry)) ? entries : undefined;
}

/** @param {string} indent */
const deeperThan = (indent) => {
  if (indent === "") return "";
  return indent + (indent.startsWith("\t") ? "\t" : "  ");
};

/** @param {Random} random @param {string} line @param {SceneWish} wish */
function changedLine(random, line, { touch }) {
  if (touch !== true && random.chance(0.3)) return `${indentOf(line)}rewritten(line, ${random.between(100, 999)});`;
  return otherWord(random, line, () => `altered${random.between(100, 999)}`);
}

/**
 * One word of the line replaced.
 * @param {Random} random
 * @param {string} line
 * @param {(word: string) => string} other
 */
export function otherWord(random, line, other) {
  const words = [...line.matchAll(wordPattern)];
  const { 0: word, index } = random.pick(words);
  return line.slice(0, index) + other(word) + line.slice(index + word.length);
}
