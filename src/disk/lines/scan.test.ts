/** The scan of two threads: counts are those of a naive reader, also when the thread fails. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, expect, test } from "vitest";
import { createDisk } from "../disk.ts";
import type { FileNode } from "../lookup/lookup.ts";
import type { OpenFile } from "../lookup/open-file.ts";
import { blockBytes } from "./index-store.ts";
import { FileTruncated, scanAll, scanBlocks } from "./scan.ts";

const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-scan-"));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));
const disk = createDisk([folder]);

/** Newlines in the first and last block and at one place in the hole between them. */
const size = 560 * 1_048_576 + 12_345;
const file = path.join(folder, "sparse");
fs.writeFileSync(file, "\n".repeat(100));
fs.truncateSync(file, size - 3);
fs.appendFileSync(file, "\n\n.");
const middle = 300_000_000;
const fd = fs.openSync(file, "r+");
fs.writeSync(fd, "\n\n\n", middle);
fs.closeSync(fd);

function opened(): OpenFile {
  const look = disk.lookup(file) as FileNode;
  const open = disk.open(look) as OpenFile;
  look.handle.close();
  return open;
}

const options = { form: "byte", signal: new AbortController().signal } as const;

function expectCounts(counts: Uint32Array): void {
  expect(counts.length).toBe(Math.ceil(size / blockBytes));
  const places = [...counts.entries()].filter(([, count]) => count > 0);
  expect(places).toEqual([
    [0, 100],
    [Math.floor(middle / blockBytes), 3],
    [Math.floor((size - 1) / blockBytes), 2],
  ]);
}

test("two threads count every block once", async () => {
  const open = opened();
  expectCounts(await scanAll(open, 0, options));
  open.close();
});

test("a thread that fails leaves its pieces to the other", async () => {
  const open = opened();
  // The thread gets a descriptor that does not exist; this thread reads through the file itself.
  expectCounts(await scanAll({ ...open, descriptor: 999_999 }, 0, options));
  open.close();
});

test("one thread does it where a second may not", async () => {
  const open = opened();
  expectCounts(await scanAll({ ...open, descriptor: undefined }, 0, options));
  open.close();
});

test("a file that became shorter is noticed", async () => {
  const open = opened();
  const short = { ...open, read: (into: Uint8Array, at: number) => (at > 100_000_000 ? 0 : into.length) };
  await expect(scanBlocks(short, 0, size, options, () => "more")).rejects.toThrow(FileTruncated);
  open.close();
});
