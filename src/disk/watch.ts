/**
 * Reports that a file may have changed. The watch is on its folder: an atomic replace puts another inode under the same
 * name, and a watch on the file would follow the old one. When the system has no more watches to give, the file is polled.
 */

import { type FSWatcher, unwatchFile, watch, watchFile } from "node:fs";
import * as nodePath from "node:path";

export interface Watching {
  stop(): void;
}

/** Polling is the fallback: one stat a second costs next to nothing. */
const pollMs = 1_000;

/** One watch per folder, however many of its files are watched. */
interface FolderWatch {
  readonly watcher: FSWatcher;
  readonly listeners: Map<string, Set<() => void>>;
}

/**
 * Process-wide by nature: the system limits watches per user, so all toolkits share the watch of a folder. Each listener gets
 * the events of its own file only, and a folder without listeners is removed.
 */
const folders = new Map<string, FolderWatch>();

/** `path` is real, without symlinks. Spurious calls of the listener are possible. */
export function watchPath(path: string, listener: () => void): Watching {
  const folder = nodePath.dirname(path);
  const name = nodePath.basename(path);
  const watched = folders.get(folder) ?? watchFolder(folder);
  if (watched === undefined) return poll(path, listener);
  const listeners = watched.listeners.get(name) ?? new Set();
  listeners.add(listener);
  watched.listeners.set(name, listeners);
  return {
    stop() {
      listeners.delete(listener);
      if (listeners.size === 0) watched.listeners.delete(name);
      if (watched.listeners.size > 0 || folders.get(folder) !== watched) return;
      folders.delete(folder);
      watched.watcher.close();
    },
  };
}

function watchFolder(folder: string): FolderWatch | undefined {
  try {
    const watcher = watch(folder, { persistent: false });
    const listeners: FolderWatch["listeners"] = new Map();
    const notify = (name: string | null): void => {
      const notified = name === null ? [...listeners.values()].flatMap((set) => [...set]) : (listeners.get(name) ?? []);
      for (const listener of notified) listener();
    };
    watcher.on("change", (_event, name) => notify(name === null ? null : String(name)));
    // The folder is gone: its listeners look at the disk themselves.
    watcher.on("error", () => notify(null));
    const added = { watcher, listeners };
    folders.set(folder, added);
    return added;
  } catch {
    return undefined;
  }
}

function poll(path: string, listener: () => void): Watching {
  watchFile(path, { persistent: false, interval: pollMs }, listener);
  return { stop: () => unwatchFile(path, listener) };
}
