/** The stream of events: continues after every interruption, and reports its state. */

import type { StreamEvent } from "../../../src/surfaces/inspector/wire.ts";
import { createEventReader } from "./event-stream.ts";
import { RequestError, send } from "./request.ts";

export interface StreamOptions {
  /** The id of the last known event. */
  readonly after: number;
  readonly onEvents: (events: readonly StreamEvent[]) => void;
  readonly onState: (state: "live" | "waiting" | "out") => void;
  readonly signal: AbortSignal;
}

const waitsMs = [250, 1_000, 2_000, 5_000, 10_000] as const;
/** The server sends something every 15 seconds; after this long without data it is considered gone. */
const silenceMsMax = 40_000;

export async function followStream({ after, onEvents, onState, signal }: StreamOptions): Promise<void> {
  let last = String(after);
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      await readOnce(
        last,
        () => {
          failures = 0;
          onState("live");
        },
        (id, events) => {
          last = id ?? last;
          onEvents(events);
        },
        signal,
      );
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof RequestError && error.code === "NOT_IN") return onState("out");
    }
    onState("waiting");
    await pause(waitsMs[Math.min(failures, waitsMs.length - 1)] ?? 0, signal);
  }
}

async function readOnce(
  last: string,
  onOpen: () => void,
  onEvents: (lastId: string | undefined, events: readonly StreamEvent[]) => void,
  signal: AbortSignal,
): Promise<void> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), silenceMsMax);
  const either = AbortSignal.any([signal, silence.signal]);
  try {
    const headers = { accept: "text/event-stream", "last-event-id": last };
    const { body } = await send(`/api/events`, { headers, signal: either });
    if (body === null) return;
    onOpen();
    const reader = createEventReader();
    const pieces = body.pipeThrough(new TextDecoderStream()).getReader();
    for (let piece = await pieces.read(); !piece.done; piece = await pieces.read()) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), silenceMsMax);
      const events = reader.feed(piece.value);
      // The server has the same version, so its type holds.
      if (events.length > 0)
        onEvents(
          events.at(-1)?.id,
          events.map(({ data }) => JSON.parse(data) as StreamEvent),
        );
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Ends after the time, when the page becomes visible again, or on abort. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const seen = (): void => {
      if (document.visibilityState === "visible") done();
    };
    const timer = setTimeout(done, ms);
    document.addEventListener("visibilitychange", seen);
    signal.addEventListener("abort", done);
  });
}
