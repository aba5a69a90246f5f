/** The Anthropic SDK's own tool runner, talking to a server on this machine, over our tools. */

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type BetaRunnableTool, runRunnableTool } from "@anthropic-ai/sdk/lib/tools/BetaRunnableTool";
import { BetaLocalFilesystemMemoryTool, betaMemoryTool } from "@anthropic-ai/sdk/tools/memory/node";
import { describe, expect, test } from "vitest";
import { fileTools, memoryTool, textEditorTool } from "../../src/surfaces/adapters/anthropic.ts";
import { converse } from "../support/anthropic-api.ts";
import { workspace } from "../support/workspace.ts";
import { adapterFiles, describeAdapter, type Seen, sessionIn } from "../suites/adapter.ts";

describeAdapter("Anthropic", {
  driver: (session) => {
    const tools = fileTools(session);
    return {
      list: async () => {
        const { requests } = await converse(tools, []);
        return (requests[0]?.tools ?? []).map(({ name, description, input_schema }) => {
          const { properties } = input_schema as { properties: object };
          return { name: String(name), description: String(description), parameters: Object.keys(properties) };
        });
      },
      call: async (tool, input) => {
        const { answers } = await converse(tools, [[tool, input]]);
        const [answer] = answers;
        if (answer === undefined) throw new Error("the model got no result");
        return answer;
      },
      // The runner does not send a cancelled answer to the model, so the tool is asked by itself.
      cancellable: async (name, input, signal): Promise<Seen> => {
        const tool = tools.find((one) => "name" in one && one.name === name);
        if (tool === undefined) throw new Error("no such tool");
        const toolUse = { type: "tool_use", id: "c", name, input } as const;
        const { content, isError } = await runRunnableTool(tool, input, { toolUse, toolUseBlock: toolUse, signal });
        return { text: JSON.stringify(content), images: [], failed: isError };
      },
    };
  },
});

test("the runner reads, edits and answers", async () => {
  const files = adapterFiles();
  const { answers } = await converse(fileTools(sessionIn(files)), [
    ["Read", { file_path: "notes.txt" }],
    ["Edit", { file_path: "notes.txt", old_string: "two", new_string: "2" }],
  ]);
  expect(answers.map(({ failed }) => failed)).toEqual([false, false]);
  expect(readFileSync(files.path("notes.txt"), "utf8")).toBe("one\n2\n");
});

describe("the text editor tool", () => {
  const name = "str_replace_based_edit_tool";
  const says = async (files: ReturnType<typeof adapterFiles>, ...inputs: readonly object[]): Promise<readonly Seen[]> =>
    (
      await converse(
        [textEditorTool(sessionIn(files))],
        inputs.map((input) => [name, input] as const),
      )
    ).answers;

  test("is sent with its type and name, and nothing that the API would refuse", async () => {
    const { requests } = await converse([textEditorTool(sessionIn(adapterFiles()), { maxCharacters: 9000 })], []);
    expect(requests[0]?.tools).toEqual([{ type: "text_editor_20250728", name, max_characters: 9000 }]);
  });

  test("view, str_replace, insert, create", async () => {
    const files = adapterFiles();
    const path = files.path("notes.txt");
    const answers = await says(
      files,
      { command: "view", path },
      { command: "str_replace", path, old_str: "two", new_str: "2" },
      { command: "insert", path, insert_line: 1, insert_text: "between\n" },
      { command: "view", path, view_range: [2, 3] },
      { command: "create", path: files.path("new.txt"), file_text: "new" },
      { command: "create", path: files.path("empty.txt"), file_text: "" },
    );
    const shown = `The file ${path} has been edited. Here's the result of running \`cat -n\` on a snippet of ${path}:`;
    expect(answers.map(({ text }) => text)).toEqual([
      `Here's the result of running \`cat -n\` on ${path}:\n     1\tone\n     2\ttwo`,
      `${shown}\n     1\tone\n     2\t2\nReview the changes and make sure they are as expected. Edit the file again if necessary.`,
      `${shown}\n     1\tone\n     2\tbetween\n     3\t2\nReview the changes and make sure they are as expected (correct indentation, no duplicate lines, etc). Edit the file again if necessary.`,
      `Here's the result of running \`cat -n\` on ${path}:\n     2\tbetween\n     3\t2`,
      `File created successfully at: ${files.path("new.txt")}`,
      `File created successfully at: ${files.path("empty.txt")}`,
    ]);
    expect(answers.every(({ failed }) => !failed)).toBe(true);
    expect(readFileSync(path, "utf8")).toBe("one\nbetween\n2\n");

    const [asTexts, asNothing] = await says(
      files,
      { command: "view", path, view_range: "[2, 3]" },
      { command: "view", path, view_range: "", explanation: "to see it" },
    );
    expect(asTexts?.text).toBe(answers[3]?.text);
    expect(asNothing?.text).toContain("     3\t2");
    expect(readFileSync(files.path("new.txt"), "utf8")).toBe("new");
    expect(readFileSync(files.path("empty.txt"), "utf8")).toBe("");
  });

  test("an insertion keeps CRLF, and every other byte", async () => {
    const files = workspace({ "windows.txt": "a\r\nb\r\n" });
    const path = files.path("windows.txt");
    await says(files, { command: "view", path }, { command: "insert", path, insert_line: 1, new_str: "x\ny" });
    expect(readFileSync(path, "utf8")).toBe("a\r\nx\r\ny\r\nb\r\n");
  });

  test("a folder is listed two levels deep, without what is hidden", async () => {
    const files = workspace({ a: { b: { "deep.txt": "" }, "c.txt": "1" }, ".git": {}, "d.txt": "22" });
    const [{ text } = { text: "" }] = await says(files, { command: "view", path: files.top });
    expect(text.split("\n").slice(1).toSorted()).toEqual(
      ["", "/a/", "/a/b/", "/a/c.txt", "/d.txt"].map((one) => `${files.top}${one}`),
    );
  });

  test("an image is shown as one", async () => {
    const files = adapterFiles();
    const [answer] = await says(files, { command: "view", path: files.path("pixel.png") });
    expect(answer?.images[0]?.mimeType).toBe("image/png");
  });

  for (const [what, input, expected] of [
    [
      "a path that is not there",
      { command: "view", path: "none.txt" },
      "The path none.txt does not exist. Please provide a valid path.",
    ],
    [
      "a text that is not there",
      { command: "str_replace", path: "notes.txt", old_str: "one\ntwa", new_str: "2" },
      "No replacement was performed, old_str `one\ntwa` did not appear verbatim in notes.txt. The most similar lines are:\n     1\tone\n     2\ttwo",
    ],
    [
      "a text that is there twice",
      { command: "str_replace", path: "notes.txt", old_str: "o", new_str: "0" },
      "No replacement was performed. Multiple occurrences of old_str `o` in lines: 1, 2. Please ensure it is unique",
    ],
    [
      "a new file in the place of one that holds something",
      { command: "create", path: "notes.txt", file_text: "x" },
      "File already exists at: notes.txt. Cannot overwrite files using command `create`.",
    ],
    [
      "an empty file in the place of one that holds something",
      { command: "create", path: "notes.txt", file_text: "" },
      "File already exists at: notes.txt. Cannot overwrite files using command `create`.",
    ],
    [
      "a line past the end",
      { command: "insert", path: "notes.txt", insert_line: 9, insert_text: "x" },
      "Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 2]",
    ],
    [
      "a line before the beginning",
      { command: "insert", path: "notes.txt", insert_line: -1, insert_text: "x" },
      "Invalid `insert_line` parameter: -1. It should be within the range of lines of the file: [0, 2]",
    ],
    [
      "a command that it does not have",
      { command: "undo_edit", path: "notes.txt" },
      'Unrecognized command "undo_edit". The allowed commands are: view, create, str_replace, insert',
    ],
    [
      "a parameter that is missing",
      { command: "create", path: "x.txt" },
      "Parameter `file_text` is required for command: create, as a string",
    ],
    [
      "a range that is none",
      { command: "view", path: "notes.txt", view_range: [2, 1] },
      "Invalid `view_range`: [2,1].",
    ],
    ["what a rule denies", { command: "view", path: "private/diary.txt" }, "the rule Read(/private/**)"],
    ["what is outside", { command: "create", path: "../out.txt", file_text: "x" }, "outside"],
  ] as const) {
    test(`refuses ${what}`, async () => {
      const files = adapterFiles();
      const [, answer] = await says(files, { command: "view", path: "notes.txt" }, input);
      expect(answer).toMatchObject({ failed: true, images: [] });
      expect(answer?.text).toContain(expected);
      expect(readFileSync(files.path("notes.txt"), "utf8")).toBe("one\ntwo\n");
    });
  }

  test("a file must have been viewed, and not be another one since", async () => {
    const files = adapterFiles();
    const path = files.path("notes.txt");
    const session = sessionIn(files);
    const edit = { command: "str_replace", path, old_str: "two", new_str: "2" };
    const before = await converse(
      [textEditorTool(session)],
      [
        [name, edit],
        [name, { command: "view", path }],
      ],
    );
    expect(before.answers[0]).toMatchObject({
      failed: true,
      text: `Error: The file ${path} has not been viewed. View it first, then edit it.`,
    });
    writeFileSync(path, "one\ntwo\nthree\n");
    const insert = { command: "insert", path, insert_line: 1, insert_text: "x" };
    const after = await converse(
      [textEditorTool(session)],
      [
        [name, insert],
        [name, { ...edit, old_str: "three", new_str: "3" }],
      ],
    );
    expect(after.answers.map(({ failed, text }) => [failed, /somebody else changed/.test(text)])).toEqual([
      [true, true],
      [true, true],
    ]);
  });

  test("a long view is cut where the host wants it", async () => {
    const files = workspace({ "long.txt": "0123456789\n".repeat(100) });
    const tool = textEditorTool(sessionIn(files), { maxCharacters: 200 });
    const { answers } = await converse([tool], [[name, { command: "view", path: "long.txt" }]]);
    expect(answers[0]?.text).toMatch(/\n\[cut after 200 characters, use view_range to see the rest\]$/);
    expect(answers[0]?.text.length).toBeLessThan(270);
  });

  test("undo_edit takes back one edit after the other, in the version that has it", async () => {
    const files = adapterFiles();
    const session = sessionIn(files, { stateDir: workspace({}).top });
    const tool = textEditorTool(session, { type: "text_editor_20250124" });
    const path = "notes.txt";
    const edit = (old_str: string, new_str: string) => ({ command: "str_replace", path, old_str, new_str });
    const undo = { command: "undo_edit", path };
    const calls = [{ command: "view", path }, edit("two", "2"), edit("one", "1"), undo].map(
      (input) => ["str_replace_editor", input] as const,
    );
    const { answers } = await converse([tool], calls);
    expect(answers.at(-1)).toMatchObject({ failed: false, text: "Last edit to notes.txt undone successfully." });
    expect(readFileSync(files.path(path), "utf8")).toBe("one\n2\n");
    await converse([tool], [["str_replace_editor", undo]]);
    expect(readFileSync(files.path(path), "utf8")).toBe("one\ntwo\n");
    const { answers: none } = await converse([tool], [["str_replace_editor", undo]]);
    expect(none[0]).toMatchObject({ failed: true, text: "Error: No edit history found for notes.txt." });
  });

  test("undo_edit leaves alone what somebody else changed since", async () => {
    const files = adapterFiles();
    const tool = textEditorTool(sessionIn(files, { stateDir: workspace({}).top }), { type: "text_editor_20250124" });
    const path = "notes.txt";
    const call = (input: object) => ["str_replace_editor", { path, ...input }] as const;
    await converse([tool], [call({ command: "view" }), call({ command: "str_replace", old_str: "two", new_str: "2" })]);
    writeFileSync(files.path(path), "mine\n");
    const { answers } = await converse([tool], [call({ command: "undo_edit" })]);
    expect(answers[0]).toMatchObject({
      failed: true,
      text: expect.stringContaining("somebody else changed the file since"),
    });
    expect(readFileSync(files.path(path), "utf8")).toBe("mine\n");
  });
});

describe("the memory tool", () => {
  /** The same commands to ours and to the one that comes with the SDK. */
  const both = async (...inputs: readonly object[]) => {
    const files = workspace({ memories: { "a.md": "one\ntwo\nthree", sub: { "b.md": "x".repeat(1536) } } });
    const theirs = workspace({ memories: { "a.md": "one\ntwo\nthree", sub: { "b.md": "x".repeat(1536) } } });
    mkdirSync(files.path("outside"));
    const ours = memoryTool(
      sessionIn({ ...files, top: files.path("memories") }, { readFirst: false, permissions: {} }),
    );
    const reference = betaMemoryTool(new BetaLocalFilesystemMemoryTool(theirs.top));
    const calls = inputs.map((input) => ["memory", input] as const);
    const told = async (tool: BetaRunnableTool) =>
      (await converse([tool], calls)).answers.map(({ text, failed }) => [failed, text]);
    return { files, theirs, ours: await told(ours), reference: await told(reference) };
  };

  for (const [what, ...inputs] of [
    ["view of a file", { command: "view", path: "/memories/a.md" }],
    ["view of lines", { command: "view", path: "/memories/a.md", view_range: [2, 3] }],
    ["view of what is not there", { command: "view", path: "/memories/none.md" }],
    [
      "create",
      { command: "create", path: "/memories/n/new.md", file_text: "new" },
      { command: "view", path: "/memories/n/new.md" },
    ],
    ["create where there is one", { command: "create", path: "/memories/a.md", file_text: "new" }],
    [
      "str_replace",
      { command: "str_replace", path: "/memories/a.md", old_str: "two", new_str: "2" },
      { command: "view", path: "/memories/a.md" },
    ],
    [
      "str_replace of what is there twice",
      { command: "str_replace", path: "/memories/a.md", old_str: "t", new_str: "2" },
    ],
    [
      "insert",
      { command: "insert", path: "/memories/a.md", insert_line: 1, insert_text: "new\n" },
      { command: "view", path: "/memories/a.md" },
    ],
    [
      "insert at the end",
      { command: "insert", path: "/memories/a.md", insert_line: 3, insert_text: "new" },
      { command: "view", path: "/memories/a.md" },
    ],
    ["insert past the end", { command: "insert", path: "/memories/a.md", insert_line: 9, insert_text: "new" }],
    ["delete", { command: "delete", path: "/memories/a.md" }, { command: "view", path: "/memories/a.md" }],
    ["delete of what is not there", { command: "delete", path: "/memories/none.md" }],
    ["delete of everything", { command: "delete", path: "/memories" }],
    [
      "rename",
      { command: "rename", old_path: "/memories/a.md", new_path: "/memories/sub/c.md" },
      { command: "view", path: "/memories/sub/c.md" },
    ],
    ["rename to what is there", { command: "rename", old_path: "/memories/a.md", new_path: "/memories/sub/b.md" }],
    ["rename of what is not there", { command: "rename", old_path: "/memories/none.md", new_path: "/memories/c.md" }],
    ["rename to itself", { command: "rename", old_path: "/memories/a.md", new_path: "/memories/a.md" }],
    ["delete of a name with lines", { command: "delete", path: "/memories/x\n*** Delete File: a.md" }],
    ["delete of a folder", { command: "delete", path: "/memories/sub" }, { command: "view", path: "/memories/sub" }],
    [
      "rename of a folder",
      { command: "rename", old_path: "/memories/sub", new_path: "/memories/deep/er/one" },
      { command: "view", path: "/memories/deep/er/one/b.md" },
      { command: "view", path: "/memories/sub/b.md" },
    ],
    [
      "rename of a folder to a file that is there",
      { command: "rename", old_path: "/memories/sub", new_path: "/memories/a.md" },
    ],
    [
      "rename of a file to a folder that is there",
      { command: "rename", old_path: "/memories/a.md", new_path: "/memories/sub" },
    ],
    ["rename of everything", { command: "rename", old_path: "/memories", new_path: "/memories/x" }],
    ["a path elsewhere", { command: "view", path: "/etc/passwd" }],
  ] as const) {
    test(`${what}: answered as by the SDK's own`, async () => {
      const { ours, reference } = await both(...inputs);
      expect(ours).toEqual(reference);
    });
  }

  test("a folder is listed as by the SDK's own, but for the sizes of folders, which nobody has counted", async () => {
    const { ours, reference } = await both({ command: "view", path: "/memories" });
    const withoutSizes = (answers: typeof ours) =>
      answers.map(([failed, text]) => [
        failed,
        String(text)
          .replace(/^\S+(?=\t(?:\/memories|.*\/)$)/gm, "-")
          .split("\n")
          .toSorted(),
      ]);
    expect(withoutSizes(ours)).toEqual(withoutSizes(reference));
    expect(ours[0]?.[1]).toContain("1.5K\t/memories/sub/b.md");
  });

  test("a text that is not there is answered with what is most like it", async () => {
    const { ours, reference } = await both({
      command: "str_replace",
      path: "/memories/a.md",
      old_str: "one\ntwa",
      new_str: "2",
    });
    expect(ours[0]?.[1]).toBe(`${reference[0]?.[1]} The most similar lines are:\n     1\tone\n     2\ttwo`);
  });

  test("nobody gets out of it, and nothing takes all of it away", async () => {
    const { ours, files } = await both(
      { command: "create", path: "/memories/../outside/x.md", file_text: "x" },
      { command: "rename", old_path: "/memories/a.md", new_path: "/memories/../outside/a.md" },
      { command: "rename", old_path: "/memories/a.md", new_path: "/tmp/a.md" },
      { command: "rename", old_path: "/memories/sub", new_path: "/memories/../outside/sub" },
      { command: "rename", old_path: "/memories/../outside", new_path: "/memories/stolen" },
      { command: "delete", path: "/memories/../outside" },
      { command: "delete", path: "/memories/sub/.." },
      { command: "delete", path: "/memories/sub/../.." },
      { command: "delete", path: "/memories/." },
      { command: "rename", old_path: "/memories/sub/..", new_path: "/memories/sub/x" },
    );
    expect(ours.map(([failed]) => failed)).toEqual(ours.map(() => true));
    expect(ours[6]?.[1]).toBe("Error: Cannot delete the /memories directory itself");
    expect(readFileSync(files.path("memories/a.md"), "utf8")).toBe("one\ntwo\nthree");
    expect(readdirSync(files.path("."))).toEqual(["memories", "outside"]);
    expect(readdirSync(files.path("outside"))).toEqual([]);
  });

  describe("folders as a whole", () => {
    /** A memory with a folder of hidden, binary, empty and nested things in it. */
    const memory = (options: Parameters<typeof sessionIn>[1] = {}) => {
      const files = workspace({
        memories: {
          "a.md": "one\n",
          sub: { "b.md": "b\r\n", ".hidden": "h", deep: { "c.md": "c", empty: {} }, "d.bin": "", "e.ipynb": "{}" },
        },
        outside: { "secret.md": "secret" },
      });
      const bytes = Buffer.from([0xff, 0, 1, 0xfe]);
      writeFileSync(files.path("memories/sub/d.bin"), bytes);
      chmodSync(files.path("memories/sub"), 0o700);
      chmodSync(files.path("memories/sub/deep/c.md"), 0o600);
      const session = sessionIn(
        { ...files, top: files.path("memories") },
        { readFirst: false, permissions: {}, stateDir: workspace({}).top, ...options },
      );
      const tool = memoryTool(session);
      const ask = async (...inputs: readonly object[]) =>
        (
          await converse(
            [tool],
            inputs.map((input) => ["memory", input] as const),
          )
        ).answers;
      return { files, session, ask, bytes };
    };
    const tree = (path: string): ReadonlySet<unknown> =>
      new Set(readdirSync(path, { recursive: true, encoding: "utf8" }));
    const remove = { command: "delete", path: "/memories/sub" };
    const rename = { command: "rename", old_path: "/memories/sub", new_path: "/memories/new/place" };

    test("deleted is everything that is in it, and an undo brings every byte and mode back", async () => {
      const { files, session, ask, bytes } = memory();
      expect(await ask(remove)).toMatchObject([{ failed: false, text: "Successfully deleted /memories/sub" }]);
      expect(readdirSync(files.path("memories"))).toEqual(["a.md"]);
      const { files: back } = await session.undo();
      // Five files and three folders.
      expect(back.map(({ came }) => came)).toEqual(Array.from({ length: 8 }, () => "done"));
      expect(readdirSync(files.path("memories/sub/deep/empty"))).toEqual([]);
      expect(statSync(files.path("memories/sub")).mode & 0o777).toBe(0o700);
      expect(readFileSync(files.path("memories/sub/d.bin"))).toEqual(bytes);
      expect(readFileSync(files.path("memories/sub/b.md"), "utf8")).toBe("b\r\n");
      expect(readFileSync(files.path("memories/sub/.hidden"), "utf8")).toBe("h");
      expect(statSync(files.path("memories/sub/deep/c.md")).mode & 0o777).toBe(0o600);
    });

    test("moved it is the very same folder, and an undo brings the files back to their old place", async () => {
      const { files, session, ask, bytes } = memory();
      const before = statSync(files.path("memories/sub")).ino;
      expect(await ask(rename)).toMatchObject([
        { failed: false, text: "Successfully renamed /memories/sub to /memories/new/place" },
      ]);
      const moved = statSync(files.path("memories/new/place"));
      expect([moved.ino, moved.mode & 0o777]).toEqual([before, 0o700]);
      expect(readdirSync(files.path("memories/new/place/deep"))).toEqual(["c.md", "empty"]);
      expect(existsSync(files.path("memories/sub"))).toBe(false);
      await session.undo();
      expect(readFileSync(files.path("memories/sub/d.bin"))).toEqual(bytes);
      expect(readFileSync(files.path("memories/sub/deep/c.md"), "utf8")).toBe("c");
      expect(existsSync(files.path("memories/new/place/b.md"))).toBe(false);
    });

    test("what was viewed before a move can be edited after it", async () => {
      const { files, ask } = memory({ readFirst: true });
      const view = (path: string) => ({ command: "view", path });
      writeFileSync(files.path("memories/sub/d.bin"), "");
      for (const name of [".hidden", "e.ipynb"]) rmSync(files.path(`memories/sub/${name}`));
      const edit = { command: "str_replace", path: "/memories/new/place/deep/c.md", old_str: "c", new_str: "C" };
      const unseen = { command: "str_replace", path: "/memories/new/place/b.md", old_str: "b", new_str: "B" };
      const told = await ask(view("/memories/sub/deep/c.md"), rename, edit, unseen);
      expect(told.map(({ failed }) => failed)).toEqual([false, false, false, true]);
      expect(readFileSync(files.path("memories/new/place/deep/c.md"), "utf8")).toBe("C");
    });

    test("files are named below /memories also where that is a folder of a root", async () => {
      const files = workspace({ memories: { "a.md": "one", sub: { "b.md": "b" } } });
      const tool = memoryTool(sessionIn(files, { cwd: files.path("memories"), permissions: {} }));
      const onto = { command: "rename", old_path: "/memories/sub/b.md", new_path: "/memories/a.md/b.md" };
      const { answers } = await converse(
        [tool],
        [onto].map((input) => ["memory", input] as const),
      );
      expect(answers.map(({ text }) => text)).toEqual([
        "Error: The destination /memories/a.md/b.md cannot be used: a name before the last one is a file",
      ]);
    });

    test("an empty one goes, too", async () => {
      const { files, ask } = memory();
      const told = await ask(
        { command: "rename", old_path: "/memories/sub/deep/empty", new_path: "/memories/nothing" },
        { command: "delete", path: "/memories/nothing" },
      );
      expect(told.map(({ failed }) => failed)).toEqual([false, false]);
      expect(readdirSync(files.path("memories"))).toEqual(["a.md", "sub"]);
      expect(readdirSync(files.path("memories/sub/deep"))).toEqual(["c.md"]);
    });

    for (const [what, prepare, words] of [
      ["a pipe in it", (path: string) => execFileSync("mkfifo", [`${path}/pipe`]), "things in it that are no files"],
    ] as const) {
      test(`with ${what} it is not deleted, and nothing of it is`, async () => {
        const { files, ask } = memory();
        prepare(files.path("memories/sub"));
        const before = tree(files.path("memories"));
        const [told] = await ask(remove);
        expect(told).toMatchObject({ failed: true, text: expect.stringContaining(words) });
        expect(tree(files.path("memories"))).toEqual(before);
        expect(readFileSync(files.path("outside/secret.md"), "utf8")).toBe("secret");
      });
    }

    test("deleted with a link in it, what the link leads to stays, and an undo brings the link back", async () => {
      const { files, session, ask } = memory();
      symlinkSync("../../outside", files.path("memories/sub/out"));
      expect(await ask(remove)).toMatchObject([{ failed: false }]);
      expect(readFileSync(files.path("outside/secret.md"), "utf8")).toBe("secret");
      await session.undo();
      expect(readlinkSync(files.path("memories/sub/out"))).toBe("../../outside");
    });

    test("moved with links in it, they are moved and not followed", async () => {
      const { files, ask } = memory();
      symlinkSync(files.path("outside"), files.path("memories/sub/out"));
      const told = await ask(rename, { command: "view", path: "/memories/new/place/out/secret.md" });
      expect(told.map(({ failed }) => failed)).toEqual([false, true]);
      expect(readlinkSync(files.path("memories/new/place/out"))).toBe(files.path("outside"));
      expect(JSON.stringify(told)).not.toContain('"secret"');
    });

    test("a link to a folder is no way out, neither as what is moved nor as where to", async () => {
      const { files, ask } = memory();
      symlinkSync("../outside", files.path("memories/out"));
      const told = await ask(
        { command: "rename", old_path: "/memories/out", new_path: "/memories/mine" },
        { command: "delete", path: "/memories/mine/secret.md" },
        { command: "rename", old_path: "/memories/sub", new_path: "/memories/mine/sub" },
        { command: "rename", old_path: "/memories/sub", new_path: "/memories/sub/deep/sub" },
        { command: "rename", old_path: "/memories/sub", new_path: "/memories/a.md/sub" },
      );
      // The link itself is renamed.
      expect(told.map(({ failed }) => failed)).toEqual([false, true, true, true, true]);
      expect(told[3]?.text).toBe(
        "Error: The path /memories/sub cannot be renamed: its new name lies in the folder itself, use another one",
      );
      expect(told[4]?.text).toBe(
        "Error: The destination /memories/a.md/sub cannot be used: a name before the last one is a file",
      );
      expect(readdirSync(files.path("outside"))).toEqual(["secret.md"]);
      expect(readdirSync(files.path("memories/sub")).length).toBe(5);
    });

    test("a rule for one file in it holds for the folder, and which file it is is not told", async () => {
      const { files, ask } = memory({ permissions: { deny: ["Edit(/sub/deep/**)"] } });
      const told = await ask(remove, rename);
      expect(
        told.map(({ failed, text }) => [failed, /the rules do not let you/.test(text), /c\.md/.test(text)]),
      ).toEqual([
        [true, true, false],
        [true, true, false],
      ]);
      expect(readFileSync(files.path("memories/sub/deep/c.md"), "utf8")).toBe("c");
    });

    test("a rule for where it goes holds as well", async () => {
      const { files, ask } = memory({ permissions: { deny: ["Edit(/new/**)"] } });
      expect(await ask(rename)).toMatchObject([{ failed: true }]);
      expect(existsSync(files.path("memories/new"))).toBe(false);
    });

    test("if one file cannot go, all of them stay", async () => {
      const { files, ask } = memory();
      chmodSync(files.path("memories/sub/e.ipynb"), 0o444);
      const before = tree(files.path("memories/sub"));
      const [told] = await ask(remove);
      expect(told?.failed).toBe(true);
      expect(tree(files.path("memories/sub"))).toEqual(before);
      expect(readFileSync(files.path("memories/sub/b.md"), "utf8")).toBe("b\r\n");
    });

    test("in a session that only reads nothing is deleted or moved, not even an empty folder", async () => {
      const { files, ask } = memory({ mode: "read-only" });
      const told = await ask(remove, rename, { command: "delete", path: "/memories/sub/deep/empty" });
      expect(told.map(({ failed }) => failed)).toEqual([true, true, true]);
      expect(readdirSync(files.path("memories/sub/deep"))).toEqual(["c.md", "empty"]);
    });

    test("two that move one folder at once: one does, and the other is told", async () => {
      const { files, ask } = memory();
      const answers = await Promise.all(
        ["x", "y"].map(async (name) => (await ask({ ...rename, new_path: `/memories/${name}` }))[0]?.failed),
      );
      expect(answers.filter((failed) => failed === false)).toHaveLength(1);
      expect(readdirSync(files.path("memories")).length).toBe(2);
    });
  });
});
