import { expect, test } from "vitest";
import { searchFaultIn, sortComplaints, typesIn } from "./grep.ts";

const parseError = (pattern: string, pointer: string, message: string): string =>
  `rg: regex parse error:\n    (?:${pattern})\n    ${pointer}\nerror: ${message}\n`;

test("files that cannot be read are counted, the rest is told apart", () => {
  const text = "rg: ./a: Permission denied (os error 13)\nrg: ./b\nc: Permission denied (os error 13)\n";
  const none = () => false;
  expect(sortComplaints(text, false, none)).toEqual({ unreadable: { number: 2, counted: "all" }, rest: "rg: ./b" });
  expect(sortComplaints(text, true, none).unreadable.counted).toBe("at least");
});

test("but not those that are hidden, whatever their names hold", () => {
  for (const name of ["a", "sub/a: b", "a\nb", "a (os error 13)b"]) {
    const text = `rg: ./${name}: Permission denied (os error 13)\nrg: ./c: Permission denied (os error 13)\n`;
    expect([name, sortComplaints(text, false, (path) => path === name).unreadable.number]).toEqual([name, 1]);
  }
});

for (const [name, complaint, pattern, expected] of [
  [
    "a brace",
    parseError("foo{bar", "       ^", "repetition quantifier expects a valid decimal"),
    "foo{bar",
    { at: 5, message: "repetition quantifier expects a valid decimal", remedy: "escape braces" },
  ],
  ["a parenthesis", parseError("(", "^", "unclosed group"), "(", { at: undefined, remedy: "escape" }],
  [
    "look-around",
    parseError("(?=x)", "   ^^^", "look-around, including look-ahead and look-behind, is not supported"),
    "(?=x)",
    { at: 1, remedy: "no look-around" },
  ],
  [
    "a line end",
    'rg: the literal "\\n" is not allowed in a regex\n\nConsider enabling multiline mode',
    "a\\nb",
    { remedy: "several lines", message: 'the literal "\\n" is not allowed in a regex' },
  ],
  [
    "a pattern that is too large",
    "rg: compiled regex exceeds size limit of 104857600",
    "a{99999}",
    { message: "compiled regex exceeds size limit of 104857600", remedy: undefined },
  ],
] as const) {
  test(`${name} is a fault of the pattern`, () => {
    expect(searchFaultIn(complaint, pattern)).toMatchObject({ of: "pattern", why: "engine", pattern, ...expected });
  });
}

test("an unknown type is told by its name, and what is no fault of the caller is none", () => {
  expect(searchFaultIn("rg: unrecognized file type: tz", "x")).toEqual({ of: "unknown type", type: "tz" });
  expect(searchFaultIn("rg: something else", "x")).toBeUndefined();
});

test("the list of types is read", () => {
  expect(typesIn("ada: *.adb, *.ads\nc++: *.C\n")).toEqual(["ada", "c++"]);
});
