/** The timeline: sessions, calls, and one call with its reply. */

import type { ReplyPart } from "../call.ts";
import type { CallEvent } from "../event.ts";
import type { Program } from "../report.ts";

/** `GET /api/w/<name>/sessions`: those that made calls, the one with the newest call first. */
export interface SessionList {
  readonly sessions: readonly SessionInfo[];
}
export interface SessionInfo {
  readonly workspace: string;
  readonly id: string;
  readonly principal: string | null;
  readonly dialect: string;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly calls: number;
  readonly failures: number;
  readonly tokensGiven: number;
  readonly tokensSaved: number;
  /** Which other process made its newest call; null for this server. */
  readonly process: ProcessInfo | null;
}

/** A process of the same user on the same machine that tells this server of its calls. */
export interface ProcessInfo {
  readonly pid: number;
  readonly program: Program;
}

/** A call in a list: the event as the library has it (numbered by this server), and where it happened. */
export interface CallInfo extends CallEvent {
  readonly workspace: string;
  /** The process that it was made in; null for this server. */
  readonly process: ProcessInfo | null;
  /** Can `GET .../calls/<id>` still tell the reply? */
  readonly kept: boolean;
}

/**
 * `GET /api/w/<name>/calls`, newest first. All parameters may be left out:
 * `session`, `tool`: exactly this one; both may be given several times. `path`: part of the path, letter case apart.
 * `errors=1`: only what failed. `before=<id>`: calls older than that one. `max`: 1 to 500, 100 by default.
 * Events of the stream are not filtered; `matches` of the page must do that itself.
 */
export interface CallPage {
  readonly calls: readonly CallInfo[];
  /** For `before` of the next page; null at the end of what is kept. */
  readonly next: number | null;
  /** Calls that are kept (whatever the filter), and older ones that were dropped. */
  readonly total: number;
  readonly dropped: number;
}

/** `GET /api/w/<name>/calls/<id>`. */
export interface CallView {
  readonly call: CallInfo;
  readonly detail: CallDetailView | null;
  /**
   * Why there is no detail: dropped to make room, never kept because it alone is over the limit, or withheld because a rule of
   * this server denies what another process was allowed to read.
   */
  readonly missing: "dropped" | "too large" | "withheld" | null;
}
export interface CallDetailView {
  /** The arguments as the model wrote them. */
  readonly input: unknown;
  /** Exactly what the model got. Images are base64, never more than `limits.repliesBytesMax` in all. */
  readonly content: readonly ReplyPart[];
  /** What programs get beside it. */
  readonly structured: unknown;
  readonly isError: boolean;
  readonly error: { readonly code: string; readonly message: string } | null;
}
