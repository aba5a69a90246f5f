import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type OutputReader, type OutputTaker, readContent, readCounts, readFiles } from "./grep-output.ts";

type Make = (taker: OutputTaker) => OutputReader;

/** What a reader reports when the output comes in pieces that end at these places. */
function reported(make: Make, output: Buffer, cuts: readonly number[] = []): readonly string[] {
  const seen: string[] = [];
  const reader = make({
    file: (path) => seen.push(`file ${path.toString("latin1")}`),
    line: ({ line, column, offset }) => seen.push(`line ${line} ${column} ${offset}`),
    count: (lines) => seen.push(`count ${lines}`),
    binaryFile: () => seen.push("binary"),
  });
  const ends = [...cuts.filter((cut) => cut < output.length).toSorted((a, b) => a - b), output.length];
  let from = 0;
  for (const end of ends) {
    reader.feed(output.subarray(from, end));
    from = end;
  }
  return seen;
}

const content: Make = (taker) => readContent(taker, false);
const onlyContent: Make = (taker) => readContent(taker, true);
const counts: Make = (taker) => readCounts(taker, false);
const onlyCounts: Make = (taker) => readCounts(taker, true);

const cases: readonly (readonly [string, Make, string, readonly string[]])[] = [
  ["nothing", content, "", []],
  [
    "files with lines and context",
    content,
    "./a\x001:5:0:[Omitted long line with 1 matches]\r\n2-9-[Omitted long context line]\n\n./b\x00300:1:99:\n",
    ["file ./a", "line 1 5 0", "line 2 0 9", "file ./b", "line 300 1 99"],
  ],
  [
    "files as one thread parts them",
    content,
    "./a\x001:1:0:x\r\n\r\n./b\x002:1:9:y\r\n",
    ["file ./a", "line 1 1 0", "file ./b", "line 2 1 9"],
  ],
  [
    "names with newlines that look like lines, and bytes that are no text",
    content,
    "./a\n1:1:0:x\x002:1:7:y\n\n./\xff\x001:1:0:z\n",
    ["file ./a\n1:1:0:x", "line 2 1 7", "file ./\xff", "line 1 1 0"],
  ],
  [
    "a file that turns out to be binary",
    content,
    './a\x001:1:0:x\n./a: WARNING: stopped searching binary file after match (found "\\0" byte around offset 9)\n\n./b\x001:1:0:x\n',
    ["file ./a", "line 1 1 0", "binary", "file ./b", "line 1 1 0"],
  ],
  ["one file that is not named", onlyContent, "1:1:0:x\n7:2:80:x\n", ["line 1 1 0", "line 7 2 80"]],
  ["one binary file", onlyContent, 'binary file matches (found "\\0" byte around offset 4)\n', ["binary"]],
  ["counts", counts, "./a\x003\n./b\nc\x00120\n", ["file ./a", "count 3", "file ./b\nc", "count 120"]],
  ["a count that is not named", onlyCounts, "42\n", ["count 42"]],
  ["names alone", (taker) => readFiles(taker), "./a\x00./b\nc\x00", ["file ./a", "file ./b\nc"]],
];

for (const [name, make, output, expected] of cases) {
  test(`${name}, whole and cut anywhere`, () => {
    const bytes = Buffer.from(output, "latin1");
    expect(reported(make, bytes)).toEqual(expected);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes.length })), (cuts) => {
        expect(reported(make, bytes, cuts)).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });
}
