import * as fc from "fast-check";
import { expect, test } from "vitest";
import { bytesInMemory, linesAround } from "./edit-bytes.ts";

const behind = "changed";

/** The same from a list of lines. */
function naive(text: string, from: number, to: number): { from: number; to: number } {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const lineOf = (at: number): number => starts.findLastIndex((start) => start <= at);
  const first = Math.max(0, lineOf(from) - 3);
  const lastLine = to > from ? lineOf(to - 1) : lineOf(to);
  const end = starts[lastLine + 4] ?? text.length;
  return { from: starts[first] ?? 0, to: end };
}

test("three lines each way, whole ones", async () => {
  const text = fc.string({ unit: fc.constantFrom("a", "\n", "b\n"), maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(text, fc.nat(60), fc.nat(60), async (content, a, b) => {
      const from = Math.min(a, b, content.length);
      const to = Math.min(Math.max(a, b), content.length);
      const behind = to > from && content[to - 1] === "\n" ? "context" : "changed";
      const found = await linesAround(bytesInMemory(Buffer.from(content)), { from, to, behind }, 0);
      expect(found).toEqual(naive(content, from, to));
    }),
  );
});

test("lines too long to be shown are no context", async () => {
  const long = "x".repeat(100_000);
  const bytes = Buffer.from(`${long}\nabc\n${long}`);
  expect(await linesAround(bytesInMemory(bytes), { from: 100_001, to: 100_004, behind }, 0)).toEqual({
    from: 100_001,
    to: 100_005,
  });
  expect(
    await linesAround(bytesInMemory(Buffer.from(long + long)), { from: 100_000, to: 100_001, behind }, 0),
  ).toBeUndefined();
});

test("a byte order mark is not part of the first line", async () => {
  const bytes = Buffer.from("\ufeffab\n");
  expect(await linesAround(bytesInMemory(bytes), { from: 3, to: 4, behind }, 3)).toEqual({ from: 3, to: 6 });
});

test("a line behind that is too long to be shown is left out as context only", async () => {
  const bytes = bytesInMemory(Buffer.from(`abc\n${"x".repeat(100_000)}\n`));
  expect(await linesAround(bytes, { from: 1, to: 4, behind: "context" }, 0)).toEqual({ from: 0, to: 4 });
  expect(await linesAround(bytes, { from: 1, to: 4, behind: "changed" }, 0)).toBeUndefined();
});
