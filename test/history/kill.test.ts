/**
 * A process that edits, rewinds, compacts and collects is killed at any moment, again and again, on one store. What it
 * had acknowledged must be there: its turn, its old content, and files that are one version or another, never between.
 * `npm run test:history` is the long run: FILEHAND_HISTORY_ROUNDS sets the number of rounds.
 */

import { deepEqual, ok } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import { afterAll, beforeAll, test } from "vitest";
import { openFileStore } from "../../src/history/file-store.ts";
import { contentsOf, storyOf } from "../../src/history/snapshots.ts";
import { workspace } from "../support/workspace.ts";
import { type Bed, blobFiles, makeBed } from "./bed.ts";
import { buildChild, type Child } from "./program.ts";

const rounds = Number(process.env["FILEHAND_HISTORY_ROUNDS"] ?? 50);
const { path: place } = workspace({});
let child: Child;
beforeAll(async () => {
  child = await buildChild();
});
afterAll(() => child.remove());

interface Said {
  readonly messageId: string;
  readonly name: string;
}

/** Runs the child and kills it a moment after its first word; what it had said by then. */
async function killedRun(top: string, id: string, afterMs: number): Promise<readonly Said[]> {
  const running = spawn(process.execPath, [child.path, "change", top, "-", id, "100000"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
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

/** Versions that the child writes: one line, repeated. */
const isWhole = (text: string): boolean => new Set(text.split("\n").slice(0, -1)).size <= 1 && text.endsWith("\n");

/** For the long run: what a thousand rounds came to. */
const tally = { rounds: 0, edits: 0, rewinds: 0, contents: 0, collections: 0 };
afterAll(() => {
  if (rounds > 50) process.stdout.write(`killed: ${JSON.stringify(tally)}\n`);
});

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

test(`killed ${rounds} times, it loses nothing that it had said was kept`, {
  timeout: 120_000 + rounds * 4_000,
}, async () => {
  const top = place("bed");
  for (let round = 0; round < rounds; round += 1) {
    const said = await killedRun(top, `r${round}`, Math.random() * 40);
    const bed = makeBed(top, { snapshotsMax: 10 });
    const store = openFileStore({ folder: bed.store });
    const story = storyOf(store.records("one").entries);
    const { faults } = await bed.history.verify();
    deepEqual(faults, [], `round ${round}`);
    const known = new Set(
      story.steps.flatMap((step) => (step.type === "turn" ? [step.messageId] : [])).concat(story.pruned),
    );
    for (const { messageId } of said) {
      ok(known.has(messageId), `round ${round}: ${messageId} is known`);
      tally[messageId.endsWith("-back") ? "rewinds" : "edits"] += 1;
    }
    tally.rounds += 1;
    for (const [name, shown] of Object.entries(bed.tree())) {
      if (!name.endsWith(".swap")) ok(isWhole(shown.slice(4)), `round ${round}: ${name}`);
    }
    for (const name of fs.readdirSync(bed.at("."))) if (name.endsWith(".swap")) fs.unlinkSync(bed.at(name));
    if (round % 20 === 19) await collectAll(bed);
    // The last acknowledged change can be taken back to a version that was written whole.
    const last = said.at(-1);
    const planned = last === undefined ? undefined : await bed.plan(last.messageId);
    if (planned?.found === "turn") {
      for (const { step } of planned.files)
        ok(["restore", "delete", "create", "nothing"].includes(step.does), step.does);
    }
  }
  const bed = makeBed(top, { snapshotsMax: 10 });
  await collectAll(bed);
  await bed.rewind("start", { id: "to the beginning" });
  deepEqual(bed.tree(), {});
});
