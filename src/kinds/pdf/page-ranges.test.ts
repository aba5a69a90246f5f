import { deepEqual, equal } from "node:assert/strict";
import * as fc from "fast-check";
import { test } from "vitest";
import { parsePages } from "./worker.ts";

for (const [name, text, pages] of [
  ["one page", "3", [3]],
  ["a range has both its ends", "1-5", [1, 2, 3, 4, 5]],
  ["the last page", "12", [12]],
  ["a range of one", "7-7", [7]],
  ["spaces are fine", " 2 - 3 ", [2, 3]],
  ["leading zeros are fine", "03", [3]],
  ["a range that begins inside ends with the document", "11-20", [11, 12]],
  ["a range far over the end is judged by what there is", "1-999", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]],
] as const) {
  test(name, () => deepEqual(parsePages(text, 12, 20), { pages }));
}

for (const [text, fault] of [
  ["0", "form"],
  ["0-3", "form"],
  ["3-", "form"],
  ["-3", "form"],
  ["a", "form"],
  ["", "form"],
  ["1,3", "form"],
  ["1.5", "form"],
  ["+1", "form"],
  ["1-2-3", "form"],
  ["1-1e3", "form"],
  ["٣", "form"],
  ["5-3", "order"],
  ["13", "past the end"],
  ["99", "past the end"],
  ["999999999999999", "past the end"],
  ["13-20", "past the end"],
] as const) {
  test(`"${text}" of 12 pages is a fault (${fault}) that tells the legal range`, () =>
    deepEqual(parsePages(text, 12, 20), { fault, pagesTotal: 12, pagesMax: 20 }));
}

test("20 pages are allowed and 21 are too many", () => {
  deepEqual(parsePages("10-29", 100, 20), { pages: Array.from({ length: 20 }, (_, index) => index + 10) });
  deepEqual(parsePages("10-30", 100, 20), { fault: "too many", pagesTotal: 100, pagesMax: 20 });
});

test("without a total the form, the order and the number of pages are judged", () => {
  deepEqual(parsePages("500-501", undefined, 20), { pages: [500, 501] });
  deepEqual(parsePages("1-999999999999999", undefined, 20), {
    fault: "too many",
    pagesTotal: undefined,
    pagesMax: 20,
  });
});

test("whatever is asked, the pages are in order, few enough and in the document", () => {
  const text = fc.oneof(
    fc.string(),
    fc.nat(40).map(String),
    fc.tuple(fc.nat(40), fc.nat(40)).map((pair) => pair.join("-")),
  );
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 30 }), (asked, total) => {
      const result = parsePages(asked, total, 5);
      if ("fault" in result) return;
      equal(result.pages.length >= 1 && result.pages.length <= 5, true);
      for (const [index, page] of result.pages.entries()) {
        equal(page, (result.pages[0] ?? 0) + index);
        equal(page >= 1 && page <= total, true);
      }
    }),
  );
});
