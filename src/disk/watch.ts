/** Reports that a file may have changed. Watches its folder, as an atomic replace changes the inode; else polls. */

import { type BigIntStats, type FSWatcher, statSync, unwatchFile, watch, watchFile } from "node:fs";
import * as nodePath from "node:path";

export interface Watching {
  stop(): void;
}

/** Polling is only the fallback: one stat a second costs next to nothing. */
const pollMs = 1_000;

interface FolderWatch {
  /** The folder that is watched: the watch does not follow its name to a folder created later. */
  readonly stat: BigIntStats;
  readonly watcher: FSWatcher;
  readonly listeners: Map<string, Set<() => void>>;
}

/**
 * Process-wide by nature: the system limits watches per user, so all toolkits share the watch of a folder. Each listener gets
 * the events of its own file only, a watch of a folder that has been replaced is not shared any more, and the last listener
 * closes it.
 */
const folders = new Map<string, FolderWatch>();

/** `path` is real, without symlinks. Spurious calls of the listener are possible. */
export function watchPath(path: string, listener: () => void): Watching {
  const folder = nodePath.dirname(path);
  const name = nodePath.basename(path);
  const watched = sharedWatch(folder);
  if (watched === undefined) return poll(path, listener);
  const listeners = watched.listeners.get(name) ?? new Set();
  listeners.add(listener);
  watched.listeners.set(name, listeners);
  return {
    stop() {
      if (!listeners.delete(listener)) return;
      if (listeners.size === 0) watched.listeners.delete(name);
      if (watched.listeners.size > 0) return;
      if (folders.get(folder) === watched) folders.delete(folder);
      watched.watcher.close();
    },
  };
}

function sharedWatch(folder: string): FolderWatch | undefined {
  try {
    // Before the watch: a folder replaced in between is then watched once more than needed, and never missed.
    const stat = statSync(folder, { bigint: true });
    const known = folders.get(folder);
    if (known !== undefined && isSame(known.stat, stat)) return known;
    const watcher = watch(folder, { persistent: false });
    const listeners: FolderWatch["listeners"] = new Map();
    const notify = (name: string | null): void => {
      const notified = name === null ? [...listeners.values()].flatMap((set) => [...set]) : (listeners.get(name) ?? []);
      for (const listener of notified) listener();
    };
    watcher.on("change", (_event, name) => notify(name === null ? null : String(name)));
    // The folder is gone: its listeners look at the disk themselves.
    watcher.on("error", () => notify(null));
    const added = { stat, watcher, listeners };
    folders.set(folder, added);
    return added;
  } catch {
    return undefined;
  }
}

/** A folder created again often gets the same inode number, but not the same creation time. */
const isSame = (one: BigIntStats, other: BigIntStats): boolean =>
  one.dev === other.dev && one.ino === other.ino && one.birthtimeNs === other.birthtimeNs;

function poll(path: string, listener: () => void): Watching {
  watchFile(path, { persistent: false, interval: pollMs }, listener);
  return { stop: () => unwatchFile(path, listener) };
}
