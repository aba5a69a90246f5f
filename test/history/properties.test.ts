/** Random histories: whatever we and others did, going back gives what was, and nothing of others is lost. */

import { deepEqual, equal, ok } from "node:assert/strict";
import * as fs from "node:fs";
import * as fc from "fast-check";
import { describe, test } from "vitest";
import { workspace } from "../support/workspace.ts";
import { type Bed, blobFiles, makeBed } from "./bed.ts";

const { path: place } = workspace({});
let beds = 0;
const fresh = (options = {}): Bed => makeBed(place(`bed-${(beds += 1)}`), options);

const names = ["a", "b", "c", "d"] as const;
const name = fc.constantFrom(...names);
const text = fc.integer({ min: 0, max: 5 }).map((n) => `${n}\n`.repeat(n));

type Step =
  | { readonly does: "turn" | "tidy" | "gc" }
  | { readonly does: "write" | "stranger writes"; readonly name: string; readonly text: string }
  | { readonly does: "remove" | "stranger removes"; readonly name: string }
  | { readonly does: "move"; readonly name: string; readonly to: string };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Step>({ does: "turn" }) },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ does: "tidy" }, { does: "gc" }) },
  { weight: 6, arbitrary: fc.record({ does: fc.constant("write" as const), name, text }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("remove" as const), name }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("move" as const), name, to: name }) },
);
const strangers: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ does: fc.constant("stranger writes" as const), name, text }),
  fc.record({ does: fc.constant("stranger removes" as const), name }),
);

interface Played {
  /** By turn: the tree when it began, and what each file was before our first change in it or later. */
  readonly turns: {
    readonly id: string;
    readonly tree: Record<string, string>;
    readonly base: Map<string, string | undefined>;
  }[];
}

/** Plays the steps; `onTouch` hears of every change of a stranger. */
async function play(
  bed: Bed,
  steps: readonly Step[],
  onStranger: (name: string) => void = () => undefined,
): Promise<Played> {
  const turns: Played["turns"] = [];
  const begin = async (): Promise<void> => {
    const id = `m${turns.length}`;
    turns.push({ id, tree: bed.tree(), base: new Map() });
    await bed.turn(id);
  };
  const touch = (file: string): void => {
    const now = bed.tree()[file];
    for (const { base } of turns) if (!base.has(file)) base.set(file, now);
  };
  await begin();
  for (const one of steps) {
    const there = "name" in one && fs.existsSync(bed.at(one.name));
    switch (one.does) {
      case "turn":
        await begin();
        break;
      case "tidy":
        await bed.session.tidy();
        break;
      case "gc":
        await bed.history.gc({ graceMs: 0 });
        break;
      case "write":
        touch(one.name);
        await bed.write(one.name, one.text);
        break;
      case "remove":
        if (!there) break;
        touch(one.name);
        await bed.remove(one.name);
        break;
      case "move":
        if (!there || fs.existsSync(bed.at(one.to))) break;
        touch(one.to);
        touch(one.name);
        await bed.move(one.name, one.to);
        break;
      case "stranger writes":
        onStranger(one.name);
        fs.writeFileSync(bed.at(one.name), `theirs\n${one.text}`);
        break;
      case "stranger removes":
        if (there) onStranger(one.name);
        fs.rmSync(bed.at(one.name), { force: true });
        break;
    }
  }
  return { turns };
}

const pick = <Value>(list: readonly Value[], at: number): Value => {
  const value = list[at % list.length];
  ok(value !== undefined);
  return value;
};

describe("random histories", () => {
  test("without other programs a rewind restores the exact tree, and undoing it the current one", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.nat(), async (steps, at) => {
        const bed = fresh();
        const { turns } = await play(bed, steps);
        const now = bed.tree();
        const turn = pick(turns, at);
        await bed.rewind(turn.id, { id: "back" });
        deepEqual(bed.tree(), turn.tree);
        if (bed.session.snapshots().some(({ messageId }) => messageId === "back"))
          await bed.rewind("back", { id: "forth" });
        deepEqual(bed.tree(), now);
        deepEqual((await bed.history.verify()).faults, []);
      }),
      { numRuns: 120 },
    );
  });

  test("changes by other programs are kept, everything else is restored", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ weight: 3, arbitrary: step }, strangers), { maxLength: 25 }),
        fc.nat(),
        async (steps, at) => {
          const bed = fresh();
          /** How many turns there were when a stranger last touched a file. */
          const touched = new Map<string, number>();
          let turnsSoFar = 0;
          const { turns } = await play(
            bed,
            steps.filter((one) => one.does !== "gc"),
            (file) => touched.set(file, turnsSoFar++),
          );
          const now = bed.tree();
          const turn = pick(turns, at);
          const planned = await bed.rewind(turn.id, { id: "back" });
          const after = bed.tree();
          for (const file of names) {
            if (!turn.base.has(file)) equal(after[file], now[file], `${file} was not ours to touch`);
            else if (!touched.has(file)) equal(after[file], turn.base.get(file), `${file} goes back`);
            else if (planned[file]?.does === "conflict") equal(after[file], now[file], `${file} is left alone`);
            else equal(after[file], turn.base.get(file), `${file} goes back, with no conflict`);
            // Whatever was overwritten can be had again.
            if (now[file]?.includes("theirs") && after[file] !== now[file]) ok(planned[file]?.does !== "nothing");
          }
          if (Object.values(planned).some(({ does }) => ["restore", "create", "delete"].includes(does))) {
            await bed.rewind("back", { id: "forth" });
          }
          deepEqual(bed.tree(), now);
        },
      ),
      { numRuns: 120 },
    );
  });

  test("pruning keeps the way to the beginning, and gc keeps every content that is needed and no other", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 40 }),
        fc.integer({ min: 0, max: 4 }),
        async (steps, snapshotsMax) => {
          const bed = fresh({ snapshotsMax });
          fs.writeFileSync(bed.at("a"), "from before");
          const before = bed.tree();
          const { turns } = await play(bed, steps);
          await bed.history.gc({ graceMs: 0 });
          const listed = bed.session.snapshots();
          ok(listed.length <= snapshotsMax);
          const { faults, contents } = await bed.history.verify();
          deepEqual(faults, []);
          const files = blobFiles(bed.store);
          equal(files.length, contents);
          for (const { id, base } of turns) {
            if (base.size === 0) continue;
            const { found } = await bed.plan(id);
            if (listed.some(({ messageId }) => messageId === id)) equal(found, "turn");
          }
          await bed.rewind("start", { id: "back" });
          deepEqual(bed.tree(), before);
        },
      ),
      { numRuns: 80 },
    );
  });
});
