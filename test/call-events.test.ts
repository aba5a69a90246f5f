/** What a host that listens hears of calls, in every dialect and for every end that a call can have. */

import * as fs from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { type CallDetail, type CallEvent, createFilehand, type FilehandOptions } from "../src/index.ts";
import { project, run, temporaryFolder } from "./ends/run.ts";

const workspace = temporaryFolder();
const state = temporaryFolder();
afterAll(() => {
  workspace.remove();
  state.remove();
});
const at = (name: string): string => join(workspace.path, name);

beforeEach(() => {
  fs.mkdirSync(at("folder"), { recursive: true });
  fs.writeFileSync(at("a.txt"), "one\ntwo\nthree\n");
});

function listening(options: Partial<FilehandOptions> = {}) {
  const filehand = createFilehand({ roots: [workspace.path], ask: "yes", stateDir: state.path, ...options });
  const heard: { readonly event: CallEvent; readonly detail: CallDetail }[] = [];
  const stop = filehand.listen((event, detail) => heard.push({ event, detail }));
  const last = () => heard.at(-1) ?? expect.fail("nothing was heard");
  return { filehand, heard, stop, last };
}

test("a read tells what was shown, and the reply is the one that was given", async () => {
  const { filehand, last } = listening();
  const session = filehand.session({ dialect: "claude", id: "s1", principal: "me" });
  const input = { file_path: "a.txt", offset: 2 };
  const reply = await session.call("Read", input);
  expect(last().event).toMatchObject({
    id: 1,
    session: "s1",
    principal: "me",
    dialect: "claude",
    tool: "Read",
    verb: "read",
    path: "a.txt",
    real: at("a.txt"),
    range: { of: "lines", from: 2, to: 3, total: 3 },
    outcome: "ok",
    reason: "text",
    changes: [],
    turn: null,
  });
  expect(last().detail).toEqual({ input, reply, diffs: [] });
  expect(session.id).toBe("s1");
});

for (const [what, tool, input, expected] of [
  ["a missing file", "Read", { file_path: "b.txt" }, { outcome: "NOT_FOUND", reason: "missing", path: "b.txt" }],
  [
    "a range past the end",
    "Read",
    { file_path: "a.txt", offset: 9, limit: 3 },
    { outcome: "INVALID_PARAM", range: { from: 9, to: 11 } },
  ],
  ["a way out", "Read", { file_path: "../x" }, { outcome: "ACCESS_DENIED", reason: "outside" }],
  [
    "what has bad arguments",
    "Read",
    { file: 1 },
    { outcome: "INVALID_PARAM", reason: "arguments", path: null, real: null },
  ],
  ["a tool that there is not", "Bash", {}, { outcome: "UNKNOWN_TOOL", verb: null, tool: "Bash" }],
  ["a folder", "LS", { path: "." }, { outcome: "ok", path: "", range: { of: "entries", from: 1, to: 2, total: 2 } }],
  ["a search", "Grep", { pattern: "two" }, { outcome: "ok", reason: "grep", pattern: "two" }],
  ["a pattern", "Glob", { pattern: "*.txt" }, { outcome: "ok", reason: "glob", pattern: "*.txt" }],
] as const) {
  test(`${what} is told as such`, async () => {
    const { filehand, last } = listening();
    const reply = await filehand.session().call(tool, input);
    expect(last().event).toMatchObject(expected);
    expect(last().detail.reply).toBe(reply);
    expect(last().event.tokensGiven).toBeGreaterThan(0);
    expect(Number.isInteger(last().event.tokensGiven)).toBe(true);
  });
}

test("tokens are whole ones, of a call and in the sum, also of what was not shown again", async () => {
  const { filehand, heard } = listening();
  const session = filehand.session();
  for (let length = 1; length <= 12; length += 1) {
    fs.writeFileSync(at("a.txt"), `${"word ".repeat(length)}\n`);
    for (let times = 0; times < 2; times += 1) await session.call("Read", { file_path: "a.txt" });
  }
  const { tokensGiven, tokensSaved } = session.stats();
  const all = heard.flatMap(({ event }) => [event.tokensGiven, event.tokensSaved]);
  expect([...all, tokensGiven, tokensSaved].filter((tokens) => !Number.isInteger(tokens))).toEqual([]);
  expect(tokensSaved).toBeGreaterThan(0);
});

test("a change tells its files, its diff and its turn; a dry run has none", async () => {
  const { filehand, last } = listening();
  const session = filehand.session();
  await session.call("Read", { file_path: "a.txt" });
  const edit = { file_path: "a.txt", old_string: "two", new_string: "2" };
  await session.call("Edit", edit, { dryRun: true });
  expect(last().event).toMatchObject({ dryRun: true, turn: null, changes: [{ additions: 1, deletions: 1 }] });
  await session.call("Edit", edit);
  const { event, detail } = last();
  expect(event.changes).toEqual([
    { path: at("a.txt"), relative: "a.txt", did: "updated", movedFrom: null, additions: 1, deletions: 1 },
  ]);
  expect(detail.diffs[0]).toMatchObject({ complete: true, hunks: [{ lines: [" one", "-two", "+2", " three"] }] });
  const turns = (await session.history())?.turns() ?? [];
  expect(turns.at(-1)?.messageId).toBe(event.turn);
});

test("a patch of several files is one call, and a move says from where", async () => {
  const { filehand, last } = listening({ dialect: "opencode" });
  const session = filehand.session({ dialect: "opencode" });
  await session.call("read", { filePath: at("a.txt") });
  const patchText = [
    "*** Begin Patch",
    "*** Add File: new.txt",
    "+new",
    "*** Update File: a.txt",
    "*** Move to: moved.txt",
    "@@",
    "-one",
    "+1",
    "*** End Patch",
  ].join("\n");
  await session.call("patch", { patchText });
  expect(last().event).toMatchObject({ verb: "patch", changesTotal: 2 });
  expect(last().event.changes.map(({ relative, did, movedFrom }) => [relative, did, movedFrom])).toEqual([
    ["new.txt", "created", null],
    ["moved.txt", "moved", "a.txt"],
  ]);
  for (const name of ["new.txt", "moved.txt"]) fs.rmSync(at(name));
});

test("what is not spent again is told, and a cancelled call too", async () => {
  const { filehand, last, heard, stop } = listening();
  const session = filehand.session();
  for (let times = 0; times < 2; times += 1) await session.call("Read", { file_path: "a.txt" });
  expect(last().event).toMatchObject({ reason: "unchanged" });
  expect(last().event.tokensSaved).toBeGreaterThan(0);
  await session.call("Read", { file_path: "a.txt" }, { signal: AbortSignal.abort() });
  expect(last().event).toMatchObject({ outcome: "CANCELLED" });
  // What a host asks for itself is no call.
  await session.cost("a.txt");
  await session.workspace.content("a.txt", 1_000);
  expect(heard.map(({ event }) => event.id)).toEqual([1, 2, 3]);
  stop();
  await session.call("Read", { file_path: "a.txt" });
  expect(heard).toHaveLength(3);
});

test("what a model writes may be of any length, an event is small", async () => {
  const { filehand, last } = listening();
  const long = "x".repeat(1_000_000);
  await filehand.session().call(long, {});
  await filehand.session().call("Glob", { pattern: long });
  await filehand.session().call("Read", { file_path: long });
  expect(JSON.stringify(last().event).length).toBeLessThan(10_000);
});

test("a listener that throws ends nobody's call: the host hears of its own bug", async () => {
  const script = `
    import { createFilehand } from ${JSON.stringify(join(project, "dist", "index.js"))};
    process.on("uncaughtException", (error) => console.log("host: " + error.message));
    const filehand = createFilehand({ roots: [process.cwd()] });
    filehand.listen(() => { throw new Error("my bug"); });
    const reply = await filehand.session().call("Read", { file_path: "a.txt" });
    console.log("reply: " + reply.content[0].text.split("\\n")[0]);`;
  const ran = await run(process.execPath, ["--input-type=module", "-e", script], { cwd: workspace.path });
  expect(ran.stdout.split("\n").toSorted()).toEqual(["", "host: my bug", "reply: 1\tone"]);
});
