/**
 * What Filehand itself leaves about for a moment, turned against it: temporary files, undo journals, lock files, the state
 * folder. A37 A38 A47 A65.
 */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { createFilehand, type FilehandOptions } from "../../src/index.ts";
import { createDisk } from "../../src/disk/disk.ts";
import { prepareLockFolder } from "../../src/disk/lock/lock-folder.ts";
import { processIdentity } from "../../src/disk/lock/process-identity.ts";
import { nodeSystem, type System } from "../../src/disk/system.ts";
import { everyAttempt } from "../support/changing.ts";
import { refused, shows } from "../support/reading.ts";
import { snapshot } from "../support/snapshot.ts";
import { onLinux, onWindows, workspace } from "../support/workspace.ts";

const [, , realm = ""] = processIdentity().split("-");
/** With a start at which nothing has started: its number may have been given out again. */
const deadPid = spawnSync(process.execPath, ["-e", ""]).pid;
const leftName = (kind: "new" | "undo"): string => `.filehand-${kind}-${deadPid}-1-${realm}-0123456789ab`;

/** A journal that says that `path` was being changed from `old` to `next`, as `disk/write/in-place.ts` writes it. */
function journal(path: string, name: string, old: string, next: string): Buffer {
  const { dev, ino } = fs.statSync(path, { bigint: true });
  const head = Buffer.alloc(8_192);
  head.write(
    JSON.stringify({
      version: 1,
      name,
      path,
      device: String(dev),
      inode: String(ino),
      from: 0,
      oldBytes: old.length,
      newBytes: next.length,
    }),
  );
  const body = Buffer.concat([head, Buffer.from(old), Buffer.from(next)]);
  return Buffer.concat([body, createHash("sha256").update(body).digest()]);
}

const optionsAt = (root: string): FilehandOptions => ({ roots: [root], ask: "yes", readFirst: false, dedup: false });
const attemptsAt = (root: string) =>
  everyAttempt(createFilehand(optionsAt(root)).session({ dialect: "claude" }), "spare.txt");

describe.skipIf(onWindows)("forged leftovers", () => {
  for (const name of [leftName("undo"), leftName("new"), leftName("undo").toUpperCase(), "filehand-locks-0/0123abcd"]) {
    test(`A65 no tool reads, makes or changes "${name.replace(/\d+-1-[0-9a-fA-F]+/u, "N")}", by whatever name`, async () => {
      const { path: at, top } = workspace({
        ws: { "spare.txt": "content\n", sub: {}, "filehand-locks-0": { there: "content\n" } },
      });
      const planted = `${at("ws")}/${name}`;
      fs.writeFileSync(planted, "content\n");
      fs.symlinkSync(planted, at("ws/innocent"));
      const before = snapshot(top);
      for (const [verb, attempt] of Object.entries(attemptsAt(at("ws")))) {
        if (verb === "ls") continue;
        for (const asked of [name, `sub/../${name}`, "innocent"]) refused(await attempt(asked), "ACCESS_DENIED");
      }
      deepEqual(snapshot(top), before);
      fs.unlinkSync(planted);
      fs.unlinkSync(at("ws/innocent"));
      for (const verb of ["write", "edit that makes a file", "patch that adds", "patch that moves to"]) {
        refused(
          (await attemptsAt(at("ws"))[verb]?.(name)) ?? { content: [], structured: null, isError: false },
          "ACCESS_DENIED",
        );
      }
      equal(fs.existsSync(planted), false);
    });
  }

  test("a journal that names a file elsewhere reaches only the name beside it", async () => {
    const { path: at } = workspace({
      ws: { "spare.txt": "content\n", "a.txt": "aaaa" },
      out: { "a.txt": "bbbb", "b.txt": "bbbb" },
    });
    // Torn between the two, as far as the journal can tell: a sweep that believed it would write "evil".
    for (const [index, name] of ["../out/a.txt", at("out/a.txt"), "b.txt"].entries()) {
      const target = at("out", index === 2 ? "b.txt" : "a.txt");
      const left = leftName("undo").replace(/.$/u, String(index));
      fs.writeFileSync(at("ws", left), journal(target, name, "evib", "bbbx"));
    }
    fs.symlinkSync("../out/b.txt", at("ws/b.txt"));
    const outside = snapshot(at("out"));
    equal((await attemptsAt(at("ws"))["write"]?.("new.txt"))?.isError, false);
    deepEqual(snapshot(at("out")), outside);
    equal(fs.readFileSync(at("ws/a.txt"), "utf8"), "aaaa");
  });

  test("leftovers that are links, folders or pipes are not followed and not removed", async () => {
    const { path: at } = workspace({
      ws: { "spare.txt": "content\n" },
      out: { "a.txt": "content\n", folder: { x: "content\n" } },
    });
    const names = ["1", "2", "3", "4"].map((digit) =>
      leftName(Number(digit) % 2 === 0 ? "new" : "undo").replace(/.$/u, digit),
    );
    fs.symlinkSync("../out/a.txt", at("ws", names[0] ?? ""));
    fs.symlinkSync("../out/a.txt", at("ws", names[1] ?? ""));
    fs.mkdirSync(at("ws", names[2] ?? ""));
    fs.symlinkSync("../out/folder", at("ws", names[3] ?? ""));
    const outside = snapshot(at("out"));
    equal((await attemptsAt(at("ws"))["write"]?.("new.txt"))?.isError, false);
    deepEqual(snapshot(at("out")), outside);
    for (const name of names) ok(fs.lstatSync(at("ws", name)));
  });

  test("a journal that is exchanged between look and opening is not believed", async () => {
    const { path: at } = workspace({ ws: { "a.txt": "bbbb", mine: "", "new.txt": "content\n" } });
    const left = at("ws", leftName("undo"));
    fs.writeFileSync(left, "");
    fs.writeFileSync(at("forged"), journal(at("ws/a.txt"), "a.txt", "evib", "bbbx"));
    // The other process comes right after the look, which is when the sweep opens it.
    const system: System = {
      ...nodeSystem,
      open: (path, flags) => {
        if (path.endsWith(leftName("undo")) && fs.existsSync(at("forged"))) fs.renameSync(at("forged"), left);
        return nodeSystem.open(path, flags);
      },
    };
    const disk = createDisk([at("ws")], system);
    const signal = new AbortController().signal;
    const made = await disk.create({ real: at("ws/made.txt"), pieces: [Buffer.from("x")], signal });
    equal(made.did, "created");
    equal(fs.existsSync(at("forged")), false, "the exchange did not come about");
    equal(fs.readFileSync(at("ws/a.txt"), "utf8"), "bbbb");
  });

  test("A37 names of temporary files are not to be foreseen, and never those of something that is there", async () => {
    const { path: at } = workspace({ ws: { "a.txt": "content\n" }, out: { "a.txt": "content\n" } });
    const flags: number[] = [];
    const names = new Set<string>();
    const system: System = {
      ...nodeSystem,
      make: (path, how, mode) => {
        flags.push(how);
        names.add(path.slice(path.lastIndexOf("/") + 1));
        return nodeSystem.make(path, how, mode);
      },
    };
    const disk = createDisk([at("ws")], system);
    const signal = new AbortController().signal;
    for (let count = 0; count < 20; count += 1) {
      equal((await disk.create({ real: at(`ws/${count}.txt`), pieces: [Buffer.from("x")], signal })).did, "created");
    }
    equal(names.size, 20);
    for (const name of names) match(name, /-[0-9a-f]{12}$/u);
    const wanted = fs.constants.O_EXCL | fs.constants.O_CREAT | fs.constants.O_NOFOLLOW;
    for (const how of flags) equal(how & wanted, wanted);
  });
});

describe.skipIf(onWindows)("the folder for locks, made beforehand", () => {
  const refusedFor = (folder: string, why: RegExp): void => {
    let message = "";
    try {
      prepareLockFolder(folder);
    } catch (error) {
      message = error instanceof Error ? error.message : String(error);
    }
    match(message, why);
  };

  test("as a link, as a file, open to others, or of another user: not used, and nothing is put into it", () => {
    const { path: at } = workspace({ out: {}, link: { link: "out" }, file: "x", open: {}, others: {} });
    fs.chmodSync(at("open"), 0o777);
    refusedFor(at("link"), /is a link/u);
    refusedFor(at("file"), /is not a folder/u);
    refusedFor(at("open"), /is open to other users/u);
    if (process.getuid?.() === 0) {
      fs.chmodSync(at("others"), 0o700);
      fs.chownSync(at("others"), 65_534, 65_534);
      refusedFor(at("others"), /belongs to another user/u);
    }
    for (const name of ["out", "open", "others"]) deepEqual(fs.readdirSync(at(name)), []);
  });
});

describe.skipIf(!onLinux)("the state folder", () => {
  /** A file that can only be written in place: its other name is kept. */
  const inPlace = (root: string, stateDir: string) =>
    createFilehand({ ...optionsAt(root), stateDir, hardLinks: "keep" }).session({ dialect: "claude" });

  test("A65 inside the workspace it is refused to every tool", async () => {
    const { path: at } = workspace({ ws: { "spare.txt": "content\n", "a.txt": "content\n", link: { link: "state" } } });
    const session = createFilehand({ ...optionsAt(at("ws")), stateDir: at("ws/state") }).session({ dialect: "claude" });
    equal((await session.call("Write", { file_path: "a.txt", content: "new\n" })).isError, false);
    const kept = fs.readdirSync(at("ws/state"), { recursive: true, encoding: "utf8" });
    const file = kept.find((name) => fs.statSync(at("ws/state", name)).isFile());
    ok(file !== undefined, "nothing was kept");
    const before = fs.readFileSync(at("ws/state", file));
    for (const [verb, attempt] of Object.entries(everyAttempt(session, "spare.txt"))) {
      for (const asked of [`state/${file}`, `link/${file}`, "state/new", "state/undo/x/y"]) {
        const reply = await attempt(asked);
        ok(reply.isError, `${verb} ${asked}`);
      }
    }
    deepEqual(fs.readFileSync(at("ws/state", file)), before);
    equal(fs.existsSync(at("ws/state/new")), false);
  });

  test("a link in the place of its folder for journals is not followed", async () => {
    const { path: at } = workspace({ ws: { "a.txt": "content\n" }, state: { undo: { link: "../out" } }, out: {} });
    fs.linkSync(at("ws/a.txt"), at("ws/twin.txt"));
    fs.writeFileSync(at("out", leftName("new")), "a stranger's");
    const outside = snapshot(at("out"));
    const session = inPlace(at("ws"), at("state"));
    shows(await session.call("Read", { file_path: "a.txt" }), "content");
    equal((await session.call("Write", { file_path: "a.txt", content: "new\n" })).isError, false);
    deepEqual(snapshot(at("out")), outside);
  });
});
