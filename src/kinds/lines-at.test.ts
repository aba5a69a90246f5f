import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createDisk } from "../disk/disk.ts";
import { type LinePlace, linesAt } from "./lines-at.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "filehand-lines-at-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const disk = createDisk([folder]);

async function texts(content: string | Uint8Array, places: readonly LinePlace[], charsMax = 20) {
  const path = join(folder, "file");
  writeFileSync(path, content);
  const lookup = disk.lookup(path);
  if (lookup.seen !== "node") throw new Error(lookup.seen);
  const file = disk.open(lookup);
  lookup.handle.close();
  if ("errno" in file) throw new Error(file.errno);
  try {
    return await linesAt(file, places, charsMax);
  } finally {
    file.close();
  }
}

const place = (line: number, offset: number, column = 1): LinePlace => ({ line, offset, column });
const whole = (text: string) => ({ text, cutBefore: false, cutBehind: false });

test("lines are where they are said to be, without their ends", async () => {
  const content = "one\ntwo\r\n\nthree";
  expect(await texts(content, [place(1, 0), place(2, 4), place(3, 9), place(4, 10)])).toEqual(
    ["one", "two", "", "three"].map(whole),
  );
});

test("a place where no line begins has none", async () => {
  expect(await texts("one\ntwo\n", [place(1, 2), place(9, 400)])).toEqual([undefined, undefined]);
  expect(await texts("", [place(1, 0)])).toEqual([undefined]);
});

test("a byte order mark is neither shown nor counted", async () => {
  expect(await texts("\ufeffone\ntwo\n", [place(1, 0), place(2, 4)])).toEqual(["one", "two"].map(whole));
});

test("UTF-16 is found by the numbers of lines", async () => {
  const content = Buffer.from("\ufeffäone\r\ntwo ü here\n", "utf16le");
  expect(await texts(content, [place(2, 7, 5), place(5, 99)])).toEqual([whole("two ü here"), undefined]);
});

test("bytes that are not UTF-8 are decoded as the file is", async () => {
  const content = Buffer.from("caf\xe9 au lait\nd\xe9j\xe0 vu\n", "latin1");
  expect(await texts(content, [place(2, 13)])).toEqual([whole("déjà vu")]);
});

for (const [name, before, behind, expected] of [
  ["at the beginning", 0, 100, { text: `hit${"b".repeat(17)}`, cutBefore: false, cutBehind: true }],
  ["in the middle", 100, 100, { text: `${"a".repeat(5)}hit${"b".repeat(12)}`, cutBefore: true, cutBehind: true }],
  ["at the end", 100, 0, { text: `${"a".repeat(17)}hit`, cutBefore: true, cutBehind: false }],
  ["far behind", 200_000, 200_000, { text: `${"a".repeat(5)}hit${"b".repeat(12)}`, cutBefore: true, cutBehind: true }],
  ["far behind, at the end", 200_000, 0, { text: `${"a".repeat(17)}hit`, cutBefore: true, cutBehind: false }],
] as const) {
  test(`of a long line the part around a match ${name} is shown`, async () => {
    const content = `first\n${"a".repeat(before)}hit${"b".repeat(behind)}\nlast\n`;
    expect(await texts(content, [place(2, 6, before + 1)])).toEqual([expected]);
  });
}

test("no character is split where a line is cut", async () => {
  for (let shift = 0; shift < 8; shift += 1) {
    const start = "x".repeat(shift);
    const content = `${start}${"😀é".repeat(1_000)}hit${"é😀".repeat(1_000)}\n`;
    const column = Buffer.byteLength(start) + 6_000 + 1;
    const [line] = await texts(content, [place(1, 0, column)]);
    expect(line?.text).toContain("hit");
    expect(line?.text.replaceAll(/😀|é|hit|x/gu, "")).toBe("");
    expect(line?.text.length).toBeLessThanOrEqual(20);
  }
});
