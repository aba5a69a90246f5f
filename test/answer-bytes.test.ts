/** Answers that are no longer than their reader is shown: bounded in bytes, complete page by page, and true in the ledger. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFilehand, type DialectName, type FilehandOptions, type Reply, type Session } from "../src/index.ts";

const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-answer-bytes-"));
const root = path.join(folder, "root");
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => path.join(root, name);

const contents = {
  "plain.txt": lines(1_500, (n) => `${n} is the number of this line, which has about seventy characters.`),
  "wide.txt": lines(900, (n) => `第${n}行：これは長い行です。絵文字も😀あります "quoted" \\ \t tab`),
  "empty-lines.txt": "\n".repeat(3_000),
  "crlf.txt": lines(800, (n) => `row ${n} of the table`).replaceAll("\n", "\r\n"),
  "uneven.txt": lines(300, (n) => `${n}: ${"x".repeat(n % 50 === 0 ? 3_000 : n % 7)}`),
} as const;

function lines(count: number, line: (number: number) => string): string {
  return Array.from({ length: count }, (_, index) => `${line(index + 1)}\n`).join("");
}

beforeAll(() => {
  fs.mkdirSync(at("many"), { recursive: true });
  for (const [name, text] of Object.entries(contents)) fs.writeFileSync(at(name), text);
  fs.writeFileSync(at("one-line.txt"), `${"word ".repeat(20_000)}\nthe second line\n`);
  for (let number = 0; number < 400; number += 1) {
    fs.mkdirSync(at(`many/folder-${number % 20}`), { recursive: true });
    fs.writeFileSync(
      at(`many/folder-${number % 20}/a-file-with-a-rather-long-name-${number}.txt`),
      `needle ${number}\n`,
    );
  }
  for (let number = 0; number < 300; number += 1) fs.writeFileSync(at(`many/top-${number}.md`), "");
  const cell = (number: number) => ({
    cell_type: "code",
    id: `cell${number}`,
    metadata: {},
    execution_count: null,
    source: `print(${number})\n${"# a comment of this cell\n".repeat(number === 3 ? 2_000 : 20)}`,
    outputs: [{ output_type: "stream", name: "stdout", text: "out ".repeat(400) }],
  });
  fs.writeFileSync(
    at("book.ipynb"),
    JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells: [1, 2, 3, 4].map(cell) }),
  );
});

const open = (dialect: DialectName, options: Partial<FilehandOptions> = {}): Session =>
  createFilehand({ roots: [root], dialect, ask: "yes", reminder: true, ...options }).session();

/** As a client gets it: the texts as JSON. */
const bytesOf = ({ content }: Reply): number =>
  Buffer.byteLength(JSON.stringify(content.filter(({ type }) => type === "text")));
const textOf = ({ content }: Reply): string =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("\n");

/** What each dialect calls what these tests need. */
const spoken = {
  claude: { read: "Read", file: "file_path", start: "offset", first: 1, numbered: /^ *(\d+)\t([^]*)$/ },
  envelope: { read: "Read", file: "path", start: "start_line", first: 1, numbered: /^ *(\d+) \| ([^]*)$/ },
  opencode: { read: "read", file: "filePath", start: "offset", first: 1, numbered: /^(\d+): ([^]*)$/ },
  "opencode-legacy": { read: "read", file: "filePath", start: "offset", first: 0, numbered: /^0*(\d+)\| ([^]*)$/ },
} as const;
const dialects = Object.keys(spoken) as (keyof typeof spoken)[];

describe.each(dialects)("in the %s dialect", (dialect) => {
  const { read, file, start, first, numbered } = spoken[dialect];

  for (const bytesMax of [1_500, 7_500, 40_000]) {
    test.each(Object.keys(contents) as (keyof typeof contents)[])(
      `%s is read page by page within ${bytesMax} bytes, each line once`,
      async (name) => {
        const session = open(dialect, { answerBytesMax: bytesMax, dedup: false, lineCharsMax: 500 });
        const shown: string[] = [];
        for (let pages = 0; ; pages += 1) {
          const input = { [file]: at(name), ...(shown.length === 0 ? {} : { [start]: shown.length + first }) };
          const reply = await session.call(read, input);
          expect(reply.isError).toBe(false);
          expect(bytesOf(reply)).toBeLessThanOrEqual(bytesMax);
          const page = textOf(reply)
            .split("\n")
            .flatMap((line) => {
              const found = numbered.exec(line);
              return found === null ? [] : [{ number: Number(found[1]), text: found[2] ?? "" }];
            });
          expect(page[0]?.number).toBe(shown.length + 1);
          shown.push(...page.map(({ text }) => text));
          const known = session.readState()[at(name)];
          expect(known?.spans).toEqual([{ from: 1, to: shown.length }]);
          if (!/go on with offset|to continue|'offset' parameter to read beyond/.test(textOf(reply))) break;
          expect(known?.whole).toBe(false);
        }
        const real = contents[name].split("\n").map((line) => line.replace(/\r$/, ""));
        const isCut = (line: string) => line.length > 500;
        const wanted = real.slice(0, shown.length);
        expect(shown.length).toBeGreaterThanOrEqual(real.length - 1);
        shown.forEach((line, index) => {
          const whole = wanted[index] ?? "";
          if (isCut(whole)) expect(line.startsWith(whole.slice(0, 400))).toBe(true);
          else expect(line.replace(/\r$/, "")).toBe(whole);
        });
      },
      30_000,
    );
  }

  test("a line that is too long by itself is cut, said so, and counts as cut", async () => {
    const session = open(dialect, { answerBytesMax: 3_000, lineCharsMax: 1_000_000 });
    const reply = await session.call(read, { [file]: at("one-line.txt") });
    expect(bytesOf(reply)).toBeLessThanOrEqual(3_000);
    expect(textOf(reply)).toContain("word word word");
    const known = session.readState()[at("one-line.txt")];
    expect(known).toMatchObject({ whole: false, spans: [{ from: 1, to: 1 }], cut: [{ from: 1, to: 1 }] });
    const rest = await session.call(read, { [file]: at("one-line.txt"), [start]: 1 + first });
    expect(textOf(rest)).toContain("the second line");
  });
});

describe("what was not shown is not in the ledger", () => {
  const name = "plain.txt";
  const write = (session: Session) =>
    session.call("Write", { file_path: at(name), content: contents[name] }).then(({ error }) => error?.code);

  test("a Write over a file of which one page was shown is refused, and passes when all pages were", async () => {
    const session = open("claude", { answerBytesMax: 30_000 });
    await session.call("Read", { file_path: at(name) });
    expect(await write(session)).toBe("NOT_READ");
    for (let from = 1; ; ) {
      const text = textOf(await session.call("Read", { file_path: at(name), offset: from }));
      const next = /go on with offset (\d+)/.exec(text)?.[1];
      if (next === undefined) break;
      from = Number(next);
    }
    expect(await write(session)).toBeUndefined();
  });

  test("a page that was cut short is never answered with a stub", async () => {
    const session = open("claude", { answerBytesMax: 8_000 });
    const read = async () => (await session.call("Read", { file_path: at(name) })).structured;
    await read();
    expect(await read()).toMatchObject({ type: "text", file: { truncatedByTokenCap: true, startLine: 1 } });
  });

  test("a page that fits one client does not count for the session of another", async () => {
    const filehand = createFilehand({ roots: [root], ask: "yes", pageTokensMax: 50_000 });
    const [large, small] = [filehand.session(), filehand.session()];
    await large.call("Read", { file_path: at(name) }, { answerBytesMax: 500_000 });
    await small.call("Read", { file_path: at(name) }, { answerBytesMax: 8_000 });
    expect(large.readState()[at(name)]?.whole).toBe(true);
    expect(small.readState()[at(name)]?.whole).toBe(false);
  });

  test("a notebook's cells count as far as they were shown, and a cut one does not", async () => {
    const session = open("claude", { answerBytesMax: 6_000 });
    const file = { notebook: { file_path: at("book.ipynb") } };
    const reply = await session.call("Read", file.notebook);
    expect(bytesOf(reply)).toBeLessThanOrEqual(6_000);
    const next = Number(/go on with offset (\d+)/.exec(textOf(reply))?.[1]);
    expect(session.readState()[at("book.ipynb")]?.cells).toEqual([{ from: 1, to: next - 1 }]);
    const third = await session.call("Read", { ...file.notebook, offset: 3 });
    expect(bytesOf(third)).toBeLessThanOrEqual(6_000);
    expect(textOf(third)).toMatch(/PARTIAL view, cell 3 alone/);
    expect(session.readState()[at("book.ipynb")]?.cells).not.toContainEqual({ from: 1, to: 3 });
  });
});

describe("what searches and lists", () => {
  /** Calls until nothing is left, and gives all answers. */
  async function pagesOf(session: Session, tool: string, input: object, bytesMax: number): Promise<readonly string[]> {
    const pages: string[] = [];
    for (let more: object = {}; ; ) {
      const reply = await session.call(tool, { ...input, ...more }, { answerBytesMax: bytesMax });
      expect(bytesOf(reply)).toBeLessThanOrEqual(bytesMax);
      pages.push(textOf(reply));
      const next = /(?:go on with|[Uu]se) offset (\d+)/.exec(textOf(reply))?.[1];
      if (next === undefined) return pages;
      more = { offset: Number(next) };
    }
  }

  for (const mode of ["content", "files_with_matches", "count"]) {
    test(`Grep in the mode ${mode} shows every match once, page by page`, async () => {
      const input = { pattern: "needle", path: at("many"), output_mode: mode, head_limit: 10_000 };
      const pages = await pagesOf(open("claude"), "Grep", input, 5_000);
      expect(pages.length).toBeGreaterThan(3);
      const names = pages.flatMap((page) => [...page.matchAll(/long-name-(\d+)\.txt/g)].map(([, number]) => number));
      expect(new Set(names).size).toBe(400);
      expect(names).toHaveLength(400);
    });
  }

  test("LS shows every entry of the folder once, and says which folders were not opened", async () => {
    const pages = await pagesOf(open("claude"), "LS", { path: at("many") }, 3_000);
    const tops = pages.flatMap((page) => [...page.matchAll(/top-(\d+)\.md/g)].map(([, number]) => number));
    expect(tops).toHaveLength(300);
    expect(new Set(tops).size).toBe(300);
    expect(pages[0]).toContain("list those folders by themselves");
  });

  test("Glob shows the newest files, how many there are, and what to do", async () => {
    const [page = ""] = await pagesOf(open("claude"), "Glob", { pattern: "many/**/*.txt" }, 3_000);
    expect(page).toMatch(/The newest \d+ of 400 files are shown, narrow the pattern/);
  });

  test("History pages its turns and the files of a turn, and cuts a diff that is too long", async () => {
    const state = fs.mkdtempSync(path.join(folder, "state-"));
    const session = open("claude", { stateDir: state, historyTools: true, readFirst: false });
    for (let number = 0; number < 60; number += 1) {
      await session.checkpoint(`turn-${number}`);
      await session.call("Write", { file_path: at(`made-${number}.txt`), content: `${number}\n` });
    }
    const pages = await pagesOf(session, "History", { limit: 100 }, 2_000);
    expect(pages.length).toBeGreaterThan(2);
    expect(new Set(pages.flatMap((page) => page.match(/"made-\d+\.txt"/g) ?? [])).size).toBe(60);
    await session.checkpoint("long");
    await session.call("Write", { file_path: at("made-long.txt"), content: contents["plain.txt"] });
    const [detail = ""] = await pagesOf(session, "History", { turn: "long" }, 2_000);
    expect(detail).toContain("diff cut");
  });
});

test("what programs read counts where it goes out with the answer", async () => {
  const options = { answerBytesMax: 20_000, countStructured: true };
  const reply = await open("claude").call("Read", { file_path: at("plain.txt") }, options);
  expect(bytesOf(reply) + Buffer.byteLength(JSON.stringify(reply.structured))).toBeLessThanOrEqual(20_000);
  expect(reply.structured).toMatchObject({ type: "text" });
});

test("an answer that has no pages is cut at the limit, and says so", async () => {
  const session = open("claude", { answerBytesMax: 1_000 });
  const reply = await session.call("Read", { file_path: at(`missing-${"x".repeat(3_000)}`) });
  expect(reply.isError).toBe(true);
  expect(bytesOf(reply)).toBeLessThanOrEqual(1_000);
  expect(textOf(reply)).toContain("[The answer is cut here");
});

test.each([0, 999, 1.5, Number.NaN])("a limit of %s is refused", (answerBytesMax) => {
  expect(() => open("claude", { answerBytesMax })).toThrow(/answerBytesMax .*at least 1000/);
});
