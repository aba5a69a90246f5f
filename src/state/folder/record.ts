/**
 * Records as lines: `<checksum> <id> <json>`, each with a newline before it, so that a torn line ends where the next
 * begins. A line with a wrong checksum is ignored and reported; one that was cut short because its writer was killed is
 * only ignored.
 */

import * as zlib from "node:zlib"; // a Node without crc32 must get as far as the check of its version
import type { FileVersion, HistoryRecord, RewindKind } from "../../contract/history.ts";
import type { Identity } from "../../disk/disk.ts";
import { finish, type Steps } from "../../text/text.ts";

/** Digits of a checksum, at the beginning of a line. */
const sumChars = 8;

export interface Entry {
  /** Never used twice, so it identifies an entry that had to be written again. */
  readonly id: string;
  readonly record: HistoryRecord;
}

export interface DecodedLines {
  readonly entries: readonly Entry[];
  readonly damagedAt: readonly number[];
}

export function encodeEntry({ id, record }: Entry): string {
  const body = `${id} ${JSON.stringify(record)}`;
  return `\n${sumOf(body)} ${body}`;
}

export const decodeLines = (bytes: Buffer): DecodedLines => finish(decodingLines(bytes));

/** By bytes: a damaged line need not be text, and its offset is reported. */
export function* decodingLines(bytes: Buffer): Steps<DecodedLines> {
  const entries: Entry[] = [];
  const damagedAt: number[] = [];
  for (let from = 0; from < bytes.length; ) {
    if (entries.length % entriesPerStep === entriesPerStep - 1) yield;
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

/** Entries that are decoded or told in one step. */
export const entriesPerStep = 256;

/** The smallest unit in which a system accepts written bytes; a kill leaves whole ones. */
const pageBytes = 4_096;

/** Whether its writer was killed while writing it, so that it was never acknowledged; else it was damaged later. */
function isUnfinished(line: string, endByte: number): boolean {
  // A power cut leaves zeros in place of written bytes.
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
  const record = decodeRecordText(body.slice(space + 1));
  return record === undefined ? undefined : { id: body.slice(0, space), record };
}

/** Undefined for a text that this version of the program does not understand. */
export function decodeRecordText(json: string): HistoryRecord | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Of the bytes: a line that is no longer UTF-8 does not survive decoding. */
const sumOf = (body: string): string => zlib.crc32(body).toString(16).padStart(sumChars, "0");

/** The checksum proves that a record is whole, not that this version of the program understands it. */
function isRecord(value: unknown): value is HistoryRecord {
  if (!isObject(value)) return false;
  switch (value["type"]) {
    case "start":
      return (
        isText(value["session"]) &&
        isText(value["dialect"]) &&
        isTexts(value["roots"]) &&
        isNumber(value["timeMs"]) &&
        isMaybeText(value["client"])
      );
    case "turn":
      return (
        isText(value["messageId"]) &&
        isNumber(value["timeMs"]) &&
        isRewinds(value["rewinds"]) &&
        isMaybeText(value["title"])
      );
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
const isMaybeText = (value: unknown): boolean => value === undefined || isText(value);
const isRewinds = (value: unknown): boolean =>
  value === undefined ||
  (isObject(value) &&
    isText(value["to"]) &&
    rewindKinds.includes(value["as"]) &&
    isMaybeText(value["upTo"]) &&
    isMaybeText(value["state"]) &&
    (value["sessions"] === undefined || isTexts(value["sessions"])));

function isVersion(value: unknown): value is FileVersion {
  if (!isObject(value)) return false;
  if (value["kind"] === "absent") return true;
  const { content, mark, mode, links, sizeBytes, is } = value;
  return (
    value["kind"] === "file" &&
    (is === undefined || is === "link" || is === "folder") &&
    isNumber(sizeBytes) &&
    (mode === undefined || isNumber(mode)) &&
    (links === undefined || isNumber(links)) &&
    (content === undefined || (typeof content === "string" && isContentId(content))) &&
    (mark === undefined || typeof mark === "string")
  );
}

/** Which file and which state of it, without ctime, which linking changes. For files too large to hash in passing. */
export const inodeFingerprint = ({ device, inode, sizeBytes, mtimeNs }: Omit<Identity, "ctimeNs">): string =>
  ["inode", device, inode, sizeBytes, mtimeNs].map((part) => (part === "inode" ? part : part.toString(16))).join("-");

export const hasCoarseTime = (fingerprint: string): boolean =>
  BigInt(`0x${fingerprint.slice(fingerprint.lastIndexOf("-") + 1)}`) % 1_000_000_000n === 0n;

/** It becomes part of a path. */
export const isContentId = (id: string): boolean => /^(?:[0-9a-f]{64}|inode(?:-[0-9a-f]{1,32}){4})$/u.test(id);
