import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { growsLikeItsInput } from "../../../test/support/growth.ts";
import type { TextChange } from "../../contract/edit.ts";
import { finish } from "../steps.ts";
import { applyingHunks, findPlaces, steps, textLines } from "./apply.ts";
import { parsePatch, type PatchHunk } from "./patch.ts";

const applyHunks = (text: string, hunks: readonly PatchHunk[]) => finish(applyingHunks(text, hunks));

function hunksOf(lines: readonly string[]): readonly PatchHunk[] {
  const parsed = parsePatch(["*** Begin Patch", "*** Update File: f", ...lines, "*** End Patch"].join("\n"));
  if ("fault" in parsed || parsed.files[0].does !== "update") throw new Error(JSON.stringify(parsed));
  return parsed.files[0].hunks;
}

function changed(text: string, changes: readonly TextChange[]): string {
  let result = "";
  let done = 0;
  for (const { from, to, text: put } of changes) {
    expect(from).toBeGreaterThanOrEqual(done);
    result += text.slice(done, from) + put;
    done = to;
  }
  return result + text.slice(done);
}

/** The text after the patch, or the reason why it does not apply. */
function apply(text: string, ...lines: readonly string[]): unknown {
  const answer = applyHunks(text, hunksOf(lines));
  if (answer.applied === "yes") return changed(text, answer.changes);
  const { applied: _, ...reason } = answer;
  return reason;
}

const two = "function a() {\n  let x;\n  go(x);\n}\n\nfunction b() {\n  let x;\n  go(x);\n}\n";

describe("where a hunk goes", () => {
  for (const [name, text, lines, expected] of [
    ["a line is replaced", "a\nb\nc\n", ["@@", " a", "-b", "+B", " c"], "a\nB\nc\n"],
    ["a line is removed", "a\nb\nc\n", ["-b"], "a\nc\n"],
    ["the first line is replaced", "a\nb\n", ["-a", "+A", " b"], "A\nb\n"],
    ["lines are added before the first", "a\nb\n", ["+x", "+y", " a"], "x\ny\na\nb\n"],
    ["several hunks apply in order", "a\nb\nc\nd\n", ["@@", "-a", "+A", "@@", "-d", "+D"], "A\nb\nc\nD\n"],
    ["removals and additions may alternate", "a\nb\nc\n", ["-a", "+A", "-b", "+B"], "A\nB\nc\n"],
    ["hunks may share context", "a\nb\nc\n", ["@@", "-a", "+A", " b", "@@", " b", "-c", "+C"], "A\nb\nC\n"],
    ["hunks may meet", "a\nb\n", ["@@", "-a", "+A", "@@", "-b", "+B"], "A\nB\n"],
    ["what lies above is not looked at", "h\na\nm\na\n", ["@@", "-m", "@@", "-a", "+b"], "h\na\nb\n"],
    ["a dash that becomes two is not spliced", "a\u2014b\n", ["-a-b", "+a--b"], "a--b\n"],
    ["a dash beside a change stays", "a\u2014b\n", ["-a-b", "+a-c"], "a\u2014c\n"],
    ["lines without context go to the end, as Codex puts them", "a\nb\n", ["@@", "+c", "+d"], "a\nb\nc\nd\n"],
    ["also without a final newline", "a\nb", ["@@", "+c"], "a\nb\nc"],
    ["a hunk above them may follow", "a\nb\n", ["@@", "+c", "@@", "-a", "+A"], "A\nb\nc\n"],
    ["an empty line of context at the end of the file", "a\nb\n", [" a", "-b", "+B", " "], "a\nB\n"],
    ["one that is there is context", "a\nb\n\nc\n", ["-b", "+B", " "], "a\nB\n\nc\n"],
    ["before the mark of the end as well", "a\nb\n", ["-b", "+B", " ", "*** End of File"], "a\nB\n"],
    ["$ is text", "a\nb\n", ["-a", "+$& $1 $$"], "$& $1 $$\nb\n"],
    ["a patch may empty a file", "a\n", ["-a"], ""],
    ["an empty file is filled", "", ["+a", "+b"], "a\nb\n"],
    ["a hunk without a change is a landmark", "x\nm\nx\n", ["@@", " m", "@@", "-x", "+y"], "x\nm\ny\n"],
    ["letters beyond ASCII are letters", "naïve 😀\nb\n", ["-naïve 😀", "+naïve 💀"], "naïve 💀\nb\n"],
  ] as const) {
    test(name, () => expect(apply(text, ...lines)).toBe(expected));
  }

  for (const [name, text, lines, reason] of [
    ["X6: two places are refused", "x\ny\nx\n", ["-x", "+z"], { why: "several", lines: [1, 3], total: 2 }],
    ["overlapping places are two", "x\nx\nx\n", ["-x", "-x"], { why: "several", lines: [1, 2], total: 2 }],
    ["a missing line", "a\n", [" a", "-b"], { why: "not found", oldLines: ["a", "b"] }],
    ["part of a line is no line", "ab\n", ["-a"], { why: "not found", oldLines: ["a"] }],
    ["case counts", "A\n", ["-a"], { why: "not found", oldLines: ["a"] }],
    ["indentation counts", "  a\n", ["-a"], { why: "not found", oldLines: ["a"] }],
    ["blanks inside a line count", "a  b\n", ["-a b"], { why: "not found", oldLines: ["a b"] }],
    ["lines in a row must be in a row", "a\n\nb\n", [" a", "-b"], { why: "not found", oldLines: ["a", "b"] }],
    ["the old lines of an empty file", "", ["-b"], { why: "not found", oldLines: ["b"] }],
  ] as const) {
    test(name, () => expect(apply(text, ...lines)).toEqual({ hunk: 0, ...reason }));
  }

  test("the hunk that failed is named, and order counts", () => {
    expect(apply("a\nb\n", "@@", "-b", "+B", "@@", "-a", "+A")).toEqual({ hunk: 1, why: "out of order", line: 1 });
  });

  test("a header above the last change is out of order too", () => {
    expect(apply("a\nb\n", "@@", "-b", "@@ a", "+x")).toEqual({ hunk: 1, why: "out of order", line: 1 });
  });

  test("of very many places a few are told", () => {
    const answer = applyHunks("x\n".repeat(1_000), hunksOf(["-x"]));
    expect(answer).toMatchObject({ why: "several", total: 1_000 });
    expect(answer).toHaveProperty("lines.length", 20);
  });
});

describe("headers", () => {
  for (const [name, text, lines, expected] of [
    ["X5: lines go right below a header", "a\nb\nc\n", ["@@ b", "+x"], "a\nb\nx\nc\n"],
    ["a header is found without its indentation", "if a:\n  b\n", ["@@ b", "+  x"], "if a:\n  b\n  x\n"],
    [
      "a header may be the beginning of its line",
      two,
      ["@@ function b", "+  // b"],
      two.replace("b() {\n", "b() {\n  // b\n"),
    ],
    [
      "of two copies the one below the header",
      two,
      ["@@ function b() {", "-  let x;"],
      two.slice(0, -20) + "  go(x);\n}\n",
    ],
    ["of two copies the one inside the header", two, ["@@ function a() {", "-  let x;"], two.replace("  let x;\n", "")],
    [
      "a header may be repeated as context",
      two,
      ["@@ function a() {", " function a() {", "-  let x;"],
      two.replace("  let x;\n", ""),
    ],
    ["one header may serve two hunks", "f\n a\n b\n", ["@@ f", "- a", "@@ f", "- b"], "f\n"],
    ["headers are nested", "A\n f\n  x\nB\n f\n  x\n", ["@@ B", "@@ f", "-  x", "+  y"], "A\n f\n  x\nB\n f\n  y\n"],
    [
      "inner headers are looked for inside",
      "A\n f\n  x\nB\n f\n  x\n",
      ["@@ A", "@@ f", "+  y"],
      "A\n f\n  y\n  x\nB\n f\n  x\n",
    ],
    ["an ambiguous header does no harm to a single place", "f\na\nf\nb\n", ["@@ f", "-b"], "f\na\nf\n"],
  ] as const) {
    test(name, () => expect(apply(text, ...lines)).toBe(expected));
  }

  for (const [name, text, lines, reason] of [
    ["a header that is not there", "a\n", ["@@ nope", "-a"], { why: "header not found", header: "nope" }],
    [
      "a header that names part of a word",
      "classes\na\n",
      ["@@ class", "-a"],
      { why: "header not found", header: "class" },
    ],
    ["an inner header above the outer one", "f\nA\n", ["@@ A", "@@ f", "+x"], { why: "header not found", header: "f" }],
    ["a place above its header", "a\nb\n", ["@@ b", "-a"], { why: "header not found", header: "b" }],
    [
      "two places below a header in flat text",
      "h\nx\nx\n",
      ["@@ h", "-x"],
      { why: "several", lines: [2, 3], total: 2 },
    ],
    [
      "a header that stands twice, and two places",
      two,
      ["@@ let x;", "-  go(x);"],
      { why: "several", lines: [3, 8], total: 2 },
    ],
    [
      "a header that stands twice, and lines to add",
      two,
      ["@@ let x;", "+x"],
      { why: "several", lines: [2, 7], total: 2 },
    ],
  ] as const) {
    test(`${name} is refused`, () => expect(apply(text, ...lines)).toEqual({ hunk: 0, ...reason }));
  }
});

describe("the end of the file", () => {
  for (const [name, text, lines, expected] of [
    ["the last of two copies", "x\ny\nx\n", ["-x", "+z", "*** End of File"], "x\ny\nz\n"],
    ["lines are added at the end", "a\n", ["+b", "*** End of File"], "a\nb\n"],
    ["L7: without a final newline, an edit elsewhere adds none", "a\nb", ["-a", "+A"], "A\nb"],
    ["L7: a replaced last line gets none", "a\nb", ["-b", "+B"], "a\nB"],
    ["a longer end has none either", "a\nb", [" a", "-b", "+B", "+C"], "a\nB\nC"],
    ["a shorter end has none either", "a\nb\nc", ["-b", "-c", "+B"], "a\nB"],
    ["lines behind such a line begin on a line of their own", "a\nb", [" b", "+c", "+d"], "a\nb\nc\nd"],
    ["with CRLF too", "a\r\nb", ["+c", "*** End of File"], "a\r\nb\r\nc"],
    ["and when it is the only line", "a", ["+b", "*** End of File"], "a\nb"],
    ["a removed last line takes nothing else along", "a\nb", ["-b"], "a\n"],
    ["removed by one hunk and added by the next", "a\nb", ["@@", "-b", "@@", "+c", "*** End of File"], "a\nc"],
  ] as const) {
    test(name, () => expect(apply(text, ...lines)).toBe(expected));
  }

  test("old lines that stand elsewhere are not at the end", () => {
    expect(apply("a\nb\n", "-a", "*** End of File")).toEqual({ hunk: 0, why: "not found", oldLines: ["a"] });
  });
});

describe("line ends and bytes", () => {
  for (const [name, text, lines, expected] of [
    ["L1, L11: CRLF stays", "a\r\nb\r\nc\r\n", [" a", "-b", "+B", "+C", " c"], "a\r\nB\r\nC\r\nc\r\n"],
    ["L2: every line keeps its own end", "a\nb\r\nc\nd\r\n", ["-b", "-c", "+B", "+C"], "a\nB\r\nC\nd\r\n"],
    ["L3: added lines take the end of the line above", "a\r\nb\nc\r\n", [" b", "+x"], "a\r\nb\nx\nc\r\n"],
    ["before the first line, that of the line below", "a\r\nb\n", ["+x", " a"], "x\r\na\r\nb\n"],
    ["L4: a lone CR is part of its line", "a\rb\nc\n", ["-c", "+C"], "a\rb\nC\n"],
    ["L4: a file of CR has lines", "a\rb\rc", ["-b", "+B", "+C"], "a\rB\rC\rc"],
    ["L9: trailing whitespace in new lines are kept", "a\nb\n", ["-a", "+A  ", "+"], "A  \n\nb\n"],
    ["X8: undecoded bytes stay where they are", "a\udc80\nb\n", ["-b", "+B"], "a\udc80\nB\n"],
    ["half of a pair is no undecoded byte", "💀\nb\n", [" 💀", "-b"], "💀\n"],
  ] as const) {
    test(name, () => expect(apply(text, ...lines)).toBe(expected));
  }

  for (const asked of ["a\udc80", "a\ufffd", "a"]) {
    test(`an undecoded byte is not ${JSON.stringify(asked)}`, () =>
      expect(apply("a\udc80\nb\n", `-${asked}`)).toMatchObject({ why: "not found" }));
  }
});

describe("looser steps", () => {
  for (const [name, text, lines, matchedBy, expected] of [
    ["exact", "a\r\n", ["-a", "+b"], "exact", "b\r\n"],
    ["kept lines keep their blanks", "a  \nb\n", [" a", "-b", "+B"], "trailing whitespace", "a  \nB\n"],
    ["a changed line keeps its blanks", "let a;  \n", ["-let a;", "+let b;"], "trailing whitespace", "let b;  \n"],
    ["a new line does not inherit blanks", "a  \n", ["-a", "+x"], "trailing whitespace", "x\n"],
    ["blanks of the call only", "a\nb\n", [" a  ", "-b", "+B"], "trailing whitespace", "a\nB\n"],
    ["a line of blanks is an empty line", "a\n \t\nb\n", [" a", " ", "-b"], "trailing whitespace", "a\n \t\n"],
    ["kept lines keep their quotes", "“a”\nb\n", [' "a"', "-b"], "look-alikes", "“a”\n"],
    [
      "a changed line keeps its quotes",
      "say(“it’s”, 1)\n",
      ['-say("it\'s", 1)', '+say("it\'s", 2)'],
      "look-alikes",
      "say(“it’s”, 2)\n",
    ],
    ["no-break spaces and dashes", "a\u00a0b – c\nd\n", [" a b - c", "-d"], "look-alikes", "a\u00a0b – c\n"],
    ["the loosest of all hunks is told", "‘a’\nb\nc \n", ["@@", "-'a'", "@@", "-b", "@@", "-c"], "look-alikes", ""],
    ["an exact place goes before a looser one", "x  \nx\n", ["-x", "+y"], "exact", "x  \ny\n"],
  ] as const) {
    test(name, () => {
      const answer = applyHunks(text, hunksOf(lines));
      expect(answer).toMatchObject({ applied: "yes", matchedBy });
      if (answer.applied === "yes") expect(changed(text, answer.changes)).toBe(expected);
    });
  }

  for (const [name, text, lines] of [
    ["trailing whitespace", "x \ny\nx  \n", ["-x"]],
    ["look-alikes", "‘x’\n‛x‛\n", ["-'x'"]],
    ["exact lines, with a looser copy", "x\nx\nx \n", ["-x"]],
  ] as const) {
    test(`two places by ${name} are refused`, () =>
      expect(apply(text, ...lines)).toMatchObject({ why: "several", total: 2 }));
  }
});

describe("what is there already", () => {
  const line = "const answer = 42;";
  for (const [name, text, lines] of [
    ["a replacement", "a\nb\nc\n", [" a", "-b", `+${line}`, " c"]],
    ["a replacement that begins as before", "a\nb\n", ["-a", "+a", `+${line}`]],
    ["lines below context", "a\nb\n", [" a", `+${line}`]],
    ["lines above context", "a\nb\n", [`+${line}`, " b"]],
    ["lines below context with other blanks", "a  \nb\n", [" a", `+${line}`]],
    ["lines between context", "a\nb\n", [" a", `+${line}`, " b"]],
    ["lines below a header", "a\nb\n", ["@@ a", `+${line}`]],
    ["lines at the end", "a\nb\n", [`+${line}`, "*** End of File"]],
    ["a removal", "first line\ngone\nlast line\n", [" first line", "-gone", " last line"]],
  ] as const) {
    test(`${name}: a second time is refused`, () => {
      const once = apply(text, ...lines);
      expect(once).toBeTypeOf("string");
      expect(apply(String(once), ...lines)).toMatchObject({ hunk: 0, why: "already" });
    });
  }

  test("look-alikes as the edit itself", () => {
    expect(apply("a\n‘x’\n", "-'x'", "+‘x’")).toEqual({ hunk: 0, why: "already", line: 2 });
  });

  test("a few letters prove nothing", () => {
    expect(apply("a\n}\n", "-b", "+}")).toMatchObject({ why: "not found" });
    expect(apply("a\n\nb\n", " a", "+")).toBe("a\n\n\nb\n");
  });
});

/** A line of a text is removed or kept, and these lines are added after it. */
interface Op {
  readonly text: string;
  readonly end: string;
  readonly goes: boolean;
  readonly adds: readonly string[];
}

/** A patch made of the changes, each with up to `context` lines around it; hunks may share context. */
function patchFor(ops: readonly Op[], context: number): readonly string[] {
  const touched = ops.flatMap(({ goes, adds }, at) => (goes || adds.length > 0 ? [at] : []));
  const lines: string[] = [];
  let previous = -1;
  for (let index = 0; index < touched.length; ) {
    const first = touched[index] ?? 0;
    let last = first;
    while ((touched[index] ?? Infinity) <= last + 1) last = touched[index++] ?? 0;
    lines.push("@@");
    // A line that only gets lines added after it is context.
    for (let at = Math.max(previous + 1, first - context); at <= Math.min(ops.length - 1, last + context); at += 1) {
      const op = ops[at];
      if (op === undefined || (at > last && touched.includes(at))) break;
      lines.push((op.goes ? "-" : " ") + op.text, ...op.adds.map((added) => `+${added}`));
    }
    previous = last;
  }
  return lines;
}

/** The expected text, line by line. */
function outcome(ops: readonly Op[], lineEnd: string): string {
  const open = ops.at(-1)?.end === "";
  const all = ops.flatMap(({ text, end, goes, adds }) => [
    ...(goes ? [] : [{ text, end, own: true }]),
    ...adds.map((added) => ({ text: added, end: end || lineEnd, own: false })),
  ]);
  return all
    .map(({ text, end, own }, at) => {
      const last = at === all.length - 1;
      return text + (last && (own ? end === "" : open) ? "" : end || lineEnd);
    })
    .join("");
}

/** Most lines stay unchanged. */
const opsOf = (texts: fc.Arbitrary<string>, ends: fc.Arbitrary<string>): fc.Arbitrary<Op[]> =>
  fc
    .array(
      fc.record({
        text: texts,
        end: ends,
        goes: fc.boolean(),
        adds: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(texts, { maxLength: 3 })),
        still: fc.integer({ min: 0, max: 3 }),
      }),
      { minLength: 1, maxLength: 25 },
    )
    .map((ops) => ops.map(({ still, ...op }) => (still > 0 ? { ...op, goes: false, adds: [] } : op)));

describe("any patch", () => {
  const run = (ops: readonly Op[], context: number, open: boolean, lineEnd: string): [unknown, string] => {
    const last = ops.at(-1);
    // A single line without an ending does not show which ending the file uses.
    const all = open && last !== undefined && ops.length > 1 ? [...ops.slice(0, -1), { ...last, end: "" }] : ops;
    const text = all.map((op) => op.text + op.end).join("");
    const patch = patchFor(all, context);
    return [apply(text, ...patch), outcome(all, lineEnd)];
  };

  const worth = (ops: readonly Op[]): boolean => ops.some(({ goes, adds }) => goes || adds.length > 0);

  for (const lineEnd of ["\n", "\r\n"]) {
    test(`on lines that are all different gives the text that was meant, with ${JSON.stringify(lineEnd)}`, () => {
      fc.assert(
        fc.property(
          opsOf(fc.constantFrom("a", "b ", "\tc", "é"), fc.constant(lineEnd)).filter(worth),
          fc.integer({ min: 1, max: 3 }),
          fc.boolean(),
          (ops, context, open) => {
            const different = ops.map((op, at) => ({
              ...op,
              text: `${at}${op.text}`,
              adds: op.adds.map((add) => `+${add}`),
            }));
            const [result, expected] = run(different, context, open, lineEnd);
            expect(result).toBe(expected);
          },
        ),
        { numRuns: 1_000 },
      );
    });
  }

  test("on mixed line ends leaves every kept line as it was", () => {
    fc.assert(
      fc.property(
        opsOf(fc.constantFrom("a", "b "), fc.constantFrom("\n", "\r\n")).filter(worth),
        fc.integer({ min: 1, max: 3 }),
        (ops, context) => {
          const different = ops.map((op, at) => ({
            ...op,
            text: `${at}${op.text}`,
            // One for one, or after a line that stays: then the ending of a new line is unambiguous.
            adds: (op.goes ? op.adds.slice(0, 1) : op.adds).map((add) => `+${add}`),
          }));
          const alone = different.map((op, at) => {
            const before = different[at - 1];
            return before?.goes === true || (before?.adds.length ?? 0) > 0 ? { ...op, goes: false, adds: [] } : op;
          });
          fc.pre(worth(alone));
          const [result, expected] = run(alone, context, false, "\n");
          expect(result).toBe(expected);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test("on lines that repeat finds the right place or none", () => {
    let applied = 0;
    fc.assert(
      fc.property(
        opsOf(fc.constantFrom("x", "y", " x", "", "x "), fc.constant("\n")).filter(worth),
        fc.integer({ min: 1, max: 3 }),
        (ops, context) => {
          const [result, expected] = run(ops, context, false, "\n");
          if (typeof result === "string") {
            applied += 1;
            expect(result).toBe(expected);
          } else expect(result).toHaveProperty("why", "several");
        },
      ),
      { numRuns: 3_000 },
    );
    expect(applied).toBeGreaterThan(300);
  });
});

describe("P8: large texts", () => {
  test("a line in 10 MB, and one that is not there", () => {
    const text = Array.from({ length: 200_000 }, (_, at) => `line number ${at} of a text, with a tail to it\n`).join(
      "",
    );
    expect(apply(text, "-needle", "+x")).toMatchObject({ why: "not found" });
    expect(apply(text, "-line number 150000 of a text, with a tail to it", "+x")).toBeTypeOf("string");
  });

  test("four times the text is four times the work, for a line that is not there and for equal lines", async () => {
    const numbered = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at}\n`).join("");
    await growsLikeItsInput(20_000, numbered, (text) => apply(text, "-needle", "+x"));
    const equal = (count: number): { readonly text: string; readonly hunks: ReturnType<typeof hunksOf> } => ({
      text: "x\n".repeat(count),
      hunks: hunksOf([...Array.from({ length: count / 100 }, () => " x"), "-y"]),
    });
    await growsLikeItsInput(50_000, equal, ({ text, hunks }) => applyHunks(text, hunks));
  });

  test("equal lines without end", () => {
    const hunk = hunksOf([...Array.from({ length: 50_000 }, () => " x"), "-y"]);
    // Comparing every place in full would take 2.5 * 10^11 line comparisons.
    expect(applyHunks("x\n".repeat(5_000_000), hunk)).toMatchObject({ why: "not found" });
  });
});

test("places are the same with and without the index of many searches", () => {
  const line = fc.constantFrom("a", "b", "a ", "\u2014", "-", "c");
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 30 }),
      fc.array(line, { minLength: 1, maxLength: 4 }),
      fc.nat(10),
      (all, wanted, from) => {
        for (const step of steps) {
          const [fresh, searched] = [textLines(all.join("\n")), textLines(all.join("\n"))];
          for (let search = 0; search < 20; search += 1) finish(findPlaces(searched, ["c"], 0, step));
          expect(searched.index(step)).toBeDefined();
          expect(finish(findPlaces(searched, wanted, from, step))).toEqual(
            finish(findPlaces(fresh, wanted, from, step)),
          );
        }
      },
    ),
  );
});

test("four times the hunks are four times the work", async () => {
  const made = (count: number) => ({
    text: Array.from({ length: 2 * count }, (_, at) => `line ${at}\n`).join(""),
    hunks: hunksOf(Array.from({ length: count }, (_, at) => ["@@", `-line ${2 * at}`, `+LINE ${2 * at}`]).flat()),
  });
  await growsLikeItsInput(2_000, made, ({ text, hunks }) => expect(applyHunks(text, hunks).applied).toBe("yes"));
});

test("a hunk that repeats its old lines in its new ones is linear work", async () => {
  const made = (count: number) => ({
    text: "needle in the hay\n".repeat(count),
    hunks: hunksOf([
      ...Array.from({ length: count }, () => " needle in the hay"),
      ...Array.from({ length: count }, () => "+needle in the hay"),
    ]),
  });
  await growsLikeItsInput(1_000, made, ({ text, hunks }) => applyHunks(text, hunks));
});
