import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  codeCell,
  hostileNotebooks,
  largeNotebook,
  notebook3,
  notebook4,
  onePixelPng,
  stream,
} from "../../../test/samples/notebooks.ts";
import { growsLikeItsInput } from "../../../test/support/growth.ts";
import type { ClaimedOutput, NotebookCell } from "../../contract/notebook.ts";
import { findJsonFault } from "../json/fault.ts";
import { cutMark, type Notebook, parseNotebook, terminalText } from "./notebook.ts";

const limits = { outputCharsMax: 1_000, outputsMax: 50, cellsMax: 100_000 };

function read(text: string, changed: Partial<typeof limits> = {}): Notebook {
  const notebook = parseNotebook(text, { ...limits, ...changed });
  if ("fault" in notebook) throw new Error(JSON.stringify(notebook));
  return notebook;
}

function onlyCell(notebook: Notebook): NotebookCell<ClaimedOutput> {
  const [cell] = notebook.cells;
  if (cell === undefined || notebook.cells.length !== 1) throw new Error(`${notebook.cells.length} cells`);
  return cell;
}

const outputsOf = (...outputs: Parameters<typeof codeCell>[1] & {}): readonly ClaimedOutput[] =>
  onlyCell(read(notebook4([codeCell("", outputs)]))).outputs;

describe("a notebook of format 4", () => {
  test("its cells come in order, whatever way their source is written", () => {
    const text = notebook4([
      codeCell(["a = 1\n", "a"], [stream("1\n")], { id: "first" }),
      { cell_type: "markdown", id: "second", metadata: {}, source: "# Title" },
      { cell_type: "raw", id: "third", metadata: {}, source: [] },
    ]);
    const more = { executionCount: null, outputs: [], outputsLeftOut: 0, ownId: true };
    expect(read(text)).toEqual({
      format: 4,
      minor: 5,
      language: "python",
      cells: [
        {
          index: 0,
          id: "first",
          ownId: true,
          type: "code",
          source: "a = 1\na",
          executionCount: 1,
          language: "python",
          outputs: [{ type: "text", name: "stdout", text: "1\n", cutChars: 0 }],
          outputsLeftOut: 0,
        },
        { ...more, index: 1, id: "second", type: "markdown", source: "# Title", language: "markdown" },
        { ...more, index: 2, id: "third", type: "raw", source: "", language: "raw" },
      ],
    });
  });

  test("a byte-order mark is tolerated", () => {
    expect(read(`\ufeff${notebook4([])}`).cells).toEqual([]);
  });

  for (const [name, metadata, language] of [
    ["of the language that ran", { language_info: { name: "julia" }, kernelspec: { language: "R" } }, "julia"],
    ["of the kernel", { kernelspec: { language: "R" } }, "R"],
    ["Python where nothing is said", {}, "python"],
  ] as const) {
    test(`code is ${name}`, () => expect(read(notebook4([], { metadata })).language).toBe(language));
  }

  test("a cell can have a language of its own", () => {
    const cell = codeCell("", [], { metadata: { vscode: { languageId: "sql" } } });
    expect(onlyCell(read(notebook4([cell]))).language).toBe("sql");
  });
});

describe("ids", () => {
  const idsOf = (ids: readonly (string | number | null | undefined)[]): readonly (readonly [string, boolean])[] =>
    read(notebook4(ids.map((id) => ({ cell_type: "raw", source: "", ...(id === undefined ? {} : { id }) })))).cells.map(
      (cell) => [cell.id, cell.ownId],
    );
  for (const [name, ids, given] of [
    [
      "missing ones are made of the place",
      [undefined, "x"],
      [
        ["cell-0", false],
        ["x", true],
      ],
    ],
    [
      "the second of two gets a new one",
      ["x", "x"],
      [
        ["x", true],
        ["cell-1", false],
      ],
    ],
    [
      "what is no text gets a new one",
      [7, null, "", "a b", "y".repeat(65)],
      [0, 1, 2, 3, 4].map((n) => [`cell-${n}`, false]),
    ],
    [
      "one that looks like a place is an id",
      ["cell-1", undefined],
      [
        ["cell-1", true],
        ["cell-1-1", false],
      ],
    ],
    [
      "made ones differ from all that follow",
      [undefined, "cell-0", "cell-0-1"],
      [
        ["cell-0-2", false],
        ["cell-0", true],
        ["cell-0-1", true],
      ],
    ],
  ] as const) {
    test(name, () => expect(idsOf(ids)).toEqual(given));
  }
});

describe("outputs", () => {
  test("lines that a program wrote in pieces are one output", () => {
    expect(outputsOf(stream("a\n"), stream(["b", "\n"]), stream("c\n", "stderr"), stream("d\n"))).toEqual([
      { type: "text", name: "stdout", text: "a\nb\n", cutChars: 0 },
      { type: "text", name: "stderr", text: "c\n", cutChars: 0 },
      { type: "text", name: "stdout", text: "d\n", cutChars: 0 },
    ]);
  });

  test("an error has no colours", () => {
    const traceback = ["\x1b[0;31mZeroDivisionError\x1b[0m  Traceback", "\x1b[1;32m      1\x1b[0m 1/0"];
    expect(
      outputsOf({ output_type: "error", ename: "ZeroDivisionError", evalue: "division by zero", traceback }),
    ).toEqual([
      {
        type: "error",
        name: "ZeroDivisionError",
        message: "division by zero",
        text: "ZeroDivisionError  Traceback\n      1 1/0",
        cutChars: 0,
      },
    ]);
  });

  test("a picture goes before the text that stands for it", () => {
    const data = { "text/plain": "<Figure>", "image/png": [`${onePixelPng.slice(0, 20)}\n`, onePixelPng.slice(20)] };
    expect(outputsOf({ output_type: "display_data", data })).toEqual([
      { type: "image", mime: "image/png", base64: onePixelPng },
    ]);
  });

  test("Markdown goes before plain text, and that before what no reader shows", () => {
    const result = (data: { readonly [mime: string]: string }) => outputsOf({ output_type: "execute_result", data });
    expect(result({ "text/plain": "<Markdown>", "text/markdown": "# A" })).toMatchObject([
      { name: "result", text: "# A" },
    ]);
    expect(result({ "text/html": "<b>a</b>", "text/plain": "a" })).toMatchObject([{ name: "result", text: "a" }]);
    expect(result({ "text/html": "<b>ä</b>" })).toEqual([{ type: "other", mimes: ["text/html"], bytes: 9 }]);
  });

  test("what is no base64 is no picture", () => {
    const data = { "image/png": "<svg>" };
    expect(outputsOf({ output_type: "display_data", data })).toEqual([
      { type: "other", mimes: ["image/png"], bytes: 5 },
    ]);
  });

  test("a long one keeps its beginning and its end, in whole lines", () => {
    const lines = Array.from({ length: 1_000 }, (_, line) => `line ${line}\n`).join("");
    const [output] = outputsOf(stream(lines));
    if (output?.type !== "text") throw new Error("no text");
    const [head = "", tail = ""] = output.text.split(`${cutMark}\n`);
    expect(lines.startsWith(head) && head.endsWith("\n")).toBe(true);
    expect(lines.endsWith(tail) && tail.startsWith("line")).toBe(true);
    expect(head.length + tail.length).toBeLessThanOrEqual(limits.outputCharsMax);
    expect(head.length + tail.length + output.cutChars).toBe(lines.length);
  });

  test("no cut splits a pair of surrogates", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.string({ unit: "grapheme" }), (outputCharsMax, more) => {
        const text = `😀${more}`.repeat(40).replaceAll("\r", "");
        const [output] = onlyCell(read(notebook4([codeCell("", [stream(text)])]), { outputCharsMax })).outputs;
        if (output?.type !== "text") throw new Error("no text");
        expect(output.text).not.toMatch(/\p{Cs}/u);
      }),
    );
  });

  test("those beyond the limit are counted", () => {
    const errors = Array.from({ length: 7 }, () => ({ output_type: "error", ename: "E", evalue: "", traceback: [] }));
    const cell = onlyCell(read(notebook4([codeCell("", errors)]), { outputsMax: 3 }));
    expect([cell.outputs.length, cell.outputsLeftOut]).toEqual([3, 4]);
  });

  test("more cells than the limit are no notebook, so that they are read as text", () => {
    const text = notebook4([codeCell(""), codeCell(""), codeCell("")]);
    expect(parseNotebook(text, { ...limits, cellsMax: 2 })).toEqual({
      fault: "not a notebook",
      detail: "it has 3 cells, more than 2",
    });
    expect(parseNotebook(text, { ...limits, cellsMax: 3 })).not.toHaveProperty("fault");
  });
});

describe("terminalText", () => {
  for (const [name, raw, shown] of [
    ["plain text stays", "a\tb\nc", "a\tb\nc"],
    ["colours go", "\x1b[1;31mred\x1b[0m \x9b4mline\x9b0m", "red line"],
    ["titles and links go", "\x1b]0;title\x07a \x1b]8;;http://x\x1b\\b\x1b]8;;\x1b\\", "a b"],
    ["a progress bar is left in its last state", "\r 10%\r 50%\r100%\n", "100%\n"],
    ["a shorter pass covers only its length", "abcdef\rxy", "xycdef"],
    ["a wiped line is gone", "downloading…\r\x1b[Kdone\n", "done\n"],
    ["CRLF ends a line", "a\r\nb\r\n", "a\nb\n"],
    ["backspaces take back", "10%\b\b\b20%", "20%"],
    ["backspaces stop at the start of the line", "a\n\b\bb", "a\nb"],
    ["other controls go", "a\0b\x07c", "abc"],
  ] as const) {
    test(name, () => expect(terminalText(raw)).toBe(shown));
  }
});

describe("a notebook of format 3", () => {
  test("is read like one of format 4", () => {
    const notebook = read(
      notebook3([
        { cell_type: "heading", level: 2, metadata: {}, source: "Part" },
        {
          cell_type: "code",
          input: ["1 + 1"],
          language: "python",
          prompt_number: 4,
          outputs: [
            { output_type: "pyout", prompt_number: 4, text: ["2"], metadata: {} },
            { output_type: "display_data", png: onePixelPng, text: ["<plot>"] },
            { output_type: "pyerr", ename: "E", evalue: "bad", traceback: ["\x1b[31mE\x1b[0m"] },
            { output_type: "stream", stream: "stderr", text: ["warned"] },
          ],
        },
      ]),
    );
    expect(notebook).toMatchObject({ format: 3, minor: 0 });
    expect(notebook.cells[0]).toMatchObject({ type: "markdown", source: "## Part", id: "cell-0", ownId: false });
    expect(notebook.cells[1]).toMatchObject({
      source: "1 + 1",
      executionCount: 4,
      outputs: [
        { type: "text", name: "result", text: "2" },
        { type: "image", mime: "image/png" },
        { type: "error", name: "E", message: "bad", text: "E" },
        { type: "text", name: "stderr", text: "warned" },
      ],
    });
  });
});

describe("what is no notebook", () => {
  for (const [name, text, fault] of [
    ["nothing", "", { fault: "empty" }],
    ["blanks behind a mark", "\ufeff \n", { fault: "empty" }],
    ["a list", "[]", { fault: "not a notebook", detail: "it is a list, not an object" }],
    ["null", "null", { fault: "not a notebook", detail: "it is null, not an object" }],
    ["an object without cells", '{"cells": 7}', { fault: "not a notebook", detail: "it has no list of cells" }],
    [
      "a missing value",
      '{"cells":\n  }',
      { fault: "not json", line: 2, column: 3, detail: "a value should stand here" },
    ],
    [
      "a final comma",
      '{"a": 1,}',
      { fault: "not json", line: 1, column: 9, detail: "a key in double quotes should stand here" },
    ],
    [
      "a merge conflict",
      "{\n<<<<<<< HEAD\n",
      { fault: "not json", line: 2, column: 1, detail: 'a key in double quotes or "}" should stand here' },
    ],
    [
      "a text that is cut",
      '{"cells": [{"source": "abc',
      { fault: "not json", line: 1, column: 27, detail: "the text ends inside a string" },
    ],
    [
      "two values",
      "{} {}",
      { fault: "not json", line: 1, column: 4, detail: "more text follows the end of the value" },
    ],
    [
      "an unknown escape",
      '["\\q"]',
      { fault: "not json", line: 1, column: 3, detail: "a backslash begins no known escape" },
    ],
    [
      "a line end in a string",
      '["a\nb"]',
      { fault: "not json", line: 1, column: 4, detail: "a line end or control character stands unescaped in a string" },
    ],
    [
      "a list closed as an object",
      "[1}",
      { fault: "not json", line: 1, column: 3, detail: '"," or "]" should stand here' },
    ],
    [
      "a number with a leading zero",
      "[01]",
      { fault: "not json", line: 1, column: 3, detail: '"," or "]" should stand here' },
    ],
  ] as const) {
    test(`${name} is told with its place`, () => expect(parseNotebook(text, limits)).toEqual(fault));
  }

  test("the place is where the text can still be made right, whatever is broken", () => {
    const alphabet = fc.constantFrom(...Array.from('[]{},:"\\ \n0-1.eEtruefalsn'), "null", "true", '"a"', "\u0001");
    fc.assert(
      fc.property(fc.array(alphabet, { maxLength: 30 }), (pieces) => {
        const text = pieces.join("");
        if (parses(text)) return;
        const { line, column, detail } = findJsonFault(text);
        const at =
          text
            .split("\n")
            .slice(0, line - 1)
            .join("\n").length +
          (line > 1 ? 1 : 0) +
          column -
          1;
        expect(at).toBeLessThanOrEqual(text.length);
        expect(detail).not.toBe("it cannot be parsed");
      }),
      { numRuns: 2_000 },
    );
  });
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe("hostile and large notebooks", () => {
  test("500 cells and an output of 5 MB are read", () => {
    const notebook = read(largeNotebook());
    expect(notebook.cells.length).toBe(500);
    expect(notebook.cells[250]?.outputs[0]).toMatchObject({ type: "text" });
  });

  test("100,000 cells with few ids are read", () => {
    const cells = Array.from({ length: 100_000 }, (_, at) => codeCell("x", [stream("y")], { id: `${at % 7}` }));
    const notebook = read(notebook4(cells));
    expect(notebook.cells.length).toBe(100_000);
    expect(notebook.cells[99_999]?.outputs[0]).toMatchObject({ type: "text" });
  });

  test("four times the cells are four times the work, also with few ids", async () => {
    const book = (count: number): string =>
      notebook4(Array.from({ length: count }, (_, at) => codeCell("x", [stream("y")], { id: `${at % 7}` })));
    await growsLikeItsInput(4_000, book, (text) => read(text));
  });

  for (const { name, text } of hostileNotebooks()) {
    test(`${name}: answered`, () => expect(parseNotebook(text, limits)).toBeDefined());
  }

  test("wrong types anywhere never throw", () => {
    const keys = fc.constantFrom(
      "cells",
      "worksheets",
      "source",
      "outputs",
      "output_type",
      "data",
      "text",
      "id",
      "metadata",
      "cell_type",
      "traceback",
      "image/png",
      "level",
      "__proto__",
    );
    const leaf = fc.oneof(
      fc.constantFrom<unknown>("code", "heading", "stream", "error", "display_data", null, -1, 1e300, true),
      fc.string(),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        leaf,
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(keys, tie("value"), { maxKeys: 6 }),
      ),
    }));
    fc.assert(
      fc.property(value, (any) => void parseNotebook(JSON.stringify({ cells: [any], ...Object(any) }), limits)),
      { numRuns: 1_000 },
    );
  });

  test("random changes to a notebook never throw", () => {
    const text = notebook4([codeCell("a", [stream("b")]), { cell_type: "markdown", source: ["c"] }]);
    fc.assert(
      fc.property(fc.nat(text.length), fc.nat(20), fc.string({ unit: "binary", maxLength: 5 }), (at, length, put) => {
        parseNotebook(text.slice(0, at) + put + text.slice(at + length), limits);
      }),
      { numRuns: 1_000 },
    );
  });
});
