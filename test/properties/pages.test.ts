/** Any text, any range: our page is that of a naive reader that holds the whole file. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import * as fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { createFilehand } from "../../src/index.ts";

const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-pages-"));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));
const file = path.join(folder, "file.txt");
const filehand = createFilehand({ roots: [folder], pageTokensMax: 1e9, dedup: false });

/** Lines of every kind: empty, short in any script, over the line cap, longer than a reader's window. */
const line = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: "grapheme", maxLength: 30 }).map((text) => text.replace(/[\r\n\0]/g, "")) },
  { weight: 1, arbitrary: fc.constant("") },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom("x", "é", "中", "😀", "a😀"), fc.integer({ min: 1, max: 2_100 }))
      .map(([unit, times]) => unit.repeat(times)),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom("y", "ü", "語", "🎉"), fc.integer({ min: 20_000, max: 70_000 }))
      .map(([unit, times]) => unit.repeat(times)),
  },
);
const lineEnd = fc.constantFrom("\n", "\n", "\n", "\r\n", "\r\n", "\r");
/** A text that a failure prints in short. */
interface Sample {
  readonly content: string;
  readonly [fc.toStringMethod]: () => string;
}

const sampleOf = (content: string): Sample => ({
  content,
  [fc.toStringMethod]: () =>
    `${content.length} chars: ${JSON.stringify(content.replace(/(.)\1{20,}/gsu, (run, one) => `${one}{${run.length}}`)).slice(0, 2_000)}`,
});

const text = fc
  .tuple(
    fc.array(fc.tuple(line, lineEnd), { maxLength: 60 }),
    fc.constantFrom("", "no end", "\r"),
    fc.integer({ min: 1, max: 20 }),
  )
  .map(
    ([lines, rest, times]) =>
      lines
        .map(([words, end]) => words + end)
        .join("")
        .repeat(lines.length > 8 ? times : 1) + rest,
  )
  // What begins with a BOM or with control characters is another test's.
  .filter((candidate) => !candidate.startsWith("\ufeff") && !/^[\x01-\x08\x0e-\x1f]/.test(candidate))
  .map(sampleOf);
const range = fc.tuple(fc.integer({ min: 1, max: 90 }), fc.oneof(fc.integer({ min: 1, max: 50 }), fc.constant(2_000)));

const runs = { numRuns: 150 };

/** Found once: behind a line that is longer than a window comes the end of the file. */
const found: [Sample, [number, number]][] = [
  [sampleOf(`${"🎉".repeat(40_000)}\n`), [1, 2]],
  [sampleOf("🎉".repeat(40_000)), [1, 1]],
];

/** Fails with the place of the first difference: whole pages would flood the report. */
function same(actual: unknown, expected: unknown): void {
  const [got, wanted] = [actual, expected].map((value) => JSON.stringify(value) ?? "undefined") as [string, string];
  if (got === wanted) return;
  const at = Array.from(got).findIndex((character, index) => character !== Array.from(wanted)[index]);
  const around = (whole: string): string => whole.slice(Math.max(0, at - 60), at + 60);
  expect(`${got.length} chars, at ${at}: ${around(got)}`).toBe(`${wanted.length} chars, at ${at}: ${around(wanted)}`);
}

/** The engine's own caps in dialects that have none: such pages are another test's. */
const withinCaps = (lines: readonly string[]): boolean =>
  lines.every((words) => words.length <= 100_000) && Buffer.byteLength(lines.join("\n")) <= 1_048_576;

/** Writes the text; a text whose first bytes are mostly control characters counts as binary and is left out. */
function written(content: string): boolean {
  fs.writeFileSync(file, content);
  const head = Buffer.from(content).subarray(0, 4_096);
  const controls = head.filter((byte) => byte < 9 || (byte > 13 && byte < 32)).length;
  return head.length === 0 || controls / head.length <= 0.3;
}

/** A newline ends a line, and the `\r` before it is part of the end. */
function terminatedLines(content: string): string[] {
  const pieces = content.split("\n");
  const last = pieces.pop() ?? "";
  const lines = pieces.map((piece) => (piece.endsWith("\r") ? piece.slice(0, -1) : piece));
  return last === "" ? lines : [...lines, last];
}

/** The page of the opencode dialects: lines cut at 2,000 characters, the page at 51,200 bytes. */
function naivePage(lines: readonly string[], from: number, limit: number): { lines: string[]; byBytes: boolean } {
  const shown: string[] = [];
  let bytes = 0;
  for (const whole of lines.slice(from - 1, from - 1 + limit)) {
    let cut = whole.slice(0, 2_000);
    if (whole.length > 2_000 && /[\ud800-\udbff]$/.test(cut)) cut = cut.slice(0, -1);
    const words = whole.length > 2_000 ? `${cut}...` : whole;
    const size = Buffer.byteLength(words) + (shown.length > 0 ? 1 : 0);
    if (bytes + size > 51_200) return { lines: shown, byBytes: true };
    shown.push(words);
    bytes += size;
  }
  return { lines: shown, byBytes: false };
}

function footer(page: { lines: string[]; byBytes: boolean }, from: number, total: number): string {
  const last = from - 1 + page.lines.length;
  if (page.byBytes) return `(Output truncated at 51200 bytes. Use 'offset' parameter to read beyond line ${last})`;
  if (last < total) return `(File has more lines. Use 'offset' parameter to read beyond line ${last})`;
  return `(End of file - total ${total} lines)`;
}

test("opencode-legacy shows what split, slice and join show", async () => {
  const session = filehand.session({ dialect: "opencode-legacy" });
  await fc.assert(
    fc.asyncProperty(text, range, async ({ content }, [from, limit]) => {
      fc.pre(written(content));
      const lines = content.split("\n");
      const page = naivePage(lines, from, limit);
      const numbered = page.lines.map((words, index) => `${String(from + index).padStart(5, "0")}| ${words}`);
      const foot =
        from > lines.length ? `(End of file - total ${lines.length} lines)` : footer(page, from, lines.length);
      const result = await session.tools.read({ filePath: "file.txt", offset: from - 1, limit });
      same(result.output, `<file>\n${numbered.join("\n")}\n\n${foot}\n</file>`);
      same(result.metadata.preview, page.lines.slice(0, 20).join("\n"));
      expect(result.metadata.truncated).toBe(!foot.startsWith("(End"));
    }),
    { ...runs, examples: found },
  );
});

test("opencode shows the lines that newlines end", async () => {
  const session = filehand.session({ dialect: "opencode" });
  await fc.assert(
    fc.asyncProperty(text, range, async ({ content }, [from, limit]) => {
      fc.pre(written(content));
      const lines = terminatedLines(content);
      const reply = await session.call("read", { filePath: "file.txt", offset: from, limit });
      if (from > Math.max(1, lines.length)) {
        expect(reply.error?.message).toBe(`Offset ${from} is out of range for this file (${lines.length} lines)`);
        return;
      }
      const page = naivePage(lines, from, limit);
      const numbered = page.lines.map((words, index) => `${from + index}: ${words}`).join("\n");
      const foot = footer(page, from, lines.length);
      const output = `<path>${file}</path>\n<type>file</type>\n<content>\n${numbered}\n\n${foot}\n</content>`;
      same((reply.structured as { output: string }).output, output);
    }),
    runs,
  );
});

test("claude gives the text itself, and the exact total", async () => {
  const session = filehand.session({ dialect: "claude" });
  await fc.assert(
    fc.asyncProperty(text, range, async ({ content }, [from, limit]) => {
      fc.pre(written(content));
      const lines = terminatedLines(content);
      const reply = await session.call("Read", { file_path: file, offset: from, limit });
      if (from > Math.max(1, lines.length)) {
        expect(reply.error?.code).toBe("INVALID_PARAM");
        return;
      }
      const shown = lines.slice(from - 1, from - 1 + limit);
      fc.pre(withinCaps(shown));
      same(reply.structured, {
        type: "text",
        file: {
          filePath: file,
          content: shown.join("\n"),
          numLines: shown.length,
          startLine: from,
          totalLines: lines.length,
        },
      });
    }),
    runs,
  );
});

test("envelope counts lines and code points", async () => {
  const session = filehand.session({ dialect: "envelope" });
  await fc.assert(
    fc.asyncProperty(text, range, async ({ content }, [from, limit]) => {
      fc.pre(written(content));
      const lines = terminatedLines(content);
      const result = await session.tools.Read({ path: "file.txt", start_line: from, limit });
      if (from > Math.max(1, lines.length)) {
        expect(result.status).toBe("error");
        return;
      }
      const shown = lines.slice(from - 1, from - 1 + limit);
      const ended = content.split(/(?<=\n)/).slice(from - 1, from - 1 + limit);
      fc.pre(withinCaps(shown));
      if (result.status === "error") throw new Error(result.text);
      same(result.status, from - 1 + shown.length < lines.length ? "partial" : "success");
      same(
        result.data.content,
        shown.map((words, index) => `${String(from + index).padStart(4)} | ${words}\n`).join(""),
      );
      same(
        [result.stats.lines_read, result.stats.chars_read, result.stats.total_lines, result.stats.file_size_bytes],
        [shown.length, Array.from(ended.join("")).length, lines.length, Buffer.byteLength(content)],
      );
    }),
    runs,
  );
});

test("the last lines are the same from the end as from the beginning", async () => {
  const session = filehand.session({ dialect: "claude" });
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 40 }), async ({ content }, last) => {
      fc.pre(written(content));
      const lines = terminatedLines(content);
      const { reply } = await session.run((profile) => ({
        verb: "read",
        path: file,
        ranges: [{ last }],
        overBudget: "first page",
        profile,
      }));
      fc.pre(withinCaps(lines.slice(-last)));
      const { file: shown } = reply.structured as { file: { content: string; totalLines: number } };
      same([shown.content, shown.totalLines], [lines.slice(-last).join("\n"), lines.length]);
    }),
    runs,
  );
});

for (const encoding of ["utf16le", "utf16be", "utf32le", "utf32be"] as const) {
  test(`${encoding} text with a BOM reads as the same text in UTF-8`, async () => {
    const session = filehand.session({ dialect: "claude" });
    await fc.assert(
      fc.asyncProperty(text, range, async ({ content }, [from, limit]) => {
        const lines = terminatedLines(content);
        fc.pre(from <= lines.length);
        fs.writeFileSync(file, encoded(content, encoding));
        const reply = await session.call("Read", { file_path: file, offset: from, limit });
        const shown = lines.slice(from - 1, from - 1 + limit);
        fc.pre(withinCaps(shown));
        const { file: got } = reply.structured as { file: { content: string; totalLines: number } };
        same([got.content, got.totalLines], [shown.join("\n"), lines.length]);
      }),
      { numRuns: 60 },
    );
  });
}

function encoded(content: string, encoding: "utf16le" | "utf16be" | "utf32le" | "utf32be"): Buffer {
  const marked = `\ufeff${content}`;
  if (encoding.startsWith("utf16")) {
    const little = Buffer.from(marked, "utf16le");
    return encoding === "utf16le" ? little : little.swap16();
  }
  const points = Array.from(marked, (character) => character.codePointAt(0) ?? 0);
  const little = Buffer.alloc(points.length * 4);
  for (const [index, point] of points.entries()) little.writeUInt32LE(point, index * 4);
  return encoding === "utf32le" ? little : little.swap32();
}
