/**
 * Removing contents that no record needs, while other processes are keeping some. Files are first moved aside; only a
 * later sweep, which has seen all records written meanwhile, removes them or moves them back.
 */

import type { StoreFolder } from "../disk/store-folder.ts";
import { compressed, contentOf, nameOf } from "./blob-code.ts";
import { othersTurn } from "../disk/others-turn.ts";
import type { Packs } from "./packs.ts";

const trash = "trash";
/** `<time in ms>_<where it was>`: some file systems do not move ctime when they rename. */
const trashShape = /^(\d+)_([0-9a-f]{2}|inode)_(.+)$/u;

/** What a sweep has put aside and somebody needs after all. */
export function fromTrash(folder: StoreFolder, content: string): string | undefined {
  for (const aside of folder.list(trash)) {
    const [, , part = "", name = ""] = trashShape.exec(aside) ?? [];
    const place = `blobs/${part}/${name}`;
    if (contentOf(name) === content && folder.rename(`${trash}/${aside}`, place)) return place;
  }
  return undefined;
}

export const trashBytes = (folder: StoreFolder): number =>
  folder.list(trash).reduce((sum, aside) => sum + (folder.look(`${trash}/${aside}`)?.sizeBytes ?? 0), 0);

export interface Swept {
  readonly removed: number;
  readonly bytes: number;
}

export interface BlobPlaces {
  readonly folder: StoreFolder;
  readonly packs: Packs;
  /** Is a content in a file of its own? */
  readonly isKept: (content: string) => Promise<boolean>;
}

export async function sweepBlobs(
  places: BlobPlaces,
  isNeeded: (content: string) => boolean,
  graceMs: number,
): Promise<Swept> {
  const { folder } = places;
  folder.sweep();
  const nowMs = Date.now();
  const emptied = emptyTrash(folder, isNeeded, nowMs, graceMs);
  const unpacked = await takeApart(places, isNeeded, graceMs);
  for (const part of folder.list("blobs")) {
    for (const name of folder.list(`blobs/${part}`)) {
      if (isNeeded(contentOf(name))) continue;
      const stored = folder.look(`blobs/${part}/${name}`);
      if (stored === undefined || nowMs - stored.ctimeMs < graceMs) continue;
      folder.rename(`blobs/${part}/${name}`, `${trash}/${nowMs}_${part}_${name}`);
    }
    await othersTurn();
  }
  return { removed: emptied.removed + unpacked.removed, bytes: emptied.bytes + unpacked.bytes };
}

function emptyTrash(
  folder: StoreFolder,
  isNeeded: (content: string) => boolean,
  nowMs: number,
  graceMs: number,
): Swept {
  let [removed, bytes] = [0, 0];
  for (const aside of folder.list(trash)) {
    const [, timeMs, part = "", name = ""] = trashShape.exec(aside) ?? [];
    if (isNeeded(contentOf(name))) folder.rename(`${trash}/${aside}`, `blobs/${part}/${name}`);
    else if (nowMs - Number(timeMs ?? 0) >= graceMs) {
      bytes += folder.look(`${trash}/${aside}`)?.sizeBytes ?? 0;
      removed += 1;
      folder.remove(`${trash}/${aside}`);
    }
  }
  return { removed, bytes };
}

/** What is needed of finished packs gets files; then they go. */
async function takeApart(
  { folder, packs, isKept }: BlobPlaces,
  isNeeded: (content: string) => boolean,
  graceMs: number,
): Promise<Swept> {
  let [removed, bytes] = [0, 0];
  const finished = new Set(packs.finished(graceMs));
  for (const entry of packs.entries()) {
    if (!finished.has(entry.pack)) continue;
    const { content } = entry;
    if (!isNeeded(content)) {
      removed += 1;
      bytes += entry.bytes;
    } else if (!(await isKept(content))) {
      const payload = packs.read(entry);
      if (payload !== undefined) folder.put(nameOf(content) + (entry.compressed ? compressed : ""), payload);
      // One that is damaged here may be right in another pack; a file of the wrong content is made anew when found.
      if (!(await isKept(content))) folder.remove(nameOf(content) + (entry.compressed ? compressed : ""));
      await othersTurn();
    }
  }
  for (const pack of finished) packs.remove(pack);
  return { removed, bytes };
}
