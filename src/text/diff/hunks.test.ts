import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { growsLikeItsInput } from "../../../test/support/growth.ts";
import type { Hunk, TextChange } from "../../contract/edit.ts";
import { finish } from "../steps.ts";
import {
  type DiffLimits,
  diffLimits,
  diffOfChanges as diffIn,
  hunksOf,
  hunksOfTexts,
  type LinesTouched,
  type TextDiff,
} from "./hunks.ts";

const marker = "\\ No newline at end of file";

const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** Applies the hunks to the text before. Those of a new file do not say which line ends it has. */
function applied(before: string, hunks: readonly Hunk[], newEnd: string): string {
  const old = linesOf(before);
  const made: string[] = [];
  let at = 0;
  for (const { oldStart, oldLines, newStart, newLines, lines } of hunks) {
    const from = oldLines === 0 ? oldStart : oldStart - 1;
    made.push(...old.slice(at, from));
    expect(newLines === 0 ? newStart : newStart - 1).toBe(made.length);
    const covered = old.slice(from, from + oldLines);
    const firstOld = lines.find((line, index) => /^[- ]/.test(line) && lines[index + 1] !== marker)?.slice(1);
    const whole = firstOld === undefined ? undefined : covered[0];
    const end = whole === undefined ? (before === "" ? newEnd : "\n") : whole.slice(firstOld?.length);
    let [oldCount, newCount] = [0, 0];
    for (const [index, line] of lines.entries()) {
      if (line === marker) continue;
      const raw = line.slice(1) + (lines[index + 1] === marker ? "" : end);
      if (!line.startsWith("+")) {
        expect(covered[oldCount]).toBe(raw);
        oldCount += 1;
      }
      if (!line.startsWith("-")) {
        made.push(raw);
        newCount += 1;
      }
    }
    expect([oldCount, newCount]).toEqual([oldLines, newLines]);
    at = from + oldLines;
  }
  return [...made, ...old.slice(at)].join("");
}

const shown = ({ hunks }: { readonly hunks: readonly Hunk[] }) =>
  hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) =>
    [`${oldStart},${oldLines} ${newStart},${newLines}`, ...lines].join("\n"),
  );

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `${from + at}\n`).join("");

describe("hunksOfTexts", () => {
  for (const [name, before, after, hunks] of [
    ["equal texts have none", "a\nb\n", "a\nb\n", []],
    ["a new file starts at line 0", "", "a\nb\n", ["0,0 1,2\n+a\n+b"]],
    ["so does an emptied one", "a\nb\n", "", ["1,2 0,0\n-a\n-b"]],
    ["a changed line", "a\nb\nc\n", "a\nB\nc\n", ["1,3 1,3\n a\n-b\n+B\n c"]],
    [
      "three lines around",
      numbered(1, 9),
      numbered(1, 9).replace("5", "five"),
      ["2,7 2,7\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8"],
    ],
    ["a line put in at the top", "a\nb\n", "x\na\nb\n", ["1,2 1,3\n+x\n a\n b"]],
    ["a line put in at the end", "a\nb\n", "a\nb\nx\n", ["1,2 1,3\n a\n b\n+x"]],
    ["a final newline added", "a\nb", "a\nb\n", [`1,2 1,2\n a\n-b\n${marker}\n+b`]],
    ["a final newline taken away", "a\nb\n", "a\nb", [`1,2 1,2\n a\n-b\n+b\n${marker}`]],
    ["no final newline, before and after", "a\nb", "x\nb", [`1,2 1,2\n-a\n+x\n b\n${marker}`]],
    [
      "no final newline, too far away to be told",
      `x\n${numbered(1, 4)}end`,
      `y\n${numbered(1, 4)}end`,
      ["1,4 1,4\n-x\n+y\n 1\n 2\n 3"],
    ],
    ["CRLF is not shown where nothing else is there", "a\r\nb\r\n", "a\r\nB\r\n", ["1,2 1,2\n a\n-b\n+B"]],
    ["a changed line end is shown", "a\r\nb\r\n", "a\nb\r\n", ["1,2 1,2\n-a\r\n+a\n b\r"]],
    ["all line ends changed", "a\nb\n", "a\r\nb\r\n", ["1,2 1,2\n-a\n-b\n+a\r\n+b\r"]],
    ["a new file of CRLF lines", "", "a\r\nb\r\n", ["0,0 1,2\n+a\n+b"]],
    ["CRLF in a file without a line end is shown", "a", "a\r\nb", [`1,1 1,2\n-a\n${marker}\n+a\r\n+b\n${marker}`]],
    ["a lone carriage return is text", "a\rb\nc\n", "a\rB\nc\n", ["1,2 1,2\n-a\rb\n+a\rB\n c"]],
    ["half a pair is text", "\ud83d\n", "\ude00\n", ["1,1 1,1\n-\ud83d\n+\ude00"]],
    ["dollars and ampersands are text", "$&\n", "$1\n", ["1,1 1,1\n-$&\n+$1"]],
    [
      "six lines apart share a hunk",
      `a\n${numbered(1, 6)}b\n`,
      `x\n${numbered(1, 6)}y\n`,
      ["1,8 1,8\n-a\n+x\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+y"],
    ],
    [
      "seven lines apart do not, and the second knows of the first",
      `a\n${numbered(1, 7)}b\n`,
      `x\nx\n${numbered(1, 7)}`,
      ["1,4 1,5\n-a\n+x\n+x\n 1\n 2\n 3", "6,4 7,3\n 5\n 6\n 7\n-b"],
    ],
  ] as const) {
    test(name, () => expect(shown(hunksOfTexts(before, after))).toEqual(hunks));
  }

  test("context can be left out", () => {
    expect(shown(hunksOfTexts("a\nb\nc\n", "a\nB\nc\n", { context: 0 }))).toEqual(["2,1 2,1\n-b\n+B"]);
    expect(shown(hunksOfTexts("a\nc\n", "a\nb\nc\n", { context: 0 }))).toEqual(["1,0 2,1\n+b"]);
  });

  test("lines put in at the top without context are not those of a new file: a carriage return is shown", () => {
    expect(shown(hunksOfTexts("a\n", "b\r\na\n", { context: 0 }))).toEqual(["0,0 1,1\n+b\r"]);
    expect(shown(hunksOfTexts("", "b\r\n", { context: 0 }))).toEqual(["0,0 1,1\n+b"]);
  });

  test("hunks beyond the limit are left out whole, and the numbers stay exact", () => {
    const before = numbered(1, 100);
    const after = before.replaceAll(/^(\d)5$/gm, "$1 five");
    expect(hunksOfTexts(before, after)).toMatchObject({ additions: 9, deletions: 9, complete: true });
    const cut = hunksOfTexts(before, after, { linesMax: 20 });
    expect(cut).toMatchObject({ additions: 9, deletions: 9, complete: false });
    expect(cut.hunks).toEqual(hunksOfTexts(before, after).hunks.slice(0, 2));
    expect(hunksOfTexts("", numbered(1, 6_000))).toEqual({
      hunks: [],
      additions: 6_000,
      deletions: 0,
      complete: false,
    });
  });
});

/** Few different lines, both line ends, often no final newline; some large equal parts around them. */
const piece = fc.constantFrom(
  "a\n",
  "b\n",
  "c\n",
  "\n",
  "a\r\n",
  "b\r\n",
  "\r\n",
  "\r\r\n",
  "$&\n",
  "\ud83d\n",
  "x",
  "",
);
const text = fc.array(piece, { maxLength: 25, size: "max" }).map((pieces) => pieces.join(""));
const pairs = fc.tuple(text, text, text, text).map(([head, before, after, tail]) => ({
  before: head + before + tail,
  after: head + after + tail,
}));

test("hunks of texts, carried out, give the text after", () => {
  fc.assert(
    fc.property(pairs, fc.nat(4), ({ before, after }, context) => {
      const diff = hunksOfTexts(before, after, { context });
      expect([applied(before, diff.hunks, "\n"), applied(before, diff.hunks, "\r\n")]).toContain(after);
      const signs = diff.hunks.flatMap((hunk) => hunk.lines.map((line) => line[0]));
      expect(signs.filter((sign) => sign === "+")).toHaveLength(diff.additions);
      expect(signs.filter((sign) => sign === "-")).toHaveLength(diff.deletions);
      expect(diff.complete).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

const changesIn = (before: string) =>
  fc
    .array(fc.tuple(fc.nat(before.length), fc.nat(before.length), text), { maxLength: 5 })
    .map((raw): readonly TextChange[] => {
      const borders = raw.flatMap(([one, other]) => [one, other]).sort((one, other) => one - other);
      return raw.map(([, , text], at) => ({ from: borders[2 * at] ?? 0, to: borders[2 * at + 1] ?? 0, text }));
    });

function changed(before: string, changes: readonly TextChange[]): string {
  return changes.reduceRight((made, { from, to, text }) => made.slice(0, from) + text + made.slice(to), before);
}

/** The lines of each change, from a list of all lines. */
function touchedBy(text: string, changes: readonly TextChange[]): readonly LinesTouched[] {
  const lineAt = (at: number): number => text.slice(0, at).split("\n").length;
  return changes.map(({ from, to, text: put }) => {
    const endsLine = (part: string): boolean => part === "" || part.endsWith("\n");
    const isWhole = endsLine(text.slice(0, from)) && endsLine(text.slice(from, to)) && endsLine(put);
    const extra = isWhole ? 0 : 1;
    return {
      line: lineAt(from),
      linesBefore: lineAt(to) - lineAt(from) + extra,
      linesAfter: put.split("\n").length - 1 + extra,
    };
  });
}

function diffOfChanges(
  text: string,
  changes: readonly TextChange[],
  limits: Partial<DiffLimits> = {},
  touched: readonly LinesTouched[] = touchedBy(text, changes),
): TextDiff {
  return finish(diffIn({ text, byteAt: (at) => at }, changes, touched, { ...diffLimits, ...limits }));
}

test("hunks of changes, carried out, give the text after", () => {
  // Half a character is shown as U+FFFD.
  const whole = (words: string): string => words.replace(/[\ud800-\udfff]/g, "e");
  const texts = fc.array(text, { maxLength: 4 }).map((parts) => whole(parts.join("")));
  const cases = texts.chain((before) => fc.tuple(fc.constant(before), changesIn(before)));
  fc.assert(
    fc.property(cases, ([before, raw]) => {
      const changes = raw.map((change) => ({ ...change, text: whole(change.text) }));
      const { hunks, complete } = diffOfChanges(before, changes);
      expect(complete).toBe(true);
      expect([applied(before, hunks, "\n"), applied(before, hunks, "\r\n")]).toContain(changed(before, changes));
    }),
    { numRuns: 2_000 },
  );
});

describe("a diff of changes", () => {
  const long = "x".repeat(300_000);

  test("a line that is too long ends the context", () => {
    const text = `one\ntwo\n${long}\nend\n`;
    expect(shown(diffOfChanges(text, [{ from: 4, to: 7, text: "TWO" }]))).toEqual(["1,2 1,2\n one\n-two\n+TWO"]);
    const at = text.indexOf("end");
    expect(shown(diffOfChanges(text, [{ from: at, to: at + 3, text: "END" }]))).toEqual(["4,1 4,1\n-end\n+END"]);
  });

  test("changes in the middle of such a line are counted, and the line once", () => {
    const text = `a\n${long}b${long}c${long}\nd\n`;
    const put = (from: number) => ({ from, to: from + 1, text: "B\nB" });
    const diff = diffOfChanges(text, [put(text.indexOf("b")), put(text.indexOf("c"))]);
    expect(diff).toEqual({ hunks: [], deletions: 1, additions: 3, complete: false });
  });

  test("a change beside such a line is shown, without the lines that another change has", () => {
    const text = `a\n${long}b${long}\nc\nd\n`;
    const put = (letter: string) => ({ from: text.indexOf(letter), to: text.indexOf(letter) + 1, text: "X" });
    const diff = diffOfChanges(text, [put("b"), put("c")]);
    expect(shown(diff)).toEqual(["3,2 3,2\n-c\n+X\n d"]);
    expect(diff).toMatchObject({ deletions: 2, additions: 2, complete: false });
  });

  const before = numbered(1, 30);
  const at = (line: string) => before.indexOf(`\n${line}\n`) + 1;
  const changesAt = (...lines: readonly string[]) =>
    lines.map((line) => ({ from: at(line), to: at(line) + 2, text: "x" }));

  test("places whose context meets share a hunk, others do not", () => {
    const { hunks } = diffOfChanges(before, changesAt("10", "17", "27"));
    expect(hunks.map(({ oldStart, oldLines }) => [oldStart, oldLines])).toEqual([
      [7, 14],
      [24, 7],
    ]);
  });

  test("lines beyond the limit are counted, and none of them is context", () => {
    const diff = diffOfChanges(before, changesAt("10", "12", "27"), { linesMax: 8 });
    expect(shown(diff)).toEqual(["7,5 7,5\n 7\n 8\n 9\n-10\n+x\n 11"]);
    expect(diff).toMatchObject({ additions: 3, deletions: 3, complete: false });
  });

  test("characters beyond the limit are counted as well", () => {
    const diff = diffOfChanges(before, changesAt("10", "20"), { charsMax: 50 });
    expect(diff.hunks).toHaveLength(1);
    expect(diff).toMatchObject({ additions: 2, deletions: 2, complete: false });
  });

  test("no changes, no hunks; an empty text has one", () => {
    expect(diffOfChanges(before, [])).toEqual({ hunks: [], additions: 0, deletions: 0, complete: true });
    expect(shown(diffOfChanges("", [{ from: 0, to: 0, text: "a\n" }]))).toEqual(["0,0 1,1\n+a"]);
  });
});

describe("a diff of two texts with very long lines", () => {
  const long = "x".repeat(300_000);

  test("a line that is too long ends the context", () => {
    const text = (word: string): string => `${long}\none\n${word}\n${long}\nend\n`;
    expect(shown(hunksOfTexts(text("two"), text("TWO")))).toEqual(["2,2 2,2\n one\n-two\n+TWO"]);
  });

  test("more characters than the limit are counted and not shown", () => {
    const diff = hunksOfTexts(`a\n${"b".repeat(999_998)}\n`, `a\n${"c".repeat(20)}\n`);
    expect(diff).toEqual({ hunks: [], additions: 1, deletions: 1, complete: false });
    expect(hunksOfTexts("", "b".repeat(1_000_001))).toEqual({ hunks: [], additions: 1, deletions: 0, complete: false });
  });
});

describe("hunks of places", () => {
  test("the lines of earlier places move the later ones", () => {
    const places = [
      { firstLine: 10, before: "a\n", after: "a\nb\nc\n", atEnd: false },
      { firstLine: 500_000, before: "x\n", after: "y\n", atEnd: false },
    ];
    expect(shown(finish(hunksOf(places)))).toEqual(["10,1 10,3\n a\n+b\n+c", "500000,1 500002,1\n-x\n+y"]);
  });

  test("places that touch share a hunk", () => {
    const places = [
      { firstLine: 1, before: "a\nb\n", after: "A\nb\n", atEnd: false },
      { firstLine: 3, before: "c\nd", after: "c\nD", atEnd: true },
    ];
    expect(shown(finish(hunksOf(places)))).toEqual([`1,4 1,4\n-a\n+A\n b\n c\n-d\n${marker}\n+D\n${marker}`]);
  });

  test("away from the end of the file a missing line end means nothing", () => {
    expect(shown(finish(hunksOf([{ firstLine: 1, before: "a\nb", after: "A\nb", atEnd: false }])))).toEqual([
      "1,2 1,2\n-a\n+A\n b",
    ]);
  });

  test("more context than asked for is not shown", () => {
    const places = [{ firstLine: 1, before: numbered(1, 9), after: numbered(1, 9).replace("5", "five"), atEnd: false }];
    expect(shown(finish(hunksOf(places, { context: 1 })))).toEqual(["4,3 4,3\n 4\n-5\n+five\n 6"]);
  });
});

describe("beside diff -u", () => {
  const folder = mkdtempSync(join(tmpdir(), "filehand-hunks-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** How many lines `diff -u --minimal` deletes and adds, or undefined if there is no such program. */
  function outsideCost(before: string, after: string): number | undefined {
    writeFileSync(join(folder, "before"), before);
    writeFileSync(join(folder, "after"), after);
    try {
      execFileSync("diff", ["-u", "--minimal", "before", "after"], { cwd: folder, stdio: "pipe" });
      return 0;
    } catch (error) {
      if (!(error instanceof Error && "status" in error && error.status === 1 && "stdout" in error)) return undefined;
      const lines = String(error.stdout).split("\n").slice(2);
      return lines.filter((line) => /^[-+]/.test(line)).length;
    }
  }

  test.skipIf(outsideCost("a\n", "b\n") !== 2)("no more lines are told as changed", () => {
    fc.assert(
      fc.property(pairs, ({ before, after }) => {
        const { additions, deletions } = hunksOfTexts(before, after);
        expect(additions + deletions).toBe(outsideCost(before, after));
      }),
      { numRuns: 60 },
    );
  });
});

test("four times the changed lines are four times the work", async () => {
  const texts = (count: number): readonly [string, string] => {
    const lines = (word: string): string => Array.from({ length: count }, (_, at) => `${word} ${at}\n`).join("");
    return [lines("before"), lines("after")];
  };
  await growsLikeItsInput(12_500, texts, ([before, after]) => hunksOfTexts(before, after));
  // The same lines in another order: all of them need the search.
  const shuffled = (count: number): readonly [string, string] => {
    const line = (at: number): string => `line ${at % 97}\n`;
    const text = (step: number): string => Array.from({ length: count }, (_, at) => line(at * step)).join("");
    return [text(31), text(37)];
  };
  await growsLikeItsInput(12_500, shuffled, ([before, after]) => hunksOfTexts(before, after));
});

test("four times the changes in one line are four times the work", async () => {
  const line = (count: number) => ({
    text: "abc def ".repeat(count),
    changes: Array.from({ length: count }, (_, at) => ({ from: at * 8, to: at * 8 + 3, text: "x" })),
    touched: Array.from({ length: count }, () => ({ line: 1, linesBefore: 1, linesAfter: 1 })),
  });
  const all = { linesMax: 1_000_000, charsMax: 10_000_000, reachBytes: 10_000_000 };
  await growsLikeItsInput(4_000, line, ({ text, changes, touched }) => diffOfChanges(text, changes, all, touched));
});

test("a change that appears further down among equal lines has its context below", () => {
  const equal = "one\n".repeat(30);
  const { hunks } = hunksOfTexts(`A\nq\none\n${equal}z\nz\nz\nz\n`, `B\nq\n${equal}z\nz\nz\nz\n`);
  expect(hunks.at(-1)?.lines.slice(-4)).toEqual(["-one", " z", " z", " z"]);
});
