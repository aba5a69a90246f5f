/** Changing files with the built command line: each command in real, wrong and huge input, and who is asked. */

import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { commandLine, type Ran, run, temporaryFolder } from "./run.ts";
import { hasTerminal, typing as typeAnswers } from "./terminal.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const workspace = join(folder.path, "workspace");
const home = join(folder.path, "home");
const file = (name: string): string => join(workspace, name);
const text = (name: string): string => readFileSync(file(name), "utf8");
const put = (name: string, content: string | Uint8Array): void => writeFileSync(file(name), content);

const notebook = (source: string): string =>
  `${JSON.stringify(
    {
      cells: [{ cell_type: "code", execution_count: null, id: "c1", metadata: {}, outputs: [], source: [source] }],
      metadata: {},
      nbformat: 4,
      nbformat_minor: 5,
    },
    null,
    1,
  )}\n`;

beforeEach(() => {
  rmSync(workspace, { recursive: true, force: true });
  for (const path of [workspace, home]) mkdirSync(path, { recursive: true });
  put("a.txt", "one\ntwo\nthree\n");
  put("n.ipynb", notebook("print(1)"));
  put(".env", "KEY=value\n");
});

interface Where {
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

const filehand = (args: readonly string[], { input = "", env = {} }: Where = {}): Promise<Ran> =>
  run(process.execPath, [commandLine, ...args], { cwd: workspace, input, env: { HOME: home, ...env } });

const twoToTwo = ["edit", "a.txt", "--old", "two", "--new", "TWO"] as const;
const diff = "a.txt\n+1 -1\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n\n";
const done = 'Edited "a.txt": 1 replacement at line 2 (+1 -1).\n';
const patch = (...lines: readonly string[]): string => `${["*** Begin Patch", ...lines, "*** End Patch"].join("\n")}\n`;

describe("edit", () => {
  test("the diff and what was done go to stdout", async () => {
    expect(await filehand([...twoToTwo, "--yes"])).toEqual({ code: 0, stdout: diff + done, stderr: "" });
    expect(text("a.txt")).toBe("one\nTWO\nthree\n");
  });

  test("every place", async () => {
    expect(await filehand(["edit", "a.txt", "--old", "e", "--new", "$&", "--all", "--yes"])).toMatchObject({ code: 0 });
    expect(text("a.txt")).toBe("on$&\ntwo\nthr$&$&\n");
  });

  test("texts come from files and from standard input, to the letter", async () => {
    put("old.txt", "two\n");
    const args = ["edit", "a.txt", "--old-file", "old.txt", "--new-file", "-", "--yes"];
    // Blanks at the ends stay; a new line takes the line end of the lines around it.
    expect(await filehand(args, { input: "  2 \t\r\n" })).toMatchObject({ code: 0, stderr: "" });
    expect(text("a.txt")).toBe("one\n  2 \t\nthree\n");
  });

  test("several edits are made together or not at all", async () => {
    const good = [
      { old: "one", new: "1" },
      { old: "e", new: "E", all: true },
    ];
    put("edits.json", JSON.stringify(good));
    expect(await filehand(["edit", "a.txt", "--edits", "edits.json", "--yes"])).toMatchObject({ code: 0 });
    expect(text("a.txt")).toBe("1\ntwo\nthrEE\n");
    const bad = JSON.stringify([...good, { old: "1", new: "uno" }]);
    const ran = await filehand(["edit", "a.txt", "--edits", "-", "--yes"], { input: bad });
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(text("a.txt")).toBe("1\ntwo\nthrEE\n");
  });

  test("an empty old text makes a file", async () => {
    const ran = await filehand(["edit", "new/b.txt", "--old", "", "--new", "hello\n", "--yes"]);
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(ran.stdout).toMatch(/^new\/b\.txt\n\+1 -0\n/);
    expect(text("new/b.txt")).toBe("hello\n");
  });

  test("a match that is not exact is noted, once", async () => {
    put("i.txt", "a {\n\tb\n\tc\n}\n");
    const ran = await filehand(["edit", "i.txt", "--old", "    b\n    c", "--new", "    B\n    C", "--yes"]);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toMatch(/\(\+2 -2\)\.\nThe old text was found,? with another indentation\.\n$/);
    expect(text("i.txt")).toBe("a {\n\tB\n\tC\n}\n");
  });

  for (const [name, args, message] of [
    ["a text that is not there", ["--old", "zwei", "--new", "2"], /^Cannot edit "a\.txt": the old text was not found/],
    ["a text in several places", ["--old", "e", "--new", "E"], /fits 3 places .* or give --all\n$/],
    ["the same text twice", ["--old", "two", "--new", "two"], /the old text and the new text are the same/],
  ] as const) {
    test(`${name} is refused in words for people`, async () => {
      const ran = await filehand(["edit", "a.txt", ...args, "--yes"]);
      expect(ran).toMatchObject({ code: 1, stdout: "" });
      expect(ran.stderr).toMatch(message);
      expect(text("a.txt")).toBe("one\ntwo\nthree\n");
    });
  }

  test("of a file with the words of a call in it, the words stay", async () => {
    put("old_string.txt", "old_string = 1\n");
    const ran = await filehand(["edit", "old_string.txt", "--old", "old_string = 2", "--new", "x", "--yes"]);
    expect(ran.stderr).toContain('Cannot edit "old_string.txt": the old text was not found');
    expect(ran.stderr).toContain("1→old_string = 1");
  });

  test("a file of 60 MB, and a line of 100,000 characters", async () => {
    const line = "0123456789 some line of text\n";
    put("big.txt", `${line.repeat(2_000_000)}the needle\n${line}`);
    const ran = await filehand(["edit", "big.txt", "--old", "the needle", "--new", "found", "--yes"]);
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(ran.stdout).toContain("-the needle\n+found\n");
    expect(statSync(file("big.txt")).size).toBe(line.length * 2_000_001 + "found\n".length);
    put("long.txt", `${"x".repeat(50_000)}NEEDLE${"y".repeat(50_000)}\n`);
    const long = await filehand(["edit", "long.txt", "--old", "NEEDLE", "--new", "found", "--yes"]);
    expect(long.stdout).toMatch(/^-…x+NEEDLEy+… .*\n\+…x+foundy+… /m);
    expect(long.stdout.length).toBeLessThan(6_000);
  });
});

describe("write", () => {
  for (const [name, args, input, content] of [
    ["from the command line", ["--content", "hello\n"], "", "hello\n"],
    ["from standard input, line ends as sent", [], "a\r\nb\r\n", "a\r\nb\r\n"],
    ["from a file, with its mark", ["--from", "a.txt"], "", "\ufeffone\n"],
    ["nothing at all, if that is said", ["--content", ""], "", ""],
  ] as const) {
    test(name, async () => {
      put("a.txt", "\ufeffone\n");
      const ran = await filehand(["write", "deep/b.txt", ...args, "--yes"], { input });
      expect(ran).toMatchObject({ code: 0, stderr: "" });
      expect(ran.stdout).toContain('Created "deep/b.txt"');
      expect(text("deep/b.txt")).toBe(content);
    });
  }

  test("an old file is compared with the new one", async () => {
    const ran = await filehand(["write", "a.txt", "--yes"], { input: "one\nTWO\nthree\n" });
    expect(ran).toEqual({ code: 0, stdout: `${diff}Wrote "a.txt" (+1 -1).\n`, stderr: "" });
    const again = await filehand(["write", "a.txt", "--yes"], { input: "one\nTWO\nthree\n" });
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("nothing was written") as string });
  });

  test("a file that changes in more lines than are shown is reported by its counts", async () => {
    put("long.txt", "old\n".repeat(6_000));
    const ran = await filehand(["write", "long.txt", "--yes"], { input: "new\n".repeat(7_000) });
    const shown = "long.txt\n+7000 -6000\n(13000 more changed lines not shown)\n\n";
    expect(ran).toEqual({ code: 0, stdout: `${shown}Wrote "long.txt" (+7000 -6000).\n`, stderr: "" });
  });

  test("for a file too large to compare no counts are shown", async () => {
    put("large.txt", "0123456789\n".repeat(3_100_000));
    const ran = await filehand(["write", "large.txt", "--content", "x", "--dry-run"]);
    const would = 'Dry run, nothing was written. Would write "large.txt" (lines not counted).\n';
    expect(ran).toEqual({ code: 0, stdout: would, stderr: "" });
  });

  for (const lines of [4_000, 300_000]) {
    test(`a file of ${lines} lines is written whole, and its diff is cut short`, async () => {
      put("huge.txt", "0123456789\n".repeat(lines));
      const ran = await filehand(["write", "copy.txt", "--from", "huge.txt", "--yes"]);
      expect(ran).toMatchObject({ code: 0, stderr: "" });
      expect(text("copy.txt")).toBe(text("huge.txt"));
      expect(ran.stdout.split("\n").length).toBeLessThan(2_100);
      expect(ran.stdout).toMatch(new RegExp(`^copy\\.txt\n\\+${lines} -0\n`));
      expect(ran.stdout).toMatch(/\(\d+ more changed lines not shown\)\n/);
    });
  }
});

describe("the report of a change", () => {
  test("the diff of a moved file has both of its names", async () => {
    const input = patch("*** Update File: a.txt", "*** Move to: b.txt", "@@", "-two", "+2");
    for (const dialect of ["envelope", "opencode"]) {
      const { stdout } = await filehand(["patch", "--dry-run", "--json", "--dialect", dialect], { input });
      const names = "diff --git a/a.txt b/b.txt\\nrename from a.txt\\nrename to b.txt\\n--- a/a.txt\\n+++ b/b.txt\\n";
      expect(stdout).toContain(`"diff":"${names}@@ -1,3 +1,3 @@\\n`);
    }
  });

  test("lines that a loose match left are shown as Read shows them, whatever their ends are", async () => {
    put("a.txt", "“q”\n-\r\nx\r\nlast\r");
    const input = { file_path: "a.txt", old_string: '"q"\n-', new_string: '"p"\n-' };
    const ran = await filehand(["call", "Edit", JSON.stringify(input), "--no-read-first", "--yes"]);
    expect(ran.stdout).toMatch(/:\n1\t“p”\n2\t-\n3\tx\n4\tlast\r?\n$/);
    const { stdout } = await filehand(["call", "Read", '{"file_path": "a.txt"}']);
    expect(ran.stdout.endsWith(`\n${stdout.split("\n\n<system-reminder>", 1)[0]}\n`)).toBe(true);
  });
});

test("a program gets all of a diff or none of it", async () => {
  put("long.txt", Array.from({ length: 8_000 }, (_, at) => `${at % 8 === 0 ? "x" : at}\n`).join(""));
  const input = { file_path: "long.txt", old_string: "x\n", new_string: "y\n", replace_all: true };
  const ran = await filehand(["call", "Edit", JSON.stringify(input), "--no-read-first", "--yes", "--json"]);
  expect(JSON.parse(ran.stdout)).toMatchObject({
    content: [{ text: 'Edited "long.txt": 1000 replacements (+1000 -1000).' }],
    structured: { structuredPatch: [] },
  });
});

describe("a path that ends with a separator", () => {
  for (const [name, args, input] of [
    ["write", ["write", "sub/", "--content", "x"], ""],
    ["write with a dot", ["write", "sub/.", "--content", "x"], ""],
    ["edit", ["edit", "sub/", "--old", "", "--new", "x"], ""],
    ["a patch that adds", ["patch"], patch("*** Add File: sub/", "+new")],
    ["a patch that moves", ["patch"], patch("*** Update File: a.txt", "*** Move to: sub/", "@@", "-two", "+2")],
  ] as const) {
    test(`names a folder, so ${name} makes no file of it`, async () => {
      const ran = await filehand([...args, "--yes"], { input });
      expect(ran).toMatchObject({ code: 1, stdout: "" });
      expect(ran.stderr).toMatch(/"sub\/\.?": a path that ends with a separator .* names a folder/);
      expect(existsSync(file("sub"))).toBe(false);
      expect(text("a.txt")).toBe("one\ntwo\nthree\n");
    });
  }

  test("is the slip it looks like if the file is there", async () => {
    expect(await filehand(["write", "a.txt/", "--content", "x", "--yes"])).toMatchObject({ code: 0 });
    expect(text("a.txt")).toBe("x");
  });
});

describe("patch", () => {
  const several = patch(
    "*** Update File: a.txt",
    "@@",
    " one",
    "-two",
    "+TWO",
    "*** Add File: b/new.txt",
    "+new",
    "*** Delete File: gone.txt",
    "*** Update File: from.txt",
    "*** Move to: to.txt",
    "@@",
    "-x",
    "+X",
  );

  test("several files, from a file or from standard input", async () => {
    for (const [args, input] of [
      [["patch", "change.patch"], ""],
      [["patch"], several],
      [["patch", "-"], several],
    ] as const) {
      rmSync(file("b"), { recursive: true, force: true });
      rmSync(file("to.txt"), { force: true });
      for (const [name, content] of [
        ["a.txt", "one\ntwo\nthree\n"],
        ["gone.txt", "gone\n"],
        ["from.txt", "x\n"],
        ["change.patch", several],
      ] as const)
        put(name, content);
      const ran = await filehand([...args, "--yes"], { input });
      expect(ran).toMatchObject({ code: 0, stderr: "" });
      expect(ran.stdout.startsWith(diff)).toBe(true);
      expect(ran.stdout).toContain("\nfrom.txt -> to.txt\n+1 -1\n");
      expect(ran.stdout).toMatch(
        /\nUpdated "a\.txt" \(\+1 -1\)\.\nAdded "b\/new\.txt" .*\nDeleted "gone\.txt" .*\nMoved /,
      );
      expect([text("a.txt"), text("b/new.txt"), text("to.txt")]).toEqual(["one\nTWO\nthree\n", "new\n", "X\n"]);
      expect(statSync(file("gone.txt"), { throwIfNoEntry: false })).toBeUndefined();
    }
  });

  test("one section that does not fit leaves every file alone", async () => {
    const input = patch("*** Add File: new.txt", "+new", "*** Update File: a.txt", "@@", "-zwei", "+2");
    expect(await filehand(["patch", "--yes"], { input })).toMatchObject({ code: 1, stdout: "" });
    expect(text("a.txt")).toBe("one\ntwo\nthree\n");
    expect(statSync(file("new.txt"), { throwIfNoEntry: false })).toBeUndefined();
  });

  test("a unified diff is taken from standard input, from a file and with --unified", async () => {
    const input = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n";
    expect(await filehand(["patch", "--yes"], { input })).toMatchObject({ code: 0 });
    expect(text("a.txt")).toBe("1\ntwo\nthree\n");
    put("p.diff", "--- a/a.txt\n+++ b/a.txt\n@@ -2 +2 @@\n-two\n+2\n");
    expect(await filehand(["patch", "p.diff", "--yes"])).toMatchObject({ code: 0 });
    put("p.diff", "diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n");
    const ran = await filehand(["patch", "--unified", "p.diff", "--yes"]);
    expect(ran).toMatchObject({ code: 0 });
    expect(ran.stdout).toContain("The file is executable now.");
    expect(text("a.txt")).toBe("1\n2\nthree\n");
    expect(await filehand(["patch", "p.diff", "--unified", "p.diff"])).toMatchObject({ code: 2, stdout: "" });
  });

  test("a binary diff is refused, and nothing is changed", async () => {
    const input =
      "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\ndiff --git a/i.png b/i.png\nBinary files a/i.png and b/i.png differ\n";
    const ran = await filehand(["patch", "--yes"], { input });
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain("it changes a file that is not text");
    expect(text("a.txt")).toBe("one\ntwo\nthree\n");
  });
});

describe("notebook-edit", () => {
  const cells = (): readonly { readonly source: unknown; readonly cell_type: string }[] =>
    (JSON.parse(text("n.ipynb")) as { cells: { source: unknown; cell_type: string }[] }).cells;

  test("a cell is replaced, inserted and deleted", async () => {
    const replaced = await filehand(["notebook-edit", "n.ipynb", "--cell", "c1", "--source", "print(2)", "--yes"]);
    expect(replaced).toMatchObject({ code: 0, stderr: "" });
    expect(replaced.stdout).toContain('Replaced code cell "c1" (cell 1) in "n.ipynb".');
    expect(text("n.ipynb")).toBe(notebook("print(2)"));
    const insert = ["notebook-edit", "n.ipynb", "--edit-mode", "insert", "--type", "markdown", "--yes"];
    expect(await filehand(insert, { input: "# Title" })).toMatchObject({ code: 0, stderr: "" });
    expect(cells()).toMatchObject([{ cell_type: "markdown" }, { cell_type: "code" }]);
    const remove = await filehand(["notebook-edit", "n.ipynb", "--cell", "c1", "--edit-mode", "delete", "--yes"]);
    expect(remove).toMatchObject({ code: 0, stderr: "" });
    expect(cells()).toHaveLength(1);
  });

  test("a cell that is not there, and a file that is no notebook", async () => {
    const unknown = await filehand(["notebook-edit", "n.ipynb", "--cell", "zz", "--source", "x", "--yes"]);
    expect(unknown).toMatchObject({ code: 1, stdout: "" });
    expect(unknown.stderr).toContain('there is no cell "zz", it has "c1"');
    const other = await filehand(["notebook-edit", "a.txt", "--cell", "c1", "--source", "x", "--yes"]);
    expect(other).toMatchObject({ code: 1, stdout: "" });
  });
});

describe("wrong usage ends with 2 and changes nothing", () => {
  const e = ["edit", "a.txt", "--yes"] as const;
  for (const [name, args, message, input] of [
    ["no old text", [...e, "--new", "x"], /--old or --old-file is missing/],
    ["no new text", [...e, "--old", "x"], /--new or --new-file is missing/],
    ["the old text twice", [...e, "--old", "x", "--old-file", "y", "--new", "z"], /either --old or --old-file/],
    ["the new text twice", [...e, "--old", "x", "--new-file", "a.txt", "--new", "z"], /either --new or --new-file/],
    [
      "standard input twice",
      [...e, "--old-file", "-", "--new-file", "-"],
      /Only one of --old-file and --new-file can be -/,
    ],
    ["a file that is not there", [...e, "--old-file", "none", "--new", "z"], /Cannot read "none": it does not exist/],
    ["a folder for a file", [...e, "--old-file", ".", "--new", "z"], /Cannot read "\.": it is not a regular file/],
    ["a list and a text", [...e, "--edits", "x.json", "--old", "x"], /either --edits or --old/],
    ["a list and --all", [...e, "--edits", "x.json", "--all"], /either --edits or --all/],
    ["a list that is not JSON", [...e, "--edits", "a.txt"], /--edits is not valid JSON/],
    ["a list that is none", [...e, "--edits", "-"], /must be a list/, "{}"],
    ["an empty list", [...e, "--edits", "-"], /at least one/, "[]"],
    ["an edit that is none", [...e, "--edits", "-"], /Edit 1 of --edits must be/, "[7]"],
    ["an edit without its new text", [...e, "--edits", "-"], /Edit 1 of --edits must have "new"/, '[{"old":"a"}]'],
    ["an edit with another key", [...e, "--edits", "-"], /the key "old_string"/, '[{"old_string":"a","new":"b"}]'],
    ["content twice", ["write", "a.txt", "--content", "x", "--from", "a.txt"], /either --content or --from/],
    ["no content", ["write", "a.txt", "--yes"], /Standard input is empty/],
    ["content from nowhere", ["write", "a.txt", "--from", "none", "--yes"], /Cannot read "none": it does not exist/],
    ["content that is not UTF-8", ["write", "a.txt", "--from", "bytes", "--yes"], /"bytes": it is not text in UTF-8/],
    ["content with zeros", ["write", "a.txt", "--yes"], /standard input: it is not text, byte 2 is zero/, "a\0b"],
    ["an empty patch", ["patch", "--yes"], /The patch is empty/, " \n"],
    ["a patch from nowhere", ["patch", "none", "--yes"], /Cannot read "none"/],
    ["no cell", ["notebook-edit", "n.ipynb", "--source", "x"], /--cell is missing/],
    [
      "a mode that is none",
      ["notebook-edit", "n.ipynb", "--edit-mode", "drop"],
      /one of replace, insert, delete, not "drop"/,
    ],
    ["a type that is none", ["notebook-edit", "n.ipynb", "--cell", "c1", "--type", "x"], /one of code, markdown, raw/],
    [
      "a source to delete",
      ["notebook-edit", "n.ipynb", "--cell", "c1", "--edit-mode", "delete", "--source", "x"],
      /does not go/,
    ],
    ["no source", ["notebook-edit", "n.ipynb", "--cell", "c1"], /Standard input is empty/],
  ] as const) {
    test(name, async () => {
      put("bytes", Uint8Array.of(0x61, 0xff, 0xfe));
      const before = ["a.txt", "n.ipynb"].map((path) => statSync(file(path)).mtimeMs);
      const ran = await filehand(args, { input: input ?? "" });
      expect(ran).toMatchObject({ code: 2, stdout: "" });
      expect(ran.stderr).toMatch(message);
      expect(["a.txt", "n.ipynb"].map((path) => statSync(file(path)).mtimeMs)).toEqual(before);
    });
  }
});

describe("dry run", () => {
  for (const [name, args, input, would] of [
    ["edit", twoToTwo, "", 'Would edit "a.txt": 1 replacement at line 2 (+1 -1).'],
    ["write", ["write", "a.txt"], "other\n", 'Would write "a.txt" (+1 -3).'],
    ["write", ["write", "new.txt"], "other\n", 'Would create "new.txt" (+1 -0).'],
    [
      "patch",
      ["patch"],
      patch("*** Update File: a.txt", "@@", "-two", "+2", "*** Add File: b/c.txt", "+new"),
      'Would update "a.txt" (+1 -1).\nWould add "b/c.txt" (+1 -0).',
    ],
    [
      "notebook-edit",
      ["notebook-edit", "n.ipynb", "--cell", "c1", "--source", "print(2)"],
      "",
      'Would replace code cell "c1" (cell 1) in "n.ipynb".',
    ],
  ] as const) {
    test(`${[name, ...args.slice(1, 2)].join(" ")} shows its diff, asks no question and writes nothing`, async () => {
      const before = ["a.txt", "n.ipynb", "."].map((path) => statSync(file(path)).mtimeMs);
      const ran = await filehand([...args, "--dry-run"], { input });
      expect(ran).toMatchObject({ code: 0, stderr: "" });
      expect(ran.stdout).toMatch(/^@@ /m);
      expect(ran.stdout).toMatch(/^Dry run, nothing was written\.[ \n]Would /m);
      expect(ran.stdout).toContain(would);
      expect(["a.txt", "n.ipynb", "."].map((path) => statSync(file(path)).mtimeMs)).toEqual(before);
    });
  }

  test("what would not work ends with 1", async () => {
    expect(await filehand(["edit", "a.txt", "--old", "zwei", "--new", "2", "--dry-run"])).toMatchObject({ code: 1 });
    expect(await filehand([...twoToTwo, "--dry-run", "--deny", "Edit(a.txt)"])).toMatchObject({ code: 1, stdout: "" });
  });

  test("a secret is not shown by way of its diff", async () => {
    const ran = await filehand(["edit", ".env", "--old", "KEY", "--new", "K", "--dry-run"]);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain("Read(/.env) would allow it");
    expect(ran.stderr).not.toContain("value");
  });
});

describe("calls of models", () => {
  const input = { file_path: "a.txt", old_string: "two", new_string: "TWO" };

  test("call counts as having read nothing, unless reading first is off", async () => {
    const args = ["call", "Edit", JSON.stringify(input), "--yes"];
    const refused = await filehand(args);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("was not read in this session");
    expect(await filehand([...args, "--no-read-first", "--dry-run"])).toMatchObject({ code: 0 });
    expect(text("a.txt")).toContain("two");
    expect(await filehand([...args, "--no-read-first"])).toMatchObject({ code: 0, stdout: done });
    expect(text("a.txt")).toContain("TWO");
  });

  test("batch remembers what it has read, and a dry run writes nothing", async () => {
    const edit = JSON.stringify({ id: "edit", tool: "Edit", input });
    const read = JSON.stringify({ id: "read", tool: "Read", input: { file_path: "a.txt" } });
    const batch = async (lines: readonly string[], ...args: readonly string[]) => {
      const { stdout } = await filehand(["batch", "--yes", ...args], { input: `${lines.join("\n")}\n` });
      return stdout
        .trimEnd()
        .split("\n")
        .map((line) => (JSON.parse(line) as { reply: { isError: boolean } }).reply.isError);
    };
    expect(await batch([edit])).toEqual([true]);
    expect(await batch([edit], "--no-read-first", "--dry-run")).toEqual([false]);
    expect(await batch([read, edit], "--dry-run")).toEqual([false, false]);
    expect(text("a.txt")).toContain("two");
    expect(await batch([read, edit])).toEqual([false, false]);
    expect(text("a.txt")).toContain("TWO");
  });
});

describe("replies for programs", () => {
  test("--json is the reply, whole", async () => {
    const ran = await filehand([...twoToTwo, "--yes", "--json"]);
    expect({ ...ran, stdout: JSON.parse(ran.stdout) as unknown }).toEqual({
      code: 0,
      stdout: {
        content: [{ type: "text", text: done.trimEnd() }],
        structured: {
          filePath: file("a.txt"),
          oldString: "two",
          newString: "TWO",
          originalFile: "one\ntwo\nthree\n",
          structuredPatch: [
            { oldStart: 1, oldLines: 3, newStart: 1, newLines: 3, lines: [" one", "-two", "+TWO", " three"] },
          ],
          userModified: false,
          replaceAll: false,
          matchedBy: "exact",
        },
        isError: false,
      },
      stderr: "",
    });
    const bad = await filehand([...twoToTwo, "--yes", "--json"]);
    expect(bad).toMatchObject({ code: 1, stderr: "" });
    expect(JSON.parse(bad.stdout)).toMatchObject({ isError: true });
  });

  test("--dialect selects the wording", async () => {
    const ran = await filehand([...twoToTwo, "--yes", "--dialect", "opencode"]);
    expect(ran).toEqual({ code: 0, stdout: "Edit applied successfully.\n", stderr: "" });
  });
});

describe("settings", () => {
  const withSettings = (values: object, of: "user" | "project") => {
    const config = join(folder.path, "config", "filehand");
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, "filehand.jsonc"), of === "user" ? JSON.stringify(values) : "{}");
    if (of === "project") put("filehand.jsonc", JSON.stringify(values));
    return { env: { XDG_CONFIG_HOME: join(folder.path, "config") } };
  };
  const call = ["call", "Edit", '{"file_path":"a.txt","old_string":"two","new_string":"TWO"}', "--yes"];

  test("readFirst is the user's", async () => {
    const project = await filehand(call, withSettings({ readFirst: false }, "project"));
    expect(project).toMatchObject({ code: 1 });
    expect(project.stderr).toContain(`"readFirst" here: it belongs in the user's own settings`);
    rmSync(file("filehand.jsonc"));
    expect(await filehand(call, withSettings({ readFirst: false }, "user"))).toMatchObject({ code: 0, stderr: "" });
  });

  test("editBytesMax is a limit for people too", async () => {
    const ran = await filehand([...twoToTwo, "--yes"], withSettings({ editBytesMax: 5 }, "user"));
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain("5 bytes");
  });

  test("a project may keep its line ends", async () => {
    put("a.txt", "one\r\ntwo\r\n");
    const where = { ...withSettings({ writeEol: "keep" }, "project"), input: "one\nTWO\n" };
    expect(await filehand(["write", "a.txt", "--yes"], where)).toMatchObject({ code: 0, stderr: "" });
    expect(text("a.txt")).toBe("one\r\nTWO\r\n");
  });
});

describe("permission", () => {
  test("without a person to ask the refusal names a rule that would allow the change, and that rule does", async () => {
    const refused = await filehand(twoToTwo);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    const rule = /the rule (Edit\([^ ]+\)) would allow it \(--allow\), or answer with --yes\n$/.exec(
      refused.stderr,
    )?.[1];
    expect(text("a.txt")).toContain("two");
    expect(await filehand([...twoToTwo, "--allow", rule ?? ""])).toMatchObject({ code: 0, stdout: diff + done });
  });

  test("--yes lifts no deny and opens no border", async () => {
    expect(await filehand([...twoToTwo, "--yes", "--deny", "Edit"])).toMatchObject({ code: 1, stdout: "" });
    const outside = ["write", join(folder.path, "x.txt"), "--content", "x", "--yes", "--allow", "Edit"];
    expect(await filehand(outside)).toMatchObject({ code: 1, stdout: "" });
    expect(statSync(join(folder.path, "x.txt"), { throwIfNoEntry: false })).toBeUndefined();
  });
});

describe("on a terminal", () => {
  if (!hasTerminal) {
    test.skip("needs util-linux's script to make one");
    return;
  }
  const typing = (
    answers: readonly string[],
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<Pick<Ran, "code" | "stdout">> =>
    typeAnswers(answers, args, { cwd: workspace, env: { HOME: home, ...env } });
  const question = "[y/N/always/?]";

  test("the diff is shown once, in colour, and yes applies it", async () => {
    const ran = await typing(["y\n"], twoToTwo);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain("\x1b[31m-two\x1b[39m");
    expect(ran.stdout.split("+TWO")).toHaveLength(2);
    expect(ran.stdout).toContain(question);
    expect(text("a.txt")).toContain("TWO");
  });

  for (const [name, typed] of [
    ["no", ["n\n"]],
    ["an empty line", ["\n"]],
    ["something else", ["what?\n"]],
    ["the end of input", []],
    ["Ctrl-C", ["\x03"]],
  ] as const) {
    test(`${name} changes nothing`, async () => {
      const ran = await typing(typed, twoToTwo);
      expect(ran.code).toBe(1);
      expect(ran.stdout).toContain("Nothing was changed");
      expect(text("a.txt")).toContain("two");
    });
  }

  test("all files of a patch are asked about at once", async () => {
    put("p.patch", patch("*** Update File: a.txt", "@@", "-two", "+2", "*** Add File: b.txt", "+b"));
    const both = "Apply these changes to 2 files?";
    const none = await typing(["n\n"], ["patch", "p.patch"]);
    expect(none.code).toBe(1);
    expect(none.stdout.split(both)).toHaveLength(2);
    expect(text("a.txt")).toContain("two");
    const all = await typing(["y\n"], ["patch", "p.patch"]);
    expect(all.code).toBe(0);
    expect(all.stdout.split(both)).toHaveLength(2);
    expect([text("a.txt"), text("b.txt")]).toEqual(["one\n2\nthree\n", "b\n"]);
  });

  test("an empty file has no diff, so its name is asked about", async () => {
    const ran = await typing(["y\n"], ["write", "empty.txt", "--content", ""]);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain(`Change "${file("empty.txt")}"?`);
  });

  test("what cannot be compared is asked about by its name, and not as a change of no lines", async () => {
    put("large.txt", "0123456789\n".repeat(3_100_000));
    const ran = await typing(["n\n"], ["write", "large.txt", "--content", "x"], { NO_COLOR: "1" });
    expect(ran.stdout).toContain("(no diff: what is there is too large to be compared, or no text)");
    expect(ran.stdout).toContain(`Change "${file("large.txt")}"?`);
    expect(ran.stdout).not.toContain("+0 -0");
  });

  test("a secret is asked about too", async () => {
    const ran = await typing(["y\n"], ["read", ".env"]);
    expect(ran.stdout).toContain("(the rule Read(.env) asks)");
    expect(ran.stdout).toContain("KEY=value");
    expect((await typing(["n\n"], ["read", ".env"])).stdout).not.toContain("KEY=value");
  });

  test("no question is asked with --yes, --json or --dry-run", async () => {
    for (const option of ["--dry-run", "--json", "--yes"]) {
      const ran = await typing(["n\n"], [...twoToTwo, option]);
      expect(ran.code).toBe(option === "--json" ? 1 : 0);
      expect(ran.stdout).not.toContain(question);
    }
  });

  test("content is not waited for", async () => {
    const ran = await typing([], ["write", "a.txt"]);
    expect(ran.code).toBe(2);
    expect(ran.stdout).toContain("The content is missing");
  });

  test("NO_COLOR is honoured, and what is in a file does not act on the terminal", async () => {
    const plain = await typing(["y\n"], twoToTwo, { NO_COLOR: "1" });
    expect(plain.stdout).not.toMatch(/\x1b\[\d+m/);
    const ran = await typing(["y\n"], ["edit", "a.txt", "--old", "one", "--new", "\x1b[2Jone"]);
    expect(ran.stdout).toContain("^[[2J");
    expect(ran.stdout).not.toContain("\x1b[2J");
  });
});

test("FORCE_COLOR colours a pipe", async () => {
  const ran = await filehand([...twoToTwo, "--yes"], { env: { FORCE_COLOR: "1" } });
  expect(ran.stdout).toContain("\x1b[32m+TWO\x1b[39m");
});
