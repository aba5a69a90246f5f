/** What a tool is: a request in, an outcome out, or a Problem. It gets everything it works with from its bench. */

import type { Outcome, Verb, Verbs } from "../contract/call.ts";
import type { Formatter } from "../contract/edit.ts";
import type { ChangeListener } from "../contract/event.ts";
import type { Languages } from "../contract/lsp.ts";
import { Problem } from "../contract/problem.ts";
import type { Place } from "../contract/target.ts";
import { type Disk, FileCut, type IndexStore, type Locks, ReadFailed, StoreFailed } from "../disk/disk.ts";
import { type Guard, refusal } from "../guard/guard.ts";
import type { SessionHistory } from "../history/history.ts";
import type { PageCache, Restricted } from "../kinds/kinds.ts";
import type { Ledger } from "../session/session.ts";
import type { Turn } from "./change/history-recorder.ts";

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

export interface ToolContext {
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

export type Tool<V extends Verb> = (request: Verbs[V]["request"], context: ToolContext) => Promise<Verbs[V]["outcome"]>;

// What cannot be read, in a store or on the disk, is bad luck that can be told, not a bug.

export async function orUnreadable<Result>(asked: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoreFailed) throw new Problem({ code: "NO_TURN", asked, reason: "unreadable" });
    throw error;
  }
}

/** The same for work on one file of the workspace, which may fail to be read as well. */
export async function orFileUnreadable<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  const place: Place = { asked: path, absolute: path, relative: path };
  try {
    return await orUnreadable(path, work);
  } catch (error) {
    if (error instanceof ReadFailed) throw refusal(place, error.errno, "reading it");
    if (error instanceof FileCut) throw new Problem({ code: "STALE", place, reason: "while changing it" });
    throw error;
  }
}
