import { equal, match } from "node:assert/strict";
import { describe, test } from "vitest";
import { callTitle, isToolOf, onlyLooks, ownToolRefusal, shellOutputOf } from "./client-tools.ts";

describe("tools of clients", () => {
  for (const [tool, isOurs] of [
    ["mcp__filehand__Read", true],
    ["mcp__plugin_filehand_filehand__Read", true],
    ["filehand_read", true],
    ["filehand.read", true],
    ["mcp__notfilehand__Read", false],
    ["filehand", false],
    ["Bash", false],
    ["", false],
  ] as const)
    test(`${tool} is ${isOurs ? "" : "not "}a tool of filehand`, () => equal(isToolOf("filehand", tool), isOurs));

  for (const [tool, input, title] of [
    ["Bash", { command: "rm x" }, "rm x"],
    ["shell", { command: ["bash", "-lc", "rm x"] }, "rm x"],
    ["shell", { command: ["rm", "-rf", "x"] }, "rm -rf x"],
    ["exec_command", { cmd: "ls" }, "ls"],
    ["Write", { file_path: "/w/a" }, "Write /w/a"],
    ["Task", undefined, "Task"],
    ["Bash", { command: 5 }, "Bash"],
  ] as const)
    test(`the title of ${tool} ${JSON.stringify(input)}`, () => equal(callTitle(tool, input), title));

  for (const [client, response, printed] of [
    ["claude-code", { stdout: "a\nb", stderr: "", interrupted: false }, "a\nb"],
    ["claude-code", { stdout: "x".repeat(30_001) }, undefined],
    ["codex", "a\n", "a\n"],
    ["codex", { output: "a" }, "a"],
    ["gemini", { llmContent: "Command: cat a\nDirectory: (root)\nOutput: a\nb\nExit Code: 0" }, "a\nb\nExit Code: 0"],
    ["qwen", { llmContent: "Command: cat a\nDirectory: .\nStdout: a\nStderr: (empty)" }, "a\nStderr: (empty)"],
    ["opencode", { output: 5 }, undefined],
    ["opencode", undefined, undefined],
  ] as const)
    test(`what ${client} shows of ${JSON.stringify(response)?.slice(0, 60)}`, () =>
      equal(shellOutputOf(client, response), printed));

  test("a client's own file tool is refused with the server's name, others are not", () => {
    match(
      ownToolRefusal("claude-code", "Read", "files") ?? "",
      /^Cannot use Read: .* MCP server files, use its tool to read/,
    );
    equal(ownToolRefusal("claude-code", "Bash", "files"), undefined);
    equal(ownToolRefusal("claude-code", "constructor", "files"), undefined);
    equal(onlyLooks("claude-code", "Grep"), true);
    equal(onlyLooks("claude-code", "Edit"), false);
  });
});
