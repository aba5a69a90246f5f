/**
 * How far a file's times can be trusted. Two changes within one tick of the clock that writes them leave the same times, and
 * ticks differ: 1 to 10 ms on Linux before 6.13, 10 ms on exFAT, 1 s on ext4 with 128-byte inodes, HFS+ and sshfs, 2 s on
 * FAT. The grain is read off the times themselves, file by file, because one ext4 may have inodes of both kinds: a time that
 * is a whole second is taken for a coarse one. On a fine file system that happens once in a very long while, and then costs a hash.
 */

import type { Identity } from "./lookup/lookup.ts";

type Times = Pick<Identity, "mtimeNs" | "ctimeNs">;

const secondNs = 1_000_000_000n;
const centisecondNs = 10_000_000n;
/** A tick of the kernel's own clock, which comes on top of the grain. */
const tickMs = 10;
const coarseMs = 2_000;
const middleMs = 10;

const isWholeSecond = (timeNs: bigint): boolean => timeNs % secondNs === 0n;

const grainMs = (timeNs: bigint): number =>
  isWholeSecond(timeNs) ? coarseMs : timeNs % centisecondNs === 0n ? middleMs : 0;

/** Would a change made now leave another time than this one? A time in the future is another machine's: a doubt. */
const isPast = (timeNs: bigint, nowMs: number): boolean =>
  nowMs - Number(timeNs / 1_000_000n) >= grainMs(timeNs) + tickMs;

/** Does any change from now on show in the file's times? If not, nothing may be remembered about it by its times. */
export const isAtRest = ({ mtimeNs, ctimeNs }: Times, nowMs: number = Date.now()): boolean =>
  isPast(mtimeNs, nowMs) && isPast(ctimeNs, nowMs);

/** Are the times of this file whole seconds? */
export const isCoarse = ({ mtimeNs, ctimeNs }: Times): boolean => isWholeSecond(mtimeNs) && isWholeSecond(ctimeNs);

/** How long ago the caller read the file is not known here; a second covers it, and hashing again costs little. */
const racyMs = 1_000;

/** May the file have changed since it was read a moment ago, without its times telling? */
export function isRacy({ mtimeNs, ctimeNs }: Times, nowMs: number = Date.now()): boolean {
  const isRecent = (timeNs: bigint): boolean => nowMs - Number(timeNs / 1_000_000n) < grainMs(timeNs) + racyMs;
  return isRecent(mtimeNs) || isRecent(ctimeNs);
}
