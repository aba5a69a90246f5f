/** What sessions are still owed: files whose diagnostics were not there when the answer was given. Bounded; the oldest goes first. */

import { limits } from "../contract/limits.ts";
import type { Known } from "./diagnostics.ts";
import type { Slot } from "./slot.ts";

export interface Owed {
  readonly path: string;
  readonly slots: readonly { readonly slot: Slot; readonly known: Known }[];
  /** What was known before the change that nothing was told of yet. */
  knownBy(slot: Slot): Known | undefined;
}

export interface OwedFiles {
  add(session: string, owed: Owed): void;
  /** Takes it away. */
  take(session: string, path: string): Owed | undefined;
  of(session: string): readonly Owed[];
  /** For all sessions. */
  forget(path: string): void;
}

export function createOwed(): OwedFiles {
  const sessions = new Map<string, Map<string, Owed>>();
  return {
    add: (session, owed) => {
      const files = sessions.get(session) ?? new Map<string, Owed>();
      sessions.delete(session);
      sessions.set(session, files);
      files.delete(owed.path);
      files.set(owed.path, owed);
      dropFirst(files, limits.languageLateFilesMax);
      dropFirst(sessions, limits.languageLateSessionsMax);
    },
    take: (session, path) => {
      const files = sessions.get(session);
      const owed = files?.get(path);
      files?.delete(path);
      if (files?.size === 0) sessions.delete(session);
      return owed;
    },
    of: (session) => [...(sessions.get(session)?.values() ?? [])],
    forget: (path) => {
      for (const files of sessions.values()) files.delete(path);
    },
  };
}

function dropFirst(map: Map<string, unknown>, max: number): void {
  for (const key of map.keys()) {
    if (map.size <= max) return;
    map.delete(key);
  }
}
