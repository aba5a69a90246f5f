import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { TextChange } from "../../contract/edit.ts";
import { apply } from "../pieces.ts";
import { type Fold, type Source, sourceOf } from "./source.ts";

const folds: readonly Fold[] = ["line ends", "quotes", "look-alikes", "trailing whitespace"];

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
  const rounds = fc.array(fc.array(fc.tuple(fc.nat(12), fc.nat(4), texts), { minLength: 1, maxLength: 3 }), {
    maxLength: 4,
  });
  fc.assert(
    fc.property(texts, rounds, (start, all) => {
      let source = sourceOf(start.join(""));
      for (const round of all) {
        known(source);
        const changes: TextChange[] = [];
        let at = 0;
        for (const [gap, length, put] of round) {
          const from = Math.min(at + gap, source.text.length);
          at = Math.min(from + length, source.text.length);
          changes.push({ from, to: at, text: put.join("") });
        }
        const text = apply(source.text, changes);
        source = source.after(changes);
        expect(known(source)).toEqual(known(sourceOf(text)));
      }
    }),
    { numRuns: 1_000 },
  );
});
