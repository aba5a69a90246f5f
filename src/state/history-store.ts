/** The port of the history: records of changes, and contents by their hash. */

import type { HistoryRecord, StartRecord, StoreFault } from "../contract/history.ts";
import type { AuditEntry } from "../contract/state.ts";
import type { OpenFile } from "../disk/disk.ts";
import type { Steps } from "../text/text.ts";
import type { Entry } from "./folder/record.ts";

export interface BlobSource {
  readonly file: OpenFile;
  readonly path: string;
  readonly bytes: Uint8Array | undefined;
  /** A file that a rename will replace may be stored as a hard link; one that is written in place may not. */
  readonly will: "be renamed over" | "be written in place";
}

/** The stored content of a version; the caller closes it. */
export type BlobRead = OpenFile | "missing" | "damaged";

export interface SessionRecords {
  /** In order, without duplicates. */
  readonly entries: readonly Entry[];
  readonly faults: readonly StoreFault[];
}

export interface StoredSession {
  readonly session: string;
  readonly bytes: number;
  readonly lastMs: number;
  /** Its first record, if the store knows it without reading the rest. */
  readonly start?: StartRecord | undefined;
}

/** Compacts a session's entries; undefined leaves them as they are. */
export type Rewrite = (entries: readonly Entry[]) => readonly HistoryRecord[] | undefined;

export interface Appended {
  readonly ids: readonly string[];
  /** Settles when the records are stored, or rejects with StoreFailed; undefined if they are stored already. */
  readonly stored: Promise<void> | undefined;
}

/**
 * Reads answer at once. Where other machines write too, they answer from what the last `refresh` has loaded and what was appended
 * here since; a store on this machine always sees everything and has no `refresh`.
 */
export interface HistoryStore {
  /** Loads what others have stored: the list of sessions, or the records of one. Throws StoreFailed. */
  readonly refresh?: (session?: string) => Promise<void>;
  /** A larger version of a file is not kept; undefined if only the options set a limit. */
  readonly fileBytesMax?: number;
  /** A change that cannot be recorded MUST NOT be made: other machines share the history, or there is an audit. */
  readonly isRequired?: boolean;
  /** All or nothing, after everything appended before; with the entries of the audit, where there is one. Throws StoreFailed. */
  append(session: string, records: readonly HistoryRecord[], audit?: readonly AuditEntry[]): Appended;
  records(session: string): SessionRecords;
  /** The same in steps, for a long journal. */
  reading(session: string): Steps<SessionRecords>;
  /** A cheap value that changes whenever the result of `records` would. */
  state(session: string): string;
  sessions(): readonly StoredSession[];
  /** Replaces a session's records. MUST NOT lose what another process appends meanwhile. */
  rewrite(session: string, rewrite: Rewrite): Promise<void>;
  removeSession(session: string): Promise<void> | void;

  /** Stores bytes and returns their content id. MUST be safe against a `sweep` in another process. */
  putBytes(bytes: Uint8Array): Promise<string>;
  putFile(source: BlobSource): Promise<string>;
  /** Whether a content is stored as a hard link to exactly the inode that a fingerprint (`record.ts`) names. */
  isLinkTo(content: string, fingerprint: string): boolean;
  /** Whole and intact, or not at all. */
  openBlob(content: string): Promise<BlobRead>;
  blobs(): AsyncIterable<BlobSize> | Iterable<BlobSize>;
  /** Removes contents that are not needed, except those of the last `graceMs`, whose record may come yet. */
  sweep(isNeeded: (content: string) => boolean, graceMs: number): Promise<SweptStore>;
  /** Bytes that a sweep moved aside, to be removed by a later one. */
  asideBytes(): number;
  /** When the last collection finished; `markCollected` records that one finished now. */
  collectedMs(): number | undefined;
  markCollected(): Promise<void> | void;
  /** Since when a collection is running, in any process. Not a lock: two may run. */
  collectingMs(): number | undefined;
  markCollecting(isUnderWay: boolean): Promise<void> | void;
}

export interface BlobSize {
  readonly content: string;
  readonly bytes: number;
}

export interface SweptStore {
  readonly removed: number;
  readonly bytes: number;
}
