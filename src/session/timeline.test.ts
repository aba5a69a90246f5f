import { expect, test } from "vitest";
import type { CallDetail, CallEvent } from "../contract/event.ts";
import { createTimeline } from "./timeline.ts";

const event = (id: number, more: Partial<CallEvent> = {}): CallEvent => ({
  type: "call",
  id,
  session: "s",
  principal: null,
  client: null,
  dialect: "claude",
  tool: "Read",
  verb: "read",
  path: "a",
  real: "/ws/a",
  pattern: null,
  range: null,
  outcome: "ok",
  reason: "text",
  startedMs: id,
  elapsedMs: 1,
  tokensGiven: 2,
  tokensSaved: 1,
  changes: [],
  changesTotal: 0,
  dryRun: false,
  turn: null,
  ...more,
});

const detail = (text: string): CallDetail => ({
  input: { text },
  reply: { content: [{ type: "text", text }], structured: null, isError: false },
  diffs: [],
});

test("the newest calls stay, and the newest details as long as there is room", () => {
  const timeline = createTimeline({ callsMax: 3, bytesMax: 500 });
  for (let id = 5; id < 12; id += 1) timeline.record(event(id), detail("x".repeat(50)));
  expect([...timeline.calls()].map(({ id }) => id)).toEqual([9, 10, 11]);
  expect([...timeline.newestFirst()].map(({ id }) => id)).toEqual([11, 10, 9]);
  expect([...timeline.newestFirst(10)].map(({ id }) => id)).toEqual([9]);
  expect([...timeline.newestFirst(5)]).toEqual([]);
  expect([timeline.size, timeline.dropped]).toEqual([3, 4]);
  expect(timeline.call(8)).toBeUndefined();
  expect(timeline.bytes).toBeLessThanOrEqual(500);
  expect([9, 10, 11].map((id) => timeline.has(id))).toEqual([false, true, true]);
  expect(String(timeline.detail(11))).toBe(JSON.stringify(JSON.parse(String(timeline.detail(11)))));
  expect(timeline.detail(9)).toBe("dropped");
});

test("one detail that is too large by itself takes no other's place", () => {
  const timeline = createTimeline({ bytesMax: 400 });
  timeline.record(event(1), detail("small"));
  timeline.record(event(2), detail("x".repeat(1_000)));
  expect([timeline.has(1), timeline.detail(2)]).toEqual([true, "too large"]);
});

test("what JSON has no words for is left out of the arguments, not the reply", () => {
  const timeline = createTimeline();
  const input: Record<string, unknown> = {};
  input["self"] = input;
  timeline.record(event(1), { ...detail("the reply"), input });
  expect(JSON.parse(String(timeline.detail(1)))).toMatchObject({
    input: null,
    reply: { content: [{ text: "the reply" }] },
  });
});

test("sums outlive the calls; sessions and marks are as many as there is room for", () => {
  const timeline = createTimeline({ callsMax: 2, sessionsMax: 2, filesMax: 2 });
  for (const [index, session] of ["a", "b", "a", "c"].entries()) {
    const changes = session === "b" ? [change("/ws/b")] : [];
    timeline.record(event(index + 1, { session, real: `/ws/${session}`, changes }), detail(""));
  }
  timeline.record(event(5, { session: "c", outcome: "NOT_FOUND", real: "/ws/d" }), detail(""));
  expect(timeline.ever()).toEqual({ calls: 5, failures: 1, tokensGiven: 10, tokensSaved: 5 });
  expect(timeline.sessions().map(({ id, calls, failures }) => [id, calls, failures])).toEqual([
    ["c", 2, 1],
    ["a", 2, 0],
  ]);
  expect([...timeline.marks().keys()]).toEqual(["/ws/a", "/ws/c"]);
});

const change = (path: string) =>
  ({ path, relative: path, did: "updated", movedFrom: null, additions: 1, deletions: 0 }) as const;

test("10,000 calls with long replies take no more than was allowed", () => {
  const timeline = createTimeline({ bytesMax: 100_000 });
  const long = "y".repeat(3_000);
  for (let id = 1; id <= 12_000; id += 1) timeline.record(event(id), detail(long.slice(id % 1_000)));
  expect([timeline.size, timeline.dropped]).toEqual([10_000, 2_000]);
  expect(timeline.bytes).toBeLessThanOrEqual(100_000);
});
