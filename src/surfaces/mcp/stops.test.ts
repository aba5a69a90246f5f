import { expect, test } from "vitest";
import { createStops } from "./lane.ts";

test("what was given back is used again, but nothing that was aborted", () => {
  const stops = createStops(1);
  const [first, second] = [stops.take(), stops.take()];
  expect(first).not.toBe(second);
  stops.giveBack(first);
  stops.giveBack(second); // there is room for one
  expect([stops.take(), stops.take()].map((stop) => [first, second].indexOf(stop))).toEqual([0, -1]);
  first.abort();
  stops.giveBack(first);
  const next = stops.take();
  expect([next === first, next.signal.aborted]).toEqual([false, false]);
});
