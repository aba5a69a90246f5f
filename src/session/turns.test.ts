import { expect, test } from "vitest";
import { createTurns } from "./turns.ts";

test("who came first is first, however long it takes", async () => {
  const turns = createTurns();
  const order: number[] = [];
  const calls = [30, 0, 10].map(async (ms, index) => {
    const ticket = turns.take(["a"]);
    await new Promise((resolve) => setTimeout(resolve, ms));
    await ticket.ready;
    order.push(index);
    ticket.release();
  });
  await Promise.all(calls);
  expect(order).toEqual([0, 1, 2]);
});

test("other files do not wait", async () => {
  const turns = createTurns();
  turns.take(["a"]);
  await expect(turns.take(["b"]).ready).resolves.toBeUndefined();
});

test("several files wait for all of them", async () => {
  const turns = createTurns();
  const [a, b] = [turns.take(["a"]), turns.take(["b"])];
  let isReady = false;
  const both = turns.take(["b", "a"]);
  void both.ready.then(() => (isReady = true));
  a.release();
  await new Promise((resolve) => setImmediate(resolve));
  expect(isReady).toBe(false);
  b.release();
  await both.ready;
  expect(isReady).toBe(true);
});
