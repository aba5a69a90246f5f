/** Finds out what the pure plan has to know: how each file is now, and whether what it was is still in the store. */

import type { CurrentState, FileVersion, RewindFile } from "../contract/history.ts";
import { hashOfFile } from "./blobs.ts";
import { type Availability, type Facts, type FileStory, stepOf } from "./rewind-plan.ts";
import type { HistoryStore } from "./store.ts";
import { isHash } from "./versions.ts";

export async function planFiles(
  files: readonly FileStory[],
  current: (path: string) => Promise<CurrentState>,
  store: HistoryStore,
): Promise<readonly RewindFile[]> {
  const planned: RewindFile[] = [];
  for (const file of files) {
    const facts = await factsOf(file, await current(file.path), store);
    const { path, relative } = file;
    planned.push({ path, relative, step: stepOf(file, facts, await availabilityOf(file.base, facts, store)) });
  }
  return planned;
}

async function factsOf(file: FileStory, state: CurrentState, store: HistoryStore): Promise<Facts> {
  switch (state.kind) {
    case "absent":
      return { now: "absent" };
    case "other":
      return { now: "other", what: state.what };
    case "file": {
      const hash = once(state.hash);
      const isSame = (version: FileVersion): Promise<boolean> => isCurrent(version, { ...state, hash }, store);
      const isBase = await isSame(file.base);
      const isOurs = isBase || (await isSame(file.ours)) || (await isSame(file.lastBefore));
      // What nobody needs to be shown is not hashed.
      return { now: "file", mode: state.mode, hash: isOurs && !file.broken ? undefined : await hash(), isBase, isOurs };
    }
  }
}

function once(ask: () => Promise<string>): () => Promise<string> {
  let answer: Promise<string> | undefined;
  return () => (answer ??= ask());
}

async function isCurrent(
  version: FileVersion,
  state: Extract<CurrentState, { readonly kind: "file" }>,
  store: HistoryStore,
): Promise<boolean> {
  if (version.kind === "absent" || version.sizeBytes !== state.sizeBytes) return false;
  const { content, mark } = version;
  if (mark === state.mark || content === state.mark) return true;
  if (content === undefined) return false;
  if (isHash(content)) return (await state.hash()) === content;
  // Known by its inode only, and this is another one: as after a rewind, which copies.
  const blob = await store.openBlob(content);
  if (typeof blob === "string") return false;
  try {
    return (await hashOfFile(blob)) === (await state.hash());
  } finally {
    blob.close();
  }
}

/** Read and compared with its hash: a dry run must not promise what cannot be done. */
async function availabilityOf(base: FileVersion, facts: Facts, store: HistoryStore): Promise<Availability> {
  const isNeeded = base.kind === "file" && base.content !== undefined && base.notKept === undefined;
  if (!isNeeded || facts.now === "other" || (facts.now === "file" && facts.isBase)) return "there";
  const blob = await store.openBlob(base.content);
  if (blob === "missing") return "pruned";
  if (blob === "damaged") return "damaged";
  blob.close();
  return "there";
}
