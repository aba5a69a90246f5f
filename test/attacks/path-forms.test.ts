/** A12: paths as models and shells write them: `~/x`, variables, drives, quotes, and spaces that are none. */

import { deepEqual, equal, match } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { createFilehand, type FilehandOptions, type Session } from "../../src/index.ts";
import { textOf } from "../support/reading.ts";
import { onWindows, workspace } from "../support/workspace.ts";

function bed(options: Partial<FilehandOptions> = {}) {
  const { path: at } = workspace({
    ws: { "a.txt": "one\n", src: { "b.txt": "two\n" } },
    home: { "notes.txt": "mine\n", proj: { "in.txt": "inside\n" } },
  });
  const open = (more: Partial<FilehandOptions> = {}): Session =>
    createFilehand({ roots: [at("ws")], home: at("home"), ask: "yes", readFirst: false, ...options, ...more }).session({
      dialect: "claude",
    });
  return { at, open };
}

const verbs: Readonly<Record<string, (session: Session, path: string) => ReturnType<Session["call"]>>> = {
  Read: (session, path) => session.call("Read", { file_path: path }),
  Write: (session, path) => session.call("Write", { file_path: path, content: "x" }),
  Edit: (session, path) => session.call("Edit", { file_path: path, old_string: "", new_string: "x" }),
  Grep: (session, path) => session.call("Grep", { pattern: ".", path }),
  Glob: (session, path) => session.call("Glob", { pattern: "*", path }),
  LS: (session, path) => session.call("LS", { path }),
};

describe.skipIf(onWindows)("~/ is the home folder", () => {
  for (const [verb, call] of Object.entries(verbs)) {
    test(`${verb}: outside the roots it is refused, and no folder of that name is made`, async () => {
      const { at, open } = bed();
      for (const path of ["~/notes.txt", "~", "~/new/x.txt"]) {
        const reply = await call(open(), path);
        equal(reply.error?.code, "ACCESS_DENIED", `${path}: ${textOf(reply)}`);
      }
      deepEqual(fs.readdirSync(at("ws")), ["a.txt", "src"]);
    });
  }

  test("inside a root it is the file, and rules hold for it", async () => {
    const { at, open } = bed();
    const roots = [at("ws"), at("home/proj")];
    match(textOf(await open({ roots }).call("Read", { file_path: "~/proj/in.txt" })), /inside/);
    const denied = open({ roots, permissions: { deny: ["Read(~/proj/**)"] } });
    equal((await denied.call("Read", { file_path: "~/proj/in.txt" })).error?.code, "ACCESS_DENIED");
    equal((await open({ roots }).call("Write", { file_path: "~/proj/new.txt", content: "x" })).isError, false);
    equal(fs.readFileSync(at("home/proj/new.txt"), "utf8"), "x");
  });

  test("a rule lets a session in there", async () => {
    const { open } = bed();
    const session = open({ permissions: { allow: ["external_directory(~/proj/**)"] } });
    match(textOf(await session.call("Read", { file_path: "~/proj/in.txt" })), /inside/);
  });
});

describe.skipIf(onWindows)("what a shell or another system would understand", () => {
  for (const [path, why] of [
    ["$HOME/x.txt", /shell variables are not expanded/],
    ["${HOME}/x.txt", /shell variables are not expanded/],
    ["%USERPROFILE%\\x.txt", /shell variables are not expanded/],
    ["~root/x.txt", /only ~\/ means a home folder/],
    ["C:\\foo\\x.txt", /drive of Windows/],
    ["c:/foo/x.txt", /drive of Windows/],
  ] as const) {
    for (const [verb, call] of Object.entries(verbs)) {
      test(`${verb} ${path} is refused with the reason, and nothing is made`, async () => {
        const { at, open } = bed();
        const reply = await call(open(), path);
        equal(reply.error?.code, "INVALID_PARAM", textOf(reply));
        match(textOf(reply), why);
        deepEqual(fs.readdirSync(at("ws")), ["a.txt", "src"]);
      });
    }

    test(`${path} is a name where such a name exists`, async () => {
      const { at, open } = bed();
      const [first = "", rest] = path.split("/");
      if (rest === undefined) fs.writeFileSync(at("ws", first), "there\n");
      else fs.mkdirSync(at("ws", first));
      if (rest === undefined) match(textOf(await open().call("Read", { file_path: path })), /there/);
      equal((await open().call("Write", { file_path: path, content: "x" })).isError, false);
    });
  }

  test("names that only begin so are names", async () => {
    const { open } = bed();
    for (const path of ["~draft.txt", "$data.txt", "src/$HOME/x.txt", "src/~root/x.txt", "a:b.txt"]) {
      const reply = await open().call("Write", { file_path: path, content: "x" });
      equal(reply.isError, false, `${path}: ${textOf(reply)}`);
    }
  });
});

describe.skipIf(onWindows)("what was meant", () => {
  for (const [path, file] of [
    ['"a.txt"', "a.txt"],
    ["'src/b.txt'", "src/b.txt"],
    ["`src/b.txt`", "src/b.txt"],
  ] as const) {
    test(`${path} suggests the file`, async () => {
      const { at, open } = bed();
      for (const quoted of [path, path.replace(file, at("ws", file))]) {
        const text = textOf(await open().call("Read", { file_path: quoted }));
        match(text, /did you mean/);
        equal(text.includes(`"${at("ws", file)}"`), true, text);
      }
    });
  }

  for (const path of ['"new.txt"', "'new.txt'", "`src/new.txt`"]) {
    test(`Write ${path} makes no name with quotes, unless ./ is before it`, async () => {
      const { at, open } = bed();
      const reply = await open().call("Write", { file_path: path, content: "x" });
      equal(reply.error?.code, "INVALID_PARAM", textOf(reply));
      match(textOf(reply), /quotes around it, leave them out/);
      deepEqual(fs.readdirSync(at("ws")), ["a.txt", "src"]);
      if (path.includes("/")) return;
      equal((await open().call("Write", { file_path: `./${path}`, content: "x" })).isError, false);
      equal(fs.readFileSync(at("ws", path), "utf8"), "x");
    });
  }

  for (const [there, asked] of [
    ["Screen 8.00\u202fPM.png.txt", "Screen 8.00 PM.png.txt"],
    ["a\u00a0b\u00a0c.txt", "a b c.txt"],
    ["one two\u202fthree.txt", "one two three.txt"],
    ["plain name.txt", "plain\u202fname.txt"],
    ["plain name.txt", "plain\u00a0name.txt"],
    ["caf\u0065\u0301\u00a0x.txt", "caf\u00e9 x.txt"],
  ] as const) {
    test(`${JSON.stringify(asked)} opens its twin ${JSON.stringify(there)}`, async () => {
      const { at, open } = bed();
      fs.writeFileSync(at("ws", there), "twin\n");
      match(textOf(await open().call("Read", { file_path: asked })), /twin/);
      equal((await open().call("Edit", { file_path: asked, old_string: "twin", new_string: "new" })).isError, false);
      equal(fs.readFileSync(at("ws", there), "utf8"), "new\n");
      const denied = open({ permissions: { deny: [`Read(${there})`] } });
      equal((await denied.call("Read", { file_path: asked })).error?.code, "ACCESS_DENIED");
    });
  }

  test("of two look-alike names neither is chosen, and an exact name always is", async () => {
    const { at, open } = bed();
    for (const name of ["x\u00a0y.txt", "x\u202fy.txt"]) fs.writeFileSync(at("ws", name), "twin\n");
    equal((await open().call("Read", { file_path: "x y.txt" })).error?.code, "NOT_FOUND");
    fs.writeFileSync(at("ws/x y.txt"), "itself\n");
    match(textOf(await open().call("Read", { file_path: "x y.txt" })), /itself/);
  });

  test("where the folder is missing too, Read suggests no folder, which it would refuse", async () => {
    const { open } = bed();
    for (const path of ["none/at/all.txt", "src/deep/er/x.txt"]) {
      const text = textOf(await open().call("Read", { file_path: path }));
      equal(text.includes('folder "'), false, text);
    }
  });
});
