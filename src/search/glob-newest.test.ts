/** The newest of very many. */

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { newestFiles } from "./files.ts";

interface File {
  readonly absolute: string;
  readonly mtimeMs: number | undefined;
}

test("it lists what sorting everything would list first", () => {
  const file = fc.record({
    absolute: fc.stringMatching(/^[a-d]{1,3}$/),
    mtimeMs: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(file, { maxLength: 400 }), fc.integer({ min: 1, max: 20 }), (files, filesMax) => {
      const best = newestFiles<File>(filesMax);
      for (const one of files) best.add(one);
      const all = files.toSorted(
        (a, b) =>
          (b.mtimeMs ?? -1) - (a.mtimeMs ?? -1) || (a.absolute < b.absolute ? -1 : Number(a.absolute > b.absolute)),
      );
      expect(best.sorted()).toEqual(all.slice(0, filesMax));
    }),
  );
});

test("of a million files it makes and keeps only those that may be among the newest", () => {
  let made = 0;
  const best = newestFiles<File>(100);
  for (let index = 0; index < 1_000_000; index += 1) {
    // Not in order, and no two of the same time.
    const mtimeMs = (index * 7_919) % 1_000_003;
    if (!best.accepts({ absolute: "", mtimeMs })) continue;
    made += 1;
    best.add({ absolute: `f${mtimeMs}`, mtimeMs });
  }
  expect(made).toBeLessThan(20_000);
  expect(best.sorted()).toHaveLength(100);
  expect(best.sorted()[0]?.mtimeMs).toBeGreaterThan(999_900);
});
