/**
 * How far a file's times can be trusted. Two changes within one tick of the file system's clock leave the same times, and
 * ticks differ: 1 to 10 ms on Linux before 6.13, 10 ms on exFAT, 1 s on ext4 with 128-byte inodes, HFS+ and sshfs, 2 s on
 * FAT. The grain is read off each file's times, because one ext4 may have inodes of both kinds: a time on a whole second is
 * taken for a coarse one. On a fine file system that is rare and costs one hash.
 */

import type { Identity } from "./lookup/lookup.ts";

type Times = Pick<Identity, "mtimeNs" | "ctimeNs">;

const secondNs = 1_000_000_000n;
const centisecondNs = 10_000_000n;
/** A tick of the kernel's own clock, which comes on top of the grain. */
const tickMs = 10;
/** The coarsest clock known: FAT. */
const coarseMs = 2_000;
/** exFAT. */
const middleMs = 10;

const isWholeSecond = (timeNs: bigint): boolean => timeNs % secondNs === 0n;

/** Zero for a file system with fine times. */
const grainMs = (timeNs: bigint): number =>
  isWholeSecond(timeNs) ? coarseMs : timeNs % centisecondNs === 0n ? middleMs : 0;

/** True if a change made now gets a later time than this. A time in the future comes from another machine's clock: false. */
const isPast = (timeNs: bigint, nowMs: number): boolean =>
  nowMs - Number(timeNs / 1_000_000n) >= grainMs(timeNs) + tickMs;

/** True if any change from now on shows in the file's times. Otherwise nothing may be cached by those times. */
export const isAtRest = ({ mtimeNs, ctimeNs }: Times, nowMs: number = Date.now()): boolean =>
  isPast(mtimeNs, nowMs) && isPast(ctimeNs, nowMs);

export const isCoarse = ({ mtimeNs, ctimeNs }: Times): boolean => isWholeSecond(mtimeNs) && isWholeSecond(ctimeNs);

/** An allowance for the time since the caller read the file, which is unknown here; hashing again costs little. */
const racyMs = 1_000;

/** True if the file may have changed since the caller read it a moment ago with its times unchanged. */
export function isRacy({ mtimeNs, ctimeNs }: Times, nowMs: number = Date.now()): boolean {
  const isRecent = (timeNs: bigint): boolean => nowMs - Number(timeNs / 1_000_000n) < grainMs(timeNs) + racyMs;
  return isRecent(mtimeNs) || isRecent(ctimeNs);
}
