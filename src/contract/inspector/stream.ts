/** The stream of events. */

import type { CallInfo, ProcessInfo } from "./calls.ts";
import type { Answered, QuestionInfo } from "./questions.ts";

/**
 * `GET /api/events`, `text/event-stream`. Each event has an `id` that counts up by one (over all workspaces), `event` is its
 * type, `data` is one line of JSON: `StreamEvent`. With the header `Last-Event-ID`, or the parameter `after`, it goes on behind
 * that event; without, it begins with what comes next. If what was missed is no longer kept, the first event is `reset`: ask for the
 * lists again. Comments come every 15 seconds. A reader that is too slow is hung up on, and goes on where it was.
 * It needs the header `Filehand-Page` like all others, so it is read with `fetch`, not with `EventSource`.
 */
export type StreamEvent =
  | { readonly type: "call"; readonly call: CallInfo }
  | { readonly type: "question"; readonly question: QuestionInfo }
  | { readonly type: "answered"; readonly id: string; readonly answered: Answered }
  /** A turn came to be, or a rewind was made: lists of the history are no longer true. */
  | { readonly type: "turn"; readonly workspace: string; readonly session: string; readonly turn: string }
  | {
      readonly type: "progress";
      readonly workspace: string;
      readonly job: string;
      readonly done: number;
      readonly total: number;
    }
  /** Other processes that report their calls: one has come or gone. */
  | { readonly type: "processes"; readonly workspace: string; readonly processes: readonly ProcessInfo[] }
  | { readonly type: "reset" };
