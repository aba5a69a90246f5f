/** A tool turns a request into an outcome, or throws a Problem. Everything that it works with comes from its `ToolContext`. */

import type { Outcome, Verb, Verbs } from "../contract/call.ts";
import type { Formatter } from "../contract/edit.ts";
import type { ChangeListener } from "../contract/event.ts";
import type { Languages } from "../contract/lsp.ts";
import { Problem } from "../contract/problem.ts";
import type { SharedLocks } from "../contract/state.ts";
import type { Place } from "../contract/target.ts";
import { type Disk, FileTruncated, type IndexStore, type Locks, ReadFailed, StoreFailed } from "../disk/disk.ts";
import { type Guard, refusal } from "../guard/guard.ts";
import type { SessionHistory } from "../history/history.ts";
import type { PageCache, Restricted } from "../kinds/kinds.ts";
import type { Ledger } from "../session/session.ts";
import type { Turn } from "./change/history-recorder.ts";

/** How careful changes are, as the operator set it. */
export interface ChangeRules {
  /**
   * What must have been shown in this session before a file is changed. `file`: some lines of it, and an edit whose exact text
   * occurs once is applied anywhere in it. `lines`: the lines that change. `false`: nothing.
   */
  readonly readFirst: "file" | "lines" | false;
  /** For a file that changed since it was read: `content-match` applies an edit whose text occurs exactly once. */
  readonly staleness: "refuse" | "content-match";
  readonly hardLinks: "separate" | "keep";
  /** Line ends of a file that Write overwrites: those that the call sends, or those that the file had. */
  readonly writeEol: "as sent" | "keep";
  readonly editBytesMax: number;
}

export interface ToolContext {
  readonly disk: Disk;
  readonly guard: Guard;
  readonly restricted: Restricted;
  readonly indexes: IndexStore;
  readonly pages: PageCache;
  readonly ledger: Ledger;
  readonly locks: Locks;
  /** Locks that reach the nodes on other machines, where they share the state. */
  readonly sharedLocks?: SharedLocks | undefined;
  /** Leaves the call queue before the call has its result, for slow work after a change, such as waiting for servers. */
  readonly leaveQueue: () => void;
  readonly changes: ChangeRules;
  /** Runs after each change. */
  readonly formatter: Formatter | undefined;
  readonly formatterMsMax: number;
  /** The language servers, loaded by the first call; undefined where none are used. */
  readonly languages: (() => Promise<Languages>) | undefined;
  /** Does a move let language servers update the imports of other files? */
  readonly updateImports: boolean;
  /** Are warnings of language servers reported too, or only errors? */
  readonly warnings: boolean;
  /** The id of the session. */
  readonly session: string;
  readonly onChanged: ChangeListener | undefined;
  /** Changes are only shown, not made. */
  readonly dryRun: boolean;
  readonly newId: () => string;
  /** The turn that the changes of this call belong to; undefined if the session has no history. */
  readonly turn: () => Promise<Turn | undefined>;
  /** The history of the session; undefined if it has none. */
  readonly past: () => Promise<SessionHistory | undefined>;
  /** Is a repeated read answered with a stub? Undefined: the dialect decides. */
  readonly dedup: boolean | undefined;
  /** Instruction files that answers of this session have named; undefined if answers name none. */
  readonly offered: Set<string> | undefined;
  /** Cuts an outcome down to what one answer may hold. Only the result counts as shown. */
  readonly fit: <Fitted extends Outcome>(outcome: Fitted) => Fitted;
  readonly searchMsMax: number;
  readonly onProgress: ((done: number, total: number) => void) | undefined;
  readonly signal: AbortSignal;
}

export type Tool<V extends Verb> = (request: Verbs[V]["request"], context: ToolContext) => Promise<Verbs[V]["outcome"]>;

/** A history that cannot be read becomes a Problem. */
export async function orUnreadable<Result>(asked: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoreFailed) throw new Problem({ code: "NO_TURN", asked, reason: "unreadable" });
    throw error;
  }
}

/** A history or a workspace file that cannot be read becomes a Problem. */
export async function orFileUnreadable<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  const place: Place = { asked: path, absolute: path, relative: path };
  try {
    return await orUnreadable(path, work);
  } catch (error) {
    if (error instanceof ReadFailed) throw refusal(place, error.errno, "reading it");
    if (error instanceof FileTruncated) throw new Problem({ code: "STALE", place, reason: "while changing it" });
    throw error;
  }
}
