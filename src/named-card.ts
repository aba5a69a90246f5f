/** A tool by the name that a model calls it. */

import { Problem, type ProblemData } from "./contract/problem.ts";
import type { Dialect, Facts } from "./dialects/dialect.ts";
import { nearest } from "./dialects/nearest.ts";

export const verbOf = (cards: Dialect["cards"], tool: string): Facts["verb"] =>
  cards.find(({ name }) => name === tool)?.verb;

export function cardNamed(cards: Dialect["cards"], tool: string): Dialect["cards"][number] {
  const card = cards.find(({ name }) => name === tool);
  if (card !== undefined) return card;
  const known = cards.map(({ name }) => name);
  const data: ProblemData = { code: "UNKNOWN_TOOL", tool: String(tool), known, nearest: nearest(String(tool), known) };
  throw new Problem(data);
}
