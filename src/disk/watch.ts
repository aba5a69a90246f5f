/**
 * Tells when a file may have changed. What is watched is its folder: a file that is replaced is another file under the same
 * name, and its own watch would go with the old one. Where the system has no more watches to give, it is looked at now and
 * then instead.
 */

import { type FSWatcher, unwatchFile, watch, watchFile } from "node:fs";
import * as nodePath from "node:path";

export interface Watching {
  stop(): void;
}

const lookEveryMs = 1_000;

/** One watch a folder, however many of its files are wanted. */
interface FolderWatch {
  readonly watcher: FSWatcher;
  readonly listeners: Map<string, Set<() => void>>;
}

const folders = new Map<string, FolderWatch>();

/** `path` is real: without links. The listener may be called without cause, and never twice at once. */
export function watchPath(path: string, listener: () => void): Watching {
  const folder = nodePath.dirname(path);
  const name = nodePath.basename(path);
  const found = folders.get(folder) ?? watchFolder(folder);
  if (found === undefined) return lookAt(path, listener);
  const listeners = found.listeners.get(name) ?? new Set();
  listeners.add(listener);
  found.listeners.set(name, listeners);
  return {
    stop() {
      listeners.delete(listener);
      if (listeners.size === 0) found.listeners.delete(name);
      if (found.listeners.size > 0 || folders.get(folder) !== found) return;
      folders.delete(folder);
      found.watcher.close();
    },
  };
}

function watchFolder(folder: string): FolderWatch | undefined {
  try {
    const watcher = watch(folder, { persistent: false });
    const listeners: FolderWatch["listeners"] = new Map();
    const tell = (name: string | null): void => {
      const told = name === null ? [...listeners.values()].flatMap((set) => [...set]) : (listeners.get(name) ?? []);
      for (const listener of told) listener();
    };
    watcher.on("change", (_event, name) => tell(name === null ? null : String(name)));
    // The folder is gone: who watches hears of it once more, and looks for itself.
    watcher.on("error", () => tell(null));
    const made = { watcher, listeners };
    folders.set(folder, made);
    return made;
  } catch {
    return undefined;
  }
}

function lookAt(path: string, listener: () => void): Watching {
  watchFile(path, { persistent: false, interval: lookEveryMs }, listener);
  return { stop: () => unwatchFile(path, listener) };
}
