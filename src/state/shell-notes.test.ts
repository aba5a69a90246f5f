import { deepEqual, equal } from "node:assert/strict";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import { test } from "vitest";
import { workspace } from "../../test/support/workspace.ts";
import { appendShellNotes, followShellNotes } from "./shell-notes.ts";

const { path: place } = workspace({});
const note = (path: string) => ({ path, sha256: "0".repeat(64), lines: [{ from: 1, to: 2 }] });
const pathsIn = (notes: readonly { readonly path: string }[]): readonly string[] => notes.map(({ path }) => path);
const of = { conversation: "c1" };

test("each note is given once, to those who follow the conversation, in order", () => {
  const state = place("once");
  const [one, other] = [followShellNotes(state, of, 0), followShellNotes(state, of, 0)];
  const stranger = followShellNotes(state, { client: "c1" }, 0);
  deepEqual(one(), []);
  appendShellNotes(state, of, [note("/a"), note("/b")]);
  deepEqual(pathsIn(one()), ["/a", "/b"]);
  appendShellNotes(state, of, [note("/c")]);
  deepEqual(pathsIn(one()), ["/c"]);
  deepEqual(one(), []);
  deepEqual(pathsIn(other()), ["/a", "/b", "/c"]);
  deepEqual(stranger(), []);
});

test("notes from before a moment are left out", () => {
  const state = place("since");
  appendShellNotes(state, of, [note("/old")], 999);
  appendShellNotes(state, of, [note("/new")], 1_000);
  deepEqual(pathsIn(followShellNotes(state, of, 1_000)()), ["/new"]);
});

test("a note that is half written is read when it is whole; a damaged one is left out", () => {
  const state = place("half");
  appendShellNotes(state, of, [note("/a")]);
  const [name = ""] = fs.readdirSync(nodePath.join(state, "shell-notes"));
  const file = nodePath.join(state, "shell-notes", name);
  const next = followShellNotes(state, of, 0);
  const line = JSON.stringify({ ...note("/b"), atMs: 1 });
  fs.appendFileSync(file, `no JSON\n{"path": 5}\n${line.slice(0, 20)}`);
  deepEqual(pathsIn(next()), ["/a"]);
  fs.appendFileSync(file, `${line.slice(20)}\n`);
  deepEqual(pathsIn(next()), ["/b"]);
});

test("a file that is full begins anew, and nobody is told the same twice", () => {
  const state = place("full");
  const next = followShellNotes(state, of, 0);
  const seen: string[] = [];
  for (let at = 0; at < 3_000; at += 1) {
    appendShellNotes(state, of, [note(`/${at}`)]);
    seen.push(...pathsIn(next()));
  }
  deepEqual(
    seen,
    Array.from({ length: 3_000 }, (_, at) => `/${at}`),
  );
  const [name = ""] = fs.readdirSync(nodePath.join(state, "shell-notes"));
  const { size, mode } = fs.statSync(nodePath.join(state, "shell-notes", name));
  equal(size <= 262_144, true);
  if (process.platform !== "win32") equal(mode & 0o777, 0o600);
});

test("only so many conversations are kept", () => {
  const state = place("many");
  for (let at = 0; at < 510; at += 1) appendShellNotes(state, { conversation: `${at}` }, [note("/a")]);
  equal(fs.readdirSync(nodePath.join(state, "shell-notes")).length, 500);
});

test("a state folder that cannot be written is no failure", () => {
  fs.writeFileSync(place("file"), "");
  appendShellNotes(place("file"), of, [note("/a")]);
  deepEqual(followShellNotes(place("file"), of, 0)(), []);
});
