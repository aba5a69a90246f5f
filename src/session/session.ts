/** The door of session/: the state of one conversation. Other rooms import from this file only. */

export { type CallProgress, watched, type Watchers } from "./call-event.ts";
export {
  type Claim,
  createCallQueue,
  inOwnQueue,
  yieldBetweenCalls,
  type PathUse,
  type Place,
  queueOfHost,
} from "./call-queue.ts";
export {
  type ChangedSince,
  createLedger,
  isShownElsewhere,
  type FileFingerprint,
  type Ledger,
  type LinePart,
  type LinesMoved,
  nothingShown,
  type ReadState,
  type Seen,
  type Shown,
  type ShownElsewhere,
  type Sight,
  type View,
  type Wrote,
} from "./ledger.ts";
export {
  covers,
  type LineChange,
  mergeSpans as merged,
  shiftSpans as shifted,
  shiftedCut,
  shiftedParts,
  subtractSpans as without,
  unchanged,
} from "./line-spans.ts";
export type { ShownText } from "./shown-lines.ts";
export { linesMeant, type Meant, type NumberedSpan } from "./shown-numbers.ts";
export { createTimeline, type Timeline, type TimelineLimits } from "./timeline.ts";
export { createTurns } from "./turns.ts";
