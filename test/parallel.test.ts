/** Many calls at once: on one file they queue, none is lost, and a call that fails or is cancelled harms no other. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createFilehand, type Filehand, type FilehandOptions, type Reply, type Session } from "../src/index.ts";

const root = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-parallel-"));
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));
const at = (name: string): string => path.join(root, name);
const there = (name: string): string => fs.readFileSync(at(name), "utf8");
const ten = Array.from({ length: 10 }, (_, index) => index);
const before = ten.map((n) => `line ${n}: old\n`).join("");
const after = ten.map((n) => `line ${n}: new, and longer\n`).join("");

beforeEach(() => {
  for (const name of fs.readdirSync(root)) fs.rmSync(at(name), { recursive: true, force: true });
  fs.writeFileSync(at("a.txt"), before);
});

const toolkit = (options: Partial<FilehandOptions> = {}): Filehand =>
  createFilehand({ roots: [root], ask: "yes", ...options });
const read = (session: Session, name = "a.txt"): Promise<Reply> => session.call("Read", { file_path: name });
const editLine = (session: Session, n: number, name = "a.txt"): Promise<Reply> =>
  session.call("Edit", { file_path: name, old_string: `line ${n}: old`, new_string: `line ${n}: new, and longer` });
const codes = (replies: readonly Reply[]): readonly (string | undefined)[] => replies.map(({ error }) => error?.code);
const words = ({ content: [part] }: Reply): string => (part?.type === "text" ? part.text : "");

/** A session for each of ten edits, each of which has read the file. */
async function readers(made: readonly Filehand[]): Promise<readonly Session[]> {
  const sessions = ten.map((n) => (made[n % made.length] ?? toolkit()).session());
  for (const session of sessions) await read(session);
  return sessions;
}

describe("ten edits of ten lines of one file at once", () => {
  test("all land in one session", async () => {
    const session = toolkit().session();
    await read(session);
    const replies = await Promise.all(ten.map((n) => editLine(session, n)));
    expect(codes(replies)).toEqual(ten.map(() => undefined));
    expect(there("a.txt")).toBe(after);
  });

  test("all land in one session by two names of the file", async () => {
    fs.symlinkSync("a.txt", at("link.txt"));
    const session = toolkit().session();
    await read(session);
    await Promise.all(ten.map((n) => editLine(session, n, n % 2 === 0 ? "a.txt" : "link.txt")));
    expect(there("a.txt")).toBe(after);
    expect(fs.lstatSync(at("link.txt")).isSymbolicLink()).toBe(true);
  });

  for (const [what, count] of [
    ["one toolkit", 1],
    ["two toolkits", 2],
  ] as const) {
    test(`all land in ten sessions of ${what} that go by the content`, async () => {
      const sessions = await readers(Array.from({ length: count }, () => toolkit({ staleness: "content-match" })));
      const replies = await Promise.all(sessions.map((session, n) => editLine(session, n)));
      expect(codes(replies)).toEqual(ten.map(() => undefined));
      expect(there("a.txt")).toBe(after);
    });

    test(`in ten sessions of ${what} that are strict, what is said to have landed has, and the others are told`, async () => {
      const sessions = await readers(Array.from({ length: count }, () => toolkit()));
      let open = ten;
      for (let round = 0; open.length > 0 && round < 10; round += 1) {
        const replies = await Promise.all(open.map((n) => editLine(sessions[n] ?? toolkit().session(), n)));
        for (const [index, n] of open.entries()) {
          const reply = replies[index];
          expect(there("a.txt").includes(`line ${n}: new`)).toBe(reply?.isError === false);
          expect(reply?.error?.code ?? "STALE").toBe("STALE");
        }
        open = open.filter((_, index) => replies[index]?.isError);
        for (const n of open) await read(sessions[n] ?? toolkit().session());
      }
      expect(there("a.txt")).toBe(after);
    });
  }
});

describe("one queue for all tools", () => {
  test("calls on one file are made in the order in which they came", async () => {
    const session = createFilehand({ roots: [root], permissions: { allow: ["Edit(**)"] } }).session({
      dialect: "opencode",
    });
    await session.call("read", { filePath: "a.txt" });
    const patch = (from: string, to: string): string =>
      `*** Begin Patch\n*** Update File: a.txt\n@@\n-${from}\n+${to}\n*** End Patch`;
    const replies = await Promise.all([
      session.call("edit", { filePath: "a.txt", oldString: "line 0: old", newString: "first" }),
      session.call("write", { filePath: "a.txt", content: "second\nline\n" }),
      session.call("edit", { filePath: "a.txt", oldString: "second", newString: "third" }),
      session.call("patch", { patchText: patch("third", "fourth") }),
      session.call("write", { filePath: "a.txt", content: "fourth\nfifth\n" }),
      session.call("patch", { patchText: patch("fifth", "sixth") }),
      session.call("edit", { filePath: "a.txt", oldString: "fourth\nsixth\n", newString: "last\n" }),
    ]);
    expect(codes(replies)).toEqual(replies.map(() => undefined));
    expect(there("a.txt")).toBe("last\n");
  });

  test("a notebook's cells, and a notebook that is written anew", async () => {
    const cells = ten.map((n) => ({ cell_type: "markdown", id: `c${n}`, metadata: {}, source: `old ${n}` }));
    const notebook = { cells, metadata: {}, nbformat: 4, nbformat_minor: 5 };
    fs.writeFileSync(at("n.ipynb"), JSON.stringify(notebook));
    const session = toolkit().session();
    await read(session, "n.ipynb");
    const replies = await Promise.all(
      ten.map((n) =>
        session.call("NotebookEdit", { notebook_path: "n.ipynb", cell_id: `c${n}`, new_source: `new ${n}` }),
      ),
    );
    expect(codes(replies)).toEqual(ten.map(() => undefined));
    const now = JSON.parse(there("n.ipynb")) as typeof notebook;
    expect(now.cells.map(({ source }) => String(source))).toEqual(ten.map((n) => `new ${n}`));
    const [, , last] = await Promise.all([
      session.call("NotebookEdit", { notebook_path: "n.ipynb", cell_id: "c1", new_source: "lost" }),
      session.call("Write", { file_path: "n.ipynb", content: JSON.stringify(notebook) }),
      session.call("NotebookEdit", { notebook_path: "n.ipynb", cell_id: "c1", new_source: "kept" }),
    ]);
    expect(last?.error).toBeUndefined();
    expect(there("n.ipynb")).toContain('"kept"');
    expect(there("n.ipynb")).toContain('"old 0"');
    expect(there("n.ipynb")).not.toContain('"lost"');
  });

  test("two patches that name the same files in another order do not wait for each other forever", async () => {
    fs.writeFileSync(at("b.txt"), "b: old\n");
    const session = createFilehand({ roots: [root], permissions: { allow: ["Edit(**)"] } }).session({
      dialect: "opencode",
    });
    for (const name of ["a.txt", "b.txt"]) await session.call("read", { filePath: name });
    const sectionOf = (file: string, from: string, to: string): string =>
      `*** Update File: ${file}\n@@\n-${from}\n+${to}\n`;
    const rounds = await Promise.all([
      session.call("patch", {
        patchText: `*** Begin Patch\n${sectionOf("a.txt", "line 1: old", "line 1: x")}${sectionOf("b.txt", "b: old", "b: x")}*** End Patch`,
      }),
      session.call("patch", {
        patchText: `*** Begin Patch\n${sectionOf("b.txt", "b: x", "b: y")}${sectionOf("a.txt", "line 2: old", "line 2: y")}*** End Patch`,
      }),
    ]);
    expect(rounds).toHaveLength(2);
    expect(there("a.txt")).toContain("line 1: x");
    expect(there("a.txt").includes("line 2: y")).toBe(there("b.txt") === "b: y\n");
  });
});

test("nobody waits for a question about the same file that is open", { timeout: 20_000 }, async () => {
  let isOpen = false;
  let other: Promise<Reply> | undefined;
  let session: Session | undefined;
  const ask = async () => {
    // The second call is made and answered while the first question is open.
    if (!isOpen && session !== undefined) {
      isOpen = true;
      other = editLine(session, 1);
      expect((await other).error).toBeUndefined();
    }
    return { reply: "once" } as const;
  };
  session = createFilehand({ roots: [root], ask }).session({ dialect: "claude" });
  await read(session);
  expect((await editLine(session, 0)).error).toBeUndefined();
  expect(there("a.txt")).toMatch(/^line 0: new, and longer\nline 1: new, and longer\nline 2: old\n/);
});

describe("calls at once", () => {
  test("one that fails leaves the others alone", async () => {
    const session = toolkit().session();
    await read(session);
    const replies = await Promise.all([
      editLine(session, 0),
      editLine(session, 77),
      editLine(session, 1),
      session.call("Edit", { file_path: "a.txt", old_string: "line", new_string: "x" }),
      editLine(session, 2),
      session.call("Edit", { file_path: "missing.txt", old_string: "a", new_string: "x" }),
      editLine(session, 3),
    ]);
    expect(codes(replies)).toEqual([undefined, "NO_MATCH", undefined, "AMBIGUOUS", undefined, "NOT_FOUND", undefined]);
    expect(there("a.txt").match(/new, and longer/g)).toHaveLength(4);
  });

  test("that create the same file: one creates it, the others are told", async () => {
    const sessions = [toolkit(), toolkit()].flatMap((made) => [made.session(), made.session()]);
    const replies = await Promise.all(
      sessions.map((session, n) => session.call("Write", { file_path: "deep/new.txt", content: `by ${n}\n` })),
    );
    const winners = replies.flatMap((reply, n) => (reply.isError ? [] : [n]));
    expect(winners).toHaveLength(1);
    expect(there("deep/new.txt")).toBe(`by ${winners[0]}\n`);
    for (const reply of replies) expect(reply.error?.code ?? "EXISTS").toMatch(/EXISTS|NOT_READ/);
  });

  test("that create the same file in one session: only one says that it did", async () => {
    const session = toolkit().session();
    const replies = await Promise.all(
      ten.map((n) => session.call("Write", { file_path: "new.txt", content: `by ${n}\n` })),
    );
    expect(replies.filter((reply) => words(reply).startsWith("Created"))).toHaveLength(1);
    expect(there("new.txt")).toBe("by 9\n");
  });

  test("on different files all land, and make their folders", async () => {
    const session = toolkit().session();
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        session.call("Write", { file_path: `made/${n % 4}/deep/${n}.txt`, content: `${n}\n` }),
      ),
    );
    expect(codes(replies)).toEqual(replies.map(() => undefined));
    for (let n = 0; n < 40; n += 1) expect(there(`made/${n % 4}/deep/${n}.txt`)).toBe(`${n}\n`);
  });
});

describe("a call that is cancelled", () => {
  test("at any moment leaves the old or the new file, tells which, and no other file", async () => {
    fs.writeFileSync(at("a.txt"), before.repeat(2_000));
    const seen = new Set<string>();
    for (let round = 0; round < 60; round += 1) {
      fs.writeFileSync(at("a.txt"), `head old\n${before.repeat(2_000)}`);
      const session = toolkit({ readFirst: false }).session();
      const control = new AbortController();
      const input = { file_path: "a.txt", old_string: "head old", new_string: "head new" };
      const call = session.call("Edit", input, { signal: control.signal });
      const wait = round % 20;
      if (wait < 10) for (let turn = 0; turn < wait; turn += 1) await new Promise(setImmediate);
      else await new Promise((resolve) => setTimeout(resolve, wait - 10));
      control.abort();
      const reply = await call;
      const now = there("a.txt");
      const state = now === `head new\n${before.repeat(2_000)}` ? "new" : "old";
      if (state === "old") expect(now).toBe(`head old\n${before.repeat(2_000)}`);
      expect(reply.error?.code ?? "done").toBe(state === "new" ? "done" : "CANCELLED");
      expect(fs.readdirSync(root)).toEqual(["a.txt"]);
      seen.add(state);
    }
    expect(seen.has("old")).toBe(true);
  });

  test("while it waits for its turn changes nothing and lets the next one go on", async () => {
    const session = toolkit().session();
    await read(session);
    const control = new AbortController();
    const calls = ten.map((n) =>
      session.call(
        "Edit",
        { file_path: "a.txt", old_string: `line ${n}: old`, new_string: `line ${n}: new, and longer` },
        n === 5 ? { signal: control.signal } : {},
      ),
    );
    control.abort();
    const replies = await Promise.all(calls);
    expect(codes(replies)).toEqual(ten.map((n) => (n === 5 ? "CANCELLED" : undefined)));
    expect(there("a.txt")).toBe(after.replace("line 5: new, and longer", "line 5: old"));
  });

  test("a patch of several files is made whole or not at all", async () => {
    for (let round = 0; round < 20; round += 1) {
      for (const n of ten) fs.writeFileSync(at(`p${n}.txt`), `old ${n}\n`);
      const session = toolkit({ readFirst: false }).session({ dialect: "opencode" });
      const control = new AbortController();
      const patchText = `*** Begin Patch\n${ten.map((n) => `*** Update File: p${n}.txt\n@@\n-old ${n}\n+new ${n}\n`).join("")}*** End Patch`;
      const call = session.call("patch", { patchText }, { signal: control.signal });
      await new Promise((resolve) => setTimeout(resolve, round));
      control.abort();
      const reply = await call;
      const states = new Set(ten.map((n) => there(`p${n}.txt`).split(" ")[0]));
      expect([...states]).toHaveLength(1);
      expect(states.has("new")).toBe(!reply.isError);
    }
  });

  test("a patch that is stopped in the middle takes the folders back that it made, but none in which others have put something", async () => {
    for (const other of [false, true]) {
      for (const n of ten) fs.writeFileSync(at(`p${n}.txt`), `old ${n}\n`);
      const session = toolkit({ readFirst: false }).session({ dialect: "opencode" });
      const control = new AbortController();
      const added = ["made/deep/one.txt", "made/deep/two.txt"].map((name) => `*** Add File: ${name}\n+text\n`);
      const updated = ten.map((n) => `*** Update File: p${n}.txt\n@@\n-old ${n}\n+new ${n}\n`);
      const patchText = `*** Begin Patch\n${[...added, ...updated].join("")}*** End Patch`;
      const call = session.call("patch", { patchText }, { signal: control.signal });
      while (!fs.existsSync(at("made/deep/two.txt"))) await new Promise((resolve) => setImmediate(resolve));
      if (other) fs.writeFileSync(at("made/others.txt"), "theirs");
      control.abort();
      expect((await call).isError).toBe(true);
      expect(there("p0.txt")).toBe("old 0\n");
      expect(fs.existsSync(at("made/deep"))).toBe(false);
      expect(fs.existsSync(at("made")) ? fs.readdirSync(at("made")) : undefined).toEqual(
        other ? ["others.txt"] : undefined,
      );
    }
  });
});
