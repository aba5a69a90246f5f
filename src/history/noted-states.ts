/**
 * What is noted of each root between two processes, in `observe/` of the state folder: the tree of the last scan, and the
 * commands that are running. A tree appears whole or not at all; contents are stored before the tree that names them.
 */

import { createHash } from "node:crypto";
import { createLocks, type Locks, openStoreFolder, type StoreFolder } from "../disk/disk.ts";
import { decodeTree, encodeTree, type NotedTree } from "./noted-tree.ts";

/** A shell command between its beginning and its end. */
export interface RunningCommand {
  readonly id: string;
  readonly session: string;
  readonly title: string;
  readonly beganMs: number;
}

export interface NotedState {
  /** Undefined if nothing was noted yet, or what was noted is damaged. */
  tree(): NotedTree | undefined;
  save(tree: NotedTree): void;
  running(nowMs: number): readonly RunningCommand[];
  saveRunning(commands: readonly RunningCommand[]): void;
  /** Runs `work` while no other process scans this root. */
  exclusively<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result>;
}

export interface NotedStates {
  of(root: string): NotedState;
  /** Contents that the noted trees need: no collection may remove them. Forgets roots that were not scanned for long. */
  contents(nowMs: number): Iterable<string>;
}

/** A command that ran longer than this was interrupted, and nobody said so. */
const runningMsMax = 3_600_000;
/** The most commands that count as running at once. */
const runningMax = 100;
/** A root that was not scanned for so long is forgotten. */
const unusedMsMax = 30 * 86_400_000;
const [treeName, runningName] = ["tree", "running"];

export function openNotedStates(path: string, lockFolder: string | undefined): NotedStates {
  const folder = openStoreFolder(path);
  let locks: Locks | undefined;
  return {
    of: (root) => {
      const place = createHash("sha256").update(root).digest("hex").slice(0, 16);
      return {
        tree: () => treeIn(folder, place),
        save: (tree) => folder.put(`${place}/${treeName}`, encodeTree(tree)),
        running: (nowMs) => runningIn(folder, place).filter(({ beganMs }) => nowMs - beganMs < runningMsMax),
        saveRunning: (commands) =>
          folder.put(`${place}/${runningName}`, Buffer.from(JSON.stringify(commands.slice(-runningMax)))),
        exclusively: (signal, work) => {
          locks ??= createLocks({ folder: lockFolder });
          const name = createHash("sha256").update(`${folder.path}\n${place}`).digest("hex");
          return locks.exclusively([{ folder: { device: 0n, inode: 0n }, name }], signal, work);
        },
      };
    },
    *contents(nowMs) {
      folder.sweep();
      for (const place of folder.list("")) {
        const stored = folder.look(`${place}/${treeName}`);
        if (stored === undefined) continue;
        if (nowMs - Number(stored.mtimeNs / 1_000_000n) > unusedMsMax) folder.remove(place);
        else yield* treeIn(folder, place)?.storedContents() ?? [];
      }
    },
  };
}

function treeIn(folder: StoreFolder, place: string): NotedTree | undefined {
  const bytes = folder.read(`${place}/${treeName}`);
  return bytes === undefined ? undefined : decodeTree(bytes);
}

function runningIn(folder: StoreFolder, place: string): readonly RunningCommand[] {
  try {
    const list: unknown = JSON.parse(folder.read(`${place}/${runningName}`)?.toString("utf8") ?? "[]");
    return Array.isArray(list) ? list.filter(isRunning) : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

function isRunning(value: unknown): value is RunningCommand {
  if (typeof value !== "object" || value === null) return false;
  const { id, session, title, beganMs } = value as Partial<Record<keyof RunningCommand, unknown>>;
  return [id, session, title].every((text) => typeof text === "string") && Number.isFinite(beganMs);
}
