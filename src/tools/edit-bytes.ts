/** An edit whose very letters are looked for in the bytes: quick for files in memory, and possible for any size. */

import type { EditFound, Piece, TextEdit } from "../contract/edit.ts";
import { limits } from "../contract/limits.ts";
import { Problem, type WhichEdit } from "../contract/problem.ts";
import type { Target } from "../contract/target.ts";
import { findInFile, type Hit } from "../disk/find-in-file.ts";
import { shifted } from "../session/line-spans.ts";
import { encode } from "../text/encode.ts";
import { isDoubleByte } from "../text/encode-tables.ts";
import { decode } from "../text/encoding.ts";
import { findAll } from "../text/find.ts";
import { type ChangedPlace, hunksOfPlaces } from "../text/hunks.ts";
import { lineEndOf, withLineEnds } from "../text/line-ends.ts";
import { countIn } from "../text/newlines.ts";
import type { Before } from "./before.ts";
import type { Planned } from "./plan.ts";
import { encoded, knownAfter, notesOf, requireCertain, requireShown, spanFrom } from "./edit-checks.ts";
import { type Bytes, bytesInFile, bytesInMemory, linesAround } from "./lines-around.ts";
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
  const newText = bytes === undefined ? await withLocalEnds(edit, hits[0]?.at ?? 0, source, target) : edit.newText;
  const put = encoded(newText, before);
  const newlines = { old: newlinesIn(needle.bytes), new: newlinesIn(put) };
  let shown = before.seen.state === "fresh" ? before.seen.shown : [];
  for (const { line } of hits) requireShown(before, shown, spanFrom(line, newlines.old, edit.oldText.endsWith("\n")));
  const changes = [];
  for (const { at, line } of hits) {
    const extra = (await isWholeLines(edit, newText, at, source, form.bomBytes)) ? 0 : 1;
    changes.push({ line, linesBefore: newlines.old + extra, linesAfter: newlines.new + extra });
  }
  shown = shifted(shown, changes);

  const places = await placesAround(hits.slice(0, placesMax), needle.bytes.length, put, source, before);
  const diff = hunksOfPlaces(places ?? []);
  // What is not shown is counted all the same.
  const hidden = changes.slice(places === undefined ? 0 : placesMax);
  const count = (of: "linesBefore" | "linesAfter"): number => hidden.reduce((sum, change) => sum + change[of], 0);
  return {
    pieces: piecesOf(hits, needle.bytes.length, put, file.sizeBytes),
    diff: {
      hunks: diff.hunks,
      additions: diff.additions + count("linesAfter"),
      deletions: diff.deletions + count("linesBefore"),
      complete: diff.complete && hidden.length === 0,
    },
    before: bytes !== undefined && bytes.length <= limits.changeCharsMax * 4 ? textOf(bytes, before) : undefined,
    notes: notesOf(before),
    wrote: knownAfter(before, shown),
    extra: [
      {
        matchedBy: newText === edit.newText ? "exact" : "line ends",
        replacements: hits.length,
        line: hits[0]?.line ?? 1,
      },
    ],
  };

  async function search(wanted: Uint8Array): Promise<{ readonly hits: readonly Hit[]; readonly total: number }> {
    if (bytes === undefined) {
      const options = { hitsMax, overlapping: !edit.all, signal, onProgress } as const;
      if (isDoubleByte(form.encoding)) {
        const all = await findInFile(file, wanted, { ...options, overlapping: true, lines: "all" });
        return wholeCharacters(all, wanted.length, form.encoding, bytesInFile(file), target, !edit.all);
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
  { oldText }: TextEdit,
  newText: string,
  at: number,
  source: Bytes,
  firstByte: number,
): Promise<boolean> {
  if (!oldText.endsWith("\n") || !(newText === "" || newText.endsWith("\n"))) return false;
  return at === firstByte || (await source.read(at - 1, at))[0] === 10;
}

/**
 * Lines that come into a file with CRLF get that end, as they do in a file in memory. Where the old text has line ends of
 * its own it was found by them, and the new text has the same.
 */
async function withLocalEnds(edit: TextEdit, at: number, source: Bytes, target: Target): Promise<string> {
  const { oldText, newText } = edit;
  const before = at === 0 ? undefined : (await source.read(at - 1, at))[0];
  if (oldText.startsWith("\n") && before === 13 && !newText.startsWith("\n")) {
    throw new Problem({ code: "NO_MATCH", place: target, which: only, nearest: undefined, searched: "exactly" });
  }
  const lineEnds = lineEndOf(newText);
  if (oldText.includes("\n") || (lineEnds !== "LF" && lineEnds !== "CRLF")) return newText;
  const end = await source.read(at, Math.min(source.sizeBytes, at + 65_536));
  const newline = end.indexOf(10);
  if (newline === -1) return newText;
  return withLineEnds(newText, newline > 0 && end[newline - 1] === 13 ? "\r\n" : "\n");
}

const newlinesIn = (bytes: Uint8Array): number => countIn(bytes, 0, bytes.length, "byte");

function piecesOf(hits: readonly Hit[], oldBytes: number, put: Uint8Array, sizeBytes: number): readonly Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const hit of hits) {
    if (hit.at > at) pieces.push({ from: at, to: hit.at });
    if (put.length > 0) pieces.push(put);
    at = hit.at + oldBytes;
  }
  if (at < sizeBytes) pieces.push({ from: at, to: sizeBytes });
  return pieces;
}

/** Whole lines around each hit; hits that stand close together share theirs. Undefined where lines are too long to show. */
async function placesAround(
  hits: readonly Hit[],
  oldBytes: number,
  put: Uint8Array,
  source: Bytes,
  before: Before,
): Promise<readonly ChangedPlace[] | undefined> {
  const places: ChangedPlace[] = [];
  for (let first = 0; first < hits.length; ) {
    const hit = hits[first];
    if (hit === undefined) break;
    let window = await linesAround(source, hit.at, hit.at + oldBytes, before.form.bomBytes);
    let next = first + 1;
    for (let other = hits[next]; window !== undefined && other !== undefined; other = hits[next]) {
      const around = await linesAround(source, other.at, other.at + oldBytes, before.form.bomBytes);
      // Lines that are the context of both are shown once.
      if (around !== undefined && around.from >= window.to) break;
      window = around === undefined ? undefined : { from: window.from, to: Math.max(window.to, around.to) };
      next += 1;
    }
    if (window === undefined) return undefined;
    const old = await source.read(window.from, window.to);
    const parts: Uint8Array[] = [];
    let at = window.from;
    for (const { at: start } of hits.slice(first, next)) {
      parts.push(old.subarray(at - window.from, start - window.from), put);
      at = start + oldBytes;
    }
    parts.push(old.subarray(at - window.from));
    places.push({
      firstLine: hit.line - newlinesIn(old.subarray(0, hit.at - window.from)),
      before: textOf(old, before),
      after: textOf(Buffer.concat(parts), before),
      atEnd: window.to === source.sizeBytes,
    });
    first = next;
  }
  return places;
}

/** For showing. The mark at the file's beginning is not part of its text. */
const textOf = (bytes: Uint8Array, { form }: Before): string =>
  decode(bytes, form.encoding).text.replace(/^\ufeff/, "");
