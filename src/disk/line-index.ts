/**
 * How many newlines the blocks of a file have, so that any line is a seek. An index belongs to one state of one file:
 * it is used only while the file's identity is the same, and taken as a beginning when a file has only grown.
 */

import { createHash } from "node:crypto";
import type { NewlineForm } from "../text/newlines.ts";
import type { Identity } from "./look.ts";

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
  /** Of the first block and of the last whole one: what must still hold when the file has grown. */
  readonly proof: Proof | undefined;
}

export interface Proof {
  readonly head: Buffer;
  readonly tail: Buffer;
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

/**
 * A file that changed a moment ago may change again without its time moving (kernels before 6.13 tick every few
 * milliseconds), so nothing is remembered about it.
 */
export const isAtRest = ({ mtimeNs }: Identity): boolean => Date.now() - Number(mtimeNs / 1_000_000n) >= 10;

/** May the index of `before` be the beginning of that of `now`? The proof decides. */
export const hasGrown = (before: Identity, now: Identity): boolean =>
  before.device === now.device && before.inode === now.inode && before.sizeBytes < now.sizeBytes;

/** Blocks that growing cannot have changed: the whole ones. */
export const wholeBlocks = (index: LineIndex): number => Math.floor(index.scannedBytes / blockBytes);
