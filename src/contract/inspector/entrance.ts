/** Coming in: the exchange of the key, what there is to see, and what a refusal looks like. */

import type { Mode } from "../mode.ts";
import type { Verb } from "../verb.ts";
import type { ProcessInfo } from "./calls.ts";
import type { RewindView } from "./history.ts";
import type { Answered } from "./questions.ts";

/**
 * `POST /api/exchange`, with the `key` from the fragment of the page's address (`#key=...`). It works once and for a
 * limited time. The answer sets the cookie (HttpOnly, SameSite=Strict) and gives the page's key, which belongs into
 * `localStorage`: cookies are shared by all ports of a machine, storage is not, so neither is enough by itself.
 * 401 `BAD_KEY`: used already, too old or never given; the terminal shows a new address after each use.
 */
export interface Exchange {
  readonly key: string;
}
export interface Exchanged {
  /** To be sent as the header `Filehand-Page` with every other request. */
  readonly page: string;
}

/** `POST /api/leave`, with `{}`: the cookie and the page's key are of no more use. Answers with `{}`. */

/** `GET /api/hello`: what there is to see. 401 `NOT_IN` if the cookie or the header is missing or of another server. */
export interface Hello {
  readonly version: string;
  readonly nowMs: number;
  readonly startedMs: number;
  readonly workspaces: readonly WorkspaceInfo[];
  /** The number of the newest event: a stream asked to go on after it misses nothing that comes after this answer. */
  readonly lastEvent: number;
  /** What is kept in memory; older calls and replies are dropped. */
  readonly limits: { readonly callsMax: number; readonly repliesBytesMax: number };
}

export interface WorkspaceInfo {
  /** For addresses: letters, digits, dots and dashes. */
  readonly name: string;
  /** Absolute, links resolved. */
  readonly roots: readonly string[];
  readonly dialect: string;
  readonly mode: Mode;
  /** Is the past of changed files kept? If not, the addresses below `history` answer with 409 `NO_HISTORY`. */
  readonly history: boolean;
  /** Can other processes report their calls? Not without a state folder. */
  readonly lookout: boolean;
  /** Those that do now; the stream tells when that changes. */
  readonly processes: readonly ProcessInfo[];
  readonly tools: readonly { readonly name: string; readonly verb: Verb; readonly readOnly: boolean }[];
}

/** Every answer of 400 and above. `message` is a sentence for people, made for the page to show as text. */
export interface Refused {
  readonly error: {
    readonly code: RefusedCode;
    readonly message: string;
    /** `ANSWERED`: what came of the question. */
    readonly answered?: Answered;
    /** `PLAN_CHANGED`: what the rewind would do now. */
    readonly plan?: RewindView;
  };
}
export type RefusedCode =
  /** 401 */
  | "BAD_KEY"
  | "NOT_IN"
  /** 403: another Host or Origin, a request of another site. */
  | "FORBIDDEN"
  /** 404 */
  | "NO_SUCH_ADDRESS"
  | "NO_SUCH_WORKSPACE"
  | "NO_SUCH_CALL"
  | "NO_SUCH_QUESTION"
  | "NO_SUCH_SESSION"
  | "NO_SUCH_TURN"
  | "NO_SUCH_PATH"
  /** 400, 405, 413, 415, 429, 503 */
  | "BAD_REQUEST"
  | "METHOD"
  | "TOO_LARGE"
  | "NOT_JSON"
  | "TOO_MANY"
  | "TOO_MANY_STREAMS"
  /** 409 */
  | "ANSWERED"
  | "NOT_WHAT_WAS_SHOWN"
  | "NOT_OFFERED"
  | "PLAN_CHANGED"
  | "NO_HISTORY"
  /** 422: the engine refused; the message is its own. */
  | "REFUSED"
  /** 500 */
  | "INTERNAL";
