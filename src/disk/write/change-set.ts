/**
 * Several files changed as one: all of them, or none. Each change is prepared as it would be by itself, up to the moment at
 * which its file gets the new content, and waits there. When all are ready a journal of the set is written
 * (`set-journal.ts`) and the old files are kept by a second name; only then the first file is changed. What fails
 * before leaves every file as it was; what fails later is taken back by those second names, for which a full disk has
 * room. A process that is killed in between leaves the journal, and the next one takes the set back (`set-recovery.ts`).
 */

import type { BigIntStats } from "node:fs";
import * as nodePath from "node:path";
import { errnoName } from "../errno.ts";
import type { HeldLocks } from "../lock/lock.ts";
import {
  type FolderHandle,
  openFolder,
  prepareSync,
  unlinkQuietly,
  withRoom,
  type WriteContext,
} from "../lookup/folder-handle.ts";
import type { FileNode, Root } from "../lookup/lookup.ts";
import type { OpenFile } from "../lookup/open-file.ts";
import { contentOf, type Moving } from "./content.ts";
import { type Created, createFile, type CreateInput, holdOrMake, type Made, noLink, removeMade } from "./create.ts";
import { stateFolder } from "./in-place.ts";
import { CannotKeep, keepMetadata } from "./metadata.ts";
import { type Replaced, replaceFile, type ReplaceInput } from "./replace.ts";
import { clearStep, markDone, type SetRecord, type SetStep, takeStepBack, writeSetJournal } from "./set-journal.ts";
import { tempName, writeTemp } from "./temp-file.ts";
import { type Removed, removeFile, type RemoveInput } from "./whole-folder.ts";
import { asWriteFailed, during, FileChanged, nothingDone, type NothingDone, WriteFailed } from "./write-failed.ts";

/** What one change of a set asks the set for. */
export interface Member {
  /** Names beside the file, for what it was. */
  readonly old: string;
  readonly undo: string;
  /** The file's folder, held until the set is over. */
  hold(path: string): FolderHandle;
  /** The same; what is missing of it is made. */
  holdOrMake(path: string): Promise<FolderHandle>;
  /** To be called when all is prepared and nothing changed. Waits for the others; what it throws stops the change. */
  ready(step: ReadyStep): Promise<void>;
}

type ReadyStep = { readonly path: string; readonly fresh?: SetStep["fresh"] } & (
  | { readonly does: "create" }
  | { readonly does: "replace"; readonly before: BigIntStats; readonly file: OpenFile; readonly node: FileNode }
  | { readonly does: "remove"; readonly before: BigIntStats }
);

/** A change that lies ready, and what makes it happen. */
export interface Staged<Result> {
  /** Undefined if it is over already, as where there was nothing to change. */
  readonly go: (() => void) | undefined;
  readonly over: Promise<Result>;
}

export interface ChangeSet {
  /** As those of the disk, but that each of them waits for the others. */
  readonly replace: (input: ReplaceInput) => Promise<Replaced>;
  readonly create: (input: CreateInput) => Promise<Created>;
  readonly remove: (input: RemoveInput) => Promise<Removed>;
  /** Runs work that makes one such change until that lies ready. Throws what the work throws until then. */
  stage<Result>(work: () => Promise<Result>): Promise<Staged<Result>>;
  /** When all are staged, before the first of them goes. What it answers with stops the set: it must be taken back. */
  begin(): Promise<NothingDone | undefined>;
  /**
   * When all have gone: from here on the set stands. Answers with the name of an error if a power cut may still undo a part
   * of it. Throws WriteFailed if it cannot be made to stand: then it must be taken back.
   */
  finish(): Promise<string | undefined>;
  /** Instead: every file as it was. By path, whether that came true of those that had gone. */
  takeBack(reason: unknown): Promise<ReadonlyMap<string, "put back" | "untouched" | "not ours" | "failed">>;
}

interface Waiting {
  readonly step: SetStep;
  readonly ready: ReadyStep;
  readonly folder: FolderHandle;
  readonly go: () => void;
  readonly stop: (reason: unknown) => void;
  hasGone: boolean;
}

/** `paths` are the files that it may change; the caller holds their locks. */
export function createChangeSet(
  paths: readonly string[],
  { byKernel }: HeldLocks,
  roots: readonly Root[],
  context: WriteContext,
): ChangeSet {
  const { system } = context;
  const folders = new Map<string, FolderHandle>();
  const handle: FolderHandle[] = [];
  const made: Made[] = [];
  const waiting: Waiting[] = [];
  const places = [...new Set(paths.map((path) => nodePath.dirname(path)))];
  let intent: OpenJournal | undefined;
  let journal: OpenJournal | undefined;
  let onReady: (one: Waiting) => void = () => undefined;

  const keep = (folder: FolderHandle): FolderHandle => {
    handle.push(folder);
    if (!folders.has(folder.path)) folders.set(folder.path, folder);
    return folder;
  };
  const member = (): Member => {
    const names = { old: tempName("old"), undo: tempName("old") };
    return {
      ...names,
      hold: (path) => folders.get(path) ?? keep(openFolder(path, context)),
      holdOrMake: async (path) => {
        return folders.get(path) ?? (await holdOrMake(path, keep, made, context));
      },
      ready: (ready) =>
        new Promise<void>((go, stop) => {
          const { path, does, fresh } = ready;
          const oldInode = ready.does === "create" ? undefined : String(ready.before.ino);
          const step: SetStep = { path, does, oldInode, ...(fresh && { fresh }), ...names };
          const folder = folders.get(nodePath.dirname(path));
          if (folder === undefined) throw new Error("whoever is ready holds the folder");
          const one: Waiting = { step, ready, folder, go, stop, hasGone: false };
          waiting.push(one);
          onReady(one);
        }),
    };
  };
  /** The folder of each file, once. */
  const touched = (): readonly FolderHandle[] => [...new Set(waiting.map(({ folder }) => folder))];

  return {
    replace: (input) => replaceFile(input, context, member()),
    create: (input) => createFile(input, context, member()),
    remove: (input) => removeFile(input, context, member()),
    async stage(work) {
      // Without it new content of a process that is killed lies there until its folder is changed next: no reason to fail.
      intent ??= await announced(
        { version: 1, steps: [], folders: [], places, byKernel },
        placesFor(paths, roots, context),
        context,
      );
      const ready = new Promise<Waiting>((resolve) => (onReady = resolve));
      const over = work();
      over.catch(() => undefined); // whoever waits for it is told
      const one = await Promise.race([ready, over.then(() => undefined)]);
      if (one === undefined) return { go: undefined, over };
      const go = (): void => {
        one.hasGone = true;
        one.go();
      };
      return { go, over };
    },
    async begin() {
      const [first] = waiting;
      if (first === undefined) return undefined;
      try {
        const madeFolders = made.map(({ parent, name }) => nodePath.join(parent.path, name));
        const steps = waiting.map(({ step }) => step);
        const record = { version: 1, steps, folders: madeFolders, places, byKernel } as const;
        const beside: Place = () => ({ folder: first.folder, close: () => undefined });
        journal = await withRoom(context, () =>
          journalOf(record, [...placesFor(paths, roots, context), beside], context),
        );
        if (intent !== undefined) unlinkQuietly(intent.path, system);
        for (const one of waiting) await keepOld(one, context);
        // The second names are safe before a first one goes.
        for (const folder of touched()) await syncNow(folder, context);
        return undefined;
      } catch (error) {
        return nothingDone(error);
      }
    },
    async finish() {
      let errno: string | undefined;
      for (const folder of touched()) errno ??= await syncFailure(folder, context);
      if (journal !== undefined) {
        try {
          await markDone(journal.path, movingIn(journal.folder, context));
        } catch (error) {
          if (!(error instanceof WriteFailed)) throw error;
          // Without it the next process would not take the set back either.
          if (!unlinkQuietly(journal.path, system)) throw error;
        }
      }
      const cleared = waiting.map(({ step, folder }) => clearStep(step, folder, context));
      // What could not be cleared away is left to the next process, which finds it by the journal.
      if (journal !== undefined && cleared.every((isClear) => isClear)) unlinkQuietly(journal.path, system);
      closeAll(handle, journal, intent);
      return errno;
    },
    async takeBack(reason) {
      const came = new Map<string, "put back" | "untouched" | "not ours" | "failed">();
      for (const one of waiting) if (!one.hasGone) one.stop(reason);
      for (const { step, folder, hasGone } of waiting.toReversed()) {
        const back = hasGone ? await takenBack(step, folder, context) : "untouched";
        if (hasGone) came.set(step.path, back);
        if (back !== "failed") clearStep(step, folder, context);
      }
      removeMade(made, context);
      for (const folder of journal === undefined ? [] : touched()) await syncFailure(folder, context);
      if (journal !== undefined && ![...came.values()].includes("failed")) unlinkQuietly(journal.path, system);
      if (intent !== undefined) unlinkQuietly(intent.path, system);
      closeAll(handle, journal, intent);
      return came;
    },
  };
}

interface OpenJournal {
  readonly path: string;
  readonly folder: FolderHandle;
  /** Whether the folder is to be closed with it. */
  readonly close: () => void;
}

function closeAll(handle: readonly FolderHandle[], ...journals: readonly (OpenJournal | undefined)[]): void {
  for (const one of [...handle, ...journals]) one?.close();
}

type Place = () => { readonly folder: FolderHandle; readonly close: () => void } | undefined;

/** Where the journal may lie: in the root, where the next process that works there looks for it; else in the state folder. */
function placesFor([first = ""]: readonly string[], roots: readonly Root[], context: WriteContext): readonly Place[] {
  const root = roots.find(({ real }) => first.startsWith(real === nodePath.sep ? real : `${real}${nodePath.sep}`));
  return [
    () => {
      if (root === undefined) return undefined;
      const top = openFolder(root.real, context);
      return { folder: top, close: () => top.close() };
    },
    () => {
      const state = stateFolder(context, "make");
      return state && { folder: state, close: () => state.close() };
    },
  ];
}

async function announced(
  record: SetRecord,
  places: readonly Place[],
  context: WriteContext,
): Promise<OpenJournal | undefined> {
  try {
    return await journalOf(record, places, context);
  } catch (error) {
    if (error instanceof WriteFailed || error instanceof FileChanged) return undefined;
    throw error;
  }
}

const noNewFile = ["EACCES", "EPERM", "EROFS"];

async function journalOf(record: SetRecord, places: readonly Place[], context: WriteContext): Promise<OpenJournal> {
  const [first, ...others] = places;
  if (first === undefined) throw new WriteFailed("EACCES", "keeping the old content");
  const place = first();
  if (place !== undefined) {
    const { folder, close } = place;
    const path = folder.at(tempName("set"));
    try {
      await writeSetJournal(path, record, movingIn(folder, context));
      if (record.steps.length > 0) await syncNow(folder, context);
      return { path, folder, close };
    } catch (error) {
      unlinkQuietly(path, context.system);
      close();
      const isClosed = error instanceof WriteFailed && noNewFile.includes(error.errno);
      if (!isClosed || others.length === 0) throw error;
    }
  }
  return journalOf(record, others, context);
}

const movingIn = ({ reads }: FolderHandle, { system }: WriteContext): Moving => ({ system, reads, signal: undefined });

/** A second name for a file that will be renamed over; a copy where the file system has no such names. */
async function keepOld({ step, ready, folder }: Waiting, context: WriteContext): Promise<void> {
  if (ready.does !== "replace" || step.fresh === undefined) return;
  const { system } = context;
  const [name, old] = [folder.at(nodePath.basename(step.path)), folder.at(step.old)];
  try {
    system.link(name, old);
  } catch (error) {
    const errno = errnoName(error);
    if (errno === "ENOENT") throw new FileChanged();
    if (errno === undefined || !noLink.includes(errno)) throw asWriteFailed(error, "keeping the old content");
    return copyOld(step.old, ready, folder, context);
  }
  const kept = during("keeping the old content", () => system.statLink(old));
  if (String(kept.ino) !== step.oldInode) throw new FileChanged();
}

async function copyOld(
  name: string,
  { before, file, node }: Extract<ReadyStep, { readonly does: "replace" }>,
  folder: FolderHandle,
  context: WriteContext,
): Promise<void> {
  const content = contentOf(file.sizeBytes === 0 ? [] : [{ from: 0, to: file.sizeBytes }], file);
  const dress = async (fd: number, fresh: BigIntStats): Promise<void> => {
    await keepMetadata(fd, fresh, before, node.handle.handlePath, context.system);
  };
  try {
    await writeTemp(folder, { content, mode: 0o600, signal: new AbortController().signal, dress, name }, context);
  } catch (error) {
    throw error instanceof CannotKeep ? new WriteFailed(error.errno, "keeping the old content") : error;
  }
}

async function syncNow(folder: FolderHandle, { system }: WriteContext): Promise<void> {
  using folderSync = prepareSync(folder, system);
  await folderSync.sync();
}

async function syncFailure(folder: FolderHandle, context: WriteContext): Promise<string | undefined> {
  try {
    await syncNow(folder, context);
    return undefined;
  } catch (error) {
    if (error instanceof WriteFailed) return error.errno;
    throw error;
  }
}

async function takenBack(
  step: SetStep,
  folder: FolderHandle,
  context: WriteContext,
): Promise<"put back" | "untouched" | "not ours" | "failed"> {
  try {
    return await takeStepBack(step, folder, context);
  } catch (error) {
    if (error instanceof WriteFailed || error instanceof FileChanged) return "failed";
    throw error;
  }
}
