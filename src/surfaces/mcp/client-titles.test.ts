import { expect, test } from "vitest";
import { clientLimits } from "./client-limits.ts";
import { clientTitle } from "./client-titles.ts";

for (const [name, ownTitle, title] of [
  ["claude-code", undefined, "Claude Code"],
  ["codex-mcp-client", "Codex CLI 0.166", "Codex"],
  ["gemini-cli-mcp-client-filehand", undefined, "Gemini CLI"],
  ["gemini-cli-mcp-client", undefined, "Gemini CLI"],
  ["opencode", undefined, "opencode"],
  ["qwen-cli-mcp-client-filehand", undefined, "Qwen Code"],
  ["@cline/core", undefined, "Cline"],
  ["zed", "Zed", "Zed"],
  [" zed ", " ", "zed"],
  ["a\u202eb\u001b[2K\n", undefined, "a\\u202eb\\x1b[2K"],
  [`${"x".repeat(58)}😀y`, undefined, `${"x".repeat(58)}…`],
  ["x".repeat(1_000_000), undefined, `${"x".repeat(59)}…`],
  [7, {}, undefined],
  [null, null, undefined],
  [undefined, "Named", "Named"],
] as const) {
  test(`${JSON.stringify([name, ownTitle]).slice(0, 100)} is ${title}`, () =>
    expect(clientTitle(name, ownTitle)).toBe(title));
}

test("each client with a limit of its own has a title", () => {
  for (const { name } of clientLimits) expect(clientTitle(name.replace("*", "-x"), "unknown")).not.toBe("unknown");
});
