/**
 * An edit is made by one of several engines: a search for the exact text in the bytes of a file, in memory or not, or the ladder
 * of looser comparisons over its text, with an index or without. All give the same bytes, hunks, question, notes and errors.
 */

import { Buffer } from "node:buffer";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EditFound, EditRequest, Piece, TextEdit } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import { Problem } from "../../contract/problem.ts";
import type { EncodingName } from "../../contract/read.ts";
import type { Target } from "../../contract/target.ts";
import type { OpenFile } from "../../disk/lookup/open-file.ts";
import { nothingShown, type Seen } from "../../session/ledger.ts";
import { type DiffLimits, diffLimits } from "../../text/diff/hunks.ts";
import { encode } from "../../text/encoding/encode.ts";
import { withoutMark } from "../../text/match/match.ts";
import { sourceText } from "../../text/source.ts";
import type { Diff, Planned } from "../change/change.ts";
import type { CurrentFile } from "../change/current-file.ts";
import { type Prepared, questionOf } from "../change/prepare.ts";
import { planEdits } from "./edit.ts";
import { type EditEngines, editEngines } from "./edit-text.ts";

const target = { asked: "a.txt", relative: "a.txt", absolute: "/a.txt", real: "/a.txt" } as Target; // only handed on
const changes = { readFirst: "lines", staleness: "content-match", hardLinks: "separate", writeEol: "as sent" } as const;
const context = {
  signal: new AbortController().signal,
  onProgress: undefined,
  changes: { ...changes, editBytesMax: limits.editBytesMax },
};

interface Sample {
  readonly text: string;
  readonly encoding: EncodingName;
  readonly bom: boolean;
  readonly seen: Seen;
}

function bytesOf({ text, encoding, bom }: Sample): Buffer {
  const encoded = encode(text, encoding);
  if ("lacks" in encoded) throw new Error(`${encoding} lacks ${encoded.lacks}`);
  return Buffer.concat([Buffer.from(bom ? "\ufeff" : ""), encoded.bytes]);
}

/** A file as an edit gets it; outside of memory, its bytes can only be read. */
function beforeOf(sample: Sample, bytes: Buffer, isHeld: boolean): CurrentFile {
  const form = { encoding: sample.encoding, bomBytes: sample.bom ? 3 : 0 };
  const read = (into: Uint8Array, at: number): number => {
    const part = bytes.subarray(at, at + into.length);
    into.set(part);
    return part.length;
  };
  const file = { sizeBytes: bytes.length, mtimeMs: 0, read } as unknown as OpenFile; // all that a plan looks at
  const fingerprint = undefined as unknown as CurrentFile["fingerprint"]; // not looked at either
  const isGuess = !isHeld && !sample.bom && sample.encoding === "utf-8";
  return {
    target,
    file,
    form,
    bytes: isHeld ? bytes : undefined,
    head: isGuess ? bytes.subarray(0, 64) : undefined,
    source: () => sourceText(isHeld ? bytes : Buffer.alloc(0), form),
    seen: sample.seen,
    rules: changes,
    whole: async () => beforeOf(sample, bytes, true),
    fingerprint,
    remember: undefined,
  };
}

async function madeOf(pieces: readonly Piece[], old: Buffer): Promise<string> {
  const parts: Uint8Array[] = [];
  for (const piece of pieces) {
    if (piece instanceof Uint8Array) parts.push(piece);
    else parts.push("make" in piece ? await piece.make() : old.subarray(piece.from, piece.to));
  }
  return Buffer.concat(parts).toString("latin1");
}

interface Result {
  readonly code?: string;
  readonly bytes?: string | undefined;
  readonly diff?: Diff | undefined;
  readonly [what: string]: unknown;
}

async function run(
  sample: Sample,
  edits: EditRequest["edits"],
  isHeld: boolean,
  engines: EditEngines,
): Promise<Result> {
  const bytes = bytesOf(sample);
  const current = beforeOf(sample, bytes, isHeld);
  let planned: Planned<readonly EditFound[]>;
  try {
    planned = await planEdits(current, { edits }, context, engines);
  } catch (error) {
    if (error instanceof Problem) return { ...error.data };
    throw error;
  }
  const { diff, notes, wrote, extra } = planned;
  const file = { mode: 0o644 };
  const prepared = { is: "there", target, file, diff, planned, extra } as unknown as Prepared<unknown>; // what a question looks at
  return {
    bytes: await madeOf(planned.pieces, bytes),
    diff,
    question: questionOf(prepared),
    notes,
    wrote,
    found: extra,
    // A file outside of memory is not decoded for it.
    before: isHeld ? planned.before : undefined,
  };
}

const never = Number.POSITIVE_INFINITY;

/** Every way to make an edit of a file that fits in memory, and the one of a file that does not. */
function enginesFor(shows: DiffLimits) {
  const text: EditEngines = { ...editEngines, bytesFirstMin: never, indexedEditsMin: never, shows };
  const bytes: EditEngines = { ...text, bytesFirstMin: 0 };
  return {
    text: { isHeld: true, engines: text },
    others: {
      indexed: { isHeld: true, engines: { ...text, indexedEditsMin: 1 } },
      bytes: { isHeld: true, engines: bytes },
      "bytes not held": { isHeld: false, engines: bytes },
      "bytes, places not kept": { isHeld: true, engines: { ...bytes, placesKeptMax: 2 } },
    },
    streamed: {
      streamed: { isHeld: false, engines: { ...bytes, inMemoryBytesMax: -1 } },
      "streamed, places not kept": { isHeld: false, engines: { ...bytes, inMemoryBytesMax: -1, placesKeptMax: 2 } },
    },
  };
}

/**
 * The error for a file that is too large for memory: several edits, too many places to keep, or no exact match. Undefined where
 * the result is the same as for a file in memory.
 */
function refusalOf(sample: Sample, edits: EditRequest["edits"], { placesKeptMax }: EditEngines): Result | undefined {
  const tooLarge = { code: "TOO_LARGE", place: target, kind: "text" };
  if (edits.length > 1) {
    return { ...tooLarge, limit: "one edit at a time in a file of this size", remedy: "one by one" };
  }
  const { oldText, newText, all: every } = withoutMark(edits[0]);
  const isDouble = sample.encoding === "shift_jis";
  // An error lists the first 50.
  const hitsMax = Math.max(50, placesKeptMax);
  const needle = encode(oldText, sample.encoding);
  const bytePlaces = (wanted: Uint8Array): readonly number[] =>
    placesOf(bytesOf(sample).toString("latin1"), Buffer.from(wanted).toString("latin1"));
  if (isDouble && "bytes" in needle && bytePlaces(needle.bytes).length > hitsMax) {
    return { ...tooLarge, limit: `${hitsMax} places of these bytes` };
  }
  const isTorn = (at: number): boolean => oldText.startsWith("\n") && sample.text[at - 1] === "\r";
  const found = placesOf(sample.text, oldText);
  const whole = found.filter((at) => !isTorn(at));
  const servesTorn = newText.startsWith("\n") && !/[\r\n]/.test(oldText.slice(1));
  const places = whole.length > 0 || !servesTorn ? whole : found;
  if (places.length === 0 || oldText === newText) {
    const which = { index: 1, of: 1, othersFound: [] };
    return { code: "NO_MATCH", place: target, which, nearest: undefined, searched: "exactly" };
  }
  let end = 0;
  const apart = places.filter((at) => at >= end && (end = at + oldText.length) > 0);
  const isSimple = !isDouble && !/[\r\n]/.test(newText) && !/^\n|\n$/.test(oldText);
  if (!every || isSimple || apart.length <= placesKeptMax) return undefined;
  return { ...tooLarge, limit: `${placesKeptMax} replacements at once` };
}

/** The offsets of a text in another, overlapping ones included. */
function placesOf(text: string, wanted: string): readonly number[] {
  const places: number[] = [];
  if (wanted === "") return places;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) places.push(at);
  return places;
}

/** Compares as JSON first: most results are equal, and that is faster than `toEqual`. */
function same(name: string, result: Result, expected: Result): void {
  if (JSON.stringify(result) !== JSON.stringify(expected)) expect({ name, ...result }).toEqual({ name, ...expected });
}

/** Checks that hunks have the lines of the file before and after the change, at their line numbers. */
function judgeHunks(sample: Sample, result: Result): void {
  if (result.code !== undefined || sample.encoding !== "utf-8" || result.diff === undefined) return;
  const linesIn = (bytes: Buffer): readonly string[] =>
    bytes
      .toString("utf8")
      .replace(/^\ufeff/, "")
      .split("\n");
  const [old, made] = [linesIn(bytesOf(sample)), linesIn(Buffer.from(result.bytes ?? "", "latin1"))];
  for (const { oldStart, newStart, lines, lineEnd } of result.diff.hunks) {
    const end = lineEnd === "\r\n" ? "\r" : "";
    // The row about a missing newline follows its line.
    const rows = lines.map((row, at) => (lines[at + 1]?.startsWith("\\") === true ? row : row + end));
    const side = (sign: string): readonly string[] =>
      rows.filter((row) => row.startsWith(" ") || row.startsWith(sign)).map((row) => row.slice(1));
    const [went, came] = [side("-"), side("+")];
    expect(went).toEqual(old.slice(Math.max(0, oldStart - 1)).slice(0, went.length));
    expect(came).toEqual(made.slice(Math.max(0, newStart - 1)).slice(0, came.length));
  }
}

async function compare(sample: Sample, edits: EditRequest["edits"], shows: DiffLimits = diffLimits): Promise<Result> {
  const { text, others, streamed } = enginesFor(shows);
  const expected = await run(sample, edits, text.isHeld, text.engines);
  judgeHunks(sample, expected);
  expect(JSON.stringify(expected["question"] ?? "").length).toBeLessThan(
    10 * (shows.charsMax + 100 * shows.linesMax) + 1_000,
  );
  for (const [name, { isHeld, engines }] of Object.entries(others)) {
    // Several edits always go to the text engine, and only they use an index.
    if (edits.length > 1 !== (name === "indexed")) continue;
    const before = isHeld ? expected["before"] : undefined;
    same(name, await run(sample, edits, isHeld, engines), { ...expected, before });
  }
  for (const [name, { isHeld, engines }] of Object.entries(streamed)) {
    // An empty file is never too large for memory.
    if (sample.text === "") continue;
    const refusal = expected.code === "INVALID_PARAM" ? undefined : refusalOf(sample, edits, engines);
    same(name, await run(sample, edits, isHeld, engines), refusal ?? { ...expected, before: undefined });
  }
  return expected;
}

const all: Seen = { state: "fresh", whole: true, ...nothingShown };
const sampleOf = (text: string, more: Partial<Sample> = {}): Sample => ({
  text,
  encoding: "utf-8",
  bom: false,
  seen: all,
  ...more,
});
const editOf = (oldText: string, newText: string, every = false): TextEdit => ({ oldText, newText, all: every });

// Random files: few different lines, so that texts occur in several places.

const contents = ["", "a", "b", "ab", "  a", "\ta", "a ", "aa", "}", "é", "“a”", "a\u00a0b", "🙂", "1: a", "long long"];
const narrow = contents.filter((line) => /^[\0-\x7f]*$/.test(line));
const double = [...narrow, "表", "ソa", "ア"];
const lineEnds = fc.constantFrom(["\n"], ["\n"], ["\r\n"], ["\n", "\r\n"], ["\r"], ["\n", "\r"]);

interface Kind {
  readonly encoding: EncodingName;
  readonly lines: readonly string[];
}
const kinds = fc.constantFrom<Kind>(
  { encoding: "utf-8", lines: contents },
  { encoding: "utf-8", lines: contents },
  { encoding: "utf-8", lines: narrow },
  { encoding: "windows-1252", lines: [...narrow, "é", "“a”"] },
  { encoding: "shift_jis", lines: double },
);

const textIn = ({ lines }: Kind, ends: readonly string[], maxLength: number): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.array(fc.tuple(fc.constantFrom(...lines), fc.constantFrom(...ends), fc.integer({ min: 0, max: 30 })), {
        maxLength,
      }),
      fc.boolean(),
    )
    .map(([parts, endsWithLine]) => {
      const text = parts.map(([line, end, long]) => `${long === 0 ? line.repeat(40) : line}${end}`).join("");
      return endsWithLine ? text : text.replace(/[\r\n]+$/, "");
    });

const spans: fc.Arbitrary<Seen> = fc.oneof(
  { weight: 6, arbitrary: fc.constant(all) },
  {
    weight: 2,
    arbitrary: fc.array(fc.tuple(fc.integer({ min: 1, max: 20 }), fc.nat(9)), { minLength: 1, maxLength: 3 }).map(
      (shown): Seen => ({
        state: "fresh",
        whole: false,
        ...nothingShown,
        shown: shown.map(([from, more]) => ({ from, to: from + more })),
      }),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Seen>({ state: "changed", sizeThen: 5 }) },
);

/** A part of the text, exact and then as callers misquote it: the steps of the ladder. */
const slips: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text,
  (text) => text,
  (text) => text.replaceAll("\r\n", "\n"),
  (text) => text.replaceAll("“", '"').replaceAll("”", '"'),
  (text) => text.replaceAll("\u00a0", " "),
  (text) => text.replace(/[ \t]+$/gm, ""),
  (text) => text.replace(/^[ \t]+/gm, ""),
  (text) => text.replace(/^/gm, "  "),
  (text) => text.replaceAll("\n", "\\n"),
  (text) => `\ufeff${text}`,
  (text) => `${text}x`,
  (text) =>
    text
      .split("\n")
      .map((line, at) => `${at + 1}: ${line}`)
      .join("\n"),
];

interface Wish {
  readonly from: number;
  readonly length: number;
  readonly slip: number;
  readonly wholeLines: boolean;
  readonly newText: string;
  readonly keeps: number;
  readonly every: boolean;
}

function editFor(text: string, { from, length, slip, wholeLines, newText, keeps, every }: Wish): TextEdit {
  const between = (at: number): boolean => !/^[\udc00-\udfff]/.test(text.slice(at, at + 1));
  let start = Math.floor(from * text.length);
  let end = Math.min(text.length, start + length);
  if (wholeLines) {
    start = start === 0 ? 0 : text.lastIndexOf("\n", start - 1) + 1;
    end = text.indexOf("\n", end) + 1 || text.length;
  }
  while (!between(start)) start -= 1;
  while (!between(end)) end += 1;
  const old = text.slice(start, end);
  const oldText = slips[slip]?.(old) ?? old;
  // Shared lines stay as they are.
  const put = keeps === 0 ? newText : keeps === 1 ? `${oldText}${newText}` : `${newText}${oldText}`;
  return editOf(oldText, put, every);
}

const wish = (kind: Kind, ends: readonly string[]): fc.Arbitrary<Wish> =>
  fc.record({
    from: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    length: fc.integer({ min: 1, max: 12 }),
    slip: fc.nat(slips.length - 1),
    wholeLines: fc.boolean(),
    newText: fc.oneof(textIn(kind, ends, 3), textIn(kind, ["\n"], 3), textIn(kind, ["\r\n"], 2)),
    keeps: fc.nat(4),
    every: fc.boolean(),
  });

const shown = fc.constantFrom<DiffLimits>(
  diffLimits,
  diffLimits,
  { ...diffLimits, reachBytes: 6 },
  { ...diffLimits, linesMax: 12 },
  { linesMax: 20, charsMax: 60, reachBytes: 30 },
);

interface Case {
  readonly sample: Sample;
  readonly edits: EditRequest["edits"];
  readonly shows: DiffLimits;
}

const cases = (editsMax: number): fc.Arbitrary<Case> =>
  fc
    .tuple(kinds, lineEnds)
    .chain(([kind, ends]) =>
      fc.tuple(
        fc.constant(kind.encoding),
        textIn(kind, ends, 24),
        fc.array(wish(kind, ends), { minLength: editsMax === 1 ? 1 : 2, maxLength: editsMax }),
        spans,
        shown,
        fc.boolean(),
      ),
    )
    .map(([encoding, text, wishes, seen, shows, bom]) => {
      const [first, ...others] = wishes.map((one) => editFor(text, one));
      const sample = { text, encoding, seen, bom: bom && encoding === "utf-8" };
      return { sample, edits: [first ?? editOf("a", "b"), ...others], shows };
    });

/** `npm run test:random` tries 100,000 cases, different ones each time. */
const isRandom = process.env["FILEHAND_RANDOM"] !== undefined;
const seed = isRandom ? Date.now() % 2 ** 31 : 20_261_117;

describe(`one edit has one result, whichever engine serves it (seed ${seed})`, () => {
  for (const [what, editsMax, numRuns] of [
    ["an Edit", 1, isRandom ? 3_500 : 800],
    ["a MultiEdit", 4, isRandom ? 1_500 : 300],
  ] as const) {
    test(`${what}, at random`, async () => {
      await fc.assert(
        fc.asyncProperty(cases(editsMax), async ({ sample, edits, shows }) => {
          await compare(sample, edits, shows);
        }),
        { numRuns, seed },
      );
    }, 3_600_000);
  }
});

describe("cases in which engines once differed", () => {
  const long = `one\ntwo \nthree\n${"x".repeat(2_000_000)}\nend\n`;
  const expected = { hunks: [{ oldStart: 1, lines: [" one", " two ", "-three", "+THREE"] }], complete: true };
  const lenient = editOf("two\nthree", "two\nTHREE");
  for (const [what, edits] of [
    ["an exact Edit", [editOf("three", "THREE")]],
    ["a lenient Edit", [lenient]],
    ["a MultiEdit", [editOf("three", "THR"), editOf("THR", "THREE")]],
    ["a lenient MultiEdit", [editOf("two\nthree", "two\nTHR"), editOf("THR", "THREE")]],
  ] as const) {
    test(`${what} beside a line of 2 MB shows the lines that it changes and no others`, async () => {
      const [first, ...others] = edits;
      if (first === undefined) throw new Error("there is an edit");
      const result = await compare(sampleOf(long), [first, ...others]);
      expect(result["diff"]).toMatchObject(expected);
      expect((result["question"] as { readonly diff: string }).diff).toHaveLength(65);
    }, 60_000);
  }

  test("an edit within a line of 2 MB is counted, and the question stays short", async () => {
    const result = await compare(sampleOf(`a\n${"x".repeat(1_000_000)}y${"x".repeat(1_000_000)}\nb\n`), [
      editOf("y", "z"),
    ]);
    expect(result["diff"]).toEqual({ hunks: [], additions: 1, deletions: 1, complete: false });
    expect(result["question"]).toEqual({ diff: "(+1 -1, not all of it is shown)\n" });
  }, 60_000);

  const numbers = Array.from({ length: 60_000 }, (_, at) => `a number, ${at + 100_000}\n`).join("");
  for (const [what, text, edit] of [
    ["a text that overlaps itself, everywhere", "a".repeat(3_001), editOf("aa", "b", true)],
    ["a text that overlaps itself, once", `${"a".repeat(3_001)}\nb`, editOf("aa", "b")],
    ["300 places", "x\nNEEDLE\ny\nz\n".repeat(300), editOf("NEEDLE", "n", true)],
    ["3,000 lines one after the other", "NEEDLE NEEDLE\n".repeat(3_000), editOf("NEEDLE", "n\nm", true)],
    ["25,000 places", "one NEEDLE\ntwo\nthree\n".repeat(25_000), editOf("NEEDLE", "n", true)],
    ["25,000 places of whole lines", "NEEDLE\ntwo\n".repeat(25_000), editOf("NEEDLE\n", "", true)],
    ["150,000 places, three in a line", `top\n${"aXa a\n".repeat(50_000)}end`, editOf("a", "bcd", true)],
    ["120,000 places", "one NEEDLE\ntwo NEEDLE, NEEDLE\nthree\n".repeat(40_000), editOf("NEEDLE", "n", true)],
    ["long lines, one after the other", `${"x".repeat(60_000)}NEEDLE\n`.repeat(40), editOf("NEEDLE", "n", true)],
    ["many lines for many", "one\ntwo\n".repeat(4_000), editOf("one\ntwo\n".repeat(90), "one\n2\n".repeat(90), true)],
    ["a text longer than any question", `a\n${numbers}b\n`, editOf(numbers, "y\n".repeat(20_000))],
    ["a file of lone returns", "a\rb\rc", editOf("b", "1\n2")],
    ["a newline after a return is not torn off", "a\r\nb\nb\n", editOf("\nb", "c", true)],
    ["a newline after each return", "\r\n\r\n", editOf("\n", "\n\r\n", true)],
    ["a newline after a return, and more", "a\r\nb\r\nb", editOf("\nb", "\nc\nd", true)],
  ] as const) {
    test(what, async () => {
      await compare(sampleOf(text), [edit], { ...diffLimits, linesMax: 12 });
      const { question } = await compare(sampleOf(text), [edit]);
      expect((question as { readonly diff: string } | undefined)?.diff.length ?? 0).toBeLessThan(1_010_000);
    }, 60_000);
  }
});
