import { expect, test } from "vitest";
import { countdown, duration, plural, short, size } from "./words.ts";

test("numbers are short in columns", () => {
  expect([0, 24.07, 999, 1_000, 12_345, 123_456, 4_100_000].map(short)).toEqual([
    "0",
    "24",
    "999",
    "1.0k",
    "12.3k",
    "123k",
    "4.1M",
  ]);
});

test("times have the unit that says most", () => {
  expect([0.2, 12.4, 1_500, 125_000].map(duration)).toEqual(["<1 ms", "12 ms", "1.5 s", "2 min 5 s"]);
});

test("sizes are binary", () => {
  expect([0, 1_023, 1_536, 5_242_880].map(size)).toEqual(["0 B", "1023 B", "1.5 KiB", "5.0 MiB"]);
});

test("what is left of a time never goes below nothing", () => {
  expect([300_400, 61_000, 500, -3].map(countdown)).toEqual(["5:00", "1:01", "0:01", "0:00"]);
});

test("one is one", () => {
  expect([plural(1, "file"), plural(2, "file")]).toEqual(["1 file", "2 files"]);
});
