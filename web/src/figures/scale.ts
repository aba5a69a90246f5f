/** Where marks stand on the axes of a plot. */

/** Round numbers from 0 up to the first that is not below the largest value: three to five steps. */
export function ticksUpTo(max: number, isWhole = false): readonly number[] {
  if (!(max > 0)) return [0, 1];
  const rough = max / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const found = [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= rough) ?? rough;
  const step = isWhole ? Math.max(1, Math.ceil(found)) : found;
  const count = Math.ceil(max / step);
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** Powers of ten, from the one that is not above the least value to the one that is not below the largest. */
export function powersAround(min: number, max: number): readonly number[] {
  const from = Math.floor(Math.log10(min));
  const to = Math.max(from + 1, Math.ceil(Math.log10(max)));
  return Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
}

/** From 0 to 1, by powers. */
export function shareByPower(value: number, [first = 1, ...others]: readonly number[]): number {
  const last = others.at(-1) ?? first * 10;
  const share = Math.log10(Math.max(value, first) / first) / Math.log10(last / first);
  return Math.min(1, share);
}
