/** Recorded changes as edits by line. */

import { expect, test } from "vitest";
import { lineEditsOf } from "./line-edits.ts";

const ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

for (const [name, before, after, edits] of [
  ["one line", ten, ten.replace("5", "five"), [["5", "five"]]],
  ["lines that become more", ten, ten.replace("5\n6", "a\nb\nc"), [["5-6", "a\nb\nc"]]],
  ["lines that go", ten, ten.replace("5\n6\n", ""), [["5-6", ""]]],
  ["lines that are added", ten, ten.replace("5\n", "5\nnew\n"), [["after 5", "new"]]],
  ["a line that is added in front", ten, `0\n${ten}`, [["before 1", "0"]]],
  ["an empty line that is added", ten, ten.replace("5\n", "5\n\n"), [["after 5", "\n"]]],
  ["a last empty line", ten, ten.replace("5\n", "a\n\n"), [["5", "a\n\n"]]],
  ["two changes near each other", ten, ten.replace("4", "a").replace("7", "b"), [["4-7", "a\n5\n6\nb"]]],
  [
    "two changes apart",
    ten,
    ten.replace("3", "a").replace("7", "b"),
    [
      ["3", "a"],
      ["7", "b"],
    ],
  ],
  ["a file without a final newline", "1\n2", "1\ntwo", [["2", "two"]]],
] as const)
  test(name, () => expect(lineEditsOf(before, after)?.map((edit) => [edit.lines, edit.newText])).toEqual(edits));

for (const [name, before, after] of [
  ["an empty file", "", "1\n"],
  ["a file that is emptied", "1\n", ""],
  ["a final newline that is added", "1", "1\n"],
] as const)
  test(`${name} cannot be said by line`, () => expect(lineEditsOf(before, after)).toBeUndefined());
