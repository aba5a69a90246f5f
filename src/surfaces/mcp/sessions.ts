/** The conversations of one workspace: found by their key, the least recently used let go when there are too many. */

import { createHash } from "node:crypto";
import type { Filehand, Session } from "../../api.ts";
import type { DialectName } from "../../dialects/index.ts";
import { type KeyKind, keyParts } from "./session-key.ts";

export interface Sessions {
  /** The session of a key; `within` are the folders it is kept to from now on. */
  find(key: string, within?: readonly string[]): Session;
  /** A conversation that is under way, by the id of its session. */
  named(id: string): Session | undefined;
  /** A conversation that is over. */
  end(key: string): void;
  endAll(): void;
  readonly size: number;
}

/** Kinds of keys that mean the same conversation in the next process. The others end with the process or its connection. */
const namesConversation: ReadonlySet<KeyKind> = new Set(["handle", "thread", "started for"]);

interface Kept {
  readonly session: Session;
  readonly within: string;
}

export function createSessions(filehand: Filehand, dialect: DialectName, sessionsMax = 256): Sessions {
  const kept = new Map<string, Kept>();
  let newest: string | undefined;
  const end = (key: string): void => {
    const found = kept.get(key);
    kept.delete(key);
    if (found !== undefined) filehand.keepFigures(found.session);
  };
  const start = (key: string, readState: unknown, within: readonly string[] | undefined): Session => {
    const { principal, kind } = keyParts(key);
    return filehand.session({
      dialect,
      id: idOf(key, filehand.workspaceId),
      principal,
      // A process, a transport's session and a token serve several conversations, and the one that CLAUDE_CODE_SESSION_ID names
      // has subagents and outlives /clear. Only a client that names the conversation with each call can know what its
      // model was shown.
      shared: kind !== "handle",
      keepReadState: namesConversation.has(kind),
      ...(readState === undefined ? {} : { readState }),
      ...(within === undefined ? {} : { within }),
    });
  };
  return {
    find(key, folders) {
      const within = folders === undefined ? "" : JSON.stringify(folders);
      const found = kept.get(key);
      if (key === newest && found?.within === within) return found.session;
      kept.delete(key);
      // Kept to other folders it is another session, which knows what the first one has read.
      const session = found?.within === within ? found.session : start(key, found?.session.readState(), folders);
      kept.set(key, { session, within });
      newest = key;
      const [oldest] = kept.keys();
      if (kept.size > sessionsMax && oldest !== undefined) end(oldest);
      return session;
    },
    named: (id) => [...kept.values()].find(({ session }) => session.id === id)?.session,
    end,
    endAll: () => [...kept.keys()].forEach(end),
    get size() {
      return kept.size;
    },
  };
}

/**
 * The same key goes on in the same history, in this process or the next, but in the same workspace only: whoever goes back
 * in one folder must not find the files of another. What a client calls itself stays out of it.
 */
const idOf = (key: string, workspaceId: string): string =>
  `mcp-${createHash("sha256").update(`${workspaceId}\0${key}`).digest("hex").slice(0, 16)}`;
