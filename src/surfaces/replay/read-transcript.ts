/** Recognises a transcript by its content and reads it step by step: memory grows with a line, not with the file. */

import { isRecord } from "../../contract/common.ts";
import { chunksOf, rowsOfDatabase, type Scratch, smallFile, type Transcript } from "../../state/state.ts";
import { parseJson } from "../../text/text.ts";
import { Lines } from "../mcp/stdio-wire.ts";
import { isClaudeCode, readClaudeCode } from "./claude-code.ts";
import { isCodex, readCodex } from "./codex.ts";
import type { JsonRecord, Step, TranscriptReader } from "./conversation.ts";
import { isGeminiCli, readGeminiCli } from "./gemini-cli.ts";
import { isNeutral, readNeutral } from "./neutral.ts";
import { isOpencode, readOpencode } from "./opencode.ts";

/** Every format that is known: how a value of it is recognised, and its reader. */
const formats: readonly { readonly is: (value: JsonRecord) => boolean; readonly reader: () => TranscriptReader }[] = [
  { is: isNeutral, reader: readNeutral },
  { is: isCodex, reader: readCodex },
  { is: isGeminiCli, reader: readGeminiCli },
  { is: isOpencode, reader: readOpencode },
  { is: isClaudeCode, reader: readClaudeCode },
];

export const readerFor = (value: JsonRecord): TranscriptReader | undefined =>
  formats.find(({ is }) => is(value))?.reader();

/** One sentence for all that is accepted. */
export const acceptedWords =
  "name a transcript of Claude Code (~/.claude/projects), Codex (~/.codex/sessions), Gemini CLI (~/.gemini/tmp/*/chats) or opencode (its storage folder, opencode.db or the output of opencode export), or calls in the neutral form (docs/explanation/benchmark.md)";

/** Bytes of a line; longer ones, such as those with large pictures, are skipped. */
const lineBytesMax = 16_777_216;
/** Bytes of a transcript that is one JSON document, and objects and lists in it. */
const documentBytesMax = 67_108_864;
const documentPartsMax = 500_000; // parsed in one turn, before anything else happens
/** Lines in which a transcript must be recognised. */
const headLinesMax = 50;

export interface ReadEvents {
  onStep(step: Step): Promise<void>;
  onBytes(bytes: number): void;
  onLineSkipped(): void;
}

/** `unknown`: nothing in it looks like a known format. `why`: words to follow `Cannot read "x": `. */
export type ReadResult = "read" | "unknown" | { readonly why: string };

const databaseMark = "SQLite format 3\0";

export async function readTranscript(
  transcript: Transcript,
  scratch: Scratch,
  events: ReadEvents,
): Promise<ReadResult> {
  if (transcript.is === "parts") return readParts(transcript.files(), events);
  let reader: TranscriptReader | undefined;
  let lines = 0;
  /** Values before the first that says what it is. */
  let before: JsonRecord[] = [];
  const take = async (value: JsonRecord): Promise<void> => {
    before.push(value);
    reader ??= readerFor(value);
    if (reader === undefined) return;
    for (const one of before) for (const step of reader.feed(one)) await events.onStep(step);
    before = [];
  };
  const wire = new Lines(lineBytesMax);
  let isFirst = true;
  const takeLine = async (line: ReturnType<Lines["finish"]>): Promise<void> => {
    if (line === undefined) return;
    lines += 1;
    const value = "text" in line ? recordOf(line.text) : undefined;
    if (value === undefined) events.onLineSkipped();
    else await take(value);
  };
  for await (const chunk of chunksOf(transcript.path)) {
    if (isFirst && chunk.subarray(0, databaseMark.length).toString("latin1") === databaseMark) {
      return readDatabase(transcript.path, scratch, events);
    }
    isFirst = false;
    events.onBytes(chunk.length);
    for (const line of wire.feed(chunk)) {
      await takeLine(line);
      if (reader === undefined && lines >= headLinesMax)
        return readDocument(transcript, take, () => reader !== undefined);
    }
  }
  await takeLine(wire.finish());
  if (reader === undefined) return readDocument(transcript, take, () => reader !== undefined);
  for (const step of reader.finish()) await events.onStep(step);
  return "read";
}

function recordOf(text: string, partsMax?: number): JsonRecord | undefined {
  const parsed = parseJson(text, partsMax);
  return "value" in parsed && isRecord(parsed.value) ? parsed.value : undefined;
}

/** A document over several lines, as older versions of Gemini CLI and `opencode export` write it. */
async function readDocument(
  { path, sizeBytes }: Transcript,
  take: (value: JsonRecord) => Promise<void>,
  isKnown: () => boolean,
): Promise<ReadResult> {
  const bytes = smallFile(path, documentBytesMax);
  const [first] = (bytes?.subarray(0, 64).toString("latin1") ?? "").trimStart();
  if (bytes === undefined && sizeBytes > documentBytesMax) {
    return {
      why: `it is no transcript with one record a line, and as one document it is too large (${sizeBytes} bytes, the most is ${documentBytesMax})`,
    };
  }
  const value = bytes === undefined || first !== "{" ? undefined : recordOf(bytes.toString("utf8"), documentPartsMax);
  if (value === undefined) return "unknown";
  await take(value);
  return isKnown() ? "read" : "unknown";
}

async function readDatabase(path: string, scratch: Scratch, events: ReadEvents): Promise<ReadResult> {
  const reader = readOpencode();
  const rows = rowsOfDatabase(path, scratch);
  for (;;) {
    const row = rows.next();
    if (row.done === true) return row.value ?? "read";
    const value = row.value.length > lineBytesMax ? undefined : recordOf(row.value);
    if (value === undefined) events.onLineSkipped();
    else for (const step of reader.feed(value)) await events.onStep(step);
  }
}

async function readParts(files: readonly string[], events: ReadEvents): Promise<ReadResult> {
  const reader = readOpencode();
  for (const file of files) {
    const text = smallFile(file, lineBytesMax)?.toString("utf8");
    const value = text === undefined ? undefined : recordOf(text);
    if (value === undefined) events.onLineSkipped();
    else for (const step of reader.feed(value)) await events.onStep(step);
  }
  return "read";
}
