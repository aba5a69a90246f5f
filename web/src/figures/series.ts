/** Numbers for the plot of tokens over time: one layer per tool, each on top of those before it. */

import type { TimeFigures } from "../../../src/contract/inspector.ts";

export interface Series {
  readonly tools: readonly string[];
  /** In seconds. */
  readonly times: readonly number[];
  /** By tool, in the same order: what it gave in each part of the time. */
  readonly given: readonly (readonly number[])[];
  readonly saved: readonly number[];
}

/** More colours than this nobody tells apart; the rest is one layer. */
const toolsMax = 5;
const others = "others";

export function seriesOf(time: readonly TimeFigures[]): Series {
  const sums = new Map<string, number>();
  for (const { tools } of time)
    for (const [tool, tokens] of Object.entries(tools)) sums.set(tool, (sums.get(tool) ?? 0) + tokens);
  const ranked = [...sums].toSorted(([, a], [, b]) => b - a).map(([tool]) => tool);
  const named = ranked.length <= toolsMax ? ranked : ranked.slice(0, toolsMax - 1);
  const rest = ranked.slice(named.length);
  const sumOf = ({ tools }: TimeFigures, list: readonly string[]): number =>
    list.reduce((sum, tool) => sum + (tools[tool] ?? 0), 0);
  return {
    tools: rest.length === 0 ? named : [...named, others],
    times: time.map(({ fromMs }) => fromMs / 1_000),
    given: [...named.map((tool) => [tool]), ...(rest.length === 0 ? [] : [rest])].map((list) =>
      time.map((part) => sumOf(part, list)),
    ),
    saved: time.map(({ tokensSaved }) => tokensSaved),
  };
}

/** Each layer with all below it; the first one is the lowest. */
export function stacked(layers: readonly (readonly number[])[]): readonly (readonly number[])[] {
  let below: readonly number[] = [];
  return layers.map((layer) => {
    below = layer.map((value, index) => value + (below[index] ?? 0));
    return below;
  });
}
