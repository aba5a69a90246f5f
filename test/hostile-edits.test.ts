/** Edits, patches and diffs of hostile texts do their work in many turns of the event loop, and end when they are cancelled. */

import * as fs from "node:fs";
import { expect, test } from "vitest";
import { createFilehand, type Reply } from "../src/index.ts";
import { growsLikeItsInput, growthOf } from "./support/growth.ts";
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
    "a Write of two lines that repeat",
    "claude",
    "Write",
    "a\nb\n".repeat(200_000),
    { content: "b\na\na\n".repeat(130_000) },
    10,
  ],
  [
    "a replacement in 50,000 places with another indentation",
    "claude",
    "Edit",
    "    if a:\n      b\n".repeat(50_000),
    { old_string: "if a:\n  b\n", new_string: "if a:\n  c\n", replace_all: true },
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

test("a long run of combining marks is not put in order, which is the square of its length", async () => {
  const { top, path } = workspace({});
  const session = createFilehand({ roots: [top], ask: "yes", readFirst: false }).session();
  await growsLikeItsInput(
    5_000,
    (count) => {
      fs.writeFileSync(path(`${count}.txt`), `e${"\u0301\u0323".repeat(count)}\n`);
      return count;
    },
    async (count) => {
      const edit = { file_path: `${count}.txt`, old_string: "\u00e9x", new_string: "y" };
      expect((await session.call("Edit", edit)).error?.code).toBe("NO_MATCH");
    },
  );
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

/** Lines, and edits of all of them, of which each is found to the letter. */
interface ManyEdits {
  readonly lines: (count: number) => readonly string[];
  readonly edit: (line: string, at: number) => { readonly old_string: string; readonly new_string: string };
  readonly begins?: "new" | "shown in part";
  readonly from: number;
}

const plainLines = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `line number ${at} of\n`);
const renamed = (line: string): { readonly old_string: string; readonly new_string: string } => ({
  old_string: line,
  new_string: line.replace("number", "no."),
});

/** A number as lines of one letter, for its bits. */
const inBits = (number: number): string =>
  `begin\r\n${Array.from({ length: 16 }, (_, bit) => ((number >> bit) % 2 === 0 ? "a\n" : "b\r\n")).join("")}end`;

const manyEdits: Readonly<Record<string, ManyEdits>> = {
  "of whole lines": { lines: plainLines, edit: renamed, from: 5_000 },
  "in a file that was shown in part": { lines: plainLines, edit: renamed, begins: "shown in part", from: 1_500 },
  "in a new file": { lines: plainLines, edit: renamed, begins: "new", from: 3_000 },
  "of two lines in a file with CRLF": {
    lines: (count) => Array.from({ length: count }, (_, at) => `line number ${at} of\r\nand its second\r\n`),
    edit: (line) => renamed(line.replaceAll("\r\n", "\n")),
    from: 1_500,
  },
  "of two lines in a file with LF and CRLF": {
    lines: (count) => Array.from({ length: count }, (_, at) => `line number ${at} of\r\nand its second\n`),
    edit: (line) => renamed(line.replaceAll("\r\n", "\n")),
    from: 1_500,
  },
  "that add a line, in a file with LF and CRLF": {
    lines: (count) => Array.from({ length: count }, (_, at) => `line number ${at} of${at % 2 === 0 ? "\n" : "\r\n"}`),
    edit: (line) => ({ old_string: line.trim(), new_string: `${line.trim()}\nand another` }),
    from: 1_500,
  },
  "of lines that only differ in their order, in a file with LF and CRLF": {
    lines: (count) => Array.from({ length: count }, (_, at) => `${inBits(at)}${at % 2 === 0 ? "\n" : "\r\n"}`),
    edit: (line) => ({ old_string: `${line.replaceAll("\r\n", "\n").trim()}\n`, new_string: "x\n" }),
    from: 1_500,
  },
  "of 5 characters": {
    lines: (count) => Array.from({ length: count }, (_, at) => `${10_000 + at} ${"-".repeat(40)}\n`),
    edit: (line) => ({ old_string: line.slice(0, 5), new_string: "x" }),
    from: 3_000,
  },
  "of 10,000 characters": {
    lines: (count) => Array.from({ length: count }, (_, at) => `${`${1_000 + at}`.repeat(2_500)}\n`),
    edit: (line) => ({ old_string: line, new_string: "x\n" }),
    from: 100,
  },
};

test.each(Object.entries(manyEdits))(
  "four times the edits in four times the lines are four times the work: %s",
  async (_, { lines, edit, begins, from }) => {
    const { top, path } = workspace({});
    const filehand = createFilehand({ roots: [top], ask: "yes", readFirst: begins === "shown in part" });
    let tries = 0;
    await growsLikeItsInput(from, lines, async (all) => {
      const session = filehand.session();
      const file_path = `${(tries += 1)}.txt`;
      const edits = all.map(edit);
      if (begins === "new") edits.unshift({ old_string: "", new_string: all.join("") });
      else
        fs.writeFileSync(path(file_path), `${all.join("")}${all[0]?.endsWith("\r\n") ? "the end\r\n" : "the end\n"}`);
      if (begins === "shown in part") {
        for (let offset = 1; offset <= all.length; offset += 500) {
          await session.call("Read", { file_path, offset, limit: Math.min(500, all.length + 1 - offset) });
        }
      }
      const reply = await session.call("MultiEdit", { file_path, edits });
      expect(reply.isError, JSON.stringify(reply.content).slice(0, 300)).toBe(false);
    });
  },
);

test("in a text of 9 million characters four times the edits take little more time", { timeout: 120_000 }, async () => {
  const { top, path } = workspace({});
  const lines = Array.from({ length: 450_000 }, (_, at) => `line number ${1_000_000 + at}\n`);
  const session = createFilehand({ roots: [top], ask: "yes", readFirst: false }).session();
  const { times } = await growthOf(
    500,
    (count) => lines.slice(0, count).map(renamed),
    async (edits) => {
      fs.writeFileSync(path("a.txt"), lines.join(""));
      const reply = await session.call("MultiEdit", { file_path: "a.txt", edits });
      expect(reply.isError).toBe(false);
    },
  );
  // Four times as much, if each of them went through the text.
  expect(times).toBeLessThan(2.5);
});
