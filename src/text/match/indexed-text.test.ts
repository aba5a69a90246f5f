import * as fc from "fast-check";
import { expect, test } from "vitest";
import { finish } from "../steps.ts";
import { IndexedText } from "./indexed-text.ts";

/** As one would find it in a plain string. */
function onlyIn(text: string, wanted: string): { readonly from: number; readonly newlines: number } | undefined {
  const from = text.indexOf(wanted);
  if (from < 0 || text.indexOf(wanted, from + 1) >= 0) return undefined;
  return { from, newlines: text.slice(0, from).split("\n").length - 1 };
}

/** Letters of few kinds, so that sequences repeat, with newlines among them. */
function letters(length: number, seed: number, kinds: string): string {
  let state = seed;
  const letter = (): string => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return kinds[(state >>> 16) % kinds.length] ?? "";
  };
  return Array.from({ length }, letter).join("");
}

/** A place as a share of the text, and lengths that are most often short and at times reach over blocks. */
const length = fc.oneof(fc.nat(20), fc.nat(20), fc.nat(300), fc.nat(10_000));
const step = fc.record({ at: fc.nat(1_000), takes: length, puts: length, seed: fc.nat() });

test("one change after another, places are found as in a plain string, and the text is the same", () => {
  fc.assert(
    fc.property(
      fc.nat(30_000),
      fc.nat(),
      fc.constantFrom("ab\n", "abcdefgh\n", "abcdefghijklmnopqrstuvwxyz0123456789 \n"),
      fc.array(step, { maxLength: 30 }),
      (size, seed, kinds, steps) => {
        let plain = letters(size, seed, kinds);
        const indexed = finish(IndexedText.of(plain));
        for (const { at, takes, puts, seed: own } of steps) {
          const from = Math.floor((at / 1_000) * plain.length);
          for (const wantedLength of [6, 7, 20, takes, 5_000]) {
            const wanted = plain.slice(Math.max(0, from - 3), from - 3 + wantedLength);
            if (wanted.length < 6 || wanted.length > 8_192) continue;
            expect(indexed.only(wanted)).toEqual(onlyIn(plain, wanted));
            expect(indexed.only(`${wanted.slice(1)}x!`)).toBeUndefined();
          }
          const to = Math.min(plain.length, from + takes);
          const text = letters(puts, own, kinds);
          indexed.splice([{ from, to, text }]);
          plain = plain.slice(0, from) + text + plain.slice(to);
          expect(indexed.text).toBe(plain);
        }
      },
    ),
    { numRuns: 60 },
  );
});

test("what stands across the end of a block is found, whatever was changed beside it", () => {
  const text = letters(20_000, 5, "abcdefghijklmnopqrstuvwxyz\n");
  const indexed = finish(IndexedText.of(text));
  indexed.splice([
    { from: 4_090, to: 4_100, text: "first [one] put" },
    { from: 8_190, to: 12_290, text: "" },
  ]);
  const after = `${text.slice(0, 4_090)}first [one] put${text.slice(4_100, 8_190)}${text.slice(12_290)}`;
  expect(indexed.text).toBe(after);
  for (let at = 4_060; at < 4_110; at += 1) {
    const wanted = after.slice(at, at + 12);
    expect(indexed.only(wanted)).toEqual(onlyIn(after, wanted));
  }
  for (let at = 8_180; at < 8_200; at += 1) {
    const wanted = after.slice(at, at + 12);
    expect(indexed.only(wanted)).toEqual(onlyIn(after, wanted));
  }
});
