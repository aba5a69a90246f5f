import { deepEqual, equal, rejects } from "node:assert/strict";
import { describe, test } from "vitest";
import { createQueue } from "./queue.ts";

const never = new AbortController().signal;

/** Runs everything that is ready. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("turns", () => {
  test("come in the order of the calls, one at a time", async () => {
    const queue = createQueue();
    const log: string[] = [];
    let inside = 0;
    const call = async (id: number): Promise<void> => {
      const leave = await queue.enter(["a"], never);
      inside += 1;
      equal(inside, 1);
      await settled();
      log.push(String(id));
      inside -= 1;
      leave();
    };
    await Promise.all([1, 2, 3, 4, 5].map(call));
    deepEqual(log, ["1", "2", "3", "4", "5"]);
    equal(queue.size, 0);
  });

  test("for different names do not wait for each other", async () => {
    const queue = createQueue();
    const leaveA = await queue.enter(["a"], never);
    const leaveB = await queue.enter(["b"], never);
    equal(queue.size, 2);
    leaveA();
    leaveB();
    equal(queue.size, 0);
  });

  test("for several names come when all are free, before all later callers", async () => {
    const queue = createQueue();
    const log: string[] = [];
    const enter = (id: string, names: readonly string[]): Promise<() => void> =>
      queue.enter(names, never).then((leave) => {
        log.push(id);
        return leave;
      });
    const first = await enter("a", ["a"]);
    const both = enter("a and b", ["b", "a", "b"]);
    const last = enter("b", ["b"]);
    await settled();
    deepEqual(log, ["a"]);
    first();
    await settled();
    deepEqual(log, ["a", "a and b"]);
    (await both)();
    (await last)();
    deepEqual(log, ["a", "a and b", "b"]);
    equal(queue.size, 0);
  });

  test("that are left twice are left once", async () => {
    const queue = createQueue();
    const leave = await queue.enter(["a"], never);
    const second = queue.enter(["a"], never);
    const third = queue.enter(["a"], never);
    leave();
    leave();
    const leaveSecond = await second;
    let thirdCame = false;
    void third.then(() => {
      thirdCame = true;
    });
    await settled();
    equal(thirdCame, false);
    leaveSecond();
    (await third)();
    equal(queue.size, 0);
  });
});

describe("a caller that is cancelled", () => {
  test("gets the reason, and those after it move up in order", async () => {
    const queue = createQueue();
    const stop = new AbortController();
    const leave = await queue.enter(["a", "b"], never);
    const cancelled = queue.enter(["a", "b"], stop.signal);
    const after = queue.enter(["b"], never);
    const reason = new Error("no longer wanted");
    stop.abort(reason);
    await rejects(cancelled, reason);
    leave();
    (await after)();
    equal(queue.size, 0);
  });

  test("before it came does not stand in line", async () => {
    const queue = createQueue();
    await rejects(queue.enter(["a"], AbortSignal.abort(new Error("before"))), /before/u);
    equal(queue.size, 0);
  });

  test("after its turn came keeps it", async () => {
    const queue = createQueue();
    const stop = new AbortController();
    const first = await queue.enter(["a"], never);
    const second = queue.enter(["a"], stop.signal);
    first();
    stop.abort(new Error("late"));
    const leave = await second;
    equal(queue.size, 1);
    leave();
    equal(queue.size, 0);
  });
});
