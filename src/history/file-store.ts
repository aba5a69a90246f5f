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

const stamp = "collected";

export function openFileStore({ folder: path, durable = false, lockFolder }: FileStoreOptions): HistoryStore {
  const folder = openStoreFolder(path, { durable });
  return {
    ...openJournals(folder, lockFolder),
    ...openBlobs(folder),
    collectedMs() {
      const stored = folder.look(stamp);
      return stored === undefined ? undefined : Number(stored.mtimeNs / 1_000_000n);
    },
    markCollected: () => folder.put(stamp, new Uint8Array()),
  };
}
