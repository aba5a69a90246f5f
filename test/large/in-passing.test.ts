/**
 * A file that could be held in memory is searched as it goes by if it is large and at rest. That must not show: the reply
 * and the bytes are those of an edit of the same file held, as one is that was just written.
 */

import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { limits } from "../../src/contract/limits.ts";
import { createFilehand, type Session } from "../../src/index.ts";

const root = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-in-passing-"));
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));
afterEach(() => void vi.useRealTimers());
const file = path.join(root, "a.txt");

const session = (): Session => createFilehand({ roots: [root], ask: "yes", readFirst: false }).session();

/** An hour later nothing here was changed a moment ago. */
function restFiles(): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
}

const lines = (line: string, bytes: number): string => line.repeat(Math.ceil(bytes / Buffer.byteLength(line)));
const [above, below] = [lines("größer und weiter\n", 1_400_000), lines("more of the same\n", 1_300_000)];
const crlf = (text: string): string => text.replaceAll("\n", "\r\n");
const around = (middle: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(above), Buffer.from(middle), Buffer.from(below)]);

/** A refusal is told by its code. */
const cases: readonly (readonly [
  name: string,
  before: Buffer,
  input: { readonly old_string: string; readonly new_string: string; readonly replace_all?: boolean },
  after: Buffer | string,
])[] = [
  ["a line", around("only é here\n"), { old_string: "only é", new_string: "$& ü" }, around("$& ü here\n")],
  ["at the beginning", Buffer.from(`first\n${below}${below}`), edit("first\n", ""), Buffer.from(below + below)],
  ["at the end", Buffer.from(`${below}${below}last`), edit("last", "no more"), Buffer.from(`${below}${below}no more`)],
  ["several lines", around("one\ntwo\n"), edit("one\ntwo", "1\n2\n3"), around("1\n2\n3\n")],
  [
    "behind a mark",
    Buffer.from(`\ufeff${below}${below}here`),
    edit("here", "there"),
    Buffer.from(`\ufeff${below}${below}there`),
  ],
  [
    "lines in a file with CRLF get its ends",
    Buffer.from(crlf(`${above}one\ntwo\n${below}`)),
    edit("one\ntwo", "1\n2\n3"),
    Buffer.from(crlf(`${above}1\n2\n3\n${below}`)),
  ],
  [
    "a new line in a file with CRLF gets its end",
    Buffer.from(crlf(`${above}one\n${below}`)),
    edit("one", "1\n2"),
    Buffer.from(crlf(`${above}1\n2\n${below}`)),
  ],
  [
    "a text that begins with the end of a line, in a file with CRLF",
    Buffer.from(crlf(`${above}one\ntwo\n${below}`)),
    edit("\ntwo", "\n2\n3"),
    Buffer.from(crlf(`${above}one\n2\n3\n${below}`)),
  ],
  [
    "a new line where line ends are mixed",
    Buffer.from(`${crlf(below)}one\n${crlf(below)}`),
    edit("one", "1\n2"),
    Buffer.from(`${crlf(below)}1\n2\n${crlf(below)}`),
  ],
  [
    "lines with both line ends",
    Buffer.from(`${crlf(below)}one\ntwo\r\n${crlf(below)}`),
    edit("one\ntwo", "1\n2\n3"),
    Buffer.from(`${crlf(below)}1\n2\n3\r\n${crlf(below)}`),
  ],
  [
    "a byte at the end that is no UTF-8 decides the encoding",
    Buffer.from(`${below}${below}here\ngar\xe7on\n`, "latin1"),
    edit("here", "là"),
    Buffer.from(`${below}${below}l\xe0\ngar\xe7on\n`, "latin1"),
  ],
  ["curly quotes are found at the second look", around("say “x”\n"), edit('say "x"', 'say "y"'), around("say “y”\n")],
  ["every place", around("x1\nx1\n"), { ...edit("x1", "y"), replace_all: true }, around("y\ny\n")],
  ["two places", around("x1\nx1\n"), edit("x1", "y"), "AMBIGUOUS"],
  ["no place", around("x1\n"), edit("not there at all", "y"), "NO_MATCH"],
  ["a mark at the beginning of the call is no text", around("here\n"), edit("\ufeffhere", "there"), around("there\n")],
];

function edit(old_string: string, new_string: string): { readonly old_string: string; readonly new_string: string } {
  return { old_string, new_string };
}

describe("a large file at rest is edited as if it were held", () => {
  for (const [name, before, input, after] of cases) {
    test(name, async () => {
      expect(before.length).toBeGreaterThan(limits.editPassedBytesMin);
      const results = [];
      for (const rest of [() => undefined, restFiles]) {
        fs.writeFileSync(file, before);
        rest();
        const { content, structured, error } = await session().call("Edit", { file_path: file, ...input });
        results.push({ content, structured, error });
        expect(error?.code).toBe(typeof after === "string" ? after : undefined);
        expect(fs.readFileSync(file).equals(typeof after === "string" ? before : after)).toBe(true);
      }
      expect(results[1]).toEqual(results[0]);
    });
  }

  test("a file that becomes small is known by its content afterwards", async () => {
    const long = `${lines("a line that goes\n", 1_500_000)}end\n`;
    fs.writeFileSync(file, `small\n${long}${lines("stays\n", 700_000)}`);
    restFiles();
    const careful = createFilehand({ roots: [root], ask: "yes" }).session();
    await careful.markRead(file, { sha256: createHash("sha256").update(fs.readFileSync(file)).digest("hex") });
    const first = await careful.call("Edit", { file_path: file, old_string: `${long}stays`, new_string: "stays" });
    expect(first.error).toBeUndefined();
    vi.useRealTimers();
    fs.utimesSync(file, new Date(), new Date(0)); // a touch is no change
    const second = await careful.call("Edit", { file_path: file, old_string: "small", new_string: "still known" });
    expect(second.error).toBeUndefined();
    expect(fs.readFileSync(file, "utf8")).toBe(`still known\n${lines("stays\n", 700_000)}`);
  });
});
