/** What became of a call, told from the bytes on disk alone; what the reply says is held against them. */

/** @typedef {import("./cases.js").Case} Case */
/** @typedef {"correct" | "whitespace wrong" | "text wrong" | "refused"} Became */

/**
 * @typedef {object} Reply
 * @property {boolean} isError
 * @property {{ readonly code: string }} [error]
 * @property {any} structured  the answer for programs; only its patch is looked at
 */

/**
 * @typedef {object} Score
 * @property {Became} became
 * @property {boolean} wrote
 * @property {number} collateral  bytes that changed outside of the lines the edit is about
 * @property {boolean} untrue     success without a change, an error with one, or a patch that is not what was done
 * @property {boolean} already    it was said that the new text is there
 */

/** @param {Case} made @param {Buffer} now @param {Reply} reply @returns {Score} */
export function scoreOf({ before, after, head, tail }, now, reply) {
  const wrote = !now.equals(before);
  return {
    became: becameOf(after, now, wrote),
    wrote,
    collateral: wrote ? collateralOf(before, now, head, tail) : 0,
    untrue: wrote === reply.isError || (wrote && !isTold(before, now, reply)),
    already: reply.error?.code === "ALREADY_APPLIED",
  };
}

/** @param {Buffer} after @param {Buffer} now @param {boolean} wrote @returns {Became} */
function becameOf(after, now, wrote) {
  if (!wrote) return "refused";
  if (now.equals(after)) return "correct";
  const dense = (/** @type {Buffer} */ bytes) => String(bytes).replace(/[\s\0]/g, "");
  return dense(now) === dense(after) ? "whitespace wrong" : "text wrong";
}

/** @param {Buffer} before @param {Buffer} now @param {number} head @param {number} tail */
function collateralOf(before, now, head, tail) {
  let [same, sameEnd] = [0, 0];
  while (same < head && before[same] === now[same]) same += 1;
  while (sameEnd < tail && before.at(-1 - sameEnd) === now.at(-1 - sameEnd)) sameEnd += 1;
  return head - same + (tail - sameEnd);
}

/** Does the patch of the reply tell the lines before and after? @param {Buffer} before @param {Buffer} now @param {Reply} reply */
function isTold(before, now, { structured }) {
  const [old, fresh] = [linesIn(before), linesIn(now)];
  /** @type {readonly { oldStart: number, newStart: number, lines: readonly string[] }[]} */
  const hunks = structured?.structuredPatch ?? [];
  if (hunks.length === 0) return false;
  return hunks.every(({ oldStart, newStart, lines }) => {
    const shown = (/** @type {string} */ sign) =>
      lines.filter((line) => line[0] === " " || line[0] === sign).map((line) => line.slice(1).replace(/\r$/, ""));
    const stands = (
      /** @type {readonly string[]} */ wanted,
      /** @type {readonly string[]} */ there,
      /** @type {number} */ from,
    ) => wanted.every((line, row) => line === there[from - 1 + row]);
    return stands(shown("-"), old, oldStart) && stands(shown("+"), fresh, newStart);
  });
}

/** @param {Buffer} bytes */
function linesIn(bytes) {
  const isWide = bytes[0] === 0xff && bytes[1] === 0xfe;
  return bytes
    .toString(isWide ? "utf16le" : "utf8")
    .replace(/^\ufeff/, "")
    .split("\n")
    .map((line) => line.replace(/\r$/, ""));
}
