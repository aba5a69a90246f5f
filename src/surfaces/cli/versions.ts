/** Versions of files as people see them: their content, and what differs between two of them. */

import { isUtf8 } from "node:buffer";
import type { SessionHistory } from "../../api.ts";
import type { Hunk } from "../../contract/edit.ts";
import type { FileVersion, NotKept } from "../../contract/history.ts";
import { readNamedFile } from "../../settings/named-file.ts";
import { hunksOfTexts } from "../../text/hunks.ts";

/** Of one side of a diff: what is longer is not looked at on a screen. */
const diffBytesMax = 33_554_432;

const notKeptWords = {
  secret: "it holds secrets and is never stored",
  "too large": "it was too large to be kept",
  failed: "it could not be kept",
} as const satisfies Record<NotKept, string>;

/** One side: the bytes, none because there was no file, or words why they cannot be had. */
export type Side = Uint8Array | "absent" | { readonly why: string };

type Kept = Exclude<Awaited<ReturnType<SessionHistory["open"]>>, string>;

/** Close what it answers with. */
export async function openVersion(
  version: Extract<FileVersion, { readonly kind: "file" }>,
  turns: SessionHistory,
): Promise<Kept | { readonly why: string }> {
  if (version.notKept !== undefined) return { why: notKeptWords[version.notKept] };
  if (version.content === undefined) return { why: notKeptWords.failed };
  return openContent(version.content, turns);
}

async function openContent(content: string, turns: SessionHistory): Promise<Kept | { readonly why: string }> {
  const kept = await turns.open(content);
  if (kept === "missing") return { why: "its content is no longer kept" };
  return kept === "damaged" ? { why: "what was kept of it is damaged, see filehand history verify" } : kept;
}

export async function sideOf(version: FileVersion, turns: SessionHistory): Promise<Side> {
  return version.kind === "absent" ? "absent" : wholeOf(await openVersion(version, turns));
}

export const sideOfContent = async (content: string, turns: SessionHistory): Promise<Side> =>
  wholeOf(await openContent(content, turns));

async function wholeOf(file: Kept | { readonly why: string }): Promise<Side> {
  if ("why" in file) return file;
  try {
    if (file.sizeBytes > diffBytesMax) return { why: `it has ${file.sizeBytes} bytes, too many for a diff` };
    const bytes = Buffer.alloc(file.sizeBytes);
    await file.read(bytes, 0);
    return bytes;
  } finally {
    file.close();
  }
}

/** A file as it is now. */
export const sideOnDisk = (path: string): Side => readNamedFile(path, diffBytesMax);

export interface VersionDiff {
  /** What happened to the file as a whole; null if only its content changed. */
  readonly became: "new" | "deleted" | null;
  readonly additions: number;
  readonly deletions: number;
  readonly hunks: readonly Hunk[];
  /** Why there are no hunks. */
  readonly note: string | null;
}

const noHunks = { additions: 0, deletions: 0, hunks: [] } as const;

export function diffOfSides(before: Side, after: Side): VersionDiff {
  const became = before === "absent" ? "new" : after === "absent" ? "deleted" : null;
  if (before === "absent" && after === "absent")
    return { became: null, ...noHunks, note: "it was there only in between" };
  const [a, b] = [bytesOf(before), bytesOf(after)];
  if ("why" in a) return { became, ...noHunks, note: `not shown: ${a.why}` };
  if ("why" in b) return { became, ...noHunks, note: `not shown: ${b.why}` };
  if (Buffer.compare(a, b) === 0) return { became, ...noHunks, note: became === null ? "no difference" : "empty" };
  if (a.includes(0) || b.includes(0)) {
    return { became, ...noHunks, note: `not text: ${a.length} bytes before, ${b.length} after` };
  }
  // Bytes that are no UTF-8 stand for themselves, on both sides, or every line with one would differ.
  const encoding = isUtf8(a) && isUtf8(b) ? "utf8" : "latin1";
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString(encoding);
  const { hunks, additions, deletions } = hunksOfTexts(text(a), text(b));
  return { became, additions, deletions, hunks, note: null };
}

const bytesOf = (side: Side): Uint8Array | { readonly why: string } => (side === "absent" ? new Uint8Array() : side);
