/** Files of any size: the right lines, one scan, little memory, and room for others meanwhile. Files are made by recipe. */

import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFilehand, type LineRange, type Reply, type Session } from "../../src/index.ts";

const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-large-"));
const state = path.join(folder, "state");
const root = path.join(folder, "root");
fs.mkdirSync(root);
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

const megabyte = 1_048_576;
const at = (name: string): string => path.join(root, name);
const session = (options: { stateDir?: string } = {}): Session =>
  createFilehand({ roots: [root], ...options }).session();
const lastTime = new Date(Date.now() - 60_000);
/** An index is not kept for a file that changed a moment ago, so files here are made to look older. */
const settle = (name: string): void => fs.utimesSync(at(name), lastTime, lastTime);

interface Shown {
  readonly content: string;
  readonly startLine: number;
  readonly numLines: number;
  readonly totalLines: number | null;
}

function shown(reply: Reply): Shown {
  if (reply.isError) throw new Error(reply.error?.message);
  return (reply.structured as { file: Shown }).file;
}

const read = async (from: number, limit: number, name: string, reader: Session): Promise<Shown> =>
  shown(await reader.call("Read", { file_path: name, offset: from, limit }));

/** A line that says its number, of a length that varies from 12 to some 250 bytes. */
const lineText = (number: number): string => `line ${number} ${"ä-x".repeat((number * 7) % 60)}`;

/** A text of numbered lines, at least so large. */
function makeLines(name: string, bytes: number, end = "\n"): number {
  const fd = fs.openSync(at(name), "w");
  let size = 0;
  let number = 0;
  while (size < bytes) {
    let part = "";
    for (let count = 0; count < 5_000; count += 1) part += lineText(++number) + end;
    size += fs.writeSync(fd, part);
  }
  fs.closeSync(fd);
  settle(name);
  return number;
}

/** Text, a hole of so many bytes, text: the hole is one endless line and takes no room on the disk. */
function makeSparse(name: string, holeBytes: number): void {
  const head = Array.from({ length: 1_000 }, (_, index) => `head ${index + 1}\n`).join("");
  fs.writeFileSync(at(name), head);
  fs.truncateSync(at(name), head.length + holeBytes);
  fs.appendFileSync(at(name), `\n${Array.from({ length: 500 }, (_, index) => `tail ${index + 1}\n`).join("")}`);
  settle(name);
}

describe("a text of 40 MB", () => {
  test("any line is found, from any place, in any order, with the exact total", async () => {
    const total = makeLines("forty.txt", 40 * megabyte);
    const reader = session();
    for (const from of [total - 3, 1, 2, Math.floor(total / 2), 65_537, 17, Math.floor(total * 0.9), total]) {
      const page = await read(from, 3, "forty.txt", reader);
      const expected = [from, from + 1, from + 2].filter((number) => number <= total).map(lineText);
      expect(page.content).toBe(expected.join("\n"));
      expect([page.startLine, page.totalLines]).toEqual([from, total]);
    }
  });

  test("CRLF and a missing final newline change nothing", async () => {
    const total = makeLines("crlf.txt", 5 * megabyte, "\r\n");
    fs.appendFileSync(at("crlf.txt"), "the end");
    const page = await read(total, 5, "crlf.txt", session());
    expect(page).toMatchObject({ content: `${lineText(total)}\nthe end`, totalLines: total + 1 });
  });

  for (const encoding of ["utf16le", "utf16be"] as const) {
    test(`${encoding} is indexed by its own newlines`, async () => {
      const lines = Array.from({ length: 100_000 }, (_, index) => `Zeile ${index + 1} ਊ ఊ`);
      const bytes = Buffer.from(`\ufeff${lines.join("\n")}\n`, "utf16le");
      fs.writeFileSync(at(encoding), encoding === "utf16le" ? bytes : bytes.swap16());
      settle(encoding);
      const reader = session();
      for (const from of [99_999, 1, 50_000]) {
        const page = await read(from, 2, encoding, reader);
        expect(page).toMatchObject({ content: lines.slice(from - 1, from + 1).join("\n"), totalLines: 100_000 });
      }
    });
  }

  test("several ranges come out of one call", async () => {
    makeLines("ranges.txt", 2 * megabyte);
    const ranges = [{ from: 900, linesMax: 2 }, { from: 3, linesMax: 1 }, { last: 2 }] as unknown as readonly [
      LineRange,
    ];
    const { reply } = await session().run((profile) => ({
      verb: "read",
      path: "ranges.txt",
      ranges,
      overBudget: "first page",
      profile,
    }));
    const pages = (reply.structured as { ranges: { file: Shown }[] }).ranges.map(({ file }) => file);
    const total = pages[0]?.totalLines ?? 0;
    expect(pages.map(({ content }) => content)).toEqual([
      [900, 901].map(lineText).join("\n"),
      lineText(3),
      [total - 1, total].map(lineText).join("\n"),
    ]);
  });

  test("the last lines are numbered from the end when nobody counts", async () => {
    const total = makeLines("end.txt", 3 * megabyte);
    const ranges = [{ last: 3, numbered: "from the end" }] as const;
    const { reply } = await session().run((profile) => ({
      verb: "read",
      path: "end.txt",
      ranges,
      overBudget: "first page",
      profile,
    }));
    expect(shown(reply)).toMatchObject({ startLine: -3, numLines: 3, totalLines: null });
    expect(shown(reply).content).toBe([total - 2, total - 1, total].map(lineText).join("\n"));
    expect(reply.content[0]).toMatchObject({ text: expect.stringContaining(`-1\t${lineText(total)}`) });
  });
});

describe("an index that is kept", () => {
  test("the new lines of a file that grew are right, and the old ones", async () => {
    const total = makeLines("growing.log", 10 * megabyte);
    const reader = session();
    await read(total, 1, "growing.log", reader);
    for (let round = 1; round <= 3; round += 1) {
      fs.appendFileSync(
        at("growing.log"),
        Array.from({ length: 50_000 }, (_, index) => `more ${round}.${index}\n`).join(""),
      );
      settle("growing.log");
      const page = await read(total + round * 50_000, 1, "growing.log", reader);
      expect(page).toMatchObject({ content: `more ${round}.49999`, totalLines: total + round * 50_000 });
      expect((await read(total, 1, "growing.log", reader)).content).toBe(lineText(total));
    }
  });

  test("a file that grew and changed before its end is scanned anew", async () => {
    makeLines("rewritten.log", 10 * megabyte);
    const reader = session();
    await read(5, 1, "rewritten.log", reader);
    const fd = fs.openSync(at("rewritten.log"), "r+");
    fs.writeSync(fd, "\n\n\n\n", 0);
    fs.closeSync(fd);
    fs.appendFileSync(at("rewritten.log"), "one more\n");
    settle("rewritten.log");
    const naive = fs.readFileSync(at("rewritten.log"), "utf8").split("\n");
    const page = await read(9_000, 2, "rewritten.log", reader);
    expect(page).toMatchObject({ content: naive.slice(8_999, 9_001).join("\n"), totalLines: naive.length - 1 });
  });

  test("so is one that lost line ends in its middle, though both its ends are the same", async () => {
    makeLines("inside.log", 10 * megabyte);
    const reader = session();
    await read(5, 1, "inside.log", reader);
    const bytes = fs.readFileSync(at("inside.log"));
    const middle = bytes.length >> 1;
    for (let index = middle; index < middle + 20_000; index += 1) if (bytes[index] === 10) bytes[index] = 32;
    fs.writeFileSync(at("inside.log"), Buffer.concat([bytes, Buffer.from("one more\n")]), { flag: "r+" });
    settle("inside.log");
    const naive = fs.readFileSync(at("inside.log"), "utf8").split("\n");
    const far = Math.floor(naive.length * 0.9);
    expect(await read(far, 1, "inside.log", reader)).toMatchObject({
      content: naive[far - 1],
      totalLines: naive.length - 1,
    });
  });

  test("the same size, and even the same time, with other bytes is another file", async () => {
    makeLines("same.txt", 5 * megabyte);
    const reader = session();
    await read(100, 1, "same.txt", reader);
    const bytes = fs.readFileSync(at("same.txt"));
    bytes.fill(10, 0, 1_000);
    fs.writeFileSync(at("same.txt"), bytes);
    settle("same.txt");
    const naive = bytes.toString("utf8").split("\n");
    const page = await read(20_000, 2, "same.txt", reader);
    expect(page).toMatchObject({ content: naive.slice(19_999, 20_001).join("\n"), totalLines: naive.length - 1 });
  });

  test("a new process takes it from the state folder, which only the owner can read", async () => {
    const total = makeLines("kept.log", 40 * megabyte);
    await read(1, 1, "kept.log", session({ stateDir: state }));
    const [name = ""] = fs.readdirSync(path.join(state, "line-index"));
    expect(fs.statSync(path.join(state, "line-index")).mode & 0o777).toBe(0o700);
    expect(fs.statSync(path.join(state, "line-index", name)).mode & 0o777).toBe(0o600);
    const page = await read(total - 1, 2, "kept.log", session({ stateDir: state }));
    expect(page).toMatchObject({ content: [total - 1, total].map(lineText).join("\n"), totalLines: total });
  });

  test("a damaged one is never believed, whichever byte is wrong", async () => {
    const total = makeLines("damaged.log", 33 * megabyte);
    await read(1, 1, "damaged.log", session({ stateDir: state }));
    const inode = String(fs.statSync(at("damaged.log")).ino);
    const name = fs.readdirSync(path.join(state, "line-index")).find((entry) => entry.includes(`-${inode}-`)) ?? "";
    const stored = path.join(state, "line-index", name);
    const whole = fs.readFileSync(stored);
    const spoilt = [
      ...[0, 5, 9, 12, 20, 33, 60, 130, 200, whole.length - 1].map((place) => flipped(whole, place)),
      whole.subarray(0, 100),
      Buffer.alloc(0),
      Buffer.concat([whole, Buffer.from("x")]),
      Buffer.from("not an index at all"),
    ];
    for (const bytes of spoilt) {
      fs.writeFileSync(stored, bytes);
      const page = await read(total, 1, "damaged.log", session({ stateDir: state }));
      expect(page).toMatchObject({ content: lineText(total), totalLines: total });
    }
  });

  test("a state folder that cannot be written costs speed, not the answer", async () => {
    const total = makeLines("stateless.log", 33 * megabyte);
    const page = await read(total, 1, "stateless.log", session({ stateDir: at("stateless.log") }));
    expect(page).toMatchObject({ content: lineText(total), totalLines: total });
  });
});

function flipped(bytes: Buffer, place: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[place] = (copy[place] ?? 0) ^ 0x41;
  return copy;
}

describe("a line of 600 MB in a file of more than half a gigabyte", () => {
  beforeAll(() => makeSparse("sparse.txt", 600 * megabyte));

  test("it is cut while streaming, and the lines behind it are right", async () => {
    const reader = createFilehand({ roots: [root] }).session({ dialect: "opencode" });
    const { output } = await reader.tools.read({ filePath: "sparse.txt", offset: 1_000, limit: 4 });
    const lines = output.split("\n").slice(3);
    expect(lines[0]).toBe("1000: head 1000");
    expect(lines[1]).toBe(`1001: ${"\0".repeat(2_000)}...`);
    expect(lines.slice(2, 4)).toEqual(["1002: tail 1", "1003: tail 2"]);
  });

  test("two threads count what one would", async () => {
    const page = await read(1_500, 5, "sparse.txt", session());
    expect(page).toMatchObject({ content: "tail 499\ntail 500", totalLines: 1_501 });
  });

  test("a cancelled scan ends at once and leaves no thread and no descriptor behind", async () => {
    makeSparse("cancelled.txt", 3_000 * megabyte);
    const before = fs.readdirSync("/proc/self/fd").length;
    const stop = new AbortController();
    const reply = session().call(
      "Read",
      { file_path: "cancelled.txt", offset: 1_100, limit: 1 },
      {
        signal: stop.signal,
        onProgress: () => stop.abort(),
      },
    );
    expect((await reply).error?.code).toBe("CANCELLED");
    expect(fs.readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(before);
  });

  test("others are served while it is scanned, and progress is told", async () => {
    fs.writeFileSync(at("small.txt"), "small\n");
    // Too small for a second thread, which would take a part of the turns that depends on the machine.
    makeSparse("scanned.txt", 400 * megabyte);
    const reader = session();
    const told: number[] = [];
    const state = { finished: false };
    const large = reader.call(
      "Read",
      { file_path: "scanned.txt", offset: 1_100, limit: 1 },
      {
        onProgress: (done, total) => {
          expect(total).toBeGreaterThan(400 * megabyte);
          told.push(done);
        },
      },
    );
    const ending = large.then(() => {
      state.finished = true;
    });
    let served = 0;
    while (!state.finished) {
      await read(1, 1, "small.txt", reader);
      served += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await ending;
    expect(shown(await large).content).toBe("tail 99");
    expect(served).toBeGreaterThan(20);
    expect(told.length).toBeGreaterThan(20);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
  });
});

test("a scan of 1 GB stays within 80 MB of memory for the whole process", () => {
  // Real lines, not a hole: the pages of the cache are not ours, the index is.
  makeLines("block.txt", 8 * megabyte);
  const block = fs.readFileSync(at("block.txt"));
  const fd = fs.openSync(at("gigabyte.txt"), "w");
  for (let size = 0; size < 1_000 * megabyte; size += block.length) fs.writeSync(fd, block);
  fs.closeSync(fd);
  settle("gigabyte.txt");
  const program = `
    import { readFileSync } from "node:fs";
    import { createFilehand } from ${JSON.stringify(fileURLToPath(new URL("../../dist/index.js", import.meta.url)))};
    const session = createFilehand({ roots: [${JSON.stringify(root)}] }).session();
    const { structured } = await session.call("Read", { file_path: "gigabyte.txt", offset: 5000000, limit: 20 });
    // Not resourceUsage: on Linux that begins with the peak of the process that started this one.
    const megabytes = Number(/^VmHWM:\\s+(\\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024;
    console.log(JSON.stringify({ megabytes, lines: structured.file.numLines }));`;
  const { megabytes, lines } = JSON.parse(
    execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" }),
  ) as { megabytes: number; lines: number };
  fs.rmSync(at("gigabyte.txt"));
  expect(lines).toBe(20);
  expect(megabytes).toBeLessThan(80);
});
