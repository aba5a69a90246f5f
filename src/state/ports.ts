/**
 * The ports of state that several processes or machines agree on, besides the history (`history-store.ts`). `folder/` keeps it in
 * files and needs nothing; `postgres/` keeps it in a database. One suite tests both.
 */

import type { AuditEntry, SharedLocks } from "../contract/state.ts";
import type { SessionUsage } from "./folder/logs.ts";
import type { HistoryStore } from "./history-store.ts";

// Sessions.

/** What a session must not forget when another node serves it. */
export interface SavedSession {
  /** Grows with every save. */
  readonly version: number;
  readonly savedMs: number;
  readonly mode: string | undefined;
  /** Rules that a person chose to keep for the session. */
  readonly rules: readonly string[];
  /** The entries of the read ledger by real path; null for one that was dropped. */
  readonly files: ReadonlyMap<string, unknown>;
}

export type SessionChange = Omit<SavedSession, "version" | "savedMs">;

export interface SessionStore {
  /** At least what was saved after `version`, and all of it for 0. Undefined if nothing was. Mode and rules are always the latest. */
  load(session: string, version: number): Promise<SavedSession | undefined>;
  /**
   * Replaces mode and rules, and the entries of `files` that are given. Returns the new version; `conflict` if another process
   * saved after `version`: then nothing is stored, and the caller loads and saves again.
   */
  save(session: string, change: SessionChange, version: number): Promise<number | "conflict">;
  forget(session: string): Promise<void>;
}

// Approvals.

/** Values that are valid once and for a limited time, and a secret that all nodes share. */
export interface Approvals {
  put(id: string, value: string, secondsMax: number): Promise<void>;
  /** The value, the first time that it is asked for in time; undefined later, and for an unknown id. */
  take(id: string): Promise<string | undefined>;
  /** 32 bytes by name, made when they are first asked for, and the same on all nodes. */
  secret(name: string): Promise<Uint8Array>;
}

// Audit.

/** An entry as it is stored: `hash` covers `previous`, `seq` and `body`. */
export interface AuditRecord {
  readonly seq: number;
  /** The entry as JSON, byte for byte what was hashed. */
  readonly body: string;
  readonly previous: string;
  readonly hash: string;
  /** Ed25519 over the hash, in base64; null if the chain was not signed then. */
  readonly signature: string | null;
}

export interface Audit {
  /** All entries, in order, after everything that was appended before. */
  append(entries: readonly AuditEntry[]): Promise<void>;
  /** In the order of `seq`. */
  records(): AsyncIterable<AuditRecord>;
  /** The last number and hash that were written, kept apart from the entries; undefined for an empty chain. */
  head(): Promise<{ readonly seq: number; readonly hash: string } | undefined>;
}

// Tokens.

export interface StoredToken {
  /** A short name for lists and for `revoke`; says nothing about the token. */
  readonly id: string;
  readonly principal: string;
  readonly scopes: readonly string[];
  /** The workspaces that it opens; empty for all. */
  readonly workspaces: readonly string[];
  readonly createdMs: number;
  /** Undefined if it does not end. */
  readonly expiresMs: number | undefined;
}

export interface Tokens {
  /** `hash`: the sha256 of the token, in hex. The token itself is never stored. */
  add(hash: string, token: StoredToken): Promise<void>;
  /** Undefined for an unknown or revoked one. The caller checks the end. */
  find(hash: string): Promise<StoredToken | undefined>;
  list(): Promise<readonly StoredToken[]>;
  /** False if there is none with this id. */
  revoke(id: string): Promise<boolean>;
}

// Usage and events.

export interface UsageStore {
  add(usage: SessionUsage): Promise<void>;
  list(): Promise<readonly SessionUsage[]>;
}

export interface SharedEvent {
  readonly node: string;
  readonly topic: string;
  /** JSON. */
  readonly body: string;
}

export interface Events {
  /** Reaches the subscribers of all nodes, this one included, in the order of one publisher. */
  publish(topic: string, body: string): Promise<void>;
  /** Calls back until the returned function is called. After a lost connection it goes on by itself; what was missed is not repeated. */
  subscribe(listener: (event: SharedEvent) => void): Promise<() => Promise<void>>;
}

/** The state of one workspace. */
export interface WorkspaceState {
  readonly history: HistoryStore;
  readonly sessions: SessionStore;
  readonly approvals: Approvals;
  readonly audit: Audit;
  readonly usage: UsageStore;
}

/** What only a database can do: files on one machine have locks of the kernel (`disk/lock`) and a registry of inspectors. */
export interface SharedWorkspaceState extends WorkspaceState {
  /** The same on all nodes, wherever they have mounted its roots. */
  readonly name: string;
  readonly locks: SharedLocks;
  readonly events: Events;
}
