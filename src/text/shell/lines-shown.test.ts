/** Which lines of which files commands showed, by their words and their output. */

import { describe, expect, test } from "vitest";
import { growsLikeItsInput } from "../../../test/support/growth.ts";
import { linesShownByShell } from "./lines-shown.ts";

const numbers = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}\n`).join("");
const files: Readonly<Record<string, string>> = {
  "a.txt": numbers(1, 50),
  "src/b.ts": "one\n\ttwo\n}\nthree\n}\n",
  "crlf.txt": "\ufeffone\r\ntwo\r\n",
  "empty.txt": "",
  "a-1-b.txt": "x\ny\n",
  "/w/abs.txt": "first\nsecond\n",
};
const shown = (command: string, output: string): string =>
  linesShownByShell(command, output, (path) => files[path])
    .map(({ path, lines }) => `${path} ${lines.map(({ from, to }) => `${from}-${to}`).join(" ")}`)
    .join(", ");

describe("counts", () => {
  for (const [command, output, lines] of [
    ["cat a.txt", numbers(1, 50), "a.txt 1-50"],
    ["cat /w/abs.txt", "first\nsecond", "/w/abs.txt 1-2"],
    ["cat 'a.txt' 2>/dev/null", numbers(1, 50), "a.txt 1-50"],
    ["cat -n src/b.ts", "     1\tone\n     2\t\ttwo\n     3\t}\n     4\tthree\n     5\t}\n", "src/b.ts 1-5"],
    ["nl -ba src/b.ts", "     1\tone\n     2\t\ttwo\n     3\t}\n     4\tthree\n     5\t}\n", "src/b.ts 1-5"],
    ["cat a.txt src/b.ts", `${numbers(1, 50)}${files["src/b.ts"]}`, "a.txt 1-50, src/b.ts 1-5"],
    ["cat crlf.txt", "one\r\ntwo\r\n", "crlf.txt 1-2"],
    ["head -5 a.txt", numbers(1, 5), "a.txt 1-5"],
    ["head -n 5 a.txt", numbers(1, 5), "a.txt 1-5"],
    ["head a.txt", numbers(1, 10), "a.txt 1-10"],
    ["tail -n 3 a.txt", numbers(48, 50), "a.txt 48-50"],
    ["tail -n +48 a.txt", numbers(48, 50), "a.txt 48-50"],
    ["sed -n '10,20p' a.txt", numbers(10, 20), "a.txt 10-20"],
    ["sed -n '10p;12,13p' a.txt", `${numbers(10, 10)}${numbers(12, 13)}`, "a.txt 10-10 12-13"],
    ["sed -n '48,$p' a.txt", numbers(48, 50), "a.txt 48-50"],
    ["cat a.txt | head -20 | tail -2", numbers(19, 20), "a.txt 19-20"],
    ["cat a.txt | sed -n '5,6p'", numbers(5, 6), "a.txt 5-6"],
    ["cat a.txt | grep 7", "line 7\nline 17\nline 27\n", "a.txt 7-7 17-17 27-27"],
    ["cd src && cat b.ts", "one\n\ttwo\n}\nthree\n}\n", "src/b.ts 1-5"],
    ["cd /w && cat abs.txt", "first\nsecond\n", "/w/abs.txt 1-2"],
    [
      "sed -n '1,2p' a.txt; echo ---; sed -n '4,5p' src/b.ts",
      `${numbers(1, 2)}---\nthree\n}\n`,
      "a.txt 1-2, src/b.ts 4-5",
    ],
    ["make; cat src/b.ts", "cc -o x\none\n\ttwo\n}\nthree\n}\n", "src/b.ts 1-5"],
    ["grep -n 7 a.txt", "7:line 7\n17:line 17\n", "a.txt 7-7 17-17"],
    ["grep -n -A1 'line 7' a.txt | head -2", "7:line 7\n8-line 8\n", "a.txt 7-8"],
    ["grep 'line 7' a.txt", "line 7\n", "a.txt 7-7"],
    ["grep -rn -B1 two src", "src/b.ts-1-one\nsrc/b.ts:2:\ttwo\n", "src/b.ts 1-2"],
    ["cd src && rg -n two", "b.ts:2:\ttwo\n", "src/b.ts 2-2"],
    ["grep -n -C1 y a-1-b.txt x", "a-1-b.txt-1-x\na-1-b.txt:2:y\n", "a-1-b.txt 1-2"],
    [
      "git diff",
      "diff --git a/src/b.ts b/src/b.ts\n--- a/src/b.ts\n+++ b/src/b.ts\n@@ -1,2 +1,3 @@ f\n one\n-2\n+\ttwo\n }\n",
      "src/b.ts 1-3",
    ],
    // An output that its client cut counts up to there.
    ["cat a.txt", `${numbers(1, 20)}lin\n\n... [29 lines truncated] ...`, "a.txt 1-20"],
    ["cat a.txt", numbers(1, 20), "a.txt 1-20"],
  ] as const)
    test(command, () => expect(shown(command, output)).toBe(lines));
});

describe("counts nothing", () => {
  for (const [why, command, output] of [
    ["another content", "cat a.txt", "other\n"],
    ["only a beginning, with something else after it", "cat a.txt", "line 1\nother\nmore\nand\n"],
    ["output into a file", "cat a.txt > b.txt", numbers(1, 50)],
    ["a variable", "cat $FILE", numbers(1, 50)],
    ["a pattern of names", "cat *.txt", numbers(1, 50)],
    ["no file", "cat none.txt", numbers(1, 50)],
    ["an unknown folder", "cd $X && cat a.txt", numbers(1, 50)],
    ["a line that occurs twice, without its number", "grep '}' src/b.ts", "}\n}\n"],
    ["a number of another line", "grep -n x a.txt", "8:line 7\n"],
    ["a part of a line", "grep -no line a.txt", "7:line\n"],
    ["lines in another order", "sed -n '1,2p' a.txt", "line 2\nline 1\nx\n"],
    ["a program that prints nothing of it", "wc -l a.txt", "line 1\n"],
    ["a script of sed that changes lines", "sed 's/line/x/' a.txt", numbers(1, 50)],
    ["removed lines of a diff", "git diff", "+++ b/a.txt\n@@ -1 +1 @@\n-line 1\n+other\n"],
  ] as const)
    test(why, () => expect(shown(command, output)).toBe(""));
});

for (const [name, command, line, file] of [
  ["equal lines and a last one that differs", "cat x", "a\n", "b\n"],
  ["numbers between signs", "grep -rn a .", "-1-\n", ""],
  ["one line of numbers between signs", "grep -rn a .", "-1-", ""],
  ["diffs without hunks", "git diff", "+++ b/x\n", ""],
] as const)
  test(`${name}: the work grows with the output`, () =>
    growsLikeItsInput(
      2_000,
      (size) => line.repeat(size),
      (output) => linesShownByShell(command, output, () => output + file),
    ));
