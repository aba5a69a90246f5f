import { equal } from "node:assert/strict";
import { test } from "vitest";
import { isExemptModel } from "./exempt-models.ts";

for (const [model, isExempt] of [
  ["claude-opus-4-6", true],
  ["claude-opus-4-6-20260205", true],
  ["claude-opus-4-6@20260205", true],
  ["claude-opus-4-6-2026-02-05", true],
  ["us.anthropic.claude-opus-4-6-20260205-v1:0", true],
  ["global.anthropic.claude-opus-4-6-v1", true],
  ["arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-6-v1:0", true],
  ["models/claude-opus-4-6", true],
  ["anthropic/claude-opus-4.6", true],
  ["openrouter/anthropic/claude-opus-4.6:thinking", true],
  ["anthropic:claude-opus-4-6-latest", true],
  ["projects/p/locations/l/publishers/anthropic/models/claude-opus-4-6@20260205", true],
  ["Claude-Opus-4-6[1m]", true],
  ["claude-opus-4-6-thinking-high", true],
  ["claude-opus-4-60", false],
  ["claude-opus-4-6-5", false],
  ["claude-opus-4-6-mini", false],
  ["claude-opus-4", false],
  ["claude-opus-4-20250514", false],
  ["not-claude-opus-4-6", false],
  ["claude-opus-4-6/other", false],
  ["", false],
  [undefined, false],
] as const) {
  test(`${model} is ${isExempt ? "" : "not "}exempt`, () => equal(isExemptModel(model), isExempt));
}

test("the list is what the settings say", () => {
  equal(isExemptModel("models/gemini-4-pro-preview", ["gemini-4-pro"]), true);
  equal(isExemptModel("claude-opus-4-6", ["gemini-4-pro"]), false);
  equal(isExemptModel("claude-opus-4-6", []), false);
  equal(isExemptModel("anything", ["", "x/"]), false);
});

test("a name of any length and shape is compared at once", () => {
  for (const part of ["-20260205", "a.", "-", "1.", "[a]", "-v1:"])
    equal(isExemptModel(`claude-opus-4-6${part.repeat(100_000)}!`), false);
});
