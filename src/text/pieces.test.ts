import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { TextChange } from "../contract/edit.ts";
import { finish } from "./steps.ts";
import { apply, changesOfPieces, PieceList, splice, type TextPiece, textOfPieces } from "./pieces.ts";

/** The reference, from the last change to the first. */
function naive(text: string, changes: readonly TextChange[]): string {
  return changes.toReversed().reduce((now, { from, to, text: put }) => now.slice(0, from) + put + now.slice(to), text);
}

/** Random changes of a text: in order, without overlaps. */
const changesIn = (length: number): fc.Arbitrary<readonly TextChange[]> =>
  fc
    .array(fc.tuple(fc.nat(length), fc.nat(length), fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 2 })), {
      maxLength: 5,
    })
    .map((triples) => {
      const result: TextChange[] = [];
      for (const [a, b, text] of triples.sort(
        (one, other) => Math.min(one[0], one[1]) - Math.min(other[0], other[1]),
      )) {
        const from = Math.min(a, b);
        const last = result.at(-1);
        if (last === undefined || from >= last.to) result.push({ from, to: Math.max(a, b), text });
      }
      return result;
    });

test("several rounds of changes give what splicing strings gives", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 30 }), fc.gen(), (original, gen) => {
      let pieces: readonly TextPiece[] = [{ from: 0, to: original.length }];
      const list = new PieceList(original.length);
      let text = original;
      for (let round = 0; round < 4; round += 1) {
        const length = text.length;
        const changes = gen(changesIn, length);
        text = naive(text, changes);
        pieces = splice(pieces, changes);
        expect(textOfPieces(pieces, original)).toBe(text);
        finish(list.splice(changes));
        expect(textOfPieces(list.pieces, original)).toBe(text);
      }
      // The parts of the original stay in their order, so the pieces are changes of it.
      expect(naive(original, finish(changesOfPieces(pieces, original.length)))).toBe(text);
      expect(naive(original, finish(changesOfPieces(list.pieces, original.length)))).toBe(text);
    }),
  );
});

test("what is left of the original between two offsets is found after any changes", () => {
  fc.assert(
    fc.property(fc.nat(30), fc.gen(), (length, gen) => {
      const list = new PieceList(length);
      /** By character: its offset in the original, or -1 if it is new. */
      let origins = Array.from({ length }, (_, at) => at);
      for (let round = 0; round < 3; round += 1) {
        const changes = gen(changesIn, origins.length);
        for (const { from, to, text } of changes.toReversed()) {
          origins = [...origins.slice(0, from), ...Array.from(text, () => -1), ...origins.slice(to)];
        }
        // One unit for each character of the new text, as above.
        finish(list.splice(changes.map((change) => ({ ...change, text: "x".repeat(Array.from(change.text).length) }))));
        const from = gen(fc.nat, origins.length);
        const to = from + gen(fc.nat, origins.length - from);
        const found = list.originalsOf(from, to).flatMap((part) => {
          expect(part.from).toBeLessThanOrEqual(part.to);
          return Array.from({ length: part.to - part.from }, (_, at) => part.from + at);
        });
        expect(found).toEqual(origins.slice(from, to).filter((at) => at >= 0));
      }
    }),
  );
  const list = new PieceList(5);
  expect(list.originalsOf(2, 2)).toEqual([{ from: 2, to: 2 }]);
  expect(list.originalsOf(0, 0)).toEqual([{ from: 0, to: 0 }]);
});

test("pieces that read alike are told apart", () => {
  const pieces = splice(
    [{ from: 0, to: 2 }],
    [
      { from: 0, to: 1, text: "a" },
      { from: 1, to: 2, text: "a" },
    ],
  );
  const again = splice(pieces, [
    { from: 0, to: 1, text: "b" },
    { from: 1, to: 2, text: "b" },
  ]);
  expect(textOfPieces(again, "$$")).toBe("bb");
});

test("dollar signs are text", () => {
  expect(apply("abc", [{ from: 1, to: 2, text: "$&$$$1" }])).toBe("a$&$$$1c");
});

test("nothing changes nothing", () => {
  expect(finish(changesOfPieces([{ from: 0, to: 3 }], 3))).toEqual([]);
});
