/** Text: the pages that were asked for, decoded, within the profile's caps. Memory grows with the page, not the file. */

import { isAscii } from "node:buffer";
import { type LineNumber, lineNumber } from "../contract/brand.ts";
import { Problem } from "../contract/problem.ts";
import type { EncodingName, LineRange, Page, ReadRequest, TextOutcome } from "../contract/read.ts";
import type { Target } from "../contract/target.ts";
import type { IndexStore } from "../disk/index-store.ts";
import { type LineSource, sourceInFile, sourceInMemory } from "../disk/line-source.ts";
import type { OpenFile } from "../disk/open-file.ts";
import { type ByteForm, decode, isUtf8 } from "../text/encoding.ts";
import { type NewlineForm, skipIn } from "../text/newlines.ts";
import { type PageRules, type PageStepper, startPage } from "../text/page.ts";
import { estimateTokens } from "../text/tokens.ts";
import { decideEncoding } from "./charset.ts";

export interface TextFile {
  readonly file: OpenFile;
  readonly target: Target;
  /** The first bytes; all of them if `whole`. */
  readonly head: Uint8Array;
  readonly whole: boolean;
  readonly form: ByteForm | undefined;
}

/** What a large file is scanned with. */
export interface Scanning {
  readonly store: IndexStore;
  readonly signal: AbortSignal;
  readonly onProgress: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/** Bytes looked at in one step of a page. */
const windowBytes = 65_536;
/** Measuring a range that is over the budget stops at so many times the budget. */
const measureTimesMax = 8;

export async function readText(text: TextFile, request: ReadRequest, scanning: Scanning): Promise<TextOutcome> {
  const newline = newlineForm(text.form);
  const firstByte = text.form?.bomBytes ?? 0;
  const source = text.whole
    ? sourceInMemory(text.head, newline, firstByte)
    : sourceInFile(text.file, { ...scanning, form: newline, firstByte });
  const decoder = await startDecoding(text);
  const reading: Reading = { source, newline, decoder, request, target: text.target, firstByte };
  const pages = [await readPage(request.ranges[0], reading)] as [Page, ...Page[]];
  for (const range of request.ranges.slice(1)) pages.push(await readPage(range, reading));
  return {
    kind: "text",
    target: text.target,
    pages,
    encoding: decoder.encoding,
    lossy: decoder.lossy,
    sizeBytes: source.sizeBytes,
    mtimeMs: text.file.mtimeMs,
  };
}

interface Reading {
  readonly source: LineSource;
  readonly newline: NewlineForm;
  readonly decoder: Decoder;
  readonly request: ReadRequest;
  readonly target: Target;
  readonly firstByte: number;
}

async function readPage(range: LineRange, reading: Reading): Promise<Page> {
  const { source, request, firstByte } = reading;
  const { profile } = request;
  if ("last" in range && range.numbered === "from the end") return readEnd(range.last, reading);
  // Where the total is wanted anyway, counting first makes everything after it a seek.
  if (profile.total === "always") await source.newlines();
  const from = "last" in range ? await startOfLast(range.last, reading) : range.from;
  const linesMax = "last" in range ? range.last : range.linesMax;
  const start = await source.startOf(from);
  const empty = source.sizeBytes === firstByte;
  // A line that would start at the very end is one only where lines are split, or as the first of an empty file.
  const exists =
    start !== undefined && (start < source.sizeBytes || profile.lines === "split" || (empty && from === 1));
  if (!exists) return pageBehindTheEnd(from, reading);

  const stepper = startPage(pageRules(reading), from, linesMax);
  const end = await fill(stepper, start, linesMax, reading);
  const nextLine = from + stepper.lines.length;
  const linesTotal = end.reached || profile.total === "always" ? await linesIn(reading) : undefined;
  const more = linesTotal === undefined ? true : nextLine <= linesTotal;
  if (stepper.full === "tokens" && request.overBudget === "refuse" && linesMax > 1) {
    throw await overBudget(stepper, from, start, linesMax, reading);
  }
  return pageOf(stepper, from, linesTotal, more ? nextLine : undefined);
}

/** The last lines, found from the end and numbered from there. */
async function readEnd(lines: number, reading: Reading): Promise<Page> {
  const { source, request, newline, firstByte } = reading;
  // A newline at the very end closes the last line; where lines are split it opens one more.
  const width = newline === "byte" ? 1 : newline.startsWith("utf-16") ? 2 : 4;
  const lastUnit = await source.bytes(Math.max(firstByte, source.sizeBytes - width), width);
  const closed = request.profile.lines === "terminated" && lastNewline(lastUnit, newline) === width;
  const searchEnd = closed ? source.sizeBytes - width : source.sizeBytes;
  const start = (await source.beforeEnd(lines, searchEnd)) ?? firstByte;
  const stepper = startPage(pageRules(reading), -lines, lines);
  const { reached } = await fill(stepper, start, lines, reading);
  // Fewer lines than asked for: the file has no more, and the count starts at what there is.
  const from = reached ? -stepper.lines.length : -lines;
  const next = reached && stepper.full === undefined ? undefined : from + stepper.lines.length;
  return pageOf(stepper, from, undefined, next);
}

const pageOf = (
  stepper: PageStepper,
  from: number,
  linesTotal: number | undefined,
  next: number | undefined,
): Page => ({
  from: lineNumber(from),
  lines: stepper.lines,
  linesTotal,
  stopped: next === undefined ? "end" : (stepper.full ?? "lines"),
  next: next === undefined ? undefined : lineNumber(next),
  cut: stepper.cut,
  lineEndChars: stepper.lineEndChars,
});

/** Fewer bytes than the budget has tokens cannot be over it: then nothing needs to be estimated. */
function pageRules({ request, source }: Reading): PageRules {
  const { profile } = request;
  const within = profile.pageTokensMax !== undefined && source.sizeBytes <= profile.pageTokensMax;
  return within ? { ...profile, pageTokensMax: undefined } : profile;
}

/** Feeds the page from `start` on until it is full or the file ends. */
async function fill(
  stepper: PageStepper,
  start: number,
  linesMax: number,
  { source, newline, decoder, request }: Reading,
): Promise<{ readonly reached: boolean }> {
  // Four bytes hold any character of any encoding here, so this many bytes show all of a line that may be shown.
  const longLineBytes = Math.max(windowBytes, request.profile.lineCharsMax * 4);
  let at = start;
  let step = windowBytes;
  for (;;) {
    const window = await source.bytes(at, step);
    const end = at + window.length >= source.sizeBytes;
    const wanted = linesMax - stepper.lines.length;
    let to = wanted < Number.POSITIVE_INFINITY ? skipIn(window, 0, window.length, Math.max(1, wanted), newline) : -1;
    if (to === -1) to = end ? window.length : lastNewline(window, newline);
    if (to === 0 && !end) {
      if (step < longLineBytes) {
        step = longLineBytes;
        continue;
      }
      const after = await source.afterNewline(at + window.length);
      const status = stepper.feedLong(await decoder.beginning(window), after !== undefined);
      at = after ?? source.sizeBytes;
      step = windowBytes;
      if (status === "full") return { reached: at === source.sizeBytes };
      if (after === undefined) return { reached: true };
      if (stepper.lines.length >= linesMax && at < source.sizeBytes) return { reached: false };
      continue;
    }
    const bytes = window.subarray(0, to);
    const atEnd = end && to === window.length;
    const text = await decoder.text(bytes);
    // Only in UTF-8 do ASCII bytes mean ASCII text: UTF-16 and ISO-2022-JP spell other characters with them.
    const status = stepper.feed(text, decoder.encoding === "utf-8" && isAscii(bytes), atEnd);
    at += to;
    if (status === "full" || atEnd) return { reached: atEnd };
    if (stepper.lines.length >= linesMax) return { reached: false };
  }
}

/** Byte behind the last newline; 0 if there is none. */
function lastNewline(bytes: Uint8Array, form: NewlineForm): number {
  if (form === "byte") return bytes.lastIndexOf(10) + 1;
  const width = form.startsWith("utf-16") ? 2 : 4;
  for (let at = bytes.length - (bytes.length % width) - width; at >= 0; at -= width) {
    if (skipIn(bytes, at, at + width, 1, form) !== -1) return at + width;
  }
  return 0;
}

async function linesIn({ source, request, firstByte }: Reading): Promise<number> {
  const { count, last } = await source.newlines();
  if (request.profile.lines === "split") return count + 1;
  const unended = !last && source.sizeBytes > firstByte;
  return count + (unended ? 1 : 0);
}

async function startOfLast(lines: number, reading: Reading): Promise<LineNumber> {
  return lineNumber(Math.max(1, (await linesIn(reading)) - lines + 1));
}

async function pageBehindTheEnd(from: LineNumber, reading: Reading): Promise<Page> {
  const total = await linesIn(reading);
  if (reading.request.profile.pastEnd === "refused") {
    const data = { place: reading.target, of: "lines", from, total } as const;
    throw new Problem({ code: "INVALID_PARAM", reason: "range", ...data });
  }
  return { from, lines: [], linesTotal: total, stopped: "end", next: undefined, cut: [], lineEndChars: 0 };
}

/** What the range would have cost, counted on without keeping it. */
async function overBudget(
  page: PageStepper,
  from: number,
  start: number,
  linesMax: number,
  reading: Reading,
): Promise<Problem> {
  const { profile } = reading.request;
  const tokensMax = profile.pageTokensMax ?? 0;
  const goal = tokensMax * measureTimesMax;
  const measure = startPage(
    { ...profile, pageTokensMax: goal, pageBytesMax: Number.POSITIVE_INFINITY },
    from,
    linesMax,
  );
  await fill(measure, start, linesMax, reading);
  const first = page.lines[0] ?? "";
  return new Problem({
    code: "OVER_BUDGET",
    place: reading.target,
    tokens: Math.max(measure.tokens, tokensMax + 1, estimateTokens(first)),
    counted: measure.full === "tokens" ? "at least" : "all",
    tokensMax,
    from,
    lines: measure.lines.length,
    linesThatFit: page.cut.some((line) => line.line === from) ? 0 : page.lines.length,
  });
}

interface Decoder {
  readonly encoding: EncodingName;
  readonly lossy: boolean;
  /** Whole lines. */
  text(bytes: Uint8Array): Promise<string>;
  /** The beginning of a line, cut anywhere: a character that the cut goes through is left out. */
  beginning(bytes: Uint8Array): Promise<string>;
}

/**
 * UTF-8 until bytes turn up that are not; then the encoding is decided once, from the file's beginning and the bytes
 * at hand, and kept.
 */
async function startDecoding(text: TextFile): Promise<Decoder> {
  let lossy = false;
  let decided = text.form !== undefined;
  let encoding: EncodingName = text.form?.encoding ?? "utf-8";
  const decide = async (samples: readonly Uint8Array[]): Promise<void> => {
    decided = true;
    ({ encoding } = await decideEncoding(samples));
  };
  if (!decided && !isUtf8(text.head, text.whole ? "complete" : "anywhere")) await decide([text.head]);

  const decodeAs = async (bytes: Uint8Array, trimMax: number): Promise<string> => {
    let result = decode(bytes, encoding);
    if (result.lossy && !decided && !isUtf8(bytes, trimMax > 0 ? "anywhere" : "complete")) {
      await decide([text.head, bytes]);
      result = decode(bytes, encoding);
    }
    for (let trim = 1; result.lossy && trim <= trimMax; trim += 1) {
      const shorter = decode(bytes.subarray(0, bytes.length - trim), encoding);
      if (!shorter.lossy) result = shorter;
    }
    lossy ||= result.lossy;
    return result.text;
  };
  return {
    get encoding() {
      return encoding;
    },
    get lossy() {
      return lossy;
    },
    text: (bytes) => decodeAs(bytes, 0),
    beginning: (bytes) => decodeAs(bytes, 3),
  };
}

function newlineForm(form: ByteForm | undefined): NewlineForm {
  switch (form?.encoding) {
    case "utf-16le":
    case "utf-16be":
    case "utf-32le":
    case "utf-32be":
      return form.encoding;
    default:
      return "byte";
  }
}
