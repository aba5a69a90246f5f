/** Paths and trees at the edge of what a system has: depth, length, inode numbers that come again, hostile names. */

import { deepEqual, equal, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { afterAll, beforeAll, describe, test } from "vitest";
import { createFilehand, type FilehandOptions } from "../../src/index.ts";
import { createDisk } from "../../src/disk/disk.ts";
import { nodeSystem } from "../../src/disk/system.ts";
import { everyAttempt, withoutPatch } from "../support/changing.ts";
import { refused, shows, textOf, wholeOf } from "../support/reading.ts";
import { snapshot } from "../support/snapshot.ts";
import { onLinux, onWindows, openDescriptors, workspace } from "../support/workspace.ts";

const optionsAt = (root: string): FilehandOptions => ({ roots: [root], ask: "yes", readFirst: false, dedup: false });
const attemptsAt = (root: string, more: Partial<FilehandOptions> = {}) =>
  everyAttempt(createFilehand({ ...optionsAt(root), ...more }).session({ dialect: "claude" }), "spare.txt");

describe.skipIf(onWindows)("A13 A80 very deep trees", () => {
  const depth = 4_000;
  const { path: at } = workspace({ ws: { "spare.txt": "content\n", "a.txt": "inside a\n" } });
  // Deeper than any path can say: a process that goes down step by step.
  beforeAll(() => {
    const script = `process.chdir(process.argv[1]);
      for (let i = 0; i < ${depth}; i += 1) { fs.mkdirSync("d"); process.chdir("d"); }`;
    execFileSync(process.execPath, ["-e", script, at("ws")]);
    // Each link leads 1,000 folders down from where it stands.
    let folder = at("ws");
    for (let link = 1; link <= 2; link += 1) {
      fs.symlinkSync(`${"d/".repeat(1_000)}.`, `${folder}/l`);
      folder = `${folder}/${"d/".repeat(1_000)}.`.replace(/\/\.$/u, "");
    }
  });
  // No program removes it by its path either.
  afterAll(() => void execFileSync("sh", ["-euc", 'cd "$1" && rm -rf d', "sh", at("ws")]));

  /** Refused, and the path is not sent back again and again. */
  const counted = async (asked: string) => {
    const attempts = attemptsAt(at("ws"));
    for (const [verb, attempt] of Object.entries(attempts)) {
      if (!["read", "ls", "write", "patch that moves to"].includes(verb)) continue;
      const reply = await attempt(asked);
      ok(reply.isError || verb === "ls", `${verb}: ${wholeOf(reply).slice(0, 300)}`);
      ok(wholeOf(reply).length < 40_000, `${verb} sends the path back many times`);
    }
  };

  test("a path of the maximum length opens its file", async () => {
    const attempts = attemptsAt(at("ws"));
    const asked = "d/".repeat(1_900);
    fs.writeFileSync(`${at("ws")}/${asked}x`, "far down\n");
    const reply = await attempts["read"]?.(`${asked}x`);
    ok(reply !== undefined);
    shows(reply, "far down");
  });

  test("a file deeper than the longest path is refused, not confused with another", async () => {
    const attempts = attemptsAt(at("ws"));
    for (const asked of [`l/l/${"d/".repeat(100)}x`, `l/l/${"d/".repeat(1_500)}x`]) {
      const reply = await attempts["write"]?.(asked);
      ok(reply?.isError, JSON.stringify(reply).slice(0, 300));
    }
  });

  for (const [what, asked] of [
    ["down and up again in the depths", `${"d/".repeat(1_000)}${"d/../".repeat(400)}x`],
    ["all the way down and up", `${"d/".repeat(800)}${"../".repeat(800)}nothing`],
    ["missing folders in the depths", `${"d/".repeat(1_000)}${"y/".repeat(900)}x`],
    ["missing folders behind a link", `l/${"y/".repeat(1_900)}x`],
    ["more folders than anybody makes at once", `${"y/".repeat(1_900)}x`],
    ["a file among the folders", `a.txt/${"y/".repeat(1_900)}x`],
  ] as const) {
    test(`${what}: refused without thousands of lookups, and nothing is made`, async () => {
      const before = fs.readdirSync(at("ws"));
      const opens = openDescriptors();
      await counted(asked);
      deepEqual(fs.readdirSync(at("ws")), before);
      equal(openDescriptors(), opens);
    });
  }

  test("one lookup opens a bounded number of folders", () => {
    let opens = 0;
    const disk = createDisk([at("ws")], {
      ...nodeSystem,
      open: (asked, flags) => {
        opens += 1;
        return fs.openSync(asked, flags);
      },
    });
    const lookup = disk.lookup(`${at("ws")}/${"d/".repeat(1_000)}${"d/../".repeat(380)}x`);
    equal(lookup.seen, onLinux ? "too long" : lookup.seen);
    ok(opens < 25_000, String(opens));
  });
});

describe.skipIf(onWindows)("A39 a root that was removed and made again", () => {
  test("is another folder, also if it got the number of the old one", async () => {
    let again = 0;
    for (let tries = 0; tries < 20; tries += 1) {
      const { path: at } = workspace({ ws: { "a.txt": "inside a\n", "spare.txt": "content\n" } });
      const attempts = attemptsAt(at("ws"));
      const { ino } = fs.statSync(at("ws"));
      fs.rmSync(at("ws"), { recursive: true });
      fs.mkdirSync(at("ws"));
      if (fs.statSync(at("ws")).ino === ino) again += 1;
      fs.writeFileSync(at("ws/a.txt"), "another's content\n");
      const before = snapshot(at());
      for (const attempt of Object.values(attempts)) {
        refused(await attempt("a.txt"), "ACCESS_DENIED", ["another's"]);
        refused(await attempt("new.txt"), "ACCESS_DENIED");
      }
      deepEqual(snapshot(at()), before);
    }
    // Figures for who reads the log: not every file system gives numbers out again.
    process.stderr.write(`a new root got the old one's inode in ${again} of 20 tries\n`);
  });
});

describe.skipIf(onWindows)("A47 hard links", () => {
  const linked = () => {
    const here = workspace({ ws: { "spare.txt": "content\n" }, out: { "a.txt": "content outside\n" } });
    fs.linkSync(here.path("out/a.txt"), here.path("ws/a.txt"));
    return here;
  };

  for (const verb of ["edit", "write", "patch that updates", "patch that deletes", "patch that moves from"]) {
    test(`${verb}: the outside name keeps its content`, async () => {
      const { path: at } = linked();
      fs.writeFileSync(at("out/a.txt"), "content\n");
      const reply = await attemptsAt(at("ws"))[verb]?.("a.txt");
      equal(reply?.isError, false, JSON.stringify(reply));
      equal(fs.readFileSync(at("out/a.txt"), "utf8"), "content\n");
      equal(fs.statSync(at("out/a.txt")).nlink, 1);
    });
  }

  test("with denyHardlinks no verb reads or changes a file with other names", async () => {
    const { path: at, top } = linked();
    const before = snapshot(top);
    for (const [verb, attempt] of Object.entries(attemptsAt(at("ws"), { denyHardlinks: true }))) {
      const reply = await attempt("a.txt");
      refused(reply, "ACCESS_DENIED", ["content outside", at("out")]);
      ok(textOf(reply).includes("other names"), `${verb}: ${textOf(reply)}`);
    }
    deepEqual(snapshot(top), before);
    const spare = await attemptsAt(at("ws"), { denyHardlinks: true })["read"]?.("spare.txt");
    equal(spare?.isError, false);
  });

  test("a file that cannot be separated from an outside name is not written in place", async () => {
    const { path: at } = linked();
    // A folder that takes no new file would be a reason to write in place.
    const system = nodeSystem;
    const disk = createDisk([at("ws")], {
      ...system,
      make: (asked, flags, mode) => {
        if (asked.includes(".filehand-new-")) throw Object.assign(new Error("EACCES"), { errno: -13, code: "EACCES" });
        return system.make(asked, flags, mode);
      },
    });
    const lookup = disk.lookup(at("ws/a.txt"));
    ok(lookup.seen === "node");
    const file = disk.open(lookup);
    ok(!("errno" in file));
    const { signal } = new AbortController();
    const replaced = await disk.replace({
      node: lookup,
      file,
      pieces: [Buffer.from("new")],
      hardLinks: "separate",
      signal,
    });
    file.close();
    lookup.handle.close();
    equal(replaced.did, "nothing");
    equal(fs.readFileSync(at("out/a.txt"), "utf8"), "content outside\n");
  });
});

describe.skipIf(onWindows)("A14 A53 A75 hostile names", () => {
  const hostile = [
    "line\nbreak",
    "carriage\rreturn",
    "escape\u001b[2J\u001b[31mred",
    "bell\u0007",
    "right\u202eto left",
    "zero\u200bwidth",
    "c1\u009bcontrol",
    "separator\u2028line",
    "tag\u{e0041}",
  ];
  const raw = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u2028\u202e]/u;

  for (const name of hostile) {
    test(`${JSON.stringify(name)} is escaped in every reply`, async () => {
      const { path: at } = workspace({ ws: { "spare.txt": "content\n", [name]: { [name]: "content\n" } } });
      for (const tried of [attemptsAt(at("ws")), attemptsAt(at("ws"), { permissions: { deny: ["Read(*)"] } })]) {
        for (const [verb, attempt] of Object.entries(name.includes("\n") ? withoutPatch(tried) : tried)) {
          for (const asked of [`${name}/${name}`, name, `${name}/missing`, `../${name}`]) {
            const text = textOf(await attempt(asked));
            // What a file holds is shown as it is; here that is one plain line.
            const found = raw.exec(text.replaceAll("\t", ""));
            equal(found, null, `${verb}: ${JSON.stringify(text)}`);
            ok(!text.includes(name) || name.startsWith("tag"), `${verb}: ${JSON.stringify(text)}`);
          }
        }
      }
    });
  }
});

describe.skipIf(!onLinux)("permissions that change in between", () => {
  const cannot = process.getuid?.() === 0 ? undefined : "it needs root to become another user";
  test.skipIf(cannot !== undefined)(
    `A28 A49 a folder that is shut for a while is refused, never walked around${cannot ? ` (skipped: ${cannot})` : ""}`,
    async () => {
      const { path: at, top } = workspace({
        ws: { dir: { "a.txt": "content\n" }, "spare.txt": "content\n", l: { link: "dir/a.txt" } },
      });
      fs.chmodSync(top, 0o755);
      for (const name of ["ws", "ws/dir", "ws/dir/a.txt", "ws/spare.txt"]) fs.chownSync(at(name), 65_534, 65_534);
      process.setegid?.(65_534);
      process.seteuid?.(65_534);
      // As this user: its lock folder is chosen here.
      const attempts = attemptsAt(at("ws"));
      try {
        shows((await attempts["read"]?.("l")) as never, "content");
        fs.chmodSync(at("ws/dir"), 0);
        for (const verb of ["read", "edit", "write", "patch that updates", "patch that deletes"]) {
          for (const asked of ["dir/a.txt", "l", "dir/new.txt", "dir/../spare.txt/x"]) {
            const reply = await attempts[verb]?.(asked);
            ok(reply?.isError, `${verb} ${asked}: ${JSON.stringify(reply)}`);
            const expected =
              asked === "dir/../spare.txt/x" ? ["NOT_FOUND", "ACCESS_DENIED", "NOT_DIRECTORY"] : ["ACCESS_DENIED"];
            ok(expected.includes(reply.error?.code ?? ""), `${verb} ${asked}: ${JSON.stringify(reply)}`);
          }
        }
        fs.chmodSync(at("ws/dir"), 0o755);
        fs.chmodSync(at("ws/dir/a.txt"), 0o444);
        // That a change works at all for this user, locks and all, is shown by another file.
        equal((await attempts["edit"]?.("spare.txt"))?.isError, false);
        for (const verb of ["edit", "write", "patch that updates"]) {
          const reply = await attempts[verb]?.("l");
          ok(reply !== undefined);
          refused(reply, "ACCESS_DENIED");
          ok(textOf(reply).includes("read-only"), `${verb}: ${textOf(reply)}`);
        }
        shows((await attempts["read"]?.("l")) as never, "content");
      } finally {
        process.seteuid?.(0);
        process.setegid?.(0);
      }
      equal(fs.statSync(at("ws/dir/a.txt")).mode & 0o777, 0o444);
      equal(fs.readFileSync(at("ws/dir/a.txt"), "utf8"), "content\n");
    },
  );
});
