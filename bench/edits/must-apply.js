/** Calls that must be applied: distorted in one way, and what is meant is beyond doubt. */

import { applied, utf8 } from "./cases.js";
import { afterOf, beforeOf, hasWords, indentOf, isKept, otherWord, sceneOf } from "./scenes.js";
import { curled, placesOf, plain, straight, withTabs, withWidth } from "./texts.js";

/** @typedef {import("./random.js").Random} Random */
/** @typedef {import("./cases.js").Case} Case */
/** @typedef {import("./cases.js").Ends} Ends */
/** @typedef {import("./cases.js").CallForm} CallForm */
/** @typedef {import("./scenes.js").Scene} Scene */
/** @typedef {import("./scenes.js").SceneWish} SceneWish */
/** @typedef {readonly (readonly string[])[]} SourceTexts */
/** @typedef {(random: Random, texts: SourceTexts, ends: Ends) => Case} Make */

/**
 * A scene of the wish, and the call in the form.
 * @param {SceneWish} wish
 * @param {Partial<CallForm> | ((random: Random) => Partial<CallForm>)} form
 * @param {(scene: Scene, random: Random) => Scene} [arrange]
 * @returns {Make}
 */
const plainCase =
  (wish, form, arrange = (scene) => scene) =>
  (random, texts, ends) => {
    const own = typeof form === "function" ? form(random) : form;
    return applied(arrange(sceneOf(random, texts, wish), random), { random, ends, ...own });
  };

/** One of its words in quotes, and an apostrophe. @param {string} line @param {Random} random */
function quoted(line, random) {
  if (/["'\u2018-\u201f]/.test(line) || random.chance(0.25)) return line; // straight quotes on other lines stay straight
  const marked = otherWord(random, line, (word) => (random.chance(0.5) ? `"${word}"` : `${word}'s "${word}"`));
  return curled(marked);
}

/** A line of the block gets quotes in the words that come: in the file they are curly. @param {Scene} scene @param {Random} random */
function quotesCome(scene, random) {
  const block = scene.block.map((entry) => {
    const { before, after } = entry;
    if (isKept(entry) || before === undefined || after === undefined) return entry;
    if (!/\u201c/.test(before) || /["']/.test(before)) return entry;
    const isWhole = /\u2019/.test(before) && random.chance(0.5);
    const fresh = isWhole
      ? `${indentOf(before)}It\u2019s a \u201crewritten\u201d line, the writer\u2019s own`
      : `${after} and \u201cquoted words\u201d`;
    return { before, after: fresh };
  });
  return { ...scene, block };
}

/** Signs that look like others, in some of its places. @param {string} line @param {Random} random */
function lookingAlike(line, random) {
  const indent = indentOf(line);
  const rest = line
    .slice(indent.length)
    .replace(/(?<=\S) (?=\S)/g, (blank) => (random.chance(0.3) ? random.pick(["\u00a0", "\u202f"]) : blank))
    .replace(/(?<=\w)-(?=\w)/g, (dash) => (random.chance(0.5) ? "\u2013" : dash));
  return random.chance(0.3) ? `${indent}${rest} cafe\u0301 \u2212 nai\u0308ve` : indent + rest;
}

const blanks = [" ", "  ", "\t"];
const endBlanks = (/** @type {string} */ line, /** @type {Random} */ random) =>
  random.chance(0.5) ? line + random.pick(blanks) : line;

/** The call lacks this in front of every line. @param {string} prefix */
const without = (prefix) => (/** @type {string} */ line) =>
  line.startsWith(prefix) ? line.slice(prefix.length) : line;
const inFront = (/** @type {string} */ prefix) => (/** @type {string} */ line) =>
  line.trim() === "" ? line : prefix + line;

/** Numbers as tools show them. */
const numberings = {
  "12→": (/** @type {number} */ number) => `${String(number).padStart(6)}→`,
  "12: ": (/** @type {number} */ number) => `${number}: `,
  "00012| ": (/** @type {number} */ number) => `${String(number).padStart(5, "0")}| `,
  "  12 | ": (/** @type {number} */ number) => `${String(number).padStart(4)} | `,
  "12 TAB": (/** @type {number} */ number) => `${String(number).padStart(6)}\t`,
};

/** @param {(number: number) => string} show @param {string} text @param {number} first */
export const numbered = (show, text, first) => {
  const closing = text.endsWith("\n") ? "\n" : "";
  const lines = (closing === "" ? text : text.slice(0, -1)).split("\n");
  return lines.map((line, row) => show(first + row) + line).join("\n") + closing;
};

/** Numbers on some lines, in both texts or in the old one. @param {number} every @param {boolean} inBoth */
const sparse = (every, inBoth) => (/** @type {import("./cases.js").Texts} */ both, /** @type {number} */ first) => {
  const show = (/** @type {number} */ number) => (number % every === 0 ? `${number}\t` : "");
  // A page begins with the first line of half of the blocks.
  const top = first % 2 === 0 && show(first) === "" ? `${first}\t` : "";
  const old = top + numbered(show, both.old, first);
  return { old, new: inBoth && old !== both.old ? top + numbered(show, both.new, first) : both.new };
};

/** The block once more in front, with one word of a kept line another one. @param {Scene} scene @param {Random} random */
function nearCopyInFront(scene, random) {
  const copy = beforeOf(scene.block);
  const rows = copy.flatMap((line, row) => (hasWords(line) ? [row] : []));
  const row = random.pick(rows);
  copy[row] = otherWord(random, copy[row] ?? "", (word) => `${word}Too`);
  return { ...scene, above: [...scene.above, ...copy, ""] };
}

/** Every step, once with LF and once with CRLF in the file. @type {Readonly<Record<string, Make>>} */
export const ladder = {
  "to the letter": plainCase({}, {}),
  "curly quotes in the file": plainCase(
    { dressBlock: quoted, apart: true, touch: true },
    { call: straight },
    quotesCome,
  ),
  "look-alikes in the file": plainCase({ dressBlock: lookingAlike, apart: true, touch: true }, { call: plain }),
  "look-alikes in the call": plainCase(
    { apart: true, touch: true, allows: (line) => line === plain(line) },
    { call: (/** @type {string} */ line) => line.replace(/(?<=\w) (?=\w)/, "\u00a0") },
  ),
  "blanks at line ends of the file": plainCase(
    { dressBlock: endBlanks, apart: true, touch: true },
    { call: (/** @type {string} */ line) => line.trimEnd() },
  ),
  "blanks at line ends of the call": plainCase(
    { apart: true, fixed: true, touch: true },
    { call: (/** @type {string} */ line, /** @type {number} */ row) => (row % 2 === 0 ? `${line}  ` : line) },
  ),
  "blanks at line ends of the call, most of a line changes": plainCase(
    { fixed: true, touch: true },
    { call: (/** @type {string} */ line) => `${line}  ` },
    (scene) => among(scene, { before: "signal: AbortSignal,", after: "signal: altered," }),
  ),
  "a tab is missing": plainCase({ dress: withTabs, indent: () => "\t" }, { call: without("\t") }),
  "two tabs are missing": plainCase({ dress: withTabs, indent: () => "\t\t" }, { call: without("\t\t") }),
  "a tab too many": plainCase({ dress: withTabs }, { call: inFront("\t") }),
  "spaces are missing": plainCase({ indent: (random) => random.pick(["  ", "    "]) }, (random) =>
    random.chance(0.5) ? { call: without("  ") } : { call: (/** @type {string} */ line) => line.replace(/^ {2}/, "") },
  ),
  "spaces too many": plainCase({}, (random) => ({ call: inFront(random.pick(["  ", "    "])) })),
  "spaces for tabs": (random, texts, ends) => {
    const width = random.pick([2, 4, 8]);
    const wish = { dress: withTabs, indent: () => "\t" };
    const call = (/** @type {string} */ line) => line.replace(/^\t+/, (tabs) => " ".repeat(tabs.length * width));
    return applied(sceneOf(random, texts, wish), { random, ends, call });
  },
  "spaces for tabs, a comment among the lines": (random, texts, ends) => {
    const width = random.pick([2, 4, 8]);
    const scene = sceneOf(random, texts, { dress: withTabs, indent: () => "\t" });
    const call = (/** @type {string} */ line) => line.replace(/^\t+/, (tabs) => " ".repeat(tabs.length * width));
    return applied(commented(scene), { random, ends, call });
  },
  "tabs for spaces": (random, texts, ends) => {
    const width = random.pick([2, 4]);
    const wish = {
      dress: (/** @type {string} */ line) => withWidth(line, width),
      indent: () => " ".repeat(width),
      allows: (/** @type {string} */ line) => indentOf(line).length % width === 0,
      fixed: true,
    };
    const call = (/** @type {string} */ line) => line.replace(/^ +/, (text) => "\t".repeat(text.length / width));
    return applied(sceneOf(random, texts, wish), { random, ends, call });
  },
  "numbers of Read in both texts": (random, texts, ends) => {
    const show = random.pick(Object.values(numberings));
    const sent = (/** @type {import("./cases.js").Texts} */ both, /** @type {number} */ first) => ({
      old: numbered(show, both.old, first),
      new: numbered(show, both.new, first),
    });
    return applied(sceneOf(random, texts), { random, ends, texts: sent });
  },
  "numbers of Read in the old text": (random, texts, ends) => {
    const show = random.pick(Object.values(numberings));
    const sent = (/** @type {import("./cases.js").Texts} */ both, /** @type {number} */ first) => ({
      old: numbered(show, both.old, first),
      new: both.new,
    });
    return applied(sceneOf(random, texts), { random, ends, texts: sent });
  },
  "few numbers of Read in both texts": (random, texts, ends) =>
    applied(sceneOf(random, texts), { random, ends, texts: sparse(random.pick([5, 10]), true) }),
  "few numbers of Read in the old text": (random, texts, ends) =>
    applied(sceneOf(random, texts), { random, ends, texts: sparse(random.pick([5, 10]), false) }),
  "escapes written twice": plainCase(
    { allows: (line) => !line.includes("\\") },
    {
      texts: (both) => ({ old: JSON.stringify(both.old).slice(1, -1), new: JSON.stringify(both.new).slice(1, -1) }),
    },
  ),
  "near copy in front, to the letter": plainCase({}, {}, nearCopyInFront),
  "near copy in front, shifted": plainCase(
    { dress: withTabs, indent: () => "\t" },
    { call: without("\t") },
    nearCopyInFront,
  ),
  "near copy in front, quotes": plainCase(
    { dressBlock: quoted, apart: true, touch: true },
    { call: straight },
    nearCopyInFront,
  ),
  "copy at another depth in front": plainCase({ linesMin: 4 }, {}, (scene) => {
    const copy = beforeOf(scene.block).map((line) => (line === "" ? "" : `  ${line}`));
    return { ...scene, above: [...scene.above, ...copy, ""] };
  }),
  "part of lines": partOfLines({}),
  "part of lines, curly quotes": partOfLines({ dressBlock: quoted, apart: true, touch: true }, straight),
  "part of one line": (random, texts, ends) => {
    const scene = sceneOf(random, texts, { fixed: true, touch: true });
    const entry = random.pick(scene.block.filter((line) => !isKept(line)));
    const { before = "", after = "" } = entry;
    const only = scene.block.map((line) => (line === entry ? line : { before: line.before, after: line.before }));
    const made = applied({ ...scene, block: only }, { random, ends });
    const [head, tail] = [commonHead(before, after), commonTail(before, after)];
    const from = random.between(indentOf(before).length, Math.max(indentOf(before).length, head - 3));
    const cut = random.below(Math.min(tail, 4) + 1);
    const input = {
      old_string: before.slice(from, before.length - cut),
      new_string: after.slice(from, after.length - cut),
    };
    return onlyOnce(made, input) ? { ...made, input } : made;
  },
  "first line without its indentation": (random, texts, ends) => {
    const scene = sceneOf(random, texts, { indent: () => "    " });
    const made = applied(scene, { random, ends });
    const { old_string, new_string } = made.input;
    return { ...made, input: { old_string: old_string.trimStart(), new_string: new_string.trimStart() } };
  },
  "the file's own numbers": plainCase({}, {}, ownNumbers),
  "the file's own numbers, those of Read in front": plainCase(
    {},
    {
      texts: (both, first) => ({
        old: numbered(numberings["12→"], both.old, first),
        new: numbered(numberings["12→"], both.new, first),
      }),
    },
    ownNumbers,
  ),
  "dollar signs in the new text": plainCase({}, {}, (scene) => ({
    ...scene,
    block: scene.block.map((entry) =>
      isKept(entry) || entry.after === undefined
        ? entry
        : { before: entry.before, after: `${entry.after} $& $1 $$ $\` $'` },
    ),
  })),
  "final line end comes": finalLine(false),
  "final line end goes": finalLine(true),
  "last line, no line end in the file": (random, texts, ends) => {
    const scene = sceneOf(random, texts, { fixed: true });
    return applied({ ...scene, below: [] }, { random, ends, open: true, closing: false });
  },
  "every one of two copies": (random, texts, ends) => everyCopy(random, texts, ends, (line) => line),
  "every one of two copies, shifted": (random, texts, ends) =>
    everyCopy(random, texts, ends, (line) => line.replace(/^ {2}/, "")),
  "the same call twice": (random, texts, ends) => ({
    ...applied(sceneOf(random, texts, { fixed: true }), { random, ends }),
    twice: true,
  }),
  "mark at the file's beginning": (random, texts, ends) => {
    const scene = sceneOf(random, texts);
    const encode = (/** @type {string} */ text) => utf8(`\ufeff${text}`);
    const made = applied({ ...scene, above: [] }, { random, ends });
    return { ...made, before: encode(String(made.before)), after: encode(String(made.after)), head: made.head + 3 };
  },
  "UTF-16": (random, texts, ends) => {
    const made = applied(sceneOf(random, texts), { random, ends });
    const encode = (/** @type {Buffer} */ bytes) => Buffer.from(`\ufeff${bytes.toString()}`, "utf16le");
    const chars = (/** @type {Buffer} */ bytes) => 2 * String(bytes).length;
    return {
      ...made,
      before: encode(made.before),
      after: encode(made.after),
      head: 2 + chars(made.before.subarray(0, made.head)),
      tail: chars(made.before.subarray(made.before.length - made.tail)),
    };
  },
};

/** Kinds that bring their own line ends. @type {Readonly<Record<string, Make>>} */
export const lineEnds = {
  "CRLF in the call, LF in the file": plainCase({}, { callEnds: "\r\n" }),
  "CRLF in both": (random, texts) => applied(sceneOf(random, texts), { random, ends: "CRLF", callEnds: "\r\n" }),
  "line ends mixed line by line": (random, texts) =>
    applied(sceneOf(random, texts, { fixed: true }), { random, ends: "mixed" }),
  "line ends mixed, CRLF in the call": (random, texts) =>
    applied(sceneOf(random, texts, { fixed: true }), { random, ends: "mixed", callEnds: "\r\n" }),
  "line ends mixed, lines go": (random, texts) => {
    const scene = sceneOf(random, texts, { apart: true });
    const block = scene.block.filter(({ before }) => before !== undefined);
    if (block.every(isKept)) block[0] = { before: block[0]?.before, after: `${block[0]?.before} altered` };
    return applied({ ...scene, block }, { random, ends: "mixed" });
  },
  "line ends mixed, a tab is missing": (random, texts) =>
    applied(sceneOf(random, texts, { fixed: true, dress: withTabs, indent: () => "\t" }), {
      random,
      ends: "mixed",
      call: without("\t"),
    }),
  "lines come to a CRLF part of an LF file": (random, texts) => {
    const scene = sceneOf(random, texts, { touch: true });
    const made = applied(scene, { random, ends: "CRLF" });
    // Above and below LF: the majority of the file says the opposite of the region.
    const above = scene.above.map((line) => `${line}\n`).join("");
    const below = scene.below.map((line) => `${line}\n`).join("");
    const aboveBytes = utf8(scene.above.map((line) => `${line}\r\n`).join("")).length;
    const belowBytes = utf8(scene.below.map((line) => `${line}\r\n`).join("")).length;
    const around = (/** @type {Buffer} */ bytes) =>
      Buffer.concat([utf8(above), bytes.subarray(aboveBytes, bytes.length - belowBytes), utf8(below)]);
    return {
      ...made,
      before: around(made.before),
      after: around(made.after),
      head: made.head - aboveBytes + utf8(above).length,
      tail: made.tail - belowBytes + utf8(below).length,
    };
  },
  "one line of a CRLF file becomes several": (random, texts) => {
    const scene = sceneOf(random, texts, { fixed: true, touch: true });
    const changed = scene.block.find((entry) => !isKept(entry)) ?? scene.block[0];
    const { before = "", after = "" } = changed ?? {};
    const block = scene.block.flatMap((entry) =>
      entry === changed
        ? [
            { before, after },
            { before: undefined, after: `${indentOf(before)}second(line);` },
          ]
        : [{ before: entry.before, after: entry.before }],
    );
    const made = applied({ ...scene, block }, { random, ends: "CRLF" });
    const input = { old_string: before, new_string: `${after}\n${indentOf(before)}second(line);` };
    return onlyOnce(made, input) ? { ...made, input } : made;
  },
};

/** More lines behind the first one of the block. @param {Scene} scene @param {import("./scenes.js").Entry[]} entries */
function among(scene, ...entries) {
  const [first, ...rest] = scene.block;
  return { ...scene, block: first === undefined ? [...entries] : [first, ...entries, ...rest] };
}

/** Its lines stand one blank behind the indentation, which no tab is for. @param {Scene} scene */
function commented(scene) {
  const kept = (/** @type {string} */ line) => ({ before: line, after: line });
  const changed = { before: "\t * A comment that says what follows.", after: "\t * A comment that says less." };
  return among(scene, kept("\t/**"), changed, kept("\t */"));
}

/** @param {Scene} scene */
function ownNumbers(scene) {
  let number = 11;
  const count = (/** @type {string} */ line) => `${(number += 1)}: ${line}`;
  const above = scene.above.map(count);
  const block = scene.block.map(({ before, after }) => {
    const kept = before === after;
    const own = before === undefined ? undefined : count(before);
    if (kept) return { before: own, after: own };
    return { before: own, after: after === undefined ? undefined : `${number}: ${after}` };
  });
  return { above, block, below: scene.below.map(count) };
}

/**
 * The call begins and ends inside of kept lines.
 * @param {SceneWish} wish
 * @param {(line: string) => string} [call]
 * @returns {Make}
 */
function partOfLines(wish, call = (line) => line) {
  return (random, texts, ends) => {
    for (;;) {
      const scene = sceneOf(random, texts, { ...wish, linesMin: 4 });
      const [first, last] = [scene.block[0], scene.block.at(-1)];
      if (first === undefined || last === undefined || !isKept(first) || !isKept(last)) continue;
      const from = indentOf(first.before ?? "").length + random.between(1, 4);
      const cut = random.between(1, 4);
      const made = applied(scene, { random, ends, closing: false, call });
      const { old_string, new_string } = made.input;
      const input = { old_string: old_string.slice(from, -cut), new_string: new_string.slice(from, -cut) };
      return { ...made, input };
    }
  };
}

/** The final line end is all that the edit is about. @param {boolean} goes @returns {Make} */
function finalLine(goes) {
  return (random, texts, ends) => {
    for (;;) {
      const scene = sceneOf(random, texts, { fixed: true });
      const lines = [...scene.above, ...beforeOf(scene.block)];
      const last = lines.at(-1) ?? "";
      if (placesOf(lines, [last]).length !== 1) continue;
      const end = ends === "CRLF" ? "\r\n" : "\n";
      const body = lines.join(end);
      if (body.split(last).length !== 2) continue;
      const [open, closed] = [utf8(body), utf8(body + end)];
      const input = goes
        ? { old_string: `${last}\n`, new_string: last }
        : { old_string: last, new_string: `${last}\n` };
      return { before: goes ? closed : open, after: goes ? open : closed, input, head: open.length, tail: 0 };
    }
  };
}

/**
 * Two copies, and all of them are meant.
 * @param {Random} random
 * @param {SourceTexts} texts
 * @param {Ends} ends
 * @param {(line: string) => string} call
 * @returns {Case}
 */
function everyCopy(random, texts, ends, call) {
  const scene = sceneOf(random, texts, { fixed: true, indent: () => "  " });
  const end = ends === "CRLF" ? "\r\n" : "\n";
  const join = (/** @type {readonly string[]} */ lines) => lines.map((line) => line + end).join("");
  const make = (/** @type {readonly string[]} */ block) =>
    utf8(join([...scene.above, ...block, "between(the, copies);", ...block, ...scene.below]));
  const [old, fresh] = [beforeOf(scene.block), afterOf(scene.block)];
  const sent = (/** @type {readonly string[]} */ lines) => lines.map(call).join("\n");
  return {
    before: make(old),
    after: make(fresh),
    input: { old_string: sent(old), new_string: sent(fresh), replace_all: true },
    head: utf8(join(scene.above)).length,
    tail: utf8(join(scene.below)).length,
  };
}

/** @param {Case} made @param {Case["input"]} input */
const onlyOnce = ({ before }, { old_string }) => {
  const text = String(before);
  const at = text.indexOf(old_string);
  return at >= 0 && text.indexOf(old_string, at + 1) < 0;
};

/** @param {string} one @param {string} other */
function commonHead(one, other) {
  let length = 0;
  while (length < Math.min(one.length, other.length) && one[length] === other[length]) length += 1;
  return length;
}

/** @param {string} one @param {string} other */
function commonTail(one, other) {
  const most = Math.min(one.length, other.length) - commonHead(one, other);
  let length = 0;
  while (length < most && one.at(-1 - length) === other.at(-1 - length)) length += 1;
  return length;
}
