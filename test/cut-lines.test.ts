/** Lines that are too long for one answer: their rest is read by its column, until all was shown and the file may be overwritten. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createFilehand, type DialectName, type FilehandOptions, type Reply, type Session } from "../src/index.ts";

const root = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-cut-lines-"));
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));
const at = (name: string): string => path.join(root, name);

const dialects = {
  claude: { read: "Read", write: "Write", edit: "Edit", file: "file_path", start: "offset", first: 1 },
  opencode: { read: "read", write: "write", edit: "edit", file: "filePath", start: "offset", first: 1 },
  "opencode-legacy": { read: "read", write: "write", edit: "edit", file: "filePath", start: "offset", first: 0 },
  envelope: { read: "Read", write: "Write", edit: "Edit", file: "path", start: "start_line", first: 1 },
} as const;
type Words = (typeof dialects)[keyof typeof dialects];

const open = (dialect: DialectName, options: Partial<FilehandOptions> = {}): Session =>
  createFilehand({ roots: [root], dialect, ask: "yes", ...options }).session();
const textOf = ({ content }: Reply): string =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
/** What an answer says to call next to see the rest of a line. */
const nextOf = (text: string): { readonly start: number; readonly column: number } | undefined => {
  const found = /column[ =](\d+) (?:and|with) (?:offset|start_line)[ =](\d+)/.exec(text);
  return found === null ? undefined : { start: Number(found[2]), column: Number(found[1]) };
};
/** The first line that is shown, without its number and the mark of a cut. */
const lineIn = (reply: Reply): string => {
  const line = textOf(reply)
    .split("\n")
    .find((one) => /^ *\d+(?:→|\t|: |\| | \| )/.test(one));
  return (line ?? "").replace(/^ *\d+(?:→|\t|: |\| | \| )/, "");
};

/** Reads a file, and then what each answer says, until none names a rest. */
async function readAll(session: Session, words: Words, name: string, callsMax = 400): Promise<string> {
  let reply = await session.call(words.read, { [words.file]: at(name) });
  let line = "";
  for (let calls = 1; calls <= callsMax; calls += 1) {
    const next = nextOf(textOf(reply));
    const shown = lineIn(reply);
    if (next === undefined) return line + shown;
    expect(shown.endsWith("...")).toBe(true);
    line += shown.slice(0, -3);
    expect(next).toEqual({ start: words.first, column: line.length + words.first });
    reply = await session.call(words.read, { [words.file]: at(name), [words.start]: next.start, column: next.column });
    expect(reply.isError).toBe(false);
  }
  throw new Error("It does not end");
}

const write = async (session: Session, words: Words, name: string): Promise<string | undefined> =>
  (await session.call(words.write, { [words.file]: at(name), content: "new\n" })).error?.code;

const emoji = "a😀é漢 ";
const texts = {
  "plain.txt": "0123456789".repeat(1_000),
  "astral.txt": `x${"😀".repeat(6_000)}`,
  "mixed.txt": emoji.repeat(2_000),
} as const;

beforeEach(() => {
  for (const [name, text] of Object.entries(texts)) fs.writeFileSync(at(name), `${text}\nthe second line\n`);
  fs.writeFileSync(at("crlf.txt"), `${"ab".repeat(4_000)}\r\nthe second line\r\n`);
  fs.writeFileSync(at("single.txt"), "0123456789abcde ".repeat(18_750));
});

describe.each(Object.entries(dialects) as [DialectName, Words][])("the rest of a cut line in %s", (dialect, words) => {
  const session = (options: Partial<FilehandOptions> = {}) => open(dialect, { lineCharsMax: 2_000, ...options });

  test.each(Object.entries(texts))("%s is read in parts, none is lost, and Write is accepted", async (name, text) => {
    const reader = session();
    await reader.call(words.read, { [words.file]: at(name) });
    expect(await write(reader, words, name)).toBe("NOT_READ");
    expect((await readAll(reader, words, name)) === text).toBe(true);
    expect(await write(reader, words, name)).toBeUndefined();
    expect(fs.readFileSync(at(name), "utf8")).toBe("new\n");
  });

  test("CRLF: the line end is no part of the line, but where lines are split", async () => {
    const reader = session();
    expect((await readAll(reader, words, "crlf.txt")).replace(/\r$/, "")).toBe("ab".repeat(4_000));
    expect(await write(reader, words, "crlf.txt")).toBeUndefined();
    fs.writeFileSync(at("crlf.txt"), `${"x".repeat(2_001)}\r\n`);
    const again = session();
    expect((await readAll(again, words, "crlf.txt")).replace(/\r$/, "")).toBe("x".repeat(2_001));
    expect(await write(again, words, "crlf.txt")).toBeUndefined();
  });

  test("a single line of 300 kB, also where an answer has few bytes", async () => {
    const text = fs.readFileSync(at("single.txt"), "utf8");
    for (const options of [{}, { answerBytesMax: 7_500 }, { lineCharsMax: 1_000_000, answerBytesMax: 11_500 }]) {
      fs.writeFileSync(at("single.txt"), text);
      const reader = session(options);
      expect((await readAll(reader, words, "single.txt")) === text).toBe(true);
      expect(await write(reader, words, "single.txt")).toBeUndefined();
    }
  }, 60_000);

  test("some of the parts are not all of them: Write is refused and names the first that is missing", async () => {
    const reader = session({ answerBytesMax: 3_000 });
    const part = (column: number) =>
      reader.call(words.read, { [words.file]: at("plain.txt"), [words.start]: words.first, column });
    await reader.call(words.read, { [words.file]: at("plain.txt") });
    const first = nextOf(textOf(await reader.call(words.read, { [words.file]: at("plain.txt") })))?.column ?? 0;
    // The end of the line, but not its middle.
    await part(9_000);
    await reader.call(words.read, { [words.file]: at("plain.txt"), [words.start]: words.first + 1 });
    const refused = await reader.call(words.write, { [words.file]: at("plain.txt"), content: "new\n" });
    expect(refused.error?.code).toBe("NOT_READ");
    expect(nextOf(textOf(refused))).toEqual({ start: words.first, column: first });
    for (let next: number | undefined = first; next !== undefined && next < 9_000; ) {
      expect(await write(reader, words, "plain.txt")).toBe("NOT_READ");
      next = nextOf(textOf(await part(next)))?.column;
    }
    expect(await write(reader, words, "plain.txt")).toBeUndefined();
  });

  test("parts of another state do not count", async () => {
    const reader = session();
    await reader.call(words.read, { [words.file]: at("plain.txt") });
    fs.writeFileSync(at("plain.txt"), `${"9876543210".repeat(1_000)}\nthe second line\n`);
    await reader.call(words.read, { [words.file]: at("plain.txt"), [words.start]: words.first, column: 2_000 });
    await reader.call(words.read, { [words.file]: at("plain.txt"), [words.start]: words.first + 1 });
    expect(await write(reader, words, "plain.txt")).toBe("NOT_READ");
  });

  test("parts stay known where a line before them is changed", async () => {
    fs.writeFileSync(at("plain.txt"), `first\n${texts["plain.txt"]}\nlast\n`);
    const reader = session();
    const [old, now] = dialect.startsWith("opencode") ? ["oldString", "newString"] : ["old_string", "new_string"];
    const read = await reader.call(words.read, { [words.file]: at("plain.txt") });
    expect(nextOf(textOf(read))).toEqual({ start: words.first + 1, column: 2_000 + words.first });
    const edit = { [words.file]: at("plain.txt"), [old ?? ""]: "first\n", [now ?? ""]: "one\ntwo\n" };
    expect((await reader.call(words.edit, edit)).isError).toBe(false);
    expect(await write(reader, words, "plain.txt")).toBe("NOT_READ");
    const column = 2_000 + words.first;
    await reader.call(words.read, { [words.file]: at("plain.txt"), [words.start]: words.first + 2, column });
    expect(await write(reader, words, "plain.txt")).toBeUndefined();
  });

  test("a column inside of a surrogate pair shows the pair, the first column is an ordinary read", async () => {
    const reader = session();
    const part = (column: number) =>
      reader.call(words.read, { [words.file]: at("astral.txt"), [words.start]: words.first, column });
    // Of "x😀😀…" the second unit begins a pair and the third is inside of it.
    expect(lineIn(await part(1 + words.first))).toMatch(/^😀😀/u);
    expect(lineIn(await part(2 + words.first))).toMatch(/^😀😀/u);
    const plain = await open(dialect, { lineCharsMax: 2_000 }).call(words.read, { [words.file]: at("astral.txt") });
    const first = await open(dialect, { lineCharsMax: 2_000 }).call(words.read, {
      [words.file]: at("astral.txt"),
      column: words.first,
    });
    expect(lineIn(first)).toBe(lineIn(plain));
    expect(textOf(first)).toContain("the second line");
  });

  test("a column past the end of the line is refused with the number of its characters", async () => {
    const reply = await session().call(words.read, {
      [words.file]: at("crlf.txt"),
      [words.start]: 1 + words.first,
      column: 99,
    });
    expect(reply.error?.code).toBe("INVALID_PARAM");
    expect(textOf(reply)).toMatch(/line 2 has 1[56] characters, all of them before this column/);
  });
});

describe("no character is lost between windows and parts", () => {
  const letters = "あいうえお漢字かな";
  test.each([
    ["UTF-16", Buffer.from(`\ufeff${emoji.repeat(30_000)}\nend\n`, "utf16le"), emoji.repeat(30_000)],
    ["UTF-8", Buffer.from(`${letters.repeat(9_000)}\nend\n`), letters.repeat(9_000)],
  ])("%s", async (_, bytes, text) => {
    fs.writeFileSync(at("encoded.txt"), bytes);
    const shown = await readAll(open("opencode"), dialects.opencode, "encoded.txt");
    expect(shown === text).toBe(true);
  });
});

describe("a huge line", () => {
  const bytes = 200_000_000;

  test("a far column takes memory for the part alone, lets others work, and can be cancelled", async () => {
    const file = fs.openSync(at("huge.txt"), "w");
    const block = Buffer.alloc(1_000_000, "0123456789");
    for (let at = 0; at < bytes; at += block.length) fs.writeSync(file, block);
    fs.closeSync(file);
    const reader = open("opencode");
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    let heap = 0;
    const measure = setInterval(() => (heap = Math.max(heap, process.memoryUsage().arrayBuffers)), 5);
    const before = process.memoryUsage().arrayBuffers;
    const reply = await reader.call("read", { filePath: at("huge.txt"), offset: 1, column: bytes - 99 });
    clearInterval(timer);
    clearInterval(measure);
    expect(lineIn(reply)).toBe("0123456789".repeat(10));
    expect(turns).toBeGreaterThan(3);
    expect(heap - before).toBeLessThan(60_000_000);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 5);
    const cancelled = await reader.call(
      "read",
      { filePath: at("huge.txt"), column: bytes - 199 },
      { signal: stop.signal },
    );
    expect(cancelled.error?.code).toBe("CANCELLED");
    fs.rmSync(at("huge.txt"));
  }, 120_000);
});
