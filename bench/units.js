/** Numbers as people read them: sizes of files, times from microseconds to seconds. */

/** Decimal, as disks and `--max-size` count. */
const sizes = /** @type {const} */ ({ kB: 1e3, MB: 1e6, GB: 1e9 });

/** @param {string} text  such as "100MB" */
export function parseSize(text) {
  const match = /^(\d+)\s*([kMG])B?$/i.exec(text);
  if (match === null) return undefined;
  const unit = `${match[2]?.toLowerCase() === "k" ? "k" : match[2]?.toUpperCase()}B`;
  return Number(match[1]) * sizes[/** @type {keyof typeof sizes} */ (unit)]; // the expression allows no other letter
}

/** @param {number} bytes */
export function showSize(bytes) {
  if (bytes >= sizes.GB) return `${bytes / sizes.GB} GB`;
  return bytes >= sizes.MB ? `${bytes / sizes.MB} MB` : `${bytes / sizes.kB} kB`;
}

/** Three digits that count, with the unit that fits. @param {number} ms */
export function showTime(ms) {
  if (ms < 1) return `${digits(ms * 1000)} µs`;
  return ms < 1000 ? `${digits(ms)} ms` : `${digits(ms / 1000)} s`;
}

/** @param {number} value */
export function digits(value) {
  if (value >= 100) return value.toFixed(0);
  if (value >= 10) return value.toFixed(1);
  return value >= 0.1 || value === 0 ? value.toFixed(2) : value.toPrecision(2);
}

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const high = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? high : ((sorted[middle - 1] ?? high) + high) / 2;
}
