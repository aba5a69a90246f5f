/**
 * Changes several files, all or none. Each change is prepared up to the moment at which its file gets the new content, and waits
 * there. When all are ready, a journal of the set is written (`set-journal.ts`) and the old files get a second name; only then is
 * the first file changed. A later failure is rolled back through the second names, which needs no disk space; the set of a killed
 * process by the next process.
 */

import type { BigIntStats } from "node:fs";
import * as nodePath from "node:path";
import { orErrno } from "../errno.ts";
import { timeSlices } from "../event-loop.ts";
import type { HeldLocks } from "../lock/lock.ts";
import {
  type FolderHandle,
  openFolder,
  syncFolder,
  unlinkQuietly,
  retryWhenDiskFull,
  type WriteContext,
} from "../lookup/folder-handle.ts";
import type { FileNode, Root } from "../lookup/lookup.ts";
import type { OpenFile } from "../lookup/open-file.ts";
import { contentOf, type IoOptions } from "./content.ts";
import {
  type Created,
  createFile,
  type CreateInput,
  openOrMake,
  type MadeFolder,
  noLinkErrnos,
  removeMade,
} from "./create.ts";
import { stateFolder } from "./in-place.ts";
import { MetadataRefused, copyMetadata } from "./metadata.ts";
import { type Replaced, replaceFile, type ReplaceInput } from "./replace.ts";
import {
  clearStep,
  markDone,
  type SetRecord,
  type SetStep,
  type TakenBack,
  takeStepBack,
  writeSetJournal,
} from "./set-journal.ts";
import { tempName, writeTemp } from "./temp-file.ts";
import { type Removed, removeFile, type RemoveInput } from "./remove.ts";
import { removeTree, type RemoveTreeInput } from "./whole-tree.ts";
import {
  during,
  FileChanged,
  isExpected,
  noNewFileErrnos,
  nothingDone,
  type NothingDone,
  type Unconfirmed,
  WriteFailed,
} from "./write-failed.ts";

export interface Member {
  readonly old: string;
  readonly undo: string;
  /** The file's folder, open until the set is over. */
  open(path: string): FolderHandle;
  openOrMake(path: string): Promise<FolderHandle>;
  /** Called when all is prepared and nothing changed. Waits for the other changes; its error stops this one. */
  ready(step: ReadyStep): Promise<void>;
}

type ReadyStep = { readonly path: string; readonly fresh?: SetStep["fresh"] } & (
  | { readonly does: "create" }
  | { readonly does: "replace"; readonly before: BigIntStats; readonly file: OpenFile; readonly node: FileNode }
  | { readonly does: "remove"; readonly before: BigIntStats }
);

export interface Staged<Result> {
  /** Performs the change; undefined if it ended early, as where there was nothing to change. */
  readonly go: (() => void) | undefined;
  readonly over: Promise<Result>;
}

export interface ChangeSet {
  readonly replace: (input: ReplaceInput) => Promise<Replaced>;
  readonly create: (input: CreateInput) => Promise<Created>;
  readonly remove: (input: RemoveInput) => Promise<Removed>;
  readonly removeTree: (input: RemoveTreeInput) => Promise<Removed>;
  /** Runs work that makes one such change until it is ready. Throws what the work throws before that. */
  stage<Result>(work: () => Promise<Result>): Promise<Staged<Result>>;
  /** Called when all are staged, before the first goes. A returned outcome stops the set: the caller calls `takeBack`. */
  begin(): Promise<NothingDone | undefined>;
  /**
   * Called when all have gone: the set is now final. `errno`: a power cut may still undo a part of it. `isClear` is false if old
   * files remain under names of ours, for the next process to remove. Throws WriteFailed if the set cannot be made final: the
   * caller then calls `takeBack`.
   */
  finish(): Promise<{ readonly errno: string | undefined; readonly isClear: boolean }>;
  /** Rolls every file back instead. Returns the result by path, for those that had gone. */
  takeBack(reason: unknown): Promise<ReadonlyMap<string, TakenBack | "failed">>;
}

interface Waiting {
  readonly step: SetStep;
  readonly ready: ReadyStep;
  readonly folder: FolderHandle;
  readonly go: () => void;
  readonly stop: (reason: unknown) => void;
  hasGone: boolean;
}

/** `paths` are the files that the set may change; the caller has their locks. */
export function createChangeSet(
  paths: readonly string[],
  { byKernel }: HeldLocks,
  roots: readonly Root[],
  context: WriteContext,
): ChangeSet {
  const { system } = context;
  const folders = new Map<string, FolderHandle>();
  const opened: FolderHandle[] = [];
  const made: MadeFolder[] = [];
  const waiting: Waiting[] = [];
  const places = [...new Set(paths.map((path) => nodePath.dirname(path)))];
  let intent: OpenJournal | undefined;
  let journal: OpenJournal | undefined;
  let onReady: (one: Waiting) => void = () => undefined;

  const keep = (folder: FolderHandle): FolderHandle => {
    opened.push(folder);
    if (!folders.has(folder.path)) folders.set(folder.path, folder);
    return folder;
  };
  const member = (): Member => {
    const names = { old: tempName("old"), undo: tempName("old") };
    return {
      ...names,
      open: (path) => folders.get(path) ?? keep(openFolder(path, context)),
      openOrMake: async (path) => {
        return folders.get(path) ?? (await openOrMake(path, keep, made, context));
      },
      ready: (ready) =>
        new Promise<void>((go, stop) => {
          const { path, does, fresh } = ready;
          const oldInode = ready.does === "create" ? undefined : String(ready.before.ino);
          const step: SetStep = { path, does, oldInode, ...(fresh && { fresh }), ...names };
          const folder = folders.get(nodePath.dirname(path));
          if (folder === undefined) throw new Error("a change is ready before its folder is open");
          const one: Waiting = { step, ready, folder, go, stop, hasGone: false };
          waiting.push(one);
          onReady(one);
        }),
    };
  };
  const touched = (): readonly FolderHandle[] => [...new Set(waiting.map(({ folder }) => folder))];

  return {
    replace: (input) => replaceFile(input, context, member()),
    create: (input) => createFile(input, context, member()),
    remove: (input) => removeFile(input, context, member()),
    removeTree: (input) => removeTree(input, context, member()),
    async stage(work) {
      // Without this record the new content of a killed process stays until its folder is next changed: no reason to fail.
      const record = { version: 1, steps: [], folders: [], places, byKernel } as const;
      intent ??= await orElse(undefined, journalOf(record, placesFor(paths, roots, context), opened, context));
      const ready = new Promise<Waiting>((resolve) => (onReady = resolve));
      const over = work();
      over.catch(() => undefined); // the caller awaits `over` and gets the error
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
        const possible = [...placesFor(paths, roots, context), () => first.folder];
        journal = await retryWhenDiskFull(context, () => journalOf(record, possible, opened, context));
        if (intent !== undefined) unlinkQuietly(intent.path, system);
        const slices = timeSlices();
        for (const one of waiting) {
          await keepOld(one, context);
          if (slices.isOver()) await slices.next();
        }
        // The second names are durable before a first one changes.
        for (const folder of touched()) await syncFolder(folder, system);
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
          await markDone(journal.path, ioIn(journal.folder, context));
        } catch (error) {
          if (!(error instanceof WriteFailed)) throw error;
          // Without the journal the next process does not roll the set back either.
          if (!unlinkQuietly(journal.path, system)) throw error;
        }
      }
      const slices = timeSlices();
      let isClear = true;
      for (const { step, folder } of waiting) {
        isClear = (await clearStep(step, folder, context)) && isClear;
        if (slices.isOver()) await slices.next();
      }
      // What could not be removed is left to the next process, which finds it through the journal.
      if (journal !== undefined && isClear) unlinkQuietly(journal.path, system);
      for (const one of opened) one.close();
      return { errno, isClear };
    },
    async takeBack(reason) {
      const results = new Map<string, TakenBack | "failed">();
      for (const one of waiting) if (!one.hasGone) one.stop(reason);
      const slices = timeSlices();
      for (const { step, folder, hasGone } of waiting.toReversed()) {
        if (slices.isOver()) await slices.next();
        const back = hasGone ? await orElse("failed" as const, takeStepBack(step, folder, context)) : "untouched";
        if (hasGone) results.set(step.path, back);
        if (back !== "failed") await clearStep(step, folder, context);
      }
      removeMade(made, context);
      for (const folder of journal === undefined ? [] : touched()) await syncFailure(folder, context);
      if (journal !== undefined && ![...results.values()].includes("failed")) unlinkQuietly(journal.path, system);
      if (intent !== undefined) unlinkQuietly(intent.path, system);
      for (const one of opened) one.close();
      return results;
    },
  };
}

interface OpenJournal {
  readonly path: string;
  readonly folder: FolderHandle;
}

type Place = () => FolderHandle | undefined;

/** Where the journal may be: in the root, where the next process that works there looks for it; else in the state folder. */
function placesFor([first = ""]: readonly string[], roots: readonly Root[], context: WriteContext): readonly Place[] {
  const root = roots.find(({ real }) => first.startsWith(real === nodePath.sep ? real : `${real}${nodePath.sep}`));
  return [() => root && openFolder(root.real, context), () => stateFolder(context, "make")];
}

async function orElse<Result, Other>(other: Other, work: Promise<Result>): Promise<Result | Other> {
  try {
    return await work;
  } catch (error) {
    if (isExpected(error)) return other;
    throw error;
  }
}

async function journalOf(
  record: SetRecord,
  [first, ...others]: readonly Place[],
  opened: FolderHandle[],
  context: WriteContext,
): Promise<OpenJournal> {
  if (first === undefined) throw new WriteFailed("EACCES", "keeping the old content");
  const folder = first();
  if (folder !== undefined) {
    opened.push(folder);
    const path = folder.at(tempName("set"));
    try {
      await writeSetJournal(path, record, ioIn(folder, context));
      if (record.steps.length > 0) await syncFolder(folder, context.system);
      return { path, folder };
    } catch (error) {
      unlinkQuietly(path, context.system);
      const isClosed = error instanceof WriteFailed && noNewFileErrnos.includes(error.errno);
      if (!isClosed || others.length === 0) throw error;
    }
  }
  return journalOf(record, others, opened, context);
}

const ioIn = ({ reads }: FolderHandle, { system }: WriteContext): IoOptions => ({ system, reads, signal: undefined });

/** A second hard link to a file that will be renamed over; a copy on file systems without hard links. */
async function keepOld({ step, ready, folder }: Waiting, context: WriteContext): Promise<void> {
  if (ready.does !== "replace" || step.fresh === undefined) return;
  const { system } = context;
  const [name, old] = [folder.at(nodePath.basename(step.path)), folder.at(step.old)];
  const failed = orErrno(
    () => system.link(name, old),
    (errno) => errno,
  );
  if (failed === "ENOENT") throw new FileChanged();
  if (failed !== undefined && noLinkErrnos.includes(failed)) return copyOld(step.old, ready, folder, context);
  if (failed !== undefined) throw new WriteFailed(failed, "keeping the old content");
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
  const setMetadata = async (fd: number, fresh: BigIntStats): Promise<void> => {
    await copyMetadata(fd, fresh, before, node.handle.handlePath, context.system);
  };
  try {
    await writeTemp(folder, { content, mode: 0o600, signal: new AbortController().signal, setMetadata, name }, context);
  } catch (error) {
    throw error instanceof MetadataRefused ? new WriteFailed(error.errno, "keeping the old content") : error;
  }
}

async function syncFailure(folder: FolderHandle, context: WriteContext): Promise<string | undefined> {
  try {
    await syncFolder(folder, context.system);
    return undefined;
  } catch (error) {
    if (error instanceof WriteFailed) return error.errno;
    throw error;
  }
}

export type TreeRemoved =
  | { readonly did: "removed"; readonly isClear: boolean }
  | NothingDone
  | Unconfirmed
  /** It could be neither removed nor given its name back; the next process tries again. */
  | { readonly did: "damaged"; readonly errno: string };

/** Removes a tree with a set of its own, so that a killed process leaves all of it or nothing. */
export async function removeWhole(
  input: RemoveTreeInput,
  locks: HeldLocks,
  roots: readonly Root[],
  context: WriteContext,
): Promise<TreeRemoved> {
  const set = createChangeSet([input.real], locks, roots, context);
  const undo = async (reason: unknown, result: NothingDone): Promise<TreeRemoved> => {
    const isStuck = [...(await set.takeBack(reason)).values()].includes("failed");
    return isStuck ? { did: "damaged", errno: result.why === "refused" ? result.errno : "EIO" } : result;
  };
  try {
    const { go, over } = await set.stage(() => set.removeTree(input));
    const stopped = go === undefined ? undefined : await set.begin();
    if (stopped !== undefined) return await undo(new FileChanged(), stopped);
    go?.();
    const removed = await over;
    if (removed.did === "nothing") return await undo(new FileChanged(), removed);
    const { errno, isClear } = await set.finish();
    return errno === undefined
      ? { did: "removed", isClear }
      : { did: "unconfirmed", errno, during: "syncing the folder" };
  } catch (error) {
    if (isExpected(error)) return undo(error, nothingDone(error));
    await set.takeBack(error);
    throw error;
  }
}
