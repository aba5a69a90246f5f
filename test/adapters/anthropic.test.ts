/** The Anthropic SDK's own tool runner, talking to a server on this machine, over our tools. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
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
        [name, edit],
        [name, insert],
      ],
    );
    expect(after.answers.map(({ failed, text }) => [failed, /changed it since/.test(text)])).toEqual([
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

  test("nobody gets out of it, and folders are not deleted as a whole", async () => {
    const { ours, files } = await both(
      { command: "create", path: "/memories/../outside/x.md", file_text: "x" },
      { command: "rename", old_path: "/memories/a.md", new_path: "/memories/../outside/a.md" },
      { command: "rename", old_path: "/memories/a.md", new_path: "/tmp/a.md" },
      { command: "delete", path: "/memories/sub" },
    );
    expect(ours.map(([failed]) => failed)).toEqual([true, true, true, true]);
    expect(ours[3]?.[1]).toBe("Error: The path /memories/sub is a directory: delete its files one by one");
    expect(readFileSync(files.path("memories/a.md"), "utf8")).toBe("one\ntwo\nthree");
    expect(() => readFileSync(files.path("outside/x.md"))).toThrow("ENOENT");
  });
});
