/** Rows whose growth is known, for the test of the harness. */

/** @typedef {import("../../bench/growth/row.js").Row} Row */

const common = { unit: "steps", grows: /** @type {const} */ ("linear") };
const sizes = [100, 200, 400, 800, 1_600];

/** Work of a known length. @param {number} steps */
function spin(steps) {
  let sum = 0;
  for (let at = 0; at < steps; at += 1) sum = (sum + at * at) % 1_000_003;
  if (sum < 0) throw new Error("a sum of squares");
}

/** @param {number} steps */
async function spinInTurns(steps) {
  for (let left = steps; left > 0; left -= 100_000) {
    spin(Math.min(left, 100_000));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** @type {readonly Row[]} */
export const rows = [
  {
    ...common,
    name: "linear",
    title: "work that grows like its size",
    sizes,
    quick: sizes,
    prepare: (size) => ({ measure: () => spinInTurns(size * 1_000) }),
  },
  {
    ...common,
    name: "square",
    title: "work that grows like the square of its size",
    sizes,
    quick: sizes,
    prepare: (size) => ({ measure: () => spinInTurns(size * size * 5) }),
  },
  {
    ...common,
    name: "pauses",
    title: "work in one turn of the event loop",
    sizes: [100, 200],
    quick: [100, 200],
    prepare: () => ({ measure: async () => spin(40_000_000) }),
  },
  {
    ...common,
    name: "ends",
    title: "a process that ends in the middle",
    sizes,
    quick: sizes,
    prepare: (size) => ({
      measure: async () => {
        if (size === 400) process.exit(7);
      },
    }),
  },
];
