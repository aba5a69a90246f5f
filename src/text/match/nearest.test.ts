import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countLines } from "../pieces.ts";
import { finish } from "../steps.ts";
import { match } from "./match.ts";
import { nearestRegion } from "./nearest.ts";
import { type Source, sourceOf } from "./source.ts";

const nearest = (source: Source, wanted: string) => finish(nearestRegion(source, wanted));

const file = [
  "import a",
  "",
  "function first() {",
  "\treturn alpha + 10;",
  "}",
  "",
  "function second() {",
  "\treturn beta;",
  "}",
  "",
];
const text = file.join("\n");

describe("the first difference is named", () => {
  for (const [name, wanted, kind, line] of [
    ["a word", "function second() {\n\treturn gamma;\n}", "text", 8],
    ["a number", "function first() {\n\treturn alpha + 11;\n}", "number", 4],
    ["case", "function First() {\n\treturn alpha + 10;\n}", "case", 3],
    ["blanks inside the line", "function first() {\n\treturn alpha  + 10;\n}", "whitespace inside the line", 4],
    ["a tab inside the line", "function first() {\n\treturn\talpha + 10;\n}", "tab or space", 4],
    ["a line too many", "function first() {\n\tlet x;\n\treturn alpha + 10;\n}", "missing line", 4],
    ["a line too few", "function first() {\n}\n\nfunction second() {", "extra line", 4],
    ["uneven indentation", "  function first() {\n\t  return alpha + 10;\n}", "tab or space", 4],
    ["an escape", "function first() {\n\treturn alpha \\u002b 10;\n}", "escape", 4],
  ] as const) {
    test(name, () => expect(nearest(sourceOf(text), wanted)?.difference).toMatchObject({ kind, line }));
  }
});

test("a line that differs in its blanks alone is nearer than one that differs in a letter", () => {
  const go = "func f() {\n\tif x {\n\t\treturn 3\n\t}\n\treturn  2\n}\n";
  const { from, difference } = nearest(sourceOf(go), "  return\t2") ?? {};
  expect({ from, difference }).toMatchObject({ from: 5, difference: { kind: "whitespace inside the line", line: 5 } });
});

test("a region begins where its first line does, also where a line between it and the others is missing", () => {
  const python =
    "\ndef parse_other_parameters(self, section: str) -> list:\n    return self.format(self.consume_fields())\n";
  const wanted =
    "def parse_other_parameters(self, section):\n    # type: (str) -> list\n    return self.format(self.consume_fields())\n";
  const { from, difference } = nearest(sourceOf(python), wanted) ?? {};
  expect({ from, difference }).toMatchObject({ from: 2, difference: { kind: "text", line: 2 } });
});

test("a blank line that fits again does not make another one an extra line", () => {
  const go = 'package paths\n\nimport (\n\t"os"\n)\n\nfunc init() {\n';
  const wanted = 'package paths\n\nimport (\n\t"os"\n\n\t"github.com/go-git"\n)\n';
  expect(nearest(sourceOf(go), wanted)?.difference).toMatchObject({ kind: "text", line: 5, asked: "" });
});

test("both sides of the difference are shown", () => {
  expect(nearest(sourceOf(text), "function second() {\n\treturn gamma;\n}")).toEqual({
    from: 7,
    lines: ["function second() {", "\treturn beta;", "}"],
    linesTotal: 3,
    difference: { kind: "text", line: 8, asked: "\treturn gamma;", actual: "\treturn beta;" },
  });
});

test("what is not alike is not shown", () => {
  expect(nearest(sourceOf(text), "SELECT name FROM users WHERE id = 4")).toBeUndefined();
  expect(nearest(sourceOf(""), "SELECT")).toBeUndefined();
  expect(nearest(sourceOf(text), "  \n \n")).toBeUndefined();
});

test("a long region is shown by its first lines", () => {
  const lines = Array.from({ length: 30 }, (_, at) => `line number ${at} of many`);
  const region = nearest(sourceOf(lines.join("\n")), lines.with(20, "something else").join("\n"));
  expect(region).toMatchObject({ from: 1, linesTotal: 30, difference: { kind: "text", line: 21 } });
  expect(region?.lines.length).toBe(8);
});

test("of a hundred thousand lines only those are compared that may be meant", () => {
  const lines = Array.from({ length: 100_000 }, (_, at) => `  const value${at} = compute(${at * 7}, "${at % 13}");`);
  const wanted = lines.slice(60_000, 60_030).with(12, "  const other = 1;").join("\n");
  const source = sourceOf(lines.join("\n"));
  const table = source.lines();
  let looks = 0;
  const start = (line: number): number => {
    looks += 1;
    return table.start(line);
  };
  const counted: Source = {
    text: source.text,
    loneReturns: source.loneReturns,
    lines: () => ({ ...table, start }),
    folded: (fold) => source.folded(fold),
    folding: (fold) => source.folding(fold),
    foldingLine: (line, fold) => source.foldingLine(line, fold),
    quotes: () => source.quotes(),
    after: (changes) => source.after(changes),
  };
  expect(nearest(counted, wanted)?.difference.line).toBe(60_013);
  expect(looks).toBeLessThan(4_000);
});

describe("two texts that are shown as different are different", () => {
  test("the line that is indented otherwise is named, not the one that is right", () => {
    const region = nearest(sourceOf("  foo\n  bar\n"), "    foo\n  bar");
    expect(region?.difference).toEqual({ kind: "indentation", line: 1, asked: "    foo", actual: "  foo" });
  });

  test("a newline before the first line, and a byte that cannot be decoded, are named", () => {
    expect(nearest(sourceOf("1 x\n2 x\n"), "\n1 x")?.difference.kind).toBe("newline in front");
    expect(nearest(sourceOf("bad \udcff x\n"), "bad \ufffd x")?.difference.kind).toBe("undecoded byte");
  });

  test("a line that is asked for behind the last one is missing, whatever the file ends with", () => {
    for (const end of ["", "\n", "\r\n"]) {
      const told = (more: string) => nearest(sourceOf(`one(1)\ntwo(2)${end}`), `one(1)\ntwo(2)\n${more}`);
      for (const [more, asked] of [
        ["x", "x"],
        ["\n", ""],
      ] as const) {
        expect(told(more)).toEqual({
          from: 1,
          lines: ["one(1)", "two(2)"],
          linesTotal: 2,
          difference: { kind: "missing line", line: 3, asked, actual: undefined },
        });
      }
    }
    expect(nearest(sourceOf("one(1)\ntwo(2)"), "one(1)\ntwo(2)\n")?.difference.kind).toBe("final newline");
  });

  test("whatever the file and the call are", () => {
    const words = fc.constantFrom(
      "alpha",
      "beta ",
      "  x",
      "\ty",
      "foo(1)",
      "",
      "}",
      "x  ",
      "\u201cq\u201d",
      "return 1;",
    );
    const line = fc.array(words, { minLength: 1, maxLength: 3 }).map((some) => some.join(" "));
    const lines = fc.array(line, { minLength: 1, maxLength: 8 });
    const spoilt = fc.tuple(fc.nat(60), fc.constantFrom("", " ", "\n", "\t", "Q", "  ", "\r"), fc.nat(2));
    fc.assert(
      fc.property(lines, fc.constantFrom("\n", "\r\n"), fc.nat(40), fc.array(spoilt), (all, end, at, spoils) => {
        const own = all.join(end) + end;
        const wanted = spoils.reduce(
          (now, [from, put, gone]) => now.slice(0, from) + put + now.slice(from + gone),
          own.slice(at, at + 60).replaceAll("\r", ""),
        );
        const found = wanted === "" ? undefined : match(own, { oldText: wanted, newText: "unlike all", all: false });
        if (found?.found !== "no" || found.nearest === undefined) return;
        const { lines: shown, from, difference } = found.nearest;
        expect(from + shown.length - 1).toBeLessThanOrEqual(countLines(own));
        const { kind, asked, actual } = difference;
        if (kind === "final newline" || kind === "newline in front") return;
        if (asked !== undefined && actual !== undefined) expect([wanted, asked]).not.toEqual([wanted, actual]);
      }),
      { numRuns: 2_000 },
    );
  });
});

test("a file of lone returns is one line, as Read shows it", () => {
  const told = match("a\rb\rb\rc\r", { oldText: "b", newText: "x", all: false });
  expect(told).toMatchObject({ found: "several", lines: [1, 1], total: 2 });
});
