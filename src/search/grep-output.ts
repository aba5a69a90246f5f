import { type GrepQuery, spanArguments } from "./grep-arguments.ts";
import { type RipgrepRun, runRipgrep } from "./ripgrep.ts";

/**
 * What ripgrep prints, chunk by chunk. It is asked for numbers, not for text: where a line is and where its match begins.
 * So a line of 10 MB costs as much as a short one, and what an answer shows is read by ourselves, through the one door.
 *
 * In `content` a file is `./path`, NUL, then its lines: `12:5:340:` (line, column of the first match, byte offset) before
 * what stands for a matching line, `13-360-` before one of context. An empty line parts files. In `count` it is
 * `./path`, NUL, number, newline; in `files` `./path`, NUL. A name may hold anything but NUL, newlines too.
 */

export interface OutputTaker {
  /** The bytes are valid during the call only. */
  file(path: Buffer): void;
  line?(line: FoundLine): void;
  count?(lines: number): void;
  /** ripgrep stopped in this file, or passed over its lines, because it is binary. */
  binaryFile?(): void;
}

export interface FoundLine {
  readonly line: number;
  /** In bytes from 1 on; 0 for a line of context. */
  readonly column: number;
  /** Where the line begins, in bytes behind a byte order mark. */
  readonly offset: number;
}

export interface OutputReader {
  feed(chunk: Buffer): void;
}

const newline = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;
const dash = 0x2d;

/** `only`: the output is about one file, which is not named. */
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
    // With one thread the line that parts files ends as those of Windows do.
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

/** `next` takes one record from a place on and says where the next one begins; -1 if it is not whole yet. */
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

// Which parts of lines match, for whoever shows them in another colour: ripgrep is asked again, about these lines only.

/** From and to, in UTF-16 units of the line. */
export type Span = readonly [number, number];

/** For each line its matches, in order. A match that reaches over lines is not found in them. */
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
    const { data } = JSON.parse(message) as MatchMessage; // as ripgrep documents it
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
