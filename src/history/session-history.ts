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
  RewindPlan,
  Rewinds,
  RewindStep,
  Snapshot,
  StoreFault,
  TurnChanges,
} from "../contract/history.ts";
import type { AuditEntry } from "../contract/state.ts";
import {
  FileTruncated,
  type Identity,
  type OpenFile,
  ReadFailed,
  runInSlices,
  StoreFailed,
  wholeFile,
  yieldToEventLoop,
} from "../disk/disk.ts";
import { finish, hunksOfTexts, isHash, isSurelySame, type Steps } from "../text/text.ts";
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
import type { NotedStates } from "./noted-states.ts";
import { type Availability, changedSince, type Facts, type FileStory, type Found, stepOf } from "./rewind-plan.ts";
import {
  byPath,
  byTurn,
  type Changes,
  changesIn,
  lastOf,
  pruningStory,
  shortenTo,
  snapshotsOf,
  type Story,
  storyOf,
  tellingStory,
  type TurnRecord,
  turnsIn,
  turnsWithChanges,
  undoTargets,
  type UndoTargets,
} from "./snapshots.ts";
import { type BlobRead, hasCoarseTime, hashOfFile, type HistoryStore, smallBytesMax } from "../state/state.ts";

export interface SessionStart {
  readonly id: string;
  readonly roots: readonly string[];
  readonly dialect: string;
  /** The program that makes the calls, as people know it. */
  readonly client?: string | undefined;
  /** The sessions whose turns it reads and takes back, merged by time; by default its own. */
  readonly over?: Over | undefined;
}

export interface Over {
  readonly sessions: readonly string[];
  /** Leaves out turns that changed nothing below these folders. */
  readonly within?: readonly string[];
}

/** What a turn says of itself, besides its changes. */
export type AboutTurn = Pick<TurnRecord, "title" | "notCovered">;

/** A change that a scan found. Its contents are stored already. */
export type ObservedChange = Pick<ChangeRecord, "path" | "relative" | "before" | "after" | "movedFrom" | "movedTo">;

export interface PlanOptions {
  /** Reads the present state of a file, once for each, under the caller's rules and borders. */
  readonly current: (path: string) => Promise<CurrentState>;
  readonly files?: readonly string[] | undefined;
  /**
   * The plan is for an undo or a redo of this turn. Over several sessions, what others undid or redid since then stays; a single
   * session goes back turn by turn, so there it makes no difference.
   */
  readonly way?: "undo" | "redo" | undefined;
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
  /** A change that cannot be recorded MUST NOT be made. */
  readonly isRequired: boolean;
  /** Assigns the following changes to this message, new or known. Returns the reason if that cannot be written. */
  checkpoint(messageId: string, rewinds?: Rewinds, about?: AboutTurn): Promise<{ readonly failed: string | undefined }>;
  /** To be called under the file's lock, right before the swap. Throws only for a bug. */
  keep(keeping: Keeping): Promise<Kept>;
  /** After the swap. Required if `keep` did not get the new bytes; optional otherwise. */
  done(kept: Kept, identity: Identity, mode?: number): void;
  undone(kept: Kept): void;
  /** Changes that were made already, by another program. Returns the reason if they cannot be recorded. */
  keepObserved(messageId: string, changes: readonly ObservedChange[]): Promise<{ readonly failed: string | undefined }>;
  /** Stores the content of a file that others may change, and returns its id. Throws StoreFailed. */
  note(file: OpenFile, path: string, bytes?: Uint8Array): Promise<string>;
  /** The noted states of the roots, over all sessions. */
  readonly noted: NotedStates;
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
  /** The last change of each file since about a moment, by any session: other processes work in the same folders. */
  changedByAnySince(timeMs: number): Promise<ReadonlyMap<string, Pick<ChangeRecord, "after" | "timeMs">>>;
  /** The caller closes the result. */
  open(content: string): Promise<BlobRead>;
  plan(messageId: string, options: PlanOptions): Promise<RewindPlan>;
  undoTargets(): UndoTargets;
  /** Loads what was recorded elsewhere, where other machines write to the store too. Throws StoreFailed. */
  refresh(): Promise<void>;
  /** Does so, and reads a long journal in time slices, so that the functions that answer at once need not. */
  prepare(signal: AbortSignal): Promise<void>;
  /** Shortens the journal to the turns within the limit. `checkpoint` does this now and then. */
  tidy(): Promise<void>;
}

/** As the room's other files see it. */
export interface OpenedHistory extends SessionHistory {
  story(): Story;
}

export interface SessionOptions extends KeepingRules {
  readonly start: SessionStart;
  readonly store: HistoryStore;
  readonly nowMs: () => number;
  readonly snapshotsMax: number;
  readonly onKept?: (() => void) | undefined;
  readonly noted: NotedStates;
  /** The entry of the audit for a change, where there is one. */
  readonly audited?: Audited | undefined;
}

export type Audited = (session: string, change: ChangeRecord) => AuditEntry;

/** Records that are written at once. */
const recordsAtOnce = 500;
const tidyEveryTurns = 64;
/** Some file systems have times of whole, even seconds. */
const clockSlackMs = 2_000;

export function openSessionHistory(options: SessionOptions): OpenedHistory {
  const { start, store, nowMs, snapshotsMax } = options;
  const { id: session } = start;
  const written = new Set<string>();
  let started = false;
  let last: (Read & { readonly state: string }) | undefined;

  /** Reads once for each state of the journal: a caller with two thousand files asks two thousand times. */
  const read = (): Read => {
    const state = store.state(session);
    return last?.state === state ? last : finish(reading(state));
  };

  const reading = function* (state: string): Steps<Read> {
    const { entries, faults } = yield* store.reading(session);
    const whole = yield* tellingStory(entries);
    const story = yield* pruningStory(whole, snapshotsMax);
    last = { state, story, faults, turns: once(() => byTurn(changesIn(story.steps))) };
    yield;
    return last;
  };

  const write = async (
    records: readonly HistoryRecord[],
  ): Promise<{ readonly ids: readonly string[]; readonly failed?: string }> => {
    const { id, roots, dialect, client } = start;
    const named = client === undefined ? {} : { client };
    const first: HistoryRecord[] = started
      ? []
      : [{ type: "start", session: id, roots, dialect, timeMs: nowMs(), ...named }];
    try {
      const { audited } = options;
      const audit =
        audited && records.flatMap((record) => (record.type === "change" ? [audited(session, record)] : []));
      const { ids, stored } = store.append(session, [...first, ...records], audit);
      // Before the wait: calls at the same time must not begin the session twice.
      started = true;
      for (const record of records) if (record.type === "turn") written.add(record.messageId);
      if (stored !== undefined) await stored;
      return { ids };
    } catch (error) {
      if (first.length > 0) started = false;
      for (const record of records) if (record.type === "turn") written.delete(record.messageId);
      return { ids: [], failed: failureOf(error) };
    }
  };

  const turnOf = (messageId: string): readonly HistoryRecord[] =>
    written.has(messageId) ? [] : [{ type: "turn", messageId, timeMs: nowMs() }];

  const tidy = (): Promise<void> => store.rewrite(session, shortenTo(snapshotsMax));

  const changesOf = (messageId: string): readonly ChangeRecord[] => read().turns().get(messageId) ?? [];

  return {
    id: session,
    isRequired: store.isRequired === true,
    async checkpoint(messageId, rewinds, about = {}) {
      if (rewinds?.state === "ended") {
        const ended = { type: "turn", messageId, timeMs: nowMs(), rewinds } as const;
        return written.has(messageId) ? { failed: (await write([ended])).failed } : { failed: undefined };
      }
      if (written.has(messageId)) return { failed: undefined };
      // The first change of a turn announces it as well, which saves a round trip.
      if (store.isRequired === true && rewinds === undefined && Object.keys(about).length === 0)
        return { failed: undefined };
      const goes = rewinds === undefined ? {} : { rewinds };
      const turn = { type: "turn", messageId, timeMs: nowMs(), ...about, ...goes } as const;
      const { failed } = await write([turn]);
      if (failed === undefined && written.size % tidyEveryTurns === 0) await tidy().catch(failureOf);
      return { failed };
    },
    async keep(keeping) {
      const versions = await keepVersions(keeping, store, options);
      const { instead, messageId } = keeping;
      const change = changeOf(keeping, versions, nowMs());
      const voided: HistoryRecord[] = instead?.id === undefined ? [] : [{ type: "void", of: instead.id }];
      const { ids, failed } = await write([...turnOf(messageId), ...voided, change]);
      options.onKept?.();
      const { before, after } = versions;
      return { id: ids.at(-1), before, after, failed: versions.failed ?? failed };
    },
    done({ id, after }, identity, mode) {
      const now = doneVersion(after, identity, mode);
      if (id !== undefined && isNews(now, after)) void write([{ type: "after", of: id, after: now }]);
    },
    undone({ id }) {
      if (id !== undefined) void write([{ type: "void", of: id }]);
    },
    async keepObserved(messageId, changes) {
      for (let at = 0; at < changes.length; at += recordsAtOnce) {
        const part = changes.slice(at, at + recordsAtOnce);
        const timeMs = nowMs();
        const records = part.map(
          (one): ChangeRecord => ({ type: "change", messageId, tool: "observed", timeMs, ...one }),
        );
        const { failed } = await write([...turnOf(messageId), ...records]);
        if (failed !== undefined) return { failed };
      }
      options.onKept?.();
      return { failed: undefined };
    },
    note: (file, path, bytes) => store.putFile({ file, path, bytes, will: "be written in place" }),
    noted: options.noted,
    unkept: (path, sizeBytes) =>
      options.isSecret(path) ? "secret" : sizeBytes > options.fileBytesMax ? "too large" : undefined,
    snapshots: () => snapshotsOf(read().story),
    turns: () => turnChanges(read().story, () => session, undoneIn(read().story)),
    story: () => read().story,
    faults: () => read().faults,
    async diffStats(messageId) {
      const changes = changesOf(messageId);
      return changes.length === 0 ? undefined : statsOf(changes, store);
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
    changedByAnySince: async (timeMs) => {
      await store.refresh?.();
      const recent = store.sessions().filter(({ lastMs }) => lastMs >= timeMs - clockSlackMs);
      for (const one of recent) await store.refresh?.(one.session);
      const changes = recent
        .flatMap((one) => changesIn(storyOf(store.records(one.session).entries).steps))
        .filter((change) => change.timeMs >= timeMs - clockSlackMs)
        .sort((a, b) => a.timeMs - b.timeMs);
      return new Map(changes.map(({ path, after, timeMs: at }) => [path, { after, timeMs: at }]));
    },
    open: (content) => store.openBlob(content),
    plan: (messageId, given) =>
      planOf(messageId, changedSince(read().story, messageId), read().faults.length > 0, given, store, options),
    undoTargets: () => undoTargets(read().story),
    refresh: async () => store.refresh?.(session),
    async prepare(signal) {
      await store.refresh?.(session);
      const state = store.state(session);
      if (last?.state !== state) await runInSlices(reading(state), signal);
    },
    tidy,
  };
}

/** `isDamaged`: a record is lost, and may have been a change of any file. */
export async function planOf(
  messageId: string,
  since: Found,
  isDamaged: boolean,
  { current, files, onProgress }: PlanOptions,
  store: HistoryStore,
  rules: KeepingRules,
): Promise<RewindPlan> {
  if (since.found !== "turn") return { found: since.found, messageId };
  const asked = files === undefined ? undefined : new Set(files);
  const wanted = asked === undefined ? since.files : since.files.filter(({ path }) => asked.has(path));
  const planned: RewindFile[] = [];
  for (const [index, file] of wanted.entries()) {
    onProgress?.(index, wanted.length);
    const { path, relative } = file;
    planned.push({ path, relative, step: await stepFor(file, current, store, rules) });
  }
  return { found: "turn", messageId, files: isDamaged ? planned.map(doubted) : planned };
}

const doubted = (file: RewindFile): RewindFile =>
  file.step.does === "nothing" ? { ...file, step: { does: "unavailable", why: "damaged record" } } : file;

interface Read {
  readonly story: Story;
  readonly faults: readonly StoreFault[];
  readonly turns: () => ReadonlyMap<string, Changes>;
}

export function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => (made ??= make());
}

export function endsOf(changes: Changes): ChangedFile {
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

export async function statsOf(changes: readonly ChangeRecord[], store: HistoryStore): Promise<DiffStats> {
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
export function turnChanges(
  story: Story,
  sessionOf: (messageId: string) => string,
  isUndone: IsUndone,
): readonly TurnChanges[] {
  return turnsIn(story).map(([{ messageId, rewinds, timeMs, title, notCovered }, own]) => {
    const files = [...byPath(own).values()].map((list) => fileChange(list, isUndone));
    const tools = [...new Set(own.map(({ tool }) => tool))];
    const about = notCovered === undefined ? {} : { notCovered };
    return {
      messageId,
      session: sessionOf(messageId),
      tools,
      title,
      timestamp: new Date(timeMs),
      rewinds,
      files,
      ...about,
    };
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
