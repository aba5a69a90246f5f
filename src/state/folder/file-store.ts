/** The history in files: journals and contents in one private folder. */

import { StateFailed } from "../../contract/state.ts";
import { openStoreFolder, StoreFailed } from "../../disk/disk.ts";
import type { HistoryStore } from "../history-store.ts";
import type { Audit } from "../ports.ts";
import { openBlobs } from "./blobs.ts";
import { openJournals } from "./journals.ts";

export interface FileStoreOptions {
  readonly folder: string;
  /** Syncs every record and content: survives a power cut, and costs two to four more syncs per change. */
  readonly durable?: boolean;
  /** Gets an entry for each change, after its record. */
  readonly audit?: Audit | undefined;
  /** For tests; see `disk/lock/lock.ts`. */
  readonly lockFolder?: string | undefined;
}

const [ended, underWay] = ["collected", "collecting"];

export function openFileStore({ folder: path, durable = false, lockFolder, audit }: FileStoreOptions): HistoryStore {
  const folder = openStoreFolder(path, { durable });
  const timeOf = (name: string): number | undefined => {
    const stored = folder.look(name);
    return stored === undefined ? undefined : Number(stored.mtimeNs / 1_000_000n);
  };
  const journals = openJournals(folder, lockFolder);
  return {
    ...journals,
    ...(audit === undefined ? {} : { isRequired: true, append: withAudit(journals.append, audit) }),
    ...openBlobs(folder),
    collectedMs: () => timeOf(ended),
    markCollected: () => folder.put(ended, new Uint8Array()),
    collectingMs: () => timeOf(underWay),
    markCollecting: (isUnderWay) => (isUnderWay ? folder.put(underWay, new Uint8Array()) : folder.remove(underWay)),
  };
}

const withAudit =
  (append: HistoryStore["append"], audit: Audit): HistoryStore["append"] =>
  (session, records, entries = []) => {
    const { ids } = append(session, records);
    if (entries.length === 0) return { ids, stored: undefined };
    const stored = audit.append(entries).catch((error: unknown) => {
      throw error instanceof StateFailed ? new StoreFailed("failed", error.message, "audit") : error;
    });
    return { ids, stored };
  };
