/** The interface of the page: what each address below `/api` takes and answers. A GET has a query, a POST has a body of JSON. */

import type { Keep, OfferedHunk, Question } from "../../contract/ask.ts";
import type { ReplyPart, Verb } from "../../contract/call.ts";
import type { LoggedCall, LoggedQuestion } from "../../contract/call-log.ts";
import type { Hunk } from "../../contract/edit.ts";
import type { CallEvent, CallTally, Program, SessionTally } from "../../contract/event.ts";
import type { ConflictReason, FileSeen, NotKept, RewindKind, TurnSeen } from "../../contract/history.ts";
import type { Explanation, Mode, Verdict } from "../../contract/permission.ts";
import type { EntryKind } from "../../contract/read.ts";

// Logging in: the exchange of the key, the overview, and the form of a refusal.

/**
 * `POST /api/exchange` with `{ key }` from the fragment of the page's address (`#key=...`), which works once and for a limited
 * time (else 401 `BAD_KEY`). The answer sets the cookie and returns the page's key, which the page keeps in `localStorage`; see
 * login.ts.
 */
export type Exchanged = { readonly page: string };

/** `POST /api/leave`, with `{}`: invalidates the cookie and the page's key. Answers with `{}`. */

/** `GET /api/hello`: the workspaces. 401 `NOT_IN` if the cookie or the header is missing or of another server. */
export interface Hello {
  readonly version: string;
  readonly nowMs: number;
  readonly startedMs: number;
  readonly workspaces: readonly WorkspaceInfo[];
  /** The number of the newest event: a stream that continues after it misses nothing that comes after this answer. */
  readonly lastEvent: number;
  readonly limits: { readonly callsMax: number; readonly repliesBytesMax: number };
  /** Was a replay given? If not, `GET /api/replay` answers with 404. Its answer is a `ReplayResult` of `contract/replay.ts`. */
  readonly replay: boolean;
}

export interface WorkspaceInfo {
  readonly name: string;
  readonly roots: readonly string[];
  readonly dialect: string;
  readonly mode: Mode;
  /** Is there a history? If not, the addresses below `history` answer with 409 `NO_HISTORY`. */
  readonly history: boolean;
  /** Is there a call log? If not, `GET /api/w/<name>/log` answers with 409 `NO_LOG`. */
  readonly log: boolean;
  /** Not without a state folder. */
  readonly acceptsReports: boolean;
  readonly processes: readonly ProcessInfo[];
  readonly tools: readonly { readonly name: string; readonly verb: Verb; readonly readOnly: boolean }[];
}

/** Every answer of 400 and above. `message` is a sentence for people. */
export interface Refused {
  readonly error: {
    readonly code: RefusedCode;
    readonly message: string;
    /** Of `ANSWERED`: the answer that came first. Of `PLAN_CHANGED`: what the rewind would do now. */
    readonly answered?: Answered;
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
  | "NO_LOG"
  /** 422: the engine refused; the message is the engine's. */
  | "REFUSED"
  /** 500 */
  | "INTERNAL";

// The timeline: sessions, calls, and one call with its reply.

/** `GET /api/w/<name>/sessions`: sessions that have made calls, the one with the newest call first. */
export interface SessionList {
  /** `process`: which other process made its newest call; null for this server. */
  readonly sessions: readonly (SessionTally & { readonly workspace: string; readonly process: ProcessInfo | null })[];
}

/** A process of the same user that reports its calls to this server. */
export interface ProcessInfo {
  readonly pid: number;
  readonly program: Program;
}

/** A call in a list: the event of the library (numbered by this server), and its process; null for this server. */
export interface CallInfo extends CallEvent {
  readonly workspace: string;
  readonly process: ProcessInfo | null;
  /** Does `GET .../calls/<id>` still have the reply? */
  readonly kept: boolean;
}

/**
 * `GET /api/w/<name>/calls`, newest first. All parameters may be left out: `session`, `tool` (exactly this one; may be given
 * several times), `path` (part of the path, ignoring case), `errors=1` (only what failed), `before=<id>` (older than that one),
 * `max` (1 to 500, 100 by default). Events of the stream are not filtered; `matches` of the page must do that itself.
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
  /** `hidden`: a rule of this server denies what another process was allowed to read. */
  readonly missing: "dropped" | "too large" | "hidden" | null;
}
export interface CallDetailView {
  readonly input: unknown;
  /** Exactly what the model got. Images are base64, never more than `limits.repliesBytesMax` in all. */
  readonly content: readonly ReplyPart[];
  readonly structured: unknown;
  readonly isError: boolean;
  readonly error: { readonly code: string; readonly message: string } | null;
}

// The call log: calls of all processes in this workspace, also from before this server was started.

/**
 * `GET /api/w/<name>/log`, newest first. All parameters may be left out: `session` (the beginning of its id), `client` and `path`
 * (a part, ignoring case), `tool`, `errors=1`, `before` (the `next` of another page), `max` (1 to 500, 100 by default).
 */
export interface LogView {
  readonly calls: readonly LogCallInfo[];
  /** For `before` of the next page; null at the end. A page may have fewer calls than asked for, or none, and still a next one. */
  readonly next: string | null;
  /** Lines that cannot be read, and calls that came faster than they could be written. */
  readonly damaged: number;
  readonly lost: number;
  /** Calls that wait for an answer, in any process; only on the first page. */
  readonly waiting: readonly WaitingCall[];
}
/** Paths are relative to their root. */
export type LogCallInfo = Omit<LoggedCall, "type" | "roots">;
export type WaitingCall = Omit<LoggedQuestion, "type" | "roots" | "untilMs">;

// Questions to the person at the page, and their answers.

/** `GET /api/questions`: of all workspaces: open ones, oldest first, and the last 100 closed ones, newest first. */
export interface QuestionList {
  readonly open: readonly QuestionInfo[];
  readonly past: readonly PastQuestion[];
}
export interface QuestionInfo {
  readonly id: string;
  readonly workspace: string;
  readonly session: string;
  readonly principal: string | null;
  /** The program that the session works for, as people know it; null if it gave no name. */
  readonly client: string | null;
  readonly tool: string;
  readonly permission: Question["permission"];
  /** The file of the question: real and absolute, and relative to its root. */
  readonly path: string;
  readonly relative: string;
  /** The path as asked for, if that is another name. */
  readonly asked: string | null;
  readonly movedFrom: string | null;
  readonly movedTo: string | null;
  readonly deletes: boolean;
  /** The first files of a patch, which are asked about together; empty if the question is about one file. */
  readonly files: readonly QuestionFile[];
  readonly filesTotal: number;
  /** Of a folder or a link as a whole: how much it is, and what cannot be undone, a sentence each. */
  readonly size: readonly string[];
  readonly copiedFrom: string | null;
  readonly rule: string | null;
  readonly caution: string | null;
  /** Rules that would answer it permanently, narrowest first; none for a file that asks every time. */
  readonly always: readonly string[];
  readonly keep: readonly Keep[];
  readonly askedMs: number;
  readonly deadlineMs: number;
  /** Is there a diff? `POST .../diff` with `{ question }` has it; of several files with `file`, counted from 0. */
  readonly diff: { readonly additions: number; readonly deletions: number } | null;
  /** `server`: the call waits for this page. `client`: the client shows the question too, and the first answer counts. */
  readonly waits: "server" | "client";
  /** The parts that can be accepted one by one; empty if the question can only be answered as a whole. */
  readonly hunks: readonly OfferedHunk[];
  /** A hash of everything above and of the diff. An answer must name it. */
  readonly shown: string;
}

export interface QuestionFile {
  readonly path: string;
  readonly relative: string;
  readonly movedTo: string | null;
  readonly deletes: boolean;
  readonly diff: { readonly additions: number; readonly deletions: number } | null;
}

export type PastQuestion = QuestionInfo & { readonly answered: Answered };
/** The answer to a question. `nobody`: the time ran out, or the call was cancelled. */
export interface Answered {
  readonly reply: "once" | "always" | "reject" | "nobody";
  /** `you`: this browser (`exchange`). `page`: another one. */
  readonly by: "you" | "page" | "client" | "time" | "cancelled";
  readonly rule: string | null;
  readonly keep: Keep | null;
  readonly feedback: string | null;
  /** Of `once`: the hunks that were accepted, if not all of the change. */
  readonly hunks: readonly number[] | null;
  readonly timeMs: number;
}

/** `POST /api/questions/<id>/answer`. Answers with `Answered`, or with 409 and why not. */
export interface AnswerGiven {
  readonly shown: string;
  readonly reply: "once" | "always" | "reject";
  /** Of `always`: one of the question's rules, the narrowest by default; and where it is kept, the session by default. */
  readonly rule?: string | undefined;
  readonly keep?: Keep | undefined;
  /** Of `reject`: at most 2,000 characters; the model reads it. */
  readonly feedback?: string | undefined;
  /** Of `once`: only these, as indexes of the question's `hunks`, each once. */
  readonly hunks?: readonly number[] | undefined;
}

// The stream of events.

/**
 * `GET /api/events`, `text/event-stream`: `id` counts up by one, `event` is the type, `data` is one line of JSON. With the header
 * `Last-Event-ID`, or the parameter `after`, it continues after that event. If missed events are no longer kept, the first event
 * is `reset`: load the lists again. Comments come every 15 seconds. It is read with `fetch`: `EventSource` sends no header.
 */
export type StreamEvent =
  | { readonly type: "call"; readonly call: CallInfo }
  | { readonly type: "question"; readonly question: QuestionInfo }
  | { readonly type: "answered"; readonly id: string; readonly answered: Answered }
  /** There is a new turn or a rewind: lists of the history are out of date. */
  | { readonly type: "turn"; readonly workspace: string; readonly session: string; readonly turn: string }
  | ({ readonly type: "progress"; readonly workspace: string } & RewindProgress)
  /** A process that reports its calls connected or disconnected. */
  | { readonly type: "processes"; readonly workspace: string; readonly processes: readonly ProcessInfo[] }
  | { readonly type: "reset" };
export interface RewindProgress {
  readonly job: string;
  readonly done: number;
  readonly total: number;
}

// Diffs page by page, and images before and after.

/**
 * `POST /api/w/<name>/diff`. Of a call (`change`: index in `CallEvent.changes`), of an open question, or between any two
 * versions. Large diffs have pages: `from` is the first row (0 by default), `rows` how many (1 to 2,000; 500 by default).
 */
export interface DiffAsked {
  readonly of:
    | { readonly call: number; readonly change: number }
    | { readonly question: string; readonly file?: number }
    | { readonly before: VersionRef; readonly after: VersionRef };
  readonly from?: number;
  readonly rows?: number;
  /** Unchanged lines around a change: 0 to 100, 3 by default. Only between versions that are kept. */
  readonly context?: number;
}

/** A version of a file. `now`: as it is on the disk, read under the rules. Paths are real and absolute. */
export type VersionRef =
  | { readonly session: string; readonly turn: string; readonly path: string; readonly when: "before" | "after" }
  | { readonly now: string }
  | { readonly nothing: true };

export interface DiffPage {
  readonly path: string;
  readonly relative: string;
  readonly did: "created" | "updated" | "deleted" | "moved" | "nothing";
  readonly movedFrom: string | null;
  readonly additions: number;
  readonly deletions: number;
  readonly rowsTotal: number;
  readonly from: number;
  readonly hunks: readonly HunkPart[];
  readonly next: number | null;
  /** False if the diff is not exact: it was cut off, or shows unchanged lines as changed. */
  readonly complete: boolean;
  /** Why there are no hunks; null where there are some. */
  readonly none: NoDiff | null;
  /** Are both sides images (or one of them, and the other is nothing)? Then `POST .../image` has them. */
  readonly image: boolean;
}
/** The rows of one hunk that are on this page. A line of more than 2,000 characters is cut around its change, with `…`. */
export interface HunkPart extends Hunk {
  /** It continues the previous page, so there is no header to show. */
  readonly continued: boolean;
}
export type NoDiff =
  | "same"
  | "not text"
  | "too large"
  /** No longer kept, or not kept at all. */
  | "gone"
  | "damaged"
  /** It contains secrets, or a rule denies reading it (or would ask). */
  | "hidden"
  /** The call has no diff: it was dropped, or never existed. */
  | "none";

/** `POST /api/w/<name>/image`: of a call, by the index of its change, or by version. PNG, JPEG, GIF, WebP, BMP, at most 16 MiB. */
export interface ImageAsked {
  readonly of: { readonly call: number; readonly change: number; readonly when: "before" | "after" } | VersionRef;
}
export type ImageView =
  | { readonly is: "image"; readonly mimeType: string; readonly data: string; readonly sizeBytes: number }
  | { readonly is: "none"; readonly why: "nothing" | "not an image" | "too large" | "gone" | "hidden" };

// The history: sessions, turns, versions of a file, and rewinds.

/** `GET /api/w/<name>/history/sessions`: those of this workspace, newest first, also of other processes. */
export interface PastSessions {
  readonly sessions: readonly {
    readonly id: string;
    readonly client: string | null;
    readonly dialect: string;
    readonly startedMs: number | null;
    readonly lastMs: number;
    readonly turns: number;
  }[];
}

/** `POST /api/w/<name>/history/turns`: newest first. `path`: only turns that touched this file, or files below this folder. */
export interface TurnsAsked {
  readonly session: string;
  readonly path?: string;
  /** The first turn, 0 by default; and how many, 1 to 200, 50 by default. */
  readonly from?: number;
  readonly max?: number;
}
export interface TurnPage {
  readonly session: string;
  readonly turns: readonly TurnInfo[];
  readonly total: number;
  readonly next: number | null;
  /** The turns that `undo` and `redo` would act on; null if there is none. */
  readonly undo: string | null;
  readonly redo: string | null;
}
export interface TurnInfo extends Pick<TurnSeen, "name" | "undone" | "filesTotal" | "hiddenByRules"> {
  readonly id: string;
  readonly timeMs: number;
  readonly rewinds: { readonly to: string; readonly as: RewindKind } | null;
  /** At most 500. */
  readonly files: readonly TurnFile[];
}
export interface TurnFile extends Pick<FileSeen, "path" | "relative" | "did" | "observed" | "undone"> {
  readonly movedFrom: { readonly path: string; readonly relative: string } | null;
  readonly modes: readonly [number, number] | null;
  readonly before: VersionInfo;
  readonly after: VersionInfo;
}
export interface VersionInfo {
  readonly sizeBytes: number | null;
  /** The same for equal contents; null where the content is not kept. */
  readonly content: string | null;
  readonly notKept: NotKept | null;
}

/** `POST /api/w/<name>/history/versions` with `{ path }`: of one file in the newest 200 sessions, oldest first, at most 1,000. */
export interface VersionList {
  readonly path: string;
  readonly relative: string;
  readonly versions: readonly FileVersionInfo[];
}
export interface FileVersionInfo extends VersionInfo {
  readonly ref: VersionRef;
  readonly timeMs: number | null;
  /** Is this the content on the disk? Null if that was not checked. */
  readonly current: boolean | null;
}

/**
 * `POST /api/w/<name>/history/plan`: what a rewind would do. `POST /api/w/<name>/history/rewind` with `{ plan, job? }` besides:
 * does it. `plan` must be the one that was shown: if the files have changed since, it is refused (409 `PLAN_CHANGED`, with the
 * new plan). The click approves the files in the plan; deny rules, locks and conflicts still apply. While it runs the stream has
 * `progress` events with the `job` of the request.
 */
export interface RewindAsked {
  readonly session: string;
  /** Before this turn's changes; `start`: before the first. */
  readonly to: string | { readonly last: "undo" | "redo" };
  readonly files?: readonly string[];
  readonly force?: boolean;
}
export interface RewindView {
  readonly plan: string;
  readonly session: string;
  readonly to: string;
  readonly as: RewindKind;
  /** Turns that an undo or a redo skipped, because there is nothing to do for them. */
  readonly passed: readonly string[];
  /** The turn of the rewind itself; null for a plan, and if nothing was changed. */
  readonly turn: string | null;
  readonly files: readonly RewindFileView[];
  readonly hiddenByRules: number;
}
export interface RewindFileView {
  readonly path: string;
  readonly relative: string;
  readonly does: "restore" | "create" | "delete" | "nothing" | "conflict" | "unavailable";
  readonly why:
    | ConflictReason
    | NotKept
    | "pruned"
    | "damaged"
    | "damaged record"
    | "file"
    | "not empty"
    | "folder"
    | "link"
    | "special"
    | "outside"
    | "refused"
    | "unreadable"
    | null;
  readonly forced: "restore" | "create" | "delete" | null;
  /** `planned`, `done`; `left`: there was nothing to do, or not without force; `refused`: see `problem`. */
  readonly came: "planned" | "done" | "left" | "refused";
  readonly problem: string | null;
  /** What it would become; for a diff from `now`. Null where there is no such version. */
  readonly target: VersionRef | null;
}

// Usage: by tool, by file, over time.

/**
 * `GET /api/w/<name>/usage`, over the calls that are kept. `session`: only of this one. `since`: only later than this.
 * `buckets`: 1 to 500 intervals, 60 by default. All lists of tools, files and failures have at most 100 items.
 */
export interface WorkspaceUsage {
  readonly fromMs: number;
  readonly toMs: number;
  /** Over all calls since the start, including those that were dropped. */
  readonly ever: CallTally;
  readonly all: CallTally;
  /** By calls, most first. */
  readonly tools: readonly ToolUsage[];
  /** By tokens given, most first; `filesTotal` is how many there are. */
  readonly files: readonly FileUsage[];
  readonly filesTotal: number;
  readonly time: readonly (CallTally & { readonly fromMs: number })[];
  /** Tokens given in each interval, by tool and by file; and tokens that repeated reads saved, by file. */
  readonly givenByTool: Series;
  readonly givenByFile: Series;
  readonly savedByFile: Series;
  /** Calls that change files and failed, by code and reason: in each interval, and in all, most first. */
  readonly failedByReason: Series;
  readonly failedEdits: readonly FailureUsage[];
  readonly failedOthers: readonly FailureUsage[];
  /** Sessions that ended, from the state folder, newest last, at most 200. */
  readonly past: readonly (CallTally & { readonly timeMs: number; readonly dialect: string })[];
}
export interface ToolUsage extends CallTally {
  readonly tool: string;
  readonly elapsedMs: Percentiles;
}
/** Includes the time that a person took to answer. */
export type Percentiles = Readonly<Record<"p50" | "p90" | "p99" | "max", number>>;
export type FileUsage = CallTally & { readonly path: string };
/** Numbers over time, by name. Names that are always 0 are left out. */
export interface Series {
  /** Those with the largest sum, largest first, at most five. */
  readonly layers: readonly { readonly name: string; readonly values: readonly number[] }[];
  /** All others together; null if there are none. `names`: how many they are. */
  readonly others: { readonly names: number; readonly values: readonly number[] } | null;
}
export interface FailureUsage {
  readonly tool: string;
  readonly code: string;
  readonly reason: string | null;
  readonly count: number;
}

// The tree of files, and why a file may or may not be read.

/**
 * `POST /api/w/<name>/folder` with `{ path, from?, max? }`: the entries of one folder, folders first, by name. `path`: absolute.
 * `from`: 0 by default. `max`: 1 to 1,000, 200 by default. A denied entry is named, with its mark, and never opened.
 */
export interface FolderView {
  readonly path: string;
  readonly relative: string;
  readonly entries: readonly FileEntry[];
  readonly total: number;
  readonly next: number | null;
}
export interface FileEntry {
  readonly name: string;
  readonly path: string;
  readonly relative: string;
  readonly kind: EntryKind;
  readonly sizeBytes: number | null;
  /** What the rules say, without asking anybody. */
  readonly read: Verdict;
  readonly edit: Verdict;
  /** How many of the files that are, or are below, this entry were read or changed by calls that are kept here. */
  readonly wasRead: number;
  readonly wasChanged: number;
}

/** `POST /api/w/<name>/explain` with `{ path, session? }`: why it may or may not be read and edited, also by kept rules. */
export type Explained = Readonly<Record<"read" | "edit", ExplanationView>>;
export interface ExplanationView {
  readonly explanation: Explanation;
  readonly lines: readonly string[];
}
