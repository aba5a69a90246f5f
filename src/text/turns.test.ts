import { deepEqual } from "node:assert/strict";
import { test } from "vitest";
import { shortNames } from "./turns.ts";

const shortened = (...ids: readonly string[]): readonly string[] => {
  const names = shortNames(ids);
  return ids.map((id) => names.get(id) ?? "");
};

test.each([
  ["an id of eight characters or fewer stays whole", ["a", "12345678"], ["a", "12345678"]],
  ["a longer one is cut to eight", ["1234567890"], ["12345678"]],
  ["as many more as tell two apart", ["12345678ab", "12345678cd"], ["12345678a", "12345678c"]],
  ["one that is the beginning of another stays whole", ["12345678", "123456789"], ["12345678", "123456789"]],
] as const)("%s", (_, ids, names) => {
  deepEqual(shortened(...ids), names);
});
