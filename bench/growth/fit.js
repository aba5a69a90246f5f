/** What the costs of a row say: the slope of the log-log fit, the largest jump, and whether the row passes. Pure. */

/** @typedef {import("./row.js").Grows} Grows */

/**
 * What one size cost, the best of its rounds.
 * @typedef {object} Point
 * @property {number} size
 * @property {number} ms       of one call: processor time, or what the row measures itself
 * @property {number} peakMb   memory above that before the call
 * @property {number} pauseMs  the longest turn of the event loop
 */

/** @typedef {{ readonly slope: number, readonly jump: number, readonly jumpAt: number | undefined, readonly peakMb: number, readonly pauseMs: number }} Fit */
/** @typedef {{ readonly slope: Readonly<Record<Grows, number>>, readonly jump?: number, readonly pauseMs?: number }} Bounds */

/** @type {Bounds} */
export const bounds = { slope: { linear: 1.15, constant: 0.15 }, jump: 3, pauseMs: 50 };
/**
 * A short run on a busy machine can tell linear work from work that grows like the square, and not much more.
 * @type {Bounds}
 */
export const looseBounds = { slope: { linear: 1.5, constant: 0.5 } };

/** Times of less than this are noise to each other, so a jump from one of them counts as one from here. */
const noiseMs = 0.2;

/**
 * @param {readonly Point[]} points  by ascending size
 * @param {Grows} grows
 * @returns {Fit}
 */
export function fitOf(points, grows) {
  let [jump, jumpAt] = [0, /** @type {number | undefined} */ (undefined)];
  for (const [index, { size, ms }] of points.entries()) {
    const before = points[index - 1];
    if (before === undefined) continue;
    const share = grows === "linear" ? size / before.size : 1;
    const ratio = Math.max(ms, noiseMs) / Math.max(before.ms, noiseMs) / share;
    if (ratio > jump) [jump, jumpAt] = [ratio, size];
  }
  return {
    slope: slopeOf(growing(points, grows)),
    jump,
    jumpAt,
    peakMb: Math.max(...points.map(({ peakMb }) => peakMb)),
    pauseMs: Math.max(...points.map(({ pauseMs }) => pauseMs)),
  };
}

/**
 * The sizes from which the slope is taken. What every call costs hides how small sizes grow, and would pull the slope of all sizes
 * down: where at least three sizes cost twice as much as the cheapest one, only those count.
 * @param {readonly Point[]} points
 * @param {Grows} grows
 */
function growing(points, grows) {
  if (grows === "constant") return points;
  const least = Math.max(noiseMs, Math.min(...points.map(({ ms }) => ms)));
  const from = points.findLastIndex(({ ms }) => ms < 2 * least) + 1;
  return points.length - from >= 3 ? points.slice(from) : points;
}

/** Least squares through the logarithms. @param {readonly Point[]} points */
export function slopeOf(points) {
  const pairs = points.map(({ size, ms }) => /** @type {const} */ ([Math.log(size), Math.log(Math.max(ms, 1e-4))]));
  const mean = (/** @type {0 | 1} */ which) => pairs.reduce((sum, pair) => sum + pair[which], 0) / pairs.length;
  const [x, y] = [mean(0), mean(1)];
  const spread = pairs.reduce((sum, pair) => sum + (pair[0] - x) ** 2, 0);
  return spread === 0 ? 0 : pairs.reduce((sum, pair) => sum + (pair[0] - x) * (pair[1] - y), 0) / spread;
}

/**
 * What is wrong with a row; empty if nothing is.
 * @param {Fit} fit
 * @param {Grows} grows
 * @param {Bounds} max
 * @returns {readonly string[]}
 */
export function faultsOf({ slope, jump, jumpAt, pauseMs }, grows, max) {
  const faults = [];
  if (slope > max.slope[grows]) faults.push(`slope ${slope.toFixed(2)} > ${max.slope[grows]}`);
  if (max.jump !== undefined && jump > max.jump) {
    faults.push(`the step to ${jumpAt?.toLocaleString("en")} costs ${jump.toFixed(1)}x its share`);
  }
  if (max.pauseMs !== undefined && pauseMs > max.pauseMs) faults.push(`a pause of ${Math.round(pauseMs)} ms`);
  return faults;
}
