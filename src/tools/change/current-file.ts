/** A file that is about to be changed: its current bytes, its encoding, its fingerprint. */

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
import type { ChangeRules, ToolContext } from "../tool.ts";

export interface CurrentFile {
  readonly target: Target;
  readonly file: OpenFile;
  readonly form: { readonly encoding: EncodingName; readonly bomBytes: number };
  /** All of it; undefined if it is too large for memory, or if it was not read yet (`Holds`, `whole`). */
  readonly bytes: Buffer | undefined;
  /** The first bytes, if the rest was not read and the encoding was guessed from them alone; else undefined. */
  readonly head: Buffer | undefined;
  /** Its text, decoded on the first call; `bytes` MUST be defined. */
  readonly source: () => SourceText;
  readonly seen: Seen;
  readonly rules: Pick<ChangeRules, "readFirst" | "staleness">;
  /** The same file with its `bytes`, unless it is too large for memory. */
  readonly whole: () => Promise<CurrentFile>;
  readonly fingerprint: FileFingerprint;
  /** The encoding to remember, if it cannot be recognised from the bytes alone, before or after the change. */
  readonly remember: EncodingName | undefined;
}

/** The file before the ledger check. */
export type UncheckedCurrentFile = Omit<CurrentFile, "seen" | "rules" | "whole">;

export type Wants =
  /** A notebook that the dialect shows as cells is refused. */
  | "text"
  /** As text, notebooks included. */
  | "notebook"
  /** Any content, neither recognised nor decoded. */
  | "bytes";

/** When the bytes are read into memory. `if need be`: the plan can stream a large file, and calls `whole()` if it cannot. */
export type Holds = "at once" | "if need be";

/** Throws if the file is of a kind that `wants` does not cover. */
export async function readCurrentFile(
  file: OpenFile,
  target: Target,
  profile: Profile,
  wants: Wants,
  context: ToolContext,
  holds: Holds = "at once",
): Promise<UncheckedCurrentFile> {
  let bytes: Buffer | undefined;
  const fingerprint = fingerprintOf(file, undefined, () => bytes);
  if (wants === "bytes") return asBytes(file, target, fingerprint);
  const scratch = takeBuffer();
  try {
    const text = await readAsText(file, target, profile, wants, scratch, context, fingerprint);
    const isComplete = text.whole !== undefined && text.whole.length === file.sizeBytes;
    const isStreamed = holds === "if need be" && mayBeStreamed(file) && (await beginsAsUtf8(text));
    const bytesMax = isStreamed ? 0 : limits.editInMemoryBytesMax;
    bytes = isComplete ? Buffer.from(text.whole) : await wholeFile(file, bytesMax);
    let valid: boolean | undefined;
    const isValid = (whole: Buffer): boolean => (valid ??= isUtf8(whole)); // a millisecond for 10 MB
    const encoding = text.form?.encoding ?? text.guess?.encoding ?? (await encodingOf(text, bytes, isValid));
    const form = { encoding, bomBytes: text.form?.bomBytes ?? 0 };
    const isRecognisable = form.bomBytes > 0 || (encoding === "utf-8" && (bytes === undefined || isValid(bytes)));
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
      remember: isRecognisable ? undefined : encoding,
    };
  } finally {
    giveBuffer(scratch);
  }
}

/** Large, and its mtime is old enough to show a later change. Otherwise the comparison needs the bytes. */
const mayBeStreamed = ({ sizeBytes, identity }: OpenFile): boolean =>
  sizeBytes >= limits.editPassedBytesMin && !isRacy(identity);

/** In other encodings, such as UTF-16, text cannot always be searched for in the bytes. */
const beginsAsUtf8 = async (text: TextFile): Promise<boolean> =>
  text.guess === undefined && (text.form ?? (await startDecoding(text))).encoding === "utf-8";

async function asBytes(file: OpenFile, target: Target, fingerprint: FileFingerprint): Promise<UncheckedCurrentFile> {
  const bytes = await wholeFile(file, limits.editInMemoryBytesMax);
  const form = { encoding: "utf-8", bomBytes: 0 } as const;
  const source = (): SourceText => sourceText(bytes ?? Buffer.alloc(0), form);
  return { target, file, form, bytes, head: undefined, source, fingerprint, remember: undefined };
}

async function readAsText(
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

/** A damaged notebook is shown, and can be repaired, as text. One that is too large is not shown at all. */
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

/** The hash of some lines as Read shows them, to compare with what the session was shown. */
export async function hashOfView(
  { from, to }: LineSpan,
  file: OpenFile,
  target: Target,
  profile: Profile,
  context: ToolContext,
): Promise<string | undefined> {
  const scratch = takeBuffer();
  try {
    const text = await readAsText(file, target, profile, "notebook", scratch, context, fingerprintOf(file));
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
