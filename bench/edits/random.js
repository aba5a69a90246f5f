/** Chance from a seed: the same seed makes the same calls. */

/** @typedef {ReturnType<typeof seeded>} Random */

/** @param {number} seed */
export function seeded(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (/** @type {number} */ max) => Math.floor(next() * max);
  return {
    below,
    chance: (/** @type {number} */ share) => next() < share,
    between: (/** @type {number} */ from, /** @type {number} */ to) => from + below(to - from + 1),
    /** @template T @param {readonly T[]} list @returns {T} */
    pick: (list) => /** @type {T} */ (list[below(list.length)]), // no caller has an empty list
  };
}

/** A number for a name, so that a new kind of call does not change the calls of the others. @param {string} name */
export function seedOf(name) {
  let value = 0x811c9dc5;
  for (const character of name) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return value >>> 0;
}
