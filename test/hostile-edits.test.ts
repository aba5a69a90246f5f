/** Edits, patches and diffs of hostile texts do their work in many turns of the event loop, and end when they are cancelled. */

import * as fs from "node:fs";
import { expect, test } from "vitest";
import { createFilehand, type Reply } from "../src/index.ts";
import { growsLikeItsInput } from "./support/growth.ts";
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
  [
    "a replacement in 50,000 places that are found with their quotes folded",
    "claude",
    "Edit",
    "\u201ca\u201d\n".repeat(50_000),
    { old_string: '"a"', new_string: '"b"', replace_all: true },
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

/** What edits make of a text one after the other, each of a text that stands there once. */
const oneByOne = (text: string, edits: readonly { old_string: string; new_string: string }[]): string =>
  edits.reduce((now, edit) => {
    const at = now.indexOf(edit.old_string);
    expect(now.indexOf(edit.old_string, at + 1)).toBe(-1);
    return now.slice(0, at) + edit.new_string + now.slice(at + edit.old_string.length);
  }, text);

test("every edit of a long MultiEdit sees what the earlier ones did, found to the letter or loosely", async () => {
  for (const lineEnd of ["\n", "\r\n"]) {
    const { top, path } = workspace({});
    const text = Array.from({ length: 3_000 }, (_, at) => `line number ${at} of the text${lineEnd}`).join("");
    fs.writeFileSync(path("a.txt"), text);
    const edits = Array.from({ length: 900 }, (_, at) => {
      const line = (at * 7) % 300;
      // Three rounds over the same lines: each looks for what the round before has put there.
      const round = Math.floor(at / 300);
      const own = ["number", "first", "second"][round] ?? "";
      const next = ["first", "second", "third"][round] ?? "";
      const more = at % 50 === 0 ? `${lineEnd}one more line` : "";
      return { old_string: `line ${own} ${line} of`, new_string: `line ${next} ${line} of${more}` };
    });
    const session = createFilehand({ roots: [top], ask: "yes", readFirst: false }).session();
    const sent = edits.map((edit, at) => {
      // One that is found only with its blanks folded.
      const loosely = at % 100 === 3 ? { old_string: edit.old_string.replace(" of", "\u00a0of") } : {};
      return { ...edit, ...loosely, new_string: edit.new_string.replaceAll("\r\n", "\n") };
    });
    const reply = await session.call("MultiEdit", { file_path: "a.txt", edits: sent });
    expect(reply.isError).toBe(false);
    expect(fs.readFileSync(path("a.txt"), "utf8")).toBe(oneByOne(text, edits));
  }
});

test("an edit of a long MultiEdit that fits twice, or not, is refused as in a short one", async () => {
  const { top, path } = workspace({});
  const text = Array.from({ length: 300 }, (_, at) => `line number ${at} of the text\n`).join("");
  fs.writeFileSync(path("a.txt"), text);
  const session = createFilehand({ roots: [top], ask: "yes", readFirst: false }).session();
  const edits = Array.from({ length: 100 }, (_, at) => ({
    old_string: `number ${at} of`,
    new_string: at < 98 ? `zahl ${at} of` : "doubled text",
  }));
  for (const [last, code] of [
    ["doubled text", "AMBIGUOUS"],
    ["number 5 of", "NO_MATCH"],
  ] as const) {
    const all = [...edits, { old_string: last, new_string: "x" }];
    const reply = await session.call("MultiEdit", { file_path: "a.txt", edits: all });
    expect(reply.error?.code).toBe(code);
    expect(fs.readFileSync(path("a.txt"), "utf8")).toBe(text);
  }
});

test("four times the edits in four times the lines are four times the work", async () => {
  const { top, path } = workspace({});
  const session = createFilehand({ roots: [top], ask: "yes", readFirst: false }).session();
  await growsLikeItsInput(
    5_000,
    (count) => count,
    async (count) => {
      fs.writeFileSync(
        path(`${count}.txt`),
        Array.from({ length: count }, (_, at) => `line number ${at} of\n`).join(""),
      );
      const edits = Array.from({ length: count }, (_, at) => ({
        old_string: `number ${at} of`,
        new_string: `no. ${at}`,
      }));
      const reply = await session.call("MultiEdit", { file_path: `${count}.txt`, edits });
      expect(reply.isError).toBe(false);
    },
  );
});
