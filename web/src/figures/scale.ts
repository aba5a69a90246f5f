/** The ticks on the axes of a plot. */

/** Round numbers from 0 up to at least the largest value, in three to five steps. */
export function ticksUpTo(max: number, isWhole = false): readonly number[] {
  if (!(max > 0)) return [0, 1];
  const rough = max / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const found = [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= rough) ?? rough;
  const step = isWhole ? Math.max(1, Math.ceil(found)) : found;
  const count = Math.ceil(max / step);
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** The powers of ten that enclose both values. */
export function powersAround(min: number, max: number): readonly number[] {
  const from = Math.floor(Math.log10(min));
  const to = Math.max(from + 1, Math.ceil(Math.log10(max)));
  return Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
}

/** The position between 0 and 1 on a logarithmic scale. */
export function shareByPower(value: number, [first = 1, ...others]: readonly number[]): number {
  const last = others.at(-1) ?? first * 10;
  const share = Math.log10(Math.max(value, first) / first) / Math.log10(last / first);
  return Math.min(1, share);
}
