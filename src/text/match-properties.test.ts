import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TextChange } from "../contract/edit.ts";
import { foldText } from "./match/source.ts";
import { match } from "./match/match.ts";

function applied(text: string, changes: readonly TextChange[]): string {
  let result = "";
  let at = 0;
  for (const change of changes) {
    result += text.slice(at, change.from) + change.text;
    at = change.to;
  }
  return result + text.slice(at);
}

/** Lines of code with quotes, a dash, blanks and depth; every line of a text is another one by its number. */
const bodies = fc.constantFrom(
  (n: number) => `say${n}("hello ${n}") - it's`,
  (n: number) => `const value${n} = list[${n}] - 1;`,
  (n: number) => `if (ready${n}) return;`,
  (n: number) => `the word "x${n}" isn't long`,
);
const depths = fc.constantFrom("", "    ", "        ");

interface Case {
  readonly before: readonly string[];
  readonly old: readonly string[];
  readonly after: readonly string[];
  /** What becomes of each old line: kept, changed to another text, or dropped; and lines that come after it. */
  readonly plan: readonly { readonly fate: "keep" | "change" | "drop"; readonly added: boolean }[];
}

const cases: fc.Arbitrary<Case> = fc
  .record({
    lines: fc.array(fc.tuple(depths, bodies), { minLength: 5, maxLength: 14 }),
    from: fc.nat(3),
    plan: fc.array(
      fc.record({ fate: fc.constantFrom("keep" as const, "change" as const, "drop" as const), added: fc.boolean() }),
      { minLength: 2, maxLength: 6 },
    ),
  })
  .map(({ lines, from, plan }) => {
    const all = lines.map(([depth, body], at) => depth + body(at + 100));
    const length = Math.min(plan.length, all.length - from);
    return {
      before: all.slice(0, from),
      old: all.slice(from, from + length),
      after: all.slice(from + length),
      plan: plan.slice(0, length),
    };
  })
  .filter(({ plan, old }) => old.length >= 2 && plan.some((line) => line.fate !== "keep" || line.added));

/** What a line that is changed becomes, and what is inserted; without anything that a distortion would touch. */
const changed = (line: string, at: number) => `${/^ */.exec(line)?.[0] ?? ""}changed${at}();`;
const inserted = (at: number) => `    inserted${at}();`;

/** The new text for the old lines, and the file afterwards for the file's lines, by the same plan. */
function follow(plan: Case["plan"], lines: readonly string[], shift: (line: string) => string): readonly string[] {
  return plan.flatMap(({ fate, added }, at) => {
    const line = lines[at] ?? "";
    const own = fate === "keep" ? [line] : fate === "change" ? [shift(changed(line, at))] : [];
    return added ? [...own, shift(inserted(at))] : own;
  });
}

interface Distortion {
  /** The file's line for the call's. */
  readonly file: (line: string, at: number) => string;
  /** The line as it is sent, for old and for new text. */
  readonly call: (line: string, at: number) => string;
  /** A changed or inserted line in the file's style. */
  readonly shift: (line: string) => string;
  readonly steps: readonly string[];
  /** Only calls that end in a newline: what stands behind the last line is not theirs otherwise. */
  readonly wholeLines?: true;
}

const plain = (line: string) => line;
const curl = (line: string) => line.replace(/"([^"]*)"/g, "“$1”").replaceAll("'", "’");
const tabbed = (line: string) => line.replaceAll("    ", "\t");
const distortions: Readonly<Record<string, Distortion>> = {
  "nothing at all": { file: plain, call: plain, shift: plain, steps: ["exact", "line ends"] },
  "curly quotes": { file: curl, call: plain, shift: plain, steps: ["exact", "line ends", "quotes"] },
  "no-break spaces": {
    file: (line) => line.replace(/(\S) (\S)/, "$1\u00a0$2"),
    call: plain,
    shift: plain,
    steps: ["exact", "line ends", "look-alikes"],
  },
  dashes: {
    file: (line) => line.replace(" - ", " – "),
    call: plain,
    shift: plain,
    steps: ["exact", "line ends", "look-alikes"],
  },
  "trailing whitespace in the call": {
    file: plain,
    call: (line) => `${line} `,
    shift: plain,
    steps: ["trailing whitespace"],
  },
  "trailing whitespace in the file": {
    file: (line) => `${line}  `,
    call: plain,
    shift: plain,
    steps: ["trailing whitespace"],
    wholeLines: true,
  },
  "a missing tab": {
    file: (line) => `\t${tabbed(line)}`,
    call: tabbed,
    shift: (line) => `\t${tabbed(line)}`,
    steps: ["indentation"],
  },
  "spaces for tabs": {
    file: (line) => tabbed(`    ${line}`),
    call: (line) => `    ${line}`,
    shift: (line) => tabbed(`    ${line}`),
    steps: ["indentation"],
  },
  "two blanks too many": { file: plain, call: (line) => `  ${line}`, shift: plain, steps: ["indentation"] },
};

describe("a distorted call does what it would have done", () => {
  for (const [name, distortion] of Object.entries(distortions)) {
    for (const end of ["\n", "\r\n"]) {
      test(`${name}, ${JSON.stringify(end)}`, () => {
        fc.assert(
          fc.property(cases, fc.boolean(), ({ before, old, after, plan }, closed) => {
            const fileLines = old.map(distortion.file);
            const tail = closed || distortion.wholeLines === true ? [""] : [];
            const file = [...before, ...fileLines, ...after, ""].join(end);
            const oldText = [...old.map(distortion.call), ...tail].join("\n");
            const newLines = follow(plan, old, plain);
            if (newLines.length === 0) return;
            const newText = [...newLines.map(distortion.call), ...tail].join("\n");
            const wanted = [...before, ...resultOf(plan, fileLines, old, distortion), ...after, ""].join(end);
            const found = match(file, { oldText, newText, all: false });
            expect(found.found).toBe("yes");
            if (found.found !== "yes") return;
            expect(distortion.steps).toContain(found.matchedBy);
            // Blanks that the call has at the end of an old line and of its new one are written or not, as much is left of it.
            const compared = (text: string): string =>
              name === "trailing whitespace in the call" ? text.replace(/ (?=\r?\n|$)/g, "") : text;
            expect(compared(applied(file, found.changes))).toBe(compared(wanted));
          }),
          { numRuns: 150 },
        );
      });
    }
  }

  test("pasted line numbers", () => {
    fc.assert(
      fc.property(
        cases,
        fc.constantFrom(
          (n: number) => `${n}→`,
          (n: number) => `${n}: `,
          (n: number) => `${String(n).padStart(5, "0")}| `,
          (n: number) => `  ${n} | `,
          (n: number) => `${n}\t`,
        ),
        ({ before, old, after, plan }, number) => {
          const file = [...before, ...old, ...after, ""].join("\n");
          const newLines = follow(plan, old, plain);
          if (newLines.length === 0) return;
          const numbered = (line: string, at: number) => number(before.length + 1 + at) + line;
          const oldText = old.map(numbered).join("\n");
          const found = match(file, { oldText, newText: newLines.map(numbered).join("\n"), all: false });
          expect(found).toMatchObject({ found: "yes", matchedBy: "line numbers" });
          if (found.found !== "yes") return;
          expect(applied(file, found.changes)).toBe([...before, ...newLines, ...after, ""].join("\n"));
        },
      ),
      { numRuns: 200 },
    );
  });
});

for (const every of [5, 10]) {
  test(`pasted numbers of every ${every}th line, and of the edges of a page`, () => {
    fc.assert(
      fc.property(cases, fc.boolean(), fc.boolean(), ({ before, old, after, plan }, top, bottom) => {
        const file = [...before, ...old, ...after, ""].join("\n");
        const newLines = follow(plan, old, plain);
        const numberAt = (at: number): number => before.length + 1 + at;
        const isEdge = (at: number): boolean => (top && at === 0) || (bottom && at === old.length - 1);
        const numbered = old.map((line, at) =>
          numberAt(at) % every === 0 || isEdge(at) ? `${numberAt(at)}\t${line}` : line,
        );
        if (numbered.every((line, at) => line === old[at])) return;
        const found = match(file, { oldText: numbered.join("\n"), newText: newLines.join("\n"), all: false });
        if (newLines.join("\n") === old.join("\n")) return;
        expect(found).toMatchObject({ found: "yes", matchedBy: "line numbers" });
        if (found.found !== "yes") return;
        const left = newLines.length === 0 ? [""] : newLines;
        expect(applied(file, found.changes)).toBe([...before, ...left, ...after, ""].join("\n"));
      }),
      { numRuns: 200 },
    );
  });
}

/** Kept lines with the file's bytes, all others as sent and shifted. */
function resultOf(
  plan: Case["plan"],
  fileLines: readonly string[],
  old: readonly string[],
  distortion: Distortion,
): readonly string[] {
  // Blanks at the end of what was sent are what was asked for; those of kept lines are the file's.
  const sent = distortion.steps.includes("trailing whitespace") ? distortion.call : plain;
  return plan.flatMap(({ fate, added }, at) => {
    const own =
      fate === "keep"
        ? [fileLines[at] ?? ""]
        : fate === "change"
          ? [sent(distortion.shift(changed(old[at] ?? "", at)), at)]
          : [];
    return added ? [...own, sent(distortion.shift(inserted(at)), at)] : own;
  });
}

describe("traps never apply", () => {
  const traps: Readonly<Record<string, (old: readonly string[]) => readonly string[]>> = {
    "a word off": (old) => old.map((line, at) => (at === 1 ? `${line} or` : line)),
    "a digit off": (old) => old.map((line, at) => (at === 1 ? line.replace(/\d/, "7") : line)),
    "case off": (old) => old.map((line, at) => (at === 1 ? line.toUpperCase() : line)),
    "a line missing": (old) => (old.length < 3 ? ["gone"] : [...old.slice(0, 1), ...old.slice(2)]),
    "a line invented": (old) => [...old.slice(0, 1), "invented();", ...old.slice(1)],
    "lines swapped": (old) => old.toReversed(),
    "a blank line invented": (old) => [...old.slice(0, 1), "", ...old.slice(1)],
    "blanks inside the line": (old) => old.map((line, at) => (at === 1 ? line.replace(/(\S) (?=\S)/, "$1  ") : line)),
    "one line deeper": (old) => old.map((line, at) => (at === 1 ? `   ${line}` : line)),
    "numbers out of sequence": (old) => old.map((line, at) => `${at * 2 + 1}→${line}`),
    "numbers on some lines": (old) => old.map((line, at) => (at === 0 ? line : `${at}→${line}`)),
    "one number among lines without, of another line": (old) =>
      old.map((line, at) => (at === 0 ? `999999${line.length % 10}\t${line}` : line)),
  };
  for (const [name, trap] of Object.entries(traps)) {
    test(name, () => {
      fc.assert(
        fc.property(cases, fc.constantFrom("\n", "\r\n"), ({ before, old, after }, end) => {
          const file = [...before, ...old, ...after, ""].join(end);
          const oldText = trap(old).join("\n");
          if (file.includes(oldText.replaceAll("\n", end))) return;
          expect(["no", "already"]).toContain(match(file, { oldText, newText: "other\nlines", all: false }).found);
        }),
        { numRuns: 150 },
      );
    });
  }

  for (const [name, distort] of [
    ["to the letter", plain],
    ["at another depth", (line: string) => `  ${line}`],
    ["with curly quotes", curl],
    ["with blanks at the end", (line: string) => `${line}  `],
  ] as const) {
    test(`two copies, ${name}`, () => {
      fc.assert(
        fc.property(cases, ({ before, old, after }) => {
          const copy = old.map((line) => distort(distort(line)));
          const file = [...before, ...copy, "between", ...copy, ...after, ""].join("\n");
          const found = match(file, { oldText: `${old.join("\n")}\n`, newText: "other\n", all: false });
          expect(found).toMatchObject({ found: "several", total: 2 });
        }),
        { numRuns: 100 },
      );
    });
  }
});

describe("whatever comes", () => {
  const unit = fc.constantFrom(
    ..."ab1 \t\n\r\"'“’–\u00a0e\u0301é\u200b…\\→:|".split(""),
    "\udc80",
    "\r\n",
    "\n    ",
    "😀",
    "😁",
    "\ufeff",
  );
  const texts = fc.string({ unit, maxLength: 60 });
  /** A call that is near the text: a part of it, folded or not. */
  const near = fc.tuple(texts, fc.nat(60), fc.nat(30), fc.boolean()).map(([text, from, length, folds]) => {
    const part = text.slice(from, from + length);
    return [text, folds ? foldText(part, "trailing whitespace", false) : part] as const;
  });

  test("bytes outside the places' lines stay, places fold to the old text, changes are in order", () => {
    fc.assert(
      fc.property(fc.oneof(near, fc.tuple(texts, texts)), texts, fc.boolean(), ([text, oldText], newText, all) => {
        if (oldText === "" || oldText === newText) return;
        const found = match(text, { oldText, newText, all });
        if (found.found === "no") {
          expect(found.nearest?.lines.length ?? 0).toBeLessThanOrEqual(8);
          return;
        }
        if (found.found !== "yes") return;
        expect(/\p{Cs}/u.test(oldText)).toBe(false);
        let end = 0;
        for (const place of found.places) {
          expect(place.from).toBeGreaterThanOrEqual(end);
          end = place.to;
          if (["exact", "line ends", "quotes", "look-alikes", "trailing whitespace"].includes(found.matchedBy)) {
            const loneReturns = !text.includes("\n");
            const form = (part: string) => foldText(part, "trailing whitespace", loneReturns).replace(/^\ufeff/, "");
            expect(form(text.slice(place.from, place.to))).toBe(form(oldText));
          }
        }
        let at = 0;
        for (const change of found.changes) {
          expect(change.from).toBeGreaterThanOrEqual(at);
          at = change.to;
          expect(found.places.some((place) => place.from <= change.from && change.to <= place.to)).toBe(true);
          expect(/\p{Cs}/u.test(text.slice(change.from, change.to))).toBe(false);
          expect(/\p{Cs}/u.test(change.text)).toBe(false);
        }
      }),
      { numRuns: 5_000 },
    );
  });
});
