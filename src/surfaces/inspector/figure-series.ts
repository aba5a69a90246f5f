/** Numbers over time by name: a few large ones by themselves, all others together. Pure. */

import type { Series } from "../../contract/inspector.ts";

/** More colours than these, and one for the others, nobody tells apart. */
export const layersMax = 5;

/** One number of one call. */
export interface Point {
  readonly name: string;
  /** Which part of the time. */
  readonly part: number;
  readonly value: number;
}

/** Two passes, so that besides a sum for each name no more is held than what is answered. */
export function seriesOf(points: readonly Point[], parts: number): Series {
  const sums = new Map<string, number>();
  for (const { name, value } of points) if (value > 0) sums.set(name, (sums.get(name) ?? 0) + value);
  const largest = [...sums].toSorted(([, a], [, b]) => b - a).slice(0, layersMax);
  const layers = new Map(largest.map(([name]) => [name, zeros(parts)]));
  const others = sums.size > layers.size ? zeros(parts) : null;
  for (const { name, part, value } of points) {
    const values = layers.get(name) ?? others;
    if (values !== null && value > 0) values[part] = (values[part] ?? 0) + value;
  }
  return {
    layers: [...layers].map(([name, values]) => ({ name, values })),
    others: others === null ? null : { names: sums.size - layers.size, values: others },
  };
}

const zeros = (count: number): number[] => Array.from({ length: count }, () => 0);
