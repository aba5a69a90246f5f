/** What calls came to: by tool, by file, over time. */

/**
 * `GET /api/w/<name>/figures`, over the calls that are kept. `session`: only of this one. `since`: only later than this.
 * `buckets`: 1 to 500 parts of the time between, 60 by default.
 */
export interface Figures {
  readonly fromMs: number;
  readonly toMs: number;
  /** Over all calls since the start, also those that were dropped. */
  readonly ever: Tally;
  readonly all: Tally;
  /** By calls, most first. */
  readonly tools: readonly ToolFigures[];
  /** By tokens given, most first, at most 100; `filesTotal` is how many there are. */
  readonly files: readonly FileFigures[];
  readonly filesTotal: number;
  readonly time: readonly TimeFigures[];
  /** Edits, writes, patches and notebook edits that failed, by code and reason, most first. */
  readonly failedEdits: readonly FailureFigures[];
  /** Everything else that failed. */
  readonly failedOthers: readonly FailureFigures[];
  /** Sessions that ended, from the state folder, newest last, at most 200. */
  readonly past: readonly PastFigures[];
}
export interface Tally {
  readonly calls: number;
  readonly failures: number;
  readonly tokensGiven: number;
  readonly tokensSaved: number;
}
export interface ToolFigures extends Tally {
  readonly tool: string;
  readonly elapsedMs: Percentiles;
}
/** Time that a person took to answer is part of it. */
export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}
export interface FileFigures extends Tally {
  readonly path: string;
}
export interface TimeFigures extends Tally {
  readonly fromMs: number;
  /** Tokens given, by tool. */
  readonly tools: Readonly<Record<string, number>>;
}
export interface FailureFigures {
  readonly tool: string;
  readonly code: string;
  readonly reason: string | null;
  readonly count: number;
}
export interface PastFigures extends Tally {
  readonly timeMs: number;
  readonly dialect: string;
}
