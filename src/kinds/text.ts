/** Reads pages of text, decoded, within the profile's limits. Memory grows with the page, not with the file. */

import { setImmediate } from "node:timers/promises";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Profile } from "../contract/profile.ts";
import type { LineRange, Page, PageForm, ReadRequest, TextOutcome } from "../contract/read.ts";
import { lineNumber, type LineNumber, type Target } from "../contract/target.ts";
import { bufferBytes, giveBuffer, takeBuffer, type TimeSlices, timeSlices } from "../disk/disk.ts";
import {
  countNewlinesIn,
  cutChars,
  decodeInPieces,
  estimateTokens,
  type NewlineForm,
  numberLines,
  numbersTokens,
  numberTokens,
  type PageRules,
  type PageStepper,
  roughTokens,
  skipNewlinesIn,
  startPage,
} from "../text/text.ts";
import { countTokens } from "./exact-tokens.ts";
import { type TextReading, type Scanning, startReading, type TextFile } from "./text-file.ts";

/** Measuring a range that exceeds the budget stops at this multiple of it. */
const measureTimesMax = 8;

export async function readText(text: TextFile, request: ReadRequest, scanning: Scanning): Promise<TextOutcome> {
  const { signal } = scanning;
  const slices = timeSlices(signal);
  const reading = { ...(await startReading(text, scanning)), request, target: text.target, signal, slices };
  const { source, decoder } = reading;
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

interface PageReading extends TextReading {
  readonly request: ReadRequest;
  readonly target: Target;
  readonly signal: AbortSignal;
  readonly slices: TimeSlices;
}

async function readPage(range: LineRange, reading: PageReading): Promise<Page> {
  const { source, request, firstByte } = reading;
  const { profile } = request;
  if ("last" in range && range.numbered === "from the end") return readEnd(range.last, reading);
  // If the total is wanted anyway, counting first makes all later lookups a seek.
  if (profile.total === "always") await source.newlines();
  const from = "last" in range ? await startOfLast(range.last, reading) : range.from;
  const column = "last" in range ? 1 : (range.column ?? 1);
  const linesMax = column > 1 ? 1 : "last" in range ? range.last : range.linesMax;
  const start = await source.startOf(from);
  const empty = source.sizeBytes === firstByte;
  // A line that starts at the very end exists only if lines are split, or as the first line of an empty file.
  const exists =
    start !== undefined && (start < source.sizeBytes || profile.lines === "split" || (empty && from === 1));
  if (!exists) return pageAfterTheEnd(from, reading);

  const part = column > 1 ? await partOf(from, start, column, reading) : undefined;
  const { stepper, end } = await stepWithin(from, start, linesMax, reading, part);
  const nextLine = from + stepper.count;
  // A caller that reads a long line in parts may have seen all other lines: the total shows that this was the last part.
  const isCounted = end.reached || profile.total === "always" || part !== undefined;
  const linesTotal = isCounted ? await linesIn(reading) : undefined;
  const more = linesTotal === undefined ? true : nextLine <= linesTotal;
  if (stepper.full === "tokens" && request.overBudget === "refuse" && linesMax > 1) {
    throw await overBudget(stepper, from, start, linesMax, reading);
  }
  return pageOf(stepper, from, linesTotal, more ? nextLine : undefined, profile, part?.column);
}

/** As much of a line as fits on a page, whatever the profile's limit for a line. */
async function partOf(line: LineNumber, start: number, column: number, reading: PageReading): Promise<LinePartText> {
  const { target, signal } = reading;
  const { lines } = reading.request.profile;
  const part = await linePart(reading, start, column, partCharsMax(reading), signal);
  const isReturnShown = lines === "split" || part.ended !== "newline" || !part.endsInReturn;
  const charsTotal = isReturnShown ? part.chars : part.chars - 1;
  if (part.ended === undefined || column <= charsTotal) return part;
  throw new Problem({ code: "INVALID_PARAM", reason: "column", place: target, line, column, charsTotal });
}

function partCharsMax(reading: PageReading): number {
  return Math.min(limits.linePartCharsMax, pageRules(reading).pageBytesMax);
}

/** Near the token budget the tokens are counted, which corrects the estimate; elsewhere the estimate decides. */
async function stepWithin(
  from: number,
  start: number,
  linesMax: number,
  reading: PageReading,
  part: LinePartText | undefined,
): Promise<{ readonly stepper: PageStepper; readonly end: { readonly reached: boolean } }> {
  const charsMax = part === undefined ? reading.request.profile.lineCharsMax : partCharsMax(reading);
  const rules = { ...pageRules(reading), lineCharsMax: charsMax };
  const tokensMax = rules.pageTokensMax;
  const { profile } = reading.request;
  const known = (reading.source.near(from + linesMax) ?? start) - start;
  // A page that will be full before its last line is read in small steps.
  const likely = (bytesMax: number): number => (known - nearBytes <= bytesMax ? known : 0);
  const filled = async (stepper: PageStepper, bytesMax: number): Promise<{ readonly reached: boolean }> => {
    if (part === undefined) return fill(stepper, start, linesMax, reading, charsMax, likely(bytesMax));
    feedPart(stepper, part, charsMax);
    return { reached: false };
  };
  const step = async (within: number | undefined) => {
    const stepper = startPage({ ...rules, pageTokensMax: within }, from, linesMax);
    return { stepper, end: await filled(stepper, rules.pageBytesMax) };
  };
  if (tokensMax === undefined) return step(undefined);
  // The tokens of line numbers are known well; only the text is estimated.
  const numbersIn = ({ count }: PageStepper): number => numbersTokens(from, count, profile.numbers);
  // For a short page a rough estimate of the whole is cheaper than one for every line.
  const few = Number.isFinite(linesMax) || reading.source.sizeBytes - start <= tokensMax * smallBytesPerToken;
  const small = startPage(
    { ...rules, pageTokensMax: undefined, pageBytesMax: Math.min(rules.pageBytesMax, tokensMax * smallBytesPerToken) },
    from,
    linesMax,
  );
  const smallEnd = few ? await filled(small, tokensMax * smallBytesPerToken) : { reached: false };
  if (
    few &&
    small.full === undefined &&
    small.joined !== undefined &&
    isClearlyBelow(small.joined, small.ascii, tokensMax - numbersIn(small))
  ) {
    return { stepper: small, end: smallEnd };
  }
  const roomy = await step(tokensMax * clearlyAbove);
  const isOver = roomy.stepper.full === "tokens";
  const numbers = numbersIn(roomy.stepper);
  if (!isOver && isClearlyWithin(roomy.stepper.tokens - numbers, charsIn(roomy.stepper), tokensMax - numbers)) {
    return roomy;
  }
  // In estimated tokens; a first line that is cut has more than is shown of it.
  let within = isOver ? tokensMax : roomy.stepper.tokens;
  // For plain code and prose the estimate is good enough for a first page; a refusal must name an exact limit.
  if (isOver && reading.request.overBudget === "first page") {
    const estimated = await step(tokensMax * surelyWithin);
    const { stepper } = estimated;
    if (!isDense(stepper.tokens - numbersIn(stepper), charsIn(stepper))) return estimated;
  }
  let page = isOver ? await step(within) : roomy;
  let fitting: typeof page | undefined;
  for (let tries = 1; tries <= countsMax; tries += 1) {
    const counted = (await countTokens(shownText(page.stepper, from, profile), reading.signal)) ?? within;
    if (counted <= tokensMax) {
      // For rulers and tables the estimate is far too high: a page that fits by count must not be refused.
      if (page.stepper.full !== "tokens" || counted > tokensMax * closeEnough) return page;
      fitting = page;
    }
    within *= (tokensMax / Math.max(1, counted)) * (1 - countMargin);
    page = await step(within);
  }
  return fitting ?? page;
}

/** Counts for one page: each shrinks the page by the excess, and a little more, since its lines are not all alike. */
const countsMax = 4;
/** A page that uses this share of the budget by count is not enlarged further. */
const closeEnough = 0.95;
const countMargin = 0.005;

/** A text has at most as many tokens as bytes, so a short one needs no estimate. */
const isClearlyBelow = (text: string, ascii: boolean, tokensMax: number): boolean =>
  (ascii ? text.length : text.length * 3) <= tokensMax * clearlyBelow ||
  isClearlyWithin(roughTokens(text), text.length, tokensMax);

const isClearlyWithin = (tokens: number, chars: number, tokensMax: number): boolean =>
  tokens <= tokensMax * (isDense(tokens, chars) ? clearlyBelowDense : clearlyBelow);

/** Base64, hex, numbers, minified code: for such text the estimate can be a third too low. Code has 0.25 tokens a character. */
const isDense = (tokens: number, chars: number): boolean => tokens > chars * 0.3;

function shownText(page: PageStepper, from: number, { numbers }: Profile): string {
  const text = page.lines.join("\n");
  return numbers === undefined ? text : numberLines(text, from, numbers, page.ascii, "", "");
}

const charsIn = ({ lines }: PageStepper): number => lines.reduce((sum, line) => sum + line.length + 1, 0);

const smallBytesPerToken = 4;
/** The error of `source.near`, at most. */
const nearBytes = 65_536;
const clearlyBelow = 0.8;
const clearlyBelowDense = 0.6;
const clearlyAbove = 1.25;
/** Code and prose that fit into this share of the budget by the estimate fit into all of it by count. */
const surelyWithin = 0.82;

async function readEnd(lines: number, reading: PageReading): Promise<Page> {
  const { source, request, newline, firstByte } = reading;
  // A final newline ends the last line; if lines are split, it begins one more.
  const width = newline === "byte" ? 1 : newline.startsWith("utf-16") ? 2 : 4;
  const lastUnit = await source.bytes(Math.max(firstByte, source.sizeBytes - width), width);
  const closed = request.profile.lines === "terminated" && lastNewline(lastUnit, newline) === width;
  const searchEnd = closed ? source.sizeBytes - width : source.sizeBytes;
  const start = await source.beforeEnd(lines, searchEnd);
  // Fewer lines than asked for: the whole file was scanned for that, so its lines are counted.
  const linesFound = start === undefined ? await linesIn(reading) : lines;
  const stepper = startPage(pageRules(reading), -linesFound, lines);
  await fill(stepper, start ?? firstByte, lines, reading, reading.request.profile.lineCharsMax);
  const from = -linesFound;
  // A page can be full before the end, even if its last window contains the end.
  const next = stepper.count >= linesFound ? undefined : from + stepper.count;
  return pageOf(stepper, from, undefined, next, request.profile);
}

const pageOf = (
  stepper: PageStepper,
  from: number,
  linesTotal: number | undefined,
  next: number | undefined,
  { answerBytesMax = Number.POSITIVE_INFINITY, pageBytesMax }: Profile,
  column?: number,
): Page => {
  const byAnswer = stepper.full === "bytes" && answerBytesMax < pageBytesMax;
  const stopped = next === undefined ? "end" : byAnswer ? "answer" : (stepper.full ?? "lines");
  return new SteppedPage(stepper, from, linesTotal, next, stopped, column);
};

/** A class, so that its lines are made only on demand and V8 frees it early (`text/lines/page.ts` says why). */
class SteppedPage implements Page {
  readonly #stepper: PageStepper;
  readonly from: LineNumber;
  readonly column?: number;
  readonly count: number;
  readonly joined?: string;
  readonly ascii: boolean;
  readonly linesTotal: number | undefined;
  readonly stopped: Page["stopped"];
  readonly next: LineNumber | undefined;
  readonly cut: Page["cut"];
  readonly lineEndChars: number;
  readonly forms = new Map<object, PageForm>();

  constructor(
    stepper: PageStepper,
    from: number,
    linesTotal: number | undefined,
    next: number | undefined,
    stopped: Page["stopped"],
    column: number | undefined,
  ) {
    this.#stepper = stepper;
    this.from = lineNumber(from);
    if (column !== undefined) this.column = column;
    this.count = stepper.count;
    if (stepper.joined !== undefined) this.joined = stepper.joined;
    this.ascii = stepper.ascii;
    this.linesTotal = linesTotal;
    this.stopped = stopped;
    this.next = next === undefined ? undefined : lineNumber(next);
    this.cut = stepper.cut;
    this.lineEndChars = stepper.lineEndChars;
  }

  get lines(): readonly string[] {
    return this.#stepper.lines;
  }
}

/** Drops the token limit for a file that cannot exceed it even if each of its bytes is a line: then nothing is estimated. */
function pageRules({ request, source }: PageReading): PageRules {
  const { profile } = request;
  const { answerBytesMax = Number.POSITIVE_INFINITY } = profile;
  const bytesMax = Math.min(source.sizeBytes, answerBytesMax);
  const lineTokens = 1 + numberTokens(bytesMax, profile.numbers);
  const within = profile.pageTokensMax !== undefined && bytesMax * lineTokens <= profile.pageTokensMax;
  const rules = within ? { ...profile, pageTokensMax: undefined } : profile;
  return answerBytesMax < profile.pageBytesMax ? { ...rules, pageBytesMax: answerBytesMax } : rules;
}

async function linesIn({ source, request, firstByte }: PageReading): Promise<number> {
  const { count, last } = await source.newlines();
  if (request.profile.lines === "split") return count + 1;
  const unended = !last && source.sizeBytes > firstByte;
  return count + (unended ? 1 : 0);
}

async function startOfLast(lines: number, reading: PageReading): Promise<LineNumber> {
  return lineNumber(Math.max(1, (await linesIn(reading)) - lines + 1));
}

async function pageAfterTheEnd(from: LineNumber, reading: PageReading): Promise<Page> {
  const total = await linesIn(reading);
  if (reading.request.profile.pastEnd === "refused") {
    const data = { place: reading.target, of: "lines", from, total } as const;
    throw new Problem({ code: "INVALID_PARAM", reason: "range", ...data });
  }
  const nothing = { lines: [], count: 0, ascii: true, cut: [], lineEndChars: 0, forms: new Map<object, PageForm>() };
  return { from, ...nothing, linesTotal: total, stopped: "end", next: undefined };
}

async function overBudget(
  page: PageStepper,
  from: number,
  start: number,
  linesMax: number,
  reading: PageReading,
): Promise<Problem> {
  const { profile } = reading.request;
  const tokensMax = profile.pageTokensMax ?? 0;
  const goal = tokensMax * measureTimesMax;
  const measure = startPage(
    { ...profile, pageTokensMax: goal, pageBytesMax: Number.POSITIVE_INFINITY },
    from,
    linesMax,
  );
  await fill(measure, start, linesMax, reading, reading.request.profile.lineCharsMax);
  return new Problem({
    code: "OVER_BUDGET",
    place: reading.target,
    // By count the measured text may be below the budget, if the estimate is far too high.
    tokens: Math.max(
      await tokensOf(measure, shownText(measure, from, profile), tokensMax, reading.signal),
      tokensMax + 1,
    ),
    counted: measure.full === "tokens" ? "at least" : "all",
    tokensMax,
    of: "lines",
    from,
    lines: measure.count,
    linesThatFit: page.cut.some((line) => line.line === from) ? 0 : page.count,
  });
}

/** Counts a text that is not far above the budget; else corrects the estimate by a count of its beginning. */
async function tokensOf(measure: PageStepper, text: string, tokensMax: number, signal: AbortSignal): Promise<number> {
  if (measure.tokens <= tokensMax * countedTimesMax) return (await countTokens(text, signal)) ?? measure.tokens;
  const sample = text.slice(0, Math.ceil((text.length * tokensMax) / measure.tokens));
  const counted = await countTokens(sample, signal);
  return counted === undefined ? measure.tokens : measure.tokens * (counted / estimateTokens(sample));
}

/** Counting more than this multiple of the budget would cost more than the exact number is worth. */
const countedTimesMax = 2;

// Reads a text window by window, to fill a page or to measure the whole. Only one window is in memory.

const windowBytes = bufferBytes;
/** For a page that is likely to need more, so that it is decoded as one text. */
const windowBytesMax = 524_288;
/** One block of most disks: reading less saves nothing. */
const windowBytesMin = 4_096;
const likelyLineBytes = 200;

/** Feeds the page from `start` until it is full or the file ends. `likely`: bytes that it probably needs, 0 if unknown. */
async function fill(
  stepper: PageStepper,
  start: number,
  linesMax: number,
  reading: PageReading,
  lineCharsMax: number,
  likely = 0,
): Promise<{ readonly reached: boolean }> {
  const step =
    likely > windowBytes
      ? Math.min(windowBytesMax, likely)
      : Math.min(windowBytes, Math.max(windowBytesMin, linesMax * likelyLineBytes));
  const scratch = step > windowBytes ? takeLargeBuffer() : takeBuffer();
  try {
    return await fillWith(scratch, step, stepper, start, linesMax, reading, lineCharsMax);
  } finally {
    if (step > windowBytes) giveLargeBuffer(scratch);
    else giveBuffer(scratch);
  }
}

/** One is kept: pages are mostly read one after the other. */
let idleLargeBuffer: Buffer | undefined;

function takeLargeBuffer(): Buffer {
  const buffer = idleLargeBuffer ?? Buffer.allocUnsafeSlow(windowBytesMax);
  idleLargeBuffer = undefined;
  return buffer;
}

const giveLargeBuffer = (buffer: Buffer): void => void (idleLargeBuffer = buffer);

async function fillWith(
  scratch: Buffer,
  firstStep: number,
  stepper: PageStepper,
  start: number,
  linesMax: number,
  { source, newline, decoder, slices }: PageReading,
  lineCharsMax: number,
): Promise<{ readonly reached: boolean }> {
  // No character takes more than four bytes, so this many bytes contain all of a line that can be shown.
  const longLineBytes = Math.max(windowBytes, lineCharsMax * 4);
  let at = start;
  let step = firstStep;
  for (;;) {
    if (slices.isOver()) await slices.next();
    const window = await source.bytes(at, step, scratch);
    // Small files are read without a turn of the event loop; reading and estimating a line of a megabyte take 20 ms each.
    if (slices.isOver()) await slices.next();
    const end = at + window.length >= source.sizeBytes;
    const wanted = linesMax - stepper.count;
    const enough =
      wanted < Number.POSITIVE_INFINITY ? skipNewlinesIn(window, 0, window.length, Math.max(1, wanted), newline) : -1;
    let to = enough;
    if (to === -1) to = end ? window.length : lastNewline(window, newline);
    if (to === 0 && !end) {
      if (step < longLineBytes) {
        step = step < windowBytes ? windowBytes : longLineBytes;
        continue;
      }
      const after = await source.afterNewline(at + window.length);
      const status = stepper.feedLong(await decoder.beginning(window), after !== undefined);
      at = after ?? source.sizeBytes;
      step = windowBytes;
      if (status === "full") return { reached: at === source.sizeBytes };
      if (after === undefined) return { reached: true };
      if (stepper.count >= linesMax && at < source.sizeBytes) return { reached: false };
      continue;
    }
    const bytes = window.subarray(0, to);
    const atEnd = end && to === window.length;
    const { text, ascii, utf8 } = await decoder.text(bytes);
    const known = utf8
      ? { ascii, utf8Bytes: to, newlines: enough === -1 ? countNewlinesIn(bytes, 0, to, newline) : Math.max(1, wanted) }
      : { ascii, utf8Bytes: undefined, newlines: undefined };
    const status = stepper.feed(text, known, atEnd);
    at += to;
    if (status === "full" || atEnd) return { reached: atEnd };
    if (stepper.count >= linesMax) return { reached: false };
  }
}

export function lastNewline(bytes: Uint8Array, form: NewlineForm): number {
  if (form === "byte") return bytes.lastIndexOf(10) + 1;
  const width = form.startsWith("utf-16") ? 2 : 4;
  for (let at = bytes.length - (bytes.length % width) - width; at >= 0; at -= width) {
    if (skipNewlinesIn(bytes, at, at + width, 1, form) !== -1) return at + width;
  }
  return 0;
}

/** Estimates the tokens of a whole text as it streams; returns the text itself if it is short enough to be counted. */
export async function measureText(
  text: TextFile,
  scanning: Scanning,
  charsMax: number,
): Promise<{ readonly tokens: number; readonly lines: number; readonly text: string | undefined }> {
  const { source, newline, decoder, firstByte } = await startReading(text, scanning);
  let tokens = 0;
  let kept: string[] | undefined = [];
  let chars = 0;
  for (let at = firstByte; at < source.sizeBytes; ) {
    scanning.signal.throwIfAborted();
    const window = await source.bytes(at, windowBytes);
    const end = at + window.length >= source.sizeBytes;
    // A line longer than a window is measured in pieces: a character more or less does not matter here.
    const to = end ? window.length : lastNewline(window, newline) || window.length;
    const part = await decoder.beginning(window.subarray(0, to));
    tokens += estimateTokens(part);
    chars += part.length;
    if (chars > charsMax) kept = undefined;
    kept?.push(part);
    at += to;
    scanning.onProgress?.(at, source.sizeBytes);
    await setImmediate();
  }
  const { count, last } = await source.newlines();
  const lines = count + (last || source.sizeBytes === firstByte ? 0 : 1);
  return { tokens, lines, text: kept?.join("") };
}

// A part of one line, from a column on. The characters before it are decoded and dropped window by window, so a line of any
// length takes the memory of one window and of the part.

interface LinePartText {
  /** From `column` on: the rest of the line, with a final `\r`, or two characters more than were wanted. */
  readonly text: string;
  /** One less than was asked for if that is the second half of a surrogate pair. */
  readonly column: number;
  readonly ended: "newline" | "file" | undefined;
  /** UTF-16 units of the line that were decoded: all of them, if its end was reached. */
  readonly chars: number;
  readonly endsInReturn: boolean;
}

/** The line begins at the byte `start`; at most about `charsMax` UTF-16 units are kept. */
async function linePart(
  reading: TextReading,
  start: number,
  column: number,
  charsMax: number,
  signal: AbortSignal,
): Promise<LinePartText> {
  const { decoder } = reading;
  const scratch = takeBuffer();
  try {
    for (;;) {
      const { encoding } = decoder;
      const part = await partIn(reading, start, column, charsMax, signal, scratch);
      // The part can show that the text has another encoding; then the columns change too.
      if (decoder.encoding === encoding) return part;
    }
  } finally {
    giveBuffer(scratch);
  }
}

async function partIn(
  { source, newline, decoder }: TextReading,
  start: number,
  column: number,
  charsMax: number,
  signal: AbortSignal,
  scratch: Buffer,
): Promise<LinePartText> {
  const slices = timeSlices(signal);
  const next = decodeInPieces(decoder.encoding);
  // One more on the left, in case the column is inside of a surrogate pair, and two on the right for a CRLF.
  const from = column - 2;
  const to = column - 1 + charsMax + 2;
  const kept: string[] = [];
  let chars = 0;
  let ended: LinePartText["ended"];
  let endsInReturn = false;
  for (let at = start; ended === undefined && chars < to; ) {
    if (slices.isOver()) await slices.next();
    const window = await source.bytes(at, bufferBytes, scratch);
    const after = skipNewlinesIn(window, 0, window.length, 1, newline);
    at += window.length;
    if (after !== -1) ended = "newline";
    else if (at >= source.sizeBytes) ended = "file";
    const bytes = after === -1 ? window : window.subarray(0, after);
    const decoded = next(bytes, ended !== undefined);
    const text = after === -1 ? decoded : decoded.slice(0, -1);
    if (chars + text.length > from) {
      const piece = text.slice(Math.max(0, from - chars), to - chars);
      if (piece.includes("\ufffd")) await decoder.beginning(fromCharacter(bytes, decoder.encoding));
      kept.push(piece);
    }
    chars += text.length;
    if (text !== "") endsInReturn = text.endsWith("\r");
  }
  const text = kept.join("");
  const isInside = isSecondHalf(text.charCodeAt(1));
  const begun = isInside ? { text, column: column - 1 } : { text: text.slice(1), column };
  return { ...begun, ended, chars, endsInReturn };
}

/** Drops the rest of a character that began in the previous window. */
function fromCharacter(bytes: Uint8Array, encoding: string): Uint8Array {
  let first = 0;
  if (encoding === "utf-8") while (first < 3 && ((bytes[first] ?? 0) & 0xc0) === 0x80) first += 1;
  return bytes.subarray(first);
}

const isSecondHalf = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Feeds a part to a page of one line, which cuts it at its own limits. */
function feedPart(stepper: PageStepper, { text, ended }: LinePartText, charsMax: number): void {
  const known = { ascii: false, utf8Bytes: undefined, newlines: undefined };
  if (ended === "newline") stepper.feed(`${text}\n`, known, false);
  else if (ended === "file") stepper.feed(text, known, true);
  else stepper.feedLong(cutChars(text, charsMax), false);
}
