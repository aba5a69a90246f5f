/** The newest of very many. */

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Dated, newest } from "./files.ts";

test("it lists what sorting everything would list first", () => {
  const file = fc.record({
    path: fc.stringMatching(/^[a-d]{1,3}$/),
    mtimeMs: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(file, { maxLength: 400 }), fc.integer({ min: 1, max: 20 }), (files, filesMax) => {
      const best = newest<Dated>(filesMax);
      for (const one of files) best.offer(one.mtimeMs, () => one);
      const all = files.toSorted(
        (a, b) => (b.mtimeMs ?? -1) - (a.mtimeMs ?? -1) || (a.path < b.path ? -1 : Number(a.path > b.path)),
      );
      expect(best.list()).toEqual(all.slice(0, filesMax));
    }),
  );
});

test("of a million files it makes and keeps only those that may be among the newest", () => {
  let made = 0;
  const best = newest<Dated>(100);
  for (let index = 0; index < 1_000_000; index += 1) {
    // Not in order, and no two of the same time.
    const mtimeMs = (index * 7_919) % 1_000_003;
    best.offer(mtimeMs, () => {
      made += 1;
      return { path: `f${mtimeMs}`, mtimeMs };
    });
  }
  expect(made).toBeLessThan(20_000);
  expect(best.list()).toHaveLength(100);
  expect(best.list()[0]?.mtimeMs).toBeGreaterThan(999_900);
});
