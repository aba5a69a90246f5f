import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { itemsOf, memberNamed, membersOf, rootOf, sliceOf } from "./spans.ts";

const members = (text: string): readonly (readonly [string, string])[] =>
  membersOf(text, rootOf(text)).map(({ name, value }) => [name, sliceOf(text, value)]);
const items = (text: string): readonly string[] => itemsOf(text, rootOf(text)).map((item) => sliceOf(text, item));

describe("the members of an object", () => {
  for (const [name, text, found] of [
    ["none", " { } ", []],
    [
      "one of each kind",
      '{"a":1,"b":"x","c":[1,[2]],"d":{"e":{}},"f":null,"g":-1.5e+3}',
      [
        ["a", "1"],
        ["b", '"x"'],
        ["c", "[1,[2]]"],
        ["d", '{"e":{}}'],
        ["f", "null"],
        ["g", "-1.5e+3"],
      ],
    ],
    [
      "blanks everywhere",
      '\r\n{\t"a" :\n1 ,\r\n "b": [ ] \n}\n',
      [
        ["a", "1"],
        ["b", "[ ]"],
      ],
    ],
    [
      "brackets and quotes inside of strings",
      '{"a":"]}\\"{[","b":"\\\\","c":"\\\\\\""}',
      [
        ["a", '"]}\\"{["'],
        ["b", '"\\\\"'],
        ["c", '"\\\\\\""'],
      ],
    ],
    ["an escaped name is the name that is meant", '{"\\u0061":1}', [["a", "1"]]],
    [
      "a name that is there twice",
      '{"a":1,"a":2}',
      [
        ["a", "1"],
        ["a", "2"],
      ],
    ],
    ["behind a byte order mark", '\ufeff{"a":1}', [["a", "1"]]],
    ["a list has none", "[1]", []],
  ] as const)
    test(name, () => expect(members(text)).toEqual(found));
});

test("of a name that is there twice the last counts", () => {
  const text = '{"a":1,"a":2}';
  expect(memberNamed(membersOf(text, rootOf(text)), "a")?.value).toEqual({ from: 11, to: 12 });
});

describe("the items of a list", () => {
  for (const [name, text, found] of [
    ["none", "[ \n ]", []],
    ["some", '[1 , "a,]" ,{"b":[]},[ ]]', ["1", '"a,]"', '{"b":[]}', "[ ]"]],
    ["an object has none", '{"a":1}', []],
  ] as const)
    test(name, () => expect(items(text)).toEqual(found));
});

test("the parts of any value are its parts", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), fc.constantFrom(undefined, 1, "\t"), (json, indent) => {
      const value: unknown = JSON.parse(json);
      const text = JSON.stringify(value, undefined, indent);
      expect(sliceOf(text, rootOf(text))).toBe(text);
      if (Array.isArray(value)) expect(items(text).map((item) => JSON.parse(item))).toEqual(value);
      else if (typeof value === "object" && value !== null) {
        expect(members(text).map(([name, part]) => [name, JSON.parse(part)])).toEqual(Object.entries(value));
      }
    }),
  );
});

for (const [name, text] of [
  ["a million levels", `${"[".repeat(1e6)}${"]".repeat(1e6)}`],
  ["a million backslashes", `["${"\\\\".repeat(1e6)}","${'\\"'.repeat(1e6)}"]`],
  ["no end", '{"a":[{"b":"'],
  ["no value", '{"a":,]'],
  ["nothing", ""],
] as const) {
  test(`${name}: an answer comes, and soon`, () => {
    const root = rootOf(text);
    expect(root.to).toBeLessThanOrEqual(text.length);
    expect(itemsOf(text, root).length + membersOf(text.slice(0, 100), rootOf(text.slice(0, 100))).length).toBeLessThan(
      4,
    );
  });
}
