/** The outline of a file in a language without a grammar, by its language server, where one is used. */

import type { CodeSymbol } from "../contract/language.ts";
import { limits } from "../contract/limits.ts";
import type { Target } from "../contract/target.ts";
import type { WholeItem } from "../text/outline.ts";
import { sourceOf } from "./languages.ts";
import type { Bench } from "./tool.ts";

export interface Served {
  readonly server: string;
  readonly items: readonly WholeItem[];
}

/** Undefined where there is no server for it, or none that has an answer. */
export async function outlineServed(target: Target, bench: Bench): Promise<Served | undefined> {
  const languages = await bench.languages?.();
  if (languages?.serves(target.real) !== true) return undefined;
  const source = await sourceOf(target.real, bench);
  if (source === undefined) return undefined;
  const answer = await languages.documentSymbols(source, { signal: bench.signal });
  bench.signal.throwIfAborted();
  if (answer.answer !== "given") return undefined;
  return { server: answer.server, items: flat(answer.value, 0) };
}

const flat = (symbols: readonly CodeSymbol[], depth: number): readonly WholeItem[] =>
  symbols.flatMap(({ name, kind, range, children }) => {
    const from = range.start.line;
    // A range that ends at the beginning of a line has nothing of that line.
    const to = range.end.column === 1 && range.end.line > from ? range.end.line - 1 : range.end.line;
    return [{ name: name.slice(0, limits.outlineNameCharsMax), kind, from, to, depth }, ...flat(children, depth + 1)];
  });
