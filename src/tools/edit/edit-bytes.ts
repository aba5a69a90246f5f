/** An edit whose very letters are looked for in the bytes: quick for files in memory, and possible for any size. */

import type { EditFound, Piece, TextEdit } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import { type LineSpan, Problem, type WhichEdit } from "../../contract/problem.ts";
import type { Target } from "../../contract/target.ts";
import { FileCut, findInFile, type Hit, type OpenFile, yieldToEventLoop } from "../../disk/disk.ts";
import { merged } from "../../session/session.ts";
import {
  bytePlacesIn,
  type ChangedPlace,
  countNewlinesIn,
  decode,
  type DoubleByteName,
  doubleByteStep,
  encode,
  exactReplacement,
  findAll,
  hunksOfPlaces,
  isDoubleByte,
  type Units,
} from "../../text/text.ts";
import type { Planned } from "../change/change.ts";
import type { CurrentFile } from "../change/current-file.ts";
import type { ToolContext } from "../tool.ts";
import {
  encoded,
  knownAfter,
  movedAlong,
  notesOf,
  notShown,
  requireCertain,
  requireShown,
  shownOf,
  spanFrom,
  unshown,
} from "./edit-text.ts";

/** Hits kept of a large file, and those whose surroundings are shown in the diff. */
const hitsMax = 100_000;
const placesMax = 200;
/** More places than this in a file in memory are handled as text, and more than that by blocks, as in a large file. */
const hitsInMemoryMax = 20;
const textHitsMax = 20_000;
/** Places of a text that should stand once, above which they are counted and not looked at one by one. */
const ambiguousHitsMax = 1_000;

const only: WhichEdit = { index: 1, of: 1, othersFound: [] };

/** Undefined: not found by its letters, or in too many places; the text is to be looked at. */
export async function planBytes(
  current: CurrentFile,
  edit: TextEdit,
  { signal, onProgress, changes: { editBytesMax } }: Pick<ToolContext, "signal" | "onProgress" | "changes">,
  onChunk?: (chunk: Uint8Array) => void,
): Promise<Planned<readonly EditFound[]> | undefined> {
  const { target, file, form, bytes } = current;
  const needle = encode(edit.oldText, form.encoding);
  const found = "lacks" in needle ? { hits: [], total: 0 } : await search(needle.bytes);
  if (!("lacks" in needle) && edit.all && isEverywhere(found.total)) {
    return planEverywhere(current, edit, needle.bytes, editBytesMax, { signal, onProgress });
  }
  if (bytes !== undefined && !edit.all && found.total > ambiguousHitsMax && !("lacks" in needle)) {
    const options = { hitsMax: linesMax, overlapping: true, firstByte: form.bomBytes, signal, onProgress } as const;
    const { hits, total } = await findInFile(readable(bytes), needle.bytes, { ...options, lines: "all" });
    throw ambiguous(hits, total);
  }
  if (bytes !== undefined && (found.total === 0 || found.total > (edit.all ? hitsInMemoryMax : 1))) return undefined;
  if ("lacks" in needle || found.total === 0) {
    throw new Problem({ code: "NO_MATCH", place: target, which: only, nearest: undefined, searched: "exactly" });
  }
  if (found.total > 1 && !edit.all) {
    throw ambiguous(found.hits, found.total);
  }
  if (found.total > hitsMax) {
    throw new Problem({ code: "TOO_LARGE", place: target, kind: "text", limit: `${hitsMax} replacements at once` });
  }
  const { hits } = found;
  requireCertain(current, "exact", hits.length);

  const source = bytes === undefined ? bytesInFile(file) : bytesInMemory(bytes);
  const asSent = { text: edit.newText, bytes: encoded(edit.newText, current) };
  const puts = bytes === undefined ? await withLocalEnds(edit, hits, source, current) : hits.map(() => asSent);
  const newlines = { old: newlinesIn(needle.bytes), new: newlinesIn(asSent.bytes) };
  const shown = shownOf(current.seen);
  const ends = edit.oldText.endsWith("\n");
  requireShown(
    current,
    shown,
    hits.map(({ line }) => spanFrom(line, newlines.old, ends)),
  );
  const changes: LinesChanged[] = [];
  for (const { at, line } of hits) {
    const extra = (await isWholeLines(edit, at, source, form.bomBytes)) ? 0 : 1;
    changes.push({ line, linesBefore: newlines.old + extra, linesAfter: newlines.new + extra });
  }
  const shownMax = shownHits(changes);
  const replaced = { hits, oldText: edit.oldText, oldBytes: needle.bytes.length, puts };
  const places = await placesAround(replaced, shownMax, source, current);
  const diff = hunksOfPlaces(places ?? []);
  // What is not shown is counted all the same.
  const hidden = counted(changes.slice(places === undefined ? 0 : shownMax));
  const isShort = bytes !== undefined && bytes.length <= limits.changeCharsMax * 4;
  return {
    pieces: piecesOf(replaced, file.sizeBytes),
    diff: {
      hunks: diff.hunks,
      additions: diff.additions + hidden.after,
      deletions: diff.deletions + hidden.before,
      complete: diff.complete && hidden.before + hidden.after === 0,
    },
    // The mark at the file's beginning is not part of its text.
    before: isShort ? textOf(bytes.subarray(form.bomBytes), current) : undefined,
    notes: notesOf(current),
    wrote: knownAfter(current, movedAlong(shown, changes)),
    extra: [
      {
        matchedBy: puts.every(({ text }) => text === edit.newText) ? "exact" : "line ends",
        replacements: hits.length,
        line: hits[0]?.line ?? 1,
      },
    ],
  };

  /** Blocks are made of one new text for all places, none of which ends where a line does. */
  function isEverywhere(total: number): boolean {
    const isOne = bytes !== undefined || !/[\r\n]/.test(edit.newText);
    const isSimple = isOne && !edit.oldText.endsWith("\n") && !edit.oldText.startsWith("\n");
    return isSimple && !isDoubleByte(form.encoding) && total > (bytes === undefined ? hitsMax : textHitsMax);
  }

  function ambiguous(hits: readonly Hit[], total: number): Problem {
    const lines = hits.map(({ line }) => line).slice(0, linesMax);
    return new Problem({ code: "AMBIGUOUS", place: target, which: only, matchedBy: "exact", lines, total });
  }

  async function search(wanted: Uint8Array): Promise<{ readonly hits: readonly Hit[]; readonly total: number }> {
    if (bytes === undefined) {
      const options = { hitsMax, overlapping: !edit.all, firstByte: form.bomBytes, signal, onProgress } as const;
      if (isDoubleByte(form.encoding)) {
        const all = await findInFile(file, wanted, { ...options, overlapping: true, lines: "all" });
        return wholeCharacters(all, wanted.length, form.encoding, bytesInFile(file), target, options);
      }
      if (edit.all) return findInFile(file, wanted, { ...options, onChunk, lines: "all" });
      const once = await findInFile(file, wanted, { ...options, onChunk, lines: "first" });
      return once.total > 1 ? findInFile(file, wanted, { ...options, lines: "all" }) : once;
    }
    const totalMax = edit.all ? textHitsMax : ambiguousHitsMax;
    const options = { hitsMax: hitsInMemoryMax, totalMax, overlapping: !edit.all, unitBytes: 1 } as const;
    const { hits: offsets, total } = findAll(bytes, wanted, { ...options, firstByte: form.bomBytes });
    if (total > hitsInMemoryMax) return { hits: [], total };
    return { hits: offsets.map((at) => ({ at, line: countNewlinesIn(bytes, 0, at, "byte") + 1 })), total };
  }
}

/** Lines that an error names. */
const linesMax = 50;

/** Bytes in memory, to be searched like those of a file. */
const readable = (bytes: Buffer): Parameters<typeof findInFile>[0] => ({
  sizeBytes: bytes.length,
  read: (into, at) => {
    const part = bytes.subarray(at, at + into.length);
    into.set(part);
    return part.length;
  },
});

/** One text in very many places: what is known of them does not grow with their number, and they are found again to be written. */
async function planEverywhere(
  current: CurrentFile,
  edit: TextEdit,
  needle: Uint8Array,
  editBytesMax: number,
  { signal, onProgress }: Pick<ToolContext, "signal" | "onProgress">,
): Promise<Planned<readonly EditFound[]>> {
  const { file, form, bytes, seen } = current;
  requireCertain(current, "exact", hitsMax);
  const source = bytes === undefined ? bytesInFile(file) : bytesInMemory(bytes);
  const put = { text: edit.newText, bytes: encoded(edit.newText, current) };
  const linesBefore = newlinesIn(needle) + 1;
  const linesAfter = newlinesIn(put.bytes) + 1;
  const isWhole = seen.state === "fresh" && seen.whole;
  const shown = shownOf(seen);
  const first: Hit[] = [];
  const ofParts: LinesChanged[] = [];
  const [all, hidden] = [lineTally(), lineTally()];
  const blocks = startBlocks(source, needle, put.bytes);
  const spanAt = (line: number): LineSpan => ({ from: line, to: line + linesBefore - 1 });
  let missing: readonly LineSpan[] = [];
  let shownMax = 0;
  let replacements = 0;
  const onHit = (at: number, line: number): void => {
    replacements += 1;
    blocks.hit(at);
    all.add(line, linesBefore, linesAfter);
    if (!isWhole) {
      if (ofParts.at(-1)?.line !== line) missing = merged([...missing, ...unshown(current, shown, [spanAt(line)])]);
      if (missing.length >= missingMax) throw notShown(current, missing);
      // Parts that were shown are few, and nothing outside of them is changed.
      if (missing.length === 0) ofParts.push({ line, linesBefore, linesAfter });
    }
    if (first.length > placesMax) {
      hidden.add(line, linesBefore, linesAfter);
      return;
    }
    first.push({ at, line });
    if (first.length <= placesMax) return;
    const changes = first.map((hit) => ({ line: hit.line, linesBefore, linesAfter }));
    shownMax = shownHits(changes);
    for (const one of changes.slice(shownMax)) hidden.add(one.line, linesBefore, linesAfter);
  };
  const options = { hitsMax, overlapping: false, firstByte: form.bomBytes, signal, onProgress, lines: "all" } as const;
  await findInFile(bytes === undefined ? file : readable(bytes), needle, { ...options, onHit });
  if (missing.length > 0) throw notShown(current, missing);
  if (file.sizeBytes + replacements * (put.bytes.length - needle.length) > editBytesMax) {
    const limit = `${editBytesMax} bytes, and after ${replacements} replacements it would have more`;
    throw new Problem({ code: "TOO_LARGE", place: current.target, kind: "text", limit });
  }
  const replaced = { hits: first, oldText: edit.oldText, oldBytes: needle.length, puts: first.map(() => put) };
  const places = await placesAround(replaced, shownMax, source, current);
  const diff = hunksOfPlaces(places ?? []);
  const rest = (places === undefined ? all : hidden).lines();
  return {
    pieces: blocks.finish(),
    diff: {
      hunks: diff.hunks,
      additions: diff.additions + rest.after,
      deletions: diff.deletions + rest.before,
      complete: false,
    },
    before: undefined,
    notes: notesOf(current),
    wrote: isWhole ? "all" : knownAfter(current, movedAlong(shown, ofParts)),
    extra: [{ matchedBy: "exact", replacements, line: first[0]?.line ?? 1 }],
  };
}

/** Ranges of lines that one refusal collects before it stops looking for more. */
const missingMax = 100;

/** Bytes of the old file, and of the new one, that a block holds at most; and how far apart its places may be. */
const blockBytesMax = 65_536;
const blockMadeBytesMax = 262_144;
const blockGapBytesMax = 4_096;

/** The pieces of a file in which one text gives way to another, without one for every place. Hits come in order. */
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

/** Few bytes are copied one by one: a call costs more. Answers where the next ones go. */
function copyTo(into: Uint8Array, at: number, bytes: Uint8Array, from: number, to: number): number {
  if (to - from > 32) into.set(bytes.subarray(from, to), at);
  else for (let next = from; next < to; next += 1) into[at + next - from] = bytes[next] ?? 0;
  return at + to - from;
}

/** Do whole lines give way to whole lines, so that the line behind them is not touched? */
async function isWholeLines(
  { oldText, newText }: TextEdit,
  at: number,
  source: Bytes,
  firstByte: number,
): Promise<boolean> {
  if (!oldText.endsWith("\n") || !(newText === "" || newText.endsWith("\n"))) return false;
  return beginsLine(at, source, firstByte);
}

const beginsLine = async (at: number, source: Bytes, firstByte: number): Promise<boolean> =>
  at === firstByte || (await source.read(at - 1, at))[0] === 10;

/** What takes the place of the old text. */
interface Put {
  readonly text: string;
  readonly bytes: Uint8Array;
}

/** All places of the old text, in order, and what each of them gets. */
interface Replaced {
  readonly hits: readonly Hit[];
  readonly oldText: string;
  readonly oldBytes: number;
  readonly puts: readonly Put[];
}

/**
 * New lines get the line ends around them, each place its own, as in a file in memory. A newline at the beginning of the old
 * text may have been found after a `\r`: then it is that line's end, and the rest follows it.
 */
async function withLocalEnds(
  { oldText, newText }: TextEdit,
  hits: readonly Hit[],
  source: Bytes,
  current: CurrentFile,
): Promise<readonly Put[]> {
  const known = new Map<string, Put>();
  const put = (text: string): Put => {
    const made = known.get(text) ?? { text, bytes: encoded(text, current) };
    known.set(text, made);
    return made;
  };
  const endAt = lineEndsIn(source);
  const inLine = exactReplacement(oldText, newText, false);
  const afterReturn = exactReplacement(oldText.slice(1), newText.slice(1), false);
  const puts: Put[] = [];
  for (const { at } of hits) {
    const isTorn = oldText.startsWith("\n") && at > 0 && (await source.read(at - 1, at))[0] === 13;
    if (isTorn && !newText.startsWith("\n")) {
      throw new Problem({
        code: "NO_MATCH",
        place: current.target,
        which: only,
        nearest: undefined,
        searched: "exactly",
      });
    }
    const end = newText.includes("\n") ? await endAt(isTorn ? at + 1 : at) : undefined;
    puts.push(put(isTorn ? `\n${afterReturn(() => end)}` : inLine(() => end)));
  }
  return puts;
}

interface LinesChanged {
  readonly line: number;
  readonly linesBefore: number;
  readonly linesAfter: number;
}

function counted(changes: readonly LinesChanged[]): { readonly before: number; readonly after: number } {
  const tally = lineTally();
  for (const { line, linesBefore, linesAfter } of changes) tally.add(line, linesBefore, linesAfter);
  return tally.lines();
}

/** How many lines all changes are, before and after: several may touch the same line. */
function lineTally() {
  let [before, grown, end] = [0, 0, 0];
  return {
    add(line: number, linesBefore: number, linesAfter: number): void {
      const last = line + linesBefore - 1;
      before += Math.max(0, last - Math.max(end, line - 1));
      grown += linesAfter - linesBefore;
      end = Math.max(end, last);
    },
    lines: () => ({ before, after: before + grown }),
  };
}

/** How many of the first places are shown: as many as may be, and of a line all of them or none. */
function shownHits(changes: readonly LinesChanged[]): number {
  let shown = Math.min(changes.length, placesMax);
  const touches = (one: LinesChanged | undefined, next: LinesChanged | undefined): boolean =>
    one !== undefined && next !== undefined && next.line <= one.line + one.linesBefore - 1;
  while (shown > 0 && touches(changes[shown - 1], changes[shown])) shown -= 1;
  return shown;
}

const newlinesIn = (bytes: Uint8Array): number => countNewlinesIn(bytes, 0, bytes.length, "byte");

function piecesOf({ hits, oldBytes, puts }: Replaced, sizeBytes: number): readonly Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  hits.forEach((hit, index) => {
    const put = puts[index]?.bytes;
    if (hit.at > at) pieces.push({ from: at, to: hit.at });
    if (put !== undefined && put.length > 0) pieces.push(put);
    at = hit.at + oldBytes;
  });
  if (at < sizeBytes) pieces.push({ from: at, to: sizeBytes });
  return pieces;
}

/**
 * Whole lines around each of the first hits; those that stand close together share theirs. Undefined where lines are too long
 * to show, or none is to be shown.
 */
async function placesAround(
  { hits, oldText, oldBytes, puts }: Replaced,
  shownMax: number,
  source: Bytes,
  current: CurrentFile,
): Promise<readonly ChangedPlace[] | undefined> {
  if (shownMax === 0) return undefined;
  const { bomBytes } = current.form;
  const around = async (index: number, { at }: Hit) => {
    const put = puts[index]?.text ?? "";
    // Where the old text ends a line and nothing does in its place, the next line goes on with what is left.
    const stays = oldText.endsWith("\n") && (put === "" ? await beginsLine(at, source, bomBytes) : put.endsWith("\n"));
    return linesAround(source, { from: at, to: at + oldBytes, behind: stays ? "context" : "changed" }, bomBytes);
  };
  // The lines of the next hit are changed too, so they are not context of these.
  const hiddenFrom = hits[shownMax];
  const end = hiddenFrom === undefined ? source.sizeBytes : await lineStart(source, hiddenFrom.at, bomBytes);
  const places: ChangedPlace[] = [];
  for (let first = 0; first < shownMax; ) {
    const hit = hits[first];
    if (hit === undefined) break;
    let window = await around(first, hit);
    let next = first + 1;
    for (let other = hits[next]; window !== undefined && other !== undefined && next < shownMax; other = hits[next]) {
      const there = await around(next, other);
      // Lines that are the context of both are shown once.
      if (there !== undefined && there.from >= window.to) break;
      window = there === undefined ? undefined : { from: window.from, to: Math.max(window.to, there.to) };
      next += 1;
    }
    if (window === undefined || end === undefined) return undefined;
    const to = Math.min(window.to, end);
    const old = await source.read(window.from, to);
    const parts: Uint8Array[] = [];
    let at = window.from;
    for (let index = first; index < next; index += 1) {
      const start = hits[index]?.at ?? at;
      parts.push(old.subarray(at - window.from, start - window.from), puts[index]?.bytes ?? new Uint8Array());
      at = start + oldBytes;
    }
    parts.push(old.subarray(at - window.from));
    places.push({
      firstLine: hit.line - newlinesIn(old.subarray(0, hit.at - window.from)),
      before: textOf(old, current),
      after: textOf(Buffer.concat(parts), current),
      atEnd: to === source.sizeBytes,
    });
    first = next;
  }
  return places;
}

/** For showing. */
const textOf = (bytes: Uint8Array, { form }: CurrentFile): string => decode(bytes, form.encoding).text;

// In some encodings the bytes of a text can be found in the middle of other characters: those places are no hits.

interface Places {
  readonly hits: readonly Hit[];
  readonly total: number;
}

/** How far a line is followed back to its beginning, from where its characters can be told. */
const characterReachBytes = 1_048_576;
/** Most lines are not longer. */
const firstReachBytes = 512;
/** Other calls get their turn after so many places. */
const turnPlaces = 1_000;

/**
 * `found` are all places, overlapping ones included. With `overlapping` off, each begins behind the one before. What lies
 * between two places is passed once at most, however long the lines are.
 */
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
  /** Here a character begins, and there is none between this and the last place. */
  let known = 0;
  for (const [index, hit] of found.hits.entries()) {
    if (index % turnPlaces === turnPlaces - 1) {
      signal.throwIfAborted();
      await yieldToEventLoop();
    }
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

/** Where a character begins for certain: the line, or what is known. Undefined: both are too far away. */
async function characterBefore(source: Bytes, at: number, known: number): Promise<number | undefined> {
  for (let reach = firstReachBytes; ; reach = Math.min(reach * 8, characterReachBytes)) {
    const from = Math.max(known, at - reach);
    // A newline is never a part of a longer character.
    const newline = (await source.read(from, at)).lastIndexOf(10);
    if (newline !== -1) return from + newline + 1;
    if (from === known) return known;
    if (reach === characterReachBytes) return undefined;
  }
}

/** The first character at or behind an offset. */
function firstCharacter(bytes: Uint8Array, wanted: number, encoding: DoubleByteName): number {
  const step = doubleByteStep(encoding);
  const units: Units = { bytes: Buffer.allocUnsafe(16), length: 0 };
  let at = 0;
  for (; at < wanted; units.length = 0) at += step(bytes, at, units);
  return at;
}

// Whole lines around a place in bytes, for a diff; the bytes may be a file of any size.

export interface Bytes {
  readonly sizeBytes: number;
  /** At once from memory. */
  read(from: number, to: number): Uint8Array | Promise<Uint8Array>;
}

export const bytesInMemory = (bytes: Buffer): Bytes => ({
  sizeBytes: bytes.length,
  read: (from, to) => bytes.subarray(from, to),
});

const bytesInFile = (file: OpenFile): Bytes => ({
  sizeBytes: file.sizeBytes,
  read: async (from, to) => {
    const bytes = Buffer.allocUnsafe(to - from);
    if ((await file.read(bytes, from)) < bytes.length) throw new FileCut();
    return bytes;
  },
});

const contextLines = 3;
/** Lines longer than this are not shown around a change. */
const reachBytes = 65_536;
const newline = 10;
const carriageReturn = 13;

/**
 * From the beginning of a line to the end of one; undefined if the lines there are too long. `behind`: is the line that goes on
 * or begins at `to` a part of the change, or context, of which there may be less?
 */
export async function linesAround(
  source: Bytes,
  { from, to, behind }: { readonly from: number; readonly to: number; readonly behind: "changed" | "context" },
  firstByte: number,
): Promise<{ readonly from: number; readonly to: number } | undefined> {
  const above = Math.max(firstByte, from - reachBytes);
  const head = await source.read(above, from);
  let start = head.lastIndexOf(newline) + 1;
  for (let lines = 0; lines < contextLines; lines += 1) start = lineAbove(head, start);
  if (start === 0 && above > firstByte) {
    start = head.indexOf(newline) + 1;
    if (start === 0) return undefined;
  }

  const below = Math.min(source.sizeBytes, to + reachBytes);
  const tail = await source.read(to, below);
  let end = behind === "context" ? 0 : endOfLine(tail, 0);
  for (let lines = 0; lines < contextLines; lines += 1) end = endOfLine(tail, end);
  const isCut = below < source.sizeBytes && end === tail.length && tail[end - 1] !== newline;
  if (isCut) end = tail.lastIndexOf(newline) + 1;
  return isCut && end === 0 && behind === "changed" ? undefined : { from: above + start, to: to + end };
}

/** Where the line that holds a place begins; undefined if that is too far. */
async function lineStart(source: Bytes, at: number, firstByte: number): Promise<number | undefined> {
  const from = Math.max(firstByte, at - reachBytes);
  const start = (await source.read(from, at)).lastIndexOf(newline) + 1;
  return start === 0 && from > firstByte ? undefined : from + start;
}

/**
 * Tells the end of the line that holds a place, or of the line before it where the file ends without one; undefined in a file
 * of one line. Places MUST come in order: what lies between two of them is passed once.
 */
function lineEndsIn(source: Bytes): (at: number) => Promise<"\n" | "\r\n" | undefined> {
  let known: { readonly until: number; readonly end: "\n" | "\r\n" | undefined } | undefined;
  return async (at) => {
    if (known === undefined || at > known.until) {
      const next = (await newlineFrom(source, at)) ?? (await newlineBefore(source, at));
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

async function newlineFrom(source: Bytes, at: number): Promise<number | undefined> {
  for (let from = at, bytesMax = 512; from < source.sizeBytes; bytesMax = Math.min(bytesMax * 4, reachBytes)) {
    const bytes = await source.read(from, Math.min(source.sizeBytes, from + bytesMax));
    const found = bytes.indexOf(newline);
    if (found !== -1) return from + found;
    from += bytes.length;
  }
  return undefined;
}

async function newlineBefore(source: Bytes, at: number): Promise<number | undefined> {
  for (let to = at; to > 0; to -= reachBytes) {
    const from = Math.max(0, to - reachBytes);
    const found = (await source.read(from, to)).lastIndexOf(newline);
    if (found !== -1) return from + found;
  }
  return undefined;
}

/** Where the line above the one that begins at `start` begins. */
const lineAbove = (bytes: Uint8Array, start: number): number =>
  start < 2 ? 0 : bytes.lastIndexOf(newline, start - 2) + 1;

/** Byte behind the line that goes on at `at`. */
function endOfLine(bytes: Uint8Array, at: number): number {
  const found = bytes.indexOf(newline, at);
  return found === -1 ? bytes.length : found + 1;
}
