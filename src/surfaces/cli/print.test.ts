import { expect, test } from "vitest";
import { jsonLine } from "./print.ts";

test("a line of JSON holds no character that acts on a terminal, and says the same", () => {
  const controls = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).join("");
  const value = { [controls]: [controls, "é\u2028 \ufffd 😀"] };
  const line = jsonLine(value);
  expect(JSON.parse(line)).toEqual(value);
  expect(line.endsWith("\n")).toBe(true);
  // oxlint-disable-next-line no-control-regex
  expect(line.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
});
