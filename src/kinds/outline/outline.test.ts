/** Outlines of every language that there is a grammar for, and of files that are meant to break the parser. */

import { describe, expect, test } from "vitest";
import { grammars, type OutlineLanguage, outlineLanguageOf } from "./languages.ts";
import { packageFiles, runInWorker } from "../worker/host.ts";
import { outlineOf } from "./outline.ts";

const never = new AbortController().signal;

async function linesOf(language: OutlineLanguage, text: string): Promise<readonly string[]> {
  const outline = await outlineOf(text, language, never);
  if (outline.is !== "outline") throw new Error(`no outline: ${JSON.stringify(outline)}`);
  expect(outline.total).toBe(outline.items.length);
  return outline.items.map(([name, kind, from, to, depth]) => `${"  ".repeat(depth)}${from}-${to} ${kind} ${name}`);
}

const table: Readonly<Record<OutlineLanguage, readonly [text: string, items: readonly string[]]>> = {
  typescript: [
    `import { a } from "a";
export interface Shape<T> {
  area(): number;
  readonly size: T;
}
export type Point = { x: number };
export const limit = 10, other = 2;
@decorated({
  with: "a call",
})
export abstract class Square implements Shape<number> {
  size = 1;
  #cache = new Map();
  grow = (by: number) => {
    const inner = by;
    return inner;
  };
  constructor(readonly side: number) {}
  get half() { return 1; }
  abstract later(): void;
  static async *walk() {
    function step() {}
    const leap = () => 1;
  }
}
export default function main() {}
declare module "there" {
  export function given(): void;
}
namespace Inner {
  export enum Colour { red }
  const hidden = 1;
}
describe("a suite", () => {
  it("has a test", async () => {
    const no = 1;
  });
  it.each([1])("%s", () => {});
});
app.get("/path", async function (request) {});
`,
    [
      "2-5 interface Shape",
      "  3-3 method area",
      "6-6 type Point",
      "7-7 variable limit",
      "7-7 variable other",
      "8-25 class Square",
      "  14-17 method grow",
      "  18-18 method constructor",
      "  19-19 method half",
      "  20-20 method later",
      "  21-24 method walk",
      "    22-22 function step",
      "    23-23 function leap",
      "26-26 function main",
      '27-29 module "there"',
      "  28-28 function given",
      "30-33 namespace Inner",
      "  31-31 enum Colour",
      "  32-32 variable hidden",
      '34-39 call describe("a suite")',
      '  35-37 call it("has a test")',
      '40-40 call app.get("/path")',
    ],
  ],
  typescriptreact: [
    `export const Button = ({ label }: Props) => <button>{label}</button>;
export function Page(): JSX.Element {
  return <main><Button label="a" /></main>;
}
`,
    ["1-1 function Button", "2-4 function Page"],
  ],
  javascript: [
    `"use strict";
const { a, b } = require("x");
var old = function () {};
class Tree extends Node {
  static count = 0;
  walk = () => {};
  *steps() {}
}
module.exports = { Tree };
function* numbers() {}
`,
    ["3-3 function old", "4-8 class Tree", "  6-6 method walk", "  7-7 method steps", "10-10 function numbers"],
  ],
  python: [
    `import os
LIMIT: int = 3
@decorated
@twice(
    1)
class Tree(Base):
    size = 1

    @property
    def depth(self) -> int:
        def inner():
            pass
        local = 1
        return 1

    async def walk(self): ...

def main(): pass
if True:
    def later(): pass
`,
    [
      "2-2 variable LIMIT",
      "3-16 class Tree",
      "  9-14 method depth",
      "    11-12 function inner",
      "  16-16 method walk",
      "18-18 function main",
      "20-20 function later",
    ],
  ],
  go: [
    `package main

import "fmt"

const (
	First = iota
	Second
)
var Default = Tree{}

type (
	Tree struct {
		left *Tree
	}
	Walker interface {
		Walk(t *Tree) error
	}
)
type Name = string

func (t *Tree) Walk() error {
	local := 1
	_ = local
	return nil
}
func (List[T]) Len() int { return 0 }
func main() { fmt.Println() }
`,
    [
      "6-6 constant First",
      "7-7 constant Second",
      "9-9 variable Default",
      "12-14 struct Tree",
      "15-17 interface Walker",
      "  16-16 method Walk",
      "19-19 type Name",
      "21-25 method Tree.Walk",
      "26-26 method List.Len",
      "27-27 function main",
    ],
  ],
  rust: [
    `mod tree;
pub mod inner {
    pub const LIMIT: usize = 3;
}
#[derive(Debug)]
pub struct Tree<T> { left: Option<T> }
enum Kind { A, B }
pub trait Walk {
    fn walk(&self);
}
impl<T> Walk for Tree<T>
where
    T: Clone,
{
    fn walk(&self) {
        let local = 1;
    }
}
impl Tree<u8> { fn new() -> Self { todo!() } }
macro_rules! say { () => {} }
pub async fn main() {}
`,
    [
      "1-1 module tree",
      "2-4 module inner",
      "  3-3 constant LIMIT",
      "6-6 struct Tree",
      "7-7 enum Kind",
      "8-10 trait Walk",
      "  9-9 method walk",
      "11-18 implementation impl<T> Walk for Tree<T> where T: Clone,",
      "  15-17 method walk",
      "19-19 implementation impl Tree<u8>",
      "  19-19 method new",
      "20-20 macro say",
      "21-21 function main",
    ],
  ],
  java: [
    `package a;
@Entity
public class Tree<T> extends Base {
    private int size = 1;
    public Tree() {}
    @Override
    public int size() { return size; }
    interface Walker { void walk(); }
    enum Kind { A; int of() { return 1; } }
}
record Point(int x) { Point { } }
@interface Marked {}
`,
    [
      "2-10 class Tree",
      "  5-5 constructor Tree",
      "  6-7 method size",
      "  8-8 interface Walker",
      "    8-8 method walk",
      "  9-9 enum Kind",
      "    9-9 method of",
      "11-11 record Point",
      "  11-11 constructor Point",
      "12-12 annotation Marked",
    ],
  ],
  cpp: [
    `#include <a.h>
#define TWICE(x) ((x) * 2)
typedef struct { int x; } point_t;
struct point { int x; int (*callback)(void); };
static const int limit = 3;
int *make(struct point *of);
namespace a::b {
template <typename T>
class Tree : public Base {
 public:
  Tree();
  ~Tree() = default;
  T &get() const { return value; }
  bool operator==(const Tree &other) const;
 private:
  T value;
};
enum class Kind { a, b };
using Name = int;
}
template <typename T>
void a::b::Tree<T>::walk(int depth) {
  int local = 1;
  Tree other(1);
}
extern "C" {
int main(int argc, char **argv) {
  return 0;
}
}
`,
    [
      "2-2 macro TWICE",
      "3-3 type point_t",
      "4-4 struct point",
      "  4-4 method callback",
      "5-5 variable limit",
      "6-6 function make",
      "7-20 namespace a::b",
      "  8-17 class Tree",
      "    12-12 method ~Tree",
      "    13-13 method get",
      "    14-14 method operator==",
      "  18-18 enum Kind",
      "  19-19 type Name",
      "21-25 function a::b::Tree<T>::walk",
      "27-29 function main",
    ],
  ],
  csharp: [
    `namespace A.B;
public record Point(int X);
public class Tree<T> : Base {
    public int Size { get; set; }
    public Tree() {}
    public async Task Walk() {
        void Inner() {}
    }
    interface IWalker { void Walk(); }
    delegate void Told(int x);
}
struct Pair {}
enum Kind { A }
`,
    [
      "1-1 namespace A.B",
      "2-2 record Point",
      "3-11 class Tree",
      "  4-4 property Size",
      "  5-5 constructor Tree",
      "  6-8 method Walk",
      "    7-7 function Inner",
      "  9-9 interface IWalker",
      "    9-9 method Walk",
      "  10-10 delegate Told",
      "12-12 struct Pair",
      "13-13 enum Kind",
    ],
  ],
  ruby: [
    `module Forest
  LIMIT = 3
  class Tree < Base
    attr_reader :size
    def initialize(size)
      @size = size
    end
    def self.make = new
    def empty?
      true
    end
  end
end
def main; end
`,
    [
      "1-13 module Forest",
      "  2-2 constant LIMIT",
      "  3-12 class Tree",
      "    5-7 method initialize",
      "    8-8 method make",
      "    9-11 method empty?",
      "14-14 method main",
    ],
  ],
  php: [
    `<html><?php
namespace A\\B;
interface Walks { public function walk(): void; }
trait Grows { function grow() {} }
enum Kind: string { case A = "a"; }
final class Tree extends Base {
    public int $size = 1;
    public function __construct(private int $x) {}
    public static function make(): static { return new static(1); }
}
function main() { $inner = fn() => 1; }
?></html>
`,
    [
      "2-2 namespace A\\B",
      "3-3 interface Walks",
      "  3-3 method walk",
      "4-4 trait Grows",
      "  4-4 method grow",
      "5-5 enum Kind",
      "6-10 class Tree",
      "  8-8 method __construct",
      "  9-9 method make",
      "11-11 function main",
    ],
  ],
  shellscript: [
    `#!/bin/bash
set -e
usage() {
  echo "$0"
}
function build {
  inner() { :; }
}
`,
    ["3-5 function usage", "6-8 function build", "  7-7 function inner"],
  ],
  css: [
    `@import "a.css";
:root { --a: 1px; }
.a > b,
.c:hover { color: red; }
@media (min-width: 1px) {
  .d { color: blue; }
}
@keyframes spin { from { top: 0 } to { top: 1px } }
@font-face { font-family: A; }
`,
    [
      "2-2 rule :root",
      "3-4 rule .a > b, .c:hover",
      "5-7 rule @media (min-width: 1px)",
      "  6-6 rule .d",
      "8-8 rule @keyframes spin",
      "9-9 rule @font-face",
    ],
  ],
  markdown: [
    `---
title: "# not a heading"
---
# Filehand #

Text.

\`\`\`sh
# a comment
\`\`\`

## Install

<!--
# hidden
-->
### Deep \`code\` C#

Under
lined
-----
- a list
---
    # indented
#hashtag
# Last
`,
    ["4-25 h1 Filehand", "  12-17 h2 Install", "    17-17 h3 Deep `code` C#", "  19-25 h2 Under", "26-26 h1 Last"],
  ],
  json: [
    `{
  // a comment with "quotes" and {
  "name": "a: \\"b\\"",
  "engines": { "node": ">=20" },
  "scripts": {
    "": {
    },
    "nested": {
      "deep": [1, 2]
    }
  },
  "list": [
    1,
    { "short": true },
    {
      "long": true
    }
  ],
  key: null
}
`,
    [
      "3-3 key name",
      "4-4 key engines",
      "5-11 key scripts",
      '  6-7 key ""',
      "  8-10 key nested",
      "12-18 key list",
      "  15-17 item [2]",
      "19-19 key key",
    ],
  ],
  yaml: [
    `# a comment
name: CI # another
"on":
  push:
    branches: [main,
      "a: b"]

jobs:
  test:
    runs-on: ubuntu
    steps:
    - uses: checkout
    - name: Run
      run: |
        not: a key
        # nor a comment

    - name: Quoted
      text: "one
        two: three"
---
second: &anchor
  a: 'it''s'
  b: it's
last: x
`,
    [
      "2-2 key name",
      "3-6 key on",
      "  4-6 key push",
      "    5-6 key branches",
      "8-20 key jobs",
      "  9-20 key test",
      "    11-20 key steps",
      "      13-16 item name: Run",
      "        14-16 key run",
      "      18-20 item name: Quoted",
      "        19-20 key text",
      "22-24 key second",
      "25-25 key last",
    ],
  ],
  toml: [
    `title = "a"
list = [
  "[not]", # ]
  [1, 2],
]

[tool.poetry]
name = """
[not.a.table]
"""

[tool.poetry.dependencies] # why
a = '[x]'

[[bin]]
name = "a"
[[bin]]
name = "b"
`,
    [
      "1-1 key title",
      "2-5 key list",
      "7-13 table [tool.poetry]",
      "  12-13 table [tool.poetry.dependencies]",
      "15-16 table [[bin]]",
      "17-18 table [[bin]]",
    ],
  ],
  sql: [
    `-- CREATE TABLE comment (id int);
/* CREATE TABLE other (id int); */
CREATE TABLE IF NOT EXISTS public."my users" (
  id int, -- ;
  note text DEFAULT 'it''s; \\' fine'
);
INSERT INTO a VALUES ('CREATE TABLE no (');
create unique index concurrently by_name on users (name);
CREATE OR REPLACE FUNCTION f(a int) RETURNS int AS $body$
BEGIN
  CREATE TABLE inside (id int);
END;
$body$ LANGUAGE plpgsql;
ALTER TABLE ONLY users
  ADD COLUMN age int;
DELIMITER //
CREATE PROCEDURE p() BEGIN
  IF 1 THEN SELECT 1; END IF;
END//
DELIMITER ;
CREATE TRIGGER t AFTER INSERT ON a BEGIN
  SELECT CASE WHEN 1 THEN 2 END;
  UPDATE a SET b = 1;
END;
CREATE VIEW v AS SELECT 1
GO
SELECT 1
`,
    [
      '3-6 table public."my users"',
      "8-8 index by_name",
      "9-13 function f",
      "14-15 alter table users",
      "17-19 procedure p",
      "21-24 trigger t",
      "25-25 view v",
    ],
  ],
  html: [
    `<!DOCTYPE html>
<html>
<head>
  <title><h1>no</h1></title>
  <script>if (a < b) "<section>"</script>
</head>
<body class="a>b">
  <!-- <h1>no</h1> -->
  <h1>The <em>title</em></h1>
  <p>one
  <h2 id="x">First</h2>
  <p>text<br>
  <h2>Second</h2>
  <section id='s'>
    <h3>Deep</h3>
    <div id=plain><div></div></div>
  </section>
  <img id="dot">
</body>
</html>
`,
    [
      "3-6 head <head>",
      "  5-5 script <script>",
      "7-19 body <body>",
      "  9-18 h1 The title",
      "    11-12 h2 First",
      "    13-18 h2 Second",
      "      14-17 section #s",
      "        15-16 h3 Deep",
      "          16-16 div #plain",
    ],
  ],
  ini: ['top = 1\n[a]\nb = 1\n\n[c "d"]\ne = 2\n', ["2-3 section [a]", '5-6 section [c "d"]']],
};

describe("outline of", () => {
  for (const language of Object.keys(table) as OutlineLanguage[]) {
    test(language, async () => {
      const [text, items] = table[language];
      expect(await linesOf(language, text)).toEqual(items);
    });
  }
});

describe("a file that is meant to break the parser", () => {
  test("ten megabytes on one line", async () => {
    const outline = await outlineOf("function a(){return 1};".repeat(400_000), "javascript", never);
    // Within the limits there is an outline, beyond them a reason; never a crash or an endless wait.
    if (outline.is === "outline") expect(outline).toMatchObject({ total: 400_000, faultLine: undefined });
    else expect(outline).toMatchObject({ is: "failed", why: expect.stringMatching(/^(time|memory)$/) });
    if (outline.is === "outline") expect(outline.items).toHaveLength(20_000);
  });
  for (const [what, text] of [
    ["brackets", "(".repeat(200_000)],
    ["closed brackets", `${"[".repeat(50_000)}${"]".repeat(50_000)}`],
    ["blocks", `${"{".repeat(50_000)}${"}".repeat(50_000)}`],
    ["functions", `${"function a(){".repeat(20_000)}${"}".repeat(20_000)}`],
  ] as const) {
    test(`deep ${what}`, async () => {
      const outline = await outlineOf(text, "javascript", never);
      expect(["outline", "failed"]).toContain(outline.is);
      if (outline.is === "failed") expect(outline.why).toMatch(/^(time|memory|crash)$/);
    });
  }
  test("garbage", async () => {
    let state = 7;
    const text = Array.from({ length: 200_000 }, () => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return String.fromCharCode(state % 0xd800);
    }).join("");
    for (const language of ["typescript", "python", "cpp", "shellscript"] as const) {
      const outline = await outlineOf(text, language, never);
      expect(["outline", "failed"], language).toContain(outline.is);
    }
  });
  test("a fault costs what is broken, and its line is told", async () => {
    const text = "def a():\n    pass\n\ndef b(:\n    pass\n\ndef c():\n    pass\n";
    const outline = await outlineOf(text, "python", never);
    expect(outline).toMatchObject({ is: "outline", faultLine: 4 });
    expect(outline.is === "outline" && outline.items.map(([name]) => name)).toEqual(["a", "b", "c"]);
  });
  for (const [what, language, text] of [
    ["many steps", "shellscript", "a<".repeat(450_000)],
    // Without an end, each of them is read to the end of the text, all of them in a few steps of the parser.
    ["a few long steps", "go", "'a /* ".repeat(150_000)],
  ] as const) {
    test(`more CPU time than a program may use ends it in ${what}, long before its wall-clock time`, async () => {
      const grammar = grammars[language];
      const files = packageFiles({
        library: "web-tree-sitter",
        wasm: "web-tree-sitter/web-tree-sitter.wasm",
        grammarWasm: `@vscode/tree-sitter-wasm/wasm/tree-sitter-${grammar.wasm}.wasm`,
      });
      if (files === undefined) throw new Error("the packages are installed");
      const task = { ...files, grammar, text, itemsMax: 1, nameCharsMax: 1 };
      const result = await runInWorker("outline", task, { signal: never, msMax: 1, wallMsMax: 600_000 });
      expect(result).toMatchObject({ failed: "time", detail: "1 ms of work" });
      expect(await outlineOf("a() { :; }", "shellscript", never)).toMatchObject({ total: 1 });
    });
  }
  test("a name without end is cut, and none has a newline", async () => {
    const outline = await outlineOf(`.${"a".repeat(5_000)},\n.b { top: 0 }`, "css", never);
    expect(outline.is === "outline" && outline.items.map(([name]) => name.length)).toEqual([121]);
  });
  test("who cancels does not wait", async () => {
    const stop = new AbortController();
    const going = outlineOf("let a = [".repeat(100_000), "javascript", stop.signal);
    stop.abort(new Error("enough"));
    await expect(going).rejects.toThrow("enough");
    expect(await outlineOf("let a = 1", "javascript", never)).toMatchObject({ total: 1 });
  });
});

describe("the language", () => {
  for (const [path, firstLine, language] of [
    ["/a/b.ts", "", "typescript"],
    ["/a/b.d.mts", "", "typescript"],
    ["/a/B.TSX", "", "typescriptreact"],
    ["/a/x.h", "", "cpp"],
    ["/a/Rakefile", "", "ruby"],
    ["/a/constructor", "", undefined],
    ["/a/run", "#!/bin/sh -e", "shellscript"],
    ["/a/run", "#!/usr/bin/env python3", "python"],
    ["/a/run", "#!/usr/bin/env -S NODE_ENV=x node --flag", "javascript"],
    ["/a/run", "#!/usr/bin/perl", undefined],
    ["/a/run.py", "#!/usr/bin/env node", "python"],
    ["/a/notes.txt", "", undefined],
    ["/a/README.md", "", "markdown"],
    ["/a/Cargo.lock", "", "toml"],
    ["/a/package-lock.json", "", "json"],
    ["/a/.ts", "", undefined],
  ] as const) {
    test(`of ${path} ${firstLine}`, () => {
      expect(outlineLanguageOf(path, firstLine)).toBe(language);
    });
  }
});
