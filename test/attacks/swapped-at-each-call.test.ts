/**
 * A32 A33 without chance: right before one system call of a change the file, or the folder that it makes, is swapped for a link to the same
 * name outside. Each call has its turn. Swapped before the first, the change is refused; after the last, it is done; wherever
 * in between, nothing outside is touched and what is told is so.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import * as fs from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { describe, test } from "vitest";
import { type Change, everyChange, litter, newText, oldText, promised } from "../faults/changes.ts";
import { type FaultySystem, faultySystem } from "../support/faulty-system.ts";
import { snapshot } from "../support/snapshot.ts";
import { onLinux, openDescriptors, plant, workspace } from "../support/workspace.ts";

const { path: at } = workspace({});
let beds = 0;

describe.skipIf(!onLinux)("A32 A33 (Linux only: elsewhere the window is narrowed, not closed)", () => {
  for (const { change, name } of everyChange.flatMap((one) =>
    swappedIn(one).map((is) => ({ change: one, name: is })),
  )) {
    test(`${change.title}: a swap of "${name}" right before each of its system calls`, async () => {
      const calls = faultySystem();
      await change.run(bed(change).root, calls);
      const total = calls.calls.length;
      ok(total > 10);
      const open = openDescriptors();
      const came: string[] = [];
      for (let n = 1; n <= total; n += 1) came.push(await swappedAt(n, change, name));
      equal(came[0], "old", "swapped before anything was looked at, and changed all the same");
      ok(came.includes("new"), "swapped after all was done, and not changed");
      equal(openDescriptors(), open);
    });
  }

  test("a control that looks first and writes then is caught at the calls in between, and nowhere else", async () => {
    const caught: number[] = [];
    for (let n = 1; n <= 5; n += 1) {
      const { root, outside } = bed(naive);
      const untouched = snapshot(outside);
      await naive.run(root, swapping(n, "a.txt", root, outside));
      if (!isDeepStrictEqual(snapshot(outside), untouched)) caught.push(n);
    }
    deepEqual(caught, [2]);
  });
});

/** Its calls: realPath, make, write, close. */
const naive: Change = {
  title: "a naive write",
  prepare: (folder) => fs.writeFileSync(`${folder}/a.txt`, oldText),
  run: async (folder, system) => {
    if (system.realPath(`${folder}/a.txt`) === `${folder}/a.txt`) {
      const fd = system.make(`${folder}/a.txt`, fs.constants.O_WRONLY | fs.constants.O_TRUNC, 0o600);
      system.write(fd, Buffer.from(newText), 0, newText.length, 0);
      system.close(fd);
    }
    return "not looked up"; // what it says is not looked at
  },
  judge: () => "not judged",
};

/** A tree for one change, and the same names outside with the content that a change would expect. */
function bed(change: Change): { readonly root: string; readonly outside: string } {
  beds += 1;
  const [root, outside] = [at(`bed${beds}`), at(`bed${beds}-outside`)];
  for (const folder of [root, outside]) fs.mkdirSync(folder);
  change.prepare(root);
  plant(outside, { deeper: {} });
  fs.cpSync(root, outside, { recursive: true, verbatimSymlinks: true });
  return { root, outside };
}

async function swappedAt(n: number, change: Change, name: string): Promise<"old" | "new"> {
  const { root, outside } = bed(change);
  const untouched = snapshot(outside);
  const system = swapping(n, name, root, outside);
  const outcome = await change.run(root, system);
  const where = `call ${n}, ${system.calls[n - 1]}: ${JSON.stringify(outcome, plain)}`;
  deepEqual(snapshot(outside), untouched, where);
  deepEqual(litter(root), [], where);
  deepEqual([...system.stillOpen, ...system.closedTwice], [], where);
  const told = promised(outcome);
  equal(isChanged(root, change, name), told === "new", where);
  return told;
}

function swapping(n: number, name: string, root: string, outside: string): FaultySystem {
  const system = faultySystem();
  system.onCall = (count) => {
    if (count === n) swap(root, outside, name);
  };
  return system;
}

/** What is swapped: the file, the folder, or the folder that the change makes on its way; each has its turn. */
function swappedIn({ title }: Change): readonly string[] {
  if (title.startsWith("a create") || title === "a folder that is made") return ["deep"];
  if (title.endsWith("an empty folder")) return ["empty"];
  if (title.startsWith("a remove of a folder")) return ["from"];
  return /^a (move|copy)/u.test(title) ? ["from", "deep"] : ["a.txt"];
}

/** What is there goes aside, and a link to the outside takes its name. */
function swap(root: string, outside: string, name: string): void {
  if (fs.existsSync(`${root}/${name}`)) fs.renameSync(`${root}/${name}`, `${root}/aside`);
  fs.symlinkSync(name === "deep" ? outside : `${outside}/${name}`, `${root}/${name}`);
}

/** Whether the change was made at its name, which may have gone aside meanwhile, or in the place of the link. */
function isChanged(root: string, { title }: Change, name: string): boolean {
  const look = (at: string): fs.Stats | undefined => fs.lstatSync(`${root}/${at}`, { throwIfNoEntry: false });
  const isFile = (at: string): boolean => look(at)?.isFile() === true;
  const isFolder = (at: string): boolean => look(at)?.isDirectory() === true;
  const where = (folder: string): string => (name === folder && isFolder("aside") ? "aside" : folder);
  if (title === "a folder that is made") return isFolder(`${where("deep")}/new`);
  if (title.endsWith("an empty folder")) return !isFolder(where("empty"));
  if (/^a (remove|move|copy) of a folder/u.test(title)) {
    const [from, to] = [where("from"), `${where("deep")}/to`];
    const namesIn = (path: string): readonly string[] =>
      fs.readdirSync(path, { recursive: true, encoding: "utf8" }).sort();
    for (const folder of [from, to].filter(isFolder))
      deepEqual(namesIn(`${root}/${folder}`), namesIn(`${root}-outside/from`), "a part of a folder");
    if (title.startsWith("a remove")) return !isFolder(from);
    const staysThere = title.startsWith("a copy") || !isFolder(to);
    equal(isFolder(from), staysThere, "a copy lost its source, or a move is in two places or in none");
    return isFolder(to);
  }
  if (title === "a remove") return !fs.existsSync(`${root}/a.txt`) || !fs.existsSync(`${root}/aside`);
  const places = name === "deep" ? ["deep/deeper/a.txt", "aside/deeper/a.txt"] : ["a.txt", "aside"];
  const wanted = title.endsWith("shorter") ? oldText : newText;
  return places.some((place) => isFile(place) && fs.readFileSync(`${root}/${place}`, "utf8") === wanted);
}

const plain = (_: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);
