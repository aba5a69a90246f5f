import { deepEqual, equal } from "node:assert/strict";
import * as fs from "node:fs";
import * as nodePath from "node:path";
import { test } from "vitest";
import { workspace } from "../../test/support/workspace.ts";
import { appendShellNotes, followShellNotes } from "./shell-notes.ts";

const { path: place } = workspace({});
const note = (path: string) => ({ path, sha256: "0".repeat(64), lines: [{ from: 1, to: 2 }] });
const pathsIn = (notes: readonly { readonly path: string }[]): readonly string[] => notes.map(({ path }) => path);
const conversation = "c1";

test("each note is given once, to those who follow the conversation, in order", () => {
  const state = place("once");
  const [one, other] = [followShellNotes(state, conversation), followShellNotes(state, conversation)];
  const stranger = followShellNotes(state, "c2");
  deepEqual(one(), []);
  appendShellNotes(state, conversation, [note("/a"), note("/b")]);
  deepEqual(pathsIn(one()), ["/a", "/b"]);
  appendShellNotes(state, conversation, [note("/c")]);
  deepEqual(pathsIn(one()), ["/c"]);
  deepEqual(one(), []);
  deepEqual(pathsIn(other()), ["/a", "/b", "/c"]);
  deepEqual(stranger(), []);
});

test("a note that is half written is read when it is whole; a damaged one is left out", () => {
  const state = place("half");
  appendShellNotes(state, conversation, [note("/a")]);
  const [name = ""] = fs.readdirSync(nodePath.join(state, "shell-notes"));
  const file = nodePath.join(state, "shell-notes", name);
  const next = followShellNotes(state, conversation);
  const line = JSON.stringify(note("/b"));
  fs.appendFileSync(file, `no JSON\n{"path": 5}\n${line.slice(0, 20)}`);
  deepEqual(pathsIn(next()), ["/a"]);
  fs.appendFileSync(file, `${line.slice(20)}\n`);
  deepEqual(pathsIn(next()), ["/b"]);
});

test("a file that is full begins anew, and nobody is told the same twice", () => {
  const state = place("full");
  const next = followShellNotes(state, conversation);
  const seen: string[] = [];
  for (let at = 0; at < 3_000; at += 1) {
    appendShellNotes(state, conversation, [note(`/${at}`)]);
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
  for (let at = 0; at < 510; at += 1) appendShellNotes(state, `${at}`, [note("/a")]);
  equal(fs.readdirSync(nodePath.join(state, "shell-notes")).length, 500);
});

test("a state folder that cannot be written is no failure", () => {
  fs.writeFileSync(place("file"), "");
  appendShellNotes(place("file"), conversation, [note("/a")]);
  deepEqual(followShellNotes(place("file"), conversation)(), []);
});
