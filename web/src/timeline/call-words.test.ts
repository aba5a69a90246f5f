import { expect, test } from "vitest";
import type { CallInfo } from "../../../src/surfaces/inspector/wire.ts";
import { outcomeWords, rangeWords } from "./call-words.ts";
import { matches, noFilter } from "./filter.ts";

const call: CallInfo = {
  type: "call",
  id: 1,
  workspace: "filehand",
  kept: true,
  process: null,
  session: "s1",
  principal: null,
  client: null,
  dialect: "claude",
  tool: "Read",
  verb: "read",
  path: "src/Index.ts",
  real: "/w/src/Index.ts",
  pattern: null,
  range: { of: "lines", from: 1, to: 2_000, total: 9_431 },
  outcome: "ok",
  reason: null,
  startedMs: 0,
  elapsedMs: 1,
  tokensGiven: 10,
  tokensSaved: 0,
  changes: [],
  changesTotal: 0,
  dryRun: false,
  turn: null,
};

test("a range says what it is of", () => {
  expect(rangeWords(call)).toBe("lines 1–2,000 of 9,431");
  expect(rangeWords({ ...call, range: { of: "pages", from: 3, to: 3, total: null } })).toBe("page 3");
  expect(rangeWords({ ...call, range: { of: "lines", from: 900, to: null, total: null } })).toBe("line 900…");
  expect(rangeWords({ ...call, range: null })).toBe("");
});

test("an outcome says what came of it", () => {
  expect(outcomeWords(call)).toBe("ok");
  expect(outcomeWords({ ...call, outcome: "NO_MATCH", dryRun: true })).toBe("NO_MATCH, dry run");
});

test("the stream is filtered as the server filters", () => {
  expect(matches(call, noFilter)).toBe(true);
  expect(matches(call, { ...noFilter, path: "INDEX" })).toBe(true);
  expect(matches(call, { ...noFilter, path: "lib" })).toBe(false);
  expect(matches({ ...call, path: null, real: null }, { ...noFilter, path: "x" })).toBe(false);
  // The server looks at the real path and at what was changed, too.
  expect(matches({ ...call, path: null }, { ...noFilter, path: "index" })).toBe(true);
  const change = {
    path: "/w/b.ts",
    relative: "b.ts",
    did: "created",
    movedFrom: null,
    additions: 1,
    deletions: 0,
  } as const;
  expect(matches({ ...call, path: null, real: null, changes: [change] }, { ...noFilter, path: "B.TS" })).toBe(true);
  expect(matches(call, { ...noFilter, errors: true })).toBe(false);
  expect(matches(call, { ...noFilter, session: "s2" })).toBe(false);
  expect(matches(call, { ...noFilter, tool: "Read", session: "s1" })).toBe(true);
});
