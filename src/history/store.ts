/** What history needs of a store. The one of files is `file-store.ts`; a database could stand here as well. */

import type { HistoryRecord, StoreFault } from "../contract/history.ts";
import { type OpenFile, openStoreFolder } from "../disk/disk.ts";
import { openBlobs } from "./blobs.ts";
import { openJournals } from "./journals.ts";
import type { Entry } from "./record.ts";

export interface BlobSource {
  readonly file: OpenFile;
  /** Where the file is, real and absolute. */
  readonly path: string;
  /** All its bytes, if the caller has them. */
  readonly bytes: Uint8Array | undefined;
  /** A file that will be replaced by a rename may be kept by a link to it; one that is written in place may not. */
  readonly will: "be renamed over" | "be written in place";
}

/** A version's content as it is stored; `close` it. */
export type BlobRead = OpenFile | "missing" | "damaged";

export interface SessionRecords {
  /** In order, each once. */
  readonly entries: readonly Entry[];
  readonly faults: readonly StoreFault[];
}

export interface SessionUsage {
  readonly session: string;
  readonly bytes: number;
  /** When something was last written. */
  readonly lastMs: number;
}

/** What compaction makes of a session's entries; undefined leaves them as they are. */
export type Rewrite = (entries: readonly Entry[]) => readonly HistoryRecord[] | undefined;

export interface HistoryStore {
  /** All or nothing, after all that was appended before. Answers with the ids. Throws StoreFailed. */
  append(session: string, records: readonly HistoryRecord[]): readonly string[];
  records(session: string): SessionRecords;
  /** Something cheap that is another one as soon as `records` would answer something else. */
  state(session: string): string;
  sessions(): readonly SessionUsage[];
  /** Replaces a session's records. MUST NOT lose what another process appends meanwhile. */
  rewrite(session: string, rewrite: Rewrite): Promise<void>;
  removeSession(session: string): void;

  /** Keeps bytes; answers with what they are known by. MUST be safe against a `sweep` in another process. */
  putBytes(bytes: Uint8Array): Promise<string>;
  putFile(source: BlobSource): Promise<string>;
  has(content: string): boolean;
  /** Is what is stored under a content the very inode that a mark (`versions.ts`) names, kept by a second name for it? */
  isLinkTo(content: string, mark: string): boolean;
  /** Whole and right, or not at all. */
  openBlob(content: string): Promise<BlobRead>;
  /** Every content that is there, with the bytes it takes. */
  blobs(): Iterable<{ readonly content: string; readonly bytes: number }>;
  /**
   * Removes contents that `isNeeded` does not know. What came or was asked for less than `graceMs` ago stays: its
   * record may be about to be written.
   */
  sweep(isNeeded: (content: string) => boolean, graceMs: number): Promise<SweptStore>;
  /** Bytes that a sweep has put aside, to be removed by a later one. */
  asideBytes(): number;
  /** When a collection last came to its end, and that one has now. */
  collectedMs(): number | undefined;
  markCollected(): void;
  /** Since when one is under way, in whatever process; and that one begins, or has ended. It is no lock: two may run. */
  collectingMs(): number | undefined;
  markCollecting(isUnderWay: boolean): void;
}

export interface SweptStore {
  readonly removed: number;
  readonly bytes: number;
}

// The store of files: journals and contents in one private folder.

export interface FileStoreOptions {
  /** Made when first needed, readable by its owner only. */
  readonly folder: string;
  /** Sync every record and content: a power cut loses nothing either, and a change costs two to four syncs more. */
  readonly durable?: boolean;
  /** For tests; see `disk/lock/lock.ts`. */
  readonly lockFolder?: string | undefined;
}

const [ended, underWay] = ["collected", "collecting"];

export function openFileStore({ folder: path, durable = false, lockFolder }: FileStoreOptions): HistoryStore {
  const folder = openStoreFolder(path, { durable });
  const timeOf = (name: string): number | undefined => {
    const stored = folder.look(name);
    return stored === undefined ? undefined : Number(stored.mtimeNs / 1_000_000n);
  };
  return {
    ...openJournals(folder, lockFolder),
    ...openBlobs(folder),
    collectedMs: () => timeOf(ended),
    markCollected: () => folder.put(ended, new Uint8Array()),
    collectingMs: () => timeOf(underWay),
    markCollecting: (isUnderWay) => (isUnderWay ? folder.put(underWay, new Uint8Array()) : folder.remove(underWay)),
  };
}
