import { expect, test } from "vitest";
import { countCalls, scoring } from "../replay/score.ts";
import { isReplayResult } from "./replayed.ts";

async function result() {
  const [calls, score] = [countCalls(), scoring("Filehand")];
  calls.started("Codex");
  calls.shell(["remove"], true);
  score.read("refused", "NOT_FOUND");
  score.failure("not read", "applied");
  score.compared("Read", { written: 1, answered: 2 }, { written: 1, answered: 3 });
  return calls.result("1", "o200k", [await score.result(async () => 1)]);
}

test("what a replay prints is one", async () => {
  expect(isReplayResult(JSON.parse(JSON.stringify(await result())))).toBe(true);
});

test("no other value is one", async () => {
  const good = await result();
  for (const bad of [
    null,
    [],
    {},
    { ...good, replay: 2 },
    { ...good, scores: {} },
    { ...good, scores: [{}] },
    { ...good, calls: { ...good.calls, total: "1" } },
    { ...good, calls: { ...good.calls, notReplayed: { a: "x" } } },
    { ...good, compactions: -1 },
    { ...good, clients: Array.from({ length: 2_000 }, () => good.clients[0]) },
  ]) {
    expect(isReplayResult(bad)).toBe(false);
  }
});
