import { expect, test } from "vitest";
import { type Origin, sessionKey } from "./caller.ts";

const all: Origin = {
  principal: "p",
  handle: "h",
  meta: { "io.github.filehand/session": "m", threadId: "t", sessionId: "s" },
  transportSession: "x",
  startedFor: "c",
  otherwise: "o",
};

for (const [what, origin, key] of [
  ["a header goes before all", {}, ["p", "handle", "h"]],
  ["then the request's own word", { handle: undefined }, ["p", "handle", "m"]],
  ["then the transport's session", { handle: undefined, meta: { threadId: "t" } }, ["p", "transport", "x"]],
  [
    "then the thread of Codex",
    { handle: undefined, meta: { threadId: "t", sessionId: "s" }, transportSession: undefined },
    ["p", "thread", "t"],
  ],
  [
    "then its session",
    { handle: undefined, meta: { sessionId: "s" }, transportSession: undefined },
    ["p", "thread", "s"],
  ],
  [
    "then what the process was started for",
    { handle: "", meta: {}, transportSession: undefined },
    ["p", "started for", "c"],
  ],
  [
    "then what all share",
    { handle: undefined, meta: undefined, transportSession: undefined, startedFor: undefined },
    ["p", "otherwise", "o"],
  ],
  [
    "a word that is no text is none",
    { handle: undefined, meta: { "io.github.filehand/session": 7 } },
    ["p", "transport", "x"],
  ],
  ["nor one that is too long", { handle: "h".repeat(257), meta: {} }, ["p", "transport", "x"]],
] as const) {
  test(what, () => expect(sessionKey({ ...all, ...(origin as Partial<Origin>) })).toBe(JSON.stringify(key)));
}

test("two principals never share a session, whatever they say", () => {
  const one = sessionKey({ principal: 'a","handle","x', otherwise: "o", handle: "h" });
  const other = sessionKey({ principal: "a", otherwise: "o", handle: 'x","handle","h' });
  expect(one).not.toBe(other);
});
