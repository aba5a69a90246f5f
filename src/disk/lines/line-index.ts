/**
 * The number of newlines in each block of a file, so that any line is a seek. An index belongs to one state of one file and is
 * valid only for that identity. A grown file is counted anew: only reading it all shows whether it also changed inside, and
 * counting is the fastest way to read it all.
 */

import { createHash } from "node:crypto";
import type { NewlineForm } from "../../text/text.ts";
import type { Identity } from "../lookup/lookup.ts";

export const blockBytes = 65_536;

export interface LineIndex {
  readonly form: NewlineForm;
  readonly identity: Identity;
  /** A multiple of `blockBytes`, or the size of the file. */
  readonly scannedBytes: number;
  /** Newlines before each block; one number more than there are blocks. */
  readonly sums: ArrayLike<number>;
  /** Whether the last character is a newline; valid once the whole file was scanned. */
  readonly lastIsNewline: boolean;
}

export const hashOf = (bytes: Uint8Array): Buffer => createHash("sha256").update(bytes).digest();

/** The hash of a text in UTF-8. `ascii` promises that it is ASCII, which is faster. */
export const hashOfText = (text: string, ascii: boolean): Buffer =>
  createHash("sha256")
    .update(text, ascii ? "latin1" : "utf8")
    .digest();

export const isComplete = (index: LineIndex): boolean => index.scannedBytes === index.identity.sizeBytes;

export const isSameState = (a: Identity, b: Identity): boolean =>
  a.device === b.device &&
  a.inode === b.inode &&
  a.sizeBytes === b.sizeBytes &&
  a.mtimeNs === b.mtimeNs &&
  a.ctimeNs === b.ctimeNs;
