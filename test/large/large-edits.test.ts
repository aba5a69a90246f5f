/** An edit of a file that is too large to be held writes and tells what the same edit of a small one does. */

import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { limits } from "../../src/contract/limits.ts";
import { createFilehand } from "../../src/index.ts";
import { textOf } from "../support/reading.ts";
import { workspace } from "../support/workspace.ts";

interface Hunk {
  readonly oldStart: number;
  readonly lines: readonly string[];
}

/** Lines of LF, so that what is local to an edit is told from what most of the file has. */
const filling = (bytes: number): string => "some line that fills the file\n".repeat(Math.ceil(bytes / 30));

/** `small`: the two parts with little in between; `large`: with so much that the file is not held. */
async function edited(before: string, between: number, behind: string, oldText: string, newText: string) {
  const { top, path } = workspace({});
  const file = path("a.txt");
  const middle = filling(between);
  fs.writeFileSync(file, before + middle + behind);
  const session = createFilehand({ roots: [top], ask: "yes", readFirst: false, history: false }).session();
  const input = { file_path: "a.txt", old_string: oldText, new_string: newText, replace_all: true };
  // A diff that is not complete is left out of an answer that is not to be full.
  const reply = await session.call("Edit", input, { full: true });
  const text = fs.readFileSync(file, "utf8");
  const [head, tail] = [
    text.slice(0, text.indexOf("some line")),
    text.slice(text.lastIndexOf("fills the file\n") + 15),
  ];
  const { structuredPatch } = reply.structured as { readonly structuredPatch: readonly Hunk[] }; // what Edit answers with
  return {
    head,
    tail,
    said: textOf(reply).replace(/ at line \d+/, ""),
    hunks: structuredPatch.map(({ lines }) => lines),
  };
}

const tooMuch = limits.editInMemoryBytesMax + 1_000_000;

describe("a large file is edited as a small one", () => {
  for (const [what, before, behind, oldText, newText] of [
    ["each place gets the line end it comes to", "top\r\naa NEEDLE\r\n", "c1\nbb NEEDLE\nc2\n", "NEEDLE", "n1\nn2"],
    ["also the other way round", "top\naa NEEDLE\nx\n", "c1\r\nbb NEEDLE\r\nc2\r\n", "NEEDLE", "n1\nn2"],
    ["a last line without an end goes by the one before", "top\n", "z\r\nlast NEEDLE", "NEEDLE", "n1\nn2"],
    ["CRLF that was sent becomes LF", "aa NEEDLE\n", "bb NEEDLE\nend\n", "NEEDLE", "n1\r\nn2"],
    ["also behind a newline that was found", "top\r\nNEEDLE\r\n", "end\n", "\nNEEDLE", "\nn1\nn2"],
    ["LF for lines with CRLF", "top\r\nNEEDLE\r\nb\r\n", "end\n", "NEEDLE\r\nb", "n1\nn2\nn3"],
    ["CRLF for lines with LF", "top\r\n", "x\nNEEDLE\nb\n", "NEEDLE\nb\n", "n1\r\nn2\r\n"],
    ["both kinds keep their own", "NEEDLE\r\nb\nc\r\n", "end\n", "NEEDLE\r\nb\nc", "NEEDLE\nB\nx\nc"],
    ["several in a line are one line", "NEEDLE NEEDLE NEEDLE\n", "NEEDLE NEEDLE\n", "NEEDLE", "n"],
    ["a mark within the file is text", "\ufeff1\n2\n", "a\n\ufeffmarked\nb\nNEEDLE\nc\n", "NEEDLE", "n"],
    ["the mark of the file is no text", "\ufeffNEEDLE\n", "end\n", "\ufeffNEEDLE", "n"],
    ["a mark in the call is none in the file", "NEEDLE\n", "end\n", "\ufeffNEEDLE", "\ufeffn"],
    ["but a mark that stands in the text is found", "\ufeff1\n\ufeffNEEDLE\n", "NEEDLE\n", "\ufeffNEEDLE", "n"],
    ["a lone return in the old text is no line end", "a\r\nNEEDLE\r\n", "end\n", "NEEDLE\r", "n1\nn2"],
    ["text that begins with a mark after the edit", "1\n2\n", "a\nNEEDLE\n", "NEEDLE", "\ufeffn"],
  ] as const) {
    test(what, async () => {
      const small = await edited(before, 3_000, behind, oldText, newText);
      expect(await edited(before, tooMuch, behind, oldText, newText)).toEqual(small);
    });
  }
});

test("where not all places are shown, lines are counted once and none is shown as it was", async () => {
  const { said, hunks } = await edited("NEEDLE NEEDLE NEEDLE\n".repeat(1_000), tooMuch, "end\n", "NEEDLE", "n");
  expect(said).toContain("3000 replacements (+1000 -1000)");
  const lines = hunks.flat();
  expect(lines.filter((line) => line.startsWith("+") && line.includes("NEEDLE"))).toEqual([]);
  expect(lines.filter((line) => line.startsWith(" ") && line.includes("NEEDLE"))).toEqual([]);
  expect(lines.filter((line) => line === "+n n n").length).toBeGreaterThan(50);
});

test("a line that is far longer than what is looked at in one go has its own line end", async () => {
  const long = "x".repeat(200_000);
  const { head } = await edited(`NEEDLE${long}\r\n`, tooMuch, "end\n", "NEEDLE", "a\nb");
  expect(head).toBe(`a\r\nb${long}\r\n`);
});

test("several edits at once are to be made one by one", async () => {
  const { top, path } = workspace({});
  fs.writeFileSync(path("a.txt"), `one\ntwo\n${filling(tooMuch)}`);
  const session = createFilehand({ roots: [top], ask: "yes", readFirst: false, history: false }).session();
  const edits = [
    { old_string: "one", new_string: "1" },
    { old_string: "two", new_string: "2" },
  ];
  const reply = await session.call("MultiEdit", { file_path: "a.txt", edits });
  expect(reply.error?.code).toBe("TOO_LARGE");
  expect(textOf(reply)).toContain("make each edit in a call of its own");
  for (const edit of edits) expect((await session.call("Edit", { file_path: "a.txt", ...edit })).isError).toBe(false);
});

describe("a text in very many places", () => {
  for (const [what, sizeBytes, line, oldText, newText] of [
    ["a letter in memory", 300_000, "aXa a\n", "a", "bcd"],
    ["a letter that goes", 300_000, "aaaa\n\n", "a", ""],
    ["lines that come", 300_000, "a,b,c;", ",", ",\n"],
    [
      "a word in a file that is too large for memory",
      tooMuch,
      "some NEEDLE in a line of a file, and another NEEDLE\n",
      "NEEDLE",
      "n",
    ],
    ["places far apart", 4_000_000, `x${"-".repeat(180)}\n`, "x", "yy"],
  ] as const) {
    test(`${what}: all are replaced, and counted`, async () => {
      const { top, path } = workspace({});
      const before = `\ufefftop\n${line.repeat(Math.ceil(sizeBytes / line.length))}end`;
      fs.writeFileSync(path("a.txt"), before);
      const session = createFilehand({ roots: [top], ask: "yes", readFirst: false, history: false }).session();
      const input = { file_path: "a.txt", old_string: oldText, new_string: newText, replace_all: true };
      const reply = await session.call("Edit", input, { full: true });
      expect(fs.readFileSync(path("a.txt"), "utf8") === before.replaceAll(oldText, () => newText)).toBe(true);
      const lines = before.split("\n").filter((one) => one.includes(oldText));
      const count = before.split(oldText).length - 1;
      const more = count * (newText.split("\n").length - 1);
      expect(textOf(reply)).toContain(`${count} replacements (+${lines.length + more} -${lines.length})`);
    });
  }

  test("a letter that should stand once is refused with how often it does", async () => {
    const { top, path } = workspace({});
    fs.writeFileSync(path("a.txt"), "aa\n".repeat(100_000));
    const session = createFilehand({ roots: [top], ask: "yes", readFirst: false }).session();
    const reply = await session.call("Edit", { file_path: "a.txt", old_string: "a", new_string: "b" });
    expect(textOf(reply)).toContain("200000 places (the first 50 at lines 1, 2, 3");
  });

  test("with `lines` only what was shown is changed, else one shown place is enough", async () => {
    const { top, path } = workspace({});
    const edit = { file_path: "a.txt", old_string: "a", new_string: "b", replace_all: true };
    for (const readFirst of ["lines", "file"] as const) {
      fs.writeFileSync(path("a.txt"), "aaaa\n".repeat(10_000));
      const session = createFilehand({ roots: [top], ask: "yes", readFirst }).session();
      await session.call("Read", { file_path: "a.txt", limit: 100 });
      const { error, content } = await session.call("Edit", edit);
      expect(error?.code).toBe(readFirst === "lines" ? "NOT_READ" : undefined);
      if (readFirst === "lines") continue;
      expect(content[0]).toMatchObject({ text: expect.stringContaining("39600 of the 40000 places were not shown") });
      expect(fs.readFileSync(path("a.txt"), "utf8")).toBe("bbbb\n".repeat(10_000));
      expect((await session.call("Write", { file_path: "a.txt", content: "" })).error?.code).toBe("NOT_READ");
    }
  });
});
