/**
 * A process that edits and rewinds through the library is killed at any moment, again and again. Files are one version
 * or another, never between; what it had acknowledged can be taken back. `npm run test:history` makes more rounds.
 */

import { deepEqual, ok } from "node:assert/strict";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import { afterAll, beforeAll, test } from "vitest";
import { openFileStore } from "../../src/state/state.ts";
import { contentsOf, type Story, storyOf } from "../../src/history/snapshots.ts";
import { workspace } from "../support/workspace.ts";
import { blobFiles } from "./bed.ts";
import { type Desk, openWorkspace, told } from "./desk.ts";
import { accountOf, checkFiles, createKiller, type Files } from "./killing.ts";
import { buildChild, type Child } from "./program.ts";

/** A few tenths of a second each, and more on a busy machine; the long run makes as many as of the others. */
const rounds = Number(process.env["FILEHAND_HISTORY_ROUNDS"] ?? 10);
const { path: place } = workspace({});
let child: Child;
const killer = createKiller(() => child.path);
beforeAll(async () => {
  child = await buildChild("child-session");
});
afterAll(() => {
  killer.close();
  child.remove();
});

const storeOf = (desk: Desk): string => `${desk.stateDir}/history`;
const story = (desk: Desk): Story => storyOf(openFileStore({ folder: storeOf(desk) }).records("one").entries);

const tally = { rounds: 0, acknowledged: 0, takenBack: 0, collections: 0, contents: 0 };
afterAll(() => {
  if (rounds > 10) process.stdout.write(`killed in the library: ${JSON.stringify({ ...tally, fell: killer.fell })}\n`);
});

/** Of the workspace; what a change was writing beside its file when it was killed has a name of ours, and is swept. */
const textsOf = (desk: Desk): Files =>
  Object.fromEntries(
    Object.entries(desk.tree()).flatMap(([name, shown]) =>
      name.startsWith("file-") ? [[name, shown.slice(4)] as const] : [],
    ),
  );

/** While nobody else is at work: of all contents just those are left that a record needs. */
async function collectAll(desk: Desk): Promise<void> {
  const history = await desk.filehand.history();
  ok(history !== undefined);
  await history.gc({ graceMs: 0 });
  const needed = new Set(contentsOf(story(desk)));
  const there = blobFiles(storeOf(desk)).map((file) => nodePath.basename(file).replace(/\.br$/u, ""));
  deepEqual(there.toSorted(), [...needed].toSorted(), "no content that nobody needs, none missing");
  for (const folder of ["drafts", "packs", "trash"]) {
    const left = fs.existsSync(`${storeOf(desk)}/${folder}`) ? fs.readdirSync(`${storeOf(desk)}/${folder}`) : [];
    deepEqual(left, [], folder);
  }
  tally.contents += there.length;
  tally.collections += 1;
}

test(`killed ${rounds} times while it works through the library`, { timeout: 120_000 + rounds * 8_000 }, async () => {
  const top = place("desk");
  let start: Files = {};
  // One host for the whole run, which finds the store as the killed ones leave it; what it packs is taken apart with it.
  const host = openWorkspace(top, { history: { snapshotsMax: 10 } });
  killer.prepare([top, "r0"]);
  for (let round = 0; round < rounds; round += 1) {
    const words = await killer.kill(round);
    if (round + 1 < rounds) killer.prepare([top, `r${round + 1}`]);
    const account = accountOf(words, start);
    const desk = openWorkspace(top, { history: { snapshotsMax: 10 } });
    deepEqual((await (await desk.filehand.history())?.verify())?.faults, [], `round ${round}`);
    const { steps, pruned } = story(desk);
    const known = new Set([...steps.map(({ messageId }) => messageId), ...pruned]);
    for (const turn of account.turns) ok(known.has(turn), `round ${round}: ${turn} is known`);
    checkFiles(textsOf(desk), account, `round ${round}`);
    if (account.lastEdit !== undefined) {
      const { turn, before } = account.lastEdit;
      const outcome = await host.session.rewind(turn);
      for (const [name, words] of Object.entries(told(outcome))) {
        ok(/^(?:(?:restore|create|delete): done|nothing: left)$/u.test(words), `round ${round}: ${name}: ${words}`);
      }
      deepEqual(textsOf(desk), before, `round ${round}: as before ${turn}`);
      tally.takenBack += 1;
    }
    // Also keeps what every round verifies from growing.
    if (round % 20 === 19) await collectAll(host);
    start = textsOf(desk);
    tally.rounds += 1;
    tally.acknowledged += account.turns.length;
  }
  const { edit, rewind, gc } = killer.fell;
  const enough = Math.floor(rounds / 20);
  ok(edit >= enough && rewind >= 2 * enough && gc >= enough, `killed in the middle: ${JSON.stringify(killer.fell)}`);
  await collectAll(host);
  await host.session.rewind("start");
  deepEqual(textsOf(host), {});
});
