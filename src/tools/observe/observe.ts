/**
 * Finds what other programs changed, such as a shell or a formatter, and records it as if a tool had made it. The state of each
 * root is noted on disk, so the scan before a command and the one after it may be made by two processes.
 *
 * While commands overlap, nobody can say which of them made a change: it belongs to the one that ends first, and its title
 * names the others.
 */

import * as nodePath from "node:path";
import type { ChangeRecord, FileVersion, NotCovered } from "../../contract/history.ts";
import type { WatchedChange } from "../../contract/lsp.ts";
import { Problem } from "../../contract/problem.ts";
import { type Git, StoreFailed } from "../../disk/disk.ts";
import {
  isNotCovered,
  nextTree,
  type NotedEntry,
  type NotedState,
  type NotedTree,
  type ObservedChange,
  type RunningCommand,
  type SessionHistory,
  storedFile,
} from "../../history/history.ts";
import { orUnreadable, type ToolContext } from "../tool.ts";
import { gitOf, type Looked, lookAtContents, type ObserveLimits } from "./contents.ts";
import { type Coverage, coverageOf } from "./coverage.ts";
import { kindOfMode, kinds, scanRoot, type Scanned, type Touched } from "./scan.ts";

export interface Observed {
  readonly observed: number;
  /** Real paths that changed and cannot be restored: secrets, large files, files that no earlier scan covered. */
  readonly notCovered: readonly string[];
  readonly complete: boolean;
  /** The turn that the changes belong to; left out if there are none. */
  readonly turn?: string;
  /** What is covered, if the caller asked for it. */
  readonly coverage?: Coverage;
}

/** A command of another program: a shell command of an agent, say. */
export interface ObservedCommand {
  /** Names the command at its end, and the turn of what it changed. */
  readonly id: string;
  readonly title: string;
  /** The turn, if it shall have another name; for commands that are run again under the same id. */
  readonly turn?: string;
  /** `ended unseen`: ends all commands of this session that began and whose end nobody reported. */
  readonly does: "begins" | "ends" | "ended unseen";
}

export interface ObserveRequest {
  /** Without a command: also the first scan of this session records what changed since the last scan of any. */
  readonly since?: "last scan";
  readonly command?: ObservedCommand;
  readonly coverage?: boolean;
  /** Milliseconds that the first scan may take to copy contents; what is left is copied by the next scan. */
  readonly copyMsMax?: number;
}

export interface Observer {
  /** Without a command: the first scan finds nothing, later ones find what changed since the one before. */
  observe(request: ObserveRequest, context: ToolContext): Promise<Observed>;
}

const observeDefaults: ObserveLimits = {
  filesMax: 250_000,
  bytesMax: 524_288_000,
  fileBytesMax: 10_485_760,
};

/** Of a title in a record. */
const titleCharsMax = 1_000;
/** Of the names that are not covered: in the record of a turn. */
const namesMax = 20;

export function createObserver(given: Partial<ObserveLimits> = {}): Observer {
  const limits = { ...observeDefaults, ...given };
  let isStarted = false;
  const observe = async (request: ObserveRequest, context: ToolContext): Promise<Observed> => {
    const history = await context.past();
    if (history === undefined) throw new Problem({ code: "NO_TURN", asked: "observe", reason: "no history" });
    const { command } = request;
    const does = command?.does ?? (isStarted || request.since !== undefined ? "ends" : "begins");
    const results: RootObserved[] = [];
    for (const { real } of context.disk.roots) {
      const state = history.noted.of(real);
      const work = { root: real, state, limits, history, context, request, git: gitOf(real) };
      results.push(await state.exclusively(context.signal, () => (does === "begins" ? begin(work) : end(work))));
    }
    isStarted = true;
    const turn = results.find((one) => one.turn !== undefined)?.turn;
    return {
      observed: results.reduce((sum, one) => sum + one.observed, 0),
      notCovered: results.flatMap((one) => one.notCovered),
      complete: results.every((one) => one.complete),
      ...(turn === undefined ? {} : { turn }),
      ...(request.coverage === true
        ? {
            coverage: coverageOf(
              results.flatMap(({ tree }) => tree),
              limits,
            ),
          }
        : {}),
    };
  };
  return { observe: (request, context) => orUnreadable("observe", () => observe(request, context)) };
}

interface RootWork {
  readonly root: string;
  readonly state: NotedState;
  readonly limits: ObserveLimits;
  readonly history: SessionHistory;
  readonly context: ToolContext;
  readonly request: ObserveRequest;
  readonly git: () => Git | undefined;
}

interface RootObserved {
  readonly observed: number;
  readonly notCovered: readonly string[];
  readonly complete: boolean;
  readonly turn: string | undefined;
  readonly tree: NotedTree;
}

/** Notes the state. If a command is running, what changed since it began is its own: then nothing is noted. */
async function begin(work: RootWork): Promise<RootObserved> {
  const { state, history } = work;
  const { command } = work.request;
  const nowMs = Date.now();
  const running = state.running(nowMs);
  const known = running.length === 0 ? undefined : state.tree();
  const tree = known ?? (await compare(work, "not in git")).tree;
  if (command !== undefined) {
    const { id, title } = command;
    const own: RunningCommand = { id, session: history.id, title: title.slice(0, titleCharsMax), beganMs: nowMs };
    state.saveRunning([...running.filter((one) => one.id !== id), own]);
  }
  return { observed: 0, notCovered: [], complete: tree.facts.complete, turn: undefined, tree };
}

async function end(work: RootWork): Promise<RootObserved> {
  const { state, history, request, context } = work;
  const { command } = request;
  const running = state.running(Date.now());
  const isOwn = (one: RunningCommand): boolean =>
    command?.does === "ended unseen" ? one.session === history.id : one.id === command?.id;
  const [own, others] = [running.filter(isOwn), running.filter((one) => !isOwn(one))];
  const isOurs = command === undefined ? running.length === 0 : command.does === "ends" || own.length > 0;
  const noted = isOurs ? undefined : state.tree();
  if (noted !== undefined)
    return { observed: 0, notCovered: [], complete: noted.facts.complete, turn: undefined, tree: noted };
  const compared = await compare(work, "all");
  const { changes, notCovered } = compared;
  let turn: string | undefined;
  if (changes.length > 0) {
    const last = own.at(-1);
    const id = command?.turn ?? last?.id ?? command?.id;
    const title = titleOf(last?.title ?? command?.title, others);
    turn = await record(changes, { id, title, notCovered: namesOf(notCovered, work.root) }, history, context);
  }
  compared.save();
  if (own.length > 0) state.saveRunning(others);
  await tellLanguages(changes, context);
  const lost = changes.filter(isLost);
  return {
    observed: turn === undefined ? 0 : changes.length - lost.length,
    notCovered: [...(turn === undefined ? changes : lost).map(({ path }) => path), ...notCovered],
    complete: compared.tree.facts.complete,
    turn,
    tree: compared.tree,
  };
}

/** A new file that is large can be removed again; a new secret cannot, because nobody could bring it back. */
function isLost({ before, after }: ObservedChange): boolean {
  if (before.kind === "file") return before.notKept !== undefined;
  return after.kind === "file" && after.notKept === "secret";
}

function titleOf(title: string | undefined, others: readonly RunningCommand[]): string | undefined {
  if (title === undefined || others.length === 0) return title?.slice(0, titleCharsMax);
  const also = others.map((one) => one.title).join("; ");
  return `${title.slice(0, titleCharsMax)} (at the same time: ${also.slice(0, titleCharsMax)})`;
}

function namesOf(paths: readonly string[], root: string): NotCovered | undefined {
  if (paths.length === 0) return undefined;
  return { names: paths.slice(0, namesMax).map((path) => nodePath.relative(root, path)), count: paths.length };
}

interface AboutTurn {
  /** Undefined: the turn of the call. */
  readonly id: string | undefined;
  readonly title: string | undefined;
  readonly notCovered: NotCovered | undefined;
}

/** The turn; undefined if it cannot be recorded. */
async function record(
  changes: readonly ObservedChange[],
  { id, title, notCovered }: AboutTurn,
  history: SessionHistory,
  context: ToolContext,
): Promise<string | undefined> {
  const messageId = id ?? (await context.turn())?.messageId;
  if (messageId === undefined) return undefined;
  const about = { ...(title === undefined ? {} : { title }), ...(notCovered === undefined ? {} : { notCovered }) };
  const begun = id === undefined ? { failed: undefined } : await history.checkpoint(messageId, undefined, about);
  const { failed } = begun.failed === undefined ? await history.keepObserved(messageId, changes) : begun;
  if (failed !== undefined) throw new StoreFailed("failed", failed, "");
  return messageId;
}

async function tellLanguages(changes: readonly ObservedChange[], context: ToolContext): Promise<void> {
  if (changes.length === 0) return;
  const did = ({ before, after }: ObservedChange): WatchedChange["did"] =>
    after.kind === "absent" ? "deleted" : before.kind === "absent" ? "created" : "changed";
  const files = changes.filter(({ before, after }) => !isFolder(before) && !isFolder(after));
  (await context.languages?.())?.watchedFilesChanged(files.map((change) => ({ path: change.path, did: did(change) })));
}

const isFolder = (version: FileVersion): boolean => version.kind === "file" && version.is === "folder";

interface Compared {
  readonly changes: readonly ObservedChange[];
  readonly notCovered: readonly string[];
  readonly tree: NotedTree;
  /** Notes the new state. To be called after the changes are recorded: a killed process records them again, not never. */
  save(): void;
}

async function compare(work: RootWork, need: "all" | "not in git"): Promise<Compared> {
  const { root, state, limits, history, context, request, git } = work;
  const old = state.tree();
  const scannedMs = Date.now();
  const scanned = await scanRoot(root, old, limits.filesMax, context);
  const looked = await lookAtContents(scanned.touched, {
    root,
    limits,
    history,
    context,
    git,
    copiedBytes: old?.copiedBytes() ?? 0,
    need: old === undefined ? "not in git" : need,
    untilMs: scannedMs + (request.copyMsMax ?? Number.POSITIVE_INFINITY),
  });
  const isNews = withContents(scanned, looked);
  const complete = scanned.complete;
  const listAgain =
    old !== undefined &&
    [...scanned.touched, ...scanned.gone].some(({ path }) => isIgnoreFile(nodePath.basename(path)));
  const [mode, size, mtime, ctime, inode] = scanned.rootStat;
  const rootStat = [mode, size, mtime, listAgain ? Number.NaN : ctime, inode] as const;
  const facts = { root, scannedMs, complete, rootStat };
  const tree = old !== undefined && !isNews ? old : nextTree(old, { ...scanned, listAgain }, facts);
  const save = (): void => {
    if (tree !== old) state.save(tree);
  };
  if (need === "not in git" || old === undefined) {
    save();
    return { changes: [], notCovered: [], tree, save };
  }
  const found = await changesIn(scanned, looked, old, work);
  return { ...found, tree, save };
}

/** Puts what was read into the lists; false if nothing is to be noted. */
function withContents({ touched, listed, replaced }: Scanned, looked: readonly (Looked | undefined)[]): boolean {
  const byFolder = new Map<string, Map<string, NotedEntry | undefined>>();
  for (const [index, { folder, name, at }] of touched.entries()) {
    const entry = looked[index]?.entry;
    if (listed.has(folder)) {
      const names = byFolder.get(folder) ?? new Map<string, NotedEntry | undefined>();
      byFolder.set(folder, names.set(name, entry));
    } else if (at !== undefined && entry !== undefined) replaced.set(at, entry);
  }
  for (const [folder, names] of byFolder) {
    const list = listed.get(folder) ?? [];
    listed.set(
      folder,
      list.flatMap((entry) => (names.has(entry.name) ? (names.get(entry.name) ?? []) : [entry])),
    );
  }
  return listed.size > 0 || replaced.size > 0;
}

const ignoreFiles: ReadonlySet<string> = new Set([".gitignore", ".ignore", ".rgignore"]);
const isIgnoreFile = (name: string): boolean => ignoreFiles.has(name);

interface Change {
  readonly path: string;
  readonly before: NotedEntry | "absent";
  readonly now: Looked | "absent";
}

/** What is different, as versions of the history. Contents that only git has are copied into the store now. */
async function changesIn(
  { touched, folders, gone, notCovered }: Scanned,
  looked: readonly (Looked | undefined)[],
  old: NotedTree,
  work: RootWork,
): Promise<Pick<Compared, "changes" | "notCovered">> {
  const { root, history } = work;
  const not = new Set(notCovered.map(({ path }) => path));
  const changes: Change[] = [];
  // What is gone comes first: a folder may be where a file was.
  for (const { path, before } of gone) {
    if (before.place === "denied") continue;
    if (isRecordable(before)) changes.push({ path, before, now: "absent" });
    else not.add(path);
  }
  for (const { path, before, now } of folders) {
    changes.push({
      path,
      before: before ?? "absent",
      now: { entry: now, content: undefined, links: 1, mark: undefined },
    });
  }
  for (const [index, one] of touched.entries()) {
    const now = looked[index];
    const isUnknown = one.before === undefined && !old.facts.complete;
    if (now === undefined || isUnknown || !isChanged(one, now)) continue;
    if (one.before !== undefined && !isRecordable(one.before)) {
      // What was not covered before, and was looked at now for the first time, is no change.
      if (one.before.stat[0] !== 0) not.add(one.path);
    } else if (one.before === undefined && !isRecordable(now.entry) && now.entry.place !== "over budget")
      not.add(one.path);
    else changes.push({ path: one.path, before: one.before ?? "absent", now });
  }
  const ours = await history.changedByAnySince(old.facts.scannedMs);
  const fromGit = await contentsFromGit(changes, ours, work);
  const empty = await history.note(storedFile({ bytes: new Uint8Array(), mode: 0o600 }), root, new Uint8Array());
  const found: (ObservedChange & { readonly inode: number })[] = [];
  for (const change of changes) {
    const path = nodePath.join(root, change.path);
    const after = change.now === "absent" ? absent : afterVersion(change.now, empty);
    const own = ours.get(path);
    // A change that was recorded just before the scan may have been made after it.
    const isOwn = own !== undefined && (own.timeMs >= old.facts.scannedMs || isSame(own.after, after));
    const noted = change.before === "absent" ? absent : beforeVersion(change.before, fromGit.get(change.path), empty);
    const before = isOwn ? own.after : noted;
    if (before === undefined) not.add(change.path);
    else if (!isSame(before, after)) {
      const inode =
        change.now === "absent" ? (change.before === "absent" ? 0 : change.before.stat[4]) : change.now.entry.stat[4];
      found.push({ path, relative: nodePath.normalize(change.path), before, after, inode });
    }
  }
  return { changes: withMoves(found), notCovered: [...not].map((path) => nodePath.join(root, path)) };
}

const absent: FileVersion = { kind: "absent" };

/** A secret and a large file are recorded without their content: then the undo says why they stay as they are. */
const isRecordable = ({ place }: NotedEntry): boolean =>
  !isNotCovered(place) || place === "secret" || place === "too large";

const permissions = 0o7777;

function isChanged({ before }: Touched, { entry }: Looked): boolean {
  if (before === undefined) return true;
  const isSameMode = before.stat[0] === entry.stat[0];
  if (!isNotCovered(before.place) && before.place === entry.place)
    return !isSameMode || before.content !== entry.content;
  return !isSameMode || before.stat[1] !== entry.stat[1] || before.stat[2] !== entry.stat[2];
}

function isSame(a: FileVersion, b: FileVersion): boolean {
  if (a.kind === "absent" || b.kind === "absent") return a.kind === b.kind;
  const isSameContent = a.content === undefined ? a.mark !== undefined && a.mark === b.mark : a.content === b.content;
  return a.is === b.is && isSameContent && (a.mode === undefined || a.mode === b.mode);
}

/** Undefined if the content is lost. */
function beforeVersion(
  { stat, place, content }: NotedEntry,
  fromGit: string | undefined,
  empty: string,
): FileVersion | undefined {
  const mode = stat[0] & permissions;
  if (place === "folder") return { kind: "file", is: "folder", sizeBytes: 0, mode, content: empty };
  const is = kindOfMode(stat[0]) === kinds.link ? ({ is: "link" } as const) : {};
  const version = { kind: "file", ...is, sizeBytes: stat[1], mode } as const;
  if (place === "stored") return { ...version, content };
  if (place === "git sha1" || place === "git sha256")
    return fromGit === undefined ? undefined : { ...version, content: fromGit };
  return { ...version, notKept: place === "secret" ? "secret" : "too large" };
}

function afterVersion({ entry, content, links, mark }: Looked, empty: string): FileVersion {
  const { stat, place } = entry;
  const mode = stat[0] & permissions;
  if (place === "folder") return { kind: "file", is: "folder", sizeBytes: 0, mode, content: empty };
  const is = kindOfMode(stat[0]) === kinds.link ? ({ is: "link" } as const) : {};
  const version = { kind: "file", ...is, sizeBytes: stat[1], mode, ...(links > 1 ? { links } : {}) } as const;
  if (content !== undefined) return { ...version, content };
  const known = mark === undefined ? {} : { mark };
  return { ...version, ...known, notKept: place === "secret" ? "secret" : "too large" };
}

/** By path: the id in the store of a content that git has, if git still has it. */
async function contentsFromGit(
  changes: readonly Change[],
  ours: ReadonlyMap<string, unknown>,
  { root, git, history, context }: RootWork,
): Promise<ReadonlyMap<string, string>> {
  const needed = changes.flatMap(({ path, before }) => {
    const isInGit = before !== "absent" && (before.place === "git sha1" || before.place === "git sha256");
    return isInGit && !ours.has(nodePath.join(root, path)) ? [{ path, entry: before }] : [];
  });
  const found = new Map<string, string>();
  if (needed.length === 0) return found;
  const contents = git()?.contents(
    needed.map(({ entry }) => entry.content),
    context.signal,
  );
  let at = 0;
  for await (const bytes of contents ?? []) {
    const one = needed[at];
    at += 1;
    if (one === undefined || bytes === undefined || bytes.length !== one.entry.stat[1]) continue;
    const real = nodePath.join(root, one.path);
    found.set(one.path, await history.note(storedFile({ bytes, mode: 0o600 }), real, bytes));
  }
  return found;
}

/** A file that is gone at one place and new at another, with its inode and its content, was moved. */
function withMoves(found: readonly (ObservedChange & { readonly inode: number })[]): readonly ObservedChange[] {
  const sources = new Map(
    found.flatMap((change) =>
      change.before.kind === "file" && change.after.kind === "absent" ? [[change.inode, change]] : [],
    ),
  );
  const movedTo = new Map<string, string>();
  const movedFrom = new Map<string, string>();
  for (const { path, before, after, inode } of found) {
    const source = before.kind === "absent" ? sources.get(inode) : undefined;
    if (source === undefined || after.kind === "absent" || source.before.kind === "absent") continue;
    if (after.is === "folder" || source.before.content !== after.content || after.content === undefined) continue;
    movedTo.set(source.path, path);
    movedFrom.set(path, source.path);
    sources.delete(inode);
  }
  return found.map(({ inode: _inode, ...change }) => {
    const [to, from] = [movedTo.get(change.path), movedFrom.get(change.path)];
    return {
      ...change,
      ...(to === undefined ? {} : ({ movedTo: to } satisfies Pick<ChangeRecord, "movedTo">)),
      ...(from === undefined ? {} : { movedFrom: from }),
    };
  });
}
