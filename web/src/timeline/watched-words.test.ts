import { expect, test } from "vitest";
import { watchedWords } from "./watched-words.ts";

const mcp = (pid: number) => ({ program: "mcp", pid }) as const;

for (const [processes, words] of [
  [[], "Watching this server; agents that run filehand mcp here join by themselves"],
  [[mcp(7)], "Watching this server and 1 other process: mcp 7"],
  [[mcp(1), mcp(2), mcp(3), mcp(4)], "Watching this server and 4 other processes: mcp 1, mcp 2, mcp 3, …"],
] as const) {
  test(`${processes.length} other processes`, () =>
    expect(watchedWords({ acceptsReports: true, processes })).toBe(words));
}

test("where nobody can be listened to, it says so", () => {
  expect(watchedWords({ acceptsReports: false, processes: [] })).toContain("this server only");
});
