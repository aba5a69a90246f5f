/** Delete, Move, Copy and MakeFolder: what they do to a real tree, what they ask, and that undo brings everything back. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as nodePath from "node:path";
import { describe, expect, test, vi } from "vitest";
import { createFilehand, type FilehandOptions, type Question, type Reply } from "../src/index.ts";
import { nodeSystem } from "../src/disk/disk.ts";
import { inMemory, onWindows, workspace } from "./support/workspace.ts";

const textOf = ({ content }: Reply): string =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("\n");

const all = ["delete", "move", "copy", "make-folder"] as const;

/** Everything below a folder: kind, mode, and content or where a link leads to. */
function pictureOf(top: string): Readonly<Record<string, string>> {
  const names = fs.readdirSync(top, { recursive: true, encoding: "utf8" }).sort();
  return Object.fromEntries(
    names.map((name) => {
      const path = nodePath.join(top, name);
      const stat = fs.lstatSync(path);
      if (stat.isSymbolicLink()) return [name, `link ${fs.readlinkSync(path)}`];
      const mode = (stat.mode & 0o7777).toString(8);
      return [name, stat.isDirectory() ? `folder ${mode}` : `file ${mode} ${fs.readFileSync(path).toString("hex")}`];
    }),
  );
}

function bed(tree: Parameters<typeof workspace>[0], more: Partial<FilehandOptions> = {}) {
  const made = workspace({ ws: tree, state: {}, outside: { "kept.txt": "kept" } });
  const top = made.path("ws");
  const questions: Question[] = [];
  const ask: FilehandOptions["ask"] = async (question) => {
    questions.push(question);
    return { reply: "once" };
  };
  const options = { roots: [top], stateDir: made.path("state"), ask, fileTools: all, ...more } as const;
  const filehand = createFilehand(options);
  const session = filehand.session({ dialect: "claude" });
  const call = (tool: "Delete" | "Move" | "Copy" | "MakeFolder", path: string, to?: string): Promise<Reply> =>
    session.call(tool, to === undefined ? { path } : { path, to });
  return { top, made, session, call, questions, filehand, at: (name: string) => nodePath.join(top, name) };
}

const sample = { "a.txt": "one\n", sub: { "b.txt": "b\r\n", deep: { "c.txt": "", empty: {} } } };

function richBed(more: Partial<FilehandOptions> = {}) {
  const made = bed({ d: sample, "other.txt": "other\n" }, more);
  fs.writeFileSync(made.at("d/bin"), Buffer.from([0xff, 0, 1]), { mode: 0o750 });
  fs.symlinkSync("../../outside", made.at("d/sub/link"));
  fs.symlinkSync("nowhere", made.at("d/dangling"));
  fs.chmodSync(made.at("d/sub/deep"), 0o700);
  return made;
}

describe.skipIf(onWindows)("a folder as a whole", () => {
  const changes = [
    ["Delete", undefined, 'Deleted the folder "d" (4 files, 2 links, 10 bytes).'],
    ["Move", "new/place", 'Moved the folder "d" to "new/place" (4 files, 2 links, 10 bytes).\nMade "new" for it.'],
    ["Copy", "new/place", 'Copied the folder "d" to "new/place" (4 files, 2 links, 10 bytes).\nMade "new" for it.'],
  ] as const;
  for (const [tool, to, words] of changes) {
    test(`${tool} does all of it, asks once, and undo and redo bring back bytes, modes, links and empty folders`, async () => {
      const { top, session, call, questions, made } = richBed();
      const before = pictureOf(top);
      expect(textOf(await call(tool, "d", to))).toBe(words);
      expect(questions).toHaveLength(1);
      expect(questions[0]?.metadata["tree"]).toMatchObject({ files: 4, links: 2, bytes: 10, protected: 0, lost: 0 });
      const after = pictureOf(top);
      const below = (prefix: string, picture: typeof before) =>
        Object.entries(picture).flatMap(([name, what]) =>
          name.startsWith(`${prefix}/`) ? [[name.slice(prefix.length), what]] : [],
        );
      expect(below("d", after)).toEqual(tool === "Copy" ? below("d", before) : []);
      if (to !== undefined) expect(below(to, after)).toEqual(below("d", before));
      await session.undo();
      expect(pictureOf(top)).toEqual(before);
      await session.redo();
      expect(pictureOf(top)).toEqual(after);
      await session.undo();
      expect(pictureOf(top)).toEqual(before);
      expect(fs.readFileSync(made.path("outside/kept.txt"), "utf8")).toBe("kept");
    });
  }

  test("a dry run changes nothing and asks nobody", async () => {
    const { top, session, questions } = richBed();
    const before = pictureOf(top);
    for (const [tool, input] of [
      ["Delete", { path: "d" }],
      ["Move", { path: "d", to: "e" }],
      ["Copy", { path: "d", to: "e" }],
      ["MakeFolder", { path: "x/y" }],
    ] as const) {
      expect(textOf(await session.call(tool, input, { dryRun: true }))).toMatch(
        /^Dry run, nothing was written\. Would /,
      );
    }
    expect(pictureOf(top)).toEqual(before);
    expect(questions).toEqual([]);
  });

  test("a link is deleted, moved and copied as the link, also one that leads out or nowhere", async () => {
    const { top, call, at, made } = richBed();
    expect(textOf(await call("Copy", "d/sub/link", "copied"))).toBe('Copied the link "d/sub/link" to "copied".');
    expect(textOf(await call("Move", "d/dangling", "moved"))).toBe('Moved the link "d/dangling" to "moved".');
    expect(textOf(await call("Delete", "d/sub/link"))).toContain("What it led to was left as it is.");
    expect([fs.readlinkSync(at("copied")), fs.readlinkSync(at("moved"))]).toEqual(["../../outside", "nowhere"]);
    expect(Object.keys(pictureOf(top))).not.toContain("d/sub/link");
    expect(fs.readdirSync(made.path("outside"))).toEqual(["kept.txt"]);
  });

  test("what was shown counts as shown under the new name, and what was not does not", async () => {
    const { session, call } = richBed();
    await session.call("Read", { file_path: "d/a.txt" });
    await call("Move", "d", "e");
    const edit = (path: string) => session.call("Edit", { file_path: path, old_string: "one", new_string: "two" });
    expect((await edit("e/a.txt")).error).toBeUndefined();
    await call("Copy", "e", "f");
    expect(
      (await session.call("Edit", { file_path: "f/a.txt", old_string: "two", new_string: "2" })).error,
    ).toBeUndefined();
    const unseen = await session.call("Edit", { file_path: "f/sub/b.txt", old_string: "b", new_string: "c" });
    expect(unseen.error?.code).toBe("NOT_READ");
  });

  test("the root, a folder into itself, and a name that is taken are refused with a way out", async () => {
    const { top, call } = richBed();
    const before = pictureOf(top);
    const said = [
      await call("Delete", "."),
      await call("Move", "d", "d/sub/d"),
      await call("Copy", "d", "d/sub/d"),
      await call("Move", "other.txt", "d"),
      await call("Move", "other.txt", "d/a.txt"),
      await call("Copy", "other.txt", "d/dangling"),
      await call("Delete", "none"),
    ].map(textOf);
    expect(said[0]).toContain("it is a root of the workspace");
    expect(said[1]).toContain("its new name lies in the folder itself");
    expect(said[3]).toContain('name the whole new path: "d/other.txt"');
    expect(said.map((words) => words.startsWith("Cannot "))).toEqual(said.map(() => true));
    expect(pictureOf(top)).toEqual(before);
  });

  test("a read-only file in it keeps all of it", async () => {
    const { top, call, at } = richBed();
    fs.chmodSync(at("d/sub/b.txt"), 0o444);
    const before = pictureOf(top);
    expect((await call("Delete", "d")).error?.code).toBe("ACCESS_DENIED");
    expect(pictureOf(top)).toEqual(before);
  });
});

/** Two folders on different devices: most systems have memory as one. */
const isApart = fs.statSync(inMemory()).dev !== fs.statSync(os.tmpdir()).dev;

describe.skipIf(onWindows || !isApart)("from one file system to another (skipped where there is only one)", () => {
  function apart(more: Partial<FilehandOptions> = {}) {
    const there = workspace({ ws: {} }, inMemory()).path("ws");
    const { top, made, ...rest } = richBed({ ...more });
    const filehand = createFilehand({
      roots: [top, there],
      stateDir: made.path("state"),
      ask: "yes",
      fileTools: all,
      ...more,
    });
    return { ...rest, top, there, session: filehand.session({ dialect: "claude" }) };
  }
  const pictures = (...tops: readonly string[]) => tops.map(pictureOf);

  for (const tool of ["Move", "Copy"] as const) {
    test(`${tool} of a folder, undo and redo keep bytes, modes, links and empty folders`, async () => {
      const { top, there, session, at } = apart();
      const before = pictures(top, there);
      const source = pictureOf(at("d"));
      const reply = await session.call(tool, { path: "d", to: nodePath.join(there, "new/place") });
      expect(textOf(reply)).toContain(tool === "Move" ? "Moved the folder" : "Copied the folder");
      expect(pictureOf(nodePath.join(there, "new/place"))).toEqual(source);
      expect(fs.existsSync(at("d"))).toBe(tool === "Copy");
      const after = pictures(top, there);
      await session.undo();
      expect(pictures(top, there)).toEqual(before);
      await session.redo();
      expect(pictures(top, there)).toEqual(after);
    });

    test(`${tool} of one file keeps its time of change, if it is moved, and what was shown of it`, async () => {
      const { there, session, at } = apart();
      const goal = nodePath.join(there, "b.txt");
      fs.utimesSync(at("d/a.txt"), 1_000, 2_000);
      await session.call("Read", { file_path: at("d/a.txt") });
      expect((await session.call(tool, { path: "d/a.txt", to: goal })).error).toBeUndefined();
      expect(fs.readFileSync(goal, "utf8")).toBe("one\n");
      expect(fs.statSync(goal).mtimeMs === 2_000_000).toBe(tool === "Move");
      const edited = await session.call("Edit", { file_path: goal, old_string: "one", new_string: "two" });
      expect(edited.error).toBeUndefined();
      expect(fs.readFileSync(goal, "utf8")).toBe("two\n");
    });
  }

  test("a Move whose source cannot be removed leaves the source, and no copy", async () => {
    const isRoot = process.getuid?.() === 0;
    const { top, there, session, at } = apart();
    const before = pictures(top, there);
    if (isRoot) {
      // Root may remove everything, so another process adds a file in the middle of it.
      const link = vi.spyOn(nodeSystem, "symlink").mockImplementationOnce((target, path) => {
        fs.writeFileSync(at("d/late.txt"), "late\n");
        fs.symlinkSync(target, path);
      });
      const reply = await session.call("Move", { path: "d", to: nodePath.join(there, "place") });
      link.mockRestore();
      expect(reply.error).toBeDefined();
      expect(fs.readFileSync(at("d/late.txt"), "utf8")).toBe("late\n");
      fs.rmSync(at("d/late.txt"));
    } else {
      fs.chmodSync(at("d/sub"), 0o500);
      const reply = await session.call("Move", { path: "d", to: nodePath.join(there, "place") });
      expect(reply.error).toBeDefined();
      fs.chmodSync(at("d/sub"), 0o755);
    }
    expect(pictures(top, there)).toEqual(before);
  });
});

describe("a file", () => {
  test("need not have been read where undo brings it back, but one that changed since it was shown is refused", async () => {
    const { session, call, at } = bed({ "a.txt": "a\n", "b.txt": "b\n" });
    expect(textOf(await call("Delete", "a.txt"))).toBe('Deleted "a.txt" (+0 -1).');
    await session.call("Read", { file_path: "b.txt" });
    fs.writeFileSync(at("b.txt"), "changed by others\n");
    expect((await call("Delete", "b.txt")).error?.code).toBe("STALE");
    await session.undo();
    expect(fs.readFileSync(at("a.txt"), "utf8")).toBe("a\n");
  });

  test("must have been read where there is no history", async () => {
    const made = bed({ "a.txt": "a\n" }, { history: false });
    expect((await made.call("Delete", "a.txt")).error?.code).toBe("NOT_READ");
  });
});

describe("rules", () => {
  test("a folder with a denied file stays, and the answer says how many there are and not which", async () => {
    const made = bed(
      { d: { "a.txt": "a", "hidden.key": "k", deep: { "two.key": "k" } } },
      { permissions: { deny: ["Read(*.key)"] } },
    );
    for (const reply of [
      await made.call("Delete", "d"),
      await made.call("Move", "d", "e"),
      await made.call("Copy", "d", "e"),
    ]) {
      expect(textOf(reply)).toContain("the rules do not let you work with 2 things in it");
      expect(textOf(reply)).not.toContain(".key");
    }
    expect(made.questions).toEqual([]);
    expect(fs.existsSync(made.at("d/deep/two.key"))).toBe(true);
  });

  test("an allow rule for all of it asks nobody; a protected file in it asks all the same", async () => {
    const made = bed({ d: { "a.txt": "a" }, p: { ".git": { config: "x" } } }, { permissions: { allow: ["Edit(**)"] } });
    expect((await made.call("Delete", "d")).error).toBeUndefined();
    expect(made.questions).toEqual([]);
    expect((await made.call("Delete", "p")).error).toBeUndefined();
    expect(made.questions[0]?.metadata["tree"]).toMatchObject({ does: "deletes", files: 1 });
    expect(made.questions[0]?.always).toEqual([]);
  });

  test("what the history cannot keep needs a person's yes", async () => {
    const tree = { d: { "a.txt": "a", ".env": "SECRET=1" } };
    const asked = bed(tree, { permissions: { allow: ["Edit(**)", "Read(**)"] } });
    expect(textOf(await asked.call("Delete", "d"))).toContain("1 file of it could not be kept in the history");
    expect(asked.questions[0]?.metadata["tree"]).toMatchObject({ lost: 1 });
    const { ask: _ask, ...alone } = { ask: undefined };
    const unasked = bed(tree, {
      permissions: { allow: ["Edit(**)", "Read(**)"] },
      ...alone,
      ask: async () => ({ reply: "nobody" }),
    });
    expect(textOf(await unasked.call("Delete", "d"))).toContain("the history cannot keep 1 file of it");
    expect(fs.existsSync(unasked.at("d/.env"))).toBe(true);
  });

  test("a session that only reads changes nothing", async () => {
    const made = bed({ d: sample }, { mode: "read-only" });
    const before = pictureOf(made.top);
    const replies = [
      await made.call("Delete", "d"),
      await made.call("Move", "d", "e"),
      await made.call("Copy", "d", "e"),
      await made.call("MakeFolder", "x"),
    ];
    expect(replies.map(({ error }) => error?.code)).toEqual(replies.map(() => "ACCESS_DENIED"));
    expect(pictureOf(made.top)).toEqual(before);
  });
});

describe("calls that are sent together", () => {
  test("take effect in their order", async () => {
    const { session, call, top } = bed({});
    const replies = await Promise.all([
      session.call("Write", { file_path: "a.txt", content: "new\n" }),
      call("Move", "a.txt", "b/c.txt"),
      call("Copy", "b", "d"),
      call("Delete", "b"),
      call("MakeFolder", "b"),
    ]);
    expect(replies.map(({ error }) => error)).toEqual(replies.map(() => undefined));
    expect(Object.keys(pictureOf(top))).toEqual(["b", "d", "d/c.txt"]);
  });
});

describe.skipIf(onWindows)("attacks", () => {
  test("a file that is swapped for a link to the outside while its folder is deleted brings the folder back", async () => {
    const { top, call, at, made } = richBed();
    const rename = nodeSystem.rename;
    let swapped = false;
    const swap = (from: string, to: string): void => {
      if (!swapped && /\.filehand-old-/.test(to)) {
        swapped = true;
        fs.rmSync(at("d/a.txt"));
        fs.symlinkSync(made.path("outside/kept.txt"), at("d/a.txt"));
      }
      rename(from, to);
    };
    Object.assign(nodeSystem, { rename: swap });
    try {
      expect((await call("Delete", "d")).error?.code).toBe("CHANGED");
    } finally {
      Object.assign(nodeSystem, { rename });
    }
    expect(swapped).toBe(true);
    expect(fs.readFileSync(made.path("outside/kept.txt"), "utf8")).toBe("kept");
    expect(pictureOf(top)["d/sub/b.txt"]).toContain("file ");
    expect(fs.readdirSync(top).filter((name) => name.startsWith(".filehand"))).toEqual([]);
  });

  test("names with odd characters, and 200 folders in each other, are deleted and come back", async () => {
    const { top, session, call, at } = bed({
      d: { "a\nb": "1", " x ": "2", "-rf": "3", $HOME: "4", ä: "5", "a\u0301": "6", "**": "7" },
    });
    fs.mkdirSync(at(`d/${Array.from({ length: 200 }, () => "n").join("/")}`), { recursive: true });
    fs.writeFileSync(at(`d/${Array.from({ length: 200 }, () => "n").join("/")}/leaf`), "leaf");
    const before = pictureOf(top);
    expect((await call("Delete", "d")).error).toBeUndefined();
    expect(pictureOf(top)).toEqual({});
    await session.undo();
    expect(pictureOf(top)).toEqual(before);
  });

  test("a path through a link out of the roots is no way to delete, move or copy", async () => {
    const { call, made } = richBed();
    for (const reply of [
      await call("Delete", "d/sub/link/kept.txt"),
      await call("Move", "d/sub/link/kept.txt", "mine.txt"),
      await call("Copy", "d/sub/link/kept.txt", "mine.txt"),
      await call("Move", "other.txt", "d/sub/link/other.txt"),
      await call("MakeFolder", "d/sub/link/made"),
    ]) {
      expect(reply.isError).toBe(true);
    }
    expect(fs.readdirSync(made.path("outside"))).toEqual(["kept.txt"]);
  });

  test("a call that is cancelled before its first change leaves all as it is", async () => {
    const { top, session } = richBed();
    const before = pictureOf(top);
    const stop = new AbortController();
    const done = session.call("Delete", { path: "d" }, { signal: stop.signal });
    stop.abort();
    expect((await done).isError).toBe(true);
    expect(pictureOf(top)).toEqual(before);
  });
});

describe.skipIf(onWindows)("random deletes, moves and copies", () => {
  /** A small generator, so that a failure can be repeated. */
  const randomFrom = (seed: number) => {
    let state = seed;
    return (below: number): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state % below;
    };
  };

  for (const seed of [1, 2, 3, 4]) {
    test(`agree with a copy of the tree, and every one is undone and redone (seed ${seed})`, async () => {
      const { top, session, call } = richBed({ ask: "yes" });
      const random = randomFrom(seed);
      const pick = <One>(list: readonly One[]): One | undefined => list[random(list.length)];
      const pictures = [pictureOf(top)];
      for (let count = 0; count < 14; count += 1) {
        const names = Object.keys(pictureOf(top));
        const path = pick(names) ?? "d";
        const to = `${pick(["", "d/", "n/", "n/m/"])}t${random(6)}`;
        const tool = pick(["Delete", "Move", "Copy", "MakeFolder"] as const) ?? "Delete";
        const now = pictureOf(top);
        const reply =
          tool === "Move" || tool === "Copy"
            ? await call(tool, path, to)
            : await call(tool, tool === "Delete" ? path : to);
        const after = pictureOf(top);
        if (reply.isError || textOf(reply).includes("was there already")) expect(after).toEqual(now);
        else {
          const isBelow = (name: string, of: string): boolean => name === of || name.startsWith(`${of}/`);
          const kept = Object.entries(now).filter(
            ([name]) => tool === "Copy" || tool === "MakeFolder" || !isBelow(name, path),
          );
          for (const [name, what] of kept) expect([name, after[name]]).toEqual([name, what]);
          if (tool === "Move" || tool === "Copy") {
            for (const [name, what] of Object.entries(now)) {
              if (isBelow(name, path)) expect(after[to + name.slice(path.length)]).toBe(what);
            }
          }
          pictures.push(after);
        }
      }
      for (const picture of pictures.slice(0, -1).toReversed()) {
        await session.undo();
        expect(pictureOf(top)).toEqual(picture);
      }
      for (const picture of pictures.slice(1)) {
        await session.redo();
        expect(pictureOf(top)).toEqual(picture);
      }
      await session.rewind("start");
      expect(pictureOf(top)).toEqual(pictures[0]);
    });
  }
});
