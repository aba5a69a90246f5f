/** Long work gives the event loop its turns: counted, with a clock on which every look is a time slice later. */

import * as fs from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { createFilehand } from "../../src/index.ts";
import { inMemory } from "../support/workspace.ts";

const folder = fs.mkdtempSync(join(fs.realpathSync(inMemory()), "filehand-turns-"));
afterEach(() => {
  vi.restoreAllMocks();
  fs.rmSync(folder, { recursive: true, force: true });
});

test("a Read of a line of a megabyte yields to the event loop between its steps", async () => {
  fs.writeFileSync(join(folder, "long.txt"), "(".repeat(900_000));
  fs.writeFileSync(join(folder, "short.txt"), "hello\n");
  const filehand = createFilehand({ roots: [folder], reminder: false });
  const session = filehand.session();
  let ms = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (ms += 20));
  const yields = vi.spyOn(globalThis, "setImmediate");
  const turnsOf = async (name: string): Promise<number> => {
    yields.mockClear();
    const { isError } = await session.call("Read", { file_path: name });
    expect(isError).toBe(false);
    return yields.mock.calls.length;
  };
  const short = await turnsOf("short.txt");
  expect(await turnsOf("long.txt")).toBeGreaterThanOrEqual(short + 4);
  await filehand.close();
});

/** How often the event loop gets a turn, on a clock on which every look is a time slice later. */
async function yieldsDuring(work: () => Promise<unknown>): Promise<number> {
  let ms = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => (ms += 20));
  const yields = vi.spyOn(globalThis, "setImmediate");
  try {
    await work();
    return yields.mock.calls.length;
  } finally {
    clock.mockRestore();
    yields.mockRestore();
  }
}

test("a unified diff of 20,000 hunks is parsed, matched and applied in steps", async () => {
  const hunks = 20_000;
  const lines = Array.from({ length: hunks * 4 }, (_, index) => `line ${index}`);
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(join(folder, "a.txt"), `${lines.join("\n")}\n`);
  const parts = Array.from({ length: hunks }, (_, index) => {
    const at = index * 4 + 2;
    return `@@ -${at},3 +${at},3 @@\n ${lines[at - 1]}\n-${lines[at]}\n+changed\n ${lines[at + 1]}\n`;
  });
  const filehand = createFilehand({ roots: [folder], ask: "yes", readFirst: false });
  const session = filehand.session({ dialect: "opencode" });
  const yields = await yieldsDuring(async () => {
    const patchText = `--- a/a.txt\n+++ b/a.txt\n${parts.join("")}`;
    expect((await session.call("patch", { patchText })).error).toBeUndefined();
  });
  expect(fs.readFileSync(join(folder, "a.txt"), "utf8").split("changed\n")).toHaveLength(hunks + 1);
  // For each hunk: where it is read, and where it is applied.
  expect(yields).toBeGreaterThanOrEqual(2 * hunks);
  await filehand.close();
}, 60_000);

test("a move of a folder and its undo work through their files in steps", async () => {
  const files = 600;
  const stateDir = join(folder, "state");
  fs.mkdirSync(join(folder, "w/tree"), { recursive: true });
  for (let index = 0; index < files; index += 1) fs.writeFileSync(join(folder, `w/tree/${index}.txt`), `${index}\n`);
  const filehand = createFilehand({ roots: [join(folder, "w")], ask: "yes", stateDir });
  const session = filehand.session({ dialect: "claude" });
  const moved = await yieldsDuring(async () => {
    expect((await session.call("Move", { path: "tree", to: "there" })).error).toBeUndefined();
  });
  // Each file is listed and compared, locked and recorded under both names, and reported.
  expect(moved).toBeGreaterThanOrEqual(20 * files);
  // The records of the move, at least two for each file, are read in steps as well.
  const parsed = vi.spyOn(JSON, "parse");
  const counts: number[] = [];
  const turn = globalThis.setImmediate;
  const turns = vi.spyOn(globalThis, "setImmediate").mockImplementation((...given: Parameters<typeof turn>) => {
    counts.push(parsed.mock.calls.length);
    return turn(...given);
  });
  let ms = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => (ms += 20));
  await session.undo();
  for (const spy of [parsed, turns, clock]) spy.mockRestore();
  expect(counts.at(-1)).toBeGreaterThanOrEqual(2 * files);
  const between = counts.map((count, index) => count - (counts[index - 1] ?? 0));
  expect(Math.max(...between)).toBeLessThanOrEqual(300);
  expect(fs.readdirSync(join(folder, "w/tree"))).toHaveLength(files);
  await filehand.close();
}, 60_000);
