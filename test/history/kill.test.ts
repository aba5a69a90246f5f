/**
 * A process that edits, rewinds, compacts and collects is killed at any moment, again and again, on one store. What it
 * had acknowledged must be there: its turn, its old content, and files that are one version or another, never between.
 * `npm run test:history` is the long run: FILEHAND_HISTORY_ROUNDS sets the number of rounds.
 */

import { deepEqual, ok } from "node:assert/strict";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import { afterAll, beforeAll, test } from "vitest";
import { openFileStore } from "../../src/state/state.ts";
import { contentsOf, storyOf } from "../../src/history/snapshots.ts";
import { workspace } from "../support/workspace.ts";
import { type Bed, blobFiles, makeBed } from "./bed.ts";
import { accountOf, checkFiles, createKiller, type Files } from "./killing.ts";
import { buildChild, type Child } from "./program.ts";

const rounds = Number(process.env["FILEHAND_HISTORY_ROUNDS"] ?? 50);
const { path: place } = workspace({});
let child: Child;
const killer = createKiller(() => child.path);
beforeAll(async () => {
  child = await buildChild();
});
afterAll(() => {
  killer.close();
  child.remove();
});

/** For the long run: what a thousand rounds came to. */
const tally = { rounds: 0, acknowledged: 0, takenBack: 0, collections: 0, contents: 0 };
afterAll(() => {
  if (rounds > 50) process.stdout.write(`killed: ${JSON.stringify({ ...tally, fell: killer.fell })}\n`);
});

const textsOf = (bed: Bed): Files =>
  Object.fromEntries(Object.entries(bed.tree()).map(([name, shown]) => [name, shown.slice(4)]));

/** While nobody else is at work: all that is needed is there, once, and nothing else. */
async function collectAll(bed: Bed): Promise<void> {
  await bed.history.gc({ graceMs: 0 });
  const needed = new Set(contentsOf(storyOf(openFileStore({ folder: bed.store }).records("one").entries)));
  const there = blobFiles(bed.store).map((file) => nodePath.basename(file).replace(/\.br$/u, ""));
  deepEqual(there.toSorted(), [...needed].toSorted(), "no content that nobody needs, none missing");
  for (const folder of ["drafts", "packs", "trash"]) {
    const left = fs.existsSync(`${bed.store}/${folder}`) ? fs.readdirSync(`${bed.store}/${folder}`) : [];
    deepEqual(left, [], folder);
  }
  tally.collections += 1;
  tally.contents += needed.size;
}

test(`killed ${rounds} times, it loses nothing that it had acknowledged`, {
  timeout: 120_000 + rounds * 4_000,
}, async () => {
  const top = place("bed");
  let start: Files = {};
  // One hand for the whole run, which finds the store as the killed ones leave it; what it packs is taken apart with it.
  const hand = makeBed(top, { snapshotsMax: 10 });
  killer.prepare(["change", top, "-", "r0"]);
  for (let round = 0; round < rounds; round += 1) {
    const words = await killer.kill(round);
    if (round + 1 < rounds) killer.prepare(["change", top, "-", `r${round + 1}`]);
    const account = accountOf(words, start);
    const bed = makeBed(top, { snapshotsMax: 10 });
    deepEqual((await bed.history.verify()).faults, [], `round ${round}`);
    const story = storyOf(openFileStore({ folder: bed.store }).records("one").entries);
    const known = new Set(
      story.steps.flatMap((step) => (step.type === "turn" ? [step.messageId] : [])).concat(story.pruned),
    );
    for (const turn of account.turns) ok(known.has(turn), `round ${round}: ${turn} is known`);
    // The hand of the bed writes beside the file before it renames; the real one is swept, see session-kill.test.ts.
    for (const name of fs.readdirSync(bed.at("."))) if (name.endsWith(".swap")) fs.unlinkSync(bed.at(name));
    checkFiles(textsOf(bed), account, `round ${round}`);
    if (account.lastEdit !== undefined) {
      const { turn, before } = account.lastEdit;
      const steps = await hand.rewind(turn, { id: `r${round}-check` });
      for (const [name, { does }] of Object.entries(steps)) {
        ok(["restore", "delete", "create", "nothing"].includes(does), `round ${round}: ${name}: ${does}`);
      }
      deepEqual(textsOf(bed), before, `round ${round}: as before ${turn}`);
      tally.takenBack += 1;
    }
    if (round % 20 === 19) await collectAll(hand);
    start = textsOf(bed);
    tally.rounds += 1;
    tally.acknowledged += account.turns.length;
  }
  const { edit, rewind, gc } = killer.fell;
  const enough = Math.floor(rounds / 20);
  ok(edit >= enough && rewind >= 2 * enough && gc >= enough, `killed in the middle: ${JSON.stringify(killer.fell)}`);
  await collectAll(hand);
  await hand.rewind("start", { id: "to the beginning" });
  deepEqual(hand.tree(), {});
});
