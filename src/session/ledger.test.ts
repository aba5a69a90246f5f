/** The ledger: what counts as shown again, and what never does. */

import { describe, expect, test } from "vitest";
import { createLedger, type FileFingerprint } from "./ledger.ts";
import { shiftedParts } from "./line-spans.ts";

const stamp = (statKey: string, hash?: string): FileFingerprint => ({
  statKey,
  sizeBytes: 1,
  hash: async () => hash,
  fullHash: async () => hash ?? "of a large file",
  content: async () => undefined,
});

test("the same part of the same state is repeated once, then shown again", async () => {
  const ledger = createLedger();
  expect(await ledger.repeats("/a", "1-", stamp("s"))).toBeUndefined();
  await ledger.shown("/a", "1-", stamp("s"), 500);
  expect(await ledger.repeats("/a", "1-", stamp("s"))).toEqual({ tokens: 500 });
  expect(await ledger.repeats("/a", "1-", stamp("s"))).toBeUndefined();
  await ledger.shown("/a", "1-", stamp("s"), 500);
  expect(await ledger.repeats("/a", "1-", stamp("s"))).toEqual({ tokens: 500 });
});

test("another part, another file, another state is no repetition", async () => {
  const ledger = createLedger();
  await ledger.shown("/a", "1-10", stamp("s", "h"), 1);
  expect(await ledger.repeats("/a", "1-20", stamp("s", "h"))).toBeUndefined();
  expect(await ledger.repeats("/b", "1-10", stamp("s", "h"))).toBeUndefined();
  expect(await ledger.repeats("/a", "1-10", stamp("t", "i"))).toBeUndefined();
});

test("a touched file with the same content is the same, one without a hash is not", async () => {
  const ledger = createLedger();
  await ledger.shown("/a", "1-", stamp("s", "h"), 1);
  expect(await ledger.repeats("/a", "1-", stamp("t", "h"))).toBeDefined();
  await ledger.shown("/b", "1-", stamp("s"), 1);
  expect(await ledger.repeats("/b", "1-", stamp("t"))).toBeUndefined();
});

test("what left the conversation is shown again", async () => {
  const ledger = createLedger();
  await ledger.shown("/a", "1-", stamp("s"), 1);
  await ledger.shown("/b", "1-", stamp("s"), 1);
  ledger.forget("/a");
  expect(await ledger.repeats("/a", "1-", stamp("s"))).toBeUndefined();
  expect(await ledger.repeats("/b", "1-", stamp("s"))).toBeDefined();
  ledger.forget();
  expect(await ledger.repeats("/b", "1-", stamp("s"))).toBeUndefined();
});

test("it is bounded: the oldest files and parts go first", async () => {
  const ledger = createLedger();
  for (let file = 0; file < 2_001; file += 1) await ledger.shown(`/${file}`, "1-", stamp("s"), 1);
  expect(await ledger.repeats("/0", "1-", stamp("s"))).toBeUndefined();
  expect(await ledger.repeats("/1", "1-", stamp("s"))).toBeDefined();
  for (let part = 0; part < 101; part += 1) await ledger.shown("/p", `${part}`, stamp("s"), 1);
  expect(await ledger.repeats("/p", "0", stamp("s"))).toBeUndefined();
  expect(await ledger.repeats("/p", "100", stamp("s"))).toBeDefined();
});

test("what is again as it once was is shown, if the session knows it otherwise by now", async () => {
  const ledger = createLedger();
  const [first, second] = [stamp("s", "h"), stamp("t", "i")];
  await ledger.saw("/a", first, "all");
  await ledger.shown("/a", "1-", first, 1);
  ledger.wrote("/a", { statKey: "t", sizeBytes: 1, hash: "i", encoding: undefined }, "all");
  expect(await ledger.repeats("/a", "1-", second)).toBeUndefined();
  // Somebody else has put it back.
  const again = stamp("u", "h");
  expect((await ledger.seen("/a", again, async () => undefined)).state).toBe("changed");
  expect(await ledger.repeats("/a", "1-", again)).toBeUndefined();
  await ledger.saw("/a", again, "all");
  expect((await ledger.seen("/a", again, async () => undefined)).state).toBe("fresh");
  expect(await ledger.repeats("/a", "1-", again)).toBeDefined();
});

describe("parts of a cut line", () => {
  const sight = (...parts: readonly (readonly [line: number, from: number, to: number, ends?: true])[]) => ({
    views: parts.map(([line]) => ({ from: line, to: line, hash: undefined })),
    cut: parts.map(([line]) => ({ from: line, to: line })),
    parts: parts.map(([line, from, to, ends]) => ({ line, from, to, ...(ends && { ends }) })),
    linesTotal: 2,
  });
  const others = { views: [{ from: 2, to: 2, hash: undefined }], cut: [], linesTotal: 2 };

  test.each([
    ["the beginning alone", [[1, 1, 10]], false],
    [
      "beginning and end that touch",
      [
        [1, 1, 10],
        [1, 11, 20, true],
      ],
      true,
    ],
    [
      "in any order",
      [
        [1, 11, 20, true],
        [1, 1, 10],
      ],
      true,
    ],
    [
      "that overlap",
      [
        [1, 1, 15],
        [1, 5, 20, true],
      ],
      true,
    ],
    [
      "with a gap of one character",
      [
        [1, 1, 10],
        [1, 12, 20, true],
      ],
      false,
    ],
    [
      "without the end",
      [
        [1, 1, 10],
        [1, 11, 20],
      ],
      false,
    ],
    ["without the beginning", [[1, 2, 20, true]], false],
    [
      "three of them",
      [
        [1, 1, 5],
        [1, 11, 20, true],
        [1, 6, 10],
      ],
      true,
    ],
    [
      "of two lines, one of them with a gap",
      [
        [1, 1, 5],
        [1, 6, 9, true],
        [2, 1, 5],
        [2, 7, 9, true],
      ],
      false,
    ],
    [
      "of two lines",
      [
        [1, 1, 5],
        [2, 1, 5],
        [1, 6, 9, true],
        [2, 6, 9, true],
      ],
      true,
    ],
    [
      "shown once more from its beginning",
      [
        [1, 1, 5],
        [1, 6, 9, true],
        [1, 1, 5],
      ],
      true,
    ],
  ] as const)("%s", async (_, parts, whole) => {
    const ledger = createLedger();
    if (parts.every(([line]) => line !== 2)) await ledger.saw("/a", stamp("s", "h"), others);
    for (const part of parts) await ledger.saw("/a", stamp("s", "h"), sight(part));
    const seen = await ledger.seen("/a", stamp("s", "h"), async () => undefined);
    expect(seen).toMatchObject({ state: "fresh", whole });
    // Another process goes on with it.
    const restored = createLedger(JSON.parse(JSON.stringify(ledger.state())));
    expect(await restored.seen("/a", stamp("s", "h"), async () => undefined)).toEqual(seen);
  });

  test("of another state do not count, nor do those that are not well formed", async () => {
    const ledger = createLedger();
    await ledger.saw("/a", stamp("s", "h"), others);
    await ledger.saw("/a", stamp("s", "h"), sight([1, 1, 10]));
    await ledger.saw("/a", stamp("t", "i"), sight([1, 11, 20, true]));
    await ledger.saw("/a", stamp("t", "i"), others);
    expect(await ledger.seen("/a", stamp("t", "i"), async () => undefined)).toMatchObject({ whole: false });
    const [path, known] = Object.entries(ledger.state())[0] ?? [];
    expect(createLedger({ [path ?? ""]: { ...known, parts: [{ line: "1", from: 1, to: 20 }] } }).has("/a")).toBe(false);
  });

  test("a large file that was touched is not known by the hashes of its views, if a line was shown in parts", async () => {
    const ledger = createLedger();
    await ledger.saw("/a", stamp("s"), {
      views: [{ from: 1, to: 2, hash: "v" }],
      cut: [{ from: 1, to: 1 }],
      parts: [{ line: 1, from: 1, to: 10 }],
      linesTotal: 2,
    });
    expect(await ledger.seen("/a", stamp("t"), async () => "v")).toMatchObject({ state: "fresh", whole: false });
    await ledger.saw("/a", stamp("s"), sight([1, 11, 20, true]));
    expect(await ledger.seen("/a", stamp("s"), async () => "v")).toMatchObject({ state: "fresh", whole: true });
    expect(await ledger.seen("/a", stamp("t"), async () => "v")).toMatchObject({ state: "changed" });
  });

  test("move with their lines, and are gone with a line that changes", () => {
    const parts = [2, 5, 9].map((line) => ({ line, from: 1, to: 10 }));
    const lines = (changes: Parameters<typeof shiftedParts>[1]) => shiftedParts(parts, changes).map(({ line }) => line);
    expect(lines([])).toEqual([2, 5, 9]);
    expect(lines([{ line: 1, linesBefore: 1, linesAfter: 3 }])).toEqual([4, 7, 11]);
    expect(lines([{ line: 5, linesBefore: 1, linesAfter: 1 }])).toEqual([2, 9]);
    expect(
      lines([
        { line: 3, linesBefore: 2, linesAfter: 0 },
        { line: 9, linesBefore: 1, linesAfter: 2 },
      ]),
    ).toEqual([2, 3]);
    expect(lines([{ line: 3, linesBefore: 0, linesAfter: 1 }])).toEqual([2, 6, 10]);
  });
});
