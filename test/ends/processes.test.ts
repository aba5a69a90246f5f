/** Twelve processes that edit one file at once: what they report is what is on the disk, and nothing else is. */

import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFilehand } from "../../src/index.ts";
import { inMemory } from "../support/workspace.ts";

const processes = 12;
const editsEach = 8;
let root = "";

beforeAll(() => {
  // In memory, where the system has such a place: who waits for a slow disk a hundred times over may wait too long for a lock.
  root = fs.mkdtempSync(path.join(fs.realpathSync(inMemory()), "filehand-processes-"));
});
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));

const slots = Array.from(
  { length: processes * editsEach },
  (_, at) => `slot ${Math.floor(at / editsEach)}-${at % editsEach}:`,
);

/** Edits the slots of one process, one after the other, and tells which edits were said to be made. */
const program = `
  import { createFilehand } from ${JSON.stringify(new URL("../../dist/index.js", import.meta.url).href)};
  const [, root, number, edits] = process.argv;
  const session = createFilehand({ roots: [root], ask: "yes", readFirst: false }).session({ dialect: "claude" });
  const made = [];
  for (let at = 0; at < Number(edits); at += 1) {
    const slot = "slot " + number + "-" + at + ":";
    const reply = await session.call("Edit", { file_path: "a.txt", old_string: slot + " empty", new_string: slot + " taken" });
    made.push([slot, reply.error === undefined ? "made" : reply.error.code + ": " + reply.error.message]);
    process.stdout.write(JSON.stringify(made.at(-1)) + "\\n");
  }
`;

function start(number: number): { readonly ended: Promise<readonly [string, string][]>; kill(): void } {
  const child = spawn(process.execPath, [
    "--input-type=module",
    "-e",
    program,
    root,
    String(number),
    String(editsEach),
  ]);
  let out = "";
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  const ended = new Promise<readonly [string, string][]>((resolve) =>
    child.on("close", () =>
      resolve(
        out
          .trim()
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line) as [string, string]),
      ),
    ),
  );
  return { ended, kill: () => void child.kill("SIGKILL") };
}

const fill = (): void => fs.writeFileSync(path.join(root, "a.txt"), slots.map((slot) => `${slot} empty\n`).join(""));
const taken = (): string[] =>
  fs
    .readFileSync(path.join(root, "a.txt"), "utf8")
    .split("\n")
    .filter((line) => line.endsWith(" taken"))
    .map((line) => line.slice(0, -6));

test("every edit lands, and none is lost", async () => {
  fill();
  const replies = (await Promise.all(Array.from({ length: processes }, (_, number) => start(number).ended))).flat();
  expect(replies.filter(([, came]) => came !== "made")).toEqual([]);
  expect(replies).toHaveLength(slots.length);
  expect(taken()).toEqual(slots);
  expect(fs.readdirSync(root)).toEqual(["a.txt"]);
});

test("some of them killed: what was reported is there, the file is whole, and nothing is left lying about", async () => {
  fill();
  const running = Array.from({ length: processes }, (_, number) => start(number));
  for (const [index, one] of running.entries()) {
    if (index % 3 === 0) setTimeout(() => one.kill(), 150 + index * 60);
  }
  const replies = (await Promise.all(running.map(({ ended }) => ended))).flat();
  expect(replies.filter(([, came]) => came !== "made")).toEqual([]);
  const made = replies.map(([slot]) => slot);
  const there = taken();
  // A process may die between the edit and the report, never between the report and the edit.
  expect(there).toEqual(expect.arrayContaining(made));
  expect(there.length - made.length).toBeLessThanOrEqual(processes / 3);
  expect(
    fs
      .readFileSync(path.join(root, "a.txt"), "utf8")
      .split("\n")
      .map((line) => line.replace(/ (?:empty|taken)$/, "")),
  ).toEqual([...slots, ""]);

  // The next change in the folder sweeps what the killed ones left.
  const last = await start(processes).ended;
  expect(last.every(([, came]) => came.startsWith("NO_MATCH: "))).toBe(true);
  fs.writeFileSync(path.join(root, "b.txt"), "");
  const session = createFilehand({ roots: [root], ask: "yes" }).session();
  expect((await session.call("Write", { file_path: "b.txt", content: "x" })).isError).toBe(false);
  expect(fs.readdirSync(root).toSorted()).toEqual(["a.txt", "b.txt"]);
});
