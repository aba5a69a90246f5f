/**
 * Parses ripgrep's output, chunk by chunk. ripgrep is asked for numbers, not for text: where a line is and where its match
 * begins. So a line of 10 MB costs as much as a short one, and the text of an answer is read through the guard.
 *
 * In `content` a file is `./path`, NUL, then its lines: `12:5:340:` (line, column of the first match, byte offset) before
 * the notice for a matching line, `13-360-` before a context line. An empty line separates files. In `count` it is
 * `./path`, NUL, number, newline; in `files` `./path`, NUL. A name may contain any byte but NUL, newlines too.
 */

import { type GrepQuery, spanArguments } from "./grep-arguments.ts";
import { type RipgrepRun, runRipgrep } from "./ripgrep.ts";

export interface OutputTaker {
  /** The bytes are valid during the call only. */
  file(path: Buffer): void;
  line?(line: FoundLine): void;
  count?(lines: number): void;
  /** ripgrep stopped in this file or skipped its lines because it is binary. */
  binaryFile?(): void;
}

export interface FoundLine {
  readonly line: number;
  /** In bytes, from 1; 0 for a context line. */
  readonly column: number;
  /** Where the line begins, in bytes after a byte order mark. */
  readonly offset: number;
}

export interface OutputReader {
  feed(chunk: Buffer): void;
}

const newline = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;
const dash = 0x2d;

/** `only`: the output is about one file and does not name it. */
export function readContent(taker: OutputTaker, only: boolean): OutputReader {
  let at: "path" | "lines" = only ? "lines" : "path";
  return inRecords((bytes, from) => {
    if (at === "path") {
      const end = bytes.indexOf(0, from);
      if (end < 0) return -1;
      taker.file(bytes.subarray(from, end));
      at = "lines";
      return end + 1;
    }
    const end = bytes.indexOf(newline, from);
    if (end < 0) return -1;
    // With one thread and `--crlf` the separator line ends with CRLF.
    if (end === from || (end === from + 1 && bytes[from] === carriageReturn)) at = "path";
    else takeLine(bytes, from, end, taker);
    return end + 1;
  });
}

export function readCounts(taker: OutputTaker, only: boolean): OutputReader {
  return inRecords((bytes, from) => {
    const name = only ? from - 1 : bytes.indexOf(0, from);
    const end = name < 0 && !only ? -1 : bytes.indexOf(newline, name + 1);
    if (end < 0) return -1;
    if (!only) taker.file(bytes.subarray(from, name));
    taker.count?.(Number(bytes.toString("latin1", name + 1, end)));
    return end + 1;
  });
}

export function readFiles(taker: OutputTaker): OutputReader {
  return inRecords((bytes, from) => {
    const end = bytes.indexOf(0, from);
    if (end < 0) return -1;
    taker.file(bytes.subarray(from, end));
    return end + 1;
  });
}

/** `next` parses one record and returns where the next one begins; -1 if the record is incomplete. */
function inRecords(next: (bytes: Buffer, from: number) => number): OutputReader {
  let rest: Buffer | undefined;
  return {
    feed(chunk) {
      const bytes = rest === undefined ? chunk : Buffer.concat([rest, chunk]);
      let from = 0;
      while (from < bytes.length) {
        const to = next(bytes, from);
        if (to < 0) break;
        from = to;
      }
      rest = from < bytes.length ? Buffer.from(bytes.subarray(from)) : undefined;
    },
  };
}

function takeLine(bytes: Buffer, from: number, end: number, taker: OutputTaker): void {
  const first = digits(bytes, from, end);
  const mark = bytes[first.end];
  if (first.end === from || (mark !== colon && mark !== dash)) {
    taker.binaryFile?.();
    return;
  }
  const second = digits(bytes, first.end + 1, end);
  if (mark === dash) {
    taker.line?.({ line: first.value, column: 0, offset: second.value });
    return;
  }
  const third = digits(bytes, second.end + 1, end);
  taker.line?.({ line: first.value, column: second.value, offset: third.value });
}

function digits(bytes: Buffer, from: number, end: number): { readonly value: number; readonly end: number } {
  let value = 0;
  let at = from;
  for (; at < end; at += 1) {
    const digit = (bytes[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  return { value, end: at };
}

// Which parts of lines match, for surfaces that highlight them: ripgrep runs again, on these lines only.

/** Start and end, in UTF-16 units of the line. */
export type Span = readonly [number, number];

/** The matches of each line, in order. A match that spans lines is not found. */
export async function matchSpans(
  lines: readonly string[],
  query: Pick<GrepQuery, "pattern" | "letterCase">,
  run: Pick<RipgrepRun, "cwd" | "signal" | "notBeneath">,
): Promise<readonly (readonly Span[])[]> {
  const spans: Span[][] = lines.map(() => []);
  const chunks: Buffer[] = [];
  await runRipgrep(spanArguments(query), {
    ...run,
    input: Buffer.from(lines.map((line) => line.replace(/[\r\n\0]/g, " ")).join("\n")),
    onChunk: (chunk) => {
      chunks.push(chunk);
      return "more";
    },
  });
  for (const message of Buffer.concat(chunks).toString("utf8").split("\n")) {
    if (!message.startsWith('{"type":"match"')) continue;
    const { data } = JSON.parse(message) as MatchMessage; // ripgrep documents this format
    const text = lines[data.line_number - 1] ?? "";
    const bytes = Buffer.from(text);
    const at = (byte: number): number =>
      bytes.length === text.length ? byte : bytes.subarray(0, byte).toString("utf8").length;
    for (const { start, end } of data.submatches) {
      if (end > start) spans[data.line_number - 1]?.push([at(start), at(end)]);
    }
  }
  return spans;
}

interface MatchMessage {
  readonly data: {
    readonly line_number: number;
    readonly submatches: readonly { readonly start: number; readonly end: number }[];
  };
}
