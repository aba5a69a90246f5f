/** A pattern means the same in Glob, LS, rules and ignore files, takes linear time, and agrees with a plain reference. */

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileRules } from "../../guard/rules.ts";
import { compileGlobs } from "../../search/grep-globs.ts";
import { parseGlob } from "./glob.ts";
import { type HiddenNames, startGlobState } from "./glob-state.ts";
import { compilePath, matchedPrefixes, readIgnoreRules } from "./ignore-rules.ts";
import { compileName, type Meter, type NameSyntax, testName } from "./name.ts";
import { finish } from "../steps.ts";

const rulesOf = (text: string) => finish(readIgnoreRules(text));

/** As Glob (`visible`) and LS (`all`) match. */
function byGlob(pattern: string, path: string, sight: HiddenNames = "visible"): boolean {
  const glob = parseGlob(pattern);
  if ("fault" in glob) throw new Error(glob.fault);
  const names = path.split("/");
  const file = names.pop() ?? "";
  let state: ReturnType<typeof startGlobState> | undefined = startGlobState(glob);
  for (const name of names) state = state?.enter(name, sight);
  return state?.accepts(file, sight) ?? false;
}

function byGrep(pattern: string, path: string): boolean {
  const globs = compileGlobs(pattern, "/elsewhere");
  if ("fault" in globs) throw new Error(globs.fault);
  return globs.matches(path);
}

/** A deny rule, anchored at the root, for the file alone. */
function byRule(pattern: string, path: string): boolean {
  const anchored = pattern.includes("/") ? `/${pattern}` : pattern;
  const rules = compileRules([{ verdict: "deny", text: `Read(${anchored})`, source: "test" }], { home: undefined });
  return rules.decide("read", [{ absolute: `/ws/${path}`, relative: path }]).verdict === "deny";
}

function byIgnoreFile(pattern: string, path: string): boolean {
  const names = path.split("/");
  const name = names.pop() ?? "";
  return rulesOf(pattern)?.judge(names, 0, name, "file") === "ignored";
}

/** The reference, plain and slow: tries every way to match the names of a path. */
function slowly(pattern: readonly string[], path: readonly string[]): boolean {
  const [part, ...parts] = pattern;
  if (part === undefined) return path.length === 0;
  if (part === "**") {
    if (parts.length === 0) return path.length > 0;
    return slowly(parts, path) || (path.length > 0 && slowly(pattern, path.slice(1)));
  }
  const [name, ...names] = path;
  return name !== undefined && slowName(Array.from(part), Array.from(name)) && slowly(parts, names);
}

/** `*`, `?` and `[ab]`, tried in every way. */
function slowName(pattern: readonly string[], name: readonly string[]): boolean {
  const [sign, ...rest] = pattern;
  if (sign === undefined) return name.length === 0;
  if (sign === "*") return slowName(rest, name) || (name.length > 0 && slowName(pattern, name.slice(1)));
  const [letter, ...letters] = name;
  if (letter === undefined) return false;
  if (sign !== "[") return (sign === "?" || sign === letter) && slowName(rest, letters);
  const end = rest.indexOf("]");
  const negated = rest[0] === "!";
  const isIn = rest.slice(negated ? 1 : 0, end).includes(letter);
  return isIn !== negated && slowName(rest.slice(end + 1), letters);
}

const part = fc
  .array(fc.constantFrom("a", "b", "*", "?", "[ab]", "[!a]", ".", "\u00e9"), { minLength: 1, maxLength: 4 })
  .map((pieces) => pieces.join("").replace(/\*+/g, "*"))
  .filter((name) => !/^\.{1,2}$/.test(name));
const pattern = fc
  .array(fc.oneof({ weight: 4, arbitrary: part }, fc.constant("**")), { minLength: 1, maxLength: 5 })
  .map((names) => names.join("/"))
  .filter((text) => text !== "**");
const path = fc
  .array(fc.stringMatching(/^[ab\u00e9][ab.\u00e9]{0,3}$/), { minLength: 1, maxLength: 5 })
  .map((names) => names.join("/"));

describe("one pattern means the same in Glob, Grep, LS, rules and ignore files", () => {
  const namesOf = (text: string): readonly string[] => (text.includes("/") ? text.split("/") : ["**", text]);

  test("and that is what a plain reference says", () => {
    fc.assert(
      fc.property(pattern, path, (text, against) => {
        const expected = slowly(namesOf(text), against.split("/"));
        const all = { glob: byGlob(text, against, "all"), grep: byGrep(text, against) };
        expect([text, against, all]).toEqual([text, against, { glob: expected, grep: expected }]);
        expect([text, against, byIgnoreFile(text, against)]).toEqual([text, against, expected]);
        // A rule also covers the content of a matching folder.
        const folders = against.split("/").map((_, at, names) => names.slice(0, at + 1));
        const covered = folders.some((names) => slowly(namesOf(text), names));
        expect([text, against, byRule(text, against)]).toEqual([text, against, covered]);
      }),
      { numRuns: 3_000 },
    );
  });

  for (const [text, file] of [
    ["app/[id]/page.ts", "app/[id]/page.ts"],
    ["app/[id]/*.ts", "app/[id]/page.ts"],
    ["app/[...slug]/*.ts", "app/[...slug]/page.ts"],
    ["app/(shop)/*.ts", "app/(shop)/page.ts"],
    ["app/[id]/page.ts", "app/i/page.ts"],
  ] as const) {
    test(`${text} finds ${file} in each`, () => {
      const found = { glob: byGlob(text, file), ls: byGlob(text, file, "all"), grep: byGrep(text, file) };
      expect({ ...found, rule: byRule(text, file) }).toEqual({ glob: true, ls: true, grep: true, rule: true });
    });
  }
});

describe("steps are counted: twice the pattern takes about twice as many, and so does twice the name", () => {
  const stepsOf = (text: string, name: string, syntax: NameSyntax["syntax"] = "glob"): number => {
    const compiled = compileName(text, { syntax });
    if ("fault" in compiled) throw new Error(compiled.fault);
    const meter: Meter = { steps: 0 };
    testName(compiled, name, meter);
    return meter.steps;
  };
  for (const [what, make] of [
    ["groups that repeat", (size: number) => `${"*(a|?|[a])".repeat(size)}Z`],
    ["stars and sets", (size: number) => `${"*[a]".repeat(size * 4)}Z`],
    [
      "choices",
      (size: number) =>
        `*(${Array(size * 20)
          .fill("a?")
          .join("|")})Z`,
    ],
    ["groups in groups", (size: number) => `${"*(".repeat(size)}a${"|b)".repeat(size)}Z`],
    ["what is excluded", (size: number) => `${"!(*(a|?)b)".repeat(size)}Z`],
    ["what is excluded from what is excluded", (size: number) => `${"!(!(a)?b)".repeat(size)}Z`],
  ] as const) {
    test(what, () => {
      const once = stepsOf(make(5), "a".repeat(100));
      expect(stepsOf(make(10), "a".repeat(100))).toBeLessThan(once * 3);
      expect(stepsOf(make(5), "a".repeat(200))).toBeLessThan(once * 3);
      expect(once).toBeLessThan(1_000_000);
    });
  }

  test("groups that exclude, in each other: a step is a set of positions, and a name has at most 255", () => {
    const name = "a".repeat(255);
    for (const text of [
      `${"+(".repeat(20)}*${")".repeat(20)}`,
      "!(*!(*!(*a*)*)*)",
      "*!(*!(*!(*!(*b*)*)*)*)",
      "+(!(*(a|?)+(?*(a*+(?)*a)!(*[a-z]?)+(a*+(?)*a))))*(a)",
    ]) {
      expect(stepsOf(text, name)).toBeLessThan(500_000);
    }
  });

  test("many ** in a line of gitignore", () => {
    const steps = (times: number, depth: number): number => {
      const compiled = compilePath(`${"*/**/".repeat(times)}*x`);
      if (compiled === undefined) throw new Error("it is a line");
      const meter: Meter = { steps: 0 };
      matchedPrefixes(compiled, [...Array<string>(depth).fill("a"), "b.txt"], "file", meter);
      return meter.steps;
    };
    expect(steps(20, 100)).toBeLessThan(steps(10, 100) * 3);
    expect(steps(10, 200)).toBeLessThan(steps(10, 100) * 3);
    expect(steps(10, 100)).toBeLessThan(20_000);
  });

  test("the lines of a hostile ignore file have a limit for each name", () => {
    const lines = Array.from({ length: 20_000 }, (_, at) => `*[ab]*[ab]*[ab]*${at}x`).join("\n");
    const meter: Meter = { steps: 0 };
    expect(rulesOf(lines)?.judge([], 0, "a".repeat(250), "file", meter)).toBeUndefined();
    expect(meter.steps).toBeLessThan(2_000_000);
  });

  test("lines that no name can match cost nothing: ? without end, and blanks before a letter", () => {
    const meter: Meter = { steps: 0 };
    for (const text of [`${"?".repeat(200_000)}x`, `${" ".repeat(60_000)}x`, `${"\\ ".repeat(30_000)}x`]) {
      rulesOf(text)?.judge([], 0, "n".repeat(200), "file", meter);
    }
    expect(meter.steps).toBeLessThan(100);
  });

  test("equal lines are kept once, and the last of them decides", () => {
    const rules = rulesOf(`${"a\n*.b\n[x]*\n".repeat(50_000)}!a\n!*.b\n![x]*\n`);
    for (const name of ["a", "c.b", "xy"]) expect(rules?.judge([], 0, name, "file")).toBe("kept");
  });
});
