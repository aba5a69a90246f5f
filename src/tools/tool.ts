/** What a tool is: a request in, an outcome out, or a Problem. It gets everything it works with from its bench. */

import type { ChangeListener } from "../contract/event.ts";
import type { Formatter } from "../contract/formatter.ts";
import type { Languages } from "../contract/language.ts";
import type { Outcome, Verb, Verbs } from "../contract/verb.ts";
import type { Disk } from "../disk/disk.ts";
import type { IndexStore } from "../disk/index-store.ts";
import type { Locks } from "../disk/lock.ts";
import type { Guard } from "../guard/guard.ts";
import type { Ledger } from "../session/ledger.ts";
import type { SessionHistory } from "../history/session-history.ts";
import type { Turn } from "./turn.ts";
import type { PageCache } from "../kinds/page-cache.ts";
import type { Restricted } from "../kinds/restricted.ts";

/** How careful changes are; the operator's choice. */
export interface ChangeRules {
  /** Must a file have been read in this session before it is changed? */
  readonly readFirst: boolean;
  /** What becomes of an edit of a file that somebody changed since: `content-match` applies it if its text is there once. */
  readonly staleness: "refuse" | "content-match";
  readonly hardLinks: "separate" | "keep";
  /** Line ends of a file that is written anew: those of the content, or those that the file had. */
  readonly writeEol: "as sent" | "keep";
  readonly editBytesMax: number;
}

export interface Bench {
  readonly disk: Disk;
  readonly guard: Guard;
  readonly restricted: Restricted;
  readonly indexes: IndexStore;
  readonly pages: PageCache;
  readonly ledger: Ledger;
  readonly locks: Locks;
  /**
   * Gives up the call's place in the call queue before it has its result. For what comes after a change and may take long,
   * such as waiting for language servers.
   */
  readonly leaveQueue: () => void;
  readonly changes: ChangeRules;
  /** What the host does to a file after each change of it. */
  readonly formatter: Formatter | undefined;
  readonly formatterMsMax: number;
  /** The language servers, loaded by the first who asks; undefined where none are used. */
  readonly languages: (() => Promise<Languages>) | undefined;
  /** Are their warnings told as well? */
  readonly warnings: boolean;
  /** The session's id. */
  readonly session: string;
  /** Hears of every file that was changed. */
  readonly onChanged: ChangeListener | undefined;
  /** Shall a change only be shown? */
  readonly dryRun: boolean;
  readonly newId: () => string;
  /** Where the past of what this call changes is kept; undefined where nothing is. */
  readonly turn: () => Promise<Turn | undefined>;
  readonly past: () => Promise<SessionHistory | undefined>;
  /** Is a repeated read answered with a stub? Undefined: as the dialect has it. */
  readonly dedup: boolean | undefined;
  /** Instruction files that were named in this session; undefined if they are not to be. */
  readonly offered: Set<string> | undefined;
  /** As much of an outcome as one answer may hold. What counts as shown is what comes out of it. */
  readonly fit: <Fitted extends Outcome>(outcome: Fitted) => Fitted;
  /** How long a search may take. */
  readonly searchMsMax: number;
  readonly onProgress: ((done: number, total: number) => void) | undefined;
  readonly signal: AbortSignal;
}

export type Tool<V extends Verb> = (request: Verbs[V]["request"], bench: Bench) => Promise<Verbs[V]["outcome"]>;
