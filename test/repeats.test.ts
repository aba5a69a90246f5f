/** Reading the same again: what is answered with a stub, what never is, and what that saves. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createFilehand, type FilehandOptions, type Reply, type Session } from "../src/index.ts";

const root = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-repeats-"));
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));
const at = (name: string): string => path.join(root, name);
const lines = Array.from({ length: 50 }, (_, index) => `line ${index + 1} of the file that is read again`);

beforeEach(() => fs.writeFileSync(at("a.txt"), `${lines.join("\n")}\n`));

const session = (options: Partial<FilehandOptions> = {}): Session =>
  createFilehand({ roots: [root], ...options }).session();
const read = (reader: Session, more: object = {}): Promise<Reply> =>
  reader.call("Read", { file_path: "a.txt", ...more });
const typeOf = (reply: Reply): string | undefined =>
  (reply.structured as { type?: string } | null)?.type ?? reply.error?.code;

describe("the same range of the same file", () => {
  test("is a stub once, then the content, never two stubs in a row", async () => {
    const reader = session();
    const types: (string | undefined)[] = [];
    for (let count = 0; count < 6; count += 1) types.push(typeOf(await read(reader)));
    expect(types).toEqual(["text", "file_unchanged", "text", "file_unchanged", "text", "file_unchanged"]);
  });

  test("a stub is a status: it carries no content", async () => {
    const reader = session();
    await read(reader);
    const stub = await read(reader);
    expect(stub.structured).toEqual({ type: "file_unchanged", file: { filePath: at("a.txt") } });
    expect(JSON.stringify(stub)).not.toContain("line 1 of");
    expect(stub.isError).toBe(false);
  });

  test("counts also under another name of the file", async () => {
    fs.rmSync(at("link.txt"), { force: true });
    fs.symlinkSync("a.txt", at("link.txt"));
    const reader = session();
    await read(reader);
    expect(typeOf(await reader.call("Read", { file_path: "./link.txt" }))).toBe("file_unchanged");
  });

  test("is content again when the file was touched and changed, and a stub when it was only touched", async () => {
    const reader = session();
    await read(reader);
    fs.utimesSync(at("a.txt"), new Date(), new Date(Date.now() - 5_000));
    expect(typeOf(await read(reader))).toBe("file_unchanged");
    fs.appendFileSync(at("a.txt"), "one more\n");
    expect(typeOf(await read(reader))).toBe("text");
  });

  test("is content when the session changed it and somebody else put it back: what it has is no longer what it read", async () => {
    const writer = session({ ask: "yes" });
    const before = fs.readFileSync(at("a.txt"));
    const edit = { file_path: "a.txt", old_string: "line 1 of", new_string: "line one of" };
    await read(writer);
    expect((await writer.call("Edit", edit)).isError).toBe(false);
    fs.writeFileSync(at("a.txt"), before);
    expect(typeOf(await writer.call("Write", { file_path: "a.txt", content: "new\n" }))).toBe("STALE");
    // It was told to read it again: that must help.
    expect(typeOf(await read(writer))).toBe("text");
    expect((await writer.call("Edit", edit)).isError).toBe(false);
  });

  test("is content when the bytes changed but size and time did not", async () => {
    const reader = session();
    const time = new Date(Date.now() - 60_000);
    fs.utimesSync(at("a.txt"), time, time);
    await read(reader);
    fs.writeFileSync(at("a.txt"), `${lines.join("\n").replace("line 7", "LINE 7")}\n`);
    fs.utimesSync(at("a.txt"), time, time);
    const again = await read(reader);
    expect(JSON.stringify(again.structured)).toContain("LINE 7");
  });

  test("is content after the host said that it left the conversation", async () => {
    const reader = session();
    await read(reader);
    reader.forget("a.txt");
    expect(typeOf(await read(reader))).toBe("text");
    reader.forget();
    expect(typeOf(await read(reader))).toBe("text");
  });
});

describe("never a stub", () => {
  test("another, a longer or the whole range", async () => {
    const reader = session();
    await read(reader, { offset: 1, limit: 10 });
    expect(typeOf(await read(reader, { offset: 1, limit: 11 }))).toBe("text");
    expect(typeOf(await read(reader, { offset: 2, limit: 10 }))).toBe("text");
    expect(typeOf(await read(reader))).toBe("text");
    expect(typeOf(await read(reader, { offset: 1, limit: 10 }))).toBe("file_unchanged");
  });

  test("another session, another dialect, or when it is switched off", async () => {
    const filehand = createFilehand({ roots: [root] });
    await read(filehand.session());
    expect(typeOf(await read(filehand.session()))).toBe("text");
    const opencode = filehand.session({ dialect: "opencode" });
    for (let count = 0; count < 3; count += 1) {
      expect((await opencode.tools.read({ filePath: "a.txt" })).output).toContain("1: line 1 of");
    }
    const off = session({ dedup: false });
    for (let count = 0; count < 3; count += 1) expect(typeOf(await read(off))).toBe("text");
  });

  test("a failed, cancelled or partial read leaves nothing behind", async () => {
    const reader = session({ pageTokensMax: 100 });
    expect(typeOf(await read(reader, { limit: 50 }))).toBe("OVER_BUDGET");
    expect(typeOf(await reader.call("Read", { file_path: "a.txt" }, { signal: AbortSignal.abort() }))).toBe(
      "CANCELLED",
    );
    for (let count = 0; count < 3; count += 1)
      expect(await read(reader)).toMatchObject({ structured: { file: { truncatedByTokenCap: true } } });
  });

  test("what may no longer be read is refused, not called unchanged", async () => {
    let reply: "once" | "reject" = "once";
    const reader = session({ permissions: { ask: ["Read(a.txt)"] }, ask: async () => ({ reply }) });
    expect(typeOf(await read(reader))).toBe("text");
    reply = "reject";
    expect(typeOf(await read(reader))).toBe("ACCESS_DENIED");
  });
});

test("a dialect that is asked to can do it too", async () => {
  for (const dialect of ["opencode", "opencode-legacy", "envelope"] as const) {
    const reader = createFilehand({ roots: [root], dedup: true }).session({ dialect });
    const [tool] = reader.definitions();
    const input = { [tool?.inputSchema.required?.[0] ?? ""]: "a.txt" };
    await tool?.execute(input);
    expect(JSON.stringify(await tool?.execute(input))).toMatch(/unchanged since it was last read/);
    expect(JSON.stringify(await tool?.execute(input))).toContain("line 1 of");
  }
});

test("calls, failures and tokens are counted, given and saved", async () => {
  const reader = session();
  expect(reader.stats()).toEqual({ calls: 0, failures: 0, tokensGiven: 0, tokensSaved: 0 });
  await read(reader);
  const { tokensGiven } = reader.stats();
  expect(tokensGiven).toBeGreaterThan(300);
  await read(reader);
  await reader.call("Read", { file_path: "nothing.txt" });
  const stats = reader.stats();
  expect(stats).toMatchObject({ calls: 3, failures: 1 });
  expect(stats.tokensSaved).toBeGreaterThan(300);
  expect(stats.tokensGiven).toBeLessThan(tokensGiven + 100);
});

test("instruction files are named once, from the outside in, where that is wanted", async () => {
  fs.mkdirSync(at("src/deep"), { recursive: true });
  fs.writeFileSync(at("AGENTS.md"), "do this\n");
  fs.writeFileSync(at("src/CLAUDE.md"), "do that\n");
  fs.writeFileSync(at("src/deep/x.ts"), "x\n");
  const text = (reply: Reply): string => (reply.content[0]?.type === "text" ? reply.content[0].text : "");
  const reader = session({ instructions: true });
  const first = text(await reader.call("Read", { file_path: "src/deep/x.ts" }));
  expect(first.indexOf(at("AGENTS.md"))).toBeGreaterThan(0);
  expect(first.indexOf(at("src/CLAUDE.md"))).toBeGreaterThan(first.indexOf(at("AGENTS.md")));
  expect(first).not.toContain("do this");
  reader.forget();
  expect(text(await reader.call("Read", { file_path: "src/deep/x.ts" }))).not.toContain("AGENTS.md");
  expect(text(await session().call("Read", { file_path: "src/deep/x.ts" }))).not.toContain("AGENTS.md");
  const denied = session({ instructions: true, permissions: { deny: ["Read(AGENTS.md)"] } });
  expect(text(await denied.call("Read", { file_path: "src/deep/x.ts" }))).not.toContain("AGENTS.md");
});

test("the reminder stands behind the text, once, and can be left out", async () => {
  const has = async (reader: Session): Promise<boolean> =>
    JSON.stringify((await read(reader)).content).includes("<system-reminder>");
  expect(await has(session())).toBe(true);
  expect(await has(session({ reminder: false }))).toBe(false);
  expect(await has(session({ model: "claude-opus-4-6" }))).toBe(false);
  expect(await has(session({ model: "another" }))).toBe(true);
  expect(await has(session({ model: "us.anthropic.claude-opus-4-6-20260205-v1:0" }))).toBe(false);
  expect(await has(session({ model: "models/another", reminderExemptModels: ["another"] }))).toBe(false);
  expect(await has(session({ model: "claude-opus-4-6", reminderExemptModels: [] }))).toBe(true);
});

test("the cost of a file is told without showing it", async () => {
  const cost = await session().cost("a.txt");
  expect(cost).toMatchObject({
    lines: 50,
    counted: "counted",
    tokensMax: 25_000,
    sizeBytes: fs.statSync(at("a.txt")).size,
  });
  expect(cost.tokens).toBeGreaterThan(400);
  expect(cost.tokens).toBeLessThan(700);
  await expect(session().cost("nothing.txt")).rejects.toMatchObject({ code: "NOT_FOUND" });
});
