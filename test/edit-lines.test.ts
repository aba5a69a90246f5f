/** Edits by line and edits of several files: which lines are meant, what is refused, and that all files change or none. */

import * as fs from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFilehand, type DialectName, type FilehandOptions, type Question, type Reply } from "../src/index.ts";
import { type Tree, workspace } from "./support/workspace.ts";

function bed(tree: Tree, options: Partial<FilehandOptions> = {}, dialect: DialectName = "claude") {
  const { path } = workspace(tree);
  const filehand = createFilehand({
    roots: [path(".")],
    ask: "yes",
    reminder: false,
    lineEdits: true,
    editFiles: true,
    patchTool: true,
    ...options,
  });
  const session = filehand.session({ dialect });
  const there = (name: string): string => fs.readFileSync(path(name), "utf8");
  type Line = readonly [lines: string, text: string, first?: string];
  const edits = (all: readonly Line[]) =>
    all.map(([lines, new_string, first]) => ({ lines, new_string, ...(first === undefined ? {} : { first }) }));
  return {
    path,
    session,
    there,
    edits,
    read: (name: string, input: object = {}) => session.call("Read", { file_path: name, ...input }),
    editLines: (name: string, ...all: readonly Line[]) =>
      session.call("EditLines", { file_path: name, edits: edits(all) }),
  };
}

const message = ({ error }: Reply): string => (error === undefined ? "ok" : `${error.code} ${error.message}`);
const ten = Array.from({ length: 10 }, (_, at) => `line ${at + 1}\n`).join("");

describe("EditLines", () => {
  test("replaces, inserts and deletes at once, by the numbers of one page", async () => {
    const { read, editLines, there } = bed({ "a.txt": ten });
    await read("a.txt");
    const reply = await editLines(
      "a.txt",
      ["2-3", "two\nand three"],
      ["9", ""],
      ["before 1", "top"],
      ["after 10", "end"],
    );
    expect(reply.content[0]).toMatchObject({ text: 'Edited "a.txt": 4 edits, 4 replacements (+4 -3).' });
    const expected = ["top", "line 1", "two", "and three", ...[4, 5, 6, 7, 8, 10].map((n) => `line ${n}`), "end", ""];
    expect(there("a.txt")).toBe(expected.join("\n"));
  });

  test("numbers go on to mean the page that was shown, whatever tool changed the file since", async () => {
    const { session, read, editLines, there } = bed({ "a.txt": ten });
    await read("a.txt");
    await editLines("a.txt", ["before 2", "new\nnew"]);
    await session.call("Edit", { file_path: "a.txt", old_string: "line 4\n", new_string: "" });
    await session.call("MultiEdit", { file_path: "a.txt", edits: [{ old_string: "line 1\n", new_string: "1\n1\n" }] });
    expect(message(await editLines("a.txt", ["8", "eight"], ["10", "ten", "line 10"]))).toBe("ok");
    expect(there("a.txt")).toBe("1\n1\nnew\nnew\nline 2\nline 3\nline 5\nline 6\nline 7\neight\nline 9\nten\n");
  });

  test("calls sent together mean the same page", async () => {
    const { read, editLines, there } = bed({ "a.txt": ten });
    await read("a.txt");
    const replies = await Promise.all([editLines("a.txt", ["1-5", "five"]), editLines("a.txt", ["6", "six"])]);
    expect(replies.map(message)).toEqual(["ok", "ok"]);
    expect(there("a.txt")).toBe("five\nsix\nline 7\nline 8\nline 9\nline 10\n");
  });

  for (const [name, lines, refusal] of [
    ["a line that was not shown", [["8", "x"]], /^NOT_READ .*line 8 was not shown/],
    ["a range that was shown in part", [["4-6", "x"]], /^NOT_READ .*lines 4 to 6/],
    ["a line after the end", [["40", "x"]], /^NOT_READ /],
    ["another first line", [["3", "x", "line 4"]], /^WRONG_LINES .*line 3 is not "line 4".*\n3\D+line 3$/s],
    [
      "two edits of one line",
      [
        ["2-3", "x"],
        ["3", "y"],
      ],
      /^INVALID_PARAM .*edit 3 of 3: .*the same line/,
    ],
    [
      "an insertion into replaced lines",
      [
        ["2-4", "x"],
        ["after 2", "y"],
      ],
      /^INVALID_PARAM .*the same line/,
    ],
    ["nothing new", [["3", "line 3"]], /^INVALID_PARAM .*nothing would change/],
    ["an insertion of nothing", [["after 3", ""]], /^INVALID_PARAM /],
    ["half a character", [["3", "\ud800"]], /^INVALID_PARAM .*surrogate/],
    ["a word instead of a number", [["last", "x"]], /^INVALID_PARAM .*"edits.1.lines" must be lines such as "120-124"/],
    ["line 0", [["0", "x"]], /^INVALID_PARAM /],
    ["a range that runs backwards", [["4-2", "x"]], /^INVALID_PARAM /],
    ["a range beside which nothing can be put", [["after 2-4", "x"]], /^INVALID_PARAM /],
  ] as const) {
    test(`${name} is refused, and nothing is changed`, async () => {
      const { read, editLines, there } = bed({ "a.txt": ten });
      await read("a.txt", { limit: 5 });
      expect(message(await editLines("a.txt", ["1", "one"], ...lines))).toMatch(refusal);
      expect(there("a.txt")).toBe(ten);
    });
  }

  test("a file that was never shown is refused", async () => {
    const { editLines } = bed({ "a.txt": ten });
    expect(message(await editLines("a.txt", ["1", "x"]))).toMatch(/^NOT_READ /);
  });

  test("a line that the session wrote has no number until it is shown", async () => {
    const { read, editLines, there } = bed({ "a.txt": ten });
    await read("a.txt");
    await editLines("a.txt", ["2-4", "a\nb"]);
    expect(message(await editLines("a.txt", ["3", "x"]))).toMatch(/^NOT_READ .*line 3 was not shown/);
    await read("a.txt", { offset: 2, limit: 2 });
    expect(message(await editLines("a.txt", ["3", "B", "b"]))).toBe("ok");
    expect(there("a.txt").split("\n").slice(0, 4)).toEqual(["line 1", "a", "B", "line 5"]);
  });

  test("a number that was shown for two lines is refused, and settled by the first line", async () => {
    const { read, editLines, there } = bed({ "a.txt": ten });
    await read("a.txt");
    await editLines("a.txt", ["before 1", "top"]);
    await read("a.txt", { offset: 4, limit: 3 });
    expect(message(await editLines("a.txt", ["5", "x"]))).toMatch(
      /^WRONG_LINES .*different lines as line 5 \("line 5" and "line 4"\).*say which one with first$/,
    );
    expect(message(await editLines("a.txt", ["5", "five", "line 5"]))).toBe("ok");
    expect(there("a.txt").split("\n")[5]).toBe("five");
  });

  test("lines that another program moved are refused with their new numbers, which then work", async () => {
    const { path, read, editLines, there } = bed({ "a.txt": ten });
    await read("a.txt");
    fs.writeFileSync(path("a.txt"), `top\nmore\n${ten}`);
    const refused = message(await editLines("a.txt", ["5-6", "x"]));
    expect(refused).toMatch(/^WRONG_LINES .*lines 5 to 6 are now lines 7 to 8; .*\n7\D+line 5\n8\D+line 6$/s);
    expect(message(await editLines("a.txt", ["7-8", "x", "line 5"]))).toBe("ok");
    expect(there("a.txt")).toBe(`top\nmore\n${ten.replace("line 5\nline 6\n", "x\n")}`);
  });

  test("lines below which another program changed the file are edited", async () => {
    const { path, read, editLines, there } = bed({ "a.txt": ten });
    await read("a.txt");
    fs.writeFileSync(path("a.txt"), ten.replace("line 9\n", "nine\nand a half\n"));
    expect(message(await editLines("a.txt", ["5", "five"]))).toBe("ok");
    expect(message(await editLines("a.txt", ["9", "x"]))).not.toBe("ok");
    expect(there("a.txt")).toBe(ten.replace("line 9\n", "nine\nand a half\n").replace("line 5\n", "five\n"));
  });

  test("a line that was cut when it was shown is refused", async () => {
    const { read, editLines } = bed({ "a.txt": `${"x".repeat(500)}\nb\n` }, { lineCharsMax: 100 });
    await read("a.txt");
    expect(message(await editLines("a.txt", ["1", "y"]))).toMatch(/^NOT_READ /);
    expect(message(await editLines("a.txt", ["2", "y"]))).toBe("ok");
  });

  test("lines that Grep showed have their numbers", async () => {
    const { session, editLines, there } = bed({ "a.txt": ten });
    await session.call("Grep", { pattern: "line 7", output_mode: "content" });
    expect(message(await editLines("a.txt", ["7", "seven"]))).toBe("ok");
    expect(there("a.txt")).toContain("line 6\nseven\nline 8");
  });

  test("keeps line ends, a missing final newline and other encodings", async () => {
    const { path, read, editLines } = bed({ "a.txt": "" });
    fs.writeFileSync(path("a.txt"), Buffer.from("\ufeffeins\r\nzwei\r\ndrei", "utf16le"));
    await read("a.txt");
    await editLines("a.txt", ["2", "zwo\nzwo"], ["3", "drö"]);
    expect(fs.readFileSync(path("a.txt"), "utf16le")).toBe("\ufeffeins\r\nzwo\r\nzwo\r\ndrö");
  });

  test("20,000 edits of one file are made in one call", async () => {
    const all = Array.from({ length: 40_000 }, (_, at) => `line ${at + 1}`);
    const { session, path } = bed({ "a.txt": `${all.join("\n")}\n` }, { readFirst: false });
    const edits = Array.from({ length: 20_000 }, (_, at) => ({ lines: `${at * 2 + 1}`, new_string: "odd" }));
    expect(message(await session.call("EditLines", { file_path: "a.txt", edits }))).toBe("ok");
    const expected = all.map((line, at) => (at % 2 === 0 ? "odd" : line)).join("\n");
    expect(fs.readFileSync(path("a.txt"), "utf8")).toBe(`${expected}\n`);
  });

  test("in random conversations an edit changes the line that was shown under its number, or none", async () => {
    const { path, session, read, editLines } = bed({ "a.txt": "" });
    const step = fc.oneof(
      fc.record({ read: fc.integer({ min: 1, max: 25 }), limit: fc.integer({ min: 1, max: 30 }) }),
      fc.record({
        line: fc.integer({ min: 1, max: 25 }),
        put: fc.nat(3),
        where: fc.constantFrom("", "before ", "after "),
      }),
      fc.record({ text: fc.nat(24), lines: fc.nat(2) }),
      fc.record({ other: fc.nat(24), lines: fc.nat(2) }),
    );
    let made = 0;
    let unique = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 14 }), async (steps) => {
        let file = Array.from({ length: 20 }, () => `text ${(unique += 1)}`);
        fs.writeFileSync(path("a.txt"), `${file.join("\n")}\n`);
        session.forget();
        /** For each number all texts that were shown under it. */
        const shown = new Map<number, Set<string>>();
        for (const one of [{ read: 1, limit: 20 }, ...steps]) {
          if ("read" in one) {
            const reply = await read("a.txt", { offset: one.read, limit: one.limit });
            if (reply.isError) continue;
            for (const [, number, text] of JSON.stringify(reply.content).matchAll(/(\d+)(?:→|\\t)(text \d+)/g)) {
              shown.set(Number(number), (shown.get(Number(number)) ?? new Set()).add(text ?? ""));
            }
          } else if ("text" in one || "other" in one) {
            const at = ("text" in one ? one.text : one.other) % Math.max(1, file.length);
            const put = Array.from({ length: one.lines }, () => `text ${(unique += 1)}`);
            const after = [...file.slice(0, at), ...put, ...file.slice(at + 1)];
            if ("other" in one) {
              fs.writeFileSync(path("a.txt"), after.map((line) => `${line}\n`).join(""));
              file = after;
              continue;
            }
            const new_string = put.map((line) => `${line}\n`).join("");
            const reply = await session.call("Edit", { file_path: "a.txt", old_string: `${file[at]}\n`, new_string });
            if (!reply.isError) file = after;
          } else {
            const put = Array.from({ length: one.put }, () => `text ${(unique += 1)}`);
            const reply = await editLines("a.txt", [`${one.where}${one.line}`, put.join("\n")]);
            const now = fs.readFileSync(path("a.txt"), "utf8").split("\n").slice(0, -1);
            if (reply.isError) expect(now).toEqual(file);
            else {
              made += 1;
              const meant = [...(shown.get(one.line) ?? [])].filter((text) => file.includes(text));
              expect(meant).toHaveLength(1);
              const at = file.indexOf(meant[0] ?? "");
              const [from, to] =
                one.where === "" ? [at, at + 1] : one.where === "before " ? [at, at] : [at + 1, at + 1];
              expect(now).toEqual([...file.slice(0, from), ...put, ...file.slice(to)]);
            }
            file = now;
          }
        }
      }),
      { numRuns: 150 },
    );
    expect(made).toBeGreaterThan(50);
  });
});

describe("EditFiles", () => {
  const tree = { "a.txt": "one\ntwo\n", "b.txt": "three\nfour\n" };
  const both = (second: string) => ({
    files: [
      { file_path: "a.txt", edits: [{ old_string: "two", new_string: "2" }] },
      { file_path: "b.txt", edits: [{ old_string: second, new_string: "4" }] },
      { file_path: "sub/new.txt", edits: [{ old_string: "", new_string: "new\n" }] },
    ],
  });

  test("changes all files, with one question, and one undo takes all back", async () => {
    const asked: Question[] = [];
    const ask = async (question: Question) => {
      asked.push(question);
      return { reply: "once" } as const;
    };
    const { path, session, read, there } = bed(tree, { ask });
    for (const name of ["a.txt", "b.txt"]) await read(name);
    expect(message(await session.call("EditFiles", both("four")))).toBe("ok");
    expect(["a.txt", "b.txt", "sub/new.txt"].map(there)).toEqual(["one\n2\n", "three\n4\n", "new\n"]);
    expect(asked).toMatchObject([{ metadata: { files: [{ path: path("a.txt") }, {}, {}] } }]);
    expect(asked[0]?.metadata["diff"]).toMatch(/-two\n\+2\n.*-four\n\+4\n.*\+new\n/s);
  });

  test("changes none if one edit fits nowhere, and says which file", async () => {
    const { path, session, read, there } = bed(tree);
    for (const name of ["a.txt", "b.txt"]) await read(name);
    expect(message(await session.call("EditFiles", both("five")))).toMatch(/^NO_MATCH Cannot edit "b.txt"/);
    expect(["a.txt", "b.txt"].map(there)).toEqual(Object.values(tree));
    expect(fs.existsSync(path("sub"))).toBe(false);
  });

  test("takes edits by line beside edits by text, but not for one file", async () => {
    const { session, read, there } = bed(tree);
    for (const name of ["a.txt", "b.txt"]) await read(name);
    const byLine = { lines: "1", new_string: "1" };
    const byText = { old_string: "four", new_string: "4" };
    const mixed = await session.call("EditFiles", { files: [{ file_path: "b.txt", edits: [byLine, byText] }] });
    expect(message(mixed)).toMatch(/^INVALID_PARAM .*either old_string or lines/);
    const files = [
      { file_path: "a.txt", edits: [byLine] },
      { file_path: "b.txt", edits: [byText] },
    ];
    expect(message(await session.call("EditFiles", { files }))).toBe("ok");
    expect(["a.txt", "b.txt"].map(there)).toEqual(["1\ntwo\n", "three\n4\n"]);
  });

  test("refuses one file under two names", async () => {
    const { session, read } = bed(tree);
    await read("a.txt");
    const edits = [{ old_string: "one", new_string: "1" }];
    const files = ["a.txt", "./a.txt"].map((file_path) => ({ file_path, edits }));
    expect(message(await session.call("EditFiles", { files }))).toMatch(/^INVALID_PARAM /);
  });
});

describe("which tools are offered", () => {
  const names = (options: Partial<FilehandOptions>, dialect: DialectName) =>
    bed({}, { lineEdits: false, editFiles: false, patchTool: false, ...options }, dialect)
      .session.definitions()
      .map(({ name }) => name)
      .filter((name) => /^(?:edit(?:lines|files)|patch)$/i.test(name));
  for (const [dialect, byDefault, all] of [
    ["claude", [], ["EditLines", "EditFiles", "Patch"]],
    ["envelope", [], ["EditLines", "EditFiles", "Patch"]],
    ["opencode", ["patch"], ["patch", "editlines", "editfiles"]],
    ["opencode-legacy", ["patch"], ["patch", "editlines", "editfiles"]],
  ] as const) {
    test(`${dialect}: none of them by default, each of them once if it is switched on`, () => {
      expect(names({}, dialect)).toEqual(byDefault);
      expect(names({ lineEdits: true, editFiles: true, patchTool: true }, dialect)).toEqual(all);
      expect(names({ editFiles: true }, dialect)).toEqual([...byDefault, all.find((name) => /files/i.test(name))]);
    });
  }

  test("Patch applies a patch in the claude dialect", async () => {
    const { session, read, there } = bed({ "a.txt": "one\n" });
    await read("a.txt");
    const patch_text = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** End Patch";
    expect(message(await session.call("Patch", { patch_text }))).toBe("ok");
    expect(there("a.txt")).toBe("1\n");
  });
});
