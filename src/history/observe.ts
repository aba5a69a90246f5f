/**
 * What somebody else changed between two looks at a workspace. Pure: two pictures in, differences out. What cannot be
 * known is said to be unknown, since a wrong guess would make a rewind delete or overwrite what it should not.
 */

import type { FileVersion } from "../contract/history.ts";
import type { OpenFile } from "../disk/disk.ts";
import { openBytes } from "./blobs.ts";

/** A file's content and permission bits, held since the last look. */
export interface StoredContent {
  readonly bytes: Uint8Array;
  readonly mode: number;
}

export interface Seen {
  /** Which file it was and in which state; undefined if it had changed a moment before, so that its content decides. */
  readonly statKey: string | undefined;
  /** Undefined for what is secret, too large, or beyond what is held. */
  readonly stored: StoredContent | undefined;
}

/** A link or a folder took the file's place. What a file is that comes there later, nobody can say. */
export const outOfSight: Seen = { statKey: "out of sight", stored: undefined };

/** A workspace at one moment. */
export interface Picture {
  /** By real path. */
  readonly files: ReadonlyMap<string, Seen>;
  /** Files of the session's history, as its last change left them. */
  readonly tracked: ReadonlyMap<string, FileVersion>;
  /** Was every folder looked at? */
  readonly complete: boolean;
  /** The texts that say what is left out. Under other ones a file that seems new may have been there. */
  readonly rules: string;
}

/** The same for the present moment, before any content was read. */
export interface Glance extends Omit<Picture, "files"> {
  readonly statKeys: ReadonlyMap<string, string>;
}

/** Paths whose content has to be compared: new ones, missing ones, and those in another state. */
export function touchedPaths({ files }: Picture, { statKeys }: Glance): readonly string[] {
  const there = [...statKeys].filter(([path, statKey]) => files.get(path)?.statKey !== statKey).map(([path]) => path);
  const gone = [...files].filter(([path, seen]) => !statKeys.has(path) && seen !== outOfSight).map(([path]) => path);
  return [...there, ...gone];
}

/** What a file was before somebody else came: as we left it since the last look, or as it was then. */
export type Baseline =
  | { readonly was: "absent" | "unknown" }
  | { readonly was: "held"; readonly stored: StoredContent }
  | { readonly was: "ours"; readonly version: Extract<FileVersion, { readonly kind: "file" }> };

export function baselineOf(path: string, then: Picture, now: Glance): Baseline {
  const ours = now.tracked.get(path);
  if (ours !== undefined && !isSameVersion(ours, then.tracked.get(path))) {
    return ours.kind === "absent" ? { was: "absent" } : { was: "ours", version: ours };
  }
  const seen = then.files.get(path);
  if (seen !== undefined) return seen.stored === undefined ? { was: "unknown" } : { was: "held", stored: seen.stored };
  return { was: then.complete && then.rules === now.rules ? "absent" : "unknown" };
}

function isSameVersion(a: FileVersion, b: FileVersion | undefined): boolean {
  if (a.kind === "absent" || b === undefined || b.kind === "absent") return a.kind === b?.kind;
  return a.content === b.content && a.mark === b.mark && a.mode === b.mode && a.sizeBytes === b.sizeBytes;
}

/** What is held, as the file it was. */
export const storedFile = ({ bytes, mode }: StoredContent): OpenFile => ({ ...openBytes(bytes), mode });
