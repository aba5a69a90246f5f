/** The store of files: journals and contents in one private folder. */

import { openStoreFolder } from "../disk/store-folder.ts";
import { openBlobs } from "./blobs.ts";
import { openJournals } from "./journals.ts";
import type { HistoryStore } from "./store.ts";

export interface FileStoreOptions {
  /** Made when first needed, readable by its owner only. */
  readonly folder: string;
  /** Sync every record and content: a power cut loses nothing either, and a change costs two to four syncs more. */
  readonly durable?: boolean;
  /** For tests; see `disk/lock.ts`. */
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
