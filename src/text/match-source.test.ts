import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Fold } from "./match-fold.ts";
import { type Source, sourceOf } from "./match-source.ts";
import { apply } from "./pieces.ts";

const folds: readonly Fold[] = ["line ends", "quotes", "look-alikes", "trailing blanks"];

function known(source: Source): unknown {
  const linesOf = (lines: ReturnType<Source["lines"]>) =>
    Array.from({ length: lines.count }, (_, line) => [lines.start(line), lines.end(line), lines.next(line)]);
  const views = folds.map((fold) => [source.folded(fold).text, linesOf(source.folded(fold).lines)]);
  return [source.text, source.loneReturns, linesOf(source.lines()), views];
}

test("a source after changes knows what one made of the new text knows", () => {
  const texts = fc.array(fc.constantFrom("a", " ", "\t", "\n", "\r\n", "\r", "\u201c", "e\u0301", "\u0301", "\u2026"), {
    maxLength: 20,
  });
  const rounds = fc.array(fc.tuple(fc.nat(30), fc.nat(4), texts), { maxLength: 4 });
  fc.assert(
    fc.property(texts, rounds, (start, changes) => {
      let source = sourceOf(start.join(""));
      for (const [at, length, put] of changes) {
        known(source);
        const from = Math.min(at, source.text.length);
        const change = { from, to: Math.min(from + length, source.text.length), text: put.join("") };
        const text = apply(source.text, [change]);
        source = source.after([change]);
        expect(known(source)).toEqual(known(sourceOf(text)));
      }
    }),
    { numRuns: 500 },
  );
});
