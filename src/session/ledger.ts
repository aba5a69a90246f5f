/**
 * What this conversation was shown: which part of which file, in which state. Answers repeated reads with "unchanged", and tells a
 * change whether the session has read the file as it is. Knows nothing of the disk.
 */

import { dropOldest, isRecord } from "../contract/common.ts";
import type { LineSpan } from "../contract/problem.ts";
import type { EncodingName } from "../contract/read.ts";
import type { AlignedLines, OutsideChange } from "../text/text.ts";
import { covers, hasSpan, isWholeLine, type LineChange, mergeSpans, mergeParts, subtractSpans } from "./line-spans.ts";
import { type CarriedOver, createShownLines, isStoredLines, type ShownText, type StoredLines } from "./shown-lines.ts";
import { isNumbered, type NumberedSpan, numbersAligned, numbersMoved, numbersShown } from "./shown-numbers.ts";

/** A file's state: the quick fingerprint, and the hash that decides. */
export interface FileFingerprint {
  /** Device, inode, size and times: the same key means the same content. */
  readonly statKey: string;
  readonly sizeBytes: number;
  /** Of the whole content; undefined for files too large to hash in passing. Called only if `statKey` differs. */
  readonly hash: () => Promise<string | undefined>;
  /** Of any size, for content that is known by nothing else. */
  readonly fullHash: () => Promise<string>;
  /** All bytes; undefined for files too large to hash in passing. Called only if the content differs from what was shown. */
  readonly content: () => Promise<Uint8Array | undefined>;
}

/** What a session has seen of a file, as far as that is still true. */
export type Seen =
  | { readonly state: "never" }
  | { readonly state: "changed"; readonly sizeThen: number | undefined }
  | ({
      readonly state: "fresh";
      readonly whole: boolean;
      /** Set if somebody else changed the file since: what was shown are then only the lines that still stand, as numbered now. */
      readonly since?: ChangedSince;
    } & Shown);

/** What somebody else changed, as far as it can be seen from the lines that were shown. */
export interface ChangedSince {
  readonly sizeThen: number | undefined;
  /** In the file as it is now, sorted. Lines that stand where no line was shown are not among them. */
  readonly changed: readonly OutsideChange[];
  /** Those of them whose text the session was never shown in this file. */
  readonly foreign: readonly LineSpan[];
  /** Where the lines are that still stand. */
  readonly aligned: readonly AlignedLines[];
}

/** Where lines are after a change of the session: first `aligned` if another program had changed the file before, then `changes`. */
export interface LinesMoved {
  readonly aligned: readonly AlignedLines[] | undefined;
  readonly changes: readonly LineChange[];
}

/** Parts of a file, each list sorted, without overlaps, counted from 1. */
export interface Shown {
  readonly shown: readonly LineSpan[];
  /** The shown lines that were truncated. */
  readonly cut: readonly LineSpan[];
  /** The shown parts of truncated lines, where known. */
  readonly parts?: readonly LinePart[];
  /** Cells of a notebook that was shown as cells. */
  readonly cells: readonly LineSpan[];
  /** Cells whose number belonged to another cell when they were shown. */
  readonly movedCells?: readonly LineSpan[];
}

export const nothingShown: Shown = { shown: [], cut: [], cells: [] };

/** What a read showed: all of a file, whatever it is; lines of a file with this many (undefined: unknown); or cells. */
export type Sight =
  | "all"
  | {
      readonly views: readonly View[];
      /** Lines that were truncated, and those of which a part was requested. */
      readonly cut: readonly LineSpan[];
      readonly parts?: readonly LinePart[];
      readonly linesTotal: number | undefined;
      /** The shown lines themselves, of a file that is small enough to be followed through changes by others. */
      readonly texts?: readonly ShownText[];
    }
  | { readonly cells: readonly LineSpan[] };

export type Ledger = ReturnType<typeof createLedger>;
/** Reads a part of a file again, for files too large to hash. */
type ViewHash = (span: LineSpan) => Promise<string | undefined>;

/** The session knows all of the content, except for the numbers of some cells; or these parts, as numbered now. */
export type Wrote = "all" | { readonly all: Pick<Shown, "movedCells"> } | Shown;

/** A file as the session left it. */
export interface Written {
  readonly statKey: string;
  readonly sizeBytes: number;
  readonly hash: string | undefined;
  /** Set if detection from the bytes may find another one. */
  readonly encoding: EncodingName | undefined;
  /** Where lines are after the change; undefined if that is not known. */
  readonly lines?: LinesMoved | undefined;
  /** All of it, if it is small enough to be hashed. */
  readonly content?: Uint8Array | undefined;
}

interface Part {
  /** As in `KnownFile`. */
  readonly sign: string;
  readonly hash: string | undefined;
  readonly tokens: number;
  lastAnswer: "content" | "stub";
}

/** Files in memory; the oldest go first. A forgotten file must be read again before it is changed. */
const filesMax = 2_000;
/** Parts of each file that a repeated read may refer to. */
const partsMax = 100;
/** Hashed views of each file: the larger their number, the more a check of a large file reads. */
const viewsMax = 100;
/** Parts of truncated lines of each file. */
const linePartsMax = 10_000;

export function createLedger(
  restored: unknown = {},
  { keepsNumbers = false }: { readonly keepsNumbers?: boolean } = {},
) {
  const numbers = new Map<string, readonly NumberedSpan[]>();
  const parts = new Map<string, Map<string, Part>>();
  const files = new Map<string, KnownFile>();
  const lines = createShownLines();
  for (const [path, { lines: stored, ...known }] of Object.entries(wellFormedState(restored))) {
    files.set(path, known);
    if (stored !== undefined) lines.restore(path, stored);
  }

  let changes = 0;
  /** Paths whose entry changed since `takeChanged`; undefined while nobody takes them. */
  let changed: Set<string> | undefined;
  const know = (path: string, file: KnownFile): void => {
    changes += 1;
    changed?.add(path);
    files.delete(path);
    files.set(path, file);
    dropOldest(files, filesMax);
    if (numbers.size > files.size) for (const known of numbers.keys()) if (!files.has(known)) numbers.delete(known);
  };
  /** What still holds of a file whose content is another one now; undefined if nothing does, or if that cannot be said. */
  const carriedOver = async (
    path: string,
    known: KnownFile,
    { content }: FileFingerprint,
  ): Promise<CarriedOver | undefined> => {
    const bytes = lines.has(path) ? await content() : undefined;
    return bytes === undefined ? undefined : lines.carryOver(path, spansOf(known), bytes);
  };

  return {
    /** Whether this part was shown and is unchanged. No for the second time in a row: the model has lost the content. */
    async repeats(path: string, part: string, fingerprint: FileFingerprint) {
      const entry = parts.get(path)?.get(part);
      if (entry === undefined || !(await isSame(entry, fingerprint))) return undefined;
      // The file is again what it was, but the session saw or wrote another content since.
      const known = files.get(path);
      if (known !== undefined && !(await isSame(known, fingerprint))) return undefined;
      if (entry.lastAnswer === "stub") {
        entry.lastAnswer = "content";
        return undefined;
      }
      entry.lastAnswer = "stub";
      return { tokens: entry.tokens };
    },
    /** Records that a part was shown whole. Truncated views do not count. */
    async shown(path: string, part: string, fingerprint: FileFingerprint, tokens: number): Promise<void> {
      const hash = await fingerprint.hash();
      const ofFile = parts.get(path) ?? new Map<string, Part>();
      ofFile.delete(part);
      ofFile.set(part, { sign: fingerprint.statKey, hash, tokens, lastAnswer: "content" });
      dropOldest(ofFile, partsMax);
      parts.delete(path);
      parts.set(path, ofFile);
      dropOldest(parts, filesMax);
    },
    /** Whether `saw` would add nothing, to save the cost of hashing. */
    knows(path: string, statKey: string, span: LineSpan): boolean {
      const known = files.get(path);
      if (known === undefined || known.sign !== statKey) return false;
      // Lines that the session's own changes moved get new numbers by being shown again.
      if (keepsNumbers && !isNumbered(numbers.get(path) ?? [], span)) return false;
      return known.whole || (known.cut === undefined && hasSpan(known.spans, span));
    },
    async saw(path: string, fingerprint: FileFingerprint, sight: Sight): Promise<void> {
      const { statKey, sizeBytes } = fingerprint;
      const earlier = files.get(path);
      const hash = earlier !== undefined && earlier.sign === statKey ? earlier.hash : await fingerprint.hash();
      const same = earlier !== undefined && (earlier.sign === statKey || (hash !== undefined && earlier.hash === hash));
      const page =
        typeof sight === "object" && "views" in sight ? sight : { views: [], cut: [], linesTotal: undefined };
      const { linesTotal } = page;
      // Of another state of the file, the lines that still stand count as shown.
      const isAll = sight === "all" || (linesTotal !== undefined && covers(page.views, { from: 1, to: linesTotal }));
      // A page of all lines leaves nothing to carry over but the numbers of an older page.
      const isNews = isAll && !keepsNumbers;
      const kept = earlier === undefined || same || isNews ? undefined : await carriedOver(path, earlier, fingerprint);
      const before: Omit<KnownFile, "sign"> | undefined = same
        ? earlier
        : kept && { whole: false, spans: mergeSpans(kept.shown), views: [] };
      const all = [...(before?.views ?? []), ...page.views].slice(-viewsMax);
      const spans = mergeSpans([...(before?.spans ?? []), ...page.views]);
      const cutBefore = before?.cut ?? [];
      const pieces = mergeParts([...(before?.parts ?? []), ...(page.parts ?? [])]);
      const pieced = pieces.filter(isWholeLine).map(({ line }) => ({ from: line, to: line }));
      const parts = pieces.filter((part) => !isWholeLine(part)).slice(-linePartsMax);
      const inParts = before?.inParts === true || pieced.length > 0;
      // A line truncated before may be shown whole now, and the other way round.
      const wholeBefore = before !== undefined && page.cut.length > 0 ? subtractSpans(before.spans, cutBefore) : [];
      const cutNow = mergeSpans([...subtractSpans(cutBefore, page.views), ...page.cut]);
      const cut = subtractSpans(cutNow, [...wholeBefore, ...pieced]);
      const shownCells = typeof sight === "object" && "cells" in sight ? sight.cells : [];
      const cells = mergeSpans([...(before?.cells ?? []), ...shownCells]);
      const movedCells = sight === "all" ? [] : subtractSpans(before?.movedCells ?? [], shownCells);
      const isCovered = linesTotal !== undefined && (linesTotal === 0 || hasSpan(spans, { from: 1, to: linesTotal }));
      const whole = sight === "all" || before?.whole === true || (isCovered && cut.length === 0);
      const known = {
        ...(hash === undefined ? {} : { hash }),
        ...partsOf({ shown: spans, cut, parts, cells, movedCells }),
        ...(inParts && { inParts }),
        ...(before?.encoding === undefined ? {} : { encoding: before.encoding }),
      };
      if (keepsNumbers) {
        const numbered = numbers.get(path) ?? [];
        const still = same ? numbered : kept === undefined ? [] : numbersAligned(numbered, kept.aligned);
        numbers.set(path, numbersShown(still, page.views));
      }
      const texts = page.texts ?? [];
      // A read at the same moment may have numbered the lines anew already.
      if (kept !== undefined && files.get(path) === earlier) lines.renumber(path, spansOf(earlier), kept);
      if (same || kept !== undefined) lines.add(path, texts);
      else lines.replace(path, texts, spansOf(earlier));
      know(path, { sign: statKey, sizeBytes, ...known, whole, views: all });
    },
    /** Under which numbers lines of the file were shown, and where they are now; empty unless the ledger keeps numbers. */
    numbersOf(path: string, seen: Seen): readonly NumberedSpan[] {
      if (seen.state !== "fresh") return [];
      const numbered = numbers.get(path) ?? [];
      return seen.since === undefined ? numbered : numbersAligned(numbered, seen.since.aligned);
    },
    /** Whether anything of it was ever shown. */
    has: (path: string): boolean => files.has(path),
    /** Whether it was last shown or written with this stat key. */
    isOf: (path: string, statKey: string): boolean => files.get(path)?.sign === statKey,
    /** The same, also while the times were too young to be trusted. */
    isLikely: (path: string, statKey: string): boolean => {
      const sign = files.get(path)?.sign;
      return sign === statKey || sign?.startsWith(`${statKey} `) === true;
    },
    /** The files that were shown or written last, the latest first. */
    recent: (count: number): readonly string[] => [...files.keys()].slice(-count).reverse(),
    async seen(path: string, now: FileFingerprint, viewHash: ViewHash): Promise<Seen> {
      const known = files.get(path);
      if (known === undefined) return { state: "never" };
      if (known.sign !== now.statKey && !(await isStillSo(known, now, viewHash))) {
        const { sizeBytes: sizeThen } = known;
        const kept = await carriedOver(path, known, now);
        if (kept === undefined) return { state: "changed", sizeThen };
        const { changed, foreign, aligned } = kept;
        const shownStill = { ...nothingShown, shown: mergeSpans(kept.shown) };
        return { state: "fresh", whole: false, ...shownStill, since: { sizeThen, changed, foreign, aligned } };
      }
      const { whole, spans: shown, cut = [], parts: ofLines = [], cells = [], movedCells = [] } = known;
      return { state: "fresh", whole, shown, cut, parts: ofLines, cells, movedCells };
    },
    /** The host showed it by other means. False if `shown` is malformed. */
    shownElsewhere(path: string, shown: unknown): boolean {
      const known = knownElsewhere(shown);
      if (known === undefined) return false;
      const before = files.get(path);
      // What was shown of the same content before still counts.
      const same = before?.hash !== undefined && before.hash === known.hash;
      const spans = mergeSpans([...(same ? before.spans : []), ...known.spans]);
      if (!same) lines.drop(path);
      know(path, same ? { ...before, whole: before.whole || known.whole, spans } : known);
      return true;
    },
    /** The encoding in which the session wrote the unchanged file, if the bytes would not reveal it. */
    async encodingOf(path: string, now: FileFingerprint): Promise<EncodingName | undefined> {
      const known = files.get(path);
      if (known?.encoding === undefined) return undefined;
      const same = known.sign === now.statKey || (known.hash !== undefined && known.hash === (await now.hash()));
      return same ? known.encoding : undefined;
    },
    /** The session changed the file: known line numbers move along. */
    wrote(path: string, { statKey, sizeBytes, hash, encoding, content, lines: moved }: Written, how: Wrote): void {
      // Without the changed lines it is unknown where the others are.
      if (moved === undefined) numbers.delete(path);
      else if (numbers.has(path)) {
        const numbered = numbers.get(path) ?? [];
        const aligned = moved.aligned === undefined ? numbered : numbersAligned(numbered, moved.aligned);
        numbers.set(path, numbersMoved(aligned, moved.changes));
      }
      const whole = how === "all" || "all" in how;
      const parts = partsOf(how === "all" ? nothingShown : "all" in how ? { ...nothingShown, ...how.all } : how);
      const known = { ...(hash === undefined ? {} : { hash }), ...(encoding === undefined ? {} : { encoding }) };
      const isText = parts.cells === undefined && parts.movedCells === undefined;
      const texts = isText && content !== undefined ? [{ from: 1, text: content }] : [];
      lines.replace(path, texts, spansOf(files.get(path)));
      know(path, { sign: statKey, sizeBytes, ...known, whole, ...parts, views: [] });
    },
    /**
     * The content is under another name too, or only there: it counts as shown to the same extent. `then` and `now` are the stat
     * keys of the two; if the session saw another state than `then`, the hash decides later.
     */
    carry(from: string, to: string, then: string, now: string): void {
      const known = files.get(from);
      if (known !== undefined) know(to, known.sign === then ? { ...known, sign: now } : known);
    },
    /** The file was removed or restored: nothing is known of it. */
    drop(path: string): void {
      changes += 1;
      changed?.add(path);
      parts.delete(path);
      files.delete(path);
      numbers.delete(path);
      lines.drop(path);
    },
    /** The content left the conversation, of one file or of all. The file still counts as read. */
    forget(path?: string): void {
      if (path === undefined) parts.clear();
      else parts.delete(path);
    },
    /** Grows with each change of `state()`. */
    get changes(): number {
      return changes;
    },
    state(): ReadState {
      const stored = lines.state();
      return Object.fromEntries([...files].map(([path, known]) => [path, storedFile(known, stored.get(path))]));
    },
    /** The entries that changed since the last call, for another process; null for one that is gone. The first call starts it. */
    takeChanged(): ReadonlyMap<string, KnownFile | null> {
      const paths = changed ?? new Set<string>();
      changed = new Set();
      if (paths.size === 0) return new Map();
      const stored = lines.state();
      return new Map(
        [...paths].map((path) => {
          const known = files.get(path);
          return [path, known === undefined ? null : storedFile(known, stored.get(path))];
        }),
      );
    },
    /** Replaces an entry by that of another process, or drops it. */
    restore(path: string, entry: unknown): void {
      const known = wellFormedState({ [path]: entry })[path];
      files.delete(path);
      numbers.delete(path);
      lines.drop(path);
      if (known === undefined) return;
      const { lines: stored, ...rest } = known;
      files.set(path, rest);
      if (stored !== undefined) lines.restore(path, stored);
      dropOldest(files, filesMax);
    },
  };
}

const storedFile = (known: KnownFile, lines: StoredLines | undefined): KnownFile => {
  const views = known.views.map(({ from, to, hash }) => ({ from, to, hash }));
  return { ...known, views, ...(lines === undefined ? {} : { lines }) };
};

/** The lines that were shown whole; undefined if all of them were. */
const spansOf = (known: KnownFile | undefined): readonly LineSpan[] | undefined =>
  known === undefined ? [] : known.whole ? undefined : subtractSpans(known.spans, known.cut ?? []);

/** Empty lists are left out: most files have only lines. */
const partsOf = ({ shown, cut, parts = [], cells, movedCells = [] }: Shown) => ({
  spans: mergeSpans(shown),
  ...(cut.length > 0 && { cut }),
  ...(cut.length > 0 && parts.length > 0 && { parts }),
  ...(cells.length > 0 && { cells }),
  ...(movedCells.length > 0 && { movedCells }),
});

const isSame = async (before: Pick<Part, "sign"> & Partial<Pick<Part, "hash">>, now: FileFingerprint) =>
  before.sign === now.statKey ||
  (before.hash !== undefined && before.hash === ((await now.hash()) ?? (await now.fullHash())));

/** A touch, a sync client or a virus scanner changes the times and not the content. */
async function isStillSo(known: KnownFile, now: FileFingerprint, viewHash: ViewHash): Promise<boolean> {
  if (known.sizeBytes === undefined) return known.hash === (await now.fullHash());
  if (known.sizeBytes !== now.sizeBytes) return false;
  // A large file is hashed only if its times are too coarse; from then on it is compared by hash.
  if (known.hash !== undefined) return known.hash === ((await now.hash()) ?? (await now.fullHash()));
  const hashed = known.views.filter((view) => view.hash !== undefined);
  if (known.inParts === true) return false;
  if (known.spans.length === 0 || !known.spans.every((span) => covers(hashed, span))) return false;
  for (const view of hashed) if ((await viewHash(view)) !== view.hash) return false;
  return true;
}

// The stored form of a ledger, for another process or from a host. Untrusted, so every field is checked.

/** A shown part and the hash of its text, for files too large to hash whole. */
export interface View extends LineSpan {
  readonly hash: string | undefined;
}

/** A shown part of a truncated line: UTF-16 units, counted from 1. `ends`: it reaches the end of the line. */
export interface LinePart extends LineSpan {
  readonly line: number;
  readonly ends?: boolean;
}

export type ReadState = Readonly<Record<string, KnownFile>>;

interface KnownFile {
  /** The stat key of the fingerprint; read states are stored under this name. */
  readonly sign: string;
  /** Undefined if only a hash is known, which the host computed. */
  readonly sizeBytes?: number;
  readonly hash?: string;
  readonly whole: boolean;
  /** All shown lines, sorted, without overlaps. */
  readonly spans: readonly LineSpan[];
  /** `cut`, `parts`, `cells` and `movedCells`: as in `Shown`. */
  readonly cut?: readonly LineSpan[];
  readonly parts?: readonly LinePart[];
  /** Whether lines were shown whole in several parts, which the hashes of `views` do not cover. */
  readonly inParts?: boolean;
  readonly cells?: readonly LineSpan[];
  readonly movedCells?: readonly LineSpan[];
  /** The latest parts, to recognise a file too large to hash whole. */
  readonly views: readonly View[];
  /** The encoding in which the session wrote it, if the bytes would not reveal it. */
  readonly encoding?: EncodingName;
  /** Only in a stored state: hashes of the shown lines. */
  readonly lines?: StoredLines;
}

/** What a host showed by other means: the hash of the content, and which lines of it; all by default. */
export interface ShownElsewhere {
  /** Of all bytes of the file, in hex. */
  readonly sha256: string;
  readonly lines?: readonly LineSpan[];
  /** If the file has another content now, nothing is recorded; by default it counts as changed since. */
  readonly ifChanged?: "ignore";
}

/** Matches no stat key, so the hash decides. */
const noStatKey = "shown elsewhere";

export function isShownElsewhere(shown: unknown): shown is ShownElsewhere {
  if (typeof shown !== "object" || shown === null) return false;
  const { sha256, lines, ifChanged } = shown as Partial<Record<keyof ShownElsewhere, unknown>>; // each is checked below
  if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/i.test(sha256)) return false;
  if (ifChanged !== undefined && ifChanged !== "ignore") return false;
  return lines === undefined || (Array.isArray(lines) && lines.every(isSpan));
}

/** As an entry of the ledger; undefined if malformed. */
function knownElsewhere(shown: unknown): KnownFile | undefined {
  if (!isShownElsewhere(shown)) return undefined;
  const { sha256, lines } = shown;
  const hash = Buffer.from(sha256, "hex").toString("base64");
  const spans = lines === undefined ? [] : mergeSpans(lines.map(({ from, to }) => ({ from, to })));
  return { sign: noStatKey, hash, whole: lines === undefined, spans, views: [] };
}

/** A stored state may be damaged or from another version: malformed entries are ignored. */
function wellFormedState(restored: unknown): ReadState {
  if (!isRecord(restored)) return {};
  return Object.fromEntries(
    Object.entries(restored).flatMap(([path, value]): readonly [string, KnownFile][] => {
      const known = isKnownFile(value) ? value : knownElsewhere(value);
      return known === undefined ? [] : [[path, known]];
    }),
  );
}

function isKnownFile(value: unknown): value is KnownFile {
  if (typeof value !== "object" || value === null) return false;
  const given = value as Partial<Record<keyof KnownFile, unknown>>; // each is checked below
  const { sign, sizeBytes, hash, whole, spans, cut = [], cells = [], movedCells = [], views, encoding } = given;
  const { parts = [], inParts = false, lines } = given;
  return (
    typeof sign === "string" &&
    (sizeBytes === undefined ? hash !== undefined : Number.isSafeInteger(sizeBytes)) &&
    (hash === undefined || typeof hash === "string") &&
    (encoding === undefined || (typeof encoding === "string" && encodings.test(encoding))) &&
    typeof whole === "boolean" &&
    typeof inParts === "boolean" &&
    (lines === undefined || isStoredLines(lines)) &&
    Array.isArray(parts) &&
    parts.every(isPart) &&
    [spans, cut, cells, movedCells, views].every((list) => Array.isArray(list) && list.every(isView))
  );
}

const encodings =
  /^(?:utf-8|utf-(?:16|32)[bl]e|gb18030|big5|shift_jis|euc-(?:jp|kr)|iso-2022-jp|koi8-[ru]|ibm866|macintosh|windows-(?:874|125[0-8])|iso-8859-(?:[2-8]|1[0345]))$/;

function isView(value: unknown): value is View {
  if (typeof value !== "object" || value === null) return false;
  const { from, to, hash } = value as Partial<Record<keyof View, unknown>>; // each is checked below
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && (hash === undefined || typeof hash === "string");
}

function isPart(value: unknown): value is LinePart {
  if (!isSpan(value)) return false;
  const { line, ends } = value as Partial<Record<keyof LinePart, unknown>>; // each is checked below
  return Number.isSafeInteger(line) && (ends === undefined || typeof ends === "boolean");
}

/** A span given by a host: of possible lines. */
const isSpan = (value: unknown): value is LineSpan => isView(value) && value.from >= 1 && value.to >= value.from;
