/** What a conversation has seen of a file decides what it may change: never read, read in part, changed, gone. */

import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createFilehand, type DialectName, type FilehandOptions, type Reply, type Session } from "../src/index.ts";
import { replyTo } from "./support/reading.ts";

const root = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-read-state-"));
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));
const at = (name: string): string => path.join(root, name);
const there = (name: string): string => fs.readFileSync(at(name), "utf8");
const numbered = (count: number): string =>
  Array.from({ length: count }, (_, index) => `line ${index + 1} of the file\n`).join("");

beforeEach(() => {
  for (const name of fs.readdirSync(root)) fs.rmSync(at(name), { recursive: true, force: true });
  fs.writeFileSync(at("a.txt"), "one\ntwo\nthree\n");
});

const session = (options: Partial<FilehandOptions> = {}, readState?: unknown): Session =>
  createFilehand({ roots: [root], ask: "yes", ...options }).session({
    dialect: options.dialect ?? "claude",
    readState,
  });
const read = (reader: Session, name = "a.txt", more: object = {}): Promise<Reply> =>
  reader.call("Read", { file_path: name, ...more });
const edit = (editor: Session, oldText: string, newText: string, name = "a.txt"): Promise<Reply> =>
  editor.call("Edit", { file_path: name, old_string: oldText, new_string: newText });
const write = (writer: Session, content: string, name = "a.txt"): Promise<Reply> =>
  writer.call("Write", { file_path: name, content });
const words = ({ content: [part] }: Reply): string => (part?.type === "text" ? part.text : "");
const reader = async (options: Partial<FilehandOptions> = {}): Promise<Session> => {
  const made = session(options);
  expect((await read(made)).error).toBeUndefined();
  return made;
};

describe("a file whose bytes are the same is not changed", () => {
  test("when its time was moved", async () => {
    const editor = await reader();
    fs.utimesSync(at("a.txt"), new Date(), new Date(Date.now() + 60_000));
    expect((await edit(editor, "two", "2")).error).toBeUndefined();
  });

  test("when another program put an equal file in its place", async () => {
    const editor = await reader();
    fs.writeFileSync(at("b.txt"), "one\ntwo\nthree\n");
    fs.renameSync(at("b.txt"), at("a.txt"));
    expect((await edit(editor, "two", "2")).error).toBeUndefined();
    expect(there("a.txt")).toBe("one\n2\nthree\n");
  });

  test("when it is too large to be hashed and was only touched", async () => {
    fs.writeFileSync(at("large.txt"), numbered(80_000));
    const editor = session();
    await read(editor, "large.txt", { offset: 70_000, limit: 10 });
    fs.utimesSync(at("large.txt"), new Date(), new Date(Date.now() + 60_000));
    expect((await edit(editor, "line 70003 of the file\n", "", "large.txt")).error).toBeUndefined();
  });
});

describe("a file whose bytes differ is changed", () => {
  test("when its size and its time are the same", async () => {
    const time = new Date(Date.now() - 60_000);
    fs.utimesSync(at("a.txt"), time, time);
    const editor = await reader();
    fs.writeFileSync(at("a.txt"), "one\nTWO\nthree\n");
    fs.utimesSync(at("a.txt"), time, time);
    expect((await edit(editor, "TWO", "2")).error?.code).toBe("STALE");
    expect(there("a.txt")).toBe("one\nTWO\nthree\n");
  });

  test("when it changed within the same moment as it was read", async () => {
    for (let round = 0; round < 30; round += 1) {
      fs.writeFileSync(at("a.txt"), "one\ntwo\nthree\n");
      const editor = await reader();
      fs.writeFileSync(at("a.txt"), "one\n222\nthree\n");
      expect((await edit(editor, "222", "1")).error?.code).toBe("STALE");
    }
  });

  test("when a large one changed in a line that was shown", async () => {
    fs.writeFileSync(at("large.txt"), numbered(80_000));
    const editor = session();
    await read(editor, "large.txt", { offset: 70_000, limit: 10 });
    fs.writeFileSync(at("large.txt"), numbered(80_000).replace("line 70005 of the", "line 70005 OF the"));
    expect((await edit(editor, "line 70003 of the file\n", "", "large.txt")).error?.code).toBe("STALE");
  });

  test("and the answer names the lines, and nothing of what is there now", async () => {
    const editor = await reader();
    fs.writeFileSync(at("a.txt"), "one\ntwo\nsecret words\n");
    const { error } = await edit(editor, "words", "1");
    expect(error?.message).toContain("somebody else changed line 3 since it was shown");
    expect(error?.message).toContain("read it again with offset 3 and limit 1");
    expect(error?.message).not.toContain("secret");
  });

  test("and the answer gives the sizes where no line stands as it was shown", async () => {
    const editor = await reader();
    fs.writeFileSync(at("a.txt"), "secret words\n");
    const { error } = await edit(editor, "secret", "1");
    expect(error?.message).toContain("it had 14 bytes then and has 13 now");
  });
});

describe("with `content-match`", () => {
  const loose = { staleness: "content-match" } as const;

  test("an edit whose text still stands there once is made, and the answer tells of the other changes", async () => {
    const editor = await reader(loose);
    fs.writeFileSync(at("a.txt"), "zero\none\ntwo\nthree\n");
    const reply = await edit(editor, "two", "2");
    expect(reply.error).toBeUndefined();
    expect(words(reply)).toContain(
      "Somebody else changed line 1 since the file was read; those changes are still there.",
    );
    expect(there("a.txt")).toBe("zero\none\n2\nthree\n");
  });

  test("one that stands there twice, or only nearly, or not at all, is not", async () => {
    const editor = await reader(loose);
    fs.writeFileSync(at("a.txt"), "one\ntwo\nthree\ntwo\n  four\n  five\n");
    expect((await edit(editor, "two", "2")).error?.code).toMatch(/AMBIGUOUS|STALE/);
    expect((await edit(editor, "four\nfive\n", "4\n5\n")).error?.code).toBe("NOT_READ");
    expect((await edit(editor, "gone entirely", "x")).error?.code).toMatch(/NO_MATCH|STALE/);
    expect(there("a.txt")).toBe("one\ntwo\nthree\ntwo\n  four\n  five\n");
  });

  test("a write over it is refused all the same", async () => {
    const editor = await reader(loose);
    fs.appendFileSync(at("a.txt"), "four\n");
    expect((await write(editor, "x")).error?.code).toBe("STALE");
    expect(there("a.txt")).toBe("one\ntwo\nthree\nfour\n");
  });

  test("the edit that was made does not count as having seen the other changes", async () => {
    const editor = await reader(loose);
    fs.writeFileSync(at("a.txt"), "zero\none\ntwo\nthree\n");
    await edit(editor, "two", "2");
    expect((await write(editor, "x")).error?.code).toMatch(/NOT_READ|STALE/);
    expect(there("a.txt")).toBe("zero\none\n2\nthree\n");
  });

  describe("what names no text that is to be there, or not to the letter, is refused", () => {
    const theirs = "one\ntwo  \nfour\n";
    const patches: Record<string, readonly string[]> = {
      "a hunk whose line has other blanks": ["*** Update File: a.txt", "@@", "-two", "+2"],
      "lines at the end of the file": ["*** Update File: a.txt", "@@", "+more", "*** End of File"],
      "lines below a header": ["*** Update File: a.txt", "@@ one", "+more"],
      "a move of the file as it is": ["*** Update File: a.txt", "*** Move to: b.txt"],
      "a deletion": ["*** Delete File: a.txt"],
    };
    for (const [title, lines] of Object.entries(patches)) {
      test(`in a patch: ${title}`, async () => {
        const editor = await reader(loose);
        fs.writeFileSync(at("a.txt"), theirs);
        const patchText = ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
        const { reply } = await editor.run((profile) => ({ verb: "patch", patchText, profile }));
        expect(reply.error?.code).toBe("STALE");
        expect(fs.readdirSync(root)).toEqual(["a.txt"]);
        expect(there("a.txt")).toBe(theirs);
      });
    }

    test("in a patch: a hunk whose lines stand there twice, whatever its header says", async () => {
      const editor = await reader(loose);
      fs.writeFileSync(at("a.txt"), "f:\n  two\ng:\n  two\n");
      const patchText = "*** Begin Patch\n*** Update File: a.txt\n@@ g:\n-  two\n+  2\n*** End Patch";
      const { reply } = await editor.run((profile) => ({ verb: "patch", patchText, profile }));
      expect(reply.error?.code).toMatch(/AMBIGUOUS|STALE/);
      expect(there("a.txt")).toBe("f:\n  two\ng:\n  two\n");
    });

    test("but a hunk whose lines stand there once is made", async () => {
      const editor = await reader(loose);
      fs.writeFileSync(at("a.txt"), theirs);
      const patchText = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** End Patch";
      const { reply } = await editor.run((profile) => ({ verb: "patch", patchText, profile }));
      expect(words(reply)).toContain("Somebody else changed lines 2 to 3 since the file was read");
      expect(there("a.txt")).toBe("1\ntwo  \nfour\n");
    });

    test("delete of the file", async () => {
      const editor = await reader(loose);
      fs.writeFileSync(at("a.txt"), theirs);
      const { reply } = await editor.run((profile) => ({ verb: "delete", path: at("a.txt"), profile }));
      expect(reply.error?.code).toBe("STALE");
      expect(there("a.txt")).toBe(theirs);
    });

    test("a cell of a notebook: its number may be that of another one by now", async () => {
      const notebook = (...sources: readonly string[]): string =>
        JSON.stringify({ cells: sources.map((source) => ({ cell_type: "raw", metadata: {}, source })), nbformat: 4 });
      fs.writeFileSync(at("n.ipynb"), notebook("one", "two"));
      const editor = session(loose);
      await read(editor, "n.ipynb");
      fs.writeFileSync(at("n.ipynb"), notebook("theirs", "one", "two"));
      const input = { notebook_path: "n.ipynb", cell_id: "cell-0", new_source: "mine" };
      expect((await editor.call("NotebookEdit", input)).error?.code).toBe("STALE");
      expect(there("n.ipynb")).toBe(notebook("theirs", "one", "two"));
    });
  });

  test("a file that was never read is still refused", async () => {
    expect((await edit(session(loose), "two", "2")).error?.code).toBe("NOT_READ");
  });
});

describe("a file that is moved", () => {
  const page = { offset: 2, limit: 1 };
  const moves: Record<string, (mover: Session) => Promise<Reply>> = {
    "as it is": (mover) => patched(mover, "*** Update File: a.txt", "*** Move to: b.txt"),
    "with a change": (mover) => patched(mover, "*** Update File: a.txt", "*** Move to: b.txt", "@@", "-two", "+2"),
    "by its own verb": (mover) =>
      replyTo(mover, (profile) => ({ verb: "move", path: at("a.txt"), to: at("b.txt"), profile })),
  };
  const patched = (mover: Session, ...lines: readonly string[]): Promise<Reply> =>
    replyTo(mover, (profile) => ({
      verb: "patch",
      patchText: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n"),
      profile,
    }));

  for (const [title, move] of Object.entries(moves)) {
    test(`${title}: what was not shown of it was not shown under its new name`, async () => {
      const mover = session({ readFirst: "lines" });
      await read(mover, "a.txt", page);
      expect((await move(mover)).error).toBeUndefined();
      const moved = there("b.txt");
      expect((await write(mover, "x", "b.txt")).error?.code).toBe("NOT_READ");
      expect((await edit(mover, "three", "3", "b.txt")).error?.code).toBe("NOT_READ");
      expect(there("b.txt")).toBe(moved);
      expect((await edit(mover, moved.includes("two") ? "two" : "2", "II", "b.txt")).error).toBeUndefined();
    });

    test(`${title}: what was read whole can be written over`, async () => {
      const mover = await reader();
      expect((await move(mover)).error).toBeUndefined();
      expect((await write(mover, "x", "b.txt")).error).toBeUndefined();
    });
  }
});

describe("one file under two names", () => {
  test("is one file: read by a link, changed by its own name, and the reverse", async () => {
    fs.mkdirSync(at("sub"));
    fs.symlinkSync("../a.txt", at("sub/link.txt"));
    const editor = session();
    await read(editor, "sub/link.txt");
    expect((await edit(editor, "one", "1", "./a.txt")).error).toBeUndefined();
    expect((await edit(editor, "two", "2", at("sub/../a.txt"))).error).toBeUndefined();
    expect((await edit(editor, "three", "3", "sub/link.txt")).error).toBeUndefined();
    expect(there("a.txt")).toBe("1\n2\n3\n");
    expect(fs.readlinkSync(at("sub/link.txt"))).toBe("../a.txt");
  });

  test("by way of a linked root as well", async () => {
    const alias = `${root}-alias`;
    fs.symlinkSync(root, alias);
    try {
      const editor = createFilehand({ roots: [alias], ask: "yes" }).session();
      await read(editor, path.join(alias, "a.txt"));
      expect((await edit(editor, "one", "1", at("a.txt"))).error).toBeUndefined();
    } finally {
      fs.rmSync(alias);
    }
  });

  test.skipIf(process.platform !== "linux")("but names that differ in case are two files", async () => {
    fs.writeFileSync(at("A.txt"), "one\n");
    const editor = await reader();
    expect((await edit(editor, "one", "1", "A.txt")).error?.code).toBe("NOT_READ");
  });
});

describe("what counts as read", () => {
  test("a file that the session created, by Write or by Edit", async () => {
    const editor = session();
    await write(editor, "alpha\nbeta\n", "w.txt");
    expect((await edit(editor, "beta", "b", "w.txt")).error).toBeUndefined();
    expect((await write(editor, "gamma\n", "w.txt")).error).toBeUndefined();
    await edit(editor, "", "alpha\n", "e.txt");
    expect((await write(editor, "beta\n", "e.txt")).error).toBeUndefined();
  });

  test("all pages of it together", async () => {
    fs.writeFileSync(at("a.txt"), numbered(30));
    const editor = session();
    await read(editor, "a.txt", { offset: 11, limit: 20 });
    expect((await write(editor, "x")).error?.message).toContain("only lines 11 to 30");
    await read(editor, "a.txt", { offset: 1, limit: 10 });
    expect((await write(editor, "x")).error).toBeUndefined();
  });

  test("not a first page that the budget ended, but the lines that it showed", async () => {
    fs.writeFileSync(at("a.txt"), numbered(200));
    const editor = session({ pageTokensMax: 200, readFirst: "lines" });
    expect(JSON.stringify(await read(editor))).toContain("truncatedByTokenCap");
    expect((await write(editor, "x")).error?.code).toBe("NOT_READ");
    expect((await edit(editor, "line 180 of", "line 180 off")).error?.code).toBe("NOT_READ");
    expect((await edit(editor, "line 2 of", "line 2 off")).error).toBeUndefined();
  });

  test("not a range over the budget, nor a read that was refused or cancelled", async () => {
    fs.writeFileSync(at("a.txt"), numbered(200));
    const editor = session({ pageTokensMax: 200 });
    expect((await read(editor, "a.txt", { limit: 150 })).error?.code).toBe("OVER_BUDGET");
    await editor.call("Read", { file_path: "a.txt" }, { signal: AbortSignal.abort() });
    expect((await edit(editor, "line 2 of", "x")).error?.code).toBe("NOT_READ");
  });

  test("lines that were shown move along with what is written above them", async () => {
    fs.writeFileSync(at("a.txt"), numbered(100));
    const editor = session({ readFirst: "lines" });
    await read(editor, "a.txt", { offset: 1, limit: 5 });
    await read(editor, "a.txt", { offset: 50, limit: 5 });
    expect((await edit(editor, "line 3 of the file\n", "a\nb\nc\nd\n")).error).toBeUndefined();
    expect((await edit(editor, "line 54 of the file\n", "x\n")).error).toBeUndefined();
    expect((await edit(editor, "line 49 of the file\n", "x\n")).error?.code).toBe("NOT_READ");
    expect((await edit(editor, "line 55 of the file\n", "x\n")).error?.code).toBe("NOT_READ");
    expect((await edit(editor, "b\nc\n", "")).error).toBeUndefined();
    expect((await edit(editor, "line 50 of the file\n", "x\n")).error).toBeUndefined();
  });

  test("a line that was cut only as far as it was shown, whatever was read or edited besides", async () => {
    fs.writeFileSync(at("a.txt"), `one\n${"x".repeat(3_000)}tail\nthree\nfour\n`);
    const editor = session({ dialect: "opencode" });
    const readFrom = (offset: number, limit: number) => editor.call("read", { filePath: "a.txt", offset, limit });
    const change = async (oldString: string, newString: string): Promise<void> =>
      expect((await editor.call("edit", { filePath: "a.txt", oldString, newString })).error).toBeUndefined();
    const overwritten = async (): Promise<string | undefined> =>
      (await editor.call("write", { filePath: "a.txt", content: "gone\n" })).error?.message;
    await readFrom(1, 2);
    await readFrom(3, 9);
    expect(await overwritten()).toContain("only lines 1 to 4, and of line 2 only the beginning");
    // Lines above it, and a part of it, are changed by the letter; of the rest nothing more is known by that.
    await change("one\n", "zero\n1\n");
    await readFrom(1, 2);
    expect(await overwritten()).toContain("only lines 1 to 5, and of line 3 only the beginning");
    await change("xtail", "xend");
    await readFrom(4, 9);
    expect(await overwritten()).toContain("of line 3 only the beginning");
    expect(there("a.txt")).toBe(`zero\n1\n${"x".repeat(3_000)}end\nthree\nfour\n`);
    await change("x".repeat(3_000), "short ");
    await readFrom(1, 9);
    expect(await overwritten()).toBeUndefined();
  });

  describe("of a notebook", () => {
    const cellsOf = (name: string): readonly string[] =>
      (JSON.parse(there(name)) as { cells: { source: string }[] }).cells.map(({ source }) => source);
    const put = (indent?: number): void => {
      const cells = ["a", "b", "c", "d"].map((source) => ({
        cell_type: "code",
        id: `id-${source}`,
        metadata: {},
        source,
        outputs: [],
        execution_count: null,
      }));
      const notebook = { cells, metadata: {}, nbformat: 4, nbformat_minor: 5 };
      fs.writeFileSync(at("n.ipynb"), JSON.stringify(notebook, undefined, indent));
    };
    const change = (editor: Session, more: object): Promise<Reply> =>
      editor.call("NotebookEdit", { notebook_path: "n.ipynb", new_source: "x", ...more });

    for (const [what, indent] of [
      ["on lines of their own", 1],
      ["all on one line", undefined],
    ] as const) {
      test(`the cells that were shown, ${what}`, async () => {
        put(indent);
        const editor = session();
        await read(editor, "n.ipynb", { offset: 2, limit: 1 });
        const refused = await change(editor, { cell_id: "id-c" });
        expect(refused.error?.code).toBe("NOT_READ");
        expect(words(refused)).toContain("cell 3 was not shown (only cell 2), read it first with offset 3 and limit 1");
        expect((await change(editor, { cell_id: "id-d", edit_mode: "delete" })).error?.code).toBe("NOT_READ");
        expect((await write(editor, "x", "n.ipynb")).error?.message).toContain("only cell 2");
        expect(cellsOf("n.ipynb")).toEqual(["a", "b", "c", "d"]);
        // A new cell takes nothing away, and those behind it are known by their new numbers.
        expect((await change(editor, { edit_mode: "insert", cell_type: "code" })).error).toBeUndefined();
        expect((await change(editor, { cell_id: "id-a" })).error?.code).toBe("NOT_READ");
        expect((await change(editor, { cell_id: "id-b", new_source: "B" })).error).toBeUndefined();
        expect((await change(editor, { cell_id: "id-b", edit_mode: "delete" })).error).toBeUndefined();
        expect((await change(editor, { cell_id: "id-c" })).error?.code).toBe("NOT_READ");
        await read(editor, "n.ipynb", { offset: 3, limit: 1 });
        expect((await change(editor, { cell_id: "id-c", new_source: "C" })).error).toBeUndefined();
        expect(cellsOf("n.ipynb")).toEqual(["x", "a", "C", "d"]);
      });
    }

    test("its lines, where those are what is shown", async () => {
      put(1);
      const editor = session({ dialect: "envelope" });
      const path = "n.ipynb";
      const change = (cellId: string) => editor.call("NotebookEdit", { path, cell_id: cellId, new_source: "x" });
      const lineOf = (text: string): number => there(path).slice(0, there(path).indexOf(text)).split("\n").length;
      await editor.call("Read", { path, start_line: lineOf("id-b"), limit: 5 });
      expect((await change("id-c")).error?.message).toMatch(/line \d+ was not shown/);
      expect((await change("id-b")).error).toBeUndefined();
      expect((await change("id-b")).error?.code).not.toBe("NOT_READ");
      expect(cellsOf(path)).toEqual(["a", "x", "c", "d"]);
    });

    test("those cells, in another process as well", async () => {
      put();
      const first = session();
      await read(first, "n.ipynb", { offset: 2, limit: 1 });
      const second = session({}, JSON.parse(JSON.stringify(first.readState())));
      expect((await change(second, { cell_id: "id-c" })).error?.code).toBe("NOT_READ");
      expect((await change(second, { cell_id: "id-b" })).error).toBeUndefined();
    });
  });

  test("not what another session read", async () => {
    const filehand = createFilehand({ roots: [root], ask: "yes" });
    await read(filehand.session());
    expect((await edit(filehand.session(), "one", "1")).error?.code).toBe("NOT_READ");
  });

  test("a stub: who was told that it is unchanged has read it", async () => {
    const editor = await reader();
    expect(JSON.stringify(await read(editor))).toContain("file_unchanged");
    expect((await edit(editor, "one", "1")).error).toBeUndefined();
  });

  test("anything, where the operator does not ask for it", async () => {
    const editor = session({ readFirst: false });
    expect((await edit(editor, "one", "1")).error).toBeUndefined();
    expect((await write(editor, "x")).error).toBeUndefined();
    expect(there("a.txt")).toBe("x");
  });
});

describe("a conversation that goes on", () => {
  test("still has read what it read after its content was forgotten", async () => {
    const editor = await reader();
    editor.forget();
    editor.forget("a.txt");
    expect((await edit(editor, "one", "1")).error).toBeUndefined();
  });

  test("in another process knows a large file again that was only touched, however soon the state was taken", async () => {
    fs.writeFileSync(at("large.txt"), numbered(80_000));
    const first = session();
    await read(first, "large.txt", { offset: 70_000, limit: 10 });
    const kept = JSON.parse(JSON.stringify(first.readState())) as unknown;
    fs.utimesSync(at("large.txt"), new Date(), new Date(Date.now() + 60_000));
    const second = session({}, kept);
    expect((await edit(second, "line 70003 of the file\n", "", "large.txt")).error).toBeUndefined();
  });

  test("in another process has the state of the first one", async () => {
    const first = await reader();
    const kept = JSON.parse(JSON.stringify(first.readState())) as unknown;
    const second = session({}, kept);
    expect((await edit(second, "one", "1")).error).toBeUndefined();
    expect((await write(second, "x")).error).toBeUndefined();
  });

  test("finds out what changed in between, or only was touched", async () => {
    const kept = (await reader()).readState();
    fs.utimesSync(at("a.txt"), new Date(), new Date(Date.now() + 60_000));
    expect((await edit(session({}, kept), "one", "1")).error).toBeUndefined();
    fs.writeFileSync(at("a.txt"), "other\n");
    expect((await edit(session({}, kept), "one", "1")).error?.code).toBe("STALE");
  });

  test("does not stumble over a state that is damaged", async () => {
    const kept = (await reader()).readState();
    for (const damaged of [
      null,
      undefined,
      7,
      "x",
      [],
      [1, 2],
      { [at("a.txt")]: null },
      { [at("a.txt")]: {} },
      { [at("a.txt")]: { ...kept[at("a.txt")], views: "all" } },
      { [at("a.txt")]: { ...kept[at("a.txt")], whole: "yes" } },
      { [at("a.txt")]: { ...kept[at("a.txt")], sizeBytes: -1.5 } },
      { [at("a.txt")]: { ...kept[at("a.txt")], encoding: "ebcdic" } },
      { [at("a.txt")]: { ...kept[at("a.txt")], views: [{ from: "1" }] } },
      JSON.parse('{"__proto__": {"whole": true}, "constructor": 1}'),
    ]) {
      expect((await edit(session({}, damaged), "one", "1")).error?.code).toBe("NOT_READ");
    }
    // What is well formed in it counts all the same.
    expect((await edit(session({}, { ...kept, other: 7 }), "one", "1")).error).toBeUndefined();
  });
});

describe("what the host showed by its own means", () => {
  const sha256 = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex");

  test("counts as read: all of it, for Edit and for Write", async () => {
    const editor = session();
    await editor.markRead("./a.txt", { sha256: sha256("one\ntwo\nthree\n").toUpperCase() });
    expect((await edit(editor, "two", "2")).error).toBeUndefined();
    expect((await write(editor, "x\n")).error).toBeUndefined();
    expect(there("a.txt")).toBe("x\n");
  });

  test("counts for the lines that it names, and together with what was read", async () => {
    const editor = session({ readFirst: "lines" });
    await editor.markRead("a.txt", { sha256: sha256("one\ntwo\nthree\n"), lines: [{ from: 2, to: 2 }] });
    expect((await edit(editor, "one", "1")).error?.code).toBe("NOT_READ");
    expect((await write(editor, "x")).error?.code).toBe("NOT_READ");
    await read(editor, "a.txt", { offset: 1, limit: 1 });
    expect((await edit(editor, "one", "1")).error).toBeUndefined();
    expect((await edit(editor, "two", "2")).error).toBeUndefined();
    expect((await edit(editor, "three", "3")).error?.code).toBe("NOT_READ");
  });

  test("counts as changed if the disk has something else", async () => {
    const editor = session();
    await editor.markRead("a.txt", { sha256: sha256("one\n") });
    const { error } = await edit(editor, "two", "2");
    expect(error?.code).toBe("STALE");
    expect(error?.message).toContain("it has 14 bytes now");
    await read(editor);
    await editor.markRead("a.txt", { sha256: sha256("one\ntwo\nthree\n") });
    fs.appendFileSync(at("a.txt"), "four\n");
    expect((await edit(editor, "four", "4")).error?.code).toBe("STALE");
    expect((await edit(editor, "two", "2")).error).toBeUndefined();
  });

  test("counts whatever the size", async () => {
    const content = numbered(80_000);
    fs.writeFileSync(at("large.txt"), content);
    const editor = session();
    await editor.markRead("large.txt", { sha256: sha256(content) });
    expect((await edit(editor, "line 70003 of the file\n", "", "large.txt")).error).toBeUndefined();
    const other = session();
    await other.markRead("large.txt", { sha256: sha256(content) });
    expect((await edit(other, "line 70004 of the file\n", "", "large.txt")).error?.code).toBe("STALE");
  });

  test("can be a part of the state that a session begins with, and goes on from one to the next", async () => {
    const state = { [at("a.txt")]: { sha256: sha256("one\ntwo\nthree\n") } };
    const first = session({}, state);
    const second = session({}, JSON.parse(JSON.stringify(first.readState())));
    expect((await edit(second, "two", "2")).error).toBeUndefined();
    expect((await edit(first, "one", "1")).error?.code).toBe("STALE");
  });

  test("is refused if it is not well formed, or if there is no such file", async () => {
    const editor = session();
    const right = sha256("one\ntwo\nthree\n");
    for (const wrong of [
      undefined,
      null,
      {},
      { sha256: right.slice(1) },
      { sha256: `${right.slice(1)}g` },
      { sha256: 7 },
      { sha256: right, lines: "all" },
      { sha256: right, lines: [{ from: 0, to: 2 }] },
      { sha256: right, lines: [{ from: 3, to: 2 }] },
      { sha256: right, lines: [{ from: 1.5, to: 2 }] },
    ]) {
      await expect(editor.markRead("a.txt", wrong as never)).rejects.toMatchObject({ code: "INVALID_PARAM" });
      expect((await edit(session({}, { [at("a.txt")]: wrong }), "two", "2")).error?.code).toBe("NOT_READ");
    }
    expect((await edit(editor, "two", "2")).error?.code).toBe("NOT_READ");
    await expect(editor.markRead("none.txt", { sha256: right })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(editor.markRead("../x", { sha256: right })).rejects.toMatchObject({ code: "ACCESS_DENIED" });
    await expect(editor.markRead(".", { sha256: right })).rejects.toMatchObject({ code: "IS_DIRECTORY" });
  });

  test("lifts no rule, and says of a denied file neither that it is there nor that it is not", async () => {
    const editor = session({ permissions: { deny: ["Read(a.txt)", "Read(none.txt)"] } });
    const refusals: unknown[] = [];
    for (const name of ["a.txt", "none.txt"]) {
      const marking = editor.markRead(name, { sha256: sha256("one\ntwo\nthree\n") });
      refusals.push(await marking.catch((error: unknown) => String(error).replaceAll(name, "<name>")));
    }
    expect(refusals[0]).toContain("denies it");
    expect(refusals[1]).toEqual(refusals[0]);
    expect(editor.readState()).toEqual({});
    expect((await edit(editor, "two", "2")).error?.code).toBe("ACCESS_DENIED");
  });
});

describe("what happens meanwhile", () => {
  test("a change while somebody is asked is noticed, and nothing is lost", async () => {
    const editor = await reader({
      ask: async () => {
        fs.writeFileSync(at("a.txt"), "somebody else's one\n");
        return { reply: "once" };
      },
    });
    expect((await edit(editor, "one", "1")).error?.code).toBe("STALE");
    expect(there("a.txt")).toBe("somebody else's one\n");
  });

  test("a change of other lines while somebody is asked leads to a second question with the new diff", async () => {
    const diffs: unknown[] = [];
    const editor = await reader({
      ask: async ({ metadata }) => {
        diffs.push(metadata["diff"]);
        fs.writeFileSync(at("a.txt"), "somebody else's\none\n");
        return { reply: "once" };
      },
    });
    expect((await edit(editor, "one", "1")).error).toBeUndefined();
    expect(diffs).toEqual([expect.stringContaining(" two"), expect.stringContaining(" somebody else's")]);
    expect(there("a.txt")).toBe("somebody else's\n1\n");
  });

  test("a file that appears while somebody is asked about a new one is not overwritten", async () => {
    const editor = session({
      ask: async () => {
        fs.writeFileSync(at("new.txt"), "somebody else's\n");
        return { reply: "once" };
      },
    });
    expect((await write(editor, "mine\n", "new.txt")).error?.code).toMatch(/EXISTS|NOT_READ/);
    expect(there("new.txt")).toBe("somebody else's\n");
  });

  test("the question shows what would change, and a change that cannot be made asks nobody", async () => {
    const diffs: unknown[] = [];
    const editor = await reader({
      ask: async ({ metadata }) => {
        diffs.push(metadata["diff"]);
        return { reply: "reject", feedback: "not today" };
      },
    });
    const reply = await edit(editor, "two", "2");
    expect(reply.error?.code).toBe("ACCESS_DENIED");
    expect(reply.error?.message).toContain("not today");
    expect(diffs).toEqual([expect.stringContaining("-two\n+2")]);
    expect((await edit(editor, "not there", "2")).error?.code).toBe("NO_MATCH");
    expect(diffs).toHaveLength(1);
    expect(there("a.txt")).toBe("one\ntwo\nthree\n");
  });

  test("is made anew at once where nothing must have been read", async () => {
    const writer = await reader({ readFirst: false });
    fs.rmSync(at("a.txt"));
    expect((await write(writer, "x")).error).toBeUndefined();
    expect(there("a.txt")).toBe("x");
  });

  test("a file that is gone is created again by Write, which says that it was gone", async () => {
    const editor = await reader();
    fs.rmSync(at("a.txt"));
    const reply = await write(editor, "new\n");
    expect(words(reply)).toContain("Somebody else deleted the file since it was read; it was created again.");
    expect(there("a.txt")).toBe("new\n");
  });

  test("with `lines`, a file that is gone is reported once, and then can be created again by Write", async () => {
    const editor = await reader({ readFirst: "lines" });
    fs.rmSync(at("a.txt"));
    const first = await write(editor, "new\n");
    expect(first.error?.code).toBe("STALE");
    expect(first.error?.message).toContain("deleted");
    expect(fs.existsSync(at("a.txt"))).toBe(false);
    expect((await write(editor, "new\n")).error).toBeUndefined();
  });
});

describe("reading after a change", () => {
  test("gives the content, never a stub", async () => {
    const editor = await reader();
    await edit(editor, "one", "1");
    expect(words(await read(editor))).toContain("1\t1");
    await write(editor, "new\n");
    expect(words(await read(editor))).toContain("1\tnew");
  });

  test("the notice that stands for content is refused as content, where it is the dialect's to give", async () => {
    const notices: Readonly<Record<DialectName, readonly [string, string, string]>> = {
      claude: ["Read", "Write", "file_path"],
      opencode: ["read", "write", "filePath"],
      "opencode-legacy": ["read", "write", "filePath"],
      envelope: ["Read", "Write", "path"],
    };
    for (const [dialect, [readTool, writeTool, name]] of Object.entries(notices)) {
      const speaker = createFilehand({ roots: [root], ask: "yes", dedup: true }).session({
        dialect: dialect as DialectName, // the keys of the record above
      });
      await speaker.call(readTool, { [name]: "a.txt" });
      const stub = words(await speaker.call(readTool, { [name]: "a.txt" }));
      expect(stub).toMatch(/changed/);
      const reply = await speaker.call(writeTool, { [name]: "a.txt", content: stub });
      expect({ dialect, code: reply.error?.code }).toEqual({ dialect, code: "INVALID_PARAM" });
    }
    expect(there("a.txt")).toBe("one\ntwo\nthree\n");
  });
});

test("descriptions promise the guard that is configured, and no other", () => {
  for (const dialect of ["claude", "opencode", "opencode-legacy", "envelope"] as const) {
    const promises = (readFirst: boolean): string[] =>
      createFilehand({ roots: [root], readFirst })
        .session({ dialect })
        .definitions()
        .filter(({ description }) => /must have (?:been )?read|Read the (?:file|notebook) first/i.test(description))
        .map(({ name }) => name.toLowerCase());
    expect(promises(true)).toEqual(expect.arrayContaining(["edit", "write"]));
    expect({ dialect, promises: promises(false) }).toEqual({ dialect, promises: [] });
  }
});
