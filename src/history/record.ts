/**
 * Records as lines: `<checksum> <id> <json>`, each with a newline before it. The newline comes first so that a line that
 * was torn ends where the next begins. A line whose checksum is wrong is reported and never believed; one that its writer
 * was killed over is nobody's loss, and only not believed.
 */

import { crc32 } from "node:zlib";
import type { FileVersion, HistoryRecord, RewindKind } from "../contract/history.ts";
import { areSumsRight, sumChars } from "./line-sums.ts";
import { writtenChanges } from "./written-change.ts";

export interface Entry {
  /** Never used twice. An entry that had to be written again is known by it. */
  readonly id: string;
  readonly record: HistoryRecord;
}

export interface DecodedLines {
  readonly entries: readonly Entry[];
  /** Where lines begin that are not as they were written. */
  readonly damagedAt: readonly number[];
}

export function encodeEntry({ id, record }: Entry): string {
  const body = `${id} ${JSON.stringify(record)}`;
  return `\n${sumOf(body)} ${body}`;
}

/** All checksums at once, and line by line only where one is wrong: to list a long session is mostly this. */
export function decodeLines(bytes: Buffer): DecodedLines {
  const text = bytes.toString("utf8");
  if (!areSumsRight(bytes, text)) return decodeOneByOne(bytes);
  const changeAt = writtenChanges(text);
  const entries: Entry[] = [];
  for (let from = 0; from < text.length; ) {
    const newline = text.indexOf("\n", from);
    const to = newline < 0 ? text.length : newline;
    if (to > from) {
      const idFrom = from + sumChars + 1;
      const idTo = text.indexOf(" ", idFrom);
      const record = changeAt(idTo + 1, to) ?? parsed(text.slice(idTo + 1, to));
      if (record === undefined) return decodeOneByOne(bytes);
      entries.push({ id: text.slice(idFrom, idTo), record });
    }
    from = to + 1;
  }
  return { entries, damagedAt: [] };
}

/** By bytes: in a damaged line they need not be text, and where it begins is to be told. */
function decodeOneByOne(bytes: Buffer): DecodedLines {
  const entries: Entry[] = [];
  const damagedAt: number[] = [];
  for (let from = 0; from < bytes.length; ) {
    const newline = bytes.indexOf(10, from);
    const to = newline < 0 ? bytes.length : newline;
    if (to > from) {
      const line = bytes.toString("utf8", from, to);
      const entry = decodeLine(line);
      if (entry !== undefined) entries.push(entry);
      else if (!isUnfinished(line, to)) damagedAt.push(from);
    }
    from = to + 1;
  }
  return { entries, damagedAt };
}

/** The smallest piece in which a system takes over what is written; a kill in the middle leaves whole ones. */
const pageBytes = 4_096;

/**
 * Was its writer killed before all of it was taken over? Then nobody was told that it is kept. What ends elsewhere or is
 * whole was changed later.
 */
function isUnfinished(line: string, endByte: number): boolean {
  // Zeros are what a power cut leaves of what was written.
  if (endByte % pageBytes !== 0 || line.includes("\0")) return false;
  const [sum = "", id = "", ...rest] = line.split(" ");
  if (!/^[0-9a-f]*$/u.test(sum) || !/^[0-9a-z-]*$/u.test(id)) return false;
  try {
    JSON.parse(rest.join(" "));
    return false;
  } catch {
    return true;
  }
}

function decodeLine(line: string): Entry | undefined {
  const body = line.slice(sumChars + 1);
  if (line[sumChars] !== " " || line.slice(0, sumChars) !== sumOf(body)) return undefined;
  const space = body.indexOf(" ");
  const record = parsed(body.slice(space + 1));
  return record === undefined ? undefined : { id: body.slice(0, space), record };
}

function parsed(json: string): HistoryRecord | undefined {
  try {
    return recordOf(JSON.parse(json));
  } catch {
    return undefined;
  }
}

/** Of its bytes: a line that is not UTF-8 any more does not come back as it was. */
const sumOf = (body: string): string => crc32(body).toString(16).padStart(sumChars, "0");

/** The checksum says that it is whole, not that this version of the program knows what it means. */
function recordOf(value: unknown): HistoryRecord | undefined {
  if (!isObject(value)) return undefined;
  return isRecord(value) ? (value as unknown as HistoryRecord) : undefined; // every field that is relied on was looked at
}

function isRecord(value: Record<string, unknown>): boolean {
  switch (value["type"]) {
    case "start":
      return (
        isText(value["session"]) && isText(value["dialect"]) && isTexts(value["roots"]) && isNumber(value["timeMs"])
      );
    case "turn":
      return isText(value["messageId"]) && isNumber(value["timeMs"]) && isRewinds(value["rewinds"]);
    case "change":
      return (
        isText(value["messageId"]) &&
        isText(value["path"]) &&
        isText(value["relative"]) &&
        isText(value["tool"]) &&
        isNumber(value["timeMs"]) &&
        isVersion(value["before"]) &&
        isVersion(value["after"])
      );
    case "after":
      return isText(value["of"]) && isVersion(value["after"]);
    case "void":
      return isText(value["of"]);
    case "base":
      return isTexts(value["absorbed"]) && isTexts(value["ids"]) && isTexts(value["pruned"]);
    default:
      return false;
  }
}

const rewindKinds: readonly unknown[] = ["rewind", "undo", "redo", "partial"] satisfies RewindKind[];

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const isText = (value: unknown): boolean => typeof value === "string";
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);
const isRewinds = (value: unknown): boolean =>
  value === undefined || (isObject(value) && isText(value["to"]) && rewindKinds.includes(value["as"]));

function isVersion(value: unknown): value is FileVersion {
  if (!isObject(value)) return false;
  if (value["kind"] === "absent") return true;
  const { content, mark, mode, links, sizeBytes } = value;
  return (
    value["kind"] === "file" &&
    isNumber(sizeBytes) &&
    (mode === undefined || isNumber(mode)) &&
    (links === undefined || isNumber(links)) &&
    (content === undefined || (typeof content === "string" && isContentId(content))) &&
    (mark === undefined || typeof mark === "string")
  );
}

/** It becomes a part of a path. */
export const isContentId = (id: string): boolean => /^(?:[0-9a-f]{64}|inode(?:-[0-9a-f]{1,32}){4})$/u.test(id);
