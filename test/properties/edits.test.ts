/** Any file, any edit: the bytes are as they were and the answer is an error, or they are what was asked for. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import * as fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { createFilehand, type Reply } from "../../src/index.ts";
import { brokenLetters, bytesOf, type TextForm, textForms } from "../support/encoded-text.ts";

const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "filehand-edits-"));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));
const file = path.join(folder, "file.txt");
const filehand = createFilehand({ roots: [folder], ask: "yes" });

/** Few letters, so that texts stand in several places; what a pattern or a template would take for its own. */
const asciiUnits = ["a", "b", "ab", " ", "\t", "$&", "$$", "$1", "$`", "\\", '"', "'", "(", "."];
const lineEnds = ["\n", "\n", "\r\n", "\r\n", "\r"];

const textOf = (units: readonly string[], lengthMax: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...units), { maxLength: lengthMax }).map((parts) => parts.join(""));

interface Sample {
  readonly form: TextForm;
  readonly text: string;
  readonly [fc.toStringMethod]: () => string;
}

const sampleIn = (form: TextForm, more: readonly string[] = []): fc.Arbitrary<Sample> =>
  textOf([...asciiUnits, ...form.letters, ...lineEnds, ...more], 40).map((text) => ({
    form,
    text: form.head + text,
    [fc.toStringMethod]: () => `${form.name} ${JSON.stringify(text)}`,
  }));

const newTextIn = (form: TextForm): fc.Arbitrary<string> =>
  textOf([...asciiUnits, ...form.letters, "\n", "\n", "\r\n"], 8);

/** A part of a text: between characters, and neither end within a CRLF. */
const spanOf = (text: string, [start, length]: readonly [number, number]): string => {
  const between = (at: number): boolean =>
    !(text[at - 1] === "\r" && text[at] === "\n") && !/^[\udc00-\udfff]/.test(text.slice(at, at + 1));
  let from = Math.floor(start * text.length);
  while (!between(from)) from -= 1;
  let to = Math.min(text.length, from + 1 + Math.floor(length * length * 12));
  while (!between(to)) to += 1;
  return text.slice(from, to);
};

/** Where a text stands; a newline is never taken without the `\r` before it. */
function placesIn(text: string, wanted: string, apart: boolean): readonly number[] {
  const found: number[] = [];
  if (wanted === "") return found;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    const torn = wanted.startsWith("\n") && text[at - 1] === "\r";
    if (!torn && !(apart && at < (found.at(-1) ?? -Infinity) + wanted.length)) found.push(at);
  }
  return found;
}

/** The line end around a place: that of its line, or of the line before the last one. */
function lineEndAt(text: string, at: number): string | undefined {
  const ends = [...text.matchAll(text.includes("\n") ? /\r?\n/g : /\r/g)];
  return (ends.find((end) => at < end.index + end[0].length) ?? ends.at(-1))?.[0];
}

/** Lines get the end of the lines that they replace or of the line they come into, unless line ends are all that differs. */
function written(text: string, at: number, oldText: string, newText: string): string {
  const lineEnd = text.includes("\n") ? /\r?\n/g : /\r?\n|\r/g;
  const replaced = new Set(oldText.match(lineEnd));
  const unix = (words: string): string => words.replace(lineEnd, "\n");
  const end = replaced.size === 0 ? lineEndAt(text, at) : [...replaced][0];
  if (end === undefined || (replaced.size > 0 && unix(oldText) === unix(newText))) return newText;
  return newText.replace(/\r?\n/g, () => end);
}

/** What lines become whose own ends differ is told by a table of the ladder, not by this model. */
const isMixed = (text: string, { oldText, newText }: Pick<Edit, "oldText" | "newText">): boolean =>
  text.includes("\n") && new Set(oldText.match(/\r?\n/g)).size > 1 && newText.includes("\n");

interface Edit {
  readonly oldText: string;
  readonly newText: string;
  readonly all: boolean;
}

/** What an edit makes of a text, or why it does not. */
function expected(
  text: string,
  { oldText, newText, all }: Edit,
): { readonly text: string; readonly places: number } | string {
  if (oldText === newText) return "INVALID_PARAM";
  const places = placesIn(text, oldText, all);
  if (places.length > 1 && !all) return "AMBIGUOUS";
  let result = "";
  let done = 0;
  for (const at of places) {
    result += text.slice(done, at) + written(text, at, oldText, newText);
    done = at + oldText.length;
  }
  return { text: result + text.slice(done), places: places.length };
}

async function edited(
  sample: Sample,
  edits: readonly Edit[],
): Promise<{ readonly reply: Reply; readonly after: Buffer }> {
  fs.writeFileSync(file, bytesOf(sample.form, sample.text));
  const session = filehand.session();
  const read = await session.call("Read", { file_path: "file.txt" });
  if (sample.text !== "") expect(JSON.stringify(read)).toContain(encodingWords(sample.form));
  const [only] = edits;
  const parts = edits.map(({ oldText, newText, all }) => ({
    old_string: oldText,
    new_string: newText,
    replace_all: all,
  }));
  const reply =
    edits.length === 1 && only !== undefined
      ? await session.call("Edit", { file_path: "file.txt", ...parts[0] })
      : await session.call("MultiEdit", { file_path: "file.txt", edits: parts });
  return { reply, after: fs.readFileSync(file) };
}

/** What a Read says of a file, so that the test knows that it is taken for what it is. */
const encodingWords = ({ encoding }: TextForm): string => (encoding === "utf-8" ? "text" : encoding);

const readable = (bytes: Buffer): string => bytes.toString("latin1");

const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const span = fc.tuple(fraction, fraction);
const runs = { numRuns: 120 };

for (const form of textForms) {
  const isUnicode = form.encoding.startsWith("utf-");
  describe(form.name, () => {
    test("an edit of a text that stands there changes just that", async () => {
      const samples = sampleIn(form, isUnicode && form.head === "" ? brokenLetters : []);
      await fc.assert(
        fc.asyncProperty(samples, span, newTextIn(form), fc.boolean(), async (sample, part, newText, all) => {
          const oldText = spanOf(sample.text, part);
          fc.pre(oldText !== "" && !brokenLetters.some((letter) => oldText.includes(letter)));
          fc.pre(!isMixed(sample.text, { oldText, newText }));
          const wanted = expected(sample.text, { oldText, newText, all });
          const { reply, after } = await edited(sample, [{ oldText, newText, all }]);
          if (typeof wanted === "string") {
            expect(reply.error?.code).toBe(wanted);
            expect(readable(after)).toBe(readable(bytesOf(form, sample.text)));
            return;
          }
          expect(readable(after)).toBe(readable(bytesOf(form, wanted.text)));
          expect(reply.error).toBeUndefined();
          expect(JSON.stringify(reply.content)).toContain(
            `${wanted.places} ${wanted.places === 1 ? "replacement" : "replacements"}`,
          );
          judgePatch(reply, sample.text, wanted.text);
        }),
        runs,
      );
    });

    test("several edits are made in their order, all of them or none", async () => {
      const edit = fc.record({ part: span, newText: newTextIn(form), all: fc.boolean() });
      await fc.assert(
        fc.asyncProperty(sampleIn(form), fc.array(edit, { minLength: 2, maxLength: 4 }), async (sample, chosen) => {
          let text = sample.text;
          let failure: string | undefined;
          const edits: Edit[] = [];
          for (const { part, newText, all } of chosen) {
            const oldText = spanOf(text, part);
            fc.pre(oldText !== "" && !isMixed(text, { oldText, newText }));
            edits.push({ oldText, newText, all });
            const wanted = expected(text, { oldText, newText, all });
            // What is wrong with a call is told before its texts are looked for.
            if (typeof wanted === "string")
              failure = failure === undefined || wanted === "INVALID_PARAM" ? wanted : failure;
            else text = wanted.text;
          }
          // Behind one that failed, others are about a text that never was.
          const { reply, after } = await edited(sample, edits);
          expect(reply.error?.code).toBe(failure);
          expect(readable(after)).toBe(readable(bytesOf(form, failure === undefined ? text : sample.text)));
        }),
        runs,
      );
    });

    test("lines sent with LF are found whatever their ends, and every line keeps its own", async () => {
      await fc.assert(
        fc.asyncProperty(sampleIn(form), span, newTextIn(form), async (sample, part, sent) => {
          const text = sample.text.replace(/\r(?!\n)/g, "");
          const unix = (words: string): string => words.replaceAll("\r\n", "\n");
          const oldText = unix(spanOf(text, part));
          const newText = unix(sent);
          const places = placesIn(unix(text), oldText, false);
          fc.pre(oldText.trim() !== "" && oldText !== newText && places.length === 1);
          const { reply, after } = await edited({ ...sample, text }, [{ oldText, newText, all: false }]);
          expect(reply.error).toBeUndefined();
          const [at = 0] = places;
          const wanted = unix(text).slice(0, at) + newText + unix(text).slice(at + oldText.length);
          const now = decoded(form, after);
          expect(unix(now)).toBe(wanted);
          const [before, behind] = around(text, at, oldText.length);
          expect(now.startsWith(before)).toBe(true);
          expect(now.endsWith(behind)).toBe(true);
          const ends = new Set(text.match(/\r?\n/g));
          if (ends.size === 1) expect([...new Set([...(now.match(/\r?\n/g) ?? []), ...ends])]).toEqual([...ends]);
          expect(now).not.toContain("\r\r");
        }),
        runs,
      );
    });

    test("a text that is not there leaves every byte, whatever the answer", async () => {
      await fc.assert(
        fc.asyncProperty(sampleIn(form), newTextIn(form), async (sample, newText) => {
          const { reply, after } = await edited(sample, [{ oldText: "not here at all", newText, all: false }]);
          expect(reply.error?.code).toBe("NO_MATCH");
          expect(readable(after)).toBe(readable(bytesOf(form, sample.text)));
        }),
        { numRuns: 30 },
      );
    });

    test("a write keeps the mark and the encoding, and writes the rest as sent", async () => {
      await fc.assert(
        fc.asyncProperty(sampleIn(form), newTextIn(form), async (sample, content) => {
          fs.writeFileSync(file, bytesOf(form, sample.text));
          const session = filehand.session();
          await session.call("Read", { file_path: "file.txt" });
          const reply = await session.call("Write", { file_path: "file.txt", content });
          expect(reply.error).toBeUndefined();
          expect(readable(fs.readFileSync(file))).toBe(readable(bytesOf(form, content)));
          // A few letters alone do not say which encoding they are in.
          if (form.bom.length === 0 && form.encoding !== "utf-8") return;
          expect((await session.call("Write", { file_path: "file.txt", content })).content).toMatchObject([
            { text: expect.stringContaining("nothing was written") },
          ]);
        }),
        { numRuns: 60 },
      );
    });
  });
}

/** The text of a file that the engine wrote, by the characters that such a file can have. */
function decoded(form: TextForm, bytes: Buffer): string {
  const body = bytes.subarray(form.bom.length);
  if (form.encoding === "utf-32le" || form.encoding === "utf-32be") {
    const words = Array.from({ length: body.length / 4 }, (_, at) =>
      form.encoding === "utf-32le" ? body.readUInt32LE(at * 4) : body.readUInt32BE(at * 4),
    );
    return String.fromCodePoint(...words);
  }
  if (form.encoding === "windows-1252") return body.toString("latin1").replaceAll("\x80", "€");
  return new TextDecoder(form.encoding, { fatal: true, ignoreBOM: true }).decode(body);
}

/** What stands before and behind a place that was found in the text with LF. */
function around(text: string, at: number, length: number): readonly [string, string] {
  const offsetOf = (wanted: number): number => {
    let seen = 0;
    let offset = 0;
    while (seen < wanted) {
      if (text[offset] !== "\r") seen += 1;
      offset += 1;
    }
    return offset;
  };
  const behind = text.slice(offsetOf(at + length));
  return [text.slice(0, offsetOf(at)).replace(/\r$/, ""), behind];
}

interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
}

/** The diff of the answer, applied to the old text, gives the new one; line ends are not part of its lines. */
function judgePatch(reply: Reply, before: string, after: string): void {
  const { structuredPatch } = reply.structured as { readonly structuredPatch: readonly Hunk[] };
  const oldLines = linesOf(before);
  const result: string[] = [];
  let at = 0;
  for (const { oldStart, oldLines: count, newStart, newLines, lines } of structuredPatch) {
    const start = count === 0 ? oldStart : oldStart - 1;
    result.push(...oldLines.slice(at, start));
    expect(newStart).toBe(result.length + (newLines === 0 ? 0 : 1));
    const side = (mark: "-" | "+"): string[] =>
      lines.filter((line) => line.startsWith(mark) || line.startsWith(" ")).map((line) => bare(line.slice(1)));
    expect(side("-")).toEqual(oldLines.slice(start, start + count));
    expect(side("+")).toHaveLength(newLines);
    result.push(...side("+"));
    at = start + count;
  }
  expect([...result, ...oldLines.slice(at)]).toEqual(linesOf(after));
}

function linesOf(text: string): string[] {
  const lines = text.replace(/[\ue000-\ue002]/g, "\ufffd").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map(bare);
}

/** How many signs stand for what cannot be decoded is not told apart here, nor is a `\r` at the end of a line. */
const bare = (line: string): string => line.replace(/\r+$/, "").replace(/\ufffd+/g, "\ufffd");
