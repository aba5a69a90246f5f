import { expect, test } from "vitest";
import type { Reply } from "../../contract/call.ts";
import { resultOf } from "./tool-call.ts";

const plain = { structured: false, bytesMax: 1_048_576 };
const reply: Reply = { content: [{ type: "text", text: "one" }], structured: { a: 1 }, isError: false };

test("by default a result is its content and nothing else", () => {
  expect(resultOf(reply, "Read", plain)).toEqual({ content: [{ type: "text", text: "one" }] });
});

test("what programs read comes along for those who ask", () => {
  expect(resultOf(reply, "Read", { ...plain, structured: true })).toEqual({
    content: [{ type: "text", text: "one" }],
    structuredContent: { a: 1 },
  });
  expect(resultOf({ ...reply, structured: null }, "Read", { ...plain, structured: true })).not.toHaveProperty(
    "structuredContent",
  );
});

test("a failure says so, and its code stands beside it", () => {
  const failed: Reply = { ...reply, isError: true, error: { code: "NOT_FOUND", message: "one" } };
  expect(resultOf(failed, "Read", plain)).toEqual({
    content: [{ type: "text", text: "one" }],
    isError: true,
    _meta: { "io.github.filehand/code": "NOT_FOUND" },
  });
});

for (const [what, text] of [
  ["letters", "x".repeat(1_048_576)],
  ["letters that take six bytes each in JSON", "\0".repeat(180_000)],
  ["letters that take three bytes each", "→".repeat(360_000)],
] as const) {
  test(`${what} above the limit become a refusal that says what to do`, () => {
    const result = resultOf({ ...reply, content: [{ type: "text", text }] }, "Read", plain);
    expect(result).toMatchObject({ isError: true, _meta: { "io.github.filehand/code": "TOO_LARGE" } });
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(1_000);
  });
}

test("if only the part for programs is too much, the model keeps its text", () => {
  const large: Reply = { ...reply, structured: { a: "x".repeat(1_100_000) } };
  expect(resultOf(large, "Read", { ...plain, structured: true })).toEqual({ content: [{ type: "text", text: "one" }] });
});
