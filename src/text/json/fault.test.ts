import { describe, expect, test } from "vitest";
import { isCutOff } from "./fault.ts";

const call = JSON.stringify({ id: 1, tool: "Write", input: { a: [1, true, null, -2], content: "a \n \u0001 \\" } });

test("a call is cut off wherever it is cut", () => {
  for (let end = 1; end < call.length; end += 1) expect([end, isCutOff(call.slice(0, end))]).toEqual([end, true]);
});

describe("what is wrong otherwise is not", () => {
  for (const text of [
    "",
    "  ",
    "x",
    "{'a': 1}",
    '{"a": 1}}',
    '{"a": 1,}',
    '["\\x"]',
    '{"a": "line\nend',
    "[1 2]",
    "{]",
  ]) {
    test(JSON.stringify(text), () => expect(isCutOff(text)).toBe(false));
  }
});
