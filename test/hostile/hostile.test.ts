/**
 * Shapes that freeze, fill or end a process, run against every kind of input; see `shapes.ts` and `inputs.ts`. In `npm test` the
 * known samples and a few seeds of each input; `npm run test:hostile` goes on for as long as it is told to.
 */

import { afterAll, beforeAll, expect, test } from "vitest";
import { type Asked, buildHarness, type Harness, nominal, report } from "./harness.ts";
import { inputs } from "./inputs.ts";

const given = JSON.parse(process.env["FILEHAND_HOSTILE"] ?? "{}") as {
  readonly minutes?: number;
  readonly seed?: number;
  readonly cases?: number;
  readonly input?: string;
  readonly known?: string;
};
const names = Object.keys(inputs).filter((name) => given.input === undefined || given.input === name);
const { minutes, seed = 1, cases } = given;

/** Random cases of an input in the usual run: fewer where one takes seconds. */
const slow = ["docx", "xlsx", "pptx", "outline"];
const casesOf = (input: string): number => cases ?? (slow.includes(input) ? 2 : 5);

function* chosen(input: string): Generator<Asked> {
  for (const known of Object.keys(inputs[input]?.known ?? {})) {
    if (given.known === undefined ? given.cases !== 1 : given.known === known) yield { input, known, seed };
  }
  for (let count = 0; count < casesOf(input) && given.known === undefined; count += 1)
    yield { input, seed: seed + count };
}

/** Every input in turn, until the time is over. */
function* without(end: number): Generator<Asked> {
  for (const input of names) yield* chosen(input);
  for (let next = seed + 5; Date.now() < end; next += 1) for (const input of names) yield { input, seed: next };
}

let harness: Harness;
beforeAll(async () => {
  harness = await buildHarness();
});
afterAll(() => harness.remove());

if (minutes === undefined) {
  // A case takes less than 30 s, two run at once.
  const timeout = Math.max(180_000, (cases ?? 0) * 15_000);
  test.each(names)("no shape of %s freezes, fills or ends a process", { timeout }, async (input) => {
    const results = await harness.run(chosen(input), nominal);
    const said = report(results);
    process.stdout.write(`${said}\n`);
    expect(results.filter(({ fault }) => fault !== undefined).length, said).toBe(0);
  });
} else {
  test("no shape of any input freezes, fills or ends a process", { timeout: (minutes + 5) * 60_000 }, async () => {
    const end = Date.now() + minutes * 60_000;
    const results = await harness.run(without(end), nominal, end);
    const said = report(results);
    process.stdout.write(`${said}\n`);
    expect(results.filter(({ fault }) => fault !== undefined).length, said).toBe(0);
  });
}
