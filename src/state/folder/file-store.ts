/** The history in files: journals and contents in one private folder. */

import { openStoreFolder } from "../../disk/disk.ts";
import type { HistoryStore } from "../history-store.ts";
import { openBlobs } from "./blobs.ts";
import { openJournals } from "./journals.ts";

export interface FileStoreOptions {
  readonly folder: string;
  /** Syncs every record and content: survives a power cut, and costs two to four more syncs per change. */
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
