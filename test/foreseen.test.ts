/** What a change will be refused for is told before anything is done, asked or shown as possible. */

import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { createFilehand, type FilehandOptions, type Question } from "../src/index.ts";
import { questionText } from "../src/surfaces/mcp/approval-state.ts";
import { textOf } from "./support/reading.ts";
import { onWindows, type Tree, workspace } from "./support/workspace.ts";

function bed(tree: Tree, options: Partial<FilehandOptions> = {}) {
  const made = workspace(tree);
  const filehand = createFilehand({ roots: [made.top], ask: "yes", readFirst: false, ...options });
  const sessions = {
    claude: filehand.session({ dialect: "claude" }),
    opencode: filehand.session({ dialect: "opencode" }),
  };
  return { ...made, ...sessions };
}

const patch = (...lines: readonly string[]): string => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

describe.skipIf(onWindows)("a dry run and the real call refuse alike", () => {
  const calls = {
    "an edit of a read-only file": ["Edit", { file_path: "locked.txt", old_string: "one", new_string: "1" }],
    "a write over one": ["Write", { file_path: "locked.txt", content: "1\n" }],
    "a write through a link that leads nowhere": ["Write", { file_path: "nowhere.txt", content: "1\n" }],
  } as const;
  for (const [what, [tool, input]] of Object.entries(calls)) {
    test(what, async () => {
      const { path, claude } = bed({ "locked.txt": "one\n" });
      fs.chmodSync(path("locked.txt"), 0o444);
      fs.symlinkSync("no/such", path("nowhere.txt"));
      const [dry, real] = [await claude.call(tool, input, { dryRun: true }), await claude.call(tool, input)];
      expect(dry.isError).toBe(true);
      expect([dry.error?.code, textOf(dry)]).toEqual([real.error?.code, textOf(real)]);
      expect(fs.readFileSync(path("locked.txt"), "utf8")).toBe("one\n");
    });
  }

  for (const [what, lines, code] of [
    ["a move of a read-only file", ["*** Update File: locked.txt", "*** Move to: b.txt"], "ACCESS_DENIED"],
    ["its deletion", ["*** Add File: c.txt", "+c", "*** Delete File: locked.txt"], "ACCESS_DENIED"],
    ["a move onto a link that leads nowhere", ["*** Update File: a.txt", "*** Move to: nowhere.txt"], "EXISTS"],
    ["a file in a file", ["*** Add File: x", "+x", "*** Add File: x/y/z", "+z"], "INVALID_PARAM"],
    [
      "a file in a file, named the other way round",
      ["*** Add File: x/y", "+y", "*** Add File: x", "+x"],
      "INVALID_PARAM",
    ],
    [
      "a file in one that is moved",
      ["*** Update File: a.txt", "*** Move to: x", "*** Add File: x/y", "+y"],
      "INVALID_PARAM",
    ],
    ["a file by two names", ["*** Add File: x", "+x", "*** Add File: y/../x", "+y"], "INVALID_PARAM"],
  ] as const) {
    test(`${what} in a patch, and nothing of it is left`, async () => {
      const { top, path, opencode } = bed({ "a.txt": "a\n", "locked.txt": "one\n" });
      fs.chmodSync(path("locked.txt"), 0o444);
      fs.symlinkSync("no/such", path("nowhere.txt"));
      const before = fs.readdirSync(top);
      const input = { patchText: patch(...lines) };
      const [dry, real] = [await opencode.call("patch", input, { dryRun: true }), await opencode.call("patch", input)];
      expect([dry.error?.code, real.error?.code]).toEqual([code, code]);
      expect(textOf(dry)).toBe(textOf(real));
      expect(fs.readdirSync(top)).toEqual(before);
    });
  }

  test("a path that clashes with another one of the patch is told as such", async () => {
    const { opencode } = bed({});
    const told = async (...lines: readonly string[]) =>
      textOf(await opencode.call("patch", { patchText: patch(...lines) }));
    expect(await told("*** Add File: x", "+x", "*** Add File: x/y", "+y")).toContain(
      '"x/y" would lie in a file that the same patch makes',
    );
    expect(await told("*** Add File: x", "+x", "*** Add File: y/../x", "+y")).toContain(
      '"y/../x" is a file that the patch names before by another name',
    );
  });

  test("a file that somebody else deleted is told by a dry run as often as it is asked", async () => {
    const { path, claude } = bed({ "a.txt": "one\n" }, { readFirst: "lines" });
    await claude.call("Read", { file_path: "a.txt" });
    fs.rmSync(path("a.txt"));
    const write = (dryRun: boolean) => claude.call("Write", { file_path: "a.txt", content: "1\n" }, { dryRun });
    const codes = [];
    for (const dryRun of [true, true, false]) codes.push((await write(dryRun)).error?.code);
    expect(codes).toEqual(["STALE", "STALE", "STALE"]);
    expect([(await write(true)).error, (await write(false)).error]).toEqual([undefined, undefined]);
  });

  test("nobody is asked about a change that cannot be made", async () => {
    const asked: Question[] = [];
    const ask = async (question: Question) => {
      asked.push(question);
      return { reply: "once" } as const;
    };
    const { path, claude } = bed({ "locked.txt": "one\n" }, { ask });
    fs.chmodSync(path("locked.txt"), 0o444);
    const reply = await claude.call("Write", { file_path: "locked.txt", content: "1\n" });
    expect([reply.error?.code, asked]).toEqual(["ACCESS_DENIED", []]);
  });

  test("nor about the first file of a patch of which another does not fit", async () => {
    const questions: Question[] = [];
    const ask = async (question: Question) => {
      questions.push(question);
      return { reply: "once" } as const;
    };
    const { path, opencode } = bed(
      { "a.txt": "one\n", "b.txt": "two\n", "locked.txt": "three\n", ".env": "K=1\n" },
      { ask },
    );
    fs.chmodSync(path("locked.txt"), 0o444);
    const first = ["*** Update File: a.txt", "@@", "-one", "+1"];
    for (const [lines, code] of [
      [["*** Update File: b.txt", "@@", "-three", "+3"], "NO_MATCH"],
      [["*** Delete File: locked.txt"], "ACCESS_DENIED"],
      [["*** Add File: b.txt", "+b"], "EXISTS"],
      [["*** Delete File: none.txt"], "NOT_FOUND"],
    ] as const) {
      const reply = await opencode.call("patch", { patchText: patch(...first, ...lines) });
      expect([reply.error?.code, questions]).toEqual([code, []]);
    }
    // What may not be read without a question is not looked into for that.
    const secret = ["*** Update File: .env", "@@", "-K=2", "+K=3"];
    const reply = await opencode.call("patch", { patchText: patch(...first, ...secret) });
    expect([reply.error?.code, questions.map(({ permission }) => permission)]).toEqual(["NO_MATCH", ["read"]]);
    expect(fs.readFileSync(path("a.txt"), "utf8")).toBe("one\n");
  });

  test("nor about a move to where something is, or no name can be", async () => {
    const asked: Question[] = [];
    const ask = async (question: Question) => {
      asked.push(question);
      return { reply: "once" } as const;
    };
    const { path, opencode } = bed({ "a.txt": "one\n", "b.txt": "two\n" }, { ask });
    for (const [to, code] of [
      ["b.txt", "EXISTS"],
      ["folder/", "INVALID_PARAM"],
      ["../c.txt", "ACCESS_DENIED"],
    ] as const) {
      const patchText = patch("*** Update File: a.txt", `*** Move to: ${to}`, "@@", "-one", "+1");
      const reply = await opencode.call("patch", { patchText });
      expect([reply.error?.code, asked]).toEqual([code, []]);
    }
    expect(fs.readFileSync(path("a.txt"), "utf8")).toBe("one\n");
  });

  test("a dry run tells of other names", async () => {
    const { path, claude } = bed({ "a.txt": "one\n" });
    fs.linkSync(path("a.txt"), path("b.txt"));
    const reply = await claude.call("Write", { file_path: "a.txt", content: "1\n" }, { dryRun: true });
    expect(textOf(reply)).toContain("The file has other names (hard links); they would keep the old content.");
  });

  for (const hardLinks of ["separate", "keep"] as const) {
    test(`a dry run of a move tells of them no more than the move does, hard links: ${hardLinks}`, async () => {
      const { path, opencode } = bed({ "a.txt": "one\n" }, { hardLinks });
      fs.linkSync(path("a.txt"), path("b.txt"));
      const input = { patchText: patch("*** Update File: a.txt", "*** Move to: c.txt", "@@", "-one", "+1") };
      const [dry, real] = [await opencode.call("patch", input, { dryRun: true }), await opencode.call("patch", input)];
      const notes = (reply: typeof dry) =>
        textOf(reply)
          .split("\n")
          .filter((line) => /other names|in place/.test(line));
      expect([real.isError, notes(dry)]).toEqual([false, notes(real)]);
    });
  }
});

describe("a question about a patch says what no diff says", () => {
  async function questionsOf(...lines: readonly string[]): Promise<readonly Question[]> {
    const questions: Question[] = [];
    const ask = async (question: Question) => {
      questions.push(question);
      return { reply: "once" } as const;
    };
    const { opencode } = bed({ "empty.txt": "", "full.txt": "one\n" }, { ask });
    const reply = await opencode.call("patch", { patchText: patch(...lines) });
    expect(reply.error).toBeUndefined();
    return questions;
  }

  test("that a file is deleted, an empty one too", async () => {
    const [one, ...noMore] = await questionsOf("*** Delete File: empty.txt");
    expect([one?.metadata["deletes"], noMore]).toEqual([true, []]);
    expect(one && questionText(one)).toMatch(/^Delete "/);
    const [both, ...others] = await questionsOf("*** Delete File: empty.txt", "*** Delete File: full.txt");
    expect([both?.metadata["files"], others]).toMatchObject([[{ deletes: true }, { deletes: true }], []]);
    expect(both?.metadata["diff"]).toContain("+++ /dev/null");
    expect(both && questionText(both)).toMatch(
      /^Change 2 files, all of them or none\? \+0 -1\n- delete ".*empty\.txt"\n- delete ".*full\.txt"\n/,
    );
  });

  test("that it is moved, and where to", async () => {
    const [first, ...others] = await questionsOf("*** Update File: full.txt", "*** Move to: there.txt");
    expect([first?.metadata, others]).toMatchObject([{ movedTo: "there.txt" }, []]);
    expect(first?.patterns.map((name) => path.basename(name))).toEqual(["full.txt", "there.txt"]);
    expect(first === undefined ? "" : questionText(first)).toContain('It is moved to "there.txt".');
  });
});

test("a yes to a new cell is a yes to that cell, asked for once", async () => {
  const questions: Question[] = [];
  const ask = async (question: Question) => {
    questions.push(question);
    return { reply: "once" } as const;
  };
  const cells = [{ cell_type: "code", id: "aa", execution_count: 3, metadata: {}, outputs: [], source: ["x=1"] }, 5];
  const notebook = JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 });
  const { path, claude } = bed({ "n.ipynb": notebook }, { ask });
  for (const [at, input] of [
    { edit_mode: "insert", cell_id: "aa", new_source: "q" },
    { edit_mode: "replace", cell_id: "cell-2", new_source: "r", cell_type: "code" },
  ].entries()) {
    const reply = await claude.call("NotebookEdit", { notebook_path: "n.ipynb", ...input });
    expect([reply.error, questions.length]).toEqual([undefined, at + 1]);
    const id = /"id": ?"([\w-]+)"/.exec(String(questions[at]?.metadata["diff"]).replace(/^[ -].*$/gm, ""))?.[1];
    expect(fs.readFileSync(path("n.ipynb"), "utf8")).toContain(`"${id}"`);
  }
});
