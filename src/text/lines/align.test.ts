/** Lines that are found again after others changed the text around them: tables, and random changes against a model. */

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { alignLines, outsideChanges, hashLines, type LineHashes } from "./align.ts";

const hashes = (lines: readonly string[]): Float64Array =>
  lines.length === 0 ? new Float64Array() : (hashLines(lines.join("\n"), 1_000_000) ?? new Float64Array());
const all = (lines: readonly string[]): readonly LineHashes[] => [{ from: 1, hashes: hashes(lines) }];
const part = (lines: readonly string[], from: number, to: number): LineHashes => ({
  from,
  hashes: hashes(lines).subarray(from - 1, to),
});

describe("hashes of lines", () => {
  test.each([
    ["", 0, 1],
    ["a", 1, 1],
    ["a\n", 1, 2],
    ["a\n\n", 2, 3],
    ["a\nb", 2, 2],
    ["\n\n\n\n\n", 5, undefined],
    ["\n\n\n\n\n\n", undefined, undefined],
    ["a\0b", undefined, undefined],
  ])("%j: as a file it has %s lines, as joined lines %s", (text, ofFile, joined) => {
    expect(hashLines(Buffer.from(text), 5)?.length).toBe(ofFile);
    expect(hashLines(text, 5)?.length).toBe(joined);
  });

  test("a line end, a byte order mark and the form of the text make no difference", () => {
    expect(hashLines(Buffer.from("one\r\ntwo\r\n"), 9)).toEqual(hashLines("one\ntwo", 9));
    expect(hashLines(Buffer.from("\ufeffone\n"), 9)).toEqual(hashLines("one", 9));
    expect(hashLines(Buffer.from("é\n\n"), 9)).toEqual(hashLines("é\n", 9));
  });
});

describe("lines that still stand", () => {
  const old = ["a", "b", "}", "c", "d", "}", "e"];
  test.each<readonly [string, readonly LineHashes[], number | undefined, readonly string[], unknown, unknown]>([
    ["nothing changed", all(old), 7, old, [{ was: 1, now: 1, count: 7 }], []],
    ["a line above", all(old), 7, ["x", ...old], [{ was: 1, now: 2, count: 7 }], [{ from: 1, to: 1, removed: 0 }]],
    ["a line below", all(old), 7, [...old, "x"], [{ was: 1, now: 1, count: 7 }], [{ from: 8, to: 8, removed: 0 }]],
    [
      "a line replaced",
      all(old),
      7,
      ["a", "b", "}", "C", "d", "}", "e"],
      [
        { was: 1, now: 1, count: 3 },
        { was: 5, now: 5, count: 3 },
      ],
      [{ from: 4, to: 4, removed: 1 }],
    ],
    [
      "lines removed",
      all(old),
      7,
      ["a", "d", "}", "e"],
      [
        { was: 1, now: 1, count: 1 },
        { was: 5, now: 2, count: 3 },
      ],
      [{ from: 2, to: 1, removed: 3 }],
    ],
    [
      "only a part was known, and other lines changed",
      [part(old, 4, 5)],
      undefined,
      ["x", "y", ...old],
      [{ was: 4, now: 6, count: 2 }],
      [],
    ],
    [
      "only a line that occurs twice was known",
      [part(old, 3, 3)],
      undefined,
      ["x", ...old],
      [],
      [{ from: 1, to: 3, removed: 1 }],
    ],
    [
      "all lines are the same",
      all(["}", "}", "}"]),
      3,
      ["}", "}", "}", "}"],
      [{ was: 1, now: 1, count: 3 }],
      [{ from: 4, to: 4, removed: 0 }],
    ],
    ["all gone", all(["a", "b"]), 2, ["x"], [], [{ from: 1, to: 1, removed: 2 }]],
    ["now empty", all(["a"]), 1, [], [], [{ from: 1, to: 0, removed: 1 }]],
  ])("%s", (_, known, total, now, aligned, changed) => {
    const found = alignLines(known, total, hashes(now));
    expect(found).toEqual(aligned);
    expect(outsideChanges(known, total, found, now.length)).toEqual(changed);
  });

  test("a block that was moved is found in one of its two places", () => {
    const found = alignLines(all(old), 7, hashes(["d", "}", "e", "a", "b", "}", "c"]));
    expect(found).toEqual([{ was: 1, now: 4, count: 4 }]);
  });
});

/** Changes by others: so many lines from a place on are replaced by new ones. */
const edits = fc.array(fc.record({ at: fc.nat({ max: 60 }), removed: fc.nat({ max: 4 }), added: fc.nat({ max: 4 }) }), {
  maxLength: 6,
});

/** The lines after the changes, and for each the line that it was, 0 for a new one. */
function changedBy(lines: readonly string[], changes: readonly { at: number; removed: number; added: number }[]) {
  let now = lines.map((text, index) => ({ text, was: index + 1 }));
  for (const [index, { at, removed, added }] of changes.entries()) {
    const put = Array.from({ length: added }, (_, number) => ({ text: `new ${index} ${number}`, was: 0 }));
    now = now.toSpliced(Math.min(at, now.length), removed, ...put);
  }
  return now;
}

test("of lines that are all different, exactly those that others left are found, under their new numbers", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      edits,
      fc.boolean(),
      fc.array(fc.nat({ max: 1 }), { minLength: 50 }),
      (count, changes, isWhole, shown) => {
        const lines = Array.from({ length: count }, (_, index) => `line ${index + 1}`);
        const wasShown = (line: number): boolean => line > 0 && (isWhole || shown[line - 1] === 1);
        const known = lines.flatMap((_, index) => (wasShown(index + 1) ? [part(lines, index + 1, index + 1)] : []));
        const now = changedBy(lines, changes);
        const expected = now.flatMap(({ was }, index) => (wasShown(was) ? [[was, index + 1]] : []));
        const found = alignLines(known, isWhole ? count : undefined, hashes(now.map(({ text }) => text)));
        const pairs = found.flatMap((run) =>
          Array.from({ length: run.count }, (_, step) => [run.was + step, run.now + step]),
        );
        expect(pairs).toEqual(expected);
        // Every line that is new among whole known text is reported as changed.
        const changed = outsideChanges(known, isWhole ? count : undefined, found, now.length);
        const isChanged = (line: number): boolean => changed.some(({ from, to }) => from <= line && line <= to);
        for (const [index, { was }] of now.entries()) {
          if (isWhole) expect(isChanged(index + 1)).toBe(was === 0);
          else if (wasShown(was)) expect(isChanged(index + 1)).toBe(false);
        }
      },
    ),
  );
});

test("where lines repeat, each line that is found has the text that was shown, in order, and is found once", () => {
  const letters = fc.array(fc.constantFrom("a", "b", "c", "}", ""), { maxLength: 40 });
  fc.assert(
    fc.property(
      letters,
      edits,
      fc.array(fc.boolean(), { minLength: 40 }),
      fc.boolean(),
      (lines, changes, shown, isKnown) => {
        const known = lines.flatMap((_, index) =>
          shown[index] === true ? [part([...lines, "end"], index + 1, index + 1)] : [],
        );
        const now = [...changedBy(lines, changes).map(({ text }) => text), "end"];
        let [before, at] = [0, 0];
        for (const run of alignLines(known, isKnown ? lines.length + 1 : undefined, hashes(now))) {
          expect(run.was > before && run.now > at).toBe(true);
          for (let step = 0; step < run.count; step += 1) {
            expect(shown[run.was + step - 1]).toBe(true);
            expect(now[run.now + step - 1]).toBe(lines[run.was + step - 1]);
          }
          [before, at] = [run.was + run.count - 1, run.now + run.count - 1];
        }
      },
    ),
  );
});
