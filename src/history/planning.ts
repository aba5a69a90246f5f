/** Finds out what the pure plan has to know: how each file is now, and whether what it was is still in the store. */

import type { CurrentState, FileVersion, RewindFile, RewindStep } from "../contract/history.ts";
import { ReadFailed } from "../disk/open-file.ts";
import { FileCut } from "../disk/scan.ts";
import { StoreFailed } from "../disk/store-folder.ts";
import { hashOfFile } from "./blobs.ts";
import type { KeepingRules } from "./keeping.ts";
import { type Availability, type Facts, type FileStory, stepOf } from "./rewind-plan.ts";
import type { BlobRead, HistoryStore } from "./store.ts";
import { isCoarseMark, isHash } from "./versions.ts";

export async function planFiles(
  files: readonly FileStory[],
  current: (path: string) => Promise<CurrentState>,
  store: HistoryStore,
  rules: KeepingRules,
  onProgress: ((done: number, total: number) => void) | undefined,
): Promise<readonly RewindFile[]> {
  const planned: RewindFile[] = [];
  for (const [index, file] of files.entries()) {
    onProgress?.(index, files.length);
    const { path, relative } = file;
    planned.push({ path, relative, step: await stepFor(file, current, store, rules) });
  }
  return planned;
}

/** One file that the disk fails to read does not keep the others from being planned. */
async function stepFor(
  file: FileStory,
  current: (path: string) => Promise<CurrentState>,
  store: HistoryStore,
  rules: KeepingRules,
): Promise<RewindStep> {
  try {
    const facts = await factsOf(file, await current(file.path), store, rules);
    return stepOf(file, facts, await availabilityOf(file.base, facts, store));
  } catch (error) {
    if (error instanceof ReadFailed || error instanceof FileCut) return { does: "unavailable", why: "unreadable" };
    throw error;
  }
}

async function factsOf(file: FileStory, state: CurrentState, store: HistoryStore, rules: KeepingRules): Promise<Facts> {
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
      const linkedSince = isOurs && (await hasNewName(file, { ...state, hash }, isSame, store));
      // What nobody needs to be shown is not hashed.
      const shown = isOurs && !file.broken && !linkedSince ? undefined : await hash();
      return {
        now: "file",
        mode: state.mode,
        hash: shown,
        isBase,
        isOurs,
        linkedSince,
        unkept: unkeptBy(rules, file, state),
      };
    }
  }
}

const unkeptBy = ({ isSecret, fileBytesMax }: KeepingRules, { path }: FileStory, { sizeBytes }: File) =>
  isSecret(path) ? "secret" : sizeBytes > fileBytesMax ? "too large" : undefined;

type File = Extract<CurrentState, { readonly kind: "file" }>;

/** Has it got a name that it did not have as we left it? A name by which the store itself keeps it is none. */
async function hasNewName(
  { ours, lastBefore }: FileStory,
  state: File,
  isSame: (version: FileVersion) => Promise<boolean>,
  store: HistoryStore,
): Promise<boolean> {
  if (state.links <= 1) return false;
  const left = (await isSame(ours)) ? ours : lastBefore;
  const known = left.kind === "file" ? (left.links ?? 1) : 1;
  if (state.links <= known) return false;
  const isKeptSo = store.isLinkTo(state.mark, state.mark) || store.isLinkTo(await state.hash(), state.mark);
  return state.links - (isKeptSo ? 1 : 0) > known;
}

function once(ask: () => Promise<string>): () => Promise<string> {
  let answer: Promise<string> | undefined;
  return () => (answer ??= ask());
}

async function isCurrent(version: FileVersion, state: File, store: HistoryStore): Promise<boolean> {
  if (version.kind === "absent" || version.sizeBytes !== state.sizeBytes) return false;
  const { content, mark } = version;
  const isMarked = mark === state.mark || content === state.mark;
  // Times of whole seconds may be those of a later change as well.
  if (isMarked && (content === undefined || !isCoarseMark(state.mark))) return true;
  if (content === undefined) return false;
  if (isHash(content)) return (await state.hash()) === content;
  // Known by its inode only, and this is another one: as after a rewind, which copies.
  const blob = await openOrFail(content, store);
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
  const blob = await openOrFail(base.content, store);
  if (blob === "missing") return "pruned";
  if (blob === "damaged") return "damaged";
  blob.close();
  return "there";
}

/** One content that cannot be read does not keep the other files from being planned. */
async function openOrFail(content: string, store: HistoryStore): Promise<BlobRead> {
  try {
    return await store.openBlob(content);
  } catch (error) {
    if (error instanceof StoreFailed) return "damaged";
    throw error;
  }
}
