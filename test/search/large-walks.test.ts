/** Large walks go by descriptor. What they find, and what they leave open, is the same as by `/proc/self/fd`. */

import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDisk } from "../../src/disk/disk.ts";
import { kindOfEntry } from "../../src/disk/lookup/folder-handle.ts";
import { nodeSystem, type System } from "../../src/disk/system.ts";
import type { WalkFolder } from "../../src/disk/lookup/walk.ts";
import { walkFiles } from "../../src/search/files.ts";
import { nothingIgnored } from "../../src/search/ignored.ts";
import { parseGlob } from "../../src/text/glob/glob.ts";
import { startGlobState } from "../../src/text/glob/glob-state.ts";
import { faultySystem } from "../support/faulty-system.ts";
import { inMemory, noFifo, onLinux, openDescriptors, type Tree, workspace } from "../support/workspace.ts";

const made = (tree: Tree) => workspace(tree, inMemory());

const withoutCalls: System = { ...nodeSystem, folderCalls: async () => undefined };

/** Everything that a walk finds, with times and sizes; `hurried`: by descriptor from the second folder on. */
async function walked(top: string, system: System, hurried: "hurried" | "plain", pattern = "**") {
  const disk = createDisk([top], system);
  const lookup = disk.lookup(top);
  const parsed = parseGlob(pattern);
  if (lookup.seen !== "node" || "fault" in parsed) throw new Error("it is there");
  try {
    const start = disk.walk(lookup);
    if (hurried === "hurried") await start.hurry();
    const found: [string, unknown][] = [];
    const tally = await walkFiles(start, {
      above: [],
      ignored: nothingIgnored,
      state: startGlobState(parsed),
      hides: () => false,
      shows: () => true,
      hidesEnd: () => false,
      take: (path, name, folder) => found.push([path, folder.glance(name)]) > 0,
      onTurn: () => "more",
    });
    return { found: new Map(found.toSorted(([a], [b]) => (a < b ? -1 : 1))), tally };
  } finally {
    lookup.handle.close();
  }
}

/** A folder that is listed by its descriptor, not the start. */
async function inFolder<Result>(top: string, system: System, work: (folder: WalkFolder) => Result): Promise<Result> {
  const disk = createDisk([top], system);
  const lookup = disk.lookup(top);
  if (lookup.seen !== "node") throw new Error(lookup.seen);
  const start = disk.walk(lookup);
  await start.hurry();
  const folder = start.enter("in");
  if ("errno" in folder) throw new Error(folder.errno);
  try {
    return work(folder);
  } finally {
    folder.close();
    lookup.handle.close();
  }
}

const listed = (folder: WalkFolder) => {
  const entries = folder.entries();
  if (entries instanceof Promise || "errno" in entries) throw new Error("it can be listed at once");
  return entries
    .map((entry) => ({ name: entry.name, kind: kindOfEntry(entry), glance: folder.glance(entry.name) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
};

describe.skipIf(!onLinux)("walks by descriptor", () => {
  test("the calls can be reached, so that the tests below say something", async () => {
    expect(await nodeSystem.folderCalls()).toBeDefined();
  });

  test("the names of files in a folder come alike, again and again, and only if it has few entries", async () => {
    const files = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`é${index}.txt`, ""]));
    const { top } = made({ in: { ...files, folder: {}, link: { link: "é1.txt" } } });
    for (const system of [nodeSystem, withoutCalls]) {
      const told = await inFolder(top, system, (folder) => [51, 52, 52].map((max) => folder.fileNames(max)));
      expect(told).toEqual([undefined, new Set(Object.keys(files)), new Set(Object.keys(files))]);
    }
  });

  test("random trees are found alike, with the same times and sizes", async () => {
    const name = fc.constantFrom(
      "a",
      "b.ts",
      ".c",
      "dé",
      "e\u0301",
      "名",
      "f g",
      "two\nlines",
      "😀.ts",
      "x".repeat(255),
    );
    const tree = fc.letrec<{ folder: object; node: unknown }>((tie) => ({
      folder: fc.dictionary(name, tie("node"), { maxKeys: 6, noNullPrototype: true }),
      node: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom("", "x", "xyz", { link: "../a" }, { link: "nowhere" }),
        tie("folder"),
      ),
    })).folder;
    await fc.assert(
      // The letters of `Tree` are those of `workspace`; `letrec` cannot say so.
      fc.asyncProperty(tree, fc.constantFrom("**", "**/*.ts", "{*,.*}/**", "a/*"), async (entries, pattern) => {
        const { top } = made(entries as Tree);
        const plain = await walked(top, withoutCalls, "plain", pattern);
        const quick = await walked(top, nodeSystem, "hurried", pattern);
        fs.rmSync(top, { recursive: true });
        expect(quick.found).toEqual(plain.found);
        // In which order folders come is the file system's own affair.
        const withoutOrder = (tally: typeof plain.tally) => ({ ...tally, pruned: tally.pruned.length });
        expect(withoutOrder(quick.tally)).toEqual(withoutOrder(plain.tally));
      }),
      { numRuns: 60 },
    );
  });

  test("a list is the same for every kind of entry, and for names that are not UTF-8", async () => {
    const { top } = made({ in: { "a.txt": "x", sub: {}, link: { link: "a.txt" }, gone: { link: "nowhere" } } });
    fs.writeFileSync(Buffer.concat([Buffer.from(`${top}/in/b`), Buffer.from([0xff]), Buffer.from(".txt")]), "x");
    fs.truncateSync(`${top}/in/a.txt`, 5_000_000_000);
    fs.utimesSync(`${top}/in/a.txt`, -1.5, -1.5);
    if (noFifo === undefined) execFileSync("mkfifo", [`${top}/in/pipe`]);
    const plain = await inFolder(top, withoutCalls, listed);
    expect(plain.length).toBeGreaterThan(4);
    expect(await inFolder(top, nodeSystem, listed)).toEqual(plain);
  });

  test("a folder that takes many calls to list is listed whole", async () => {
    const { top } = made({ in: {} });
    for (let index = 0; index < 3_000; index += 1) fs.writeFileSync(`${top}/in/${"n".repeat(index % 200)}${index}`, "");
    const quick = await inFolder(top, nodeSystem, listed);
    expect(quick).toHaveLength(3_000);
    expect(quick).toEqual(await inFolder(top, withoutCalls, listed));
  });

  test("what is gone is gone, and what is no folder is not entered", async () => {
    const { top } = made({ out: { "secret.txt": "x" }, in: { "a.txt": "x", link: { link: "../out" } } });
    await inFolder(top, nodeSystem, (folder) => {
      expect(folder.glance("nothing")).toBeUndefined();
      expect(folder.enter("nothing")).toEqual({ errno: "ENOENT" });
      expect(folder.enter("a.txt")).toEqual({ errno: "ENOTDIR" });
      expect(folder.enter("link")).toEqual({ errno: "ENOTDIR" });
    });
  });

  test("a folder that became a link out is not entered, and one that was moved is still itself", async () => {
    const { top } = made({ outside: { "secret.txt": "x" }, inside: { a: { b: { "1.txt": "x" } } } });
    const inside = `${top}/inside`;
    const calls = await nodeSystem.folderCalls();
    if (calls === undefined) throw new Error("it was reached above");
    const swapping = (path: string): System => ({
      ...nodeSystem,
      folderCalls: async () => ({
        ...calls,
        entries: (folder) => {
          const entries = calls.entries(folder);
          if (entries.some(({ name }) => name === "b") && !fs.existsSync(`${top}/moved`)) {
            fs.renameSync(path, `${top}/moved`);
            fs.symlinkSync(`${top}/outside`, path);
          }
          return entries;
        },
      }),
    });
    const swapped = await walked(inside, swapping(`${inside}/a/b`), "hurried");
    expect([[...swapped.found.keys()], swapped.tally.unreadable]).toEqual([[], 1]);
    fs.unlinkSync(`${inside}/a/b`);
    fs.renameSync(`${top}/moved`, `${inside}/a/b`);
    const moved = await walked(inside, swapping(`${inside}/a`), "hurried");
    expect([...moved.found.keys()]).toEqual(["a/b/1.txt"]);
  });

  // Root reads everything.
  test.skipIf(process.getuid?.() === 0)("a folder that may be entered but not listed is unreadable", async () => {
    const { top } = made({ a: { b: { "1.txt": "x" } }, "2.txt": "x" });
    fs.chmodSync(`${top}/a`, 0o311);
    const [quick, plain] = [await walked(top, nodeSystem, "hurried"), await walked(top, withoutCalls, "plain")];
    fs.chmodSync(`${top}/a`, 0o755);
    expect(quick).toEqual(plain);
    expect(quick.tally.unreadable).toBe(1);
  });

  test("whichever call fails, no descriptor is left open", async () => {
    const { top } = made({ a: { b: { "1.txt": "x" }, ".gitignore": "x\n" }, c: { "2.txt": "x" }, "3.txt": "x" });
    const dry = faultySystem();
    await walked(top, dry, "hurried");
    expect(dry.calls).toContain("entries");
    let ended = 0;
    for (let n = 1; n <= dry.calls.length; n += 1) {
      const system = faultySystem();
      system.failAt(n, "EIO");
      await walked(top, system, "hurried").then(
        () => (ended += 1),
        () => undefined,
      );
      expect({ n, open: [...system.stillOpen], twice: system.closedTwice }).toEqual({ n, open: [], twice: [] });
    }
    expect(ended).toBeGreaterThan(dry.calls.length / 2);
  });

  test("a tree deeper than folders can be held at once", async () => {
    const { top } = made({});
    let folder = top;
    for (let depth = 0; depth < 150; depth += 1) fs.mkdirSync((folder = `${folder}/d`));
    fs.writeFileSync(`${folder}/end.txt`, "x");
    const system = faultySystem();
    let most = 0;
    system.onCall = () => (most = Math.max(most, system.stillOpen.size));
    const { found } = await walked(top, system, "hurried");
    expect(found.size).toBe(1);
    expect(most).toBeLessThan(120);
  });

  test("only a large walk loads the calls, and finds everything before and after, with them or without", async () => {
    const { top } = made({ small: { "a.txt": "x" }, large: {} });
    for (let part = 0; part < 50; part += 1) {
      fs.mkdirSync(`${top}/large/${part}`);
      for (let file = 0; file < 100; file += 1) fs.writeFileSync(`${top}/large/${part}/${file}`, "");
    }
    const before = openDescriptors();
    const small = faultySystem();
    await walked(`${top}/small`, small, "plain");
    expect(small.calls).not.toContain("folderCalls");
    const large = faultySystem();
    const quick = await walked(`${top}/large`, large, "plain");
    expect(large.calls).toContain("folderCalls");
    expect(large.calls).toContain("entries");
    expect(quick.found.size).toBe(5_000);
    expect(quick.found).toEqual((await walked(`${top}/large`, withoutCalls, "plain")).found);
    expect(openDescriptors()).toBe(before);
  });
});

describe.runIf(onLinux)("a deep tree", () => {
  /** Folders in each other; every one has a file, and a folder beside the next one. */
  function chain(levels: number, beside: "alone" | "with others"): string {
    const { top } = made({});
    let folder = top;
    for (let level = 0; level < levels; level += 1) {
      folder += "/d";
      fs.mkdirSync(folder);
      fs.writeFileSync(`${folder}/f`, "");
      for (const name of beside === "alone" ? [] : ["b", "e"]) {
        fs.mkdirSync(`${folder}/${name}`);
        fs.writeFileSync(`${folder}/${name}/g`, "");
      }
    }
    return top;
  }

  /** How many folders the walk opens, and how many of them at once. */
  async function opened(
    top: string,
  ): Promise<{ readonly found: number; readonly all: number; readonly atOnce: number }> {
    let [all, now, atOnce] = [0, 0, 0];
    const counting: System = {
      ...withoutCalls,
      open: (...given) => {
        all += 1;
        const fd = nodeSystem.open(...given);
        atOnce = Math.max(atOnce, (now += 1));
        return fd;
      },
      close: (fd) => {
        now -= 1;
        nodeSystem.close(fd);
      },
    };
    const { found } = await walked(top, counting, "plain");
    return { found: found.size, all, atOnce };
  }

  test("opens each folder once, however deep it is, and only some of them at once", async () => {
    const { found, all, atOnce } = await opened(chain(800, "alone"));
    expect(found).toBe(800);
    expect(all).toBeLessThan(2 * 800);
    expect(atOnce).toBeLessThan(150);
  });

  test("is walked whole where folders have to be opened again", async () => {
    const top = chain(300, "with others");
    const { found, atOnce } = await opened(top);
    expect(found).toBe(3 * 300);
    expect(atOnce).toBeLessThan(450);
    expect((await walked(top, nodeSystem, "hurried")).found.size).toBe(3 * 300);
  });
});
