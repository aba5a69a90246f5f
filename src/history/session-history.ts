/** The history of one session: records its changes and plans the way back. */

import type {
  ChangeRecord,
  CurrentState,
  DiffStats,
  FileChange,
  FileVersion,
  HistoryRecord,
  NotKept,
  RewindFile,
  RewindKind,
  RewindPlan,
  RewindStep,
  Snapshot,
  StoreFault,
  TurnChanges,
} from "../contract/history.ts";
import { FileTruncated, type Identity, ReadFailed, StoreFailed, wholeFile, yieldToEventLoop } from "../disk/disk.ts";
import { hunksOfTexts, isHash, isSurelySame } from "../text/text.ts";
import { hashOfFile, smallBytesMax } from "./blobs.ts";
import { type IsUndone, undoneIn } from "./effect.ts";
import {
  changeOf,
  doneVersion,
  failureOf,
  type Keeping,
  type KeepingRules,
  keepVersions,
  type Kept,
} from "./keeping.ts";
import { hasCoarseTime } from "./record.ts";
import { type Availability, changedSince, type Facts, type FileStory, stepOf } from "./rewind-plan.ts";
import {
  byPath,
  byTurn,
  type Changes,
  changesIn,
  lastOf,
  pruneStory,
  shortenTo,
  snapshotsOf,
  type Story,
  storyOf,
  turnsIn,
  turnsWithChanges,
  undoTargets,
  type UndoTargets,
} from "./snapshots.ts";
import type { BlobRead, HistoryStore } from "./store.ts";

export interface SessionStart {
  readonly id: string;
  readonly roots: readonly string[];
  readonly dialect: string;
}

export interface PlanOptions {
  /** Reads the present state of a file, once for each, under the caller's rules and borders. */
  readonly current: (path: string) => Promise<CurrentState>;
  readonly files?: readonly string[] | undefined;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface ChangedFile {
  readonly path: string;
  readonly relative: string;
  readonly before: FileVersion;
  readonly after: FileVersion;
  readonly movedFrom?: string;
  readonly movedTo?: string;
}

export interface SessionHistory {
  readonly id: string;
  /** Assigns the following changes to this message, new or known. Returns the reason if that cannot be written. */
  checkpoint(
    messageId: string,
    rewinds?: { readonly to: string; readonly as: RewindKind },
  ): Promise<{ readonly failed: string | undefined }>;
  /** To be called under the file's lock, right before the swap. Throws only for a bug. */
  keep(keeping: Keeping): Promise<Kept>;
  /** After the swap. Required if `keep` did not get the new bytes; optional otherwise. */
  done(kept: Kept, identity: Identity, mode?: number): void;
  undone(kept: Kept): void;
  /** Why the content of a file could not be kept, as far as that is known before. */
  unkept(path: string, sizeBytes: number): NotKept | undefined;
  /** Turns that changed something, oldest first, at most `snapshotsMax`. */
  snapshots(): readonly Snapshot[];
  turns(): readonly TurnChanges[];
  faults(): readonly StoreFault[];
  diffStats(messageId: string): Promise<DiffStats | undefined>;
  /** A file before or after a turn; undefined if that turn did not change it. */
  versionOf(messageId: string, path: string, when: "before" | "after"): FileVersion | undefined;
  /** The files that a turn changed, or all turns up to `upTo`, in the order of their first change. */
  changes(messageId: string, upTo?: string): readonly ChangedFile[];
  /** Every file that a turn changed, as the last change left it; by real path. */
  tracked(): ReadonlyMap<string, FileVersion>;
  /** The caller closes the result. */
  open(content: string): Promise<BlobRead>;
  plan(messageId: string, options: PlanOptions): Promise<RewindPlan>;
  undoTargets(): UndoTargets;
  /** Shortens the journal to the turns within the limit. `checkpoint` does this now and then. */
  tidy(): Promise<void>;
}

export interface SessionOptions extends KeepingRules {
  readonly start: SessionStart;
  readonly store: HistoryStore;
  readonly nowMs: () => number;
  readonly snapshotsMax: number;
  readonly onKept?: (() => void) | undefined;
}

const tidyEveryTurns = 64;

export function openSessionHistory(options: SessionOptions): SessionHistory {
  const { start, store, nowMs, snapshotsMax } = options;
  const { id: session } = start;
  const written = new Set<string>();
  let started = false;
  let last: (Read & { readonly state: string }) | undefined;

  /** Reads once for each state of the journal: a caller with two thousand files asks two thousand times. */
  const read = (): Read => {
    const state = store.state(session);
    if (last?.state !== state) {
      const { entries, faults } = store.records(session);
      const story = pruneStory(storyOf(entries), snapshotsMax);
      last = { state, story, faults, turns: once(() => byTurn(changesIn(story.steps))) };
    }
    return last;
  };

  const write = (records: readonly HistoryRecord[]): { readonly ids: readonly string[]; readonly failed?: string } => {
    const { id, roots, dialect } = start;
    const first: HistoryRecord[] = started ? [] : [{ type: "start", session: id, roots, dialect, timeMs: nowMs() }];
    try {
      const ids = store.append(session, [...first, ...records]);
      started = true;
      for (const record of records) if (record.type === "turn") written.add(record.messageId);
      return { ids };
    } catch (error) {
      return { ids: [], failed: failureOf(error) };
    }
  };

  const turnOf = (messageId: string): readonly HistoryRecord[] =>
    written.has(messageId) ? [] : [{ type: "turn", messageId, timeMs: nowMs() }];

  const tidy = (): Promise<void> => store.rewrite(session, shortenTo(snapshotsMax));

  const changesOf = (messageId: string): readonly ChangeRecord[] => read().turns().get(messageId) ?? [];

  return {
    id: session,
    async checkpoint(messageId, rewinds) {
      if (written.has(messageId)) return { failed: undefined };
      const turn = { type: "turn", messageId, timeMs: nowMs(), ...(rewinds === undefined ? {} : { rewinds }) } as const;
      const { failed } = write([turn]);
      if (failed === undefined && written.size % tidyEveryTurns === 0) await tidy().catch(failureOf);
      return { failed };
    },
    async keep(keeping) {
      const versions = await keepVersions(keeping, store, options);
      const { instead, messageId } = keeping;
      const change = changeOf(keeping, versions, nowMs());
      const voided: HistoryRecord[] = instead?.id === undefined ? [] : [{ type: "void", of: instead.id }];
      const { ids, failed } = write([...turnOf(messageId), ...voided, change]);
      options.onKept?.();
      const { before, after } = versions;
      return { id: ids.at(-1), before, after, failed: versions.failed ?? failed };
    },
    done({ id, after }, identity, mode) {
      const now = doneVersion(after, identity, mode);
      if (id !== undefined && isNews(now, after)) write([{ type: "after", of: id, after: now }]);
    },
    undone({ id }) {
      if (id !== undefined) write([{ type: "void", of: id }]);
    },
    unkept: (path, sizeBytes) =>
      options.isSecret(path) ? "secret" : sizeBytes > options.fileBytesMax ? "too large" : undefined,
    snapshots: () => snapshotsOf(read().story),
    turns: () => turnChanges(read().story),
    faults: () => read().faults,
    async diffStats(messageId) {
      const changes = changesOf(messageId);
      return changes.length === 0 ? undefined : diffStats(changes, store);
    },
    versionOf(messageId, path, when) {
      const changes = changesOf(messageId).filter((change) => change.path === path);
      return when === "before" ? changes[0]?.before : changes.at(-1)?.after;
    },
    changes(messageId, upTo = messageId) {
      const { story, turns } = read();
      const ids = turnsWithChanges(story);
      const [from, to] = [ids.indexOf(messageId), ids.indexOf(upTo)];
      const all = from < 0 || to < 0 ? [] : ids.slice(from, to + 1).flatMap((id) => turns().get(id) ?? []);
      return [...byPath(all).values()].map(endsOf);
    },
    tracked: () => new Map(changesIn(read().story.steps).map(({ path, after }) => [path, after])),
    open: (content) => store.openBlob(content),
    async plan(messageId, { current, files, onProgress }) {
      const since = changedSince(read().story, messageId);
      if (since.found !== "turn") return { found: since.found, messageId };
      const wanted = files === undefined ? since.files : since.files.filter(({ path }) => files.includes(path));
      const planned: RewindFile[] = [];
      for (const [index, file] of wanted.entries()) {
        onProgress?.(index, wanted.length);
        const { path, relative } = file;
        planned.push({ path, relative, step: await stepFor(file, current, store, options) });
      }
      // A lost record may have been a change of this file.
      return { found: "turn", messageId, files: read().faults.length === 0 ? planned : planned.map(doubted) };
    },
    undoTargets: () => undoTargets(read().story),
    tidy,
  };
}

const doubted = (file: RewindFile): RewindFile =>
  file.step.does === "nothing" ? { ...file, step: { does: "unavailable", why: "damaged record" } } : file;

interface Read {
  readonly story: Story;
  readonly faults: readonly StoreFault[];
  readonly turns: () => ReadonlyMap<string, Changes>;
}

function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => (made ??= make());
}

function endsOf(changes: Changes): ChangedFile {
  const { before, movedFrom } = changes[0];
  const { path, relative, after, movedTo } = lastOf(changes);
  const moved = { ...(movedFrom === undefined ? {} : { movedFrom }), ...(movedTo === undefined ? {} : { movedTo }) };
  return { path, relative, before, after, ...moved };
}

const isNews = (now: FileVersion, before: FileVersion): boolean =>
  now.kind === "file" &&
  before.kind === "file" &&
  (now.mark !== before.mark || now.mode !== before.mode || now.sizeBytes !== before.sizeBytes);

const turnEvery = 64;

async function diffStats(changes: readonly ChangeRecord[], store: HistoryStore): Promise<DiffStats> {
  let [insertions, deletions, filesChanged, uncounted] = [0, 0, 0, 0];
  for (const [index, list] of [...byPath(changes).values()].entries()) {
    if (index % turnEvery === turnEvery - 1) await yieldToEventLoop();
    const [before, after] = [list[0].before, lastOf(list).after];
    if (isSurelySame(before, after)) continue;
    filesChanged += 1;
    const [a, b] = [await textOf(before, store), await textOf(after, store)];
    if (a === undefined || b === undefined) {
      uncounted += 1;
      continue;
    }
    const diff = hunksOfTexts(a, b, { context: 0 });
    insertions += diff.additions;
    deletions += diff.deletions;
  }
  return { insertions, deletions, filesChanged, uncounted };
}

/** Undefined if it is not text or not stored. Invalid UTF-8 is harmless: only lines are counted. */
async function textOf(version: FileVersion, store: HistoryStore): Promise<string | undefined> {
  if (version.kind === "absent") return "";
  if (version.content === undefined || version.sizeBytes > smallBytesMax) return undefined;
  const opened = await store.openBlob(version.content);
  if (typeof opened === "string") return undefined;
  using file = opened;
  const bytes = await wholeFile(file, smallBytesMax);
  return bytes === undefined || bytes.includes(0) ? undefined : bytes.toString("latin1");
}

/** Turns that changed something, oldest first; the files of each in the order of their first change. */
function turnChanges(story: Story): readonly TurnChanges[] {
  const isUndone = undoneIn(story);
  return turnsIn(story).map(([{ messageId, rewinds, timeMs }, own]) => {
    const files = [...byPath(own).values()].map((list) => fileChange(list, isUndone));
    return { messageId, timestamp: new Date(timeMs), rewinds, files };
  });
}

function fileChange(changes: Changes, isUndone: IsUndone): FileChange {
  const { messageId, path, relative, before, movedFrom } = changes[0];
  const { after, movedTo } = lastOf(changes);
  const observed = changes.every(({ tool }) => tool === "observed");
  return { path, relative, before, after, movedFrom, movedTo, observed, undone: isUndone(messageId, path) };
}

// Gathers what the pure plan needs: the present state of each file, and whether its past content is stored.

/** A file that cannot be read does not prevent the plan of the others. */
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
    if (error instanceof ReadFailed || error instanceof FileTruncated)
      return { does: "unavailable", why: "unreadable" };
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
      // A content that the plan does not show is not hashed.
      const shown = isOurs && !file.broken && !linkedSince ? undefined : await hash();
      const unkept =
        state.is === undefined && rules.isSecret(file.path)
          ? "secret"
          : state.sizeBytes > rules.fileBytesMax
            ? "too large"
            : undefined;
      return { now: "file", is: state.is, mode: state.mode, hash: shown, isBase, isOurs, linkedSince, unkept };
    }
  }
}

type File = Extract<CurrentState, { readonly kind: "file" }>;

/** Whether it got a hard link since the session left it. The store's own link does not count. */
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
  const { fingerprint } = state;
  const isKeptSo = store.isLinkTo(fingerprint, fingerprint) || store.isLinkTo(await state.hash(), fingerprint);
  return state.links - (isKeptSo ? 1 : 0) > known;
}

async function isCurrent(version: FileVersion, state: File, store: HistoryStore): Promise<boolean> {
  if (version.kind === "absent" || version.is !== state.is || version.sizeBytes !== state.sizeBytes) return false;
  const { content, mark } = version;
  const { fingerprint } = state;
  const isSameInode = mark === fingerprint || content === fingerprint;
  // Times in whole seconds may also be those of a later change.
  if (isSameInode && (content === undefined || !hasCoarseTime(fingerprint))) return true;
  if (content === undefined) return false;
  if (isHash(content)) return (await state.hash()) === content;
  // Known by its inode only, and this is another one: for example after a rewind, which copies.
  const opened = await openOrFail(content, store);
  if (typeof opened === "string") return false;
  using blob = opened;
  return (await hashOfFile(blob)) === (await state.hash());
}

/** Read and compared with its hash: a dry run must not promise the impossible. */
async function availabilityOf(base: FileVersion, facts: Facts, store: HistoryStore): Promise<Availability> {
  const isNeeded = base.kind === "file" && base.content !== undefined && base.notKept === undefined;
  if (!isNeeded || facts.now === "other" || (facts.now === "file" && facts.isBase)) return "there";
  const blob = await openOrFail(base.content, store);
  if (blob === "missing") return "pruned";
  if (blob === "damaged") return "damaged";
  blob.close();
  return "there";
}

/** A content that cannot be read does not prevent the plan of the other files. */
async function openOrFail(content: string, store: HistoryStore): Promise<BlobRead> {
  try {
    return await store.openBlob(content);
  } catch (error) {
    if (error instanceof StoreFailed) return "damaged";
    throw error;
  }
}
