/** Which lines of a file a session was shown: one refusal names all that it was not, and lines that Grep showed whole count. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createFilehand, type Reply, type Session } from "../src/index.ts";

const root = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-shown-"));
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));
const at = (name: string): string => path.join(root, name);
const there = (name: string): string => fs.readFileSync(at(name), "utf8");
const lines = Array.from({ length: 1_000 }, (_, n) => `line ${n + 1} ${(n + 1) % 10 === 0 ? "tenth" : "plain"}`);

let session: Session;
beforeEach(() => {
  fs.writeFileSync(at("a.txt"), `${lines.join("\n")}\n`);
  session = createFilehand({ roots: [root], ask: "yes", reminder: false, readFirst: "lines" }).session({
    dialect: "claude",
  });
});
const message = ({ error }: Reply): string => `${error?.code ?? "ok"} ${error?.message ?? ""}`;
const read = (input: object = {}): Promise<Reply> => session.call("Read", { file_path: "a.txt", ...input });
const replaceAll = (old_string: string, new_string: string): Promise<Reply> =>
  session.call("Edit", { file_path: "a.txt", old_string, new_string, replace_all: true });
const multiEdit = (...edits: readonly (readonly [string, string])[]): Promise<Reply> =>
  session.call("MultiEdit", {
    file_path: "a.txt",
    edits: edits.map(([old_string, new_string]) => ({ old_string, new_string })),
  });

describe("one refusal names all lines that were not shown", () => {
  test("replace_all in few places: each line, what was shown, and the reads that show them", async () => {
    await read({ limit: 10 });
    fs.writeFileSync(at("b.txt"), "");
    expect(message(await replaceAll("line 5", "LINE 5"))).toMatch(
      /^NOT_READ .*: lines 50 to 59 and 500 to 599 were not shown \(only lines 1 to 10\), read them first with offset 50 and limit 10 and offset 500 and limit 100$/,
    );
    await read({ offset: 50, limit: 10 });
    await read({ offset: 500, limit: 100 });
    expect(message(await replaceAll("line 5", "LINE 5"))).toBe("ok ");
  });

  test("replace_all in 100 places: one read shows them all, then the edit is made", async () => {
    await read({ limit: 10 });
    const refused = message(await replaceAll("tenth", "TENTH"));
    expect(refused).toMatch(/lines 20, 30, 40, .* and 59 more parts were not shown \(only lines 1 to 10\)/);
    expect(refused).toMatch(/read them first with offset 20 and limit 981$/);
    expect(refused.length).toBeLessThan(600);
    await read({ offset: 20, limit: 981 });
    expect(message(await replaceAll("tenth", "TENTH"))).toBe("ok ");
    expect(there("a.txt").match(/TENTH/g)).toHaveLength(100);
  });

  test("MultiEdit: the lines of all its edits, numbered as they are in the file", async () => {
    await read({ limit: 10 });
    const refused = await multiEdit(
      ["line 2 plain\n", "one\nmore\nline\n"],
      ["line 40 tenth", "forty"],
      ["line 3 plain\n", ""],
      ["line 700 tenth\nline 701 plain\n", "seven hundred\n"],
    );
    expect(message(refused)).toMatch(
      /: lines 40 and 700 to 701 were not shown \(only lines 1 to 10\), read them first with offset 40 and limit 1 and offset 700 and limit 2$/,
    );
    expect(there("a.txt")).toBe(`${lines.join("\n")}\n`);
  });

  test("a patch: the lines of all its hunks", async () => {
    await read({ limit: 10 });
    const hunk = (n: number): string => `@@\n-${lines[n - 1]}\n+changed ${n}\n`;
    const patchText = `*** Begin Patch\n*** Update File: a.txt\n${[5, 300, 600].map(hunk).join("")}*** End Patch`;
    const { reply: refused } = await session.run((profile) => ({ verb: "patch", patchText, profile }));
    expect(message(refused)).toMatch(/lines 300 and 600 were not shown \(only lines 1 to 10\)/);
  });

  test("a text that is only partly shown: just the lines that were not", async () => {
    await read({ limit: 10 });
    const old_string = lines.slice(7, 13).join("\n");
    const refused = await session.call("Edit", { file_path: "a.txt", old_string, new_string: "less" });
    expect(message(refused)).toMatch(/lines 11 to 13 were not shown \(only lines 1 to 10\), .*offset 11 and limit 3$/);
  });

  test("hundreds of parts far from each other: the refusal stays short", async () => {
    const far = Array.from({ length: 100_000 }, (_, n) => (n % 500 === 0 ? "here" : "-"));
    fs.writeFileSync(at("a.txt"), `first\n${far.join("\n")}\n`);
    await read({ limit: 1 });
    const refused = message(await replaceAll("here", "there"));
    expect(refused).toMatch(/and 160 more parts were not shown/);
    expect(refused).toMatch(/and 192 more reads$/);
    expect(refused.length).toBeLessThan(900);
  });
});

describe("lines that Grep showed", () => {
  const grep = (input: object): Promise<Reply> =>
    session.call("Grep", { pattern: "line 70\\d ", path: "a.txt", output_mode: "content", ...input });

  test("whole can be edited, without a Read; the lines around them cannot", async () => {
    await grep({ "-C": 1 });
    expect(message(await multiEdit(["line 699 plain", "a"], ["line 705 plain", "b"], ["line 710 tenth", "c"]))).toBe(
      "ok ",
    );
    expect(message(await multiEdit(["line 712 plain", "d"]))).toMatch(
      /^NOT_READ .*line 712 was not shown \(only lines 699 to 710\)/,
    );
  });

  test("are added to those that a Read showed, and Write still wants all of them", async () => {
    await read({ limit: 699 });
    await grep({});
    const write = await session.call("Write", { file_path: "a.txt", content: "new\n" });
    expect(message(write)).toMatch(/not all of it was shown \(only lines 1 to 709\)/);
    await read({ offset: 710 });
    expect(message(await session.call("Write", { file_path: "a.txt", content: "new\n" }))).toBe("ok ");
  });

  test("cut short do not count, nor do names of files", async () => {
    fs.writeFileSync(at("long.txt"), `${"x".repeat(50_000)} needle ${"y".repeat(50_000)}\nshort needle\n`);
    for (const output_mode of ["files_with_matches", "count"]) {
      await session.call("Grep", { pattern: "needle", path: "long.txt", output_mode });
    }
    const edit = (old_string: string): Promise<Reply> =>
      session.call("Edit", { file_path: "long.txt", old_string, new_string: "pin" });
    expect(message(await edit("short needle"))).toMatch(/^NOT_READ .*was not read/);
    await session.call("Grep", { pattern: "needle", path: "long.txt", output_mode: "content" });
    expect(message(await edit("x needle y"))).toMatch(/^NOT_READ .*line 1 was not shown \(only line 2\)/);
    expect(message(await edit("short needle"))).toBe("ok ");
  });

  test("that somebody else changed since do not count, and others do", async () => {
    await grep({});
    fs.writeFileSync(at("a.txt"), there("a.txt").replace("line 705 plain", "line 705 other"));
    expect(message(await multiEdit(["line 705 other", "b"]))).toMatch(/^STALE/);
    expect(message(await multiEdit(["line 706 plain", "b"]))).toBe("ok ");
  });

  test("count only as far as the answer that is sent has them, and not at all if it was lost", async () => {
    const lines = await session.call(
      "Grep",
      { pattern: "plain", path: "a.txt", output_mode: "content" },
      { answerBytesMax: 3_000 },
    );
    expect(JSON.stringify(lines.content)).toContain("line 11 plain");
    expect(JSON.stringify(lines.content)).not.toContain("line 211 plain");
    expect(message(await multiEdit(["line 211 plain", "x"]))).toMatch(/^NOT_READ .*line 211 was not shown/);
    session.undelivered(lines);
    expect(message(await multiEdit(["line 11 plain", "x"]))).toMatch(/^NOT_READ .*was not read/);
  });

  test("do not take away what the session knew", async () => {
    await read();
    await grep({});
    expect(message(await session.call("Write", { file_path: "a.txt", content: "new\n" }))).toBe("ok ");
    await session.call("Grep", { pattern: "new", path: "a.txt", output_mode: "content" });
    expect(message(await session.call("Write", { file_path: "a.txt", content: "newer\n" }))).toBe("ok ");
  });
});

describe("lines that another answer shows whole", () => {
  const edit = (old_string: string, new_string: string, options = {}): Promise<Reply> =>
    session.call("Edit", { file_path: "a.txt", old_string, new_string }, options);
  const words = ({ content }: Reply): string =>
    content.map((part) => (part.type === "text" ? part.text : "")).join("\n");

  test("an Edit that matched loosely: the lines around the change, and no others", async () => {
    await read({ offset: 100, limit: 3 });
    const answer = words(await edit("line 101 plain  \n", "line 101 changed\n"));
    expect(answer).toContain("98\tline 98 plain");
    expect(answer).toContain("104\tline 104 plain");
    expect(message(await edit("line 97 plain", "x"))).toContain("NOT_READ");
    expect(message(await edit("line 105 plain", "x"))).toContain("NOT_READ");
    expect(message(await edit("line 98 plain\nline 99 plain", "x"))).toBe("ok ");
    expect(message(await edit("line 104 plain", "x"))).toBe("ok ");
  });

  test("a dry run shows lines that are not there", async () => {
    await read({ offset: 100, limit: 3 });
    const answer = await edit("line 101 plain  \n", "line 101 changed\n", { dryRun: true });
    expect(words(answer)).toContain("98\tline 98 plain");
    expect(message(await edit("line 98 plain", "x"))).toContain("NOT_READ");
  });

  test("a line that is too long for the answer does not count, those beside it do", async () => {
    fs.writeFileSync(at("a.txt"), `first\n${"x".repeat(1_200)}\nthird\nfourth\n`);
    await read({ offset: 3, limit: 1 });
    await edit("third  \n", "3\n");
    expect(message(await edit(`${"x".repeat(1_200)}\n3`, "x"))).toContain("line 2 was not shown");
    expect(message(await edit("first", "x"))).toBe("ok ");
  });

  test("none if the answer was cut to the limit of the client, and none if it was lost", async () => {
    fs.writeFileSync(at("a.txt"), lines.map((line) => `${line} ${"-".repeat(180)}`).join("\n"));
    const long = "-".repeat(180);
    await read({ offset: 100, limit: 3 });
    const cut = await edit(`line 101 plain ${long}  \n`, `line 101 b ${long}\n`, { answerBytesMax: 1_000 });
    expect(words(cut)).not.toContain("line 104");
    expect(message(await edit(`line 98 plain ${long}`, "x"))).toContain("NOT_READ");
    const lost = await edit(`line 101 b ${long}  \n`, `line 101 c ${long}\n`);
    expect(words(lost)).toContain("line 98");
    session.undelivered(lost);
    expect(message(await edit(`line 98 plain ${long}`, "x"))).toContain("NOT_READ");
  });

  test("with the last of them a Write knows all of the file", async () => {
    fs.writeFileSync(at("a.txt"), "one\ntwo\nthree\n");
    const write = (): Promise<Reply> => session.call("Write", { file_path: "a.txt", content: "new\n" });
    await read({ offset: 1, limit: 2 });
    expect(message(await write())).toContain("NOT_READ");
    await edit("two  \n", "2\n");
    expect(message(await write())).toBe("ok ");
  });

  test("a refused Edit: the text that is most like the one it looked for", async () => {
    await read({ offset: 100, limit: 3 });
    const refused = await edit("line 100 tenth\nline 101 plane\nline 102 plain\nline 103 plain", "x");
    expect(message(refused)).toContain("NO_MATCH");
    expect(message(refused)).toContain("line 103 plain");
    expect(message(await edit("line 103 plain", "x"))).toBe("ok ");
    expect(message(await edit("line 104 plain", "x"))).toContain("NOT_READ");
  });

  test("a formatter's lines, as they are after it", async () => {
    const formatter = ({ path: file }: { readonly path: string }): void =>
      fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace("line 500 tenth", "line 500 formatted"));
    session = createFilehand({ roots: [root], ask: "yes", reminder: false, readFirst: "lines", formatter }).session({
      dialect: "claude",
    });
    await read({ offset: 1, limit: 3 });
    expect(words(await edit("line 1 plain", "LINE 1"))).toContain("497\tline 497 plain");
    expect(message(await edit("line 497 plain\nline 498 plain\nline 499 plain\nline 500 formatted", "x"))).toBe("ok ");
    expect(message(await edit("line 496 plain", "x"))).toContain("NOT_READ");
  });

  test("an outline: a line that is nothing but the declaration", async () => {
    fs.writeFileSync(at("b.rb"), "class Box\n  def open(how)\n    1\n  end\nend\n");
    const inBox = (old_string: string): Promise<Reply> =>
      session.call("Edit", { file_path: "b.rb", old_string, new_string: "x" });
    expect(message(await inBox("class Box"))).toContain("NOT_READ");
    expect(words(await session.call("Outline", { file_path: "b.rb" }))).toContain("1-5 class Box");
    expect(message(await inBox("  def open(how)"))).toContain("line 2 was not shown");
    expect(message(await inBox("class Box"))).toBe("ok ");
  });

  test("a notice of what somebody else changed: its lines", async () => {
    let now = 0;
    const clock = { nowMs: () => (now += 1_000) };
    session = createFilehand({ roots: [root], ask: "yes", reminder: false, readFirst: "lines", clock }).session({
      dialect: "claude",
    });
    fs.writeFileSync(at("b.txt"), "b\n");
    await read({ limit: 10 });
    fs.writeFileSync(at("a.txt"), there("a.txt").replace("line 5 plain", "line 5 theirs"));
    expect(words(await session.call("Read", { file_path: "b.txt" }))).toContain("5: line 5 theirs");
    expect(message(await edit("line 5 theirs", "mine"))).toBe("ok ");
  });
});

test("a plain page is taken as it is: no read splits its text into lines", async () => {
  const split = vi.spyOn(String.prototype, "split");
  try {
    const { error } = await session.call("Read", { file_path: at("a.txt") });
    expect(error).toBeUndefined();
    expect(split.mock.contexts.filter((text) => String(text).length > 5_000)).toEqual([]);
  } finally {
    split.mockRestore();
  }
});
