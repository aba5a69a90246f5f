/** Edits of a file in memory, through the whole ladder; a later edit sees what the earlier ones did. */

import type { EditFound, MatchedBy, NearestRegion, Piece, TextChange, TextEdit } from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import { type LineSpan, Problem, type WhichEdit } from "../../contract/problem.ts";
import type { Target } from "../../contract/target.ts";
import {
  type LineChange,
  merged,
  nothingShown,
  type Seen,
  shifted,
  shiftedCut,
  shiftedParts,
  type Shown,
  without,
  type Wrote,
} from "../../session/session.ts";
import {
  changesOfPieces,
  countLines,
  type DiffLimits,
  diffLimits,
  diffOfChanges,
  encode,
  fits,
  IndexedText,
  insertion,
  type Match,
  matchIn,
  partLength,
  PieceList,
  type Source,
  sourceOf,
  type SourceText,
  type Steps,
  wellFormed,
} from "../../text/text.ts";
import type { Planned } from "../change/change.ts";
import { joined } from "../change/commit.ts";
import type { CurrentFile } from "../change/current-file.ts";

// What holds for an edit wherever it is found: its author was shown the place, and the new text has bytes.

/** Lines that a text of so many newlines spans, from a line on; a newline at its end begins no line of its own. */
export const spanFrom = (line: number, newlines: number, endsWithNewline: boolean): LineSpan => ({
  from: line,
  to: line + Math.max(0, newlines - (endsWithNewline ? 1 : 0)),
});

/** What is known of a file, as far as it is still so. */
export const shownOf = (seen: Seen): Shown => (seen.state === "fresh" ? seen : nothingShown);

/** The same when lines have changed. Cells are not where they were. */
export const movedAlong = ({ shown, cut, parts = [] }: Shown, changes: readonly LineChange[]): Shown => ({
  shown: shifted(shown, changes),
  cut: shiftedCut(cut, changes),
  parts: shiftedParts(parts, changes),
  cells: [],
});

/** Those of the lines that were not shown. `shown` and `needed` are lines of the same state of the file. */
export function unshown(
  { seen }: Pick<CurrentFile, "seen">,
  { shown }: Pick<Shown, "shown">,
  needed: readonly LineSpan[],
): readonly LineSpan[] {
  return seen.state !== "fresh" || seen.whole ? [] : without(merged(needed), shown);
}

/** Throws if lines of the file as it is were not shown; one refusal names them all. */
export function requireShown(current: CurrentFile, { shown }: Pick<Shown, "shown">, lines: readonly LineSpan[]): void {
  const needed = unshown(current, { shown }, lines);
  if (needed.length > 0) throw notShown(current, needed);
}

/** What was shown is told of the file as it is, whatever earlier edits of the same call would make of it. */
export const notShown = ({ target, seen }: CurrentFile, needed: readonly LineSpan[]): Problem =>
  new Problem({
    code: "NOT_READ",
    place: target,
    reason: "elsewhere",
    unit: "line",
    shown: shownOf(seen).shown,
    needed: merged(needed),
  });

/** A file that somebody else changed since is edited only where the very text is still there, once. */
export function requireCertain(current: CurrentFile, matchedBy: MatchedBy, places: number): void {
  if (current.seen.state !== "changed" || (matchedBy === "exact" && places === 1)) return;
  const { sizeBytes: sizeNow, mtimeMs } = current.file;
  const { sizeThen } = current.seen;
  throw new Problem({ code: "STALE", place: current.target, reason: "changed", sizeThen, sizeNow, mtimeMs });
}

export function encoded(
  text: string,
  { form: { encoding }, target }: Pick<CurrentFile, "form" | "target">,
): Uint8Array {
  const result = encode(text, encoding);
  if ("bytes" in result) return result.bytes;
  throw lacking(target, encoding, result.lacks);
}

const lacking = (place: Target, encoding: string, character: string): Problem =>
  new Problem({ code: "ENCODING", place, encoding, character });

export const notesOf = ({ seen }: CurrentFile): readonly { readonly note: "other changes" }[] =>
  seen.state === "changed" ? [{ note: "other changes" }] : [];

/** The old text, for those who show both sides; undefined if it is long. */
export function textBefore({ bytes, source }: CurrentFile): string | undefined {
  const charsMax = limits.changeCharsMax * 4;
  // No encoding has more than four bytes for a unit: so large a file is not decoded.
  if (bytes === undefined || bytes.length > charsMax * 4) return undefined;
  const { text } = source();
  return text.length > charsMax ? undefined : wellFormed(text);
}

/** What the session knows once its change is made: all of it, if it knew all of it before; else the parts it was shown. */
export const knownAfter = ({ seen }: CurrentFile, { shown, cut, parts = [], cells, movedCells = [] }: Shown): Wrote =>
  seen.state === "fresh" && seen.whole ? "all" : { shown, cut, parts, cells, movedCells };

/** What serves an edit. These limits are about speed and memory: none of them changes the result of an edit that is made. */
export interface EditEngines {
  /** Bytes from which the exact text is looked for in the bytes of the file before any text is made of them. */
  readonly bytesFirstMin: number;
  /** Bytes up to which a file can be held in memory. In larger files only the exact text is found, one edit at a time. */
  readonly heldBytesMax: number;
  /** Edits of one call from which an index of the text is worth its cost. */
  readonly indexedEditsMin: number;
  /** Places of one text above which none of them is kept. */
  readonly placesKeptMax: number;
  readonly shows: DiffLimits;
}

export const editEngines: EditEngines = {
  bytesFirstMin: 65_536,
  heldBytesMax: limits.editInMemoryBytesMax,
  indexedEditsMin: 64,
  placesKeptMax: 100_000,
  shows: diffLimits,
};

export function* planText(
  current: CurrentFile,
  edits: readonly TextEdit[],
  { indexedEditsMin, shows }: Pick<EditEngines, "indexedEditsMin" | "shows"> = editEngines,
): Steps<Planned<readonly EditFound[]>> {
  const original = current.source().text;
  const needs = isWholeShown(current) ? undefined : new NeededLines(current, original);
  const { changes, found } = yield* editing(current.target, original, edits, {
    indexedEditsMin,
    many: needs === undefined ? "in blocks" : "each",
    *seen(matchedBy, places, total, state) {
      requireCertain(current, matchedBy, total);
      if (needs === undefined) return;
      for (const [index, { from, to }] of places.entries()) {
        if ((index + 1) % partLength === 0) yield;
        needs.add(state.originalsOf(from, to));
      }
    },
    isOver: (isFound) => needs?.isOver(isFound) === true,
  });
  needs?.require();
  yield;
<<<<<<< ours
  const changes = yield* changesOfPieces(pieces.pieces, original.length);
=======
>>>>>>> theirs
  const shown =
    needs === undefined ? nothingShown : movedAlong(shownOf(current.seen), yield* linesChanged(original, changes));
  yield;
  return yield* planOfChanges(current, changes, knownAfter(current, shown), found, shows);
}

const isWholeShown = ({ seen }: CurrentFile): boolean => seen.state === "fresh" && seen.whole;

/** Lines of the file as it is that edits need, where not all of it was shown. What earlier edits put in is their author's own. */
class NeededLines {
  readonly #before: CurrentFile;
  readonly #text: string;
  readonly #shown: readonly LineSpan[];
  readonly #lineAt: LineAt;
  #missing: LineSpan[] = [];

  constructor(current: CurrentFile, text: string) {
    this.#before = current;
    this.#text = text;
    this.#shown = merged(shownOf(current.seen).shown);
    this.#lineAt = lineNumbers(sourceOf(text));
  }

  add(places: readonly { readonly from: number; readonly to: number }[]): void {
    for (const span of linesOfPlaces(this.#text, places, this.#lineAt)) {
      if (this.#before.seen.state === "fresh" && !this.#isShown(span)) {
        for (const part of without([span], this.#shown)) this.#missing.push(part);
      }
    }
  }

  /** After a failure, or if they are very many, no more of them are looked for. */
  isOver(isFound: boolean): boolean {
    return this.#missing.length > 0 && (!isFound || this.#missing.length > limits.unshownPartsMax);
  }

  require(): void {
    if (this.#missing.length > 0) throw notShown(this.#before, this.#missing);
  }

  /** The last of the spans that begin at or before it must reach to its end. */
  #isShown({ from, to }: LineSpan): boolean {
    let low = 0;
    for (let high = this.#shown.length; low < high; ) {
      const middle = (low + high) >>> 1;
      if ((this.#shown[middle]?.from ?? 0) <= from) low = middle + 1;
      else high = middle;
    }
    return (this.#shown[low - 1]?.to ?? 0) >= to;
  }
}

interface Editing extends Pick<EditEngines, "indexedEditsMin"> {
  /** Whether very many places of one edit may be told as blocks. */
  readonly many: "each" | "in blocks";
  /** Sees where each edit was found, in the text as the edits before have left it. */
  seen(
    matchedBy: MatchedBy,
    places: readonly { readonly from: number; readonly to: number }[],
    total: number,
    state: PieceList,
  ): Steps<void>;
  /** Whether to leave it at that. */
  isOver(isFound: boolean): boolean;
}

/** Makes one edit after the other, each in what the ones before have left. */
function* editing(
  target: Target,
  original: string,
  edits: readonly TextEdit[],
  by: Editing,
): Steps<{ readonly changes: readonly TextChange[]; readonly found: readonly EditFound[] }> {
  const state = new EditedText(original);
  if (edits.length >= by.indexedEditsMin) yield* state.index(edits);
  const pieces = new PieceList(original.length);
  const found: EditFound[] = [];
  for (const [index, edit] of edits.entries()) {
    yield;
    const quick = state.onlyPlace(edit);
    if (quick !== undefined) {
      yield* by.seen("exact", [quick.change], 1, pieces);
      if (by.isOver(true)) break;
      found.push({ matchedBy: "exact", replacements: 1, line: quick.line });
      yield* pieces.splice([quick.change]);
      continue;
    }
    const source = state.source();
    const matched = yield* matchOf(source, edit, by.many);
    if (by.isOver(matched.found === "yes")) break;
    if (matched.found !== "yes") throw yield* failed(target, edits, index, source, matched);
    const { changes, places, matchedBy, total = places.length } = matched;
    yield;
    // A line's number says nothing about a file that somebody else changed.
    yield* by.seen(matchedBy, places, edit.behindLine === undefined ? total : 0, pieces);
    const [first] = changes;
    found.push({ matchedBy, replacements: total, line: first === undefined ? 1 : lineNumbers(source)(first.from) });
    // The changes of a single edit stay as they were found: changes made from pieces are one where they touch.
    if (edits.length === 1) return { changes, found };
    yield* pieces.splice(changes);
    yield;
    if (index < edits.length - 1) state.change(changes);
  }
  return { changes: yield* changesOf(pieces.pieces, original.length), found };
}

/** More changes since the text was last looked at are a new text. */
const pendingMax = 8;

/** A text between two edits. Its blocks find most places; its source is what the whole ladder needs, and is kept up only if asked for. */
class EditedText {
  #source: Source;
  #pending: TextChange[] = [];
  #indexed: IndexedText | undefined;
  #returns: boolean;

  constructor(text: string) {
    this.#source = sourceOf(text);
    this.#returns = text.includes("\r");
  }

  *index(edits: readonly TextEdit[]): Steps<void> {
    const wanted = edits.filter(isPlain).map(({ oldText }) => oldText);
    if (wanted.length > 0) this.#indexed = yield* IndexedText.of(this.#source.text, wanted);
  }

  source(): Source {
    if (this.#pending.length > pendingMax) this.#source = sourceOf(this.#indexed?.text ?? "");
    else for (const change of this.#pending) this.#source = this.#source.after([change]);
    this.#pending = [];
    return this.#source;
  }

  change(changes: readonly TextChange[]): void {
    this.#source = this.source().after(changes);
    this.#indexed?.splice(changes);
    this.#returns ||= changes.some(({ text }) => text.includes("\r"));
  }

  /** Makes an edit of a text that stands there once, to the letter and with nothing to be known of line ends. Undefined: it takes the ladder. */
  onlyPlace(edit: TextEdit): { readonly line: number; readonly change: TextChange } | undefined {
    const { oldText, newText } = edit;
    if (this.#indexed === undefined || !isPlain(edit) || (this.#returns && (oldText + newText).includes("\n"))) {
      return undefined;
    }
    const [from, ...others] = this.#indexed.places(oldText, 2);
    if (from === undefined || others.length > 0) return undefined;
    const line = this.#indexed.newlinesBefore(from) + 1;
    const change = { from, to: from + oldText.length, text: newText };
    this.#indexed.splice([change]);
    // Kept only while it is worth it.
    if (this.#pending.length <= pendingMax) this.#pending.push(change);
    return { line, change };
  }
}

/** Where one place is found, all are; and nothing is to be known of line ends, marks or halves of characters. */
const isPlain = ({ oldText, newText, behindLine }: TextEdit): boolean =>
  oldText !== "" && behindLine === undefined && !/[\r\ufeff\p{Cs}]/u.test(oldText + newText);

/** What edits make of nothing, the first of which brings a text; each sees what the earlier ones did. */
export function* textFromEdits(
  place: Target,
  edits: readonly TextEdit[],
): Steps<{ readonly text: string; readonly found: readonly EditFound[] }> {
  const { changes, found } = yield* editing(place, "", edits, {
    ...editEngines,
    many: "each",
    *seen() {
      // A new file has nothing that its author must have been shown.
    },
    isOver: () => false,
  });
  return { text: changes.map(({ text }) => text).join(""), found };
}

/** Lines as Read counts them: a lone `\r` ends none. */
const lineNumbers =
  (source: Source): LineAt =>
  (offset) =>
    source.loneReturns ? 1 : source.lines().at(offset) + 1;

/** Changes of a file's text, as bytes and as a diff. */
export function* planOfChanges<Extra>(
  current: CurrentFile,
  changes: readonly TextChange[],
  wrote: Planned<Extra>["wrote"],
  extra: Extra,
  shows: DiffLimits = diffLimits,
): Steps<Planned<Extra>> {
  const source = current.source();
  yield;
  const diff = yield* diffOfChanges(source, changes, yield* linesChanged(source.text, changes), shows);
  yield;
  const pieces = yield* piecesOf(source, changes, current);
  return {
    pieces,
    diff,
    before: textBefore(current),
    notes: notesOf(current),
    wrote,
    extra,
  };
}

/** An empty old text fills an empty file, unless it says behind which line it belongs. */
function* matchOf(source: Source, edit: TextEdit, many: "each" | "in blocks" = "each"): Steps<Match> {
  if (edit.behindLine !== undefined) {
    const found = insertion(source.text, edit.behindLine, edit.newText);
    if (found === undefined) return { found: "no", nearest: undefined };
    return { found: "yes", matchedBy: "exact", places: [found.beside], changes: [found.change] };
  }
  if (edit.oldText !== "") return yield* matchIn(source, edit, many);
  const change = { from: 0, to: 0, text: edit.newText };
  return { found: "yes", matchedBy: "exact", places: [{ from: 0, to: 0 }], changes: [change] };
}

/** The disk takes pieces one by one; more of them cost more than the copy that makes them one. */
const piecesMax = 1_000;

function* piecesOf(source: SourceText, changes: readonly TextChange[], current: CurrentFile): Steps<readonly Piece[]> {
  const joins = changes.length > piecesMax / 2 ? current.bytes : undefined;
  const all: Piece[] = [];
  let pieces: Piece[] = [];
  // Most often all changes bring the same.
  let last: { readonly text: string; readonly bytes: Uint8Array } = { text: "", bytes: new Uint8Array() };
  let at = 0;
  for (const { from, to, text } of changes) {
    const start = source.byteAt(from);
    if (start > at) pieces.push({ from: at, to: start });
    if (text !== last.text) last = { text, bytes: encoded(text, current) };
    if (text !== "") pieces.push(last.bytes);
    at = source.byteAt(to);
    if (joins === undefined || pieces.length < piecesMax) continue;
    all.push(joined(pieces, joins));
    pieces = [];
    yield;
  }
  if (at < current.file.sizeBytes) pieces.push({ from: at, to: current.file.sizeBytes });
  if (joins === undefined) return pieces;
  all.push(joined(pieces, joins));
  yield;
  return [joined(all, joins)];
}

function* failed(
  place: Target,
  edits: readonly TextEdit[],
  index: number,
  source: Source,
  matched: Exclude<Match, { readonly found: "yes" }>,
): Steps<Problem> {
  const which = yield* whichOf(edits, index, source);
  const from = edits[index]?.behindLine;
  if (from !== undefined) {
    return new Problem({
      code: "INVALID_PARAM",
      reason: "range",
      place,
      of: "lines",
      from,
      total: countLines(source.text),
    });
  }
  switch (matched.found) {
    case "several": {
      const { matchedBy, lines, total } = matched;
      return new Problem({ code: "AMBIGUOUS", place, which, matchedBy, lines, total });
    }
    case "already":
      return new Problem({ code: "ALREADY_APPLIED", place, which, line: matched.line });
    case "no":
      return new Problem({
        code: "NO_MATCH",
        place,
        which,
        nearest: shownRegion(matched.nearest),
        searched: "loosely",
      });
  }
}

/** Bytes that do not decode are shown as Read shows them. */
export function shownRegion(region: NearestRegion | undefined): NearestRegion | undefined {
  if (region === undefined) return undefined;
  const { lines, difference } = region;
  const { asked, actual } = difference;
  const shown = { ...difference, asked: asked && wellFormed(asked), actual: actual && wellFormed(actual) };
  return { ...region, lines: lines.map(wellFormed), difference: shown };
}

/** Edits after one that failed that are looked at: each goes through the whole ladder. */
const laterEditsMax = 100;

/** The earlier ones were found; would the next ones have been? */
function* whichOf(edits: readonly TextEdit[], failedAt: number, source: Source): Steps<WhichEdit> {
  const othersFound = Array.from({ length: failedAt }, (_, index) => index + 1);
  const later = edits.slice(failedAt + 1, failedAt + 1 + laterEditsMax);
  for (const [index, edit] of later.entries()) {
    yield;
    const isText = edit.behindLine === undefined && edit.oldText !== "";
    const isFound = isText ? yield* fits(source, edit) : (yield* matchOf(source, edit)).found === "yes";
    if (isFound) othersFound.push(failedAt + 2 + index);
  }
  return { index: failedAt + 1, of: edits.length, othersFound };
}

const linesOfPlaces = (
  text: string,
  places: readonly { readonly from: number; readonly to: number }[],
  lineAt: LineAt,
): readonly LineSpan[] =>
  places.map(({ from, to }) => {
    const line = lineAt(from);
    return spanFrom(line, lineAt(to) - line, to > from && text[to - 1] === "\n");
  });

/** The line of an offset, from 1. */
type LineAt = (offset: number) => number;

/** Lines that give way and lines that come, counted without one that is only touched at its very beginning. */
export function* linesChanged(text: string, changes: readonly TextChange[]): Steps<readonly LineChange[]> {
  const lineAt = lineCounter(text);
  const changed: LineChange[] = [];
  for (const [index, { from, to, text: put }] of changes.entries()) {
    if ((index + 1) % partLength === 0) yield;
    const atLineStart = from === 0 || text[from - 1] === "\n";
    const whole = atLineStart && (to === from || text[to - 1] === "\n") && (put === "" || put.endsWith("\n"));
    const extra = whole ? 0 : 1;
    const line = lineAt(from);
    changed.push({
      line,
      linesBefore: lineAt(to) - line + extra,
      linesAfter: newlinesIn(put, 0, put.length) + extra,
    });
  }
  return changed;
}

/** The line of an offset, for offsets that go forward: each part of the text is looked at once. */
function lineCounter(text: string): LineAt {
  let end = text.indexOf("\n");
  let line = 1;
  return (at) => {
    for (; end !== -1 && end < at; end = text.indexOf("\n", end + 1)) line += 1;
    return line;
  };
}

function newlinesIn(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
