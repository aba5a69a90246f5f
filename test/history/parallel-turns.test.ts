/** Calls that ran at the same time are turns of their own: each can be undone alone, whatever their order in the journal. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createFilehand, type Session } from "../../src/index.ts";
import { commandLine, run } from "../ends/run.ts";
import { replyTo } from "../support/reading.ts";

const base = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-turns-"));
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));
const names = ["a", "b", "c", "d"];
let made = 0;
let root = "";
let stateDir = "";
const there = (name: string): string => fs.readFileSync(path.join(root, name), "utf8");
const state = (): string => names.map((name) => there(name).trim()).join(" ");

beforeEach(() => {
  made += 1;
  root = path.join(base, String(made), "w");
  stateDir = path.join(base, String(made), "state");
  fs.mkdirSync(root, { recursive: true });
  for (const name of [...names, "e"]) fs.writeFileSync(path.join(root, name), "old\n");
});

const open = (id = "s"): Session =>
  createFilehand({ roots: [root], ask: "yes", stateDir, readFirst: false }).session({ dialect: "claude", id });
const edit = (session: Session, name: string, from = "old", to = "new") =>
  session.call("Edit", { file_path: name, old_string: from, new_string: to });
const patch = (session: Session, files: readonly string[], from: string, to: string) => {
  const sections = files.map((file) => `*** Update File: ${file}\n@@\n-${from}\n+${to}\n`);
  const patchText = `*** Begin Patch\n${sections.join("")}*** End Patch`;
  return replyTo(session, (profile) => ({ verb: "patch", patchText, profile }));
};

describe("four edits of four files at once", () => {
  test("are four turns, undone one by one, and then there is nothing to undo", async () => {
    const session = open();
    await edit(session, "e");
    await Promise.all(names.map((name) => edit(session, name)));
    const past = await session.history();
    expect(past?.turns().map(({ files }) => files.length)).toEqual([1, 1, 1, 1, 1]);
    const seen: string[] = [];
    for (let left = 4; left > 0; left -= 1) {
      const { files } = await session.undo();
      expect(files.filter(({ came }) => came === "done")).toHaveLength(1);
      seen.push(state());
      expect(state().match(/new/g) ?? []).toHaveLength(left - 1);
    }
    expect(new Set(seen).size).toBe(4);
    expect(there("e")).toBe("new\n");
    await session.undo();
    expect(there("e")).toBe("old\n");
    for (let again = 0; again < 2; again += 1) await expect(session.undo()).rejects.toThrow(/nothing to undo/);
    // And back again, one by one.
    for (let redone = 0; redone < 5; redone += 1) await session.redo();
    expect(state()).toBe("new new new new");
    await expect(session.redo()).rejects.toThrow(/nothing to redo/);
  });

  test("by the command line: exit code 0 four times, then 1", async () => {
    const session = open("s1");
    await Promise.all(names.map((name) => edit(session, name)));
    const undo = (): ReturnType<typeof run> => {
      const options = ["--yes", "--session", "s1", "--root", root, "--state-dir", stateDir];
      return run(process.execPath, [commandLine, "undo", ...options], { cwd: root });
    };
    const codes: (number | null)[] = [];
    for (let n = 0; n < 6; n += 1) codes.push((await undo()).code);
    expect(codes).toEqual([0, 0, 0, 0, 1, 1]);
    expect(state()).toBe("old old old old");
    expect((await undo()).stderr).toContain("there is nothing to undo");
  });
});

test("a file that already is as it was leaves nothing to undo, whoever restored it", async () => {
  const session = open();
  await edit(session, "a");
  fs.writeFileSync(path.join(root, "a"), "old\n");
  await expect(session.undo()).rejects.toThrow(/nothing to undo/);
});

test("a patch and an edit beside it are undone apart", async () => {
  const session = open();
  await Promise.all([patch(session, ["a", "b", "c"], "old", "patched"), edit(session, "d")]);
  const states: string[] = [];
  for (let n = 0; n < 2; n += 1) {
    await session.undo();
    states.push(state());
  }
  expect(["old old old new", "patched patched patched old"]).toContain(states[0]);
  expect(states[1]).toBe("old old old old");
});

test("calls that were sent before the next message began belong to the message they were sent in", async () => {
  const session = open();
  await session.checkpoint("one");
  const sent = names.map((name) => edit(session, name));
  await session.checkpoint("two");
  await Promise.all([...sent, edit(session, "e")]);
  await session.rewind("two");
  expect([state(), there("e")]).toEqual(["new new new new", "old\n"]);
  await session.rewind("one");
  expect(state()).toBe("old old old old");
});

test("random edits and patches at once: each undo takes back one call, the last one of its files", async () => {
  const files = fc.subarray(names, { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(fc.array(files, { minLength: 1, maxLength: 6 }), async (calls) => {
      made += 1;
      root = path.join(base, String(made), "w");
      stateDir = path.join(base, String(made), "state");
      fs.mkdirSync(root, { recursive: true });
      for (const name of names) fs.writeFileSync(path.join(root, name), "start\n");
      const session = open();
      const line = (n: number): string => `+call ${n}\n`;
      const sent = calls.map((some, n) => {
        const sections = some.map((file) => `*** Update File: ${file}\n@@\n start\n${line(n)}`);
        const patchText = `*** Begin Patch\n${sections.join("")}*** End Patch`;
        return replyTo(session, (profile) => ({ verb: "patch", patchText, profile }));
      });
      expect((await Promise.all(sent)).filter(({ isError }) => isError)).toEqual([]);
      // Each call puts its line right after the first one, so the latest is on top.
      const inEffect = new Set(calls.keys());
      const expected = (name: string): string => {
        const own = [...inEffect].filter((n) => calls[n]?.includes(name)).reverse();
        return `start\n${own.map((n) => `call ${n}\n`).join("")}`;
      };
      for (const name of names) expect(there(name)).toBe(expected(name));
      while (inEffect.size > 0) {
        const before = new Map(names.map((name) => [name, there(name)]));
        await session.undo();
        const changed = names.filter((name) => there(name) !== before.get(name));
        const taken = Number(/call (\d+)/.exec(before.get(changed[0] ?? "") ?? "")?.[1]);
        expect(changed).toEqual(calls[taken]);
        inEffect.delete(taken);
        for (const name of names) expect(there(name)).toBe(expected(name));
      }
      await expect(session.undo()).rejects.toThrow(/nothing to undo/);
    }),
    { numRuns: 25 },
  );
}, 60_000);
