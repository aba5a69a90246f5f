/** A person accepts some hunks of a change: the file, the reply, the ledger and the history agree, to the byte. */

import * as fs from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Answer,
  createFilehand,
  type DialectName,
  type FilehandOptions,
  type Question,
  type Reply,
} from "../src/index.ts";
import { type Tree, workspace } from "./support/workspace.ts";

const numbered = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join("");
const forty = numbered(40);
/** Three hunks: at the lines 2, 20 and 39. */
const changed = forty
  .replace("line 2\n", "two\nand more\n")
  .replace("line 20\n", "")
  .replace("line 39\n", "thirty-nine\n");

interface BedOptions extends Partial<FilehandOptions> {
  readonly dialect?: DialectName;
}

/** `answer` is given to each question about a change. */
function bed(
  tree: Tree,
  answer: Answer | ((question: Question) => Answer),
  { dialect = "claude", ...options }: BedOptions = {},
) {
  const { path } = workspace({ ws: tree, state: {} });
  const asked: Question[] = [];
  const filehand = createFilehand({
    roots: [path("ws")],
    reminder: false,
    lineEdits: true,
    editFiles: true,
    patchTool: true,
    stateDir: path("state"),
    ask: async (question) => {
      asked.push(question);
      // An undo asks too, about the whole.
      if (question.hunks === undefined) return { reply: "once" };
      return typeof answer === "function" ? answer(question) : answer;
    },
    ...options,
  });
  const session = filehand.session({ dialect });
  return {
    session,
    asked,
    path: (name: string) => path("ws", name),
    there: (name: string): string => fs.readFileSync(path("ws", name), "utf8"),
    read: (name: string, input: object = {}) => session.call("Read", { file_path: name, ...input }),
  };
}

const words = ({ content: [part] }: Reply): string => (part?.type === "text" ? part.text : "");
const ok = (reply: Reply): Reply => {
  expect(reply.error).toBeUndefined();
  return reply;
};

describe("one file", () => {
  test("Write: two of three hunks are made, and the reply lists both kinds", async () => {
    const { session, asked, there, read } = bed({ "a.txt": forty }, { reply: "once", hunks: [2, 0] });
    await read("a.txt");
    const reply = ok(await session.call("Write", { file_path: "a.txt", content: changed }));
    expect(asked[0]?.hunks).toEqual([
      { file: 0, hunk: 0 },
      { file: 0, hunk: 1 },
      { file: 0, hunk: 2 },
    ]);
    expect(there("a.txt")).toBe(forty.replace("line 2\n", "two\nand more\n").replace("line 39\n", "thirty-nine\n"));
    expect(words(reply)).toBe(
      [
        'Wrote "a.txt" in part (2 of 3 hunks, +3 -2).',
        'The user accepted 2 of 3 hunks of the change of "a.txt". Accepted: lines 2 to 3 and line 40. Refused: line 21, which is as before. These lines are there now:',
        ...[17, 18, 19, 20, 21, 22, 23].map((line) => `${line + 1}\tline ${line}`),
      ].join("\n"),
    );
    expect(reply.structured).toMatchObject({
      partial: {
        accepted: [
          { hunk: 0, from: 2, to: 3 },
          { hunk: 2, from: 40, to: 40 },
        ],
        refused: [{ hunk: 1, from: 21, to: 21 }],
      },
      structuredPatch: [
        { oldStart: 1, newStart: 1 },
        { oldStart: 36, newStart: 37 },
      ],
    });
  });

  test("the next edit knows what is there, and one undo takes back what was written", async () => {
    const bedOf = bed({ "a.txt": forty }, (question) =>
      question.hunks?.length === 3 ? { reply: "once", hunks: [1] } : { reply: "once" },
    );
    const { session, there, read } = bedOf;
    await read("a.txt");
    ok(await session.call("Write", { file_path: "a.txt", content: changed }));
    const now = forty.replace("line 20\n", "");
    expect(there("a.txt")).toBe(now);
    const edit = (old_string: string, new_string: string) =>
      session.call("Edit", { file_path: "a.txt", old_string, new_string });
    // A refused line is as before; what was refused is not there.
    expect((await edit("thirty-nine", "x")).error?.code).toBe("NO_MATCH");
    ok(await edit("line 39", "39"));
    // The number under which the page showed it.
    ok(await session.call("EditLines", { file_path: "a.txt", edits: [{ lines: "40", new_string: "forty" }] }));
    expect(there("a.txt")).toBe(now.replace("line 39", "39").replace("line 40", "forty"));
    for (let turns = 0; turns < 3; turns += 1) await session.undo();
    expect(there("a.txt")).toBe(forty);
  });

  test("who has seen some lines knows those, where they are now", async () => {
    const { session, read, there } = bed({ "a.txt": forty }, (question) =>
      question.hunks?.length === 2 ? { reply: "once", hunks: [0] } : { reply: "once" },
    );
    await read("a.txt", { offset: 1, limit: 5 });
    await read("a.txt", { offset: 18, limit: 4 });
    const edits = [
      { old_string: "line 2\n", new_string: "2\n2\n2\n" },
      { old_string: "line 20\n", new_string: "20\n20\n" },
    ];
    const reply = ok(await session.call("MultiEdit", { file_path: "a.txt", edits }));
    expect(words(reply)).toContain('Edited "a.txt" in part (1 of 2 hunks, +3 -1).');
    expect(reply.structured).toMatchObject({ userModified: true });
    const lines = { file_path: "a.txt", edits: [{ lines: "20", new_string: "twenty" }] };
    ok(await session.call("EditLines", lines));
    expect(there("a.txt")).toBe(forty.replace("line 2\n", "2\n2\n2\n").replace("line 20\n", "twenty\n"));
    const unseen = { file_path: "a.txt", edits: [{ lines: "30", new_string: "thirty" }] };
    expect((await session.call("EditLines", unseen)).error?.code).toBe("NOT_READ");
  });

  test("all hunks are the whole change, and a formatter's work is of the same turn", async () => {
    const formatter: FilehandOptions["formatter"] = ({ path }) =>
      fs.writeFileSync(path, fs.readFileSync(path, "utf8").replaceAll("and more", "AND MORE"));
    const part = bed({ "a.txt": forty }, { reply: "once", hunks: [0] }, { formatter });
    await part.read("a.txt");
    const reply = ok(await part.session.call("Write", { file_path: "a.txt", content: changed }));
    expect(part.there("a.txt")).toBe(forty.replace("line 2\n", "two\nAND MORE\n"));
    expect(words(reply)).toContain(
      'The user accepted 1 of 3 hunks of the change of "a.txt", as numbered before the formatter.',
    );
    expect(words(reply)).toContain("A formatter changed the file after that (+1 -1).");
    await part.session.undo();
    expect(part.there("a.txt")).toBe(forty);

    const all = bed({ "a.txt": forty }, { reply: "once", hunks: [0, 1, 2] });
    await all.read("a.txt");
    const whole = ok(await all.session.call("Write", { file_path: "a.txt", content: changed }));
    expect(words(whole)).toBe('Wrote "a.txt" (+3 -3).');
    expect(all.there("a.txt")).toBe(changed);
  });

  test("a file that changed while the person was asked is asked about again, with its own hunks", async () => {
    let questions = 0;
    const { session, read, there, path, asked } = bed({ "a.txt": forty }, () => {
      questions += 1;
      if (questions === 1) fs.writeFileSync(path("a.txt"), `top\n${forty}`);
      return { reply: "once", hunks: [1] };
    });
    await read("a.txt");
    const edits = [
      { old_string: "line 2\n", new_string: "2\n" },
      { old_string: "line 30\n", new_string: "30\n" },
    ];
    ok(await session.call("MultiEdit", { file_path: "a.txt", edits }));
    expect(asked).toHaveLength(2);
    expect(there("a.txt")).toBe(`top\n${forty}`.replace("line 30\n", "30\n"));
  });

  test("a new file, a notebook's cell and a file that gets a BOM are accepted whole", async () => {
    const cell = { cell_type: "markdown", id: "a", metadata: {}, source: ["x"] };
    const notebook = JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 }, undefined, 1);
    const { session, asked, read, there } = bed({ "n.ipynb": notebook, "a.txt": "a\n" }, { reply: "once", hunks: [0] });
    ok(await session.call("Write", { file_path: "new.txt", content: "1\n2\n" }));
    await read("n.ipynb");
    ok(await session.call("NotebookEdit", { notebook_path: "n.ipynb", cell_id: "a", new_source: "y\nz" }));
    await read("a.txt");
    ok(await session.call("Write", { file_path: "a.txt", content: "\ufeffb\n" }));
    expect(asked.map(({ hunks }) => hunks)).toEqual([[{ file: 0 }], [{ file: 0 }], [{ file: 0 }]]);
    expect(there("a.txt")).toBe("\ufeffb\n");
  });

  test("a hunk that the question does not show cannot be chosen", async () => {
    const many = numbered(9_000);
    const after = many.replace(/^line (.*0)$/gm, "ten $1");
    const { session, asked, read, there } = bed(
      { "a.txt": many },
      ({ hunks = [] }) => ({
        reply: "once",
        hunks: hunks.map((_, at) => at),
      }),
      { readFirst: false },
    );
    await read("a.txt");
    const reply = ok(await session.call("Write", { file_path: "a.txt", content: after }));
    expect(String(asked[0]?.metadata["diff"])).toContain("not all of it is shown");
    expect(words(reply)).toContain("The rest of the change was too long to be shown, and was not made.");
    expect(there("a.txt")).toContain("ten 100\n");
    expect(there("a.txt")).toContain("line 8500\n");
  });
});

describe("several files", () => {
  const tree = { "a.txt": forty, "b.txt": "b\n", "c.txt": forty };
  const edits = (file_path: string) => ({
    file_path,
    edits: [
      { old_string: "line 2\n", new_string: "two\n" },
      { old_string: "line 30\n", new_string: "thirty\n" },
    ],
  });
  const [partly, whole] = [forty.replace("line 30\n", "thirty\n"), edits("a.txt").edits];

  test("EditFiles: each file's hunks are chosen, a file without one is left alone", async () => {
    const { session, asked, there, read } = bed(tree, { reply: "once", hunks: [1, 3, 4] });
    for (const name of ["a.txt", "b.txt", "c.txt"]) await read(name);
    const b = { file_path: "b.txt", edits: [{ old_string: "b", new_string: "B" }] };
    const reply = ok(await session.call("EditFiles", { files: [edits("a.txt"), b, edits("c.txt")] }));
    expect(asked[0]?.hunks?.map(({ file }) => file)).toEqual([0, 0, 1, 2, 2]);
    expect(there("a.txt")).toBe(partly);
    expect(there("b.txt")).toBe("b\n");
    expect(there("c.txt")).toBe(whole.reduce((text, one) => text.replace(one.old_string, one.new_string), forty));
    expect(words(reply)).toContain(
      [
        'Updated "a.txt" in part (1 of 2 hunks, +1 -1).',
        'Updated "c.txt" (+2 -2).',
        'The user refused the change of "b.txt"; it is as before.',
        'The user accepted 1 of 2 hunks of the change of "a.txt". Accepted: line 30. Refused: line 2, which is as before.',
      ].join("\n"),
    );
  });

  test("Patch: files that are added, moved or deleted are accepted whole, and all are written or none", async () => {
    const patch = (file: string) =>
      [
        "*** Begin Patch",
        "*** Add File: new.txt",
        "+new",
        "*** Delete File: b.txt",
        `*** Update File: ${file}`,
        "@@",
        "-line 2",
        "+two",
        "@@",
        "-line 30",
        "+thirty",
        "*** End Patch",
      ].join("\n");
    const { session, asked, there, path } = bed(tree, { reply: "once", hunks: [0, 3] }, { dialect: "opencode" });
    await session.call("read", { filePath: path("a.txt") });
    await session.call("read", { filePath: path("b.txt") });
    const reply = ok(await session.call("patch", { patchText: patch("a.txt") }));
    expect(asked.at(-1)?.hunks).toEqual([{ file: 0 }, { file: 1 }, { file: 2, hunk: 0 }, { file: 2, hunk: 1 }]);
    expect([there("new.txt"), there("b.txt"), there("a.txt")]).toEqual(["new\n", "b\n", partly]);
    expect(words(reply)).not.toContain("Patch applied successfully");
    expect(words(reply)).toContain('The user refused the change of "b.txt"; it is as before.');
    expect(reply.structured).toMatchObject({ metadata: { refused: [path("b.txt")] } });
    await session.undo();
    expect(fs.existsSync(path("new.txt"))).toBe(false);
    expect(there("a.txt")).toBe(forty);
  });
});

describe("to the byte", () => {
  const encode = (text: string, encoding: string): Buffer => {
    switch (encoding) {
      case "utf-8":
        return Buffer.from(text);
      case "utf-8 with BOM":
        return Buffer.from(`\ufeff${text}`);
      case "utf-16le":
        return Buffer.from(`\ufeff${text}`, "utf16le");
      case "utf-16be":
        return Buffer.from(`\ufeff${text}`, "utf16le").swap16();
      case "latin1":
        return Buffer.from(text, "latin1");
      default:
        throw new Error(encoding);
    }
  };
  const lines = Array.from({ length: 60 }, (_, at) => `caf\u00e9 ${at + 1}`);
  const places = [3, 20, 37, 54];

  for (const encoding of ["utf-8", "utf-8 with BOM", "utf-16le", "utf-16be", "latin1"]) {
    for (const end of ["\n", "\r\n", "mixed"]) {
      for (const last of ["ended", "open"]) {
        test(`${encoding}, ${end === "\n" ? "LF" : end === "mixed" ? "mixed" : "CRLF"}, last line ${last}`, async () => {
          const endOf = (at: number): string => (end === "mixed" ? (at % 3 === 0 ? "\r\n" : "\n") : end);
          const whole = (replaced: ReadonlySet<number>): string =>
            lines
              .map((line, at) => {
                const text = replaced.has(at + 1) ? `th\u00e9 ${at + 1}` : line;
                return at === lines.length - 1 && last === "open" ? text : text + endOf(at);
              })
              .join("");
          for (const hunks of [[0], [1, 3], [0, 2, 3], [3]]) {
            const { session, path, read } = bed(
              { "a.txt": encode(whole(new Set()), encoding) },
              { reply: "once", hunks },
            );
            ok(await read("a.txt"));
            const edits = places.map((line) => ({ old_string: `caf\u00e9 ${line}`, new_string: `th\u00e9 ${line}` }));
            // "café 3" is also the start of "café 37".
            edits[0] = { old_string: `caf\u00e9 3${endOf(2)}`, new_string: `th\u00e9 3${endOf(2)}` };
            ok(await session.call("MultiEdit", { file_path: "a.txt", edits }));
            const chosen = new Set(hunks.map((at) => places[at] ?? 0));
            expect(fs.readFileSync(path("a.txt")).equals(encode(whole(chosen), encoding))).toBe(true);
          }
        });
      }
    }
  }

  test("random contents with bytes that do not decode, by MultiEdit", async () => {
    const line = fc.constantFrom("aa", "b b", "", "\u00e9t\u00e9", "c");
    const bytesOf = (texts: readonly string[]): Buffer =>
      Buffer.concat(
        texts.map((text, at) => Buffer.concat([Buffer.from(text), Buffer.from(at % 4 === 1 ? [0xff, 0x0a] : [0x0a])])),
      );
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 12, maxLength: 40 }),
        fc.uniqueArray(fc.nat(39), { minLength: 2, maxLength: 4 }),
        fc.nat(15),
        async (texts, at, mask) => {
          const marked = texts.map((text, index) => `${index}: ${text}`);
          const places = at.filter((one) => one < texts.length).toSorted((a, b) => a - b);
          fc.pre(places.length > 0);
          let hunksTotal = 0;
          const { session, path, read } = bed({ "a.txt": bytesOf(marked) }, ({ hunks = [] }) => {
            hunksTotal = hunks.length;
            const chosen = hunks.map((_, index) => index).filter((index) => (mask >> index) % 2 === 1);
            return chosen.length === 0 ? { reply: "reject" } : { reply: "once", hunks: chosen };
          });
          ok(await read("a.txt"));
          const edits = places.map((one) => ({ old_string: `${one}: `, new_string: `${one}! ` }));
          const unique = edits.filter(
            ({ old_string }) => marked.filter((text) => text.includes(old_string)).length === 1,
          );
          fc.pre(unique.length > 0);
          const reply = await session.call("MultiEdit", { file_path: "a.txt", edits: unique });
          if (reply.error?.code === "AMBIGUOUS") return;
          // Lines in one hunk have at most six unchanged lines between them.
          const changedLines = unique.map(({ old_string }) => Number.parseInt(old_string, 10));
          const groups: number[][] = [];
          for (const one of changedLines) {
            const group = groups.at(-1);
            if (group !== undefined && one - (group.at(-1) ?? 0) - 1 <= 6) group.push(one);
            else groups.push([one]);
          }
          expect(groups).toHaveLength(hunksTotal);
          const chosen = new Set(groups.flatMap((group, index) => ((mask >> index) % 2 === 1 ? group : [])));
          const expected = marked.map((text, index) => (chosen.has(index) ? text.replace(": ", "! ") : text));
          expect(fs.readFileSync(path("a.txt")).equals(bytesOf(expected))).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });
});
