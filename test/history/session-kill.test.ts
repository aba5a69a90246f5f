/**
 * A process that edits and rewinds through the library is killed at any moment, again and again. Files are one version
 * or another, never between; what it had acknowledged can be taken back. `npm run test:history` makes more rounds.
 */

import { deepEqual, ok } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as nodePath from "node:path";
import { afterAll, beforeAll, test } from "vitest";
import { openFileStore } from "../../src/history/file-store.ts";
import { contentsOf, storyOf } from "../../src/history/snapshots.ts";
import { workspace } from "../support/workspace.ts";
import { blobFiles } from "./bed.ts";
import { type Desk, openDesk, told } from "./desk.ts";
import { buildChild, type Child } from "./program.ts";

/** A tenth of a second each, and more on a busy machine; the long run makes as many as of the others. */
const rounds = Number(process.env["FILEHAND_HISTORY_ROUNDS"] ?? 10);
const { path: place } = workspace({});
let child: Child;
beforeAll(async () => {
  child = await buildChild("child-session");
});
afterAll(() => child.remove());

interface Said {
  readonly messageId: string;
  readonly names: readonly string[];
}

/** Runs the child and kills it a moment after its first word; what it had said by then. */
async function killedRun(top: string, id: string, afterMs: number): Promise<readonly Said[]> {
  const running = spawn(process.execPath, [child.path, top, id], { stdio: ["ignore", "pipe", "inherit"] });
  let heard = "";
  running.stdout.on("data", (chunk: Buffer) => {
    if (heard === "") setTimeout(() => running.kill("SIGKILL"), afterMs);
    heard += chunk.toString();
  });
  await once(running, "close");
  return heard
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Said); // the child wrote it
}

const neededBy = (store: string): ReadonlySet<string> =>
  new Set(contentsOf(storyOf(openFileStore({ folder: store }).records("one").entries)));

/** Versions that the child writes: one line, repeated. */
const isWhole = (text: string): boolean => new Set(text.split("\n").slice(0, -1)).size <= 1 && text.endsWith("\n");

const tally = { rounds: 0, said: 0, rewound: 0, contents: 0, collections: 0 };
afterAll(() => {
  if (rounds > 10) process.stdout.write(`killed in the library: ${JSON.stringify(tally)}\n`);
});

/** While nobody else is at work: of all contents just those are left that a record needs. */
async function collectAll(desk: Desk): Promise<void> {
  const history = await desk.filehand.history();
  ok(history !== undefined);
  await history.gc({ graceMs: 0 });
  const needed = neededBy(`${desk.stateDir}/history`);
  const there = blobFiles(`${desk.stateDir}/history`).map((file) => nodePath.basename(file).replace(/\.br$/u, ""));
  deepEqual(there.toSorted(), [...needed].toSorted(), "no content that nobody needs, none missing");
  tally.contents += there.length;
  tally.collections += 1;
}

test(`killed ${rounds} times while it works through the library`, { timeout: 120_000 + rounds * 8_000 }, async () => {
  const top = place("desk");
  for (let round = 0; round < rounds; round += 1) {
    const said = await killedRun(top, `r${round}`, Math.random() * 150);
    const desk = openDesk(top, { history: { snapshotsMax: 10 } });
    deepEqual((await (await desk.filehand.history())?.verify())?.faults, [], `round ${round}`);
    for (const [name, shown] of Object.entries(desk.tree())) {
      if (name.startsWith("file-")) ok(isWhole(shown.slice(4)), `round ${round}: ${name}`);
    }
    const turns = (await desk.session.history())?.snapshots().map(({ messageId }) => messageId) ?? [];
    const kept = said.slice(-4);
    for (const { messageId } of kept) ok(turns.includes(messageId), `round ${round}: ${messageId} is known`);
    tally.rounds += 1;
    tally.said += said.length;
    const last = said.at(-1);
    ok(last !== undefined, `round ${round}: it said something`);
    const outcome = await desk.session.rewind(last.messageId);
    tally.rewound += outcome.files.length;
    for (const [name, words] of Object.entries(told(outcome))) {
      ok(/^(?:(?:restore|create|delete): done|nothing: left)$/u.test(words), `round ${round}: ${name}: ${words}`);
    }
    // Also keeps what every round verifies from growing.
    if (round % 20 === 19) await collectAll(desk);
  }
  const desk = openDesk(top, { history: { snapshotsMax: 10 } });
  await collectAll(desk);
  await desk.session.rewind("start");
  deepEqual(
    Object.keys(desk.tree()).filter((name) => name.startsWith("file-")),
    [],
  );
});
