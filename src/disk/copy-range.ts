/** A part of one file becomes a part of another, copied by the kernel where that is possible. */

import type { Moving } from "./content.ts";
import type { OpenFile } from "./open-file.ts";
import { duringLater } from "./write-failed.ts";

/** Less than this is read and written before another thread has begun. */
const worthBytesMin = 1_048_576;
/** Small enough to be cancelled soon, and to have the disk busy early. */
const stepBytes = 16_777_216;

export interface CopiedRange {
  readonly from: number;
  readonly to: number;
  /** Where it goes. */
  readonly at: number;
}

/** How many bytes were copied, from the beginning of the range. What is left is the caller's to read and to write. */
export async function copyRange(
  source: OpenFile | undefined,
  fd: number,
  { from, to, at }: CopiedRange,
  { system, reads, signal }: Moving,
): Promise<number> {
  const descriptor = source?.descriptor;
  if (descriptor === undefined || reads !== "at once" || to - from < worthBytesMin) return 0;
  const calls = await duringLater("writing", () => system.copyCalls());
  if (calls === undefined) return 0;
  let done = 0;
  let writing: Promise<void> | undefined;
  try {
    while (from + done < to) {
      signal?.throwIfAborted();
      const wanted = Math.min(stepBytes, to - from - done);
      const copied = await calls.copy(descriptor, from + done, fd, at + done, wanted);
      // An error is told by reading and writing the same bytes, and so is an old file that became shorter.
      if (copied === undefined || copied === 0) break;
      await writing;
      writing = calls.startWriting(fd, at + done, copied).catch(() => undefined); // the sync at the end tells
      done += copied;
    }
  } finally {
    await writing; // the descriptor is in use until then
  }
  return done;
}
