/** `filehand replay` with the built program: every format, wrong input, hostile input, another server. */

import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { corpus } from "../../bench/replay/corpus.js";
import type { ReplayResult } from "../../src/contract/replay.ts";
import { commandLine, project, run, temporaryFolder } from "./run.ts";

const folder = join(project, "bench/replay/corpus");
const files = Object.entries(corpus());

function place(): string {
  const made = temporaryFolder();
  onTestFinished(() => made.remove());
  return made.path;
}

/** Runs in a folder whose temporary files are seen. */
async function replayed(args: readonly string[], cwd = place()) {
  const scratch = place();
  const ran = await run(process.execPath, [commandLine, "replay", ...args], { cwd, env: { TMPDIR: scratch } });
  expect(fs.readdirSync(scratch)).toEqual([]);
  return ran;
}

async function resultOf(args: readonly string[]): Promise<ReplayResult> {
  const { code, stdout, stderr } = await replayed([...args, "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout) as ReplayResult;
}

test("the corpus is as its script makes it", () => {
  expect(fs.readdirSync(folder).toSorted()).toEqual(files.map(([name]) => name).toSorted());
  for (const [name, text] of files) expect(fs.readFileSync(join(folder, name), "utf8")).toBe(text);
});

describe.each(files.map(([name]) => name))("%s", (name) => {
  test("gives the same counts as every other format", async () => {
    const result = await resultOf([join(folder, name)]);
    expect(result.calls).toEqual({ total: 9, replayed: 7, notReplayed: { "shell command": 2 } });
    expect(result.shell).toMatchObject({ commands: 2, changing: 1, undoable: 1 });
    const [score] = result.scores;
    expect(score?.reads).toMatchObject({ calls: 2, sameLines: 2, refused: 0 });
    expect(score?.changes).toMatchObject({ calls: 3, sameBytes: 3, wrongBytes: 0, refused: 0 });
    expect(score?.failures).toEqual([{ kind: "text not found", calls: 2, applied: 1, confirmed: 1, refused: 1 }]);
    expect(result.formats.dialects).toHaveLength(4);
    expect(result.lineEdits).toMatchObject({ wrongBytes: 0, refused: 0 });
    // Codex changes files by patches.
    expect(result.lineEdits.calls > 0).toBe(!name.startsWith("codex"));
    expect(result.tokenizer).toBe("o200k");
  });
});

test("a folder stands for all transcripts in it, and other files there are skipped", async () => {
  const cwd = place();
  fs.cpSync(folder, join(cwd, "a/b"), { recursive: true });
  fs.writeFileSync(join(cwd, "a/package.json"), '{"name":"x"}');
  const result = await resultOf([cwd]);
  expect(result.transcripts).toMatchObject({ files: 5, skipped: 1 });
  expect(result.clients.map(({ client }) => client).toSorted()).toEqual(
    ["Claude Code", "Codex", "Gemini CLI", "neutral", "opencode"].toSorted(),
  );
  expect(result.calls.total).toBe(45);
});

test("opencode's storage folder is read part by part", async () => {
  const cwd = place();
  const { info, messages } = JSON.parse(corpus()["opencode.json"] ?? "") as {
    info: object;
    messages: { info: { id: string }; parts: { id: string }[] }[];
  };
  const write = (path: string, value: object): void => {
    fs.mkdirSync(join(cwd, "storage", path, ".."), { recursive: true });
    fs.writeFileSync(join(cwd, "storage", path), JSON.stringify(value));
  };
  write("session/global/ses_notes.json", info);
  for (const message of messages) {
    write(`message/ses_notes/${message.info.id}.json`, message.info);
    for (const part of message.parts) write(`part/${message.info.id}/${part.id}.json`, part);
  }
  expect((await resultOf([cwd])).calls).toMatchObject({ total: 9, replayed: 7 });
});

test("words for a terminal name tokens, failures and refusals", async () => {
  const { code, stdout } = await replayed([join(folder, "claude-code.jsonl")]);
  expect(code).toBe(0);
  expect(stdout).toContain("9 calls in 1 conversation of Claude Code, 7 of them made again");
  expect(stdout).toContain('Failed as "text not found": 2, 1 of them apply now (1 confirmed by a later change)');
  expect(stdout).toMatch(/Edits by line \(EditLines\): \d+ with the recorded bytes, 0 with other bytes, 0 refused/);
  expect(stdout).toContain("Shell: 2 commands, 1 of them change files, 1 of these could be undone");
});

describe("lines that a command showed", () => {
  const text = Array.from({ length: 40 }, (_, at) => `line ${at + 1}\n`).join("");
  const edit = (old: string): object => ({
    tool: "Edit",
    verb: "edit",
    input: { path: "/w/src/a.txt", old, new: "x" },
    before: text,
    after: text.replace(old, "x"),
  });
  const shell = (command: string, result: string, folder?: string): object => ({
    tool: "Bash",
    verb: "shell",
    input: { command, ...(folder === undefined ? {} : { folder }) },
    result,
  });
  test.each([
    ["count as shown", [shell("sed -n '5,6p' src/a.txt", "line 5\nline 6\n")], 0],
    ["count in the folder of the command", [shell("sed -n '5,6p' a.txt", "line 5\nline 6\n", "/w/src")], 0],
    ["of another file do not", [shell("sed -n '5,6p' a.txt", "line 5\nline 6\n")], 1],
    ["do not after a compaction", [shell("cat src/a.txt", text), { mark: "compaction" }], 1],
    ["do not where the output is another", [shell("cat src/a.txt", text.replaceAll("line", "row"))], 1],
    ["do not where the command failed", [{ ...shell("cat src/a.txt", text), failed: "other" }], 1],
  ])("%s", async (_name, steps, refused) => {
    const cwd = place();
    const lines = [{ "filehand-replay": 1, cwd: "/w" }, ...steps, edit("line 5")];
    fs.writeFileSync(join(cwd, "t.jsonl"), lines.map((line) => JSON.stringify(line)).join("\n"));
    const { scores, lineEdits } = await resultOf([join(cwd, "t.jsonl")]);
    expect(scores[0]?.changes).toMatchObject({ calls: 1, sameBytes: 1 - refused, refused });
    expect(lineEdits).toMatchObject({ calls: 1, wrongBytes: 0, refused: 0 });
  });
});

test("lines that a search showed are in the files when it is made again", async () => {
  const cwd = place();
  const lines = [
    { "filehand-replay": 1, cwd: "/w" },
    {
      tool: "Grep",
      verb: "search",
      input: { pattern: "two", output_mode: "content" },
      result: "a.txt:2:two",
      found: [{ path: "a.txt", from: 2, lines: ["two"] }],
    },
  ];
  fs.writeFileSync(join(cwd, "t.jsonl"), lines.map((line) => JSON.stringify(line)).join("\n"));
  const { scores, calls } = await resultOf([join(cwd, "t.jsonl")]);
  expect([calls.replayed, scores[0]?.searches]).toMatchObject([1, { calls: 1, refused: 0 }]);
});

test("another MCP server gets the same calls and the same score", async () => {
  const server = `"${process.execPath}" "${commandLine}" mcp {folder} --yes --dialect opencode`;
  const { scores } = await resultOf([join(folder, "neutral.jsonl"), "--server", server]);
  const [own, other] = scores;
  expect(other?.toolsUsed).toEqual(["read", "edit", "multiedit", "write", "patch", "delete"]);
  expect(other?.changes).toEqual(own?.changes);
  expect(other?.reads).toEqual(own?.reads);
  expect(other?.failures).toEqual(own?.failures);
  expect(other?.tools.map(({ tool }) => tool).toSorted()).toEqual(["Edit", "Read", "Write"]);
}, 60_000);

describe("refused with a sentence, and no folder is left behind", () => {
  const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
  test.each([
    ["a picture", "a.png", png, "it is no transcript in a known format, name a transcript of Claude Code"],
    ["an empty file", "a.jsonl", "", "it is no transcript in a known format"],
    ["other JSON", "a.json", '{"name": "x"}', "it is no transcript in a known format"],
    ["other lines", "a.jsonl", '{"a":1}\n'.repeat(100), "it is no transcript in a known format"],
    ["deep nesting", "a.json", "[".repeat(3_000_000), "it is no transcript in a known format"],
    ["a database of another program", "a.db", `SQLite format 3\0${"\0".repeat(100)}`, "it is a SQLite database"],
  ])("%s", async (_name, file, content, words) => {
    const cwd = place();
    fs.writeFileSync(join(cwd, file), content);
    const { code, stdout, stderr } = await replayed([file], cwd);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^filehand: Cannot replay ".*": /);
    expect(stderr).toContain(words);
  });

  test("a folder without transcripts, and a path that does not exist", async () => {
    const empty = await replayed([place()]);
    expect([empty.code, empty.stderr]).toEqual([1, expect.stringContaining("the folder has no transcripts")]);
    const missing = await replayed(["nowhere.jsonl"]);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("it does not exist")]);
  });

  test("a command that is no MCP server", async () => {
    const { code, stderr } = await replayed([join(folder, "neutral.jsonl"), "--server", `"${process.execPath}" -e 0`]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("it does not start as an MCP server")]);
  });
});

test("a file that is no result of a replay is not shown on the page", async () => {
  const cwd = place();
  fs.writeFileSync(join(cwd, "r.json"), '{"replay":1}');
  const { code, stderr } = await run(process.execPath, [commandLine, "inspect", "--no-open", "--replay", "r.json"], {
    cwd,
  });
  expect([code, stderr]).toEqual([2, expect.stringContaining("it is not what filehand replay --json prints")]);
});

test("a hostile transcript touches nothing outside of the scratch folder", async () => {
  const cwd = place();
  const target = join(cwd, "victim.txt");
  fs.writeFileSync(target, "mine\n");
  const up = "../".repeat(60);
  const write = (path: string): object => ({
    tool: "Write",
    verb: "write",
    input: { path, content: "taken\n" },
    before: null,
  });
  const lines: unknown[] = [
    { "filehand-replay": 1, cwd: `${up}${cwd}` },
    write(target),
    write(`${up}${target}`),
    write("a\0b"),
    write(`${"d/".repeat(500)}x`),
    write("x".repeat(5_000)),
    write("a"),
    // The file is now a folder.
    write("a/b"),
    {
      tool: "Read",
      verb: "read",
      input: { path: "a", from: -1, lines: 1e9 },
      shown: { from: 5e8, lines: ["x"], total: 9e9 },
    },
    { tool: "Bash", verb: "shell", input: { command: `rm ${target}` } },
    { tool: "x".repeat(100_000), verb: "nothing" },
  ];
  const deep = `{"tool":"x","verb":"search","input":${'{"a":'.repeat(9_000)}1${"}".repeat(9_000)}}`;
  const long = `{"tool":"${"y".repeat(20_000_000)}"}`;
  fs.writeFileSync(
    join(cwd, "t.jsonl"),
    `${lines.map((line) => JSON.stringify(line)).join("\n")}\n${deep}\n${long}\nno json\n`,
  );
  const { code, stdout } = await replayed(["t.jsonl", "--json"], cwd);
  expect(code).toBe(0);
  const result = JSON.parse(stdout) as ReplayResult;
  expect(result.transcripts.linesSkipped).toBe(2);
  expect(result.scores[0]?.changes.wrongBytes).toBe(0);
  expect(fs.readFileSync(target, "utf8")).toBe("mine\n");
  expect(fs.readdirSync(cwd).toSorted()).toEqual(["t.jsonl", "victim.txt"]);
  expect(fs.readdirSync(tmpdir()).filter((name) => name.startsWith("filehand-replay-"))).toEqual([]);
});
