import { describe, expect, test } from "vitest";
import { type Claim, createCallQueue, type PathUse, type Place } from "./call-queue.ts";

const claim = (path: string, use: PathUse): Claim => ({ names: path.split("/").filter((name) => name !== ""), use });
const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Places in the order in which they were taken, and which of them may run. */
function queued(...calls: readonly (readonly Claim[])[]) {
  const queue = createCallQueue();
  const ready = new Set<number>();
  const places: Place[] = calls.map((claims, index) => {
    const place = queue.enter(() => claims);
    if (place.ready === undefined) ready.add(index);
    else void place.ready.then(() => ready.add(index));
    return place;
  });
  const running = async (): Promise<readonly number[]> => {
    for (let turn = 0; turn < 3; turn += 1) await soon();
    return [...ready].sort((a, b) => a - b);
  };
  return { queue, leave: (index: number) => places[index]?.leave(), running };
}

describe("two calls", () => {
  for (const [first, second, together] of [
    [claim("/w/a", "change"), claim("/w/a", "change"), false],
    [claim("/w/a", "change"), claim("/w/b", "change"), true],
    [claim("/w/a", "read"), claim("/w/a", "read"), false],
    [claim("/w/a", "read"), claim("/w/b", "read"), true],
    [claim("/w/a", "read"), claim("/w/a", "change"), false],
    [claim("/w/a", "change"), claim("/w", "search"), false],
    [claim("/w", "search"), claim("/w/a/deep/file", "change"), false],
    [claim("/w/src", "search"), claim("/w/docs/a", "change"), true],
    [claim("/w", "search"), claim("/w", "search"), true],
    [claim("/w", "search"), claim("/w/a", "read"), true],
    [claim("/w/folder", "change"), claim("/w/folder/a", "read"), false],
    [claim("/w/folder/a", "read"), claim("/w/folder", "change"), false],
    [claim("/w/fold", "change"), claim("/w/folder", "change"), true],
    [claim("", "change"), claim("/w/a", "read"), false],
    [claim("/w/a", "read"), claim("", "change"), false],
    [claim("/w/a", "change"), claim("", "search"), false],
  ] as const) {
    const say = ({ names, use }: Claim): string => `${use} of /${names.join("/")}`;
    test(`${say(first)}, then ${say(second)}: ${together ? "at the same time" : "one after the other"}`, async () => {
      const { leave, running } = queued([first], [second]);
      expect(await running()).toEqual(together ? [0, 1] : [0]);
      leave(0);
      expect(await running()).toEqual([0, 1]);
    });
  }
});

test("a call on several files waits for all of them, and calls behind it wait for it", async () => {
  const a = claim("/a", "change");
  const b = claim("/b", "change");
  const { leave, running } = queued([a], [b], [b, a], [a], [b]);
  expect(await running()).toEqual([0, 1]);
  leave(0);
  expect(await running()).toEqual([0, 1]);
  leave(1);
  expect(await running()).toEqual([0, 1, 2]);
  leave(2);
  expect(await running()).toEqual([0, 1, 2, 3, 4]);
});

test("a call that leaves before its turn lets nobody overtake those before it", async () => {
  const a = claim("/a", "change");
  const { leave, running } = queued([a], [a], [a]);
  leave(1);
  expect(await running()).toEqual([0]);
  leave(0);
  expect(await running()).toContain(2);
});

test("a call with the same file twice does not wait for itself", async () => {
  const { running } = queued([claim("/x", "change")], [claim("/a", "change"), claim("/a", "change")]);
  expect(await running()).toEqual([0, 1]);
});

test("a call that is alone is not asked for its paths, and the next one is asked for both", () => {
  const queue = createCallQueue();
  const asked: string[] = [];
  const enter = (name: string): Place =>
    queue.enter(() => {
      asked.push(name);
      return [claim(`/${name}`, "change")];
    });
  enter("a").leave();
  expect(asked).toEqual([]);
  enter("b");
  expect(enter("c").ready).toBeUndefined();
  expect(asked).toEqual(["b", "c"]);
  expect(enter("b").ready).toBeDefined();
});

test("leaving twice is leaving once", async () => {
  const a = claim("/a", "change");
  const { leave, running } = queued([a], [a], [a]);
  leave(0);
  leave(0);
  expect(await running()).toEqual([0, 1]);
});

test("20,000 calls on one file, and as many searches and changes around it, take steps in proportion to their number", async () => {
  const stepsOf = async (count: number): Promise<number> => {
    const queue = createCallQueue();
    let steps = 0;
    // The only operation that a call does per path is on its names; a list that is read counts the reads.
    const counted = (path: string, use: PathUse): Claim => {
      const names = path.split("/");
      return {
        get names() {
          steps += 1;
          return names;
        },
        use,
      };
    };
    const places: Place[] = [];
    for (let n = 0; n < count; n += 1) {
      places.push(queue.enter(() => [counted("w/a", "change")]));
      places.push(queue.enter(() => [counted("w", "search")]));
      places.push(queue.enter(() => [counted(`w/${n}`, "change")]));
    }
    let ran = 0;
    for (const place of places) {
      await place.ready;
      ran += 1;
      place.leave();
    }
    expect(ran).toBe(3 * count);
    return steps;
  };
  expect(await stepsOf(2_000)).toBeLessThanOrEqual(3 * 2_000);
  expect(await stepsOf(20_000)).toBeLessThanOrEqual(3 * 20_000);
}, 60_000);
