import { describe, expect, test } from "vitest";
import { madeBy, sessionTitle } from "../../dialects/dialects.ts";
import { namedSessions, type SessionSummary, sessionsOfAgent, workspaceAround } from "./whose.ts";

const session = (id: string, client?: string, roots: readonly string[] = ["/w"]): SessionSummary => ({
  id,
  client,
  roots,
  dialect: "claude",
  startedMs: new Date(2026, 10, 18, 14, 2, 30).getTime(),
  lastMs: 0,
  turns: 1,
});
const own = "cli-0f3a9c21b4d7";
const today = new Date(2026, 10, 18, 23, 59).getTime();
const tomorrow = new Date(2026, 10, 19, 0, 1).getTime();

describe("the title of a session", () => {
  for (const [what, one, nowMs, title] of [
    ["its client and when it began", session("mcp-1", "Claude Code"), today, "Claude Code, 14:02"],
    ["with the day if that is another", session("mcp-1", "Codex"), tomorrow, "Codex, 2026-11-18 14:02"],
    ["a person's commands have no beginning", session(own, "command line"), today, "command line"],
    ["also those of earlier versions", session(own), today, "command line"],
    ["a client without a name", session("mcp-0123456789abcdef"), today, "MCP client, 14:02"],
    ["a session that only has an id", session("agent 1\u001b"), today, "agent 1\\x1b"],
    ["a name that would hide itself", session("x", "a\u202eb\n"), today, "a\\u202eb\\n, 14:02"],
    ["a name without end", session("x", "n".repeat(1_000)), today, `${"n".repeat(59)}…, 14:02`],
  ] as const) {
    test(what, () => expect(sessionTitle(one, nowMs)).toBe(title));
  }

  test("messages name a few, with their ids", () => {
    const many = Array.from({ length: 7 }, (_, at) => session(`mcp-${at}`, "Codex"));
    expect(namedSessions(many, today)).toMatch(/^Codex, 14:02 \(mcp-0\); .*\(mcp-4\); and 2 more$/);
    expect(namedSessions([session("agent")], today)).toBe("agent");
  });
});

test("a turn was made by tools, by a shell command, or by going back", () => {
  const turn = { tools: ["Edit", "Write"], title: undefined, rewinds: undefined };
  expect(madeBy(turn)).toBe("Edit, Write");
  expect(madeBy({ ...turn, tools: ["observed"] })).toBe("another program");
  expect(madeBy({ ...turn, title: "rm -rf src\u001b[2K" })).toBe("$ rm -rf src\\x1b[2K");
  expect(madeBy({ ...turn, title: "x".repeat(500) })).toBe(`$ ${"x".repeat(59)}…`);
  expect(madeBy({ ...turn, tools: ["Rewind"], rewinds: { to: "m", as: "undo" } })).toBe("undo");
});

describe("an agent's sessions", () => {
  const here = [
    session("1", "Claude Code"),
    session("2", "Codex"),
    session("3", "Claude Code"),
    session("4"),
    session("5", "Continue"),
  ];
  for (const [asked, ids] of [
    ["Claude Code", ["1", "3"]],
    ["claude-code", ["1", "3"]],
    ["claude", ["1", "3"]],
    ["CODEX", ["2"]],
  ] as const) {
    test(asked, () => expect(sessionsOfAgent(asked, here).map(({ id }) => id)).toEqual(ids));
  }
  for (const [asked, words] of [
    ["Gemini", '"Gemini": here are changes of "Claude Code", "Codex", "Continue"'],
    ["co", '"Codex", "Continue" begin so, give more of the name'],
    ["-", '"-": here are changes of'],
  ] as const) {
    test(`${asked} is refused`, () => expect(() => sessionsOfAgent(asked, here)).toThrow(words));
  }
  test("where no program gave its name", () =>
    expect(() => sessionsOfAgent("x", [session("4")])).toThrow("nothing is kept here of any program"));
});

describe("the workspace around a folder", () => {
  const agent = (...roots: readonly string[]) => session("mcp-1", "Codex", roots);
  const typed = (...roots: readonly string[]) => session(own, "command line", roots);
  for (const [what, cwd, sessions, tops, found] of [
    ["where an agent worked", "/w/src/a", [agent("/w")], [], "/w"],
    ["the nearest of two", "/w/src/a", [agent("/w"), agent("/w/src")], [], "/w/src"],
    ["commands typed in a subfolder do not cut it off", "/w/src", [agent("/w"), typed("/w/src")], [], "/w"],
    ["the top of a checkout", "/w/src", [typed("/w/lib")], ["/w"], "/w"],
    ["a checkout below an agent's folder", "/home/w/src", [agent("/home")], ["/home/w"], "/home/w"],
    ["a checkout in which nothing was changed", "/w/src", [agent("/other")], ["/w"], "/w/src"],
    ["without either, where commands were typed", "/w/src", [typed("/w")], [], "/w"],
    ["nothing is kept", "/w/src", [], [], "/w/src"],
    ["the folder itself", "/w", [agent("/w"), agent("/w/src")], [], "/w"],
    ["one of several roots", "/lib/x", [agent("/w", "/lib")], [], "/lib"],
  ] as const) {
    test(what, () =>
      expect(workspaceAround(cwd, sessions, (folder) => tops.some((top) => top === folder))).toBe(found),
    );
  }
});
