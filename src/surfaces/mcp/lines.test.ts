import { expect, test } from "vitest";
import { Lines } from "./stdio-wire.ts";

const feedAll = (lines: Lines, ...chunks: readonly string[]) =>
  chunks.flatMap((chunk) => lines.feed(Buffer.from(chunk)));

test("lines come out of chunks, whatever their cuts; empty ones do not", () => {
  const lines = new Lines(100);
  expect(feedAll(lines, "on", "e\ntw", "o\r\n\n", " \n", "three")).toEqual([{ text: "one" }, { text: "two" }]);
  expect(feedAll(lines, "\n")).toEqual([{ text: "three" }]);
});

test("a letter that is cut in two by a chunk is whole again", () => {
  const lines = new Lines(100);
  const bytes = Buffer.from("→\n");
  expect([...lines.feed(bytes.subarray(0, 1)), ...lines.feed(bytes.subarray(1))]).toEqual([{ text: "→" }]);
});

test("a line that is not UTF-8 is told with its id, however it comes, and decoded by nobody", () => {
  const lines = new Lines(1_000);
  const bad = Buffer.from('{"jsonrpc":"2.0","id":7,"method":"m","params":"caf\xe9"}\n', "latin1");
  expect(lines.feed(bad)).toEqual([{ notUtf8: true, id: 7 }]);
  expect([...lines.feed(bad.subarray(0, 9)), ...lines.feed(bad.subarray(9))]).toEqual([{ notUtf8: true, id: 7 }]);
  expect(lines.feed(Buffer.from("after\n"))).toEqual([{ text: "after" }]);
});

test("a last line without its end is a line", () => {
  const lines = new Lines(100);
  expect([...feedAll(lines, "one\ntw", "o"), lines.finish(), lines.finish()]).toEqual([
    { text: "one" },
    { text: "two" },
    undefined,
  ]);
});

test("a line over the limit is told with its id, and the next one is as good as ever", () => {
  const lines = new Lines(40);
  const text = "x".repeat(1_000);
  const last = `{"method":"m","params":"${text}","jsonrpc":"2.0","id":9}\n`;
  const first = `{"jsonrpc":"2.0","id":"a","method":"m","params":"${text}"}\n`;
  const chunks = (last + first).match(/.{1,30}|\n/g) ?? [];
  expect(feedAll(lines, ...chunks, "after\n")).toEqual([
    { tooLong: true, id: 9 },
    { tooLong: true, id: "a" },
    { text: "after" },
  ]);
});
