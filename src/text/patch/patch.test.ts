import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PatchFault } from "../../contract/problem.ts";
import { type ParsedPatch, parsePatch } from "./patch.ts";

const patch = (...lines: readonly string[]): string => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

/** The hunk of a patch with one update, with its marks. */
function onlyHunk(parsed: ParsedPatch): unknown {
  if ("fault" in parsed) return parsed;
  const [file] = parsed.files;
  if (file.does !== "update") return file;
  const [hunk] = file.hunks;
  return hunk && { headers: hunk.headers, lines: hunk.lines.map(({ mark, text }) => mark + text), end: hunk.endOfFile };
}

describe("what a patch does", () => {
  test("it adds, deletes, updates and moves, in the order given", () => {
    const text = patch(
      "*** Add File: docs/new.md",
      "+# Títle",
      "+",
      "+text  ",
      "*** Delete File: old name.txt",
      "*** Update File: src/a.ts",
      "*** Move to: src/b.ts",
      "@@ class A",
      "@@   run() {",
      " one",
      "-two",
      "+zwei",
      "@@",
      "-last",
      "*** End of File",
      "*** Update File: c",
      "*** Move to: d",
    );
    expect(parsePatch(text)).toEqual({
      files: [
        { does: "add", path: "docs/new.md", text: "# Títle\n\ntext  \n", replaces: false, later: [] },
        { does: "delete", path: "old name.txt" },
        {
          does: "update",
          path: "src/a.ts",
          moveTo: "src/b.ts",
          hunks: [
            {
              headers: ["class A", "  run() {"],
              lines: [
                { mark: " ", text: "one" },
                { mark: "-", text: "two" },
                { mark: "+", text: "zwei" },
              ],
              endOfFile: false,
              at: 9,
            },
            { headers: [], lines: [{ mark: "-", text: "last" }], endOfFile: true, at: 14 },
          ],
          later: [],
        },
        { does: "update", path: "c", moveTo: "d", hunks: [], later: [] },
      ],
    });
  });

  for (const [name, lines, text] of [
    ["an added file may be empty", ["*** Add File: a"], ""],
    ["blank lines behind an added file are not part of it", ["*** Add File: a", "+x", "", ""], "x\n"],
    ["an added file may be said to end", ["*** Add File: a", "+x", "*** End of File"], "x\n"],
    ["markers behind a + are text", ["*** Add File: a", "+*** End Patch", "+@@"], "*** End Patch\n@@\n"],
    ["CRLF of an added file is meant where the frame has none", ["*** Add File: a", "+x\r", "+y\r"], "x\r\ny\r\n"],
  ] as const) {
    test(name, () =>
      expect(parsePatch(patch(...lines))).toEqual({
        files: [{ does: "add", path: "a", text, replaces: false, later: [] }],
      }),
    );
  }

  for (const [name, lines, hunk] of [
    ["the first hunk needs no @@", ["-a", "+b"], { headers: [], lines: ["-a", "+b"], end: false }],
    ["an empty line is an empty line of context", ["@@", " a", "", "-b"], ["", 1]],
    [
      "empty lines behind a hunk are none",
      ["@@", " a", "-b", "", ""],
      { headers: [], lines: [" a", "-b"], end: false },
    ],
    ["but before the end of the file they count", ["@@", "-a", "", "*** End of File"], ["", 1]],
    ["line numbers are passed over", ["@@ -3,4 +3,5 @@ fn x()", "-a"], { headers: [], lines: ["-a"], end: false }],
    ["an indented header keeps its indentation", ["@@   x  ", "-a"], { headers: ["  x"], lines: ["-a"], end: false }],
    ["a bare @@ between headers says nothing", ["@@", "@@ x", "-a"], { headers: ["x"], lines: ["-a"], end: false }],
    [
      "a marker behind a mark is text",
      [" *** End Patch", "-a"],
      { headers: [], lines: [" *** End Patch", "-a"], end: false },
    ],
  ] as const) {
    test(name, () => {
      const parsed = parsePatch(patch("*** Update File: f", ...lines));
      if (!Array.isArray(hunk)) expect(onlyHunk(parsed)).toEqual(hunk);
      else expect(onlyHunk(parsed)).toHaveProperty(["lines", hunk[1]], ` ${hunk[0]}`);
    });
  }
});

describe("what is forgiven", () => {
  const bare = patch("*** Update File: f", "@@ x", " a", "", "-b", "+c");
  for (const [name, text] of [
    ["blank lines around", `\n  \n${bare}\n\n`],
    ["CRLF", bare.replaceAll("\n", "\r\n")],
    ["a byte order mark", `\ufeff${bare}`],
    ["a code fence", `\`\`\`diff\n${bare}\n\`\`\`\n`],
    ["a heredoc", `<<'EOF'\n${bare}\nEOF\n`],
    ["a heredoc with its command", `apply_patch <<"PATCH"\n${bare}\nPATCH`],
    ["a heredoc in a code fence", `\`\`\`\n<<EOF\n${bare}\nEOF\n\`\`\``],
    ["padded markers", bare.replaceAll(/^(\*\*\* (?:Begin|End|Update).*)$/gm, "  $1  ")],
  ] as const) {
    test(name, () => expect(onlyHunk(parsePatch(text))).toEqual(onlyHunk(parsePatch(bare))));
  }
});

describe("what is refused", () => {
  for (const [fault, text, line, at] of [
    ["empty", "", 1, ""],
    ["empty", " \n\n", 1, " "],
    ["empty", patch(), 1, "*** Begin Patch"],
    ["no begin", "hello\n*** End Patch", 1, "hello"],
    ["no end", "*** Begin Patch", 1, "*** Begin Patch"],
    ["no end", "*** Begin Patch\n*** Update File: a\n-x", 3, "-x"],
    ["text after end", `${patch("*** Delete File: a")}\n\nDone!`, 5, "Done!"],
    ["text after end", `${patch("*** Delete File: a")}\n${patch("*** Delete File: b")}`, 4, "*** Begin Patch"],
    ["unknown line", patch("*** Rename File: a"), 2, "*** Rename File: a"],
    ["unknown line", patch("*** Update File: a", "@@", "-x", "y"), 5, "y"],
    ["unknown line", patch("*** Update File: a", "@@", "-x", "\ty"), 5, "\ty"],
    ["unknown line", patch("*** Update File: a", "@@", "-x", "*** Move to: b"), 5, "*** Move to: b"],
    ["unknown line", patch("*** Update File: a", "-x", "*** End of File", "+y"), 5, "+y"],
    ["unknown line", patch("*** Delete File: a", "-x"), 3, "-x"],
    [
      "unknown line",
      patch("*** Update File: a", "-x", "\\ No newline at end of file"),
      4,
      "\\ No newline at end of file",
    ],
    ["no path", patch("*** Delete File:  "), 2, "*** Delete File:  "],
    ["no path", patch("*** Update File: a", "*** Move to:"), 3, "*** Move to:"],
    ["whitespace around path", patch("*** Delete File: a "), 2, "*** Delete File: a "],
    ["whitespace around path", patch("*** Add File:  a", "+x"), 2, "*** Add File:  a"],
    ["whitespace around path", patch("*** Update File: a\t", "@@", "-x"), 2, "*** Update File: a\t"],
    ["whitespace around path", patch("*** Update File: a", "*** Move to: b "), 3, "*** Move to: b "],
    ["add line without +", patch("*** Add File: a", "+x", "", "+y"), 5, "+y"],
    ["add line without +", patch("*** Add File: a", "x"), 3, "x"],
    ["empty line without prefix", patch("*** Update File: a", "@@", "+x", "", "+y"), 5, ""],
    ["empty hunk", patch("*** Update File: a"), 2, "*** Update File: a"],
    ["empty hunk", patch("*** Update File: a", "@@ x", "", "*** Delete File: b"), 3, "@@ x"],
    ["empty hunk", patch("*** Update File: a", "-x", "@@", "*** End of File"), 4, "@@"],
    ["nothing changes", patch("*** Update File: a", "@@", " x"), 2, "*** Update File: a"],
    ["same file twice", patch("*** Add File: a", "+x", "*** Delete File: ./a"), 4, "*** Delete File: ./a"],
    ["same file twice", patch("*** Add File: a", "+x", "*** Add File: a", "+y"), 4, "*** Add File: a"],
    ["same file twice", patch("*** Delete File: b", "*** Update File: a", "*** Move to: b"), 3, "*** Update File: a"],
    ["mixed forms", patch("--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a"), 2, "--- a/x"],
    ["mixed forms", patch("*** Update File: x", "--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a"), 3, "--- a/x"],
  ] satisfies readonly [PatchFault, string, number, string][]) {
    test(`${fault}: ${JSON.stringify(text)}`, () => expect(parsePatch(text)).toEqual({ fault, line, text: at }));
  }

  test("whatever comes in, something comes out", () => {
    const line = fc.oneof(
      fc.constantFrom("*** Begin Patch", "*** End Patch", "*** Add File: a", "*** Update File: b", "*** Move to: c"),
      fc.constantFrom("@@", "@@ x", "", " a", "-a", "+a", "*** End of File"),
      fc.constantFrom("```", "<<EOF", "EOF", "\r", "--- a", "+++ b", "a"),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), fc.boolean(), (lines, framed) => {
        const text = framed ? patch(...lines) : lines.join("\n");
        const parsed = parsePatch(text);
        if ("fault" in parsed) expect(text.split("\n")[parsed.line - 1]?.replace(/\r$/, "")).toBe(parsed.text);
        else expect(parsed.files.length).toBeGreaterThan(0);
      }),
      { numRuns: 2_000 },
    );
  });
});

test("a file that is added and updated is one file, and so is one that is deleted and added", () => {
  const added = parsePatch(patch("*** Add File: a", "+x", "*** Update File: ./a", "@@", "-x", "+y"));
  expect(added).toMatchObject({ files: [{ does: "add", path: "a", replaces: false, later: [[{ at: 5 }]] }] });
  const replaced = parsePatch(patch("*** Delete File: a", "*** Add File: a", "+x"));
  expect(replaced).toMatchObject({ files: [{ does: "add", path: "a", text: "x\n", replaces: true, later: [] }] });
});
