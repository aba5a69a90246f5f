/** Diffs page by page: of a call, of a question, between any two versions; and the images of both sides. */

import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { dropOldest } from "../../contract/common.ts";
import type { Hunk } from "../../contract/edit.ts";
import type { CallEvent } from "../../contract/event.ts";
import { hunksOfTexts } from "../../text/text.ts";
import { cutAll } from "../questions.ts";
import { callNamed, detailOf } from "./calls.ts";
import { type Inspected, relativeOf } from "./inspected.ts";
import { pastOf, pathOf, type InspectedVersion, inspectedVersion, versionRefOf } from "./history.ts";
import { bad, choice, type Fields, fieldsOf, integer, own, RequestRefused, text } from "./input.ts";
import type { Questions } from "./questions.ts";
import type { DiffPage, HunkPart, ImageView, NoDiff, VersionRef } from "./wire.ts";

/** Bytes of one side. Comparing more would delay the calls of agents. */
const textBytesMax = 4_194_304;
const imageBytesMax = 16_777_216; // an image is sent as one JSON text
const diffLinesMax = 100_000; // the cached diffs stay in memory
/** Diffs that are cached for their next pages. */
const keptMax = 8;

interface Diff extends Pick<DiffPage, "additions" | "deletions" | "complete" | "none" | "image"> {
  readonly hunks: readonly Hunk[];
}

type About = Pick<DiffPage, "path" | "relative" | "did" | "movedFrom">;

export type Diffs = ReturnType<typeof createDiffs>;

export function createDiffs(questions: Pick<Questions, "diff" | "open">) {
  const kept = new Map<string, Diff>();
  const compared = (before: InspectedVersion, after: InspectedVersion, context: number): Diff => {
    const sign = (side: InspectedVersion): string =>
      typeof side === "object" && "bytes" in side
        ? createHash("sha256").update(side.bytes).digest("hex")
        : JSON.stringify(side);
    const key = `${sign(before)} ${sign(after)} ${context}`;
    const diff = kept.get(key) ?? diffOf(before, after, context);
    kept.delete(key);
    kept.set(key, diff);
    dropOldest(kept, keptMax);
    return diff;
  };

  const ofCall = async (of: Fields, context: number, inspected: Inspected): Promise<readonly [About, Diff]> => {
    const [event, index] = changeNamed(of, inspected);
    const change = event.changes[index];
    if (change === undefined) throw new RequestRefused(404, "NO_SUCH_CALL", "That call changed no such file");
    const { path, relative, did, movedFrom } = change;
    const about: About = { path, relative, did, movedFrom };
    const detail = detailOf(event.id, inspected);
    const own = typeof detail === "string" ? undefined : detail.diffs[index];
    const counted = { additions: change.additions, deletions: change.deletions };
    if (own !== undefined && own.complete && own.hunks.length > 0) {
      return [about, { ...counted, hunks: own.hunks, complete: true, none: null, image: false }];
    }
    // The call kept only a part of the diff, or it cannot be shown as lines: then the history may have both versions.
    const refs = await refsOfChange(event, index, inspected);
    if (refs !== undefined) {
      const diff = compared(...(await sidesOf(refs, inspected)), context);
      if (diff.none === null || diff.image || own === undefined || own.hunks.length === 0) return [about, diff];
    }
    const hunks = own?.hunks ?? [];
    const none = hunks.length > 0 ? null : own?.complete === true ? "same" : "none";
    return [about, { ...counted, hunks, complete: own?.complete ?? false, none, image: false }];
  };

  const ofQuestion = (id: string, at: number): readonly [About, Diff] => {
    const info = questions.open().find((one) => one.id === id);
    const diff = questions.diff(id, at);
    if (info === undefined) throw new RequestRefused(404, "NO_SUCH_QUESTION", "That question is no longer open");
    const { movedFrom } = info;
    const { path, relative } = info.files[at] ?? info;
    const about: About = { path, relative, did: movedFrom === null ? "updated" : "moved", movedFrom };
    const { hunks, additions, deletions, complete } = diff ?? noHunks;
    return [about, { hunks, additions, deletions, complete, none: hunks.length === 0 ? "none" : null, image: false }];
  };

  const ofVersions = async (of: Fields, context: number, inspected: Inspected): Promise<readonly [About, Diff]> => {
    const refs = [versionRefOf(own(of, "before"), "before"), versionRefOf(own(of, "after"), "after")] as const;
    const [from, to] = refs.map(pathOf);
    const path = to ?? from;
    if (path === undefined) throw bad("one of the two versions must be a file");
    const [a, b] = await sidesOf(refs, inspected);
    const isMove = from !== undefined && to !== undefined && from !== to;
    const did = a === "nothing" ? (b === "nothing" ? "nothing" : "created") : b === "nothing" ? "deleted" : "updated";
    const about: About = {
      path,
      relative: relativeOf(inspected, path),
      did: isMove && did === "updated" ? "moved" : did,
      movedFrom: isMove ? relativeOf(inspected, from) : null,
    };
    return [about, compared(a, b, context)];
  };

  return {
    async page(body: Fields, inspected: Inspected): Promise<DiffPage> {
      const of = fieldsOf(own(body, "of"), '"of"');
      const from = integer(body, "from", 0, Number.MAX_SAFE_INTEGER, 0);
      const count = integer(body, "rows", 1, 2_000, 500);
      const context = integer(body, "context", 0, 100, 3);
      const [about, { hunks, ...diff }] =
        own(of, "call") !== undefined
          ? await ofCall(of, context, inspected)
          : own(of, "question") !== undefined
            ? ofQuestion(text(of, "question"), integer(of, "file", 0, Number.MAX_SAFE_INTEGER, 0))
            : await ofVersions(of, context, inspected);
      const rowsTotal = rowsIn(hunks);
      const next = from + count < rowsTotal ? from + count : null;
      return { ...about, ...diff, rowsTotal, from, hunks: rowsOf(hunks, from, count), next };
    },
    async image(body: Fields, inspected: Inspected): Promise<ImageView> {
      const of = fieldsOf(own(body, "of"), '"of"');
      const ref = own(of, "call") === undefined ? versionRefOf(of, "of") : await refOfCall(of, inspected);
      if (ref === undefined) return { is: "none", why: "gone" };
      return imageOf(await inspectedVersion(ref, imageBytesMax, inspected));
    },
  };
}

const sidesOf = async (refs: Pair, inspected: Inspected): Promise<readonly [InspectedVersion, InspectedVersion]> => [
  await inspectedVersion(refs[0], imageBytesMax, inspected),
  await inspectedVersion(refs[1], imageBytesMax, inspected),
];

type Pair = readonly [before: VersionRef, after: VersionRef];

async function refsOfChange(event: CallEvent, index: number, inspected: Inspected): Promise<Pair | undefined> {
  const change = event.changes[index];
  const { turn, session } = event;
  if (turn === null || change === undefined) return undefined;
  const past = await pastOf(inspected, session);
  const files = past.turns().find(({ messageId }) => messageId === turn)?.files;
  const file = files?.find(({ path }) => path === change.path);
  if (file === undefined) return undefined;
  const source =
    file.movedFrom !== undefined && files?.some(({ path }) => path === file.movedFrom) === true
      ? file.movedFrom
      : file.path;
  return [
    { session, turn, path: source, when: "before" },
    { session, turn, path: file.path, when: "after" },
  ];
}

function changeNamed(of: Fields, inspected: Inspected): readonly [CallEvent, number] {
  const event = callNamed(String(integer(of, "call", 1, Number.MAX_SAFE_INTEGER, 0)), inspected);
  return [event, integer(of, "change", 0, Math.max(0, event.changes.length - 1), 0)];
}

async function refOfCall(of: Fields, inspected: Inspected): Promise<VersionRef | undefined> {
  const [event, index] = changeNamed(of, inspected);
  const refs = await refsOfChange(event, index, inspected);
  return refs?.[choice(of, "when", ["before", "after"]) === "before" ? 0 : 1];
}

function imageOf(side: InspectedVersion): ImageView {
  if (side === "nothing") return { is: "none", why: side };
  if ("none" in side) {
    return {
      is: "none",
      why: side.none === "not text" ? "not an image" : side.none === "damaged" ? "gone" : side.none,
    };
  }
  const mimeType = mimeOf(side.bytes);
  if (mimeType === undefined) return { is: "none", why: "not an image" };
  return { is: "image", mimeType, data: side.bytes.toString("base64"), sizeBytes: side.bytes.length };
}

const noHunks = { hunks: [], additions: 0, deletions: 0, complete: true } as const;
const noLines = (none: NoDiff, image = false): Diff => ({ ...noHunks, none, image });

function diffOf(before: InspectedVersion, after: InspectedVersion, context: number): Diff {
  for (const side of [before, after]) if (typeof side === "object" && "none" in side) return noLines(side.none);
  const [a, b] = [bytesOf(before), bytesOf(after)];
  if (a.equals(b)) return noLines("same", mimeOf(a) !== undefined);
  const isImage = [a, b].every((bytes) => bytes.length === 0 || mimeOf(bytes) !== undefined);
  if (isImage) return noLines("not text", true);
  if (Math.max(a.length, b.length) > textBytesMax) return noLines("too large");
  const texts = [a, b].map(decoded);
  const [old, fresh] = texts;
  if (old === undefined || fresh === undefined) return noLines("not text");
  // If one side is not UTF-8, both are compared as bytes; otherwise every line with such a byte would differ.
  const isPlain = isUtf8(a) && isUtf8(b);
  const latin = (bytes: Buffer, decodedText: string): string =>
    isPlain || hasMark(a) || hasMark(b) ? decodedText : bytes.toString("latin1");
  const { hunks, additions, deletions, complete } = hunksOfTexts(latin(a, old), latin(b, fresh), {
    context,
    linesMax: diffLinesMax,
  });
  return { hunks, additions, deletions, complete, none: hunks.length === 0 ? "same" : null, image: false };
}

const bytesOf = (side: InspectedVersion): Buffer =>
  typeof side === "object" && "bytes" in side ? side.bytes : Buffer.alloc(0);

/** A byte order mark names the encoding. */
const hasMark = (bytes: Buffer): boolean =>
  bytes.length >= 2 && ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff));

function decoded(bytes: Buffer): string | undefined {
  if (hasMark(bytes)) return new TextDecoder(bytes[0] === 0xff ? "utf-16le" : "utf-16be").decode(bytes);
  return bytes.includes(0) ? undefined : bytes.toString("utf8");
}

// A part of a long diff: rows are the lines of all hunks, one after the other. Pure.

export const rowsIn = (hunks: readonly Hunk[]): number => hunks.reduce((sum, { lines }) => sum + lines.length, 0);

/** The rows from `from` on, as parts of their hunks. */
export function rowsOf(hunks: readonly Hunk[], from: number, count: number): readonly HunkPart[] {
  const parts: HunkPart[] = [];
  let first = 0;
  for (const hunk of hunks) {
    const { lines } = hunk;
    const [start, end] = [Math.max(0, from - first), Math.min(lines.length, from + count - first)];
    if (start < end) parts.push(partOf(hunk, start, end));
    first += lines.length;
    if (first >= from + count) break;
  }
  return parts;
}

function partOf(hunk: Hunk, start: number, end: number): HunkPart {
  const shown = hunk.lines.slice(start, end);
  // Of the whole hunk: where a line is cut depends on the line that it replaced.
  const lines = cutAll(hunk.lines).slice(start, end);
  if (start === 0 && end === hunk.lines.length) return { ...hunk, lines, continued: false };
  const before = rowSidesOf(hunk.lines.slice(0, start));
  const own = rowSidesOf(shown);
  // As `diff -u` has it, a side without lines starts at the line before.
  const oldFirst = hunk.oldStart + (hunk.oldLines === 0 ? 1 : 0) + before.old;
  const newFirst = hunk.newStart + (hunk.newLines === 0 ? 1 : 0) + before.new;
  return {
    oldStart: own.old === 0 ? oldFirst - 1 : oldFirst,
    oldLines: own.old,
    newStart: own.new === 0 ? newFirst - 1 : newFirst,
    newLines: own.new,
    lines,
    continued: start > 0,
  };
}

function rowSidesOf(lines: readonly string[]): { readonly old: number; readonly new: number } {
  let [old, fresh] = [0, 0];
  for (const line of lines) {
    if (line.startsWith("\\")) continue;
    if (!line.startsWith("+")) old += 1;
    if (!line.startsWith("-")) fresh += 1;
  }
  return { old, new: fresh };
}

/** Images that a browser can show, recognised by their first bytes. SVG counts as text. Pure. */

const marks: readonly (readonly [mimeType: string, test: (bytes: Buffer) => boolean])[] = [
  ["image/png", (bytes) => bytes.subarray(0, 8).equals(Buffer.from("\x89PNG\r\n\x1a\n", "latin1"))],
  ["image/jpeg", (bytes) => bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff],
  ["image/gif", (bytes) => /^GIF8[79]a/.test(bytes.toString("latin1", 0, 6))],
  ["image/webp", (bytes) => /^RIFF.{4}WEBP/s.test(bytes.toString("latin1", 0, 12))],
  ["image/bmp", (bytes) => bytes.length > 26 && bytes.toString("latin1", 0, 2) === "BM" && bytes.readUInt32LE(6) === 0],
];

const mimeOf = (bytes: Buffer): string | undefined => marks.find(([, test]) => test(bytes))?.[0];
