import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  codeCell,
  hostileNotebooks,
  largeNotebook,
  notebook3,
  notebook4,
  stream,
} from "../../../test/samples/notebooks.ts";
import type { TextChange } from "../../contract/edit.ts";
import { itemsOf, memberNamed, membersOf, rootOf, sliceOf } from "../json/spans.ts";
import { type CellEdit, type CellEdited, editCell } from "./edit.ts";
import { type Notebook, parseNotebook } from "./notebook.ts";

type Done = Extract<CellEdited, { edited: "yes" }>;

const asked = (edit: Partial<CellEdit>): CellEdit => ({
  mode: "replace",
  cellId: undefined,
  source: "",
  cellType: undefined,
  newId: "fresh",
  ...edit,
});

function done(text: string, edit: Partial<CellEdit>): Done {
  const edited = editCell(text, asked(edit));
  if (edited.edited === "no") throw new Error(JSON.stringify(edited));
  return edited;
}

/** Applies the changes, and checks that they are sorted and do not touch. */
function apply(text: string, changes: readonly TextChange[]): string {
  let after = "";
  let at = 0;
  for (const [index, change] of changes.entries()) {
    if (index === 0 ? change.from < at : change.from <= at) throw new Error("changes touch");
    expect(change.to).toBeGreaterThanOrEqual(change.from);
    after += text.slice(at, change.from) + change.text;
    at = change.to;
  }
  return after + text.slice(at);
}

const edited = (text: string, edit: Partial<CellEdit>): string => apply(text, done(text, edit).changes);

function read(text: string): Notebook {
  const notebook = parseNotebook(text, { outputCharsMax: 1_000, outputsMax: 50, cellsMax: 100_000 });
  if ("fault" in notebook) throw new Error(JSON.stringify(notebook));
  return notebook;
}

/** The common layouts of JSON. */
const formats: readonly (readonly [name: string, write: (value: unknown) => string])[] = [
  ["indented by one blank, as Jupyter does", (value) => `${JSON.stringify(value, null, 1)}\n`],
  ["indented by two", (value) => JSON.stringify(value, null, 2)],
  ["indented by four", (value) => `${JSON.stringify(value, null, 4)}\n`],
  ["indented by tabs", (value) => `${JSON.stringify(value, null, "\t")}\n`],
  ["with CRLF", (value) => `${JSON.stringify(value, null, 1)}\n`.replaceAll("\n", "\r\n")],
  ["without a blank", (value) => JSON.stringify(value)],
  // Line endings inside strings are escaped, so each of these is layout.
  [
    "on one line, as Python does",
    (value) => JSON.stringify(value, null, 1).replace(/,\n */g, ", ").replace(/\n */g, ""),
  ],
  ["line by line without indents", (value) => JSON.stringify(value, null, 1).replace(/\n */g, "\n")],
];

const plainCells = [
  { cell_type: "markdown", id: "title", metadata: {}, source: ["# Title\n", "\n", "Text"] },
  codeCell(["a = 1\n", "a"], [stream(["1\n"])], { id: "code" }),
  { cell_type: "raw", id: "raw", metadata: { format: "x" }, source: ["one"] },
];
const written = (cells: readonly unknown[], minor = 5): unknown => ({
  cells,
  metadata: { language_info: { name: "python" } },
  nbformat: 4,
  nbformat_minor: minor,
});
const newCode = {
  cell_type: "code",
  execution_count: null,
  id: "fresh",
  metadata: {},
  outputs: [],
  source: ["x\n", "y"],
};
const newMarkdown = { cell_type: "markdown", id: "fresh", metadata: {}, source: ["x\n", "y"] };

for (const [format, write] of formats) {
  describe(`a notebook ${format}`, () => {
    const [title, code, raw] = plainCells;
    const text = write(written(plainCells));
    for (const [name, edit, cells] of [
      [
        "replace Markdown",
        { cellId: "title", source: "x\ny\n" },
        [{ ...Object(title), source: ["x\n", "y\n"] }, code, raw],
      ],
      ["replace by nothing", { cellId: "raw", source: "" }, [title, code, { ...Object(raw), source: [] }]],
      [
        "replace code",
        { cellId: "code", source: "b" },
        [title, { ...Object(code), execution_count: null, outputs: [], source: ["b"] }, raw],
      ],
      ["insert first", { mode: "insert", source: "x\ny" }, [newCode, title, code, raw]],
      [
        "insert Markdown first",
        { mode: "insert", source: "x\ny", cellType: "markdown" },
        [newMarkdown, title, code, raw],
      ],
      ["insert in between", { mode: "insert", cellId: "title", source: "x\ny" }, [title, newCode, code, raw]],
      ["insert last", { mode: "insert", cellId: "raw", source: "x\ny" }, [title, code, raw, newCode]],
      ["delete the first", { mode: "delete", cellId: "title" }, [code, raw]],
      ["delete one in between", { mode: "delete", cellId: "code" }, [title, raw]],
      ["delete the last", { mode: "delete", cellId: "raw" }, [title, code]],
      [
        "Markdown becomes code",
        { cellId: "title", source: "x\ny", cellType: "code" },
        [{ ...newCode, id: "title" }, code, raw],
      ],
      [
        "code becomes Markdown",
        { cellId: "code", source: "x\ny", cellType: "markdown" },
        [title, { ...newMarkdown, id: "code" }, raw],
      ],
    ] as const) {
      test(`${name}: the same as if it had been written so`, () => {
        expect(edited(text, edit)).toBe(write(written(cells)));
      });
    }

    test("the only cell leaves an empty list, which is filled again", () => {
      const one = write(written([newCode]));
      const none = edited(one, { mode: "delete", cellId: "fresh" });
      expect(none).toBe(write(written([])));
      expect(edited(none, { mode: "insert", source: "x\ny" })).toBe(one);
    });

    test("a second cell beside a single one", () => {
      const one = write(written([newCode]));
      const added = { mode: "insert", source: "x\ny", cellType: "markdown", newId: "other" } as const;
      const other = { ...newMarkdown, id: "other" };
      expect(edited(one, added)).toBe(write(written([other, newCode])));
      expect(edited(one, { ...added, cellId: "fresh" })).toBe(write(written([newCode, other])));
    });

    test("an empty source is filled", () => {
      const lines = (source: readonly string[]): string => write(written([{ ...newMarkdown, source }]));
      expect(edited(lines([]), { cellId: "fresh", source: "x\ny" })).toBe(lines(["x\n", "y"]));
      expect(edited(lines(["x"]), { cellId: "fresh", source: "x\ny" })).toBe(lines(["x\n", "y"]));
    });
  });
}

describe("the source", () => {
  const one = (source: unknown): string =>
    JSON.stringify(written([{ cell_type: "raw", id: "r", metadata: {}, source }]));
  for (const [name, before, source, after] of [
    ["a string stays a string", "old", "a\nb\n", "a\nb\n"],
    ["an empty string is a string", "", "a", "a"],
    ["a list stays a list", ["old"], "a\nb\n", ["a\n", "b\n"]],
    ["what is no text becomes a list", 5, "a\nb", ["a\n", "b"]],
    ["CRLF goes in as sent", ["old"], "a\r\nb\r", ["a\r\n", "b\r"]],
    ["dollar signs are text", "old", "$& $1 $$ $`", "$& $1 $$ $`"],
    ["quotes, backslashes and control characters", "old", '"\\\u0000\u001b', '"\\\u0000\u001b'],
    ["empty lines", ["old"], "\n\na\n\n", ["\n", "\n", "a\n", "\n"]],
  ] as const)
    test(name, () => expect(edited(one(before), { cellId: "r", source })).toBe(one(after)));

  test("half a surrogate pair is escaped", () => {
    expect(edited(one("a"), { cellId: "r", source: "\ud83d" })).toContain(String.raw`"source":"\ud83d"`);
  });
  test("lines that stay keep their spelling", () => {
    const text = String.raw`{"cells":[{"cell_type":"raw","source":["\u0061\/\n","b\n","é"]}]}`;
    const after = String.raw`{"cells":[{"cell_type":"raw","source":["\u0061\/\n","c\n","é"]}]}`;
    expect(edited(text, { cellId: "cell-0", source: "a/\nc\né" })).toBe(after);
  });
  test("a new cell's is a string beside strings", () => {
    expect(edited(one("a"), { mode: "insert", source: "b\nc" })).toContain('"source":"b\\nc"');
  });
  for (const [name, other, expected] of [
    ["escaped where the file escapes all letters", String.raw`\u00e9`, String.raw`"source":"\u00fc \ud83d\ude00"`],
    ["not where a letter stands as it is", String.raw`\u00e9 é`, '"source":"ü 😀"'],
    ["not for the colours of an output", String.raw`\u001b[31m`, '"source":"ü 😀"'],
    ["not for a backslash and a u", String.raw`\\u00e9`, '"source":"ü 😀"'],
  ] as const) {
    test(`letters beyond ASCII: ${name}`, () => {
      const text = `{"metadata":{"x":"${other}"},"cells":[{"cell_type":"raw","source":"a"}]}`;
      expect(edited(text, { cellId: "cell-0", source: "ü 😀" })).toContain(expected);
    });
  }
  for (const [name, other, expected] of [
    ["escaped where the file escapes them all", String.raw`a\/b`, String.raw`"source":"x\/\\\/y"`],
    ["not where one stands as it is", String.raw`a\/b/`, String.raw`"source":"x/\\/y"`],
    ["not where there is none", "a", String.raw`"source":"x/\\/y"`],
  ] as const) {
    test(`slashes: ${name}`, () => {
      const text = `{"metadata":{"x":"${other}"},"cells":[{"cell_type":"raw","source":"a"}]}`;
      expect(edited(text, { cellId: "cell-0", source: "x/\\/y" })).toContain(expected);
    });
  }
});

describe("what is changed besides", () => {
  test("code that never ran: the source alone", () => {
    const text = notebook4([codeCell("a", [], { execution_count: null, id: "c" })]);
    const { changes, cleared } = done(text, { cellId: "c", source: "b" });
    expect([changes.length, cleared]).toEqual([1, false]);
    // It ran without output.
    const silent = notebook4([codeCell("a", [], { execution_count: 3, id: "c" })]);
    expect(done(silent, { cellId: "c", source: "b" }).cleared).toBe(false);
    const loud = notebook4([codeCell("a", [{ output_type: "stream", name: "stdout", text: "1" }], { id: "c" })]);
    expect(done(loud, { cellId: "c", source: "b" }).cleared).toBe(true);
  });
  test("a type alone leaves the source to the letter", () => {
    const text = String.raw`{"cells":[{"source": "\u0061", "cell_type": "markdown", "attachments": {}}]}`;
    const after = String.raw`{"cells":[{"source": "\u0061", "cell_type": "code", "execution_count": null, "outputs": []}]}`;
    expect(edited(text, { cellId: "cell-0", source: "a", cellType: "code" })).toBe(after);
  });
  test("results that stand first or last go with one comma each", () => {
    const text =
      '{"cells":[{ "outputs": [1], "execution_count": 2, "cell_type": "code", "source": "a", "outputs": [] }]}';
    const after = '{"cells":[{ "cell_type": "markdown", "source": "a" }]}';
    expect(edited(text, { cellId: "cell-0", source: "a", cellType: "markdown" })).toBe(after);
  });
  test("of names that are there twice the last is changed", () => {
    const text = '{"cells":[1],"cells":[{"source":"x","source":"y","cell_type":"raw"}]}';
    expect(edited(text, { cellId: "cell-0", source: "z" })).toBe(text.replace('"y"', '"z"'));
  });
  test("a cell that is no object, or an empty one, gives way to one", () => {
    for (const cell of ["null", "{}", "7", "[]"]) {
      const after = edited(`{"cells":[${cell}]}`, { cellId: "cell-0", source: "a", cellType: "markdown" });
      expect(after).toBe('{"cells":[{"cell_type":"markdown","metadata":{},"source":["a"]}]}');
    }
  });
  test("a new cell has its members in the order of its like", () => {
    const text =
      '{"cells": [{"cell_type": "code", "source": [], "metadata": {"id": "x"}, "execution_count": 1, "outputs": []}]}';
    const cell = '{"cell_type": "code", "source": ["a"], "metadata": {}, "execution_count": null, "outputs": []}';
    expect(edited(text, { mode: "insert", source: "a" })).toBe(text.replace("[{", `[${cell}, {`));
  });
});

describe("ids", () => {
  const raw = (id?: unknown): unknown =>
    id === undefined ? { cell_type: "raw", source: "" } : { cell_type: "raw", id, source: "" };
  const withIds = (...ids: readonly unknown[]): string => JSON.stringify(written(ids.map(raw)));
  for (const [name, text, cellId, index] of [
    ["one that looks like a place is an id", withIds("cell-1", "b"), "cell-1", 0],
    ["the place of a cell that has none", withIds("a", undefined), "cell-1", 1],
    ["the first of two keeps its id", withIds("a", "a"), "a", 0],
    ["the second goes by its place", withIds("a", "a"), "cell-1", 1],
    ["an odd id is none", withIds("a b", 5), "cell-1", 1],
    ["a place whose name is taken", withIds(undefined, "cell-0"), "cell-0-1", 0],
  ] as const) {
    test(name, () => {
      expect(done(text, { cellId, source: "x" }).cell).toMatchObject({ index, id: cellId });
      expect(read(edited(text, { cellId, source: "x" })).cells[index]).toMatchObject({ id: cellId, source: "x" });
    });
  }
  test("a cell that has one of its own does not go by its place", () => {
    expect(editCell(withIds("a", "b"), asked({ cellId: "cell-1" }))).toEqual({
      edited: "no",
      why: "cell unknown",
      cellId: "cell-1",
      known: ["a", "b"],
    });
  });
  test("twenty are named of more", () => {
    const refused = editCell(withIds(...Array.from({ length: 50 }, (_, index) => `i${index}`)), asked({ cellId: "x" }));
    expect("known" in refused && refused.known.length).toBe(20);
  });
  for (const [minor, has] of [
    [2, false],
    [4, false],
    [5, true],
    [7, true],
  ] as const) {
    test(`a new cell of nbformat 4.${minor} has ${has ? "one" : "none"}, the others none`, () => {
      const text = JSON.stringify(written([raw(), raw()], minor));
      const after = edited(text, { mode: "insert", source: "x", cellId: "cell-0" });
      expect(after.split('"id"').length - 1).toBe(has ? 1 : 0);
      expect(done(text, { mode: "insert", source: "x", cellId: "cell-0" }).cell.id).toBe(has ? "fresh" : "cell-1");
      expect(edited(text, { source: "x", cellId: "cell-0" })).not.toContain('"id"');
    });
  }
  test("a new one is never one that is there", () => {
    expect(done(withIds("a"), { mode: "insert", newId: "b" }).cell.id).toBe("b");
    expect(done(withIds("a"), { mode: "insert", newId: "b c" }).cell.id).toBe("new-1");
    expect(done(withIds("a", "new-2"), { mode: "insert", newId: "a" }).cell.id).toBe("new-3");
  });
  test("it is said when other cells go by another name", () => {
    const text = withIds("a", undefined, "c");
    expect(done(text, { mode: "insert" }).renumbered).toBe(true);
    expect(done(text, { mode: "insert", cellId: "c" }).renumbered).toBe(false);
    expect(done(text, { mode: "delete", cellId: "a" }).renumbered).toBe(true);
    expect(done(text, { mode: "delete", cellId: "cell-1" }).renumbered).toBe(false);
    expect(done(text, { cellId: "a", source: "x" }).renumbered).toBe(false);
  });
  for (const minor of [4, 5]) {
    test(`inserts that follow one another keep their order in 4.${minor}`, () => {
      let text = JSON.stringify(written([raw("a"), raw()], minor), null, 1);
      let after: string | undefined;
      for (const source of ["one", "two", "three"]) {
        const { cell, changes } = done(text, { mode: "insert", source, cellId: after, newId: `id-${source}` });
        text = apply(text, changes);
        after = cell.id;
        expect(read(text).cells[cell.index]).toMatchObject({ id: cell.id, source });
      }
      expect(read(text).cells.map(({ source }) => source)).toEqual(["one", "two", "three", "", ""]);
    });
  }
});

describe("a notebook of format 3", () => {
  const code = {
    cell_type: "code",
    collapsed: false,
    input: ["1\n", "2"],
    language: "julia",
    metadata: {},
    outputs: [{ output_type: "pyout" }],
    prompt_number: 3,
  };
  const heading = { cell_type: "heading", level: 2, metadata: {}, source: ["Title"] };
  const text = notebook3([code, heading]);
  const newCell = { ...code, input: ["x"], outputs: [], prompt_number: null };
  for (const [name, edit, cells] of [
    ["code", { cellId: "cell-0", source: "x" }, [newCell, heading]],
    ["a heading", { cellId: "cell-1", source: "## Other" }, [code, { ...heading, source: ["Other"] }]],
    [
      "a heading of another level",
      { cellId: "cell-1", source: "# Other" },
      [code, { ...heading, level: 1, source: ["Other"] }],
    ],
    [
      "a heading that is none any more",
      { cellId: "cell-1", source: "x" },
      [code, { cell_type: "markdown", metadata: {}, source: ["x"] }],
    ],
    ["a new cell", { mode: "insert", cellId: "cell-1", source: "x" }, [code, heading, newCell]],
    [
      "a new cell of Markdown",
      { mode: "insert", source: "x", cellType: "markdown" },
      [{ cell_type: "markdown", metadata: {}, source: ["x"] }, code, heading],
    ],
    [
      "code becomes Markdown",
      { cellId: "cell-0", source: "x", cellType: "markdown" },
      [{ cell_type: "markdown", source: ["x"], metadata: {} }, heading],
    ],
    [
      "a heading becomes code",
      { cellId: "cell-1", source: "x", cellType: "code" },
      [code, { cell_type: "code", metadata: {}, outputs: [], prompt_number: null, input: ["x"], language: "julia" }],
    ],
    ["delete", { mode: "delete", cellId: "cell-0" }, [heading]],
  ] as const)
    test(name, () => expect(edited(text, edit)).toBe(notebook3(cells)));

  test("cells count through all worksheets", () => {
    const sheets = (...cells: readonly (readonly unknown[])[]): string =>
      JSON.stringify({ worksheets: [{}, ...cells.map((list) => ({ cells: list }))], nbformat: 3 }, null, 2);
    const two = sheets([heading], [], [heading, code]);
    expect(edited(two, { mode: "delete", cellId: "cell-1" })).toBe(sheets([heading], [], [code]));
    expect(edited(two, { mode: "insert", cellId: "cell-2", source: "x" })).toBe(
      sheets([heading], [], [heading, code, newCell]),
    );
    expect(done(two, { mode: "delete", cellId: "cell-1" }).cellsTotal).toBe(2);
  });
  test("without a worksheet there is no place for a cell", () => {
    expect(editCell('{"worksheets":[]}', asked({ mode: "insert" }))).toMatchObject({ why: "not a notebook" });
  });
});

describe("refused", () => {
  for (const [name, text, edit, why] of [
    ["an empty file", " \n", {}, "empty file"],
    ["no JSON", '{"cells": [}', {}, "not json"],
    ["NaN, as when it is read", '{"cells": [], "metadata": {"x": NaN}}', {}, "not json"],
    ["a list", "[]", {}, "not a notebook"],
    ["no cells", "{}", {}, "not a notebook"],
    ["no cell named to replace", '{"cells":[]}', {}, "no cell named"],
    ["no cell named to delete", '{"cells":[]}', { mode: "delete" }, "no cell named"],
    ["an insertion behind a cell that is not there", '{"cells":[]}', { mode: "insert", cellId: "a" }, "cell unknown"],
    ["the same source", '{"cells":[{"source":["a\\n","b"]}]}', { cellId: "cell-0", source: "a\nb" }, "same source"],
    [
      "the same source and type",
      '{"cells":[{"cell_type":"html"}]}',
      { cellId: "cell-0", cellType: "markdown" },
      "same source",
    ],
  ] as const)
    test(name, () => expect(editCell(text, asked(edit))).toMatchObject({ edited: "no", why }));

  test("a fault has its place", () => {
    expect(editCell('{\n "cells": [}', asked({}))).toMatchObject({ line: 2, column: 12 });
  });
});

describe("any notebook, however it is laid out", () => {
  const whitespace = fc.string({ unit: fc.constantFrom(" ", "\n", "\t", "\r\n"), maxLength: 3 });
  const source = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(fc.string({ unit: fc.constantFrom("a", "\n", '"', "é", "\\") })),
  );
  const cell = fc.record(
    {
      cell_type: fc.constantFrom("code", "markdown", "raw", "heading", "html"),
      level: fc.integer({ min: 1, max: 6 }),
      id: fc.constantFrom("a", "b", "cell-1", "cell-0", "no id"),
      metadata: fc.jsonValue({ maxDepth: 2 }),
      source,
      input: source,
      outputs: fc.array(fc.jsonValue({ maxDepth: 2 })),
      execution_count: fc.option(fc.nat()),
      attachments: fc.constant({}),
    },
    { requiredKeys: [] },
  );
  const anyCell = fc.oneof({ arbitrary: cell, weight: 9 }, { arbitrary: fc.constantFrom(null, 1, [], "x"), weight: 1 });
  const notebook = fc.record({
    cells: fc.array(anyCell, { maxLength: 5 }),
    in3: fc.boolean(),
    minor: fc.integer({ min: 0, max: 5 }),
    sheets: fc.array(anyCell, { maxLength: 2 }),
  });

  /** Random whitespace around everything that is not inside a string. */
  function laidOut(value: unknown, pick: () => string): string {
    return JSON.stringify(value).replace(/"(?:[^"\\]|\\.)*"|[[\]{},:]/g, (token) =>
      token.startsWith('"') ? token : pick() + token + pick(),
    );
  }

  function rawCells(text: string): readonly string[] {
    const root = membersOf(text, rootOf(text));
    const lists =
      memberNamed(root, "cells") ??
      itemsOf(text, memberNamed(root, "worksheets")?.value ?? rootOf(text)).map((sheet) =>
        memberNamed(membersOf(text, sheet), "cells"),
      );
    return [lists]
      .flat()
      .flatMap((list) => (list === undefined ? [] : itemsOf(text, list.value).map((span) => sliceOf(text, span))));
  }

  test("one cell is changed, as reading shows it, and every other stays to the letter", () => {
    fc.assert(
      fc.property(
        notebook,
        fc.array(whitespace, { minLength: 1, maxLength: 20 }),
        fc.constantFrom("replace", "insert", "delete"),
        fc.constantFrom(undefined, "code", "markdown", "raw"),
        fc.oneof(fc.string({ unit: fc.constantFrom("a", "b", "\n", "# ", "é", "\r") }), fc.string({ unit: "binary" })),
        fc.nat(),
        ({ cells, in3, minor, sheets }, styles, mode, cellType, newSource, at) => {
          let next = 0;
          const pick = (): string => styles[(next += 1) % styles.length] ?? "";
          const value = in3
            ? { nbformat: 3, worksheets: [{ cells: sheets }, { cells }], nbformat_minor: minor }
            : { metadata: {}, nbformat: 4, cells, nbformat_minor: minor };
          const text = laidOut(value, pick);
          const before = read(text);
          const named = before.cells.length === 0 ? undefined : before.cells[at % (before.cells.length + 1)];
          const answer = editCell(text, asked({ mode, cellId: named?.id, cellType, source: newSource }));
          if (answer.edited === "no") {
            expect(["same source", "no cell named"]).toContain(answer.why);
            return;
          }
          const after = apply(text, answer.changes);
          const shown = read(after);
          const { index } = answer.cell;
          expect(shown.cells.length).toBe(answer.cellsTotal);
          const removed = mode === "insert" ? 0 : 1;
          expect(rawCells(after).toSpliced(index, mode === "delete" ? 0 : 1)).toEqual(
            rawCells(text).toSpliced(index, removed),
          );
          expect(JSON.stringify({ ...JSON.parse(after), cells: 0, worksheets: 0 })).toBe(
            JSON.stringify({ ...JSON.parse(text), cells: 0, worksheets: 0 }),
          );
          if (mode === "delete") return;
          const { id, type } = answer.cell;
          expect(shown.cells[index]).toMatchObject({ id, type, source: newSource, language: answer.cell.language });
          if (type === "code") expect(shown.cells[index]).toMatchObject({ outputs: [], executionCount: null });
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe("large and hostile", () => {
  test("of a large notebook one cell is changed", () => {
    const text = largeNotebook();
    const { changes } = done(text, { cellId: "c250", source: "x" });
    expect(changes.length).toBe(3);
    expect(read(apply(text, changes)).cells[250]).toMatchObject({ source: "x", outputs: [] });
  });
  for (const { name, text } of hostileNotebooks()) {
    test(`${name}: an answer, not a crash`, () => {
      expect(["yes", "no"]).toContain(editCell(text, asked({ mode: "insert", source: "é/\nb" })).edited);
      expect(["yes", "no"]).toContain(editCell(text, asked({ cellId: "one", source: "é/\nb" })).edited);
    });
  }
  test("endless blanks are not copied for every line", () => {
    const text = `{"cells":[{"cell_type":"raw","source":[${" ".repeat(1e6)}"a"${"\n".repeat(1e6)},"b"]}]}`;
    const [change] = done(text, { cellId: "cell-0", source: "x\n".repeat(10_000) }).changes;
    expect(change?.text.length).toBeLessThan(100_000);
  });
});
