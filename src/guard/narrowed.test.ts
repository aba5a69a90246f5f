/** What a session that is kept to some folders still sees. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createFilehand } from "../filehand.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "filehand-narrowed-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));
mkdirSync(join(root, "inner", "deep"), { recursive: true });
mkdirSync(join(root, "private"));
for (const name of ["top.txt", "inner/a.txt", "inner/deep/b.txt", "private/c.txt"])
  writeFileSync(join(root, name), `${name}\n`);
symlinkSync(join(root, "top.txt"), join(root, "inner", "link.txt"));

const filehand = createFilehand({ roots: [root], permissions: { deny: ["Read(/inner/deep/**)"], allow: ["Edit"] } });
const session = filehand.session({ dialect: "claude", within: [join(root, "inner")] });
const whole = filehand.session({ dialect: "claude" });

for (const [what, path, code] of [
  ["a file of the folder is read", "inner/a.txt", undefined],
  ["a file above it is not", "top.txt", "ACCESS_DENIED"],
  ["nor one in a neighbour", "private/c.txt", "ACCESS_DENIED"],
  ["nor one that a link of the folder leads to", "inner/link.txt", "ACCESS_DENIED"],
  ["a rule of the whole workspace still denies", "inner/deep/b.txt", "ACCESS_DENIED"],
  ["what is missing outside is not told from what is there", "private/none.txt", "ACCESS_DENIED"],
  ["what is missing inside is missing", "inner/none.txt", "NOT_FOUND"],
] as const) {
  test(what, async () => {
    const reply = await session.call("Read", { file_path: path });
    expect(reply.error?.code).toBe(code);
  });
}

test("nothing can be written outside the folder, not even anew", async () => {
  expect((await session.call("Write", { file_path: "new.txt", content: "x" })).error?.code).toBe("ACCESS_DENIED");
  expect((await session.call("Write", { file_path: "inner/new.txt", content: "x" })).error).toBeUndefined();
});

test("other sessions of the toolkit see the whole of it", async () => {
  expect((await whole.call("Read", { file_path: "top.txt" })).error).toBeUndefined();
});

test("a listing on the way down shows the way only", async () => {
  const opencode = filehand.session({ dialect: "opencode", within: [join(root, "inner")] });
  const reply = await opencode.call("read", { filePath: root });
  const text = reply.content[0]?.type === "text" ? reply.content[0].text : "";
  expect(text).toContain("inner/");
  expect(text).not.toContain("private");
  expect(text).not.toContain("top.txt");
});

test("a search from above finds nothing but what is in the folder", async () => {
  for (const output_mode of ["content", "files_with_matches", "count"]) {
    const reply = await session.call("Grep", { pattern: "txt", output_mode });
    const shown = JSON.stringify(reply);
    expect(shown).toContain("inner/a.txt");
    expect(shown).not.toMatch(/top\.txt|c\.txt|b\.txt/);
  }
});

test("a relative folder lies below the first root, or below cwd", async () => {
  for (const [cwd, within] of [
    [undefined, "inner"],
    [undefined, "./inner/"],
    [join(root, "inner"), "."],
  ] as const) {
    const kept = createFilehand({ roots: [root], ...(cwd === undefined ? {} : { cwd }) });
    const narrow = kept.session({ dialect: "claude", within: [within] });
    expect((await narrow.call("Read", { file_path: join(root, "inner/a.txt") })).error).toBeUndefined();
    expect((await narrow.call("Read", { file_path: join(root, "top.txt") })).error?.code).toBe("ACCESS_DENIED");
  }
});

test("a folder that is named through a link narrows as the folder itself does", async () => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "filehand-narrowed-")));
  try {
    symlinkSync(root, join(top, "link"));
    const linked = filehand.session({ dialect: "claude", within: [join(top, "link", "inner")] });
    expect((await linked.call("Read", { file_path: "inner/a.txt" })).error).toBeUndefined();
    expect((await linked.call("Read", { file_path: "top.txt" })).error?.code).toBe("ACCESS_DENIED");
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
});
