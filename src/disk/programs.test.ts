import { expect, test } from "vitest";
import { cleanEnvironment } from "./programs.ts";

test("what programs need to find themselves stays, all else goes", () => {
  const env = {
    PATH: "/bin",
    Path: "C:\\",
    HOME: "/h",
    LC_ALL: "C",
    SystemRoot: "C:\\Windows",
    GITHUB_TOKEN: "t",
    ANTHROPIC_API_KEY: "k",
    CLAUDE_CODE_MESSAGING_TOKEN: "m",
    NODE_OPTIONS: "--require ./evil.js",
    LD_PRELOAD: "evil.so",
    EMPTY: undefined,
  };
  expect(cleanEnvironment(env)).toEqual({
    PATH: "/bin",
    Path: "C:\\",
    HOME: "/h",
    LC_ALL: "C",
    SystemRoot: "C:\\Windows",
  });
});
