/** The bar of commands that take long: on a terminal only, after half a second, never for programs, and gone at the end. */

import * as fs from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { main } from "../../src/surfaces/cli/main.ts";
import { commandLine, run, temporaryFolder } from "./run.ts";
import { hasTerminal, question, typing } from "./terminal.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const workspace = join(folder.path, "workspace");
const home = join(folder.path, "home");
const state = join(folder.path, "state");
const env = { HOME: home, XDG_STATE_HOME: state };
const names = ["a.txt", "b.txt", "c.txt"];
const texts = (): readonly string[] => names.map((name) => fs.readFileSync(join(workspace, name), "utf8"));

beforeAll(async () => {
  for (const path of [workspace, home]) fs.mkdirSync(path);
  for (const name of names) fs.writeFileSync(join(workspace, name), "one\n");
  const patch = names.flatMap((name) => [`*** Update File: ${name}`, "@@", "-one", "+two"]);
  const input = ["*** Begin Patch", ...patch, "*** End Patch"].join("\n");
  const patched = await run(process.execPath, [commandLine, "patch", "--yes"], { cwd: workspace, input, env });
  expect(patched).toMatchObject({ code: 0, stderr: "" });
});

/** What stays on a screen, as far as our own output moves on it. */
function screenOf(output: string): readonly string[] {
  const lines = [""];
  let column = 0;
  for (const [part] of output.matchAll(/\x1b\[K|\x1b\[\d*m|[\r\n]|[^\r\n\x1b]+/g)) {
    const line = lines.at(-1) ?? "";
    if (part === "\r") column = 0;
    else if (part === "\n") column = lines.push("") * 0;
    else if (part === "\x1b[K") lines[lines.length - 1] = line.slice(0, column);
    else if (!part.startsWith("\x1b")) {
      lines[lines.length - 1] = line.slice(0, column) + part + line.slice(column + part.length);
      column += part.length;
    }
  }
  return lines;
}

test("a screen is what is left of an output", () => {
  expect(screenOf("bar ███ 1 %\rbar █ 2 \x1b[K\r\x1b[Kdone\n\x1b[1mnext\x1b[22m")).toEqual(["done", "next"]);
  expect(screenOf("long line\rbar")).toEqual(["barg line"]);
});

interface LanguageEnvironment {
  readonly terminal: boolean;
  /** What each look at the clock takes. */
  readonly stepMs: number;
  readonly signal?: AbortSignal;
}

async function commanded(args: readonly string[], { terminal, stepMs, signal }: LanguageEnvironment) {
  const [stdout, stderr] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: terminal })];
  let timeMs = 0;
  const code = await main(args, {
    stdin: new PassThrough(),
    stdout,
    stderr,
    env,
    cwd: workspace,
    home,
    platform: process.platform,
    signal: signal ?? new AbortController().signal,
    nowMs: () => (timeMs += stepMs),
  });
  return { code, stdout: String(stdout.read() ?? ""), stderr: String(stderr.read() ?? "") };
}

/** So that the second look at the clock is late enough. */
const slow = 600;

/** One after another: what one takes back the next brings again. */
const commands: readonly (readonly [readonly string[], string])[] = [
  [["rewind", "start", "--dry-run"], "Going back"],
  [["rewind", "start", "--yes"], "Going back"],
  [["redo", "--yes"], "Going back"],
  [["undo", "--yes"], "Going back"],
  [["redo", "--yes"], "Going back"],
  [["diff", "-1"], "Comparing"],
  [["history"], "Counting lines"],
  [["history", "verify"], "Checking"],
  [["history", "gc"], "Tidying"],
];

describe.each(commands.map(([args, label]) => ({ args, label, name: args.join(" ") })))("$name", ({ args, label }) => {
  test("no bar when it is quick, when nobody watches, or for a program", async () => {
    const worlds: readonly (readonly [LanguageEnvironment, readonly string[]])[] = [
      [{ terminal: true, stepMs: 1 }, []],
      [{ terminal: false, stepMs: slow }, []],
      [{ terminal: true, stepMs: slow }, ["--json"]],
    ];
    for (const [world, more] of worlds) {
      // What the next test does must be left to do.
      const dry = ["undo", "redo", "rewind"].includes(args[0] ?? "") && !args.includes("--dry-run");
      const given = [...args, ...(dry ? ["--dry-run"] : []), ...more];
      const { code, stdout, stderr } = await commanded(given, world);
      expect([given, code, stderr]).toEqual([given, 0, ""]);
      if (more.length > 0) expect(JSON.parse(stdout)).toBeTypeOf("object");
    }
  });

  test("on a terminal, when it takes long: a bar that is taken away before the answer", async () => {
    const { code, stdout, stderr } = await commanded(args, { terminal: true, stepMs: slow });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\S\n$/)]);
    expect(stderr).toMatch(new RegExp(`^\r${label} [█░]{30} \\d+ % of \\d+ (files|items) \x1b\\[K`));
    expect(screenOf(stderr)).toEqual([""]);
  });
});

test("Ctrl-C ends what takes long, and nothing was changed", async () => {
  const before = texts();
  for (const [args] of commands) {
    const signal = AbortSignal.abort();
    const { code, stdout, stderr } = await commanded(args, { terminal: false, stepMs: 1, signal });
    expect([args, code, stdout, stderr]).toEqual([
      args,
      1,
      "",
      expect.stringMatching(/^filehand: (Interrupted before the end|Rewind was cancelled, nothing was changed)\n$/),
    ]);
  }
  expect(texts()).toEqual(before);
});

test("what fails in the middle leaves no bar either", async () => {
  const { code, stderr } = await commanded(["rewind", "start", "--yes", "--deny", "Edit(b.txt)"], {
    terminal: true,
    stepMs: slow,
  });
  expect([code, screenOf(stderr)]).toEqual([1, [""]]);
  expect(stderr).toContain("Going back");
  expect(await commanded(["redo", "--yes"], { terminal: false, stepMs: 1 })).toMatchObject({ code: 0 });
  expect(texts()).toEqual(["two\n", "two\n", "two\n"]);
});

describe.skipIf(!hasTerminal)("at a real terminal", () => {
  /** A person who takes their time: with them, the command takes longer than half a second on any machine. */
  const slowly = { cwd: workspace, env, answerAfterMs: 700 };

  test.each([
    { args: ["rewind", "start"], before: "two\n", after: "one\n" },
    { args: ["redo"], before: "one\n", after: "two\n" },
    { args: ["undo"], before: "two\n", after: "one\n" },
    { args: ["redo"], before: "one\n", after: "two\n" },
  ])("$args.0: the bar comes behind the last answer, and what stays is the answer", async ({ args, before, after }) => {
    expect(texts()).toEqual([before, before, before]);
    const { code, stdout } = await typing(["y\n", "y\n", "y\n"], args, slowly);
    expect([code, texts()]).toEqual([0, [after, after, after]]);
    const behind = stdout.slice(stdout.lastIndexOf(question));
    expect(behind).toMatch(/\rGoing back [█░]{30} \d+ % of 3 files /);
    const screen = screenOf(stdout);
    expect(screen.join("\n")).not.toMatch(/[█░]|Going back [^b]/);
    expect(screen).toEqual(expect.arrayContaining(names.map((name) => `  restored: ${name}`)));
    // The question shows what would become of each.
    expect(screen).toEqual(expect.arrayContaining([`-${before.trim()}`, `+${after.trim()}`]));
  });

  test("a quick one has none", async () => {
    const { code, stdout } = await typing([], ["history"], { cwd: workspace, env });
    expect([code, stdout.includes("█")]).toEqual([0, false]);
  });
});
