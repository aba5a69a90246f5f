/** What calls came to: by tool, by file, over time. */

/**
 * `GET /api/w/<name>/figures`, over the calls that are kept. `session`: only of this one. `since`: only later than this.
 * `buckets`: 1 to 500 parts of the time between, 60 by default. However many tools, files and reasons there are, a series names
 * five of them at most, so that an answer has no more than 500 parts of 6 values in each of its four series.
 */
export interface Figures {
  readonly fromMs: number;
  readonly toMs: number;
  /** Over all calls since the start, also those that were dropped. */
  readonly ever: Tally;
  readonly all: Tally;
  /** By calls, most first, at most 100. */
  readonly tools: readonly ToolFigures[];
  /** By tokens given, most first, at most 100; `filesTotal` is how many there are. */
  readonly files: readonly FileFigures[];
  readonly filesTotal: number;
  /** All tools together, for each part of the time. */
  readonly time: readonly TimeFigures[];
  /** Tokens given in each part of the time, by tool and by file; and those that repeated reads saved, by file. */
  readonly givenByTool: Series;
  readonly givenByFile: Series;
  readonly savedByFile: Series;
  /** How many calls that change files failed in each part of the time, by code and reason. */
  readonly failedByReason: Series;
  /** Calls that change files and failed, by code and reason, most first, at most 100. */
  readonly failedEdits: readonly FailureFigures[];
  /** Everything else that failed, at most 100. */
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
}
/** Numbers over time, by name. What is nothing all the time is not among them. */
export interface Series {
  /** Those with the largest sum, largest first, at most five. */
  readonly layers: readonly { readonly name: string; readonly values: readonly number[] }[];
  /** All others together; null if there are none. `names`: how many they are. */
  readonly others: { readonly names: number; readonly values: readonly number[] } | null;
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
