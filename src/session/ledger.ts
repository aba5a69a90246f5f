/**
 * What this conversation was shown: which part of which file, in which state. It answers a repeated read of the same
 * part with "unchanged", and later tells an edit what was seen. It knows nothing of the disk: states are handed in.
 */

/** A file's state: the quick sign, and the one that decides. */
export interface Stamp {
  /** Device, inode, size and times: the same sign is the same content. */
  readonly sign: string;
  /** Of the whole content; undefined for files too large to hash in passing. Asked for only where the sign differs. */
  readonly hash: () => Promise<string | undefined>;
}

export interface Ledger {
  /**
   * Was this part shown, and is the file still the same? The second time in a row that this is asked the answer is no:
   * who asks again no longer has it.
   */
  repeats(path: string, part: string, stamp: Stamp): Promise<{ readonly tokens: number } | undefined>;
  /** A part was shown whole. A view that was cut short does not count and is not told here. */
  shown(path: string, part: string, stamp: Stamp, tokens: number): Promise<void>;
  /** The content left the conversation: of one file, or of all. */
  forget(path?: string): void;
}

interface Entry {
  readonly sign: string;
  readonly hash: string | undefined;
  readonly tokens: number;
  lastAnswer: "content" | "stub";
}

/** Files remembered, and parts of each; the oldest go first. */
const filesMax = 2_000;
const partsMax = 100;

export function createLedger(): Ledger {
  const files = new Map<string, Map<string, Entry>>();

  return {
    async repeats(path, part, stamp) {
      const entry = files.get(path)?.get(part);
      if (entry === undefined || !(await isSame(entry, stamp))) return undefined;
      if (entry.lastAnswer === "stub") {
        entry.lastAnswer = "content";
        return undefined;
      }
      entry.lastAnswer = "stub";
      return { tokens: entry.tokens };
    },
    async shown(path, part, stamp, tokens) {
      const hash = await stamp.hash();
      const parts = files.get(path) ?? new Map<string, Entry>();
      parts.delete(part);
      parts.set(part, { sign: stamp.sign, hash, tokens, lastAnswer: "content" });
      dropOldest(parts, partsMax);
      files.delete(path);
      files.set(path, parts);
      dropOldest(files, filesMax);
    },
    forget(path) {
      if (path === undefined) files.clear();
      else files.delete(path);
    },
  };
}

const isSame = async (before: Entry, now: Stamp): Promise<boolean> =>
  before.sign === now.sign || (before.hash !== undefined && before.hash === (await now.hash()));

function dropOldest(map: Map<string, unknown>, sizeMax: number): void {
  for (const key of map.keys()) {
    if (map.size <= sizeMax) return;
    map.delete(key);
  }
}
