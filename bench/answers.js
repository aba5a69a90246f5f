/** Is what a method answered right? A method that answers wrong lines has no time. */

/**
 * @typedef {object} Verdict
 * @property {boolean} counts  false: the lines are wrong, the time means nothing
 * @property {string} words
 */

/**
 * @param {{ readonly lines: readonly string[], readonly total?: number | undefined }} answer
 * @param {{ readonly lines: readonly string[], readonly total: number }} expected
 * @returns {Verdict}
 */
export function judge(answer, expected) {
  const wrongAt = answer.lines.findIndex((line, index) => line !== expected.lines[index]);
  if (wrongAt !== -1 || answer.lines.length > expected.lines.length) return { counts: false, words: "wrong lines" };
  if (answer.lines.length === 0) return { counts: false, words: "no lines" };
  if (answer.lines.length < expected.lines.length) {
    return { counts: true, words: `yes, but only ${answer.lines.length} lines` };
  }
  if (answer.total === undefined) return { counts: true, words: "yes, no total" };
  // Some count one more line behind a final newline; both are ways to count, not mistakes.
  const exact = answer.total === expected.total || answer.total === expected.total + 1;
  return exact
    ? { counts: true, words: "yes, with total" }
    : { counts: true, words: `yes, total ${answer.total} wrong` };
}

/** A program that only counts. @param {number} total @param {number} expected @returns {Verdict} */
export const judgeTotal = (total, expected) =>
  total === expected ? { counts: true, words: "total only" } : { counts: false, words: "wrong total" };

/**
 * A list of names, both sorted. One with a cap may have fewer, and the table says so; none may have others.
 * @param {readonly string[]} names
 * @param {readonly string[]} expected
 * @param {number} [total]  what it says there are
 * @returns {Verdict}
 */
export function judgeNames(names, expected, total) {
  const right = new Set(expected);
  const different = new Set(names);
  const others = [...different].filter((name) => !right.has(name)).length;
  const again = names.length - different.size;
  if (others > 0 || again > 0 || names.length === 0) {
    const found = `${different.size - others} of ${expected.length} names`;
    return { counts: false, words: `wrong: ${found}, ${again} told again, ${others} not asked for` };
  }
  if (total !== undefined && total !== expected.length) return { counts: false, words: "wrong total" };
  if (names.length === expected.length) return { counts: true, words: "yes, all" };
  const some = `${names.length} of ${expected.length} names`;
  return { counts: true, words: total === undefined ? `yes, but only ${some}` : `yes, ${some} and the total` };
}

/** Nothing to compare: the method shows what something costs. @type {Verdict} */
export const notJudged = { counts: true, words: "" };
