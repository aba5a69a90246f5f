import { expect, test } from "vitest";
import { canonical, digestOf } from "./approvals.ts";

for (const [value, text] of [
  [{ b: 1, a: [true, null, "x"] }, '{"a":[true,null,"x"],"b":1}'],
  [{ a: undefined, b: { d: 1, c: 2 } }, '{"b":{"c":2,"d":1}}'],
  [undefined, "null"],
  ["\u2028", '"\u2028"'],
] as const) {
  test(`${text} has one spelling`, () => expect(canonical(value)).toBe(text));
}

test("the order of keys changes no digest, a value does", () => {
  expect(digestOf({ a: 1, b: 2 })).toBe(digestOf({ b: 2, a: 1 }));
  expect(digestOf({ a: 1, b: 2 })).not.toBe(digestOf({ a: 1, b: 3 }));
  expect(digestOf(["ab", "c"])).not.toBe(digestOf(["a", "bc"]));
});
