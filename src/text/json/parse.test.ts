import { describe, expect, test } from "vitest";
import { limits } from "../../contract/limits.ts";
import { parseJson } from "./parse.ts";

const max = limits.jsonContainersMax;
const keys = (count: number): string => `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join(",")}}`;

describe("JSON from outside", () => {
  for (const [name, text] of [
    ["lists in lists", `${"[".repeat(max + 1)}${"]".repeat(max + 1)}`],
    ["lists that are not closed", "[".repeat(max + 1)],
    ["objects beside each other", `[${"{},".repeat(max)}1]`],
    ["keys of one object", keys(limits.jsonKeysMax + 1)],
    ["keys of many objects", `[${keys(limits.jsonKeysMax / 2)},${keys(limits.jsonKeysMax + 1)}]`],
    ["levels that are few each time", `[${`${"[".repeat(50)}${"]".repeat(50)},`.repeat(max / 50)}1]`],
    ["parts after strings that end in backslashes", `["\\\\","\\"",${"[],".repeat(max)}1]`],
  ] as const) {
    test(`more ${name} than the limit are refused before they are parsed`, () =>
      expect(parseJson(text)).toEqual({ fault: "too many parts" }));
  }

  for (const [name, text] of [
    ["as many lists as the limit", `${"[".repeat(max)}${"]".repeat(max)}`],
    ["as many keys as the limit", `[${keys(limits.jsonKeysMax)},${keys(limits.jsonKeysMax)}]`],
    ["20,000 edits", JSON.stringify(Array.from({ length: 20_000 }, () => ({ old_string: "a", new_string: "{" })))],
    ["brackets and colons in a string", JSON.stringify(["[{:".repeat(max)])],
    ["escaped quotes before brackets in a string", JSON.stringify(['"['.repeat(max), "\\", "[".repeat(max)])],
    ["many plain values", `[${"1,".repeat(4 * max)}1]`],
  ] as const) {
    test(`${name} are parsed`, () => expect(Object.keys(parseJson(text))).toEqual(["value"]));
  }

  test("what is not JSON is said to be none, with the reason", () => {
    expect(parseJson("{")).toMatchObject({ fault: "not json", detail: expect.stringContaining("JSON") });
    expect(parseJson(`"${"\\".repeat(3 * max)}`)).toMatchObject({ fault: "not json" });
  });
});
