import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { hunksOfTexts } from "./hunks.ts";
import { unified } from "./unified.ts";

const { hunks } = hunksOfTexts("a\nb\n", "a\nc");
const body = "@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n";

describe("unified", () => {
  test("an update names the file twice", () => {
    expect(unified("src/a.ts", hunks, "update")).toBe(`--- a/src/a.ts\n+++ b/src/a.ts\n${body}`);
  });

  test("a new file comes from nothing, a deleted one goes there, and a count of 1 is left out", () => {
    expect(unified("a", hunksOfTexts("", "x\n").hunks, "create")).toBe("--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n");
    expect(unified("a", hunksOfTexts("x\n", "").hunks, "delete")).toBe("--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n");
  });

  test("without hunks there is no diff", () => expect(unified("a", [], "create")).toBe(""));

  for (const [name, path, shown] of [
    ["an absolute path has one slash", "/home/a.ts", "a/home/a.ts"],
    ["a name with blanks is closed by a tab", "my file.ts", "a/my file.ts\t"],
    ["letters of any script stay", "Übung 数据.md", "a/Übung 数据.md\t"],
    ["a newline cannot end the header", "a\n+++ b/evil", '"a/a\\n+++ b/evil"'],
    ["quotes and backslashes are escaped", 'a"b\\c', '"a/a\\"b\\\\c"'],
    ["other controls are octal", "a\x1b[31m\x7f", '"a/a\\033[31m\\177"'],
    ["line separators are octal, byte by byte", "a\u2028b", '"a/a\\342\\200\\250b"'],
    ["a turned name is shown as it is", "a\u202eb", '"a/a\\342\\200\\256b"'],
  ] as const) {
    test(name, () => expect(unified(path, hunks, "update").split("\n")[0]).toBe(`--- ${shown}`));
  }

  test("no name makes more than two header lines", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (path) => {
        expect(unified(path, hunks, "update").split(/[\n\r\u2028\u2029\x85]/)).toHaveLength(
          2 + body.split("\n").length,
        );
      }),
    );
  });
});

describe("beside git", () => {
  const folder = mkdtempSync(join(tmpdir(), "filehand-unified-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const git = (...args: string[]) => execFileSync("git", args, { cwd: folder, stdio: "pipe" });
  /** Whether git is missing, or files cannot have the names used below. */
  const missing = (() => {
    if (process.platform === "win32") return true;
    try {
      git("init", "-q");
      return false;
    } catch {
      return true;
    }
  })();

  const piece = fc.constantFrom("a\n", "b\n", "c\n", "\n", "$&\t\n", "--- a/x\n", "@@ -1 +1 @@\n", "x");
  const text = fc.array(piece, { maxLength: 25, size: "max" }).map((pieces) => pieces.join(""));

  test.skipIf(missing)("git applies it, whatever the line ends", () => {
    for (const [before, after] of [
      ["one\r\ntwo\r\nthree\r\n", "one\r\nTWO\r\nthree\r\n"],
      ["one\r\ntwo\nthree\r\n", "one\r\nTWO\nthree\r\n"],
      ["one\r\ntwo\r\nthree", "one\r\nTWO\r\nthree"],
      ["one\r\ntwo\r\n", "one\r\ntwo"],
      ["one\r\ntwo\r\n", "one\ntwo\n"],
      ["one\rtwo\r", "one\rTWO\r"],
      ["a\r\r\nb\r\n", "a\r\r\nB\r\n"],
    ] as const) {
      writeFileSync(join(folder, "ends.txt"), before);
      writeFileSync(join(folder, "patch"), unified("ends.txt", hunksOfTexts(before, after).hunks, "update"));
      git("apply", "--whitespace=nowarn", "patch");
      expect(readFileSync(join(folder, "ends.txt"), "utf8")).toBe(after);
    }
    rmSync(join(folder, "ends.txt"));
    writeFileSync(join(folder, "patch"), unified("ends.txt", hunksOfTexts("", "a\r\nb\r\n").hunks, "create"));
    git("apply", "--whitespace=nowarn", "patch");
    expect(readFileSync(join(folder, "ends.txt"), "utf8")).toBe("a\r\nb\r\n");
  });

  test.skipIf(missing)("git applies it, whatever the name", () => {
    const names = fc.constantFrom("a.txt", "b c", 'q"uote', "Übung");
    fc.assert(
      fc.property(names, text, text, (name, before, after) => {
        fc.pre(before !== after);
        const path = join(folder, name);
        if (before === "") rmSync(path, { force: true });
        else writeFileSync(path, before);
        const kind = before === "" ? "create" : after === "" ? "delete" : "update";
        writeFileSync(join(folder, "patch"), unified(name, hunksOfTexts(before, after).hunks, kind));
        git("apply", "--whitespace=nowarn", "patch");
        if (after !== "") expect(readFileSync(path, "utf8")).toBe(after);
      }),
      { numRuns: 60 },
    );
  });
});
