/** An edit whose very letters are looked for in the bytes: quick for files in memory, and possible for any size. */

import type { EditFound, Piece, TextEdit } from "../contract/edit.ts";
import { limits } from "../contract/limits.ts";
import { Problem, type WhichEdit } from "../contract/problem.ts";
import { findInFile, type Hit } from "../disk/find-in-file.ts";
import { encode } from "../text/encode.ts";
import { isDoubleByte } from "../text/encode-tables.ts";
import { decode } from "../text/encoding.ts";
import { findAll } from "../text/find.ts";
import { type ChangedPlace, hunksOfPlaces } from "../text/hunks.ts";
import { exactReplacement } from "../text/match-rewrite.ts";
import { countIn } from "../text/newlines.ts";
import type { Before } from "./before.ts";
import type { Planned } from "./plan.ts";
import {
  encoded,
  knownAfter,
  movedAlong,
  notesOf,
  requireCertain,
  requireShown,
  shownOf,
  spanFrom,
} from "./edit-checks.ts";
import { type Bytes, bytesInFile, bytesInMemory, lineEndsIn, linesAround, lineStart } from "./lines-around.ts";
import type { Bench } from "./tool.ts";
import { wholeCharacters } from "./whole-characters.ts";

/** Hits kept of a large file, and those whose surroundings are shown in the diff. */
const hitsMax = 100_000;
const placesMax = 200;
/** More places than this in a file in memory are handled as text. */
const heldHitsMax = 20;

const only: WhichEdit = { index: 1, of: 1, othersFound: [] };

/** Undefined: not found by its letters, or in too many places; the text is to be looked at. */
export async function planBytes(
  before: Before,
  edit: TextEdit,
  { signal, onProgress }: Pick<Bench, "signal" | "onProgress">,
  onChunk?: (chunk: Uint8Array) => void,
): Promise<Planned<readonly EditFound[]> | undefined> {
  const { target, file, form, bytes } = before;
  const needle = encode(edit.oldText, form.encoding);
  const found = "lacks" in needle ? { hits: [], total: 0 } : await search(needle.bytes);
  if (bytes !== undefined && (found.total === 0 || found.total > (edit.all ? heldHitsMax : 1))) return undefined;
  if ("lacks" in needle || found.total === 0) {
    throw new Problem({ code: "NO_MATCH", place: target, which: only, nearest: undefined, searched: "exactly" });
  }
  if (found.total > 1 && !edit.all) {
    const lines = found.hits.map(({ line }) => line).slice(0, 50);
    throw new Problem({ code: "AMBIGUOUS", place: target, which: only, matchedBy: "exact", lines, total: found.total });
  }
  if (found.total > hitsMax) {
    throw new Problem({ code: "TOO_LARGE", place: target, kind: "text", limit: `${hitsMax} replacements at once` });
  }
  const { hits } = found;
  requireCertain(before, "exact", hits.length);

  const source = bytes === undefined ? bytesInFile(file) : bytesInMemory(bytes);
  const asSent = { text: edit.newText, bytes: encoded(edit.newText, before) };
  const puts = bytes === undefined ? await withLocalEnds(edit, hits, source, before) : hits.map(() => asSent);
  const newlines = { old: newlinesIn(needle.bytes), new: newlinesIn(asSent.bytes) };
  const shown = shownOf(before.seen);
  const ends = edit.oldText.endsWith("\n");
  requireShown(
    before,
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
  const places = await placesAround(replaced, shownMax, source, before);
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
    before: isShort ? textOf(bytes.subarray(form.bomBytes), before) : undefined,
    notes: notesOf(before),
    wrote: knownAfter(before, movedAlong(shown, changes)),
    extra: [
      {
        matchedBy: puts.every(({ text }) => text === edit.newText) ? "exact" : "line ends",
        replacements: hits.length,
        line: hits[0]?.line ?? 1,
      },
    ],
  };

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
    const options = { hitsMax: heldHitsMax, overlapping: !edit.all, unitBytes: 1, firstByte: form.bomBytes } as const;
    const { hits: offsets, total } = findAll(bytes, wanted, options);
    if (total > heldHitsMax) return { hits: [], total };
    return { hits: offsets.map((at) => ({ at, line: countIn(bytes, 0, at, "byte") + 1 })), total };
  }
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
  before: Before,
): Promise<readonly Put[]> {
  const known = new Map<string, Put>();
  const put = (text: string): Put => {
    const made = known.get(text) ?? { text, bytes: encoded(text, before) };
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
        place: before.target,
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

/** How many lines all of these are, before and after: several may touch the same line. */
function counted(changes: readonly LinesChanged[]): { readonly before: number; readonly after: number } {
  let [before, grown, end] = [0, 0, 0];
  for (const { line, linesBefore, linesAfter } of changes) {
    const last = line + linesBefore - 1;
    before += Math.max(0, last - Math.max(end, line - 1));
    grown += linesAfter - linesBefore;
    end = Math.max(end, last);
  }
  return { before, after: before + grown };
}

/** How many of the first places are shown: as many as may be, and of a line all of them or none. */
function shownHits(changes: readonly LinesChanged[]): number {
  let shown = Math.min(changes.length, placesMax);
  const touches = (one: LinesChanged | undefined, next: LinesChanged | undefined): boolean =>
    one !== undefined && next !== undefined && next.line <= one.line + one.linesBefore - 1;
  while (shown > 0 && touches(changes[shown - 1], changes[shown])) shown -= 1;
  return shown;
}

const newlinesIn = (bytes: Uint8Array): number => countIn(bytes, 0, bytes.length, "byte");

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
  before: Before,
): Promise<readonly ChangedPlace[] | undefined> {
  if (shownMax === 0) return undefined;
  const { bomBytes } = before.form;
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
      before: textOf(old, before),
      after: textOf(Buffer.concat(parts), before),
      atEnd: to === source.sizeBytes,
    });
    first = next;
  }
  return places;
}

/** For showing. */
const textOf = (bytes: Uint8Array, { form }: Before): string => decode(bytes, form.encoding).text;
