/**
 * Conversations in which a model edits by line numbers that may have drifted: the file, what happens before the edit, the call,
 * and the bytes that must be there afterwards. A number means the page that was shown.
 */

/** @typedef {import("./random.js").Random} Random */

/**
 * @typedef {object} Conversation
 * @property {readonly string[]} lines     the file at the beginning
 * @property {readonly Step[]} steps       what happens before the edit, in order
 * @property {{ readonly lines: string, readonly new_string: string, readonly first?: string }} edit
 * @property {readonly string[] | undefined} after  the file after the edit; undefined if the edit must be refused
 */

/**
 * @typedef {{ readonly read: readonly [from: number, to: number] }
 *   | { readonly own: readonly string[], readonly by: "text" | "lines", readonly at: number, readonly out: number, readonly put: readonly string[] }
 *   | { readonly others: readonly string[] }} Step
 */

let made = 0;
const fresh = () => `a line of its own ${(made += 1)}`;
const some = (/** @type {number} */ count) => Array.from({ length: count }, fresh);

/** @param {readonly string[]} lines @param {number} at @param {number} out @param {readonly string[]} put */
const spliced = (lines, at, out, put) => [...lines.slice(0, at), ...put, ...lines.slice(at + out)];

/**
 * The page, then the edit of a line in its middle; `steps` come between.
 * @param {Random} random
 * @param {(lines: readonly string[], at: number) => { readonly steps: readonly Step[], readonly now: readonly string[], readonly refused?: boolean, readonly off?: number, readonly first?: (line: string, now: readonly string[]) => string }} between
 * @returns {Conversation}
 */
function conversation(random, between) {
  const lines = some(random.between(30, 60));
  const at = random.between(10, 19);
  const line = lines[at] ?? "";
  const { steps, now, refused = false, off = 0, first } = between(lines, at);
  const put = some(random.between(1, 3));
  const where = now.indexOf(line);
  return {
    lines,
    steps: [{ read: [1, lines.length] }, ...steps],
    edit: {
      lines: `${at + 1 + off}`,
      new_string: put.join("\n"),
      ...(first === undefined ? {} : { first: first(line, now) }),
    },
    after: refused ? undefined : spliced(now, where, 1, put),
  };
}

/** @param {Random} random @param {readonly string[]} lines @param {number} at @param {"text" | "lines"} by */
function ownEdit(random, lines, at, by) {
  const out = by === "lines" ? random.between(0, 2) : 1;
  const put = some(random.between(out === 0 ? 1 : 0, 3));
  const after = spliced(lines, at, out, put);
  return { step: { own: after, by, at, out, put }, after };
}

/** @type {Readonly<Record<string, (random: Random) => Conversation>>} */
export const drifts = {
  "no drift": (random) => conversation(random, (lines) => ({ steps: [], now: lines })),
  "own edit by text above": (random) =>
    conversation(random, (lines) => {
      const { step, after } = ownEdit(random, lines, random.between(0, 8), "text");
      return { steps: [step], now: after };
    }),
  "own edit by line above": (random) =>
    conversation(random, (lines) => {
      const { step, after } = ownEdit(random, lines, random.between(0, 6), "lines");
      return { steps: [step], now: after };
    }),
  "own edit below": (random) =>
    conversation(random, (lines) => {
      const { step, after } = ownEdit(random, lines, random.between(22, 28), "lines");
      return { steps: [step], now: after };
    }),
  "three own edits above, below and above": (random) =>
    conversation(random, (lines) => {
      const one = ownEdit(random, lines, 0, "text");
      const two = ownEdit(random, one.after, one.after.length - 2, "text");
      const three = ownEdit(random, two.after, 3, "text");
      return { steps: [one.step, two.step, three.step], now: three.after };
    }),
  "own edit of the line itself": (random) =>
    conversation(random, (lines, at) => {
      const { step, after } = ownEdit(random, lines, at, "text");
      return { steps: [step], now: after, refused: true };
    }),
  "somebody else inserts above": (random) =>
    conversation(random, (lines) => {
      const after = spliced(lines, random.between(0, 8), 0, some(random.between(1, 4)));
      return { steps: [{ others: after }], now: after, refused: true };
    }),
  "somebody else deletes above": (random) =>
    conversation(random, (lines) => {
      const after = spliced(lines, random.between(0, 6), random.between(1, 3), []);
      return { steps: [{ others: after }], now: after, refused: true };
    }),
  "somebody else changes the line": (random) =>
    conversation(random, (lines, at) => {
      const after = spliced(lines, at, 1, some(1));
      return { steps: [{ others: after }], now: after, refused: true };
    }),
  "somebody else changes lines below": (random) =>
    conversation(random, (lines) => {
      const after = spliced(lines, random.between(24, 28), 1, some(random.between(0, 3)));
      return { steps: [{ others: after }], now: after };
    }),
  "one off, with the first line": (random) =>
    conversation(random, (lines) => ({
      steps: [],
      now: lines,
      refused: true,
      off: random.chance(0.5) ? 1 : -1,
      first: (line) => line,
    })),
  "a stale page, then a new one with the same numbers": (random) =>
    conversation(random, (lines, at) => {
      const { step, after } = ownEdit(random, lines, random.between(0, 6), "lines");
      const isMoved = after.length !== lines.length;
      return { steps: [step, { read: [at - 2, at + 4] }], now: after, refused: isMoved };
    }),
  "a stale page, then a new one, with the first line": (random) =>
    conversation(random, (lines, at) => {
      const { step, after } = ownEdit(random, lines, random.between(0, 6), "lines");
      return { steps: [step, { read: [at - 2, at + 4] }], now: after, first: (line) => line };
    }),
  "a line that was never shown": () => {
    const lines = some(40);
    const put = some(1);
    return { lines, steps: [{ read: [1, 20] }], edit: { lines: "30", new_string: put.join("") }, after: undefined };
  },
};
