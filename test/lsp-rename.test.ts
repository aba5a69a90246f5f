/** Renaming through the one gate: all files or none, with the diff in the question, a past, and no stale edits. */

import * as fs from "node:fs";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import {
  createFilehand,
  type DialectName,
  type Filehand,
  type FilehandOptions,
  type Question,
  type Reply,
  type Session,
} from "../src/index.ts";
import { scriptedServer, typescriptServer } from "./support/language-servers.ts";
import { workspace } from "./support/workspace.ts";

const words = ({ content }: Reply): string => content.map((part) => (part.type === "text" ? part.text : "")).join("\n");

const sum =
  "\ufeff/** Adds up. */\r\nexport function total(items: number[]): number {\r\n  return items.length;\r\n}\r\n";
const use =
  'import { total } from "./sum.js";\nexport const both = { total, text: "total", other: total([1]) }; // total\n';

interface Bed {
  readonly root: string;
  readonly session: Session<"claude">;
  readonly filehand: Filehand;
  readonly read: (name: string) => string;
  readonly rename: (more?: object, dryRun?: boolean) => Promise<Reply>;
}

const opened: Filehand[] = [];
afterEach(async () => {
  for (const filehand of opened.splice(0)) await filehand.close();
});

function bed(more: Partial<FilehandOptions> = {}): Bed {
  const made = workspace({
    ws: {
      "tsconfig.json": '{"compilerOptions":{"strict":true,"module":"nodenext"},"include":["src"]}',
      "package.json": '{"type":"module"}',
      src: { "sum.ts": sum, "use.ts": use, "alone.ts": "export const total = 1;\n" },
    },
    state: {},
  });
  const root = made.path("ws");
  const options = { roots: [root], stateDir: made.path("state"), ask: "yes", languageTools: "rename" } as const;
  const filehand = createFilehand({ ...options, ...typescriptServer, ...more });
  opened.push(filehand);
  const session = filehand.session({ dialect: "claude" });
  const place = { file_path: "src/use.ts", line: 1, symbol: "total", new_name: "count" };
  return {
    root,
    session,
    filehand,
    read: (name) => fs.readFileSync(`${root}/${name}`, "utf8"),
    rename: (given = {}, dryRun = false) => session.call("Rename", { ...place, ...given }, { dryRun }),
  };
}

const isUntouched = ({ read }: Bed): void => {
  expect(read("src/sum.ts")).toBe(sum);
  expect(read("src/use.ts")).toBe(use);
};

describe("rename", () => {
  test("changes a name where it is meant, in all files, and not a byte besides", async () => {
    const { rename, read } = bed();
    const reply = await rename();
    expect(reply.error).toBeUndefined();
    expect(read("src/sum.ts")).toBe(sum.replace("total", "count"));
    expect(read("src/use.ts")).toBe(
      'import { count } from "./sum.js";\nexport const both = { total: count, text: "total", other: count([1]) }; // total\n',
    );
    expect(read("src/alone.ts")).toBe("export const total = 1;\n");
    expect(words(reply)).toContain('Renamed "total" to "count" at 4 places in 2 files, as typescript found them.');
    expect(reply.structured).toMatchObject({ files: [{ did: "updated" }, { did: "updated" }] });
  });

  test("one undo takes all of it back", async () => {
    const made = bed();
    await made.rename();
    expect(made.read("src/sum.ts")).not.toBe(sum);
    const { files } = await made.session.undo();
    expect(files).toHaveLength(2);
    isUntouched(made);
  });

  test("a dry run shows the diffs and writes nothing", async () => {
    const made = bed();
    const reply = await made.rename({}, true);
    expect(words(reply)).toContain('Dry run, nothing was written. Would rename "total" to "count"');
    expect(JSON.stringify(reply.structured)).toContain("+export function count(items");
    isUntouched(made);
  });

  test("all files are one question, with the diff of each, and a no changes none", async () => {
    const asked: Question[] = [];
    const made = bed({
      ask: async (question) => {
        asked.push(question);
        return { reply: "reject", feedback: "not there" };
      },
    });
    const reply = await made.rename();
    const diff: unknown = expect.stringContaining("count");
    expect(asked).toMatchObject([{ metadata: { files: [{ diff }, { diff }] } }]);
    expect(reply.error).toMatchObject({ code: "ACCESS_DENIED", message: expect.stringContaining("not there") });
    isUntouched(made);
  });

  test("a rule against changing one file is a no to all", async () => {
    const made = bed({ permissions: { deny: ["Edit(src/sum.ts)"] } });
    expect((await made.rename()).error?.code).toBe("ACCESS_DENIED");
    isUntouched(made);
  });

  test("a file that is hidden is not named, and nothing is changed", async () => {
    const made = bed({ permissions: { deny: ["Read(src/sum.ts)"] } });
    const { error } = await made.rename({ line: 2, symbol: "both", new_name: "pair" });
    expect(error).toBeUndefined();
    const other = bed({ permissions: { deny: ["Read(src/use.ts)"] } });
    const refused = await other.rename({ file_path: "src/sum.ts", line: 2 });
    expect(refused.error).toMatchObject({
      code: "NO_RENAME",
      message:
        'Cannot rename in "src/sum.ts": 1 file that permission rules hide would change, so nothing was changed; ask the user to do it',
    });
    isUntouched(other);
  });

  test("a session that only reads or plans renames nothing", async () => {
    for (const mode of ["read-only", "plan"] as const) {
      const made = bed({ mode });
      expect((await made.rename()).error?.code, mode).toBe("ACCESS_DENIED");
      isUntouched(made);
    }
  });

  test("what changes while a person thinks is not overwritten", async () => {
    const made = bed({
      ask: async () => {
        fs.writeFileSync(`${made.root}/src/use.ts`, `// somebody else\n${use}`);
        return { reply: "once" };
      },
    });
    const { error } = await made.rename();
    expect(error?.code).toMatch(/^(STALE|CHANGED)$/);
    expect(made.read("src/sum.ts")).toBe(sum);
    expect(made.read("src/use.ts")).toBe(`// somebody else\n${use}`);
  });

  test("what it changed was not read by that: the next change of it asks for it", async () => {
    const made = bed();
    await made.rename();
    const edit = { file_path: "src/sum.ts", old_string: "items.length", new_string: "0" };
    expect((await made.session.call("Edit", edit)).error?.code).toBe("NOT_READ");
    await made.session.call("Read", { file_path: "src/sum.ts" });
    expect((await made.session.call("Edit", edit)).error).toBeUndefined();
    // And what was read stays so, with the new name in it.
    expect(
      (await made.rename({ file_path: "src/sum.ts", line: 2, symbol: "count", new_name: "size" })).error,
    ).toBeUndefined();
    const again = { file_path: "src/sum.ts", old_string: "function size", new_string: "function  size" };
    expect((await made.session.call("Edit", again)).error).toBeUndefined();
  });

  test("names that are none, the same name, and places without a name are told", async () => {
    const made = bed();
    const why = async (given: object) => (await made.rename(given)).error?.message ?? "";
    for (const name of ["", "a b", "a\nb", "a;b", "x".repeat(201)]) {
      expect(await why({ new_name: name })).toContain("the new name must be one word of at most 200 characters");
    }
    expect(await why({ new_name: "total" })).toContain("it is called so already");
    expect(await why({ line: 2, symbol: undefined, column: 20 })).toContain("no symbol is named");
    expect(await why({ line: 1, symbol: "import" })).toContain(
      "the language server would rename something else than what stands there",
    );
    isUntouched(made);
  });

  for (const [dialect, tool, place] of [
    ["claude", "Rename", { file_path: "src/sum.ts", new_name: "count" }],
    ["opencode", "rename", { filePath: "src/sum.ts", newName: "count" }],
    ["opencode-legacy", "rename", { filePath: "src/sum.ts", newName: "count" }],
    ["envelope", "Rename", { path: "src/sum.ts", new_name: "count" }],
  ] as const satisfies readonly (readonly [DialectName, string, object])[]) {
    test(`the dialect ${dialect} has the tool where it is switched on as a change`, async () => {
      const { filehand, read } = bed();
      const session = filehand.session({ dialect });
      const reply = await session.call(tool, { ...place, line: 2, symbol: "total" });
      expect(words(reply)).toContain('Renamed "total" to "count" at 4 places in 2 files, as typescript found them.');
      expect(read("src/use.ts")).toContain("import { count }");
      expect(session.definitions().find(({ name }) => name === tool)).toMatchObject({ readOnly: false });
    });
  }
});

describe("edits that make no sense are not made", () => {
  const range = (line: number, from: number, to: number) => ({
    start: { line, character: from },
    end: { line, character: to },
  });
  const edit = (from: number, to: number, newText = "new") => ({ range: range(0, from, to), newText });

  async function renamed(
    rename: unknown,
  ): Promise<{ readonly error: Reply["error"]; readonly texts: readonly string[] }> {
    const made = workspace({ ws: { "a.scripted": "one two one\n", "b.scripted": "one\n" }, "out.scripted": "one\n" });
    const server = scriptedServer(made.path("script.json"));
    const uri = (name: string): string => pathToFileURL(made.path(name)).href;
    const script = JSON.stringify({ "textDocument/rename": rename }).replaceAll(/top:([a-z./]+)/g, (_, name: string) =>
      uri(name),
    );
    fs.writeFileSync(made.path("script.json"), script);
    const filehand = createFilehand({
      roots: [made.path("ws")],
      ask: "yes",
      languageTools: "rename",
      ...server.options,
    });
    try {
      const call = { file_path: "a.scripted", line: 1, symbol: "one", new_name: "new" };
      const { error } = await filehand.session({ dialect: "claude" }).call("Rename", call);
      const names = ["ws/a.scripted", "ws/b.scripted", "out.scripted"];
      return { error, texts: names.map((name) => fs.readFileSync(made.path(name), "utf8")) };
    } finally {
      await filehand.close();
    }
  }
  const before = ["one two one\n", "one\n", "one\n"];
  const changes = (list: Readonly<Record<string, unknown>>) => ({ result: { changes: list } });

  test("good ones are, also with versions", async () => {
    expect(await renamed(changes({ "top:ws/a.scripted": [edit(0, 3), edit(8, 11)] }))).toEqual({
      error: undefined,
      texts: ["new two new\n", "one\n", "one\n"],
    });
    const documentChanges = [
      { textDocument: { uri: "top:ws/a.scripted", version: 1 }, edits: [edit(0, 3)] },
      { textDocument: { uri: "top:ws/b.scripted", version: null }, edits: [edit(0, 3)] },
      { textDocument: { uri: "top:ws/a.scripted", version: 1 }, edits: [edit(8, 11)] },
    ];
    expect(await renamed({ result: { documentChanges } })).toEqual({
      error: undefined,
      texts: ["new two new\n", "new\n", "one\n"],
    });
  });

  for (const [name, answer, code] of [
    ["a place that does not have the name", changes({ "top:ws/a.scripted": [edit(0, 3), edit(4, 7)] }), "NO_RENAME"],
    ["a place behind the end of its line", changes({ "top:ws/a.scripted": [edit(8, 90)] }), "NO_RENAME"],
    [
      "one stale file of two",
      changes({ "top:ws/a.scripted": [edit(0, 3)], "top:ws/b.scripted": [edit(1, 3)] }),
      "STALE",
    ],
    ["places that overlap", changes({ "top:ws/a.scripted": [edit(0, 3), edit(0, 7)] }), "NO_RENAME"],
    [
      "an edit that is none",
      changes({ "top:ws/a.scripted": [edit(0, 3), { range: "?", newText: "new" }] }),
      "NO_RENAME",
    ],
    [
      "more edits than are taken",
      changes({ "top:ws/a.scripted": Array.from({ length: 10_001 }, () => edit(0, 3)) }),
      "NO_RENAME",
    ],
    [
      "a file that is none",
      changes({ "top:ws/a.scripted": [edit(0, 3)], "https://example.org/a": [edit(0, 3)] }),
      "NO_RENAME",
    ],
    ["a file outside", changes({ "top:ws/a.scripted": [edit(0, 3)], "top:out.scripted": [edit(0, 3)] }), "NO_RENAME"],
    ["nothing at all", { result: null }, "NO_RENAME"],
    ["a refusal", { error: { code: -32_600, message: "You cannot rename this" } }, "LANGUAGE_SERVER"],
    [
      "a file that shall be moved",
      {
        result: {
          documentChanges: [
            { textDocument: { uri: "top:ws/a.scripted", version: 1 }, edits: [edit(0, 3)] },
            { kind: "rename", oldUri: "top:ws/b.scripted", newUri: "top:ws/c.scripted" },
          ],
        },
      },
      "NO_RENAME",
    ],
  ] as const) {
    test(name, async () => {
      const { error, texts } = await renamed(answer);
      expect({ code: error?.code, texts }).toEqual({ code, texts: before });
    });
  }
});
