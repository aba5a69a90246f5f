/** A process that is killed at any step leaves the old content or the new, and a later process clears up after it. */

import { deepEqual, equal, ok } from "node:assert/strict";
import { execFile } from "node:child_process";
import * as fs from "node:fs";
import { afterAll, beforeAll, describe, test } from "vitest";
import { createDisk } from "../../src/disk/disk.ts";
import { createLocks } from "../../src/disk/lock/lock.ts";
import { nodeSystem } from "../../src/disk/system.ts";
import { onWindows, workspace } from "../support/workspace.ts";
import { type Change, everyChange, everyWrite, litter, never, replaceAt } from "./changes.ts";
import { buildProgram, type Program } from "./program.ts";

const { path: at } = workspace({});
const locks = createLocks({ folder: at("locks") });
let program: Program;
beforeAll(async () => {
  program = await buildProgram();
});
afterAll(() => program.remove());

interface Ended {
  readonly killed: boolean;
  readonly stdout: string;
}

const run = (change: Change, folder: string, n = 0): Promise<Ended> =>
  new Promise((resolve, reject) => {
    execFile(process.execPath, [program.path, change.title, folder, String(n)], (error, stdout, stderr) => {
      const killed = error?.signal === "SIGKILL";
      if (error !== null && !killed) reject(new Error(stderr));
      else resolve({ killed, stdout });
    });
  });

/** The calls of an undisturbed run: how many, and the first that changes something. Before it nothing can be left behind. */
async function callsOf(change: Change, folder: string): Promise<{ readonly first: number; readonly total: number }> {
  change.prepare(folder);
  const { stdout } = await run(change, folder);
  const { calls } = JSON.parse(stdout) as { readonly calls: readonly string[] };
  return {
    first: calls.findIndex((name) => ["make", "makeFolder", "unlink", "removeFolder"].includes(name)) + 1,
    total: calls.length,
  };
}

describe.skipIf(onWindows)("killed at the n-th system call", () => {
  for (const [index, change] of everyChange.entries()) {
    test(`${change.title}: old or new, and the next process clears up`, async () => {
      const fresh = (name: string): string => {
        const folder = at(`${index}-${name}`);
        fs.mkdirSync(folder);
        return folder;
      };
      const { first, total } = await callsOf(change, fresh("whole"));
      ok(first > 0);
      const seen = new Set<string>();
      let left = 0;
      let halfWritten = 0;
      const one = async (n: number): Promise<void> => {
        const folder = fresh(String(n));
        change.prepare(folder);
        const { killed } = await run(change, folder, n);
        ok(killed, `call ${n} of ${total}`);
        left += litter(folder).length;
        const torn = change.judge(folder);
        if (torn.startsWith("neither")) halfWritten += 1;
        // Only a write in place may be seen half done, and only until the next process comes by.
        if (!change.title.includes("in place") && torn !== "half-made folders")
          ok(torn === "old" || torn === "new", torn);
        await nextProcess(folder);
        const state = change.judge(folder);
        ok(["old", "new", "half-made folders"].includes(state), `call ${n} of ${total}: ${state}`);
        deepEqual(litter(folder), [], `call ${n} of ${total}`);
        seen.add(state);
      };
      // Two at a time: as many as there are cores, commonly.
      for (let n = first; n <= total; n += 2) await Promise.all([one(n), n < total ? one(n + 1) : undefined]);
      ok(
        seen.has("old") && (seen.has("new") || change.title === "a create in folders that are missing"),
        [...seen].join(),
      );
      ok(halfWritten > 0 || !change.title.includes("in place"), "no kill left anything half done");
      ok(left > 0 || !everyWrite.includes(change), "no kill left anything behind, so the sweep was not tried");
    });
  }
});

/** Any change in the folder sweeps it, and the folders of the state. */
async function nextProcess(folder: string): Promise<void> {
  await createDisk([folder], nodeSystem, { stateDir: `${folder}.state` }).settled(locks);
  const deepest = ["/deep/deeper", "/deep", ""].map((below) => folder + below).find((path) => fs.existsSync(path));
  const disk = createDisk([folder], nodeSystem, { stateDir: `${folder}.state` });
  // A folder is swept by the first change in it.
  for (const place of new Set([deepest ?? folder, folder])) {
    fs.writeFileSync(`${place}/other.txt`, "a text of at least thirty-four bytes");
    equal(((await replaceAt(disk, `${place}/other.txt`, { signal: never })) as { did: string }).did, "replaced");
  }
}
