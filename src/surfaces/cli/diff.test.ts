import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hunksOfTexts } from "../../text/diff/hunks.ts";
import { paintDiff } from "./diff.ts";

const paint = (before: string, after: string, options: { words?: boolean } = {}) =>
  paintDiff("a.ts", hunksOfTexts(before, after).hunks, { colour: false, ...options }).split("\n");
/** Colours as tags: r, g, and R, G for what is emphasised. */
const tagged = (before: string, after: string, options: { words?: boolean } = {}) =>
  paintDiff("a.ts", hunksOfTexts(before, after).hunks, { colour: true, ...options })
    .replaceAll(/\x1b\[31m\x1b\[7m(.*?)\x1b\[27m\x1b\[39m/g, "<R$1>")
    .replaceAll(/\x1b\[32m\x1b\[7m(.*?)\x1b\[27m\x1b\[39m/g, "<G$1>")
    .replaceAll(/\x1b\[31m(.*?)\x1b\[39m/g, "<r$1>")
    .replaceAll(/\x1b\[32m(.*?)\x1b\[39m/g, "<g$1>")
    .split("\n")
    .slice(3);

describe("paintDiff without colour", () => {
  test("name, numbers, hunks", () => {
    expect(paint("a\nb\n", "a\nc\nd\n")).toEqual(["a.ts", "+2 -1", "@@ -1,2 +1,3 @@", " a", "-b", "+c", "+d"]);
  });

  test("the missing final newline is told", () => {
    expect(paint("a\n", "a").slice(3)).toEqual(["-a", "+a", "\\ No newline at end of file"]);
  });

  for (const [name, before, after, lines] of [
    ["trailing whitespace that came", "a;\n", "a; \t\n", ["-a;", "+a;·→\t"]],
    ["trailing whitespace that stay", "a  \n", "b  \n", ["-a  ", "+b  "]],
    ["a tab for blanks", "  a\n", "\ta\n", ["-··a", "+→\ta"]],
    ["tabs beside a change", "\tone two\n", "\tone 2\n", ["-\tone two", "+\tone 2"]],
    ["line ends", "same\nabc\r\n", "same\nabc\n", [" same", "-abc^M", "+abc"]],
    ["line ends that stay", "same\r\nabc\n", "same\r\nabd\n", [" same", "-abc", "+abd"]],
    ["what would act on the terminal", "a\n", "\x1b[2Ja\n", ["-a", "+^[[2Ja"]],
    ["what would turn the writing direction", "a\n", "a\u202eb\n", ["-a", "+a\\u202eb"]],
  ] as const) {
    test(`blanks and controls: ${name}`, () => expect(paint(before, after).slice(3)).toEqual(lines));
  }

  test("blanks are left alone if words are off", () => {
    expect(paint("a;\n", "a; \n", { words: false }).slice(3)).toEqual(["-a;", "+a; "]);
  });

  test("a hostile name stays on its line", () => {
    expect(paintDiff("a\n\x1b[2J", [], { colour: false })).toBe("a\\n\\x1b[2J\n+0 -0");
  });

  test("what the hunks leave out is told", () => {
    const totals = { additions: 10, deletions: 4 };
    const lines = paintDiff("a", hunksOfTexts("a\n", "b\n").hunks, { colour: false, totals }).split("\n");
    expect([lines[1], lines.at(-1)]).toEqual(["+10 -4", "(12 more changed lines not shown)"]);
  });
});

describe("paintDiff with colour", () => {
  for (const [name, before, after, lines] of [
    [
      "changed words stand out",
      "let a = one;\n",
      "let a = two;\n",
      ["<r-><rlet a = ><Rone><r;>", "<g+><glet a = ><Gtwo><g;>"],
    ],
    ["lines with little in common are coloured whole", "alpha beta\n", "x y z\n", ["<r-alpha beta>", "<g+x y z>"]],
    ["a line without a partner is coloured whole", "a\n", "a\nnew line\n", [" a", "<g+new line>"]],
    [
      "the first of several belongs to the first",
      "one two\nthree four\n",
      "one 2\nthree 4\nfive\n",
      ["<r-><rone ><Rtwo>", "<r-><rthree ><Rfour>", "<g+><gone ><G2>", "<g+><gthree ><G4>", "<g+five>"],
    ],
  ] as const) {
    test(name, () => expect(tagged(before, after)).toEqual(lines));
  }

  test("words can be left out", () => {
    expect(tagged("a b\n", "a c\n", { words: false })).toEqual(["<r-a b>", "<g+a c>"]);
  });

  test("a very long line is coloured whole", () => {
    const long = "word ".repeat(2_000);
    expect(tagged(`${long}a\n`, `${long}b\n`)).toEqual([`<r-${long}a>`, `<g+${long}b>`]);
  });
});

test("no text acts on the terminal, and only marks are added to it", () => {
  const line = fc.string({
    unit: fc.constantFrom("a", "b", " ", "\t", "\r", "\x1b", "\x9b", "\u202e", "\n", "ü", "😀"),
  });
  fc.assert(
    fc.property(line, line, (before, after) => {
      const { hunks } = hunksOfTexts(before, after);
      expect(paintDiff("a", hunks, { colour: false })).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
      const coloured = paintDiff("a", hunks, { colour: true }).replaceAll(/\x1b\[\d+m/g, "");
      expect(coloured).toBe(paintDiff("a", hunks, { colour: false }));
    }),
  );
});
