/** What both lookups have to answer alike: the strong one (`beneath.ts`) and the weak one (`by-realpath.ts`). */

import { deepEqual, equal, ok } from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, test } from "vitest";
import type { Code } from "../../src/contract/problem.ts";
import { createDisk } from "../../src/disk/disk.ts";
import type { Lookup } from "../../src/disk/lookup/lookup.ts";
import { nodeSystem, type System } from "../../src/disk/system.ts";
import { createEngine } from "./engine.ts";
import { type Errno, type FaultySystem, faultySystem } from "./faulty-system.ts";
import { refused, shows, wholeOf } from "./reading.ts";
import { workspace } from "./workspace.ts";

/** Every code a read may end with. An errno of the system ends in one of these and never as an exception. */
const closedList: readonly Code[] = [
  "NOT_FOUND",
  "ACCESS_DENIED",
  "IS_DIRECTORY",
  "LINK_LOOP",
  "SPECIAL_FILE",
  "CHANGED",
  "IO_ERROR",
  "INVALID_PARAM",
];

const outside = "outside-content-44aa";
const many = Array.from({ length: 12_000 }, (_, line) => `line ${line + 1} of many`).join("\n");

export function lookupSuite(name: string, platform: NodeJS.Platform): void {
  const { path: at } = workspace({
    ws: {
      "a.txt": "inside a\n",
      "..two": "inside two dots\n",
      "...": { "x.txt": "inside three dots\n" },
      "many.txt": many,
      sub: { "b.txt": "inside b\n", deeper: { "c.txt": "inside c\n" } },
      "to-file": { link: "a.txt" },
      "to-deeper": { link: "sub/deeper" },
      "to-nothing": { link: "nothing" },
      "out-file": { link: "../out/secret.txt" },
      "out-folder": { link: "../out" },
      loop: { link: "loop" },
    },
    "ws-evil": { "a.txt": outside },
    out: { "secret.txt": outside, loop: { link: "loop" } },
    second: { "d.txt": "inside d\n" },
  });
  const root = at("ws");
  const base: System = { ...nodeSystem, platform };

  describe(`${name}: a path is seen as`, () => {
    const disk = createDisk([root, at("second")], base);
    for (const [asked, seen] of [
      ["ws", "directory ws"],
      ["ws/", "directory ws"],
      ["ws/.", "directory ws"],
      ["ws/sub/..", "directory ws"],
      ["ws/a.txt", "file ws/a.txt"],
      ["/ws//./a.txt", "file ws/a.txt"],
      ["ws/..two", "file ws/..two"],
      ["ws/.../x.txt", "file ws/.../x.txt"],
      ["ws/sub/../a.txt", "file ws/a.txt"],
      ["ws/../ws/a.txt", "file ws/a.txt"],
      ["ws/sub/deeper", "directory ws/sub/deeper"],
      ["ws/to-file", "file ws/a.txt"],
      ["ws/to-deeper/c.txt", "file ws/sub/deeper/c.txt"],
      ["ws/to-deeper/../b.txt", "file ws/sub/b.txt"],
      ["ws/to-deeper/", "directory ws/sub/deeper"],
      ["second/d.txt", "file second/d.txt"],
      ["ws/../second/d.txt", "file second/d.txt"],
      ["ws/nothing", "missing"],
      ["ws/nothing/deeper", "missing"],
      ["ws/nothing/../a.txt", "missing"],
      ["ws/to-deeper/../a.txt", "missing"],
      ["ws/to-nothing", "missing"],
      ["ws/a.txt/x", "file on the way"],
      ["ws/a.txt/..", "file on the way"],
      ["ws/to-file/x", "file on the way"],
      ["ws/loop", "loop"],
      ["ws/loop/x", "loop"],
      [`ws/${"x".repeat(256)}`, "too long"],
      ["out/secret.txt", "outside"],
      ["out/nothing", "outside"],
      ["out/loop", "outside"],
      ["out", "outside"],
      ["", "outside"],
      ["ws-evil/a.txt", "outside"],
      ["ws/../ws-evil/a.txt", "outside"],
      ["ws/sub/../../out/secret.txt", "outside"],
      ["ws/out-file", "outside"],
      ["ws/out-folder", "outside"],
      ["ws/out-folder/nothing", "outside"],
      ["ws/to-deeper/../../../out/secret.txt", "outside"],
    ] as const) {
      test(`"${asked.slice(0, 40)}": ${seen}`, () => {
        const absolute = asked.startsWith("/") ? `${at()}${asked}`.replace("//", "/") : at(asked);
        equal(words(disk.lookup(absolute), at()), seen);
      });
    }
  });

  test(`${name}: what is held is the file that was seen, by its identity`, () => {
    const disk = createDisk([root], base);
    const lookup = disk.lookup(at("ws/to-file"));
    ok(lookup.seen === "node");
    const stat = fs.statSync(at("ws/a.txt"), { bigint: true });
    deepEqual(lookup.handle.identity, {
      device: stat.dev,
      inode: stat.ino,
      sizeBytes: Number(stat.size),
      mtimeNs: stat.mtimeNs,
      ctimeNs: stat.ctimeNs,
    });
    equal(lookup.root, disk.roots[0]);
    lookup.handle.close();
    lookup.handle.close(); // the second one does nothing
  });

  test(`${name}: a file swapped for another after the look is not read for it`, async () => {
    const { path: here } = workspace({ ws: { "a.txt": "inside a\n" }, out: { "a.txt": outside } });
    const disk = createDisk([here("ws")], base);
    const lookup = disk.lookup(here("ws/a.txt"));
    ok(lookup.seen === "node");
    fs.renameSync(here("ws/a.txt"), here("ws/b.txt"));
    fs.symlinkSync("../out/a.txt", here("ws/a.txt"));
    const file = disk.open(lookup);
    if ("errno" in file) equal(file.errno, "ESTALE");
    else {
      const buffer = Buffer.alloc(64);
      equal(buffer.toString("utf8", 0, await file.read(buffer, 0)), "inside a\n");
      file.close();
    }
    lookup.handle.close();
  });

  test(`${name}: a folder is listed with its links as links`, async () => {
    const disk = createDisk([root], base);
    const lookup = disk.lookup(root);
    ok(lookup.seen === "node");
    const entries = await disk.list(lookup);
    lookup.handle.close();
    ok(!("errno" in entries));
    equal(entries.find((entry) => entry.name === "out-folder")?.kind, "link");
    equal(entries.find((entry) => entry.name === "sub")?.kind, "directory");
    equal(entries.find((entry) => entry.name === "a.txt")?.kind, "file");
  });

  describe(`${name}: whatever system call fails`, () => {
    for (const [dialect, asked, expected] of [
      ["claude", "a.txt", "inside a"],
      ["claude", "sub/deeper/../b.txt", "inside b"],
      ["claude", "to-deeper/../b.txt", "inside b"],
      ["claude", "to-file", "inside a"],
      ["opencode", "many.txt", "line 1 of many\n"],
      ["claude", "many.txt", "line 1 of many\n"],
      ["claude", "a.txtt", "NOT_FOUND"],
      ["claude", "no/such/folder.txt", "NOT_FOUND"],
      ["claude", "a.txt/x", "NOT_FOUND"],
      ["claude", "out-file", "ACCESS_DENIED"],
      ["claude", "../out/secret.txt", "ACCESS_DENIED"],
      ["claude", "loop", "LINK_LOOP"],
      ["claude", "sub", "IS_DIRECTORY"],
      ["opencode", ".", "sub/"],
      ["claude", ".", "IS_DIRECTORY"],
    ] as const) {
      for (const errno of ["EIO", "EACCES", "EMFILE", "ENOENT"] as const) {
        test(`with ${errno}, "${asked}" in ${dialect} gets an answer and nothing stays open`, async () => {
          const run = await failEvery(errno, asked, dialect);
          ok(run > 3, `${run} system calls`);
        });
      }

      async function failEvery(errno: Errno, path: string, name: "claude" | "opencode"): Promise<number> {
        const system = faultySystem(base);
        const engine = createEngine({ roots: [root], system });
        for (let n = 1; ; n += 1) {
          const before = system.calls.length;
          system.failAt(n, errno);
          const reply = await engine.read(path, name);
          system.failAt(undefined, errno);
          nothingStaysOpen(system, `${errno} at call ${n}`);
          ok(!wholeOf(reply).includes(outside), wholeOf(reply));
          const made = system.calls.length - before;
          const failing = system.calls[before + n - 1] ?? "none";
          if (reply.isError) {
            const code = reply.error?.code ?? "none";
            ok((closedList as readonly string[]).includes(code), `${code} after ${errno} at ${n}, ${failing}`);
          } else shows(reply, expected);
          if (made < n) {
            if (/^[A-Z_]+$/.test(expected)) refused(reply, expected as Code);
            else shows(reply, expected);
            return made;
          }
        }
      }
    }

    for (const errno of ["EIO", "EMFILE"] as const) {
      test(`${errno} is told as it is, not as a replaced root or a missing file`, async () => {
        const system = faultySystem(base);
        const engine = createEngine({ roots: [root], system });
        const names = [...system.calls];
        await engine.read("a.txt");
        const first = system.calls.indexOf(platform === "linux" ? "open" : "statPath", names.length) - names.length + 1;
        system.failAt(first, errno);
        const reply = await engine.read("a.txt");
        refused(reply, "IO_ERROR");
        ok(wholeOf(reply).includes(errno), wholeOf(reply));
      });
    }

    test("making the disk fails in words and leaves nothing open", () => {
      for (const errno of ["EIO", "EACCES", "EMFILE", "ENOENT"] as const) {
        for (let n = 1; ; n += 1) {
          const system = faultySystem(base);
          system.failAt(n, errno);
          try {
            createDisk([root], system);
          } catch (error) {
            ok(error instanceof Error && error.name === "RootError", String(error));
          }
          nothingStaysOpen(system, `${errno} at call ${n}`);
          if (system.calls.length < n) break;
        }
      }
    });
  });

  test(`${name}: reads that come in small bits still make the whole file`, async () => {
    for (const bitMax of [1, 7, 4_096, 65_535]) {
      const system: System = {
        ...base,
        read: (fd, into, offset, length, position) => base.read(fd, into, offset, Math.min(length, bitMax), position),
        readLater: (fd, into, offset, length, position) =>
          base.readLater(fd, into, offset, Math.min(length, bitMax), position),
      };
      const short = createEngine({ roots: [root], system });
      const whole = createEngine({ roots: [root], system: base });
      const asked = bitMax < 4_096 ? "a.txt" : "many.txt";
      for (const range of [{}, { offset: 1 }, { offset: 9_000, limit: 50 }]) {
        deepEqual(await short.read(asked, "claude", range), await whole.read(asked, "claude", range));
      }
    }
  });

  describe(`${name}: a file that changes while it is read`, () => {
    const versions = [numbered("old", 12_000), numbered("new", 6_000)] as const;

    /** Calls `change` before the n-th read of bytes. */
    const changing = (n: number, change: () => void): { system: System; reads: () => number } => {
      let reads = 0;
      const tick = (): void => {
        reads += 1;
        if (reads === n) change();
      };
      const system: System = {
        ...base,
        read: (...given) => {
          tick();
          return base.read(...given);
        },
        readLater: async (...given) => {
          tick();
          return base.readLater(...given);
        },
      };
      return { system, reads: () => reads };
    };

    for (const [how, change, mayShow] of [
      ["cut to half", (file) => fs.truncateSync(file, Math.floor(versions[0].length / 2)), ["old"]],
      ["cut to nothing", (file) => fs.truncateSync(file, 0), ["old"]],
      ["rewritten shorter", (file) => fs.writeFileSync(file, versions[1]), ["old", "new"]],
      ["added to", (file) => fs.appendFileSync(file, numbered("more", 100)), ["old"]],
      ["replaced by rename", (file) => rename(file, versions[1]), ["old", "new"]],
      ["removed", (file) => fs.rmSync(file), ["old"]],
    ] as const satisfies readonly (readonly [string, (file: string) => void, readonly string[]])[]) {
      test(`P12 is shown in one state or not at all when it is ${how}`, async () => {
        const { path: here } = workspace({});
        for (const range of [{}, { offset: 5_000, limit: 200 }, { offset: 11_900 }]) {
          for (let n = 1; ; n += 1) {
            fs.writeFileSync(here("log.txt"), versions[0]);
            const { system, reads } = changing(n, () => change(here("log.txt")));
            const reply = await createEngine({ roots: [here()], system }).read("log.txt", "claude", range);
            if (reply.isError) {
              const code = reply.error?.code ?? "";
              ok(["CHANGED", "INVALID_PARAM", "NOT_FOUND", "OVER_BUDGET"].includes(code), wholeOf(reply));
            } else oneState(contentOf(reply.structured), mayShow);
            if (reads() < n) break;
          }
        }
      });
    }

    test("is CHANGED when it never holds still", async () => {
      const { path: here } = workspace({ "log.txt": versions[0] });
      let long = true;
      const system: System = {
        ...base,
        stat: (fd) => {
          const stat = base.stat(fd);
          if (stat.isFile()) {
            long = !long;
            fs.truncateSync(here("log.txt"), 10);
          }
          return stat;
        },
        open: (asked, flags) => {
          fs.writeFileSync(here("log.txt"), versions[0]);
          return base.open(asked, flags);
        },
      };
      refused(await createEngine({ roots: [here()], system }).read("log.txt"), "CHANGED");
    });

    // Nobody calls `OpenFile.changed`: a rewrite that keeps the size, or grows it, goes unnoticed.
    test("P12 is shown in one state when it is rewritten in place with the same size", async () => {
      const { path: here } = workspace({});
      const version = (word: string): string => `${word} ${"x".repeat(95)}\n`.repeat(2_000);
      for (let n = 1; ; n += 1) {
        fs.writeFileSync(here("log.txt"), version("old"));
        const { system, reads } = changing(n, () => fs.writeFileSync(here("log.txt"), version("new")));
        const reply = await createEngine({ roots: [here()], system }).read("log.txt", "envelope", { limit: 2_000 });
        const whole = wholeOf(reply);
        ok(!(whole.includes("old x") && whole.includes("new x")), `a page of two states, changed at read ${n}`);
        if (reads() < n) break;
      }
    });
  });
}

const numbered = (word: string, lines: number): string =>
  Array.from({ length: lines }, (_, line) => `${word} ${line + 1}\n`).join("");

function rename(file: string, content: string): void {
  fs.writeFileSync(`${file}.next`, content);
  fs.renameSync(`${file}.next`, file);
}

/** All lines are of one version and count up without a gap. */
function oneState(
  content: { readonly lines: readonly string[]; readonly from: number },
  words: readonly string[],
): void {
  const { lines, from } = content;
  if (lines.join("") === "") return;
  const word = lines[0]?.split(" ")[0] ?? "";
  ok([...words, "more"].includes(word), word);
  // The last line of a file that was cut may be cut.
  for (const [index, line] of lines.slice(0, -1).entries()) equal(line, `${word} ${from + index}`);
}

function contentOf(structured: unknown): { readonly lines: readonly string[]; readonly from: number } {
  const { file } = structured as { readonly file: { readonly content: string; readonly startLine: number } }; // `claude`
  return { lines: file.content.split("\n"), from: file.startLine };
}

function nothingStaysOpen(system: FaultySystem, when: string): void {
  deepEqual({ open: [...system.stillOpen], closedTwice: system.closedTwice }, { open: [], closedTwice: [] }, when);
}

/** A look in few words; closes what is held. */
function words(lookup: Lookup, top: string): string {
  switch (lookup.seen) {
    case "node": {
      lookup.handle.close();
      return `${lookup.kind} ${path.relative(top, lookup.real)}`;
    }
    case "missing":
      return lookup.reason;
    case "refused":
      return lookup.errno;
    case "outside":
    case "loop":
    case "root changed":
    case "too long":
    case "changed":
    case "other mount":
    case "other names":
      return lookup.seen;
  }
}
