/** What others changed between two scans. Pure. Uncertain files are unknown: a rewind could delete the wrong file. */

import type { FileVersion } from "../contract/history.ts";
import type { OpenFile } from "../disk/disk.ts";
import { openBytes } from "./blobs.ts";

/** A file's content and permission bits, in memory since the last scan. */
export interface StoredContent {
  readonly bytes: Uint8Array;
  readonly mode: number;
}

export interface Seen {
  /** Fingerprint of the file; undefined if it had changed just before, so that its content decides. */
  readonly statKey: string | undefined;
  /** Undefined if the file is secret, too large, or beyond the memory limit. */
  readonly stored: StoredContent | undefined;
}

/** A symlink or a folder replaced the file. A file that comes there later has no known past. */
export const outOfSight: Seen = { statKey: "out of sight", stored: undefined };

export interface Picture {
  readonly files: ReadonlyMap<string, Seen>;
  readonly tracked: ReadonlyMap<string, FileVersion>;
  readonly complete: boolean;
  /** The texts of the ignore rules. If they change, a file that seems new may have existed before. */
  readonly rules: string;
}

export interface Glance extends Omit<Picture, "files"> {
  readonly statKeys: ReadonlyMap<string, string>;
}

/** Paths whose content must be compared: new ones, missing ones, and those with another fingerprint. */
export function touchedPaths({ files }: Picture, { statKeys }: Glance): readonly string[] {
  const there = [...statKeys].filter(([path, statKey]) => files.get(path)?.statKey !== statKey).map(([path]) => path);
  const gone = [...files].filter(([path, seen]) => !statKeys.has(path) && seen !== outOfSight).map(([path]) => path);
  return [...there, ...gone];
}

/** What a file was before another program changed it: as the session left it, or as the last scan saw it. */
export type Baseline =
  | { readonly was: "absent" | "unknown" }
  | { readonly was: "stored"; readonly stored: StoredContent }
  | { readonly was: "ours"; readonly version: Extract<FileVersion, { readonly kind: "file" }> };

export function baselineOf(path: string, then: Picture, now: Glance): Baseline {
  const ours = now.tracked.get(path);
  if (ours !== undefined && !isSameVersion(ours, then.tracked.get(path))) {
    return ours.kind === "absent" ? { was: "absent" } : { was: "ours", version: ours };
  }
  const seen = then.files.get(path);
  if (seen !== undefined)
    return seen.stored === undefined ? { was: "unknown" } : { was: "stored", stored: seen.stored };
  return { was: then.complete && then.rules === now.rules ? "absent" : "unknown" };
}

function isSameVersion(a: FileVersion, b: FileVersion | undefined): boolean {
  if (a.kind === "absent" || b === undefined || b.kind === "absent") return a.kind === b?.kind;
  return (
    a.is === b.is && a.content === b.content && a.mark === b.mark && a.mode === b.mode && a.sizeBytes === b.sizeBytes
  );
}

/** The content in memory as an open file. */
export const storedFile = ({ bytes, mode }: StoredContent): OpenFile => ({ ...openBytes(bytes), mode });
