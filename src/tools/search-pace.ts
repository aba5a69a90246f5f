/**
 * Whether ripgrep is to search a folder with several threads. To start them costs more than a small folder takes: where
 * the last search was over in a moment, the next is done by one. A guess about speed only; what is found is the same.
 */

import type { Disk } from "../disk/disk.ts";

/** Above this a search is worth several threads, even if it was a busy machine that took so long. */
const quickMsMax = 50;
const entriesMax = 1_000;
/** Folders that are remembered: of hosts that search in very many, the latest. */
const foldersMax = 100;

/** A toolkit has a disk of its own, so this ends with it. */
const quickIn = new WeakMap<Disk, Set<string>>();

/** Real paths of folders. */
export const isQuick = (disk: Disk, folder: string): boolean => quickIn.get(disk)?.has(folder) ?? false;

/** `entries`: how many there are, if all were seen. */
export function searched(disk: Disk, folder: string, tookMs: number, entries: number | undefined): void {
  const quick = quickIn.get(disk) ?? new Set();
  quickIn.set(disk, quick);
  quick.delete(folder);
  if (tookMs > quickMsMax || entries === undefined || entries > entriesMax) return;
  quick.add(folder);
  const [oldest] = quick;
  if (quick.size > foldersMax && oldest !== undefined) quick.delete(oldest);
}
