/** Two names of one file (hard links) in one patch: what is done to the one name is no change by somebody else of the other. */

import { deepEqual, equal, match } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { createFilehand } from "../src/index.ts";
import { textOf } from "./support/reading.ts";
import { onWindows, openDescriptors, workspace } from "./support/workspace.ts";

function bed(hardLinks: "separate" | "keep") {
  const { top, path } = workspace({ "a.txt": "one\n" });
  fs.linkSync(path("a.txt"), path("b.txt"));
  const session = createFilehand({ roots: [top], ask: "yes", hardLinks }).session({ dialect: "opencode" });
  const patched = async (dryRun: boolean, lines: readonly string[]) => {
    for (const name of ["a.txt", "b.txt"]) await session.call("read", { filePath: name });
    const patchText = ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
    return session.call("patch", { patchText }, { dryRun });
  };
  const tree = () => Object.fromEntries(fs.readdirSync(top).map((name) => [name, fs.readFileSync(path(name), "utf8")]));
  return { top, path, session, patched, tree };
}

const update = (name: string, text: string) => [`*** Update File: ${name}`, "@@", "-one", `+${text}`];
const cases: Record<string, readonly [lines: readonly string[], after: Record<string, string>, inPlace: boolean]> = {
  "both deleted": [["*** Delete File: a.txt", "*** Delete File: b.txt"], {}, false],
  "one moved, one deleted": [
    ["*** Update File: a.txt", "*** Move to: c.txt", "*** Delete File: b.txt"],
    { "c.txt": "one\n" },
    false,
  ],
  "one changed, one deleted": [[...update("a.txt", "two"), "*** Delete File: b.txt"], { "a.txt": "two\n" }, true],
  "both changed": [
    [...update("a.txt", "two"), ...update("b.txt", "three")],
    { "a.txt": "two\n", "b.txt": "three\n" },
    true,
  ],
};

describe.skipIf(onWindows)("two names of one file in one patch", () => {
  for (const [title, [lines, after, inPlace]] of Object.entries(cases)) {
    test(`${title}: done, and a dry run says so`, async () => {
      const { patched, tree } = bed("separate");
      equal((await patched(true, lines)).error, undefined);
      const before = openDescriptors();
      equal((await patched(false, lines)).error, undefined);
      equal(openDescriptors(), before);
      deepEqual(tree(), after);
    });

    test(`${title}, where other names are kept: ${inPlace ? "refused before anything is written" : "done"}`, async () => {
      const { patched, tree, path } = bed("keep");
      const [dry, real] = [await patched(true, lines), await patched(false, lines)];
      equal(textOf(dry) === textOf(real), inPlace);
      if (!inPlace) return deepEqual([real.error, tree()], [undefined, after]);
      match(textOf(real), /"b\.txt" is a file that the patch names before by another name/);
      deepEqual(tree(), { "a.txt": "one\n", "b.txt": "one\n" });
      equal(fs.statSync(path("a.txt")).nlink, 2);
    });
  }

  test("a folder with both is deleted", async () => {
    const { top, path } = workspace({ d: { "a.txt": "one\n" } });
    fs.linkSync(path("d", "a.txt"), path("d", "b.txt"));
    const session = createFilehand({ roots: [top], ask: "yes", readFirst: false }).session();
    equal((await session.run((profile) => ({ verb: "delete", path: "d", profile }))).problem, undefined);
    deepEqual(fs.readdirSync(top), []);
  });
});
