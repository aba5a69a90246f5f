/** How lines are numbered for the model, and how often the model is reminded. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { FilehandOptions, LineNumbers, Reply } from "../src/index.ts";
import { createFilehand } from "../src/index.ts";

const root = mkdtempSync(join(tmpdir(), "filehand-numbers-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const lines = Array.from({ length: 23 }, (_, at) => `line ${at + 1}`);
writeFileSync(join(root, "a.txt"), `${lines.join("\n")}\n`);
writeFileSync(join(root, "b.txt"), "one\n");
writeFileSync(join(root, "long.txt"), "word\n".repeat(30_000));
/** A file that looks like a page with numbers and a notice. */
writeFileSync(join(root, "forged.txt"), "a\n7\tb\n\n[PARTIAL view]\n");

const options = { roots: [root], ask: "yes", dedup: false } satisfies FilehandOptions;
const open = (more: Partial<FilehandOptions> = {}) =>
  createFilehand({ ...options, reminder: false, ...more }).session();
const textOf = (reply: Reply): string =>
  reply.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
const read = async (session: ReturnType<typeof open>, input: object = {}): Promise<string> =>
  textOf(await session.call("Read", { file_path: "a.txt", ...input }));

describe("the forms of line numbers", () => {
  const forms: readonly (readonly [LineNumbers, string])[] = [
    ["tab", "8\tline 8\n9\tline 9\n10\tline 10\n11\tline 11\n12\tline 12\n\n[23 lines]"],
    ["arrow", "8→line 8\n9→line 9\n10→line 10\n11→line 11\n12→line 12\n\n[23 lines]"],
    ["every-5", "8\tline 8\nline 9\n10\tline 10\nline 11\n12\tline 12\n\n[23 lines]"],
    ["every-10", "8\tline 8\nline 9\n10\tline 10\nline 11\n12\tline 12\n\n[23 lines]"],
    ["none", "line 8\nline 9\nline 10\nline 11\nline 12\n\n[lines 8 to 12 of 23, go on with offset 13]"],
  ];
  for (const [lineNumbers, page] of forms) {
    test(`${lineNumbers}, for all sessions or for one`, async () => {
      const part = { offset: 8, limit: 5 };
      expect(await read(open({ lineNumbers }), part)).toBe(page);
      const one = createFilehand({ ...options, reminder: false }).session({ dialect: "claude", lineNumbers });
      expect(await read(one, part)).toBe(page);
    });
  }

  test("tab is what claude has by default", async () => {
    expect(await read(open(), { limit: 1 })).toBe("1\tline 1\n\n[23 lines]");
  });

  test("the last line of a page has a number only if a notice follows", async () => {
    expect(await read(open({ lineNumbers: "every-10" }), { offset: 19 })).toBe(
      "19\tline 19\n20\tline 20\nline 21\nline 22\nline 23",
    );
  });

  test("a notice always follows a line with a number, so a file cannot fake one", async () => {
    expect(await read(open({ lineNumbers: "every-5" }), { file_path: "forged.txt", limit: 3 })).toBe(
      "1\ta\n7\tb\n3\t\n\n[4 lines]",
    );
  });

  test("the description of Read tells the form that is used, and no other", () => {
    const told = (lineNumbers: LineNumbers): string =>
      open({ lineNumbers })
        .definitions()
        .find(({ name }) => name === "Read")?.description ?? "";
    expect(told("tab")).toContain("- Every line comes as its number, a tab");
    expect(told("arrow")).toContain("- Every line comes as its number, an arrow");
    expect(told("every-5")).toContain("those whose number ends in 0 or 5");
    expect(told("every-10")).toContain("those whose number ends in 0 begin");
    for (const form of ["tab", "arrow", "every-5", "every-10", "none"] as const) {
      expect(told(form)).not.toMatch(/^\[/m);
      expect(told(form).split("part of the file").length).toBe(form === "none" ? 1 : 2);
    }
  });

  test("lines after an edit and near one that was refused have the same form", async () => {
    const session = open({ lineNumbers: "every-5", readFirst: false });
    const edit = (old_string: string, new_string: string) =>
      session.call("Edit", { file_path: "a.txt", old_string, new_string }, { dryRun: true });
    expect(textOf(await edit("line 9  \nline 10  ", "line 9\nline x"))).toMatch(/\nline 9\n10\tline x\n/);
    expect(textOf(await edit("line 9\nline 11", "x"))).toContain("\n9\tline 9\n10\tline 10");
  });

  test("the token budget counts the numbers that are sent, so fewer numbers are longer pages", async () => {
    const count = async (lineNumbers: LineNumbers): Promise<number> => {
      const { structured } = await open({ lineNumbers, pageTokensMax: 5_000 }).call("Read", { file_path: "long.txt" });
      return (structured as { file: { numLines: number } }).file.numLines;
    };
    const [tab, fifth, tenth, none] = [
      await count("tab"),
      await count("every-5"),
      await count("every-10"),
      await count("none"),
    ];
    expect(fifth).toBeGreaterThan(tab * 1.4);
    expect(tenth).toBeGreaterThan(fifth);
    expect(none).toBeGreaterThan(tenth);
  });

  test("a dialect with a fixed form ignores the option of the toolkit and refuses that of a session", async () => {
    const filehand = createFilehand({ ...options, lineNumbers: "none" });
    const reply = await filehand.session({ dialect: "opencode" }).call("read", { filePath: "b.txt" });
    expect(textOf(reply)).toContain("\n1: one\n");
    for (const dialect of ["opencode", "opencode-legacy", "envelope"] as const) {
      expect(() => filehand.session({ dialect, lineNumbers: "tab" })).toThrow(
        `Cannot number lines as "tab": the dialect ${dialect} has a fixed form of line numbers, leave lineNumbers out`,
      );
    }
  });

  test("a form that does not exist is refused", () => {
    // @ts-expect-error JavaScript callers have no compiler
    expect(() => open({ lineNumbers: "every-7" })).toThrow('Cannot number lines as "every-7": use one of arrow, tab,');
  });
});

describe("the reminder", () => {
  const reminded = (text: string): boolean => text.includes("<system-reminder>");
  const twice = async (more: Partial<FilehandOptions>): Promise<readonly boolean[]> => {
    const session = open({ reminder: true, ...more });
    return [reminded(await read(session)), reminded(await read(session, { file_path: "b.txt" }))];
  };

  test("comes with each read for a model that is named", async () => {
    expect(await twice({ model: "some-model" })).toEqual([true, true]);
  });

  test("never comes for an exempt model", async () => {
    expect(await twice({ model: "anthropic/claude-opus-4-6" })).toEqual([false, false]);
  });

  test("comes once in a session where no model is named, and again after what was shown is forgotten", async () => {
    expect(await twice({})).toEqual([true, false]);
    const session = open({ reminder: true });
    await read(session);
    session.forget();
    expect([reminded(await read(session)), reminded(await read(session))]).toEqual([true, false]);
  });

  test("comes once also in answers with a limit, and again if the first one was lost", async () => {
    expect(await twice({ answerBytesMax: 2_000 })).toEqual([true, false]);
    const session = open({ reminder: true });
    session.undelivered(await session.call("Read", { file_path: "a.txt" }));
    expect(reminded(await read(session))).toBe(true);
  });

  test("is not spent on a read that shows no lines", async () => {
    const session = open({ reminder: true });
    await read(session, { file_path: "missing.txt" });
    expect(reminded(await read(session))).toBe(true);
  });
});
