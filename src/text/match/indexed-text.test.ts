import * as fc from "fast-check";
import { expect, test } from "vitest";
import { finish } from "../steps.ts";
import { IndexedText } from "./indexed-text.ts";

/** The same search in a plain string. */
function placesIn(text: string, wanted: string): readonly number[] {
  const found: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0 && found.length < 3; at = text.indexOf(wanted, at + 1)) found.push(at);
  return found;
}

function expectPlaces(indexed: IndexedText, text: string, wanted: string): void {
  const places = placesIn(text, wanted);
  expect(indexed.places(wanted, 3)).toEqual(places);
  for (const at of places) expect(indexed.newlinesBefore(at)).toBe(text.slice(0, at).split("\n").length - 1);
}

/** Few different letters, so that sequences repeat, with newlines among them. */
function letters(length: number, seed: number, kinds: string): string {
  let state = seed;
  const letter = (): string => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return kinds[(state >>> 16) % kinds.length] ?? "";
  };
  return Array.from({ length }, letter).join("");
}

/** An offset as a share of the text, and lengths that are mostly short and sometimes reach over blocks. */
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
        const states = [plain];
        const changes = steps.map(({ at, takes, puts, seed: own }) => {
          const from = Math.floor((at / 1_000) * plain.length);
          const change = { from, to: Math.min(plain.length, from + takes), text: letters(puts, own, kinds) };
          plain = plain.slice(0, from) + change.text + plain.slice(change.to);
          states.push(plain);
          return change;
        });
        const wanted = changes.map(({ from, to }, index) =>
          [1, 2, 5, 6, 7, 20, to - from, 5_000, 12_000].flatMap((length) => {
            const text = (states[index] ?? "").slice(Math.max(0, from - 3), Math.max(0, from - 3) + length);
            return text === "" ? [] : [text, `${text.slice(1)}x!`];
          }),
        );
        const indexed = finish(IndexedText.of(states[0] ?? "", wanted.flat()));
        for (const [index, change] of changes.entries()) {
          for (const text of wanted[index] ?? []) expectPlaces(indexed, states[index] ?? "", text);
          indexed.splice([change]);
          expect(indexed.text).toBe(states[index + 1]);
        }
      },
    ),
    { numRuns: 60 },
  );
});

test("what stands across the end of a block is found, whatever was changed beside it", () => {
  const text = letters(20_000, 5, "abcdefghijklmnopqrstuvwxyz\n");
  const after = `${text.slice(0, 4_090)}first [one] put${text.slice(4_100, 8_190)}${text.slice(12_290)}`;
  const starts = [4_060, 8_180].flatMap((from) => Array.from({ length: 50 }, (_, at) => from + at));
  const wanted = starts.flatMap((at) => [3, 12, 40].map((length) => after.slice(at, at + length)));
  const indexed = finish(IndexedText.of(text, wanted));
  indexed.splice([
    { from: 4_090, to: 4_100, text: "first [one] put" },
    { from: 8_190, to: 12_290, text: "" },
  ]);
  expect(indexed.text).toBe(after);
  for (const one of wanted) expectPlaces(indexed, after, one);
});

test("a text that begins as nothing is found by what was put into it", () => {
  const indexed = finish(IndexedText.of("", ["line 7\n", "7", "e"]));
  const text = Array.from({ length: 3_000 }, (_, at) => `line ${at}\n`).join("");
  indexed.splice([{ from: 0, to: 0, text }]);
  for (const one of ["line 7\n", "7", "e"]) expectPlaces(indexed, text, one);
});
