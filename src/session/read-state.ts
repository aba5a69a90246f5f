/** What is kept of a session when it goes on in another process, and what a host may put into it: read with suspicion. */

import type { LineSpan } from "../contract/problem.ts";
import type { EncodingName } from "../contract/read.ts";
import { merged } from "./line-spans.ts";

/** A part that was shown, and what its text hashes to, for files too large to hash whole. */
export interface View extends LineSpan {
  readonly hash: string | undefined;
}

/** A part of a cut line that was shown: UTF-16 units, counted from 1. `ends`: it reaches the end of the line. */
export interface LinePart extends LineSpan {
  readonly line: number;
  readonly ends?: boolean;
}

export type ReadState = Readonly<Record<string, KnownFile>>;

export interface KnownFile {
  readonly sign: string;
  /** Undefined where only a hash is known, which somebody else took. */
  readonly sizeBytes?: number;
  readonly hash?: string;
  readonly whole: boolean;
  /** All lines that were shown: in order, without overlaps. */
  readonly spans: readonly LineSpan[];
  /** Those of them that were cut short: of these not all was shown. */
  readonly cut?: readonly LineSpan[];
  /** What was shown of them, in order and without overlaps. */
  readonly parts?: readonly LinePart[];
  /** Were lines shown whole in parts? The hashes of `views` say nothing about these. */
  readonly inParts?: boolean;
  /** Of a notebook that was shown as cells: those cells. */
  readonly cells?: readonly LineSpan[];
  /** Of these cells another one had the number when it was shown: nobody can say by number which is meant. */
  readonly movedCells?: readonly LineSpan[];
  /** The latest parts, to know them again where the whole is too large to be hashed. */
  readonly views: readonly View[];
  /** How the session wrote it, where its bytes would not tell. */
  readonly encoding?: EncodingName;
}

/** What a host showed by its own means: of which content, and which lines of it; all of them by default. */
export interface ShownElsewhere {
  /** Of all the bytes of the file, in hex. */
  readonly sha256: string;
  readonly lines?: readonly LineSpan[];
}

/** The sign of no file: the hash decides. */
const noSign = "shown elsewhere";

/** As an entry of the ledger; undefined if it is not well formed. */
export function knownElsewhere(shown: unknown): KnownFile | undefined {
  if (typeof shown !== "object" || shown === null) return undefined;
  const { sha256, lines } = shown as Partial<Record<keyof ShownElsewhere, unknown>>; // each is checked below
  if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/i.test(sha256)) return undefined;
  if (lines !== undefined && !(Array.isArray(lines) && lines.every(isSpan))) return undefined;
  const hash = Buffer.from(sha256, "hex").toString("base64");
  const spans = lines === undefined ? [] : merged(lines.map(({ from, to }) => ({ from, to })));
  return { sign: noSign, hash, whole: lines === undefined, spans, views: [] };
}

/** What another process kept may be damaged or from another version: what is not well formed is left out. */
export function wellFormedState(restored: unknown): ReadState {
  if (typeof restored !== "object" || restored === null || Array.isArray(restored)) return {};
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
  const { parts = [], inParts = false } = given;
  return (
    typeof sign === "string" &&
    (sizeBytes === undefined ? hash !== undefined : Number.isSafeInteger(sizeBytes)) &&
    (hash === undefined || typeof hash === "string") &&
    (encoding === undefined || (typeof encoding === "string" && encodings.test(encoding))) &&
    typeof whole === "boolean" &&
    typeof inParts === "boolean" &&
    Array.isArray(parts) &&
    parts.every(isPart) &&
    [spans, cut, cells, movedCells, views].every((list) => Array.isArray(list) && list.every(isView))
  );
}

/** The members of `EncodingName`. */
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

/** A span that a host gives: of lines that there can be. */
const isSpan = (value: unknown): value is LineSpan => isView(value) && value.from >= 1 && value.to >= value.from;
