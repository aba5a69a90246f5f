/**
 * Makes the edits of a call in the decoded text of a file in memory. The ladder of `text/match` locates each edit, exact text
 * first, in the text that the edits before it left. The result is one list of changes of the original text, from which
 * bytes and diff are made. The checks that both engines share come first.
 */

import type {
  ChangeNote,
  EditFound,
  MatchedBy,
  NearestRegion,
  Piece,
  TextChange,
  TextEdit,
} from "../../contract/edit.ts";
import { limits } from "../../contract/limits.ts";
import { type LineSpan, Problem, type WhichEdit } from "../../contract/problem.ts";
import type { Target } from "../../contract/target.ts";
import {
  type LineChange,
  type LinesMoved,
  merged,
  nothingShown,
  type Seen,
  shifted,
  shiftedCut,
  shiftedParts,
  type Shown,
  unchanged,
  without,
  type Wrote,
} from "../../session/session.ts";
import {
  changesOfPieces,
  countLines,
  countNewlines,
  type DiffLimits,
  diffLimits,
  diffOfChanges,
  encode,
  firstIndex,
  fits,
  IndexedForms,
  insertion,
  linesRewritten,
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
import { stale } from "../change/prepare.ts";

// Checks that both engines share: the session was shown the place, and the file's encoding has every new character.

/** The lines that a text spans, starting at `line`; a newline at its end begins no further line. */
export const spanFrom = (line: number, newlines: number, endsWithNewline: boolean): LineSpan => ({
  from: line,
  to: line + Math.max(0, newlines - (endsWithNewline ? 1 : 0)),
});

export const shownOf = (seen: Seen): Shown => (seen.state === "fresh" ? seen : nothingShown);

/** What was shown, with line numbers as they are after the changes. Cells are dropped: they may have moved. */
export const movedAlong = ({ shown, cut, parts = [] }: Shown, changes: readonly LineChange[]): Shown => ({
  shown: shifted(shown, changes),
  cut: shiftedCut(cut, changes),
  parts: shiftedParts(parts, changes),
  cells: [],
});

/** The `needed` lines that were not shown. `shown` and `needed` MUST number the lines of the same version of the file. */
export function unshown(
  { seen }: Pick<CurrentFile, "seen">,
  { shown }: Pick<Shown, "shown">,
  needed: readonly LineSpan[],
): readonly LineSpan[] {
  return seen.state !== "fresh" || seen.whole ? [] : without(merged(needed), shown);
}

/** Throws if any of these lines of the current file was not shown; the error lists all of them. */
export function requireShown(current: CurrentFile, { shown }: Pick<Shown, "shown">, lines: readonly LineSpan[]): void {
  const needed = unshown(current, { shown }, lines);
  if (needed.length > 0) throw notShown(current, needed);
}

/** Line numbers in the error are those of the file on disk, before any edit of the call. */
export const notShown = ({ target, seen }: CurrentFile, needed: readonly LineSpan[]): Problem =>
  new Problem({
    code: "NOT_READ",
    place: target,
    reason: "elsewhere",
    unit: "line",
    shown: shownOf(seen).shown,
    needed: merged(needed),
  });

/**
 * A file that changed since the session read it is edited only if the exact text occurs in it once, where nothing is known of
 * its lines as they are now. `places` is 0 for a place that was named by its line number, which proves nothing in such a file.
 */
export function requireCertain(current: CurrentFile, matchedBy: MatchedBy, places: number): void {
  const { seen } = current;
  if (seen.state === "changed" && !(matchedBy === "exact" && places === 1)) throw stale(current, seen);
  if (seen.state === "fresh" && seen.since !== undefined && places === 0)
    throw stale(current, seen.since, seen.since.changed);
}

/**
 * Checks that the session was shown the places of edits, unless it knows all of the file. With `readFirst: "file"`, an exact text
 * that occurs once need not have been shown, and of all places of a `replace_all` one is enough; but nobody else may have
 * changed these lines since. `shown` and the places number the lines of the file on disk.
 */
export function startShownCheck(current: CurrentFile) {
  const { seen, rules } = current;
  const shown = merged(shownOf(seen).shown);
  const since = seen.state === "fresh" && rules.staleness === "refuse" ? seen.since : undefined;
  const missing: LineSpan[] = [];
  const changed: LineSpan[] = [];
  let placesMissed = 0;
  let placesOfMissed = 0;
  /** The last shown span that begins at or before `from` must reach to `to`. */
  const isShown = ({ from, to }: LineSpan): boolean => {
    const after = firstIndex(shown.length, (at) => (shown[at]?.from ?? 0) > from);
    return (shown[after - 1]?.to ?? 0) >= to;
  };
  const miss = (spans: readonly LineSpan[]): void => {
    const lines = without(merged(spans), shown);
    const others = since === undefined ? [] : overlapping(lines, since.foreign);
    if (others.length > 0) changed.push(...others);
    else missing.push(...lines);
  };
  return {
    /** Begins an edit; `total` are its places, 0 for a place named by its line number. Each place is passed as its lines. */
    edit(matchedBy: MatchedBy, total: number) {
      const isExact = matchedBy === "exact" || matchedBy === "line ends";
      const isStrict = rules.readFirst !== "file" || !isExact || total === 0 || shown.length === 0;
      let places = 0;
      const missed: LineSpan[] = [];
      let missedPlaces = 0;
      return {
        place(spans: readonly LineSpan[]): void {
          if (seen.state !== "fresh" || seen.whole) return;
          places += 1;
          if (spans.every(isShown)) return;
          missedPlaces += 1;
          if (isStrict) miss(spans);
          else if (missed.length <= limits.unshownPartsMax) missed.push(...spans);
        },
        end(): void {
          if (isStrict || missedPlaces === 0) return;
          if (total > 1 && missedPlaces === places) miss(missed);
          else if (total > 1) [placesMissed, placesOfMissed] = [placesMissed + missedPlaces, placesOfMissed + places];
          else if (since !== undefined) changed.push(...overlapping(missed, since.foreign));
        },
      };
    },
    /** Whether to stop looking for further missing lines: an edit was not found, or very many lines are missing. */
    isOver: (isFound: boolean): boolean =>
      missing.length + changed.length > 0 && (!isFound || missing.length > limits.unshownPartsMax),
    require(): void {
      if (changed.length > 0 && seen.state === "fresh" && seen.since !== undefined)
        throw stale(current, seen.since, merged(changed));
      if (missing.length > 0) throw notShown(current, missing);
    },
    notes: (): readonly ChangeNote[] =>
      placesMissed === 0 ? [] : [{ note: "places not shown", places: placesMissed, of: placesOfMissed }],
  };
}

/** Those of `spans` that have a line in common with one of `lines`; `spans` are sorted. */
const overlapping = (lines: readonly LineSpan[], spans: readonly LineSpan[]): readonly LineSpan[] =>
  lines.flatMap(({ from, to }) => {
    const first = firstIndex(spans.length, (at) => (spans[at]?.to ?? 0) >= from);
    const end = firstIndex(spans.length, (at) => (spans[at]?.from ?? 0) > to);
    return spans.slice(first, end).filter((span) => span.from <= span.to);
  });

export function encoded(
  text: string,
  { form: { encoding }, target }: Pick<CurrentFile, "form" | "target">,
): Uint8Array {
  const result = encode(text, encoding);
  if ("bytes" in result) return result.bytes;
  throw new Problem({ code: "ENCODING", place: target, encoding, character: result.lacks });
}

/** `changes` are those of the call, so that line numbers are right after it; undefined if they are not known one by one. */
export function notesOf({ seen }: CurrentFile, changes: readonly LineChange[] | undefined): readonly ChangeNote[] {
  if (seen.state === "changed") return [{ note: "other changes" }];
  if (seen.state === "never" || seen.since === undefined) return [];
  if (changes === undefined) return [{ note: "other changes" }];
  const lines = merged(seen.since.changed.filter(({ from, to }) => from <= to));
  return [{ note: "other changes", lines: unchanged(lines, changes) }];
}

/** The old text, for clients that show both sides; undefined if it is long. */
export function textBefore({ bytes, source }: CurrentFile): string | undefined {
  const charsMax = limits.changeCharsMax * 4;
  // No encoding has more than four bytes for a UTF-16 unit: a larger file is too long for certain and is not decoded.
  if (bytes === undefined || bytes.length > charsMax * 4) return undefined;
  const { text } = source();
  return text.length > charsMax ? undefined : wellFormed(text);
}

/** What the session knows after its change: the whole file if it knew all of it before, else the parts that it was shown. */
export const knownAfter = ({ seen }: CurrentFile, { shown, cut, parts = [], cells, movedCells = [] }: Shown): Wrote =>
  seen.state === "fresh" && seen.whole ? "all" : { shown, cut, parts, cells, movedCells };

/** When each engine is used. These limits are about speed and memory: none of them changes the result of an edit that succeeds. */
export interface EditEngines {
  /** Files of at least this many bytes are searched as bytes before they are decoded. */
  readonly bytesFirstMin: number;
  /** The largest file that is read into memory. In larger files only exact text is found, one edit per call. */
  readonly inMemoryBytesMax: number;
  /** From this many edits per call on, an index of the text is worth its cost. */
  readonly indexedEditsMin: number;
  /** Above this many places of one text, no list of them is kept. */
  readonly placesKeptMax: number;
  readonly shows: DiffLimits;
}

export const editEngines: EditEngines = {
  bytesFirstMin: 65_536,
  inMemoryBytesMax: limits.editInMemoryBytesMax,
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
  const check = isWholeShown(current) ? undefined : startShownCheck(current);
  const linesAt = linesIn(original);
  const { changes, found } = yield* applyEdits(current.target, original, edits, {
    indexedEditsMin,
    many: check === undefined ? "in blocks" : "each",
    *seen(matchedBy, places, total, state) {
      requireCertain(current, matchedBy, total);
      const one = check?.edit(matchedBy, total);
      if (one === undefined) return;
      for (const [index, { from, to }] of places.entries()) {
        if ((index + 1) % partLength === 0) yield;
        one.place(linesAt(state.originalsOf(from, to)));
      }
      one.end();
    },
    isOver: (isFound) => check?.isOver(isFound) === true,
  });
  check?.require();
  yield;
  const shown =
    check === undefined ? nothingShown : movedAlong(shownOf(current.seen), yield* linesChanged(original, changes));
  yield;
  const planned = yield* planOfChanges(current, changes, knownAfter(current, shown), found, shows);
  return check === undefined ? planned : { ...planned, notes: [...planned.notes, ...check.notes()] };
}

const isWholeShown = ({ seen }: CurrentFile): boolean => seen.state === "fresh" && seen.whole;

/** The lines of parts of the text. Text that earlier edits of the call added is not in it and needs no check. */
function linesIn(text: string) {
  const lineAt = lineNumbers(sourceOf(text));
  return (places: readonly { readonly from: number; readonly to: number }[]): readonly LineSpan[] =>
    places.map(({ from, to }) => {
      const line = lineAt(from);
      return spanFrom(line, lineAt(to) - line, to > from && text[to - 1] === "\n");
    });
}

interface EditingOptions extends Pick<EditEngines, "indexedEditsMin"> {
  /** Whether very many places of one edit may be returned as blocks. */
  readonly many: "each" | "in blocks";
  seen(
    matchedBy: MatchedBy,
    places: readonly { readonly from: number; readonly to: number }[],
    total: number,
    state: PieceList,
  ): Steps<void>;
  isOver(isFound: boolean): boolean;
}

function* applyEdits(
  target: Target,
  original: string,
  edits: readonly TextEdit[],
  options: EditingOptions,
): Steps<{ readonly changes: readonly TextChange[]; readonly found: readonly EditFound[] }> {
  const state = new EditedText(original);
  if (edits.length >= options.indexedEditsMin) yield* state.index(edits);
  const pieces = new PieceList(original.length);
  const found: EditFound[] = [];
  for (const [index, edit] of edits.entries()) {
    yield;
    const only = yield* state.onlyPlace(edit);
    if (only !== undefined) {
      const { matchedBy, place, changes, line } = only;
      yield* options.seen(matchedBy, [place], 1, pieces);
      if (options.isOver(true)) break;
      found.push({ matchedBy, replacements: 1, line });
      yield* pieces.splice(changes);
      continue;
    }
    const source = state.source();
    const matched = yield* matchOf(source, edit, options.many);
    if (options.isOver(matched.found === "yes")) break;
    if (matched.found !== "yes") throw yield* problemOf(target, edits, index, source, matched);
    const { changes, places, matchedBy, total = places.length } = matched;
    yield;
    // A line number is no proof in a file that has changed since: 0 places, so that `requireCertain` refuses it.
    yield* options.seen(matchedBy, places, edit.afterLine === undefined ? total : 0, pieces);
    const [first] = changes;
    found.push({ matchedBy, replacements: total, line: first === undefined ? 1 : lineNumbers(source)(first.from) });
    // The changes of a single edit are returned as found: `changesOfPieces` would join those that touch.
    if (edits.length === 1) return { changes, found };
    yield* pieces.splice(changes);
    yield;
    if (index < edits.length - 1) state.change(changes);
  }
  return { changes: yield* changesOfPieces(pieces.pieces, original.length), found };
}

/** After more changes than this since the source was last needed, building it anew is cheaper than updating it. */
const pendingMax = 8;

interface OnlyPlace {
  readonly matchedBy: MatchedBy;
  readonly place: { readonly from: number; readonly to: number };
  readonly changes: readonly TextChange[];
  readonly line: number;
}

/** The text between two edits. Its index locates most edits; its source, which the ladder needs, is updated only when asked for. */
class EditedText {
  #source: Source;
  #pending: TextChange[] = [];
  #indexed: IndexedForms | undefined;

  constructor(text: string) {
    this.#source = sourceOf(text);
  }

  *index(edits: readonly TextEdit[]): Steps<void> {
    const wanted = edits.filter(isPlain).map(({ oldText }) => oldText);
    const mayHaveReturns = this.#source.text.includes("\r") || edits.some(({ newText }) => newText.includes("\r"));
    if (wanted.length > 0) this.#indexed = yield* IndexedForms.of(this.#source.text, wanted, mayHaveReturns);
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
  }

  /** Makes the edit if the index finds its old text once. Undefined if the edit needs the ladder. */
  *onlyPlace(edit: TextEdit): Steps<OnlyPlace | undefined> {
    const { oldText, newText } = edit;
    const indexed = this.#indexed;
    if (indexed === undefined || !isPlain(edit)) return undefined;
    const place = indexed.onlyPlace(oldText);
    if (place === undefined) return undefined;
    const { from, to, isExact } = place;
    // New lines in a text of one line end as the line around it does.
    const adds = newText.includes("\n") && !oldText.includes("\n");
    const lineEnd = adds ? indexed.lineEndAt(from) : "\n";
    if (lineEnd === undefined) return undefined;
    const text = newText.replaceAll("\n", lineEnd);
    const changes = isExact
      ? [{ from, to, text }]
      : (yield* linesRewritten(indexed.slice(from, to), newText)).map((one) => ({
          ...one,
          from: one.from + from,
          to: one.to + from,
        }));
    const [first] = changes;
    if (first === undefined) return undefined;
    const line = indexed.newlinesBefore(first.from) + 1;
    indexed.splice(changes);
    // One more than the maximum makes `source` build anew.
    for (const change of changes.toReversed()) if (this.#pending.length <= pendingMax) this.#pending.push(change);
    return { matchedBy: isExact && text === newText ? "exact" : "line ends", place, changes, line };
  }
}

/** Whether the index can locate an edit: `\r`, BOM and lone surrogates have rules of their own in the ladder. */
const isPlain = ({ oldText, newText, afterLine }: TextEdit): boolean =>
  oldText !== "" && afterLine === undefined && !/[\r\ufeff\p{Cs}]/u.test(oldText + newText);

export function* textFromEdits(
  place: Target,
  edits: readonly TextEdit[],
): Steps<{ readonly text: string; readonly found: readonly EditFound[] }> {
  const { changes, found } = yield* applyEdits(place, "", edits, {
    ...editEngines,
    many: "each",
    *seen() {
      // A new file has no lines that must have been shown.
    },
    isOver: () => false,
  });
  return { text: changes.map(({ text }) => text).join(""), found };
}

/** Line numbers as Read counts them: a lone `\r` ends no line. */
const lineNumbers =
  (source: Source): LineAt =>
  (offset) =>
    source.loneReturns ? 1 : source.lines().at(offset) + 1;

export function* planOfChanges<Extra>(
  current: CurrentFile,
  changes: readonly TextChange[],
  wrote: Planned<Extra>["wrote"],
  extra: Extra,
  shows: DiffLimits = diffLimits,
): Steps<Planned<Extra>> {
  const source = current.source();
  yield;
  const touched = yield* linesChanged(source.text, changes);
  const diff = yield* diffOfChanges(source, changes, touched, shows);
  yield;
  const pieces = yield* piecesOf(source, changes, current);
  return {
    pieces,
    diff,
    before: textBefore(current),
    notes: notesOf(current, touched),
    wrote,
    lines: linesMoved(current, touched),
    extra,
  };
}

/** For the ledger: where the lines of the file are after changes. */
export const linesMoved = ({ seen }: CurrentFile, changes: readonly LineChange[]): LinesMoved => ({
  aligned: seen.state === "fresh" ? seen.since?.aligned : undefined,
  changes,
});

/** Locates one edit: after a line (`afterLine`), as the whole text of an empty file (empty old text), or by the ladder. */
function* matchOf(source: Source, edit: TextEdit, many: "each" | "in blocks" = "each"): Steps<Match> {
  if (edit.afterLine !== undefined) {
    const found = insertion(source.text, edit.afterLine, edit.newText);
    if (found === undefined) return { found: "no", nearest: undefined };
    return { found: "yes", matchedBy: "exact", places: [found.beside], changes: [found.change] };
  }
  if (edit.oldText !== "") return yield* matchIn(source, edit, many);
  const change = { from: 0, to: 0, text: edit.newText };
  return { found: "yes", matchedBy: "exact", places: [{ from: 0, to: 0 }], changes: [change] };
}

/** Pieces are written one by one; more of them cost more than a copy that joins them. */
const piecesMax = 1_000;

export function* piecesOf(
  source: Pick<SourceText, "byteAt">,
  changes: readonly TextChange[],
  current: CurrentFile,
): Steps<readonly Piece[]> {
  const joins = changes.length > piecesMax / 2 ? current.bytes : undefined;
  const all: Piece[] = [];
  let pieces: Piece[] = [];
  // Most often all changes insert the same text.
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

function* problemOf(
  place: Target,
  edits: readonly TextEdit[],
  index: number,
  source: Source,
  matched: Exclude<Match, { readonly found: "yes" }>,
): Steps<Problem> {
  const which = yield* whichOf(edits, index, source);
  const from = edits[index]?.afterLine;
  if (from !== undefined) {
    const total = countLines(source.text);
    return new Problem({ code: "INVALID_PARAM", reason: "range", place, of: "lines", from, total });
  }
  switch (matched.found) {
    case "several": {
      const { matchedBy, lines, total } = matched;
      return new Problem({ code: "AMBIGUOUS", place, which, matchedBy, lines, total });
    }
    case "already":
      return new Problem({ code: "ALREADY_APPLIED", place, which, line: matched.line });
    case "no": {
      const nearest = shownRegion(matched.nearest);
      return new Problem({ code: "NO_MATCH", place, which, nearest, searched: "loosely" });
    }
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

/** Edits after the failed one that are tried, for the error: each goes through the whole ladder. */
const laterEditsMax = 100;

/** For the error: the edits before the failed one were found; tries which of the later ones would be. */
function* whichOf(edits: readonly TextEdit[], failedAt: number, source: Source): Steps<WhichEdit> {
  const othersFound = Array.from({ length: failedAt }, (_, index) => index + 1);
  const later = edits.slice(failedAt + 1, failedAt + 1 + laterEditsMax);
  for (const [index, edit] of later.entries()) {
    yield;
    const isText = edit.afterLine === undefined && edit.oldText !== "";
    const isFound = isText ? yield* fits(source, edit) : (yield* matchOf(source, edit)).found === "yes";
    if (isFound) othersFound.push(failedAt + 2 + index);
  }
  return { index: failedAt + 1, of: edits.length, othersFound };
}

type LineAt = (offset: number) => number;

/** The lines that each change replaces and brings. Whole lines replaced by whole lines do not touch the line after them. */
export function* linesChanged(text: string, changes: readonly TextChange[]): Steps<readonly LineChange[]> {
  const lineAt = lineCounter(text);
  const changed: LineChange[] = [];
  for (const [index, { from, to, text: put }] of changes.entries()) {
    if ((index + 1) % partLength === 0) yield;
    const atLineStart = from === 0 || text[from - 1] === "\n";
    const [oldEnds, newEnds] = [to > from && text[to - 1] === "\n", put.endsWith("\n")];
    // The line after is not touched: a newline stays before it, or whole lines come or go.
    const whole = (oldEnds && newEnds) || (atLineStart && (to === from || oldEnds) && (put === "" || newEnds));
    const extra = whole ? 0 : 1;
    const line = lineAt(from);
    changed.push({
      line,
      linesBefore: lineAt(to) - line + extra,
      linesAfter: countNewlines(put) + extra,
    });
  }
  return changed;
}

/** For offsets in ascending order: the text is scanned once. */
function lineCounter(text: string): LineAt {
  let end = text.indexOf("\n");
  let line = 1;
  return (at) => {
    for (; end !== -1 && end < at; end = text.indexOf("\n", end + 1)) line += 1;
    return line;
  };
}
