/** Every dialect changes files alike; what else there is about a file is kept. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { dialectNames } from "../src/dialects/index.ts";
import { nodeSystem } from "../src/disk/system.ts";
import { type Asker, createFilehand, type Question, type Reply, type Session } from "../src/index.ts";
import { isWellFormed } from "../src/text/encoding/escape.ts";
import { type ChangeCase, changeSuite } from "./suites/change.ts";
import { onLinux, onWindows, type Tree, workspace } from "./support/workspace.ts";

const snakeCase = { old: "old_string", new: "new_string", all: "replace_all" } as const;
const camelCase = { old: "oldString", new: "newString", all: "replaceAll" } as const;
const counted = {
  edited: /^Edited "a\.txt": 1 replacement at line 2 \(\+1 -1\)\.$/m,
  written: /^Wrote "a\.txt" \(\+1 -1\)\.$/m,
  created: /^Created "new\/a\.txt" \(\+1 -0\)\.$/m,
} as const;
const plain = {
  edited: /^Edit applied successfully\.$/,
  written: /^Wrote file successfully\.$/,
  created: /^Wrote file successfully\.$/,
} as const;

const cases: readonly ChangeCase[] = [
  {
    name: "claude",
    tools: { read: "Read", edit: "Edit", write: "Write" },
    parameters: { path: "file_path", offset: "offset", ...snakeCase },
    first: 1,
    says: counted,
  },
  {
    name: "envelope",
    tools: { read: "Read", edit: "Edit", write: "Write" },
    parameters: { path: "path", offset: "start_line", ...snakeCase },
    first: 1,
    says: counted,
  },
  {
    name: "opencode",
    tools: { read: "read", edit: "edit", write: "write" },
    parameters: { path: "filePath", offset: "offset", ...camelCase },
    first: 1,
    says: plain,
  },
  {
    name: "opencode-legacy",
    tools: { read: "read", edit: "edit", write: "write" },
    parameters: { path: "filePath", offset: "offset", ...camelCase },
    first: 0,
    says: plain,
  },
];

for (const given of cases) changeSuite(given);

const textOf = ({ content }: Reply): string => content.map((part) => (part.type === "text" ? part.text : "")).join("");

test("no dialect is left out", () => {
  expect(cases.map(({ name }) => name).toSorted()).toEqual(dialectNames.toSorted());
});

describe("a file with another name", () => {
  /** An inside name of a file whose other name is outside the workspace, as package stores have them. */
  const linked = (): { readonly root: string; readonly inside: string; readonly outside: string } => {
    const { top, path } = workspace({ ws: {}, store: { "a.txt": "one\n" } });
    fs.linkSync(path("store", "a.txt"), path("ws", "a.txt"));
    return { root: `${top}/ws`, inside: path("ws", "a.txt"), outside: path("store", "a.txt") };
  };
  const edit = { file_path: "a.txt", old_string: "one", new_string: "1" };

  for (const [what, change] of [
    ["an edit", (session: Session) => session.call("Edit", edit)],
    ["a write", (session: Session) => session.call("Write", { file_path: "a.txt", content: "1\n" })],
  ] as const) {
    test(`is separated from it by ${what}, which says so`, async () => {
      const { root, inside, outside } = linked();
      const session = createFilehand({ roots: [root], ask: "yes" }).session();
      await session.call("Read", { file_path: "a.txt" });
      const reply = await change(session);
      expect(JSON.stringify(reply.content)).toContain("other names (hard links); they keep the old content");
      expect([fs.readFileSync(inside, "utf8"), fs.readFileSync(outside, "utf8")]).toEqual(["1\n", "one\n"]);
    });
  }

  test("stays the same file where the operator wants it", async () => {
    const { root, inside, outside } = linked();
    const session = createFilehand({ roots: [root], ask: "yes", hardLinks: "keep" }).session();
    await session.call("Read", { file_path: "a.txt" });
    const reply = await session.call("Edit", edit);
    expect(reply.error).toBeUndefined();
    expect(JSON.stringify(reply.content)).not.toContain("keep the old content");
    expect([fs.readFileSync(inside, "utf8"), fs.readFileSync(outside, "utf8")]).toEqual(["1\n", "1\n"]);
  });
});

// macOS and its like find either form by themselves.
describe.skipIf(!onLinux)("a name whose accents are composed otherwise on the disk", () => {
  const composed = "caf\u00e9";
  const decomposed = "cafe\u0301";
  const call = (session: Session, tool: string, name: string, more: object = {}) =>
    session.call(tool, { file_path: name, ...more });

  for (const [what, asked, onDisk] of [
    ["composed for decomposed", composed, decomposed],
    ["decomposed for composed", decomposed, composed],
  ] as const) {
    test(`is found, ${what}, and told as the disk has it`, async () => {
      const { top, path: at } = workspace({ [onDisk]: { [`${onDisk}.txt`]: "one\n" } });
      const session = createFilehand({ roots: [top], ask: "yes" }).session();
      const name = `${asked}/${asked}.txt`;
      expect((await call(session, "Edit", name, { old_string: "one", new_string: "1" })).error?.code).toBe("NOT_READ");
      expect((await call(session, "Write", name, { content: "1\n" })).error?.code).toBe("NOT_READ");
      expect((await call(session, "Read", name)).structured).toMatchObject({
        file: { filePath: at(onDisk, `${onDisk}.txt`) },
      });
      const edited = await call(session, "Edit", `${onDisk}/${asked}.txt`, { old_string: "one", new_string: "1" });
      expect(edited.structured).toMatchObject({ filePath: at(onDisk, `${onDisk}.txt`) });
      expect((await call(session, "Write", `${asked}/new/a.txt`, { content: "new\n" })).error).toBeUndefined();
      expect(fs.readdirSync(top)).toEqual([onDisk]);
      expect(fs.readdirSync(at(onDisk)).toSorted()).toEqual([`${onDisk}.txt`, "new"].toSorted());
      expect(fs.readFileSync(at(onDisk, `${onDisk}.txt`), "utf8")).toBe("1\n");
    });
  }

  test("is the one that was asked for where both are there, and neither where a third is asked for", async () => {
    const mixed = "\u00e9o\u0308";
    const { top, path: at } = workspace({ [mixed.normalize("NFC")]: "one\n", [mixed.normalize("NFD")]: "one\n" });
    const session = createFilehand({ roots: [top], ask: "yes" }).session();
    for (const form of ["NFC", "NFD"]) {
      await call(session, "Read", mixed.normalize(form));
      const edit = { old_string: "one", new_string: form };
      expect((await call(session, "Edit", mixed.normalize(form), edit)).error).toBeUndefined();
      expect(fs.readFileSync(at(mixed.normalize(form)), "utf8")).toBe(`${form}\n`);
    }
    expect((await call(session, "Read", mixed)).error?.code).toBe("NOT_FOUND");
    expect((await call(session, "Write", mixed, { content: "third\n" })).error).toBeUndefined();
    expect(fs.readdirSync(top).length).toBe(3);
  });

  test("is denied in either form by a rule for one", async () => {
    const { top, path: at } = workspace({ [`${decomposed}.txt`]: "secret\n" });
    for (const rule of [composed, decomposed]) {
      const session = createFilehand({
        roots: [top],
        permissions: { deny: [`Read(${rule}.txt)`] },
        ask: "yes",
      }).session();
      for (const asked of [composed, decomposed]) {
        const read = await call(session, "Read", `${asked}.txt`);
        expect(read.error?.code).toBe("ACCESS_DENIED");
        expect((await call(session, "Write", `${asked}.txt`, { content: "x" })).error?.code).toBe("ACCESS_DENIED");
      }
    }
    expect(fs.readdirSync(top)).toEqual([`${decomposed}.txt`]);
    expect(fs.readFileSync(at(`${decomposed}.txt`), "utf8")).toBe("secret\n");
  });
});

describe.skipIf(onWindows)("a file that is moved stays as it is in all but its name", () => {
  const asRoot = process.getuid?.() === 0;
  const move = async (top: string, by: "patch" | "move"): Promise<readonly [string, string]> => {
    const session = createFilehand({ roots: [top], ask: "yes", readFirst: false }).session({ dialect: "opencode" });
    const text = "*** Begin Patch\n*** Update File: a.sh\n*** Move to: new/b.sh\n@@\n-one\n+two\n*** End Patch";
    const { reply } = await session.run((profile) =>
      by === "patch"
        ? { verb: "patch", patchText: text, profile }
        : { verb: "move", path: "a.sh", to: "new/b.sh", profile },
    );
    expect(reply.error).toBeUndefined();
    return [textOf(reply), `${top}/new/b.sh`];
  };

  for (const by of ["patch", "move"] as const) {
    test(`by ${by}: its mode, whatever the umask`, async () => {
      const { top, path: at } = workspace({ "a.sh": "one\n" });
      fs.chmodSync(at("a.sh"), 0o4775);
      const [said, moved] = await move(top, by);
      expect((fs.statSync(moved).mode & 0o7777).toString(8)).toBe("4775");
      expect(said).not.toContain("could be kept");
    });

    test.skipIf(!asRoot)(`by ${by}: its owner`, async () => {
      const { top, path: at } = workspace({ "a.sh": "one\n" });
      fs.chownSync(at("a.sh"), 1_234, 5_678);
      const [, moved] = await move(top, by);
      const { uid, gid } = fs.statSync(moved);
      expect([uid, gid]).toEqual([1_234, 5_678]);
    });

    test.skipIf(by === "move")(
      `by ${by}: what the system gives to nobody else is told, and no right is made of it`,
      async () => {
        const { top, path: at } = workspace({ "a.sh": "one\n" });
        fs.chmodSync(at("a.sh"), 0o4775);
        const stat = nodeSystem.stat.bind(nodeSystem);
        const { ino } = fs.statSync(at("a.sh"), { bigint: true });
        const refuse = (): never => {
          throw Object.assign(new Error("EPERM: made up"), { code: "EPERM", errno: -1 });
        };
        vi.spyOn(nodeSystem, "changeOwner").mockImplementation(refuse);
        vi.spyOn(nodeSystem, "stat").mockImplementation((fd) => {
          const found = stat(fd);
          return found.ino === ino ? Object.defineProperty(Object.create(found), "uid", { value: 4_321n }) : found;
        });
        onTestFinished(() => void vi.restoreAllMocks());
        const [said, moved] = await move(top, by);
        expect(said).toContain("Not all about the file could be kept: owner or attributes not kept.");
        expect((fs.statSync(moved).mode & 0o7777).toString(8)).toBe("775");
      },
    );
  }
});

describe("a patch that moves a file", () => {
  const moved = async (...hunk: readonly string[]) => {
    const { top } = workspace({ "a.txt": "one\ntwo\n" });
    const session = createFilehand({ roots: [top], ask: "yes", readFirst: false }).session({ dialect: "opencode" });
    const lines = ["*** Begin Patch", "*** Update File: a.txt", "*** Move to: b.txt", "@@", ...hunk, "*** End Patch"];
    const reply = await session.call("patch", { patchText: lines.join("\n") });
    const { error } = reply;
    return [error?.code === "INVALID_PARAM" ? textOf(reply) : error?.code, ...fs.readdirSync(top)];
  };

  test("may show lines of it that stay, if they are there", async () => {
    expect(await moved(" two")).toEqual([undefined, "b.txt"]);
    expect(await moved(" three")).toEqual(["NO_MATCH", "a.txt"]);
  });

  test("is refused if a line that it replaces would be the same", async () => {
    const told = "Invalid patch: line 4 of the patch: the lines that are taken out and put in are the same";
    expect(await moved("-two", "+two")).toEqual([`${told}, so nothing would change`, "a.txt"]);
  });
});

describe("a file's mode", () => {
  test.skipIf(onWindows)("stays, without bits that it never had, and a new file follows the umask", async () => {
    const { top, path } = workspace({ "run.sh": "one\n" });
    fs.chmodSync(path("run.sh"), 0o2751);
    const session = createFilehand({ roots: [top], ask: "yes" }).session();
    await session.call("Read", { file_path: "run.sh" });
    await session.call("Edit", { file_path: "run.sh", old_string: "one", new_string: "1" });
    await session.call("Write", { file_path: "new.sh", content: "x\n" });
    expect((fs.statSync(path("run.sh")).mode & 0o777).toString(8)).toBe("751");
    expect((fs.statSync(path("new.sh")).mode & 0o7777).toString(8)).toBe((0o666 & ~process.umask()).toString(8));
    expect(fs.readdirSync(top).toSorted()).toEqual(["new.sh", "run.sh"]);
  });
});

test("edits of neighbouring places that were both written by an earlier edit are made once each", async () => {
  const { top, path } = workspace({ "a.txt": "$$" });
  const session = createFilehand({ roots: [top], ask: "yes" }).session();
  await session.call("Read", { file_path: "a.txt" });
  const edits = [
    { old_string: "$", new_string: "a", replace_all: true },
    { old_string: "a", new_string: "b", replace_all: true },
  ];
  expect((await session.call("MultiEdit", { file_path: "a.txt", edits })).error).toBeUndefined();
  expect(fs.readFileSync(path("a.txt"), "utf8")).toBe("bb");
});

describe("one call is one change", () => {
  /** A session whose questions are kept. */
  const asking = (tree: Tree) => {
    const { path: at } = workspace({ ws: tree, state: {} });
    const questions: Question[] = [];
    const ask: Asker = async (question) => {
      questions.push(question);
      return { reply: "once" };
    };
    const session: Session = createFilehand({ roots: [at("ws")], ask, stateDir: at("state") }).session();
    return { at, questions, session };
  };
  const diffOf = (question: Question | undefined): string => String(question?.metadata["diff"]);

  test("several edits are one question with one diff, and one turn", async () => {
    const { at, questions, session } = asking({ "a.txt": "one\ntwo\nthree\n" });
    await session.call("Read", { file_path: "a.txt" });
    const edits = [
      { old_string: "three", new_string: "3" },
      { old_string: "one", new_string: "1" },
    ];
    const { structured } = await session.call("MultiEdit", { file_path: "a.txt", edits });
    expect(structured).toMatchObject({ structuredPatch: [{ lines: ["-one", "+1", " two", "-three", "+3"] }] });
    expect(questions.length).toBe(1);
    expect(diffOf(questions[0])).toContain("-one\n+1\n two\n-three\n+3\n");
    expect((await session.history())?.snapshots().length).toBe(1);
    await session.undo();
    expect(fs.readFileSync(at("ws/a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
  });

  test("so is a cell: the question shows the old one, the history keeps it, and a deny rule covers it", async () => {
    const cell = { cell_type: "code", id: "a", metadata: {}, outputs: [], source: "old = 1", execution_count: null };
    const notebook = JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 }, undefined, 1);
    const { at, questions, session } = asking({ "n.ipynb": notebook });
    await session.call("Read", { file_path: "n.ipynb" });
    const input = { notebook_path: "n.ipynb", cell_id: "a", new_source: "new = 2" };
    const reply = await session.call("NotebookEdit", input);
    expect(reply.error).toBeUndefined();
    expect(diffOf(questions[0])).toMatch(/^-.*old = 1.*\n(?:.*\n)*?\+.*new = 2/m);
    // The cell, and not the notebook as well.
    expect(Object.keys(reply.structured ?? {})).not.toContain("originalFile");
    await session.undo();
    expect(fs.readFileSync(at("ws/n.ipynb"), "utf8")).toBe(notebook);
    const denied = createFilehand({
      roots: [at("ws")],
      ask: "yes",
      permissions: { deny: ["Read(*.ipynb)"] },
    }).session();
    const refused = await denied.call("NotebookEdit", input);
    expect(refused.error?.code).toBe("ACCESS_DENIED");
    expect(refused.error?.message).not.toContain("old = 1");
  });
});

describe("what becomes of a line in front of a very long one", () => {
  for (const [name, oldText, newText, counts, diff] of [
    ["they become one", "two\n", "2", "(+1 -2)", []],
    ["the rest of the line is put before it", "wo\n", "", "(+1 -2)", []],
    ["it goes", "two\n", "", "(+0 -1)", [" one", "-two"]],
    ["it stays a line", "wo\n", "o\n", "(+1 -1)", [" one", "-two", "+to"]],
  ] as const) {
    test(name, async () => {
      const { top } = workspace({ "a.txt": `one\ntwo\n${"x".repeat(300_000)}\nend\n` });
      const session = createFilehand({ roots: [top], ask: "yes", readFirst: false }).session();
      const input = { file_path: "a.txt", old_string: oldText, new_string: newText };
      const { content, structured } = await session.call("Edit", input);
      expect(JSON.stringify(content)).toContain(counts);
      const { structuredPatch } = structured as { readonly structuredPatch: readonly { readonly lines: string[] }[] }; // what Edit answers with
      expect(structuredPatch.flatMap(({ lines }) => lines)).toEqual(diff);
    });
  }
});

describe("a dry run says what would be, and nothing that is not so", () => {
  const output = { output_type: "stream", name: "stdout", text: "1" };
  const cell = { cell_type: "code", execution_count: 1, metadata: {}, outputs: [output], source: "print(1)" };
  const notebook = { cells: [cell, cell], metadata: {}, nbformat: 4, nbformat_minor: 4 };
  const tree = {
    "a.txt": "one\n  two\n",
    "crlf.txt": "one\r\ntwo\r\n",
    "n.ipynb": JSON.stringify(notebook),
  };
  const cases: Readonly<
    Record<string, readonly [tool: string, input: Readonly<Record<string, string>>, says: string]>
  > = {
    "a loose match": [
      "Edit",
      { file_path: "a.txt", old_string: "one \n  two\n", new_string: "1\n  2\n" },
      "These lines would be there:\n",
    ],
    "other line ends": [
      "Edit",
      { file_path: "crlf.txt", old_string: "one\ntwo", new_string: "1\n2" },
      "The file has other line ends than the call; its own would be kept.",
    ],
    "line ends as they were sent": [
      "Write",
      { file_path: "crlf.txt", content: "one\n" },
      "Line ends would change from CRLF to LF, as they were sent.",
    ],
    "the same content": [
      "Write",
      { file_path: "a.txt", content: tree["a.txt"] },
      'Dry run, nothing was written. "a.txt" has exactly this content already.',
    ],
    "outputs of a cell": [
      "NotebookEdit",
      { notebook_path: "n.ipynb", cell_id: "cell-0", new_source: "print(2)" },
      "Its outputs were made by the old source and would go.",
    ],
    "cells that are numbered": [
      "NotebookEdit",
      { notebook_path: "n.ipynb", cell_id: "cell-0", edit_mode: "delete", new_source: "" },
      "Cells behind it without ids of their own would get other ids.",
    ],
  };
  for (const [name, [tool, input, says]] of Object.entries(cases)) {
    test(name, async () => {
      const { top, path: at } = workspace(tree);
      const session = createFilehand({ roots: [top], ask: "yes" }).session();
      for (const file_path of Object.keys(tree)) await session.call("Read", { file_path });
      const { content, error } = await session.call(tool, input, { dryRun: true });
      expect(error).toBeUndefined();
      const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
      expect(text).toContain(says);
      expect(text).not.toMatch(/\b(?:now|gone|changed|kept the)\b|^(?:Edited|Wrote|Created|Replaced|Deleted)/m);
      for (const [file, before] of Object.entries(tree)) expect(fs.readFileSync(at(file), "utf8")).toBe(before);
    });
  }
});

describe("several edits make a new file as they fill an empty one", () => {
  const cases: Readonly<Record<string, readonly (readonly [old: string, put: string])[]>> = {
    "a later one sees the first": [
      ["", "one\ntwo\n"],
      ["two", "2"],
      ["one\n2", "both"],
    ],
    "one that finds nothing makes none": [
      ["", "one\ntwo\n"],
      ["three", "3"],
    ],
    "one that finds two places makes none": [
      ["", "one\none\n"],
      ["one", "1"],
    ],
    "only the first may be without an old text": [
      ["", "one\n"],
      ["", "two\n"],
    ],
    "a text of nothing is none": [
      ["", ""],
      ["a", "b"],
    ],
  };
  for (const [title, pairs] of Object.entries(cases)) {
    test(title, async () => {
      const { top, path: at } = workspace({ empty: { "a.txt": "" }, missing: {} });
      const edits = pairs.map(([old_string, new_string]) => ({ old_string, new_string }));
      const made = async (folder: string) => {
        const session = createFilehand({ roots: [at(folder)], ask: "yes" }).session();
        const dry = textOf(await session.call("MultiEdit", { file_path: "a.txt", edits }, { dryRun: true }));
        const reply = await session.call("MultiEdit", { file_path: "a.txt", edits });
        const text = fs.existsSync(at(folder, "a.txt")) ? fs.readFileSync(at(folder, "a.txt"), "utf8") : "";
        const said = textOf(reply).replace(/^Created "a\.txt" \(/, 'Edited "a.txt": 3 edits, 3 replacements (');
        return [reply.error?.code, said, text, dry.startsWith("Dry run") === (reply.error === undefined)];
      };
      expect(await made("missing")).toEqual(await made("empty"));
      expect(fs.existsSync(`${top}/missing/a.txt`)).toBe(title === "a later one sees the first");
    });
  }
});

describe("a write of the same text with a byte order mark", () => {
  const mark = Buffer.from([0xef, 0xbb, 0xbf]);
  for (const [title, before] of [
    ["puts the mark before it", Buffer.from("déjà vu\n")],
    ["makes a file in a legacy encoding UTF-8", Buffer.from("déjà vu\n", "latin1")],
  ] as const) {
    test(title, async () => {
      const { top, path: at } = workspace({ "a.txt": before });
      const session = createFilehand({ roots: [top], ask: "yes" }).session();
      await session.call("Read", { file_path: "a.txt" });
      const content = "\ufeffdéjà vu\n";
      expect(textOf(await session.call("Write", { file_path: "a.txt", content }))).toBe('Wrote "a.txt" (+0 -0).');
      expect(fs.readFileSync(at("a.txt"))).toEqual(Buffer.concat([mark, Buffer.from("déjà vu\n")]));
      expect(textOf(await session.call("Write", { file_path: "a.txt", content }))).toContain("exactly this content");
    });
  }
});

test("a U+FFFD that is a character of the file is one like any other", async () => {
  const { top, path: at } = workspace({ "a.txt": "one \ufffd two\n" });
  const session = createFilehand({ roots: [top], ask: "yes" }).session();
  await session.call("Read", { file_path: "a.txt" });
  const edit = { file_path: "a.txt", old_string: "\ufffd two", new_string: "\ufffd\ufffd 2" };
  expect((await session.call("Edit", edit)).error).toBeUndefined();
  expect(fs.readFileSync(at("a.txt"), "utf8")).toBe("one \ufffd\ufffd 2\n");
});

test("lines that are cut short in an answer are cut between characters", async () => {
  for (const shift of ["", "x"]) {
    const { top } = workspace({ "a.txt": `${shift}${"😀".repeat(400)} end of the line\n` });
    const session = createFilehand({ roots: [top], ask: "yes" }).session();
    await session.call("Read", { file_path: "a.txt" });
    const wanted = `${shift}${"😀".repeat(400)} end of a line`;
    const { error } = await session.call("Edit", { file_path: "a.txt", old_string: wanted, new_string: "x" });
    expect(error?.code).toBe("NO_MATCH");
    expect(error?.message).toContain("😀");
    expect(isWellFormed(error?.message ?? "")).toBe(true);
  }
});

test("an answer about bytes that cannot be decoded is well formed", async () => {
  const { top } = workspace({ "a.txt": Buffer.from("c3a974c3a90a62616420ff20627974650a", "hex") });
  const session = createFilehand({ roots: [top], ask: "yes" }).session();
  await session.call("Read", { file_path: "a.txt" });
  const reply = await session.call("Edit", { file_path: "a.txt", old_string: "bad \ufffd byte", new_string: "x" });
  expect(reply.error?.code).toBe("NO_MATCH");
  expect(reply.error?.message).not.toMatch(/\p{Cs}|\\udc/u);
});

test("hunks of places whose context overlaps are one, and say where they are", async () => {
  const lines = Array.from({ length: 30 }, (_, at) => (at === 3 || at === 9 || at === 25 ? "x\n" : `line ${at}\n`));
  const root = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-hunks-"));
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }));
  fs.writeFileSync(path.join(root, "a.txt"), lines.join(""));
  const session = createFilehand({ roots: [root], ask: "yes", readFirst: false }).session({ dialect: "claude" });
  const reply = await session.call("Edit", {
    file_path: "a.txt",
    old_string: "x\n",
    new_string: "",
    replace_all: true,
  });
  const { structuredPatch } = reply.structured as { structuredPatch: { oldStart: number; newStart: number }[] };
  expect(structuredPatch).toMatchObject([
    { oldStart: 1, oldLines: 13, newStart: 1, newLines: 11 },
    { oldStart: 23, oldLines: 7, newStart: 21, newLines: 6 },
  ]);
});
