/**
 * Records of the call log as lines: `<checksum> <json>` and a newline. A batch begins with a newline, so that a line that was cut
 * short ends where the next one begins. Values that say nothing (null, false, 0, none) are left out. Pure.
 */

import * as zlib from "node:zlib"; // a Node without crc32 must get as far as the check of its version
import type {
  LoggedAnswer,
  LoggedCall,
  LoggedGap,
  LoggedQuestion,
  LogOrigin,
  LogRecord,
} from "../../contract/call-log.ts";
import { isRecord } from "../../contract/common.ts";
import type { CallRange } from "../../contract/event.ts";
import { limits } from "../../contract/limits.ts";

/** Digits of a checksum, at the beginning of a line. */
const sumChars = 8;
const newline = 10;

export const encodeBatch = (records: readonly LogRecord[]): Buffer =>
  Buffer.from(`\n${records.map(encodeRecord).join("")}`);

function encodeRecord(record: LogRecord): string {
  const line = lineOf(record);
  if (record.type !== "call" || line.length * 3 <= limits.callLogLineBytesMax) return line;
  if (Buffer.byteLength(line) <= limits.callLogLineBytesMax) return line;
  // The number of all changes stays.
  const [first] = record.changes;
  const shorter = lineOf({ ...record, changes: first === undefined ? [] : [first] });
  return Buffer.byteLength(shorter) <= limits.callLogLineBytesMax ? shorter : lineOf({ ...record, changes: [] });
}

function lineOf(record: LogRecord): string {
  const json = JSON.stringify(record, leaveOut);
  return `${sumOf(json)} ${json}\n`;
}

const leaveOut = (_name: string, value: unknown): unknown =>
  value === null || value === false || value === 0 || (Array.isArray(value) && value.length === 0) ? undefined : value;

const sumOf = (json: string): string => zlib.crc32(json).toString(16).padStart(sumChars, "0");

/** `torn`: its writer was killed, or the disk was full. `damaged`: it was changed later, or it is of another version. */
export type DecodedLine = LogRecord | "torn" | "damaged";

/** The smallest unit in which a system accepts written bytes; a kill leaves whole ones. */
const pageBytes = 4_096;

/** `endByte`: where the line ends in its file. `isLast`: nothing follows, not even a newline. */
export function decodeLine(line: string, endByte: number, isLast: boolean): DecodedLine {
  const json = line.slice(sumChars + 1);
  if (line[sumChars] === " " && line.slice(0, sumChars) === sumOf(json)) {
    const value = parsed(json);
    return (isRecord(value) ? recordIn(value) : undefined) ?? "damaged";
  }
  if (isLast) return "torn";
  const isCut = endByte % pageBytes === 0 && /^[0-9a-f]*(?: |$)/.test(line) && !line.includes("\0");
  return isCut && parsed(json) === undefined ? "torn" : "damaged";
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

// The checksum proves that a record is whole, not that this version of the program understands it.

type Fields = Readonly<Record<string, unknown>>;

function recordIn(fields: Fields): LogRecord | undefined {
  switch (fields["type"]) {
    case "call":
      return callIn(fields);
    case "question":
      return questionIn(fields);
    case "answer":
      return answerIn(fields);
    case "gap":
      return gapIn(fields);
    default:
      return undefined;
  }
}

function callIn(fields: Fields): LoggedCall | undefined {
  const origin = originIn(fields);
  const [dialect, outcome, startedMs] = [text(fields["dialect"]), text(fields["outcome"]), time(fields["startedMs"])];
  if (origin === undefined || dialect === null || outcome === null || startedMs === undefined) return undefined;
  const changes = Array.isArray(fields["changes"]) ? fields["changes"].flatMap(changeIn) : [];
  return {
    type: "call",
    ...origin,
    dialect,
    // Codes and verbs of other versions are shown as they are.
    outcome: outcome as LoggedCall["outcome"],
    verb: text(fields["verb"]) as LoggedCall["verb"],
    tool: text(fields["tool"]),
    path: text(fields["path"]),
    hidden: fields["hidden"] === true,
    reason: text(fields["reason"]),
    range: rangeIn(fields["range"]),
    startedMs,
    elapsedMs: count(fields["elapsedMs"]),
    tokensGiven: count(fields["tokensGiven"]),
    tokensSaved: count(fields["tokensSaved"]),
    changes,
    changesTotal: Math.max(changes.length, count(fields["changesTotal"])),
    dryRun: fields["dryRun"] === true,
    turn: text(fields["turn"]),
  };
}

function questionIn(fields: Fields): LoggedQuestion | undefined {
  const [origin, id, timeMs] = [originIn(fields), text(fields["id"]), time(fields["timeMs"])];
  const permission = permissions.find((one) => one === fields["permission"]);
  if (origin === undefined || id === null || timeMs === undefined || permission === undefined) return undefined;
  const [path, hidden] = [text(fields["path"]), fields["hidden"] === true];
  return {
    type: "question",
    ...origin,
    id,
    permission,
    path,
    hidden,
    timeMs,
    untilMs: time(fields["untilMs"]) ?? null,
  };
}

const permissions = ["read", "edit", "external_directory"] as const satisfies readonly LoggedQuestion["permission"][];

function answerIn(fields: Fields): LoggedAnswer | undefined {
  const [id, timeMs] = [text(fields["id"]), time(fields["timeMs"])];
  return id === null || timeMs === undefined ? undefined : { type: "answer", pid: count(fields["pid"]), id, timeMs };
}

function gapIn(fields: Fields): LoggedGap | undefined {
  const timeMs = time(fields["timeMs"]);
  return timeMs === undefined
    ? undefined
    : { type: "gap", pid: count(fields["pid"]), count: count(fields["count"]), timeMs };
}

function originIn(fields: Fields): LogOrigin | undefined {
  const session = text(fields["session"]);
  const roots = Array.isArray(fields["roots"]) ? fields["roots"].filter((root) => typeof root === "string") : [];
  if (session === null || roots.length === 0) return undefined;
  const [principal, client] = [text(fields["principal"]), text(fields["client"])];
  return { roots, pid: count(fields["pid"]), session, sessionMs: time(fields["sessionMs"]) ?? 0, principal, client };
}

function changeIn(value: unknown): LoggedCall["changes"] {
  if (!isRecord(value)) return [];
  const path = text(value["path"]);
  const did = deeds.find((one) => one === value["did"]);
  if (path === null || did === undefined) return [];
  const [additions, deletions] = [count(value["additions"]), count(value["deletions"])];
  return [{ path, did, movedFrom: text(value["movedFrom"]), additions, deletions }];
}

const deeds = [
  "created",
  "updated",
  "deleted",
  "moved",
] as const satisfies readonly LoggedCall["changes"][number]["did"][];

function rangeIn(value: unknown): CallRange | null {
  if (!isRecord(value)) return null;
  const of = parts.find((one) => one === value["of"]);
  if (of === undefined) return null;
  const end = (one: unknown): number | null => (typeof one === "number" ? count(one) : null);
  return { of, from: count(value["from"]), to: end(value["to"]), total: end(value["total"]) };
}

const parts = ["lines", "pages", "cells", "entries"] as const satisfies readonly CallRange["of"][];

const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
const count = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : 0;
/** A time that can be shown as a date. */
const time = (value: unknown): number | undefined =>
  typeof value === "number" && value >= 0 && value <= 8.64e15 ? value : undefined;

// The lines of a file from its end, in chunks: whatever its size, no more is in memory than a chunk and one line.

export interface LineAt {
  /** The bytes of the line, without its newline. */
  readonly from: number;
  readonly to: number;
  /** Undefined if it is longer than any record. */
  readonly text: string | undefined;
  readonly isLast: boolean;
}

/**
 * Feed it the chunks from the last to the first; `start` is where a chunk begins. It returns the lines, the last one first. The lines
 * before `firstByte`, where a line begins, are not fed.
 */
export function backwardLines(endByte: number, firstByte = 0) {
  /** The end of a line that begins in an earlier chunk, its last part first. */
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let lineEnd = endByte;
  let isLast = true;

  const lineFrom = (from: number, head: Buffer): LineAt => {
    const isTooLong = lineEnd - from > limits.callLogLineBytesMax;
    const text = isTooLong ? undefined : Buffer.concat([head, ...tail.toReversed()]).toString("utf8");
    [tail, tailBytes] = [[], 0];
    return { from, to: lineEnd, text, isLast };
  };

  return {
    feed(chunk: Buffer, start: number): readonly LineAt[] {
      const lines: LineAt[] = [];
      const take = (from: number, head: Buffer): void => {
        const line = lineFrom(from, head);
        if (line.to > line.from) lines.push(line);
      };
      let to = chunk.length;
      for (let at = chunk.lastIndexOf(newline); at >= 0; at = at === 0 ? -1 : chunk.lastIndexOf(newline, at - 1)) {
        take(start + at + 1, chunk.subarray(at + 1, to));
        [lineEnd, to, isLast] = [start + at, at, false];
      }
      const head = chunk.subarray(0, to);
      if (start === firstByte) take(start, head);
      else if (tailBytes <= limits.callLogLineBytesMax) {
        // A longer line is skipped, so its bytes are not kept.
        tail.push(head);
        tailBytes += head.length;
      }
      return lines;
    },
    /** Where to go on later: the end of the line that has not been returned yet, or `start` within one that is too long. */
    resumeAt: (start: number): number => (tailBytes > limits.callLogLineBytesMax ? start : lineEnd),
  };
}
