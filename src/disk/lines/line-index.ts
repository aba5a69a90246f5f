/**
 * How many newlines the blocks of a file have, so that any line is a seek. An index belongs to one state of one file and is
 * used only while its identity is the same. A file that has grown is counted anew: nothing but reading it all tells whether
 * it was also changed inside, and counting is the quickest way to read it all.
 */

import { createHash } from "node:crypto";
import type { NewlineForm } from "../../text/text.ts";
import type { Identity } from "../lookup/lookup.ts";

export const blockBytes = 65_536;

export interface LineIndex {
  readonly form: NewlineForm;
  readonly identity: Identity;
  /** A multiple of `blockBytes`, or the whole file. */
  readonly scannedBytes: number;
  /** Newlines before each block; one number more than blocks. */
  readonly sums: ArrayLike<number>;
  /** Is the last character a newline? Known when the whole file was scanned. */
  readonly lastIsNewline: boolean;
}

export const hashOf = (bytes: Uint8Array): Buffer => createHash("sha256").update(bytes).digest();

/** Of a text in UTF-8. `ascii` is a promise that makes it quicker. */
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
