/**
 * Keeps a session the same on all nodes: loads before a call what another node has saved, and saves after the call what it changed. If
 * the database is away, calls go on with what this node knows, and the next save takes along what was not saved.
 */

import { StateFailed } from "../contract/state.ts";
import type { SavedSession, SessionStore } from "./ports.ts";

/** The session of this node. */
export interface SyncedSession {
  /** Entries of the ledger that changed since the last call, by real path; null for one that was dropped. */
  takeChanged(): ReadonlyMap<string, unknown>;
  restore(path: string, entry: unknown): void;
  readonly mode: string;
  readonly rules: readonly string[];
  /** Takes over the mode and the rules of another node. */
  decide(mode: string | undefined, rules: readonly string[]): void;
}

export interface SessionSync {
  before(): Promise<void>;
  after(): Promise<void>;
}

/** Two nodes that serve one session at the same moment; more tries mean that something else is wrong. */
const triesMax = 10;

/** `idleMsMax`: a session that nobody saved for so long begins anew; for those that no client names. */
export function createSessionSync(
  store: SessionStore,
  id: string,
  own: SyncedSession,
  idleMsMax = Number.POSITIVE_INFINITY,
): SessionSync {
  let version = 0;
  let decided = decisionOf(own);
  let unsaved = new Map<string, unknown>();
  let last: Promise<void> = Promise.resolve();

  const load = async (): Promise<void> => {
    const found = await store.load(id, version);
    if (found === undefined) return;
    if (version === 0 && Date.now() - found.savedMs > idleMsMax) return store.forget(id);
    take(found);
  };
  const take = ({ version: now, mode, rules, files }: SavedSession): void => {
    version = now;
    for (const [path, entry] of files) if (!unsaved.has(path)) own.restore(path, entry);
    if (decisionOf(own) !== decided) return; // decided here meanwhile, and saved next
    own.decide(mode, rules);
    decided = decisionOf(own);
  };
  const save = async (): Promise<void> => {
    for (const [path, entry] of own.takeChanged()) unsaved.set(path, entry);
    for (let tries = 0; tries < triesMax; tries += 1) {
      const decision = decisionOf(own);
      if (unsaved.size === 0 && decision === decided) return;
      const sent = unsaved;
      unsaved = new Map();
      const { mode, rules } = own;
      try {
        const saved = await store.save(id, { mode, rules, files: sent }, version);
        if (saved !== "conflict") {
          version = saved;
          decided = decision;
          return;
        }
      } catch (error) {
        unsaved = new Map([...sent, ...unsaved]);
        throw error;
      }
      unsaved = new Map([...sent, ...unsaved]);
      await load();
    }
  };
  /** One after the other, and never a reason for a call to fail. */
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    last = last.then(work).catch((error: unknown) => {
      if (!(error instanceof StateFailed)) throw error;
    });
    const mine = last;
    last = mine.catch(() => undefined);
    return mine;
  };
  return { before: () => inTurn(load), after: () => inTurn(save) };
}

const decisionOf = ({ mode, rules }: SyncedSession): string => JSON.stringify([mode, rules]);
