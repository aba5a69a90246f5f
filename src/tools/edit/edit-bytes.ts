/** Makes a single edit by searching the bytes for the exact old text, in files of any size. See `edit-text.ts` for looser matches. */

import type { EditFound, Piece, TextChange, TextEdit } from "../../contract/edit.ts";
import { type LineSpan, Problem, type WhichEdit } from "../../contract/problem.ts";
import type { Target } from "../../contract/target.ts";
import { FileTruncated, findInFile, type Hit, runInSlices, type OpenFile, timeSlices } from "../../disk/disk.ts";
import { merged, nothingShown } from "../../session/session.ts";
import {
  bytePlacesIn,
  type ChangedRun,
  countNewlines,
  countNewlinesIn,
  type DiffLimits,
  type DiffOfChanges,
  type DoubleByteName,
  doubleByteStep,
  encode,
  exactReplacement,
  finishDiff,
  isDoubleByte,
  type LinesAround,
  type LinesTouched,
  shownRuns,
  sourceText,
  startDiff,
  type Units,
} from "../../text/text.ts";
import type { Planned } from "../change/change.ts";
import type { CurrentFile } from "../change/current-file.ts";
import type { ToolContext } from "../tool.ts";
import {
  type EditEngines,
  encoded,
  knownAfter,
  linesMoved,
  movedAlong,
  notesOf,
  notShown,
  piecesOf,
  requireCertain,
  shownOf,
  spanFrom,
  startShownCheck,
  textBefore,
  unshown,
} from "./edit-text.ts";

const only: WhichEdit = { index: 1, of: 1, othersFound: [] };

/** Throws NO_MATCH if the exact text does not occur, AMBIGUOUS if it occurs more than once without `all`, TOO_LARGE if too often. */
export async function planBytes(
  current: CurrentFile,
  edit: TextEdit,
  context: Pick<ToolContext, "signal" | "onProgress" | "changes">,
  { placesKeptMax, shows }: Pick<EditEngines, "placesKeptMax" | "shows">,
  onChunk?: (chunk: Uint8Array) => void,
): Promise<Planned<readonly EditFound[]>> {
  const { target, file, form, bytes } = current;
  const { signal, onProgress } = context;
  const source = bytes === undefined ? bytesInFile(file) : bytesInMemory(bytes);
  const noMatch = (): Problem =>
    new Problem({ code: "NO_MATCH", place: target, which: only, nearest: undefined, searched: "exactly" });
  const needle = encode(edit.oldText, form.encoding);
  if ("lacks" in needle) throw noMatch();
  const found = await search(needle.bytes);
  if (found.total === 0) throw noMatch();
  // Either all places are after a `\r` or none is (`withWholeLineEnds`).
  const isTorn = edit.oldText.startsWith("\n") && (await isAfterReturn(found.hits[0]?.at ?? 0, source));
  const step = isTorn ? "line ends" : "exact";
  if (found.total > 1 && !edit.all) {
    const lines = found.hits.map(({ line }) => line).slice(0, linesMax);
    throw new Problem({ code: "AMBIGUOUS", place: target, which: only, matchedBy: step, lines, total: found.total });
  }
  // In memory, blocks of places are cheaper than a piece for each; the text engine makes what is not simple.
  if (found.total > Math.min(placesKeptMax, bytes === undefined ? placesKeptMax : placesInMemoryMax)) {
    // `planEverywhere` puts the same bytes in every place, so line ends must not matter.
    const isSimple = !/[\r\n]/.test(edit.newText) && !edit.oldText.endsWith("\n") && !edit.oldText.startsWith("\n");
    if (isSimple && !isDoubleByte(form.encoding))
      return planEverywhere(current, edit, needle.bytes, source, context, shows);
    const limit = `${placesKeptMax} replacements at once`;
    throw new Problem({ code: "TOO_LARGE", place: target, kind: "text", limit });
  }
  const { hits } = found;
  // The `\n` of a `\r\n` stays; the change begins after it.
  const own = isTorn ? { oldText: edit.oldText.slice(1), newText: edit.newText.slice(1) } : edit;
  const starts = isTorn ? hits.map(({ at, line }) => ({ at: at + 1, line: line + 1 })) : hits;
  const texts = await withLocalEnds(own, starts, source, signal);
  const matchedBy = texts.every((text) => text === own.newText) ? step : "line ends";
  requireCertain(current, matchedBy, hits.length);
  const shown = shownOf(current.seen);
  const oldNewlines = newlineBytesIn(needle.bytes);
  const check = startShownCheck(current);
  const one = check.edit(matchedBy, hits.length);
  for (const { line } of hits) one.place([spanFrom(line, oldNewlines, edit.oldText.endsWith("\n"))]);
  one.end();
  check.require();
  const oldBytes = needle.bytes.length - (isTorn ? 1 : 0);
  const changes = starts.map(({ at }, index) => ({ from: at, to: at + oldBytes, text: texts[index] ?? "" }));
  const pieces = await runInSlices(piecesOf({ byteAt: (at) => at }, changes, current), signal);
  const touched = await linesTouched(
    starts,
    own.oldText,
    texts,
    oldNewlines - (isTorn ? 1 : 0),
    source,
    form.bomBytes,
    signal,
  );
  const diff = startDiff(shows);
  const runs = shownRuns(touched, shows);
  await addRuns(diff, runs, changes, touched, source, current, shows);
  return {
    pieces,
    diff: await runInSlices(
      finishDiff(diff, runs, changes, touched, () => own.oldText),
      signal,
    ),
    before: textBefore(current),
    notes: [...notesOf(current, touched), ...check.notes()],
    wrote: knownAfter(current, movedAlong(shown, touched)),
    lines: linesMoved(current, touched),
    extra: [{ matchedBy, replacements: hits.length, line: starts[0]?.line ?? 1 }],
  };

  async function search(wanted: Uint8Array): Promise<{ readonly hits: readonly Hit[]; readonly total: number }> {
    const reader = bytes === undefined ? file : readable(bytes);
    const options = { hitsMax: Math.max(placesKeptMax, linesMax), firstByte: form.bomBytes, signal, onProgress };
    const beginsWithNewline = wanted[0] === newline;
    const overlapping = !edit.all || beginsWithNewline ? "first" : false;
    const lines = edit.all || beginsWithNewline ? "all" : "first";
    if (isDoubleByte(form.encoding)) {
      const all = await findInFile(reader, wanted, { ...options, overlapping: true, lines: "all" });
      const how = { overlapping: overlapping !== false, signal };
      const whole = await wholeCharacters(all, wanted.length, form.encoding, source, target, how);
      return beginsWithNewline ? withWholeLineEnds(whole, edit, wanted.length, source, signal) : whole;
    }
    const once = await findInFile(reader, wanted, { ...options, overlapping, onChunk, lines });
    if (beginsWithNewline) return withWholeLineEnds(once, edit, wanted.length, source, signal);
    return once.total > 1 && lines === "first"
      ? findInFile(reader, wanted, { ...options, overlapping, lines: "all" })
      : once;
  }
}

/** Lines that an error lists. */
const linesMax = 50;
/** More places than this of a file in memory are made in blocks. */
const placesInMemoryMax = 10_000;

/** Drops places that would split a `\r\n`; if no other is left, a leading newline of both texts counts for the whole `\r\n`. */
async function withWholeLineEnds(
  found: Places,
  { oldText, newText, all }: TextEdit,
  needleBytes: number,
  source: Bytes,
  signal: AbortSignal,
): Promise<Places> {
  if (found.total > found.hits.length) return found;
  const areTorn = await eachInTurns(found.hits, signal, ({ at }) => isAfterReturn(at, source));
  const [whole, torn] = [false, true].map((isTorn) => found.hits.filter((_, index) => areTorn[index] === isTorn));
  const mayUseTorn = newText.startsWith("\n") && !/[\r\n]/.test(oldText.slice(1));
  const taken = whole?.[0] !== undefined ? whole : mayUseTorn && torn !== undefined ? torn : [];
  let free = 0;
  const hits = taken.filter(({ at }) => {
    if (all && at < free) return false;
    free = at + needleBytes;
    return true;
  });
  return { hits, total: hits.length };
}

const isAfterReturn = async (at: number, source: Bytes): Promise<boolean> =>
  at > 0 && (await source.read(at - 1, at))[0] === carriageReturn;

const readable = (bytes: Buffer): Parameters<typeof findInFile>[0] => ({
  sizeBytes: bytes.length,
  read: (into, at) => {
    const part = bytes.subarray(at, at + into.length);
    into.set(part);
    return part.length;
  },
});

/** Replaces one text in very many places. Memory does not grow with their number: the places are found again when they are written. */
async function planEverywhere(
  current: CurrentFile,
  edit: TextEdit,
  needle: Uint8Array,
  source: Bytes,
  { signal, onProgress, changes: { editBytesMax } }: Pick<ToolContext, "signal" | "onProgress" | "changes">,
  shows: DiffLimits,
): Promise<Planned<readonly EditFound[]>> {
  const { file, form, bytes, seen } = current;
  requireCertain(current, "exact", 2);
  // A character that cannot be encoded is reported only if all lines were shown: NOT_READ comes first.
  const isEncodable = "bytes" in encode(edit.newText, form.encoding);
  const put = encoded(isEncodable ? edit.newText : "", current);
  const [linesBefore, linesAfter] = [newlineBytesIn(needle) + 1, 1];
  const isWhole = seen.state === "fresh" && seen.whole;
  const shown = shownOf(seen);
  const first: Hit[] = [];
  const diff = startDiff(shows);
  let runs: readonly ChangedRun[] | undefined;
  const touchedShown: LinesTouched[] = [];
  const blocks = startBlocks(source, needle, put);
  const spanAt = (line: number): LineSpan => ({ from: line, to: line + linesBefore - 1 });
  let missing: readonly LineSpan[] = [];
  const oneIsEnough = current.rules.readFirst === "file" && shown.shown.length > 0;
  let placesMissed = 0;
  let replacements = 0;
  let firstLine = 1;
  const onHit = (at: number, line: number): void => {
    if (replacements === 0) firstLine = line;
    replacements += 1;
    blocks.hit(at);
    if (!isWhole) {
      const missed = touchedShown.at(-1)?.line === line ? [] : unshown(current, shown, [spanAt(line)]);
      // Grows only with the lines that were shown.
      if (missed.length === 0) touchedShown.push({ line, linesBefore, linesAfter });
      else {
        placesMissed += 1;
        if (missing.length < missingMax) missing = merged([...missing, ...missed]);
        else if (!oneIsEnough) throw notShown(current, missing);
      }
    }
    if (runs !== undefined) diff.count({ line, linesBefore, linesAfter });
    else first.push({ at, line });
    // Each place takes at least one line of the diff: later ones cannot be shown.
    if (first.length > shows.linesMax) chooseRuns();
  };
  const touchedBy = ({ line }: Hit): LinesTouched => ({ line, linesBefore, linesAfter });
  const chooseRuns = (): readonly ChangedRun[] => {
    if (runs !== undefined) return runs;
    runs = shownRuns(first.map(touchedBy), shows);
    for (const hit of first.splice(runs.at(-1)?.next ?? 0)) diff.count(touchedBy(hit));
    return runs;
  };
  const where = { hitsMax: 0, overlapping: false, lines: "all", firstByte: form.bomBytes } as const;
  await findInFile(bytes === undefined ? file : readable(bytes), needle, { ...where, signal, onProgress, onHit });
  if (missing.length > 0 && !(oneIsEnough && touchedShown.length > 0)) throw notShown(current, missing);
  if (!isEncodable) encoded(edit.newText, current);
  if (file.sizeBytes + replacements * (put.length - needle.length) > editBytesMax) {
    const limit = `${editBytesMax} bytes, and after ${replacements} replacements it would have more`;
    throw new Problem({ code: "TOO_LARGE", place: current.target, kind: "text", limit });
  }
  const chosen = chooseRuns();
  const replaced = first.map(({ at }) => ({ from: at, to: at + needle.length, text: edit.newText }));
  await addRuns(diff, chosen, replaced, first.map(touchedBy), source, current, shows);
  return {
    pieces: blocks.finish(),
    diff: await runInSlices(diff.finish(), signal),
    before: textBefore(current),
    notes: [
      ...notesOf(current, undefined),
      ...(placesMissed > 0 ? [{ note: "places not shown", places: placesMissed, of: replacements } as const] : []),
    ],
    // Lines that were joined where none was shown have moved the others.
    wrote:
      placesMissed > 0 && linesBefore !== linesAfter
        ? nothingShown
        : knownAfter(current, movedAlong(shown, touchedShown)),
    extra: [{ matchedBy: "exact", replacements, line: firstLine }],
  };
}

/** Line ranges that one NOT_READ error collects before the search stops. */
const missingMax = 100;

/** Bytes of the old file in one block. */
const blockBytesMax = 65_536;
/** Bytes of the new file in one block: a replacement may be longer than what it replaces. */
const blockMadeBytesMax = 262_144;
/** Places further apart than this are in different blocks. */
const blockGapBytesMax = 4_096;

/** Collects the pieces of the new file, one for each block of places instead of one for each place. Hits MUST ascend. */
function startBlocks(source: Bytes, needle: Uint8Array, put: Uint8Array) {
  const pieces: Piece[] = [];
  const grows = put.length - needle.length;
  let done = 0;
  let block: { readonly from: number; to: number; hits: number } | undefined;
  const close = (): void => {
    if (block === undefined) return;
    const { from, to, hits } = block;
    if (from > done) pieces.push({ from: done, to: from });
    const sizeBytes = to - from + hits * grows;
    const make = (): Uint8Array | Promise<Uint8Array> => {
      const old = source.read(from, to);
      return old instanceof Promise
        ? old.then((bytes) => replacedIn(bytes, needle, put, sizeBytes))
        : replacedIn(old, needle, put, sizeBytes);
    };
    if (sizeBytes > 0) pieces.push({ sizeBytes, make });
    done = to;
    block = undefined;
  };
  return {
    hit(at: number): void {
      if (block !== undefined) {
        const isNear = at - block.to <= blockGapBytesMax && at - block.from < blockBytesMax;
        if (!isNear || at - block.from + block.hits * grows + put.length > blockMadeBytesMax) close();
      }
      block ??= { from: at, to: at, hits: 0 };
      block.to = at + needle.length;
      block.hits += 1;
    },
    finish(): readonly Piece[] {
      close();
      if (done < source.sizeBytes) pieces.push({ from: done, to: source.sizeBytes });
      return pieces;
    },
  };
}

function replacedIn(old: Uint8Array, needle: Uint8Array, put: Uint8Array, sizeBytes: number): Uint8Array {
  const made = Buffer.allocUnsafe(sizeBytes);
  const next = bytePlacesIn(Buffer.from(old.buffer, old.byteOffset, old.length), Buffer.from(needle));
  let [from, to] = [0, 0];
  for (let at = next(0); at >= 0; at = next(from)) {
    to = copyTo(made, to, old, from, at);
    to = copyTo(made, to, put, 0, put.length);
    from = at + needle.length;
  }
  copyTo(made, to, old, from, old.length);
  return made;
}

/** Copies a few bytes one by one, which costs less than a call of `set`. Returns the offset after them. */
function copyTo(into: Uint8Array, at: number, bytes: Uint8Array, from: number, to: number): number {
  if (to - from > 32) into.set(bytes.subarray(from, to), at);
  else for (let next = from; next < to; next += 1) into[at + next - from] = bytes[next] ?? 0;
  return at + to - from;
}

/** The new text of each place, with the line ends that the file has around that place, as in the text engine. */
async function withLocalEnds(
  { oldText, newText }: Pick<TextEdit, "oldText" | "newText">,
  hits: readonly Hit[],
  source: Bytes,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (!/[\r\n]/.test(newText)) return hits.map(() => newText);
  const hasNewline = (await byteFrom(source, newline, 0)) !== undefined;
  const isLone = !hasNewline && (await byteFrom(source, carriageReturn, 0)) !== undefined;
  const endAt = isLone ? () => "\r" : lineEndsIn(source);
  const textAt = await runInSlices(exactReplacement(oldText, newText, isLone), signal);
  return eachInTurns(hits, signal, async ({ at }) => {
    const end = await endAt(at);
    return textAt(() => end);
  });
}

/** The lines that each place touches. Whole lines replaced by whole lines do not touch the line after them. */
function linesTouched(
  hits: readonly Hit[],
  oldText: string,
  texts: readonly string[],
  oldNewlines: number,
  source: Bytes,
  firstByte: number,
  signal: AbortSignal,
): Promise<readonly LinesTouched[]> {
  const endsLine = (text: string): boolean => text === "" || text.endsWith("\n");
  // Most often all places get the same text.
  let last = { text: "", newlines: 0 };
  return eachInTurns(hits, signal, async ({ at, line }, index) => {
    const { [index]: text = "" } = texts;
    if (text !== last.text) last = { text, newlines: countNewlines(text) };
    const mayBeWhole = endsLine(oldText) && endsLine(text);
    const staysLine = mayBeWhole && oldText !== "" && text !== "";
    const isWhole = staysLine || (mayBeWhole && (at === firstByte || (await source.read(at - 1, at))[0] === newline));
    const extra = isWhole ? 0 : 1;
    return { line, linesBefore: oldNewlines + extra, linesAfter: last.newlines + extra };
  });
}

async function eachInTurns<One, Result>(
  list: readonly One[],
  signal: AbortSignal,
  work: (one: One, index: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const slices = timeSlices(signal);
  for (const [index, one] of list.entries()) {
    if (index % turnPlaces === 0 && slices.isOver()) await slices.next();
    results.push(await work(one, index));
  }
  return results;
}

async function addRuns(
  diff: DiffOfChanges,
  runs: readonly ChangedRun[],
  all: readonly TextChange[],
  touched: readonly LinesTouched[],
  source: Bytes,
  { form }: CurrentFile,
  shows: DiffLimits,
): Promise<void> {
  for (const run of runs) {
    const changes = all.slice(run.first, run.next);
    const around = diff.isFull() ? undefined : await bytesAround(run, changes, source, form, shows);
    diff.add(run, changes, touched.slice(run.first, run.next), around);
  }
}

/** The first guess at the length of a line: few are longer. */
const firstReachBytes = 512;

/** Reads the bytes that a diff may show of a run of changes; undefined if they are too many. */
async function bytesAround(
  { above, below }: ChangedRun,
  changes: readonly TextChange[],
  source: Bytes,
  form: CurrentFile["form"],
  { charsMax, reachBytes }: DiffLimits,
): Promise<LinesAround | undefined> {
  const [first, last] = [changes[0]?.from ?? 0, changes.at(-1)?.to ?? 0];
  if (last - first > charsMax) return undefined;
  // A changed line and its context may each have `reachBytes`.
  const most = 2 * reachBytes + 2;
  let from = first;
  for (let reach = firstReachBytes; ; reach *= 8) {
    from = Math.max(form.bomBytes, first - Math.min(reach, most));
    if (from === form.bomBytes || reach >= most || newlineBytesIn(await source.read(from, first)) > above) break;
  }
  let to = last;
  for (let reach = firstReachBytes; ; reach *= 8) {
    to = Math.min(source.sizeBytes, last + Math.min(reach, most));
    if (to === source.sizeBytes || reach >= most || newlineBytesIn(await source.read(last, to)) > below) break;
  }
  const bytes = await source.read(from, to);
  return {
    start: form.bomBytes,
    end: source.sizeBytes,
    newlineBefore: (at) => {
      const found = bytes.subarray(0, Math.max(0, at - from)).lastIndexOf(newline);
      return found === -1 ? -1 : from + found;
    },
    newlineFrom: (at) => {
      const found = bytes.indexOf(newline, at - from);
      return found === -1 ? -1 : from + found;
    },
    bytesBetween: (one, other) => other - one,
    slice: (start, end) =>
      sourceText(bytes.subarray(start - from, end - from), { encoding: form.encoding, bomBytes: 0 }).text,
  };
}

const newlineBytesIn = (bytes: Uint8Array): number => countNewlinesIn(bytes, 0, bytes.length, "byte");

// In double-byte encodings such as Shift_JIS the bytes of a text can also occur inside other characters: those places do not count.

interface Places {
  readonly hits: readonly Hit[];
  readonly total: number;
}

/** How far back the beginning of a line is searched for, from where it is certain which bytes begin a character. */
const characterReachBytes = 1_048_576;
/** Places between two looks at the clock. */
const turnPlaces = 100;

/** Keeps the places that begin with a character. `found` MUST have all places, overlapping ones included. */
export async function wholeCharacters(
  found: Places,
  needleBytes: number,
  encoding: DoubleByteName,
  source: Bytes,
  target: Target,
  { overlapping, signal }: { readonly overlapping: boolean; readonly signal: AbortSignal },
): Promise<Places> {
  const tooLarge = (limit: string): Problem => new Problem({ code: "TOO_LARGE", place: target, kind: "text", limit });
  if (found.total > found.hits.length) throw tooLarge(`${found.hits.length} places of these bytes`);
  const hits: Hit[] = [];
  let free = 0;
  /** The first offset at or after the last place where a character begins. */
  let known = 0;
  const slices = timeSlices(signal);
  for (const [index, hit] of found.hits.entries()) {
    if (index % turnPlaces === 0 && slices.isOver()) await slices.next();
    if (hit.at < Math.max(free, known)) continue;
    const from = await characterBefore(source, hit.at, known);
    if (from === undefined) throw tooLarge(`${characterReachBytes} bytes of a line in ${encoding}`);
    const bytes = await source.read(from, Math.min(source.sizeBytes, hit.at + 4));
    known = from + firstCharacter(bytes, hit.at - from, encoding);
    if (known > hit.at) continue;
    hits.push(hit);
    free = overlapping ? hit.at + 1 : hit.at + needleBytes;
  }
  return { hits, total: hits.length };
}

/** An offset where a character begins for certain: the start of the line, or `known`. Undefined if both are too far away. */
async function characterBefore(source: Bytes, at: number, known: number): Promise<number | undefined> {
  for (let reach = firstReachBytes; ; reach = Math.min(reach * 8, characterReachBytes)) {
    const from = Math.max(known, at - reach);
    // A newline is never a part of a longer character.
    const found = (await source.read(from, at)).lastIndexOf(newline);
    if (found !== -1) return from + found + 1;
    if (from === known) return known;
    if (reach === characterReachBytes) return undefined;
  }
}

function firstCharacter(bytes: Uint8Array, wanted: number, encoding: DoubleByteName): number {
  const step = doubleByteStep(encoding);
  const units: Units = { bytes: Buffer.allocUnsafe(16), length: 0 };
  let at = 0;
  for (; at < wanted; units.length = 0) at += step(bytes, at, units);
  return at;
}

export interface Bytes {
  readonly sizeBytes: number;
  /** Synchronous if the bytes are in memory. */
  read(from: number, to: number): Uint8Array | Promise<Uint8Array>;
}

const bytesInMemory = (bytes: Buffer): Bytes => ({
  sizeBytes: bytes.length,
  read: (from, to) => bytes.subarray(from, to),
});

const bytesInFile = (file: OpenFile): Bytes => ({
  sizeBytes: file.sizeBytes,
  read: async (from, to) => {
    const bytes = Buffer.allocUnsafe(to - from);
    if ((await file.read(bytes, from)) < bytes.length) throw new FileTruncated();
    return bytes;
  },
});

const newline = 10;
const carriageReturn = 13;
const lineReachBytes = 65_536;

/** The line end at an offset, or of the line before the last; undefined in a file of one line. Offsets MUST ascend. */
function lineEndsIn(source: Bytes): (at: number) => Promise<"\n" | "\r\n" | undefined> {
  let known: { readonly until: number; readonly end: "\n" | "\r\n" | undefined } | undefined;
  return async (at) => {
    if (known === undefined || at > known.until) {
      const next = (await byteFrom(source, newline, at)) ?? (await newlineBefore(source, at));
      const isLast = next === undefined || next < at;
      known = {
        until: isLast ? source.sizeBytes : next,
        end: next === undefined ? undefined : await endAt(source, next),
      };
    }
    return known.end;
  };
}

const endAt = async (source: Bytes, at: number): Promise<"\n" | "\r\n"> =>
  at > 0 && (await source.read(at - 1, at))[0] === carriageReturn ? "\r\n" : "\n";

async function byteFrom(source: Bytes, byte: number, at: number): Promise<number | undefined> {
  for (let from = at, bytesMax = 512; from < source.sizeBytes; bytesMax = Math.min(bytesMax * 4, lineReachBytes)) {
    const bytes = await source.read(from, Math.min(source.sizeBytes, from + bytesMax));
    const found = bytes.indexOf(byte);
    if (found !== -1) return from + found;
    from += bytes.length;
  }
  return undefined;
}

async function newlineBefore(source: Bytes, at: number): Promise<number | undefined> {
  for (let to = at; to > 0; to -= lineReachBytes) {
    const from = Math.max(0, to - lineReachBytes);
    const found = (await source.read(from, to)).lastIndexOf(newline);
    if (found !== -1) return from + found;
  }
  return undefined;
}
