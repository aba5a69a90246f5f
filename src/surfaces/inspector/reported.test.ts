import { expect, test } from "vitest";
import type { CallEvent } from "../../contract/event.ts";
import { reportIn } from "./report-socket.ts";

const event: CallEvent = {
  type: "call",
  id: 1,
  session: "s",
  principal: null,
  client: null,
  dialect: "claude",
  tool: "Edit",
  verb: "edit",
  path: "a.txt",
  real: "/w/a.txt",
  pattern: null,
  range: { of: "lines", from: 1, to: null, total: null },
  outcome: "ok",
  reason: null,
  startedMs: 1,
  elapsedMs: 0.5,
  tokensGiven: 10,
  tokensSaved: 0,
  changes: [{ path: "/w/a.txt", relative: "a.txt", did: "updated", movedFrom: null, additions: 1, deletions: 0 }],
  changesTotal: 1,
  dryRun: false,
  turn: null,
};
const hunk = { oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ["-a", "+b"] };
const detail = {
  input: { anything: [1] },
  reply: { content: [{ type: "text", text: "ok" }], structured: null, isError: false },
  diffs: [{ hunks: [hunk], complete: true }],
};
const question = { permission: "edit", patterns: ["/w/a.txt"], always: [], keep: ["session"], metadata: { diff: "x" } };
const hello = { type: "hello", key: "k", workspace: "w", roots: ["/w"], pid: 1, program: "mcp" };
const ask = { type: "ask", id: 1, session: "s", principal: null, tool: "Edit", question };

const said = (value: unknown) => reportIn(JSON.stringify(value));

for (const [what, value] of [
  ["a greeting", hello],
  ["a call with its detail", { type: "call", event, detail }],
  ["a call after a bug, without a reply", { type: "call", event, detail: { input: null, diffs: [] } }],
  ["a call without its detail", { type: "call", event, detail: "too large" }],
  [
    "a call with a picture",
    { type: "call", event, detail: withPart({ type: "image", data: "AA", mimeType: "image/png" }) },
  ],
  ["a question", ask],
  ["a question that nobody waits for any more", { type: "cancel", id: 1 }],
  // What a later version adds hurts nobody.
  ["a call with a field more", { type: "call", event: { ...event, later: 1 }, detail }],
] as const) {
  test(`${what} is understood`, () => expect(said(value)).toEqual(value));
}

for (const [what, value] of [
  ["nothing", null],
  ["a list", []],
  ["another type", { type: "toString" }],
  ["no program", { ...hello, program: "sh" }],
  ["roots that are none", { ...hello, roots: [1] }],
  ["a call without an event", { type: "call", detail }],
  ["a time that is none", { type: "call", event: { ...event, startedMs: 1e300 }, detail }],
  ["a number below zero", { type: "call", event: { ...event, tokensGiven: -1 }, detail }],
  ["a text without an end", { type: "call", event: { ...event, session: "x".repeat(10_000) }, detail }],
  ["too many changes", { type: "call", event: { ...event, changes: Array(1_001).fill(event.changes[0]) }, detail }],
  ["a change of no kind", { type: "call", event: { ...event, changes: [{ ...event.changes[0], did: "x" }] }, detail }],
  ["a part of no kind", { type: "call", event, detail: withPart({ type: "html", text: "x" }) }],
  ["a hunk without lines", { type: "call", event, detail: { ...detail, diffs: [{ hunks: [{}], complete: true }] } }],
  ["no reason for no detail", { type: "call", event, detail: "hidden" }],
  ["a question about nothing", { ...ask, question: { ...question, patterns: "x" } }],
  ["a question of no kind", { ...ask, question: { ...question, permission: "run" } }],
] as const) {
  test(`${what} is not understood`, () => expect(said(value)).toBeUndefined());
}

test("what an object has by birth is no field of it", () => {
  const { type: _, ...rest } = hello;
  expect(reportIn(`{"__proto__":{"type":"hello"},${JSON.stringify(rest).slice(1)}`)).toBeUndefined();
});

function withPart(part: object): object {
  return { ...detail, reply: { ...detail.reply, content: [part] } };
}
