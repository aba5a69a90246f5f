import { Buffer } from "node:buffer";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { growsLikeItsInput } from "../../../test/support/growth.ts";
import { bytePlacesIn, firstPlace, type NextPlace, placesIn } from "./find-text.ts";

function all(next: NextPlace, step: number): readonly number[] {
  const found: number[] = [];
  for (let at = next(0); at >= 0; at = next(at + step)) found.push(at);
  return found;
}

function byTheLanguage(text: string, wanted: string, step: number): readonly number[] {
  return all((from) => text.indexOf(wanted, from), step);
}

test("long texts that repeat are found where the language finds them", () => {
  const parts = fc.array(fc.constantFrom("ab", "a", "b", "abab".repeat(70), "a".repeat(300), "ab\n"), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(parts, parts, fc.nat(5), fc.constantFrom(1, 2, 400), (around, inside, times, step) => {
      const wanted = inside.join("") || "a";
      const text = around.join(wanted.repeat(times));
      expect(all(placesIn(text, wanted), step)).toEqual(byTheLanguage(text, wanted, step));
      expect(all(bytePlacesIn(Buffer.from(text), Buffer.from(wanted)), step)).toEqual(
        byTheLanguage(text, wanted, step),
      );
    }),
  );
});

test("four times a text that repeats is four times the work", async () => {
  const row = "0,0,0,0\n";
  const input = (size: number) => ({ text: row.repeat(size * 10), wanted: `b${row.repeat(size)}` });
  await growsLikeItsInput(500, input, ({ text, wanted }) => firstPlace(text, wanted));
  const bytes = (size: number) => [Buffer.from(row.repeat(size * 10)), Buffer.from(`b${row.repeat(size)}`)] as const;
  await growsLikeItsInput(500, bytes, ([text, wanted]) => bytePlacesIn(text, wanted)(0));
});
