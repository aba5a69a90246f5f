import { describe, expect, test } from "vitest";
import { growsLikeItsInput } from "../../../test/support/growth.ts";
import type { PatchFault } from "../../contract/problem.ts";
import { apply } from "../pieces.ts";
import { finish } from "../steps.ts";
import { applyingHunks } from "./apply.ts";
import { parsePatch, pathsNamed, type PatchFile } from "./patch.ts";

function filesOf(text: string): readonly PatchFile[] {
  const parsed = parsePatch(text);
  if ("fault" in parsed) throw new Error(JSON.stringify(parsed));
  return parsed.files;
}

const hunk = ["@@ -1 +1 @@", "-a", "+b"];
const lines = (...all: readonly string[]): string => all.join("\n");

describe("which file", () => {
  for (const [name, text, expected] of [
    ["git", lines("diff --git a/x b/x", "index 1234567..89abcde 100644", "--- a/x", "+++ b/x", ...hunk), "x"],
    ["git without prefixes", lines("diff --git a/x a/x", "--- a/x", "+++ a/x", ...hunk), "a/x"],
    ["git with prefixes of its own", lines("diff --git i/x w/x", "--- i/x", "+++ w/x", ...hunk), "x"],
    ["git with long prefixes", lines("diff --git old/x new/x", "--- old/x", "+++ new/x", ...hunk), "x"],
    [
      "git with prefixes of two lengths",
      lines("diff --git before/x after/x", "--- before/x", "+++ after/x", ...hunk),
      "x",
    ],
    ["a name with blanks", lines("diff --git a/x y b/x y", "--- a/x y\t", "+++ b/x y\t", ...hunk), "x y"],
    [
      "a quoted name",
      lines(String.raw`diff --git "a/\303\234\t\"\\" "b/\303\234\t\"\\"`, "old mode 100644", "new mode 100755"),
      'Ü\t"\\',
    ],
    ["prefixes of git without its header", lines("--- a/x", "+++ b/x", ...hunk), "x"],
    ["a name without prefixes", lines("--- x", "+++ x", ...hunk), "x"],
    ["dates", lines("--- src/x\t2026-01-01 10:00:00", "+++ src/x\t2026-01-01 10:01:00", ...hunk), "src/x"],
    ["a backup", lines("--- src/x.orig", "+++ src/x", ...hunk), "src/x"],
    ["two folders", lines("diff -ru old/x new/x", "--- old/x", "+++ new/x", ...hunk), "x"],
    [
      "Subversion",
      lines("Index: src/x", "=".repeat(67), "--- src/x\t(revision 1)", "+++ src/x\t(working copy)", ...hunk),
      "src/x",
    ],
    ["an absolute path", lines("--- /w/x", "+++ /w/x", ...hunk), "/w/x"],
    [
      "a commit before it",
      lines("commit 12", "Author: A", "", "    - a list", "    --- a/y", "", "--- a/x", "+++ b/x", ...hunk),
      "x",
    ],
    ["a code fence", lines("```diff", "--- a/x", "+++ b/x", ...hunk, "```"), "x"],
    [
      "a mail",
      lines(
        "From 12 Mon",
        "Subject: x",
        "---",
        " x | 2 +-",
        "",
        "diff --git a/x b/x",
        "--- a/x",
        "+++ b/x",
        ...hunk,
        "-- ",
        "2.39.5",
        "",
      ),
      "x",
    ],
  ] as const) {
    test(name, () => {
      const [file, ...others] = filesOf(text);
      expect([file?.path, others]).toEqual([expected, []]);
      expect(pathsNamed(text)).toContain(expected);
    });
  }
});

describe("what happens to it", () => {
  const git = (...all: readonly string[]): PatchFile | undefined => filesOf(lines("diff --git a/x b/x", ...all))[0];
  test("a new file", () => {
    const file = git("new file mode 100644", "--- /dev/null", "+++ b/x", "@@ -0,0 +1,2 @@", "+a", "+b\r");
    expect(file).toEqual({ does: "add", path: "x", text: "a\nb\r\n", replaces: false, later: [] });
  });
  test("a new file without a newline at its end", () => {
    const file = git(
      "new file mode 100755",
      "--- /dev/null",
      "+++ b/x",
      "@@ -0,0 +1 @@",
      "+a\r",
      "\\ No newline at end of file",
    );
    expect(file).toMatchObject({ does: "add", text: "a\r", executable: true });
  });
  test("an empty new file", () => {
    expect(git("new file mode 100644", "index 0000000..e69de29")).toMatchObject({ does: "add", text: "" });
  });
  test("a deleted file must have the lines that are removed", () => {
    expect(git("deleted file mode 100644", "--- a/x", "+++ /dev/null", "@@ -1 +0,0 @@", "-a")).toMatchObject({
      does: "delete",
      hunks: [{ lines: [{ mark: "-", text: "a", end: "\n" }] }],
    });
  });
  test("a deleted file that was empty must be empty, one without its lines need not", () => {
    expect(git("deleted file mode 100644", "index e69de29..0000000")).toEqual({ does: "delete", path: "x", hunks: [] });
    expect(git("deleted file mode 100644", "index 1234567..0000000")).toEqual({ does: "delete", path: "x" });
  });
  test("a mode", () => {
    expect(git("old mode 100755", "new mode 100644")).toMatchObject({ does: "update", hunks: [], executable: false });
  });
  test("a rename and a copy have their names in lines of their own", () => {
    const renamed = lines("diff --git a/x b/y z", "similarity index 100%", "rename from x", "rename to y z");
    expect(filesOf(renamed)).toMatchObject([{ does: "update", path: "x", moveTo: "y z", hunks: [] }]);
    const copied = lines(
      "diff --git a/x b/y",
      "similarity index 90%",
      "copy from x",
      "copy to y",
      "--- a/x",
      "+++ b/y",
      ...hunk,
    );
    expect(filesOf(copied)).toMatchObject([{ does: "add", path: "y", copyOf: "x", later: [[{ at: 7 }]] }]);
    expect(pathsNamed(copied)).toEqual(expect.arrayContaining(["x", "y"]));
  });
  test("files that diff -N or Subversion calls absent", () => {
    const dated = lines(
      "--- x\t1970-01-01 00:00:00.000000000 +0000",
      "+++ x\t2026-01-01 00:00:00",
      "@@ -0,0 +1 @@",
      "+a",
    );
    expect(filesOf(dated)).toMatchObject([{ does: "add", path: "x", text: "a\n" }]);
    const gone = lines("--- x\t(revision 3)", "+++ x\t(nonexistent)", "@@ -1 +0,0 @@", "-a");
    expect(filesOf(gone)).toMatchObject([{ does: "delete", path: "x" }]);
  });
  test("several files, and two sections of one", () => {
    const text = lines(
      "--- a/x",
      "+++ b/x",
      ...hunk,
      "--- a/y",
      "+++ b/y",
      ...hunk,
      "--- a/x",
      "+++ b/x",
      "@@ -1 +1 @@",
      "-b",
      "+c",
    );
    expect(filesOf(text)).toMatchObject([{ path: "x", later: [[{ at: 13 }]] }, { path: "y" }]);
  });
});

/** The text after the patch, or the reason why it does not apply. */
function patched(text: string, ...patch: readonly string[]): unknown {
  const [file] = filesOf(lines("--- a/x", "+++ b/x", ...patch, ""));
  if (file?.does !== "update") throw new Error("no update");
  const applied = finish(applyingHunks(text, file.hunks));
  return applied.applied === "yes" ? apply(text, applied.changes) : applied.why;
}

const open = "\\ No newline at end of file";

describe("lines and their ends", () => {
  for (const [name, text, patch, expected] of [
    ["the file's lines end as the diff says", "a\r\nb\n", ["@@ -1,2 +1,2 @@", "-a\r", "+a", " b"], "a\nb\n"],
    ["LF becomes CRLF", "a\nb\n", ["@@ -1,2 +1,2 @@", " a", "-b", "+b\r"], "a\nb\r\n"],
    ["a diff that says nothing of CRLF keeps it", "a\r\nb\r\n", ["@@ -1,2 +1,2 @@", " a", "-b", "+c"], "a\r\nc\r\n"],
    ["the final newline is removed", "a\nb\n", ["@@ -1,2 +1,2 @@", " a", "-b", "+b", open], "a\nb"],
    ["the final newline is added", "a\nb", ["@@ -1,2 +1,2 @@", " a", "-b", open, "+b"], "a\nb\n"],
    [
      "also in a file with CRLF, of which the diff says nothing",
      "a\r\nb",
      ["@@ -1,2 +1,2 @@", " a", "-b", open, "+b"],
      "a\r\nb\r\n",
    ],
    ["and removed there", "a\r\nb\r\n", ["@@ -2 +2 @@", "-b", "+c", open], "a\r\nc"],
    ["a diff that does not mention it leaves it away", "a\nb", ["@@ -2 +2 @@", "-b", "+c"], "a\nc"],
    ["lines after a last line without newline", "a", ["@@ -1 +1,2 @@", "-a", open, "+a", "+b", open], "a\nb"],
    ["a lone CR is part of its line", "a\rb", ["@@ -1 +1 @@", "-a\rb", open, "+a\rc", open], "a\rc"],
    ["an empty line of context without its blank", "a\n\nb\n", ["@@ -1,3 +1,3 @@", " a", "", "-b", "+c"], "a\n\nc\n"],
    ["lines that look like headers", "-- a/y\nx\n", ["@@ -1,2 +1,2 @@", "--- a/y", "+++ b/y", " x"], "++ b/y\nx\n"],
  ] as const) {
    test(name, () => expect(patched(text, ...patch)).toBe(expected));
  }

  test("a diff that was saved with CRLF says nothing of line ends", () => {
    const [file] = filesOf("--- a/x\r\n+++ b/x\r\n@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+c\r\n");
    const applied = file?.does === "update" ? finish(applyingHunks("a\nb\n", file.hunks)) : undefined;
    expect(applied).toMatchObject({ applied: "yes", changes: [{ text: "c\n" }] });
  });
});

describe("where a hunk goes", () => {
  const block = "{\n  x\n}\n";
  for (const [name, text, patch, expected] of [
    [
      "of several places the one of its number",
      block.repeat(3),
      ["@@ -5 +5 @@", "-  x", "+  y"],
      `${block}{\n  y\n}\n${block}`,
    ],
    [
      "numbers follow the hunks before",
      `new\nnew\n${block}a\n${block}${block}`,
      ["@@ -4 +4 @@", "-a", "+b", "@@ -6 +6 @@", "-  x", "+  y"],
      `new\nnew\n${block}b\n{\n  y\n}\n${block}`,
    ],
    [
      "the nearest, if the others are far",
      `${block}${"-\n".repeat(20)}${block}`,
      ["@@ -3 +3 @@", "-  x", "+  y"],
      `{\n  y\n}\n${"-\n".repeat(20)}${block}`,
    ],
    ["none, if two are equally near", `${block}-\n${block}`, ["@@ -4 +4 @@", "-  x", "+  y"], "several"],
    ["wrong counts: lines go by their marks", "a\nb\nc\n", ["@@ -1,9 +1,9 @@", " a", "-b", "+B", " c"], "a\nB\nc\n"],
    ["too small counts too", "a\nb\nc\n", ["@@ -1 +1 @@", " a", "-b", "+B", " c"], "a\nB\nc\n"],
    ["wrong counts: the number is not believed", block.repeat(3), ["@@ -5,9 +5,9 @@", "-  x", "+  y"], "several"],
    ["a header without numbers", "a\nb\n", ["@@ ... @@", "-b", "+c"], "a\nc\n"],
    ["a header that names a line", "f\n x\ng\n x\n", ["@@ g @@", "- x", "+ y"], "f\n x\ng\n y\n"],
    [
      "no context, and other hunks are where they say",
      "a\nb\nc\n",
      ["@@ -1 +1 @@", "-a", "+A", "@@ -2,0 +3 @@", "+x"],
      "A\nb\nx\nc\n",
    ],
    ["no context at all", "a\nb\nc\n", ["@@ -2,0 +3 @@", "+x"], "no context"],
    [
      "no context, and another hunk is elsewhere",
      "new\na\nb\nc\n",
      ["@@ -1 +1 @@", "-a", "+A", "@@ -2,0 +3 @@", "+x"],
      "no context",
    ],
    ["no context in an empty file", "", ["@@ -0,0 +1 @@", "+x"], "x\n"],
    ["a second time", "a\nthe new line\nb\n", ["@@ -1,2 +1,3 @@", " a", "+the new line", " b"], "already"],
  ] as const) {
    test(name, () => expect(patched(text, ...patch)).toBe(expected));
  }

  test("lines without context go by their number in the text that the patch was made from", () => {
    const [file] = filesOf(lines("--- a/x", "+++ b/x", "@@ -2,0 +3 @@", "+b", ""));
    const applied = file?.does === "update" ? finish(applyingHunks("a\nb\nc\n", file.hunks, true)) : undefined;
    expect(applied).toMatchObject({ applied: "yes", changes: [{ from: 4, to: 4, text: "b\n" }] });
  });
});

describe("refused", () => {
  const head = ["--- a/x", "+++ b/x"];
  for (const [fault, text, line, at] of [
    ["no begin", "no diff", 1, "no diff"],
    ["binary", lines("diff --git a/x b/x", "index 1..2", "GIT binary patch", "literal 1"), 3, "GIT binary patch"],
    ["binary", lines("diff --git a/x b/x", "Binary files a/x and b/x differ"), 2, "Binary files a/x and b/x differ"],
    ["binary", lines("Binary files x and y differ", ...head, ...hunk), 1, "Binary files x and y differ"],
    ["special file", lines("diff --git a/x b/x", "new file mode 120000"), 2, "new file mode 120000"],
    ["special file", lines("diff --git a/x b/x", "index 1234567..89abcde 160000"), 2, "index 1234567..89abcde 160000"],
    ["mixed forms", lines("*** Begin Patch", ...head, ...hunk, "*** End Patch"), 2, "--- a/x"],
    ["mixed forms", lines(...head, ...hunk, "*** Update File: y", "@@", "-a"), 6, "*** Update File: y"],
    ["mixed forms", lines("Here:", "*** Begin Patch", ...head, ...hunk), 2, "*** Begin Patch"],
    ["not of a diff", lines(...head, "@@ -1,2 +1,2 @@", " a", "lost its mark", "-b", "+c"), 5, "lost its mark"],
    ["not of a diff", lines(...head, ...hunk, "lost its mark", "+c"), 6, "lost its mark"],
    ["empty hunk", lines(...head), 1, "--- a/x"],
    ["empty hunk", lines(...head, "@@ -1 +1 @@"), 3, "@@ -1 +1 @@"],
    ["nothing changes", lines(...head, "@@ -1 +1 @@", " a"), 1, "--- a/x"],
    ["add line without +", lines("--- /dev/null", "+++ b/x", "@@ -1 +1 @@", "-a", "+b"), 3, "@@ -1 +1 @@"],
    ["names differ", lines("--- a/x", "+++ b/y", ...hunk), 1, "--- a/x"],
    ["no path", lines("--- /dev/null", "+++ /dev/null", ...hunk), 1, "--- /dev/null"],
    ["no path", lines('--- "a/\\377"', '+++ "b/\\377"', ...hunk), 1, '--- "a/\\377"'],
    [
      "same file twice",
      lines("diff --git a/x b/x", "new file mode 100644", "diff --git a/x b/x", "deleted file mode 100644"),
      3,
      "diff --git a/x b/x",
    ],
    ["empty line without prefix", lines(...head, "@@ -1,0 +1,9 @@", "+a", "", "+b"), 5, ""],
  ] satisfies readonly [PatchFault, string, number, string][]) {
    test(`${fault}: ${JSON.stringify(text)}`, () => expect(parsePatch(text)).toEqual({ fault, line, text: at }));
  }
});

describe("hostile diffs", () => {
  const head = "--- a/x\n+++ b/x\n";
  const shapes: Readonly<Record<string, (size: number) => string>> = {
    "hunk headers": (size) => head + "@@ -1 +1 @@\n".repeat(size / 12),
    "bare hunk headers": (size) => head + "@@\n".repeat(size / 3),
    "file headers": (size) => "diff --git a/x b/x\n".repeat(size / 19),
    files: (size) =>
      Array.from({ length: size / 60 }, (_, at) => `--- a/${at}\n+++ b/${at}\n@@ -1 +1 @@\n-a\n+b\n`).join(""),
    "counts that are too large": (size) => head + "@@ -1,999999 +1,999999 @@\n-a\n+b\n".repeat(size / 32),
    "removed lines that look like headers": (size) => `${head}@@ -1,999999 +0,0 @@\n${"--- a/x\n".repeat(size / 8)}`,
    "octal escapes": (size) =>
      `diff --git "a/${"\\303\\244".repeat(size / 16)}" "b/${"\\303\\244".repeat(size / 16)}"\nold mode 100644\nnew mode 100755\n`,
    "blanks in a name": (size) => `diff --git${" a".repeat(size / 2)}\nold mode 100644\n`,
    "quotes that do not close": (size) => `--- "${"\\\\".repeat(size / 2)}\n+++ b/x\n`,
    "text before": (size) => "--- a\n".repeat(size / 6),
  };
  for (const [name, make] of Object.entries(shapes)) {
    test(`${name}: four times the text is four times the work`, async () => {
      await growsLikeItsInput(65_536, make, (text) => {
        parsePatch(text);
        pathsNamed(text);
      });
    });
  }

  test("four times the hunks are four times the work, also where every place is one of many", async () => {
    const made = (count: number) => ({
      text: "x\ny\n".repeat(count),
      patch: Array.from({ length: count }, (_, at) => `@@ -${2 * at + 1} +${2 * at + 1} @@\n-x\n+z\n`).join(""),
    });
    await growsLikeItsInput(2_000, made, ({ text, patch }) => {
      const [file] = filesOf(head + patch);
      if (file?.does !== "update") throw new Error("no update");
      expect(finish(applyingHunks(text, file.hunks))).toMatchObject({ applied: "yes" });
    });
  });
});
