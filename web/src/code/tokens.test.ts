import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { languageOf } from "./languages.ts";
import { colouring, tokenLine } from "./tokens.ts";

/** `keyword:const plain: …`, without the plain ones. */
function coloured(path: string, ...lines: readonly string[]): readonly string[] {
  const colours = colouring(lines, languageOf(path));
  return lines.flatMap((_, index) =>
    colours.tokens(index).flatMap(({ kind, text }) => (kind === "plain" ? [] : [`${kind} ${text}`])),
  );
}

describe("colours", () => {
  for (const [name, path, lines, expected] of [
    [
      "keywords, names, numbers, strings, comments",
      "a.ts",
      ['const x = f("a\\"b", 0x1F); // end'],
      ["keyword const", "name f", 'string "a\\"b"', "number 0x1F", "comment // end"],
    ],
    [
      "a comment over lines",
      "a.c",
      ["int a; /* one", "two */ return b;"],
      ["keyword int", "comment /* one", "comment two */", "keyword return"],
    ],
    ["a template over lines", "a.js", ["`a", "b` + c"], ["string `a", "string b`"]],
    ["a string that is not closed ends with its line", "a.js", ["'a", "if"], ["string 'a", "keyword if"]],
    ["a property with the name of a keyword", "a.ts", ["a.delete(b)"], ["name delete"]],
    [
      "three quotes in Python",
      "a.py",
      ['"""doc', 'more"""', "def f(self):"],
      ['string """doc', 'string more"""', "keyword def", "name f", "constant self"],
    ],
    ["a lifetime in Rust is no string", "a.rs", ["fn f<'a>(x: &'a str)"], ["keyword fn", "keyword str"]],
    ["keys of JSON", "a.json", ['{"a": "b", "c": true}'], ['key "a"', 'string "b"', 'key "c"', "constant true"]],
    ["keys of YAML", "a.yml", ["name: x # why", "a#b: 1"], ["key name", "comment # why", "key b", "number 1"]],
    [
      "tags and attributes",
      "a.html",
      ['<a href="x">if</a>'],
      ["tag <a", "key href", 'string "x"', "tag >", "tag </a>"],
    ],
    ["a script end in a string stays a token", "a.js", ['"</script>"'], ['string "</script>"']],
    [
      "headings and code of Markdown",
      "README.md",
      ["# Title", "a `b` c", "```sh", "x", "```", "y"],
      ["keyword # Title", "string `b`", "comment ```sh", "string x", "comment ```"],
    ],
    ["SQL in capitals", "a.sql", ["SELECT * FROM t -- all"], ["keyword SELECT", "keyword FROM", "comment -- all"]],
    ["an ending nobody knows", "a.xyz", ["if 1"], []],
    ["a name without an ending", "Makefile", ["if x # y"], ["keyword if", "comment # y"]],
  ] as const) {
    test(name, () => expect(coloured(path, ...lines)).toEqual(expected));
  }

  test("every character is in one token, whatever the language and the state", () => {
    const paths = ["a.ts", "a.py", "a.html", "a.json", "a.yml", "a.md", "a.sh", "a.sql", "a.rs", "a.lua", "a.css", "a"];
    const line = fc.oneof(
      fc.string({ unit: "binary", maxLength: 60 }),
      fc
        .array(
          fc.constantFrom('"', "'", "`", "/*", "*/", "//", "#", "\\", "<", ">", "<!--", "a", "=", ":", " ", "0x", "-"),
          { maxLength: 40 },
        )
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.array(line, { maxLength: 4 }), (path, lines) => {
        let state: ReturnType<typeof tokenLine>["after"];
        for (const text of lines) {
          const { tokens, after } = tokenLine(text, languageOf(path), state);
          expect(tokens.map((token) => token.text).join("")).toBe(text);
          state = after;
        }
      }),
    );
  });

  test("a line that nobody reads is left plain", () => {
    expect(tokenLine("if ".repeat(1_000), languageOf("a.ts"), undefined).tokens).toHaveLength(1);
  });
});
