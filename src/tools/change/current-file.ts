/** A file that is about to be changed: what is in it now, and how its bytes are understood. */

import { isUtf8 } from "node:buffer";
import { limits } from "../../contract/limits.ts";
import { type LineSpan, Problem } from "../../contract/problem.ts";
import type { Profile } from "../../contract/profile.ts";
import type { EncodingName, Page } from "../../contract/read.ts";
import { lineNumber, type Target } from "../../contract/target.ts";
import { giveBuffer, isRacy, type OpenFile, takeBuffer, wholeFile } from "../../disk/disk.ts";
import { mediaOf, readText, startDecoding, type TextFile } from "../../kinds/kinds.ts";
import type { FileFingerprint, Seen } from "../../session/session.ts";
import { sourceText, type SourceText } from "../../text/text.ts";
import { fingerprintOf, asTextFile, viewHash } from "../fingerprint.ts";
import type { ToolContext } from "../tool.ts";

export interface CurrentFile {
  readonly target: Target;
  readonly file: OpenFile;
  readonly form: { readonly encoding: EncodingName; readonly bomBytes: number };
  /** All of it; undefined where that would be too much to hold, or where it is not held before somebody asks (`whole`). */
  readonly bytes: Buffer | undefined;
  /** The beginning of one that is not held and whose encoding only this beginning speaks for; else undefined. */
  readonly head: Buffer | undefined;
  /** Its text, made when it is asked for; there MUST be bytes. */
  readonly source: () => SourceText;
  readonly seen: Seen;
  /** The same with its bytes, unless those are too many. */
  readonly whole: () => Promise<CurrentFile>;
  readonly fingerprint: FileFingerprint;
  /** What is to be remembered of it, since the bytes may not tell after the change. */
  readonly remember: EncodingName | undefined;
}

/** As it is read, before it is known whether its author has seen it. */
export type JudgedCurrentFile = Omit<CurrentFile, "seen" | "whole">;

/** A notebook is edited as the text that it is, unless the dialect shows it as cells. */
export type Wants =
  | "text"
  | "notebook"
  /** Whatever it is: it is not looked into. */
  | "bytes";

/** `if need be`: whoever plans may find in passing what is to be changed, and then holds nothing of a large file. */
export type Holds = "at once" | "if need be";

/** Throws the Problem that a file of another kind is. */
export async function readBefore(
  file: OpenFile,
  target: Target,
  profile: Profile,
  wants: Wants,
  context: ToolContext,
  holds: Holds = "at once",
): Promise<JudgedCurrentFile> {
  let bytes: Buffer | undefined;
  const fingerprint = fingerprintOf(file, undefined, () => bytes);
  if (wants === "bytes") return asBytes(file, target, fingerprint);
  const scratch = takeBuffer();
  try {
    const text = await recognised(file, target, profile, wants, scratch, context, fingerprint);
    const isWhole = text.whole !== undefined && text.whole.length === file.sizeBytes;
    const waits = holds === "if need be" && mayWait(file) && (await beginsAsUtf8(text));
    const bytesMax = waits ? 0 : limits.editInMemoryBytesMax;
    bytes = isWhole ? Buffer.from(text.whole) : await wholeFile(file, bytesMax);
    let valid: boolean | undefined;
    const isValid = (whole: Buffer): boolean => (valid ??= isUtf8(whole)); // a millisecond for 10 MB
    const encoding = text.form?.encoding ?? text.guess?.encoding ?? (await encodingOf(text, bytes, isValid));
    const form = { encoding, bomBytes: text.form?.bomBytes ?? 0 };
    const tells = form.bomBytes > 0 || (encoding === "utf-8" && (bytes === undefined || isValid(bytes)));
    const guessed = bytes === undefined && text.form === undefined && text.guess === undefined && encoding === "utf-8";
    const head = guessed ? Buffer.from(await text.head()) : undefined;
    let source: SourceText | undefined;
    return {
      target,
      file,
      form,
      bytes,
      head,
      source: () => (source ??= sourceText(bytes ?? Buffer.alloc(0), form)),
      fingerprint,
      remember: tells ? undefined : encoding,
    };
  } finally {
    giveBuffer(scratch);
  }
}

/** Of a file that was just changed the bytes are wanted, to compare them before it is replaced: its times tell too little. */
const mayWait = ({ sizeBytes, identity }: OpenFile): boolean =>
  sizeBytes >= limits.editPassedBytesMin && !isRacy(identity);

/** The encodings in which letters cannot be looked for in the bytes are among the others. */
const beginsAsUtf8 = async (text: TextFile): Promise<boolean> =>
  text.guess === undefined && (text.form ?? (await startDecoding(text))).encoding === "utf-8";

async function asBytes(file: OpenFile, target: Target, fingerprint: FileFingerprint): Promise<JudgedCurrentFile> {
  const bytes = await wholeFile(file, limits.editInMemoryBytesMax);
  const form = { encoding: "utf-8", bomBytes: 0 } as const;
  const source = (): SourceText => sourceText(bytes ?? Buffer.alloc(0), form);
  return { target, file, form, bytes, head: undefined, source, fingerprint, remember: undefined };
}

async function recognised(
  file: OpenFile,
  target: Target,
  profile: Profile,
  wants: Wants,
  scratch: Buffer,
  context: ToolContext,
  fingerprint: FileFingerprint,
): Promise<TextFile> {
  const encoding = await context.ledger.encodingOf(target.real, fingerprint);
  const text = await asTextFile(file, target, profile, scratch, context, encoding);
  const shownAsCells = profile.kinds.notebook === "read" && wants === "text";
  if (
    shownAsCells &&
    mediaOf(target.real, await text.head()) === "notebook" &&
    (await showsCells(file, target, context))
  ) {
    throw new Problem({ code: "INVALID_PARAM", reason: "edit", place: target, fault: "notebook" });
  }
  return text;
}

/** A damaged notebook is shown as text, and repaired as such. One that is too large is not shown at all. */
async function showsCells(file: OpenFile, target: Target, { signal }: ToolContext): Promise<boolean> {
  const { hasCells } = await import("../../kinds/notebook.ts");
  const bytes = await wholeFile(file, limits.documentBytesMax);
  return bytes === undefined || hasCells(bytes, target, signal);
}

/** UTF-8 until the bytes say otherwise, as for Read. */
async function encodingOf(
  text: TextFile,
  bytes: Buffer | undefined,
  isValid: (whole: Buffer) => boolean,
): Promise<EncodingName> {
  if (bytes !== undefined && isValid(bytes)) return "utf-8";
  const decoder = await startDecoding(text);
  if (bytes !== undefined) await decoder.text(bytes);
  return decoder.encoding;
}

/** A part of a file as Read showed it, to see whether it is still the same. */
export async function hashOfView(
  { from, to }: LineSpan,
  file: OpenFile,
  target: Target,
  profile: Profile,
  context: ToolContext,
): Promise<string | undefined> {
  const scratch = takeBuffer();
  try {
    const text = await recognised(file, target, profile, "notebook", scratch, context, fingerprintOf(file));
    const request = {
      verb: "read",
      path: target.asked,
      ranges: [{ from: lineNumber(from), linesMax: to - from + 1 }],
      overBudget: "first page",
      profile: { ...profile, pageTokensMax: undefined, pastEnd: "empty" },
    } as const;
    const scanning = { store: context.indexes, signal: context.signal, onProgress: undefined };
    const page: Page = (await readText(text, request, scanning)).pages[0];
    return viewHash(page);
  } finally {
    giveBuffer(scratch);
  }
}
