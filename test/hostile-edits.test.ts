/** Edits, patches and diffs of hostile texts do their work in many turns of the event loop, and end when they are cancelled. */

import * as fs from "node:fs";
import { expect, test } from "vitest";
import { createFilehand, type Reply } from "../src/index.ts";
import { workspace } from "./support/workspace.ts";

/** How often the loop turned while the work was done. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let going = true;
  const count = (): void => {
    turns += 1;
    if (going) setImmediate(count);
  };
  setImmediate(count);
  await work();
  going = false;
  return turns;
}

/** Lines of few kinds, as no diff likes them. */
function fewKinds(count: number, seed: number): string {
  let state = seed;
  const line = (): string => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return `l${(state >> 8) % 3}\n`;
  };
  return Array.from({ length: count }, line).join("");
}

const many = Array.from({ length: 300 }, (_, at) => ({ old_string: `${"abc\n".repeat(50)}${at}`, new_string: "x" }));
const hunks = Array.from({ length: 20_000 }, (_, at) => `@@\n-line ${2 * at}\n+LINE ${2 * at}`).join("\n");
const patchText = `*** Begin Patch\n*** Update File: a.txt\n${hunks}\n*** End Patch`;
const numbered = Array.from({ length: 40_000 }, (_, at) => `line ${at}\n`).join("");

for (const [what, dialect, tool, before, input, turnsMin] of [
  ["a MultiEdit whose edits fail", "claude", "MultiEdit", "abc\n".repeat(100_000), { edits: many }, 10],
  ["a patch of 20,000 hunks", "opencode", "patch", numbered, { patchText }, 5],
  [
    "a Write of lines that a diff cannot tell apart",
    "claude",
    "Write",
    fewKinds(150_000, 7),
    { content: fewKinds(150_000, 99) },
    10,
  ],
  [
    "a replacement in 900,000 places",
    "claude",
    "Edit",
    "a".repeat(900_000),
    { old_string: "a", new_string: "bb", replace_all: true },
    10,
  ],
] as const) {
  test(`${what} lets the event loop turn`, async () => {
    const { top, path } = workspace({});
    fs.writeFileSync(path("a.txt"), before);
    const session = createFilehand({ roots: [top], ask: "yes", readFirst: false }).session({ dialect });
    const call = (): Promise<Reply> => session.call(tool, tool === "patch" ? input : { file_path: "a.txt", ...input });
    expect(await turnsDuring(call)).toBeGreaterThanOrEqual(turnsMin);
  });
}

test("a failing MultiEdit ends when it is cancelled", async () => {
  const { top, path } = workspace({});
  fs.writeFileSync(path("a.txt"), "abc\n".repeat(100_000));
  const session = createFilehand({ roots: [top], ask: "yes", readFirst: false }).session();
  const controller = new AbortController();
  const call = session.call("MultiEdit", { file_path: "a.txt", edits: many }, { signal: controller.signal });
  setImmediate(() => controller.abort());
  const reply = await call.catch((error: unknown) => error);
  expect(JSON.stringify(reply)).not.toContain("NO_MATCH");
});

test("a run of 100,000 combining marks is not put in order", async () => {
  const { top, path } = workspace({});
  fs.writeFileSync(path("a.txt"), `e${"\u0301\u0323".repeat(50_000)}\n`);
  const session = createFilehand({ roots: [top], ask: "yes", readFirst: false }).session();
  const before = process.cpuUsage();
  const reply = await session.call("Edit", { file_path: "a.txt", old_string: "\u00e9x", new_string: "y" });
  const { user } = process.cpuUsage(before);
  expect(reply.error?.code).toBe("NO_MATCH");
  // Putting them in order takes 2.5 s of processor time, all else a few hundredths.
  expect(user / 1_000).toBeLessThan(1_500);
});
