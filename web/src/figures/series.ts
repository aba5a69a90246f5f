/** Layers of a plot over time, each on top of those before it. */

import type { Series } from "../../../src/surfaces/inspector/wire.ts";

export interface Layer {
  readonly name: string;
  /** Is it the sum of all others? */
  readonly isRest: boolean;
  readonly values: readonly number[];
  /** The sum of the layers below it. */
  readonly base: readonly number[];
}

/** `rest`: the label of the others, by their number. */
export function layersOf({ layers, others }: Series, rest: (names: number) => string): readonly Layer[] {
  const all = [
    ...layers.map(({ name, values }) => ({ name, values, isRest: false })),
    ...(others === null ? [] : [{ name: rest(others.names), values: others.values, isRest: true }]),
  ];
  let below: readonly number[] = [];
  return all.map(({ name, values, isRest }) => {
    const base = values.map((_, index) => below[index] ?? 0);
    below = values.map((value, index) => value + (base[index] ?? 0));
    return { name, isRest, values, base };
  });
}

/** The sum of all layers in each interval. */
export function heightsOf(layers: readonly Layer[]): readonly number[] {
  const top = layers.at(-1);
  return top === undefined ? [] : top.values.map((value, index) => value + (top.base[index] ?? 0));
}

export const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** The others are always grey. */
export const layerClass = ({ isRest }: Layer, index: number): string => (isRest ? "layer-rest" : `layer-${index}`);
