/** What ripgrep reports counts only where it was looked up again. */

import { expect, test } from "vitest";
import { type PathRecheck, Collector } from "./grep.ts";

function collected(isThere: PathRecheck["isThere"]) {
  const again: PathRecheck = { isThere, release: () => {} };
  const made = () =>
    new Collector({ entriesMax: 10, isWanted: () => true, again, mtimeOf: undefined }, "content", "folder");
  const collector = made();
  for (const path of ["./in/a.txt", "./swapped/b.txt"]) {
    collector.file(Buffer.from(path));
    collector.line({ line: 1, column: 1, offset: 0 });
    collector.binaryFile();
  }
  collector.file(Buffer.concat([Buffer.from("./swapped/"), Buffer.from([0xff])]));
  const files = collector.finish().map(({ path }) => path);
  const { filesTotal, linesTotal, entriesTotal, binary, unnamed } = collector;
  return { files, filesTotal, linesTotal, entriesTotal, binary, unnamed };
}

test("a file that is not there when it is looked up again is in no number", () => {
  expect(collected((path) => path.startsWith("in/"))).toEqual({
    files: ["in/a.txt"],
    filesTotal: 1,
    linesTotal: 1,
    entriesTotal: 1,
    binary: 1,
    unnamed: 0,
  });
});

test("all that are there count, and of a name that is no text its folder is looked up", () => {
  const asked: string[] = [];
  const all = collected((path, what) => asked.push(`${what} ${path}`) > 0);
  expect(all).toMatchObject({ filesTotal: 2, linesTotal: 2, binary: 2, unnamed: 1 });
  expect(asked).toEqual(["file in/a.txt", "file swapped/b.txt", "folder swapped"]);
});

test("where the newest come first, one lookup tells whether a file is there and when it was changed", () => {
  const again: PathRecheck = { isThere: () => expect.unreachable("it was looked up already"), release: () => {} };
  const mtimeOf = (path: string) => (path === "gone" ? undefined : BigInt(path));
  const collector = new Collector({ entriesMax: 10, isWanted: () => true, again, mtimeOf }, "files", "folder");
  for (const path of ["./1", "./gone", "./3", "./2"]) collector.file(Buffer.from(path));
  expect(collector.finish().map(({ path }) => path)).toEqual(["3", "2", "1"]);
  expect(collector.filesTotal).toBe(3);
});
