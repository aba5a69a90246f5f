/**
 * A match that fails in a long text, and one that is found loosely, does its work in steps that are short whatever the text is. Steps
 * are counted, not timed: each number is at least one step for every 65,536 characters that a pass folds, compares or replaces.
 */

import { expect, test } from "vitest";
import { finish, type Steps } from "../steps.ts";
import { alreadyAt } from "./already-applied.ts";
import { matchIn } from "./match.ts";
import { nearestRegion } from "./nearest.ts";
import { sharedLines } from "./rewrite.ts";
import { sourceOf } from "./source.ts";

function stepsOf(steps: Steps<unknown>): number {
  let count = 0;
  while (steps.next().done !== true) count += 1;
  return count;
}

const quotes = "\u201ca\u201d ".repeat(100_000);
const accents = "e\u0301".repeat(200_000);
const escapes = "a\\n".repeat(150_000);
const lines = (name: string): readonly string[] => Array.from({ length: 1_500 }, (_, at) => `${name} ${at % 700}`);

for (const [what, steps, least] of [
  ["the lines that two texts of 1,500 lines share", () => sharedLines(lines("a"), lines("a").toReversed()), 20],
  [
    "the nearest text to a long line with curly quotes",
    () => nearestRegion(sourceOf(`${quotes}x\n`), `${quotes.replaceAll(/[\u201c\u201d]/g, '"')}y`),
    12,
  ],
  [
    "a place inside a long line of combined letters",
    () => matchIn(sourceOf(`${accents}x\n`), { oldText: "\u00e9x", newText: "y", all: false }),
    60,
  ],
  [
    "a long line of combined letters that changes at its end",
    () =>
      matchIn(sourceOf(`${accents}x\n`), {
        oldText: `${"\u00e9".repeat(200_000)}x`,
        newText: `${"\u00e9".repeat(200_000)}y`,
        all: false,
      }),
    100,
  ],
  [
    "a long text of escapes that were written twice",
    () => matchIn(sourceOf("b\n"), { oldText: escapes, newText: `${escapes}b`, all: false }),
    150,
  ],
  [
    "a long text that is there already",
    () => alreadyAt(sourceOf(`word ${quotes}\n`), `word ${quotes}x`, `word ${quotes}`, 1),
    25,
  ],
] as const) {
  test(`${what}: in many steps`, () => {
    expect(stepsOf(steps())).toBeGreaterThanOrEqual(least);
  });
}

test("letters and accents of a long line are found at their offsets, as in a short one", () => {
  for (const count of [3, 50_000]) {
    const matched = finish(
      matchIn(sourceOf(`${"e\u0301".repeat(count)}x\n`), { oldText: "\u00e9x", newText: "y", all: false }),
    );
    expect(matched).toMatchObject({ found: "yes", places: [{ from: 2 * count - 2, to: 2 * count + 1 }] });
  }
});
