/** The stream of events: numbered, the last ones kept for readers that reconnect. A reader that is too slow is disconnected. */

import type { ServerResponse } from "node:http";
import type { StreamEvent } from "./wire.ts";

type EventForBrowser = (browser: string) => StreamEvent;

export type Stream = ReturnType<typeof createStream>;
export type StreamLimits = typeof streamLimits;

const streamLimits = {
  eventsMax: 5_000,
  readersMax: 64,
  readersOfOneMax: 16,
  waitingBytesMax: 4_194_304,
  beatMs: 15_000,
  /** How long a disconnected reader still counts. */
  awayMs: 3_000,
};

interface Kept {
  readonly id: number;
  readonly tell: EventForBrowser;
}

export function createStream(given: Partial<StreamLimits> = {}) {
  const limits = { ...streamLimits, ...given };
  const readers = new Map<ServerResponse, string>();
  const kept: Kept[] = [];
  let last = 0;
  let isClosed = false;
  let leftMs = Number.NEGATIVE_INFINITY;
  let beat: NodeJS.Timeout | undefined;

  const send = (res: ServerResponse, text: string): void => {
    if (res.writableLength > limits.waitingBytesMax) {
      readers.delete(res);
      res.destroy();
      return;
    }
    res.write(text);
  };
  const textOf = ({ id, tell }: Kept, browser: string): string => {
    const event = tell(browser);
    return `id: ${id}\nevent: ${event.type}\ndata: ${oneLine(event)}\n\n`;
  };
  const forget = (res: ServerResponse): void => {
    readers.delete(res);
    leftMs = performance.now();
    if (readers.size > 0) return;
    clearInterval(beat);
    beat = undefined;
  };

  return {
    emit(event: StreamEvent | EventForBrowser): void {
      last += 1;
      const one: Kept = { id: last, tell: typeof event === "function" ? event : () => event };
      kept.push(one);
      // In batches, since shifting a long list costs time.
      if (kept.length > limits.eventsMax * 1.25) kept.splice(0, kept.length - limits.eventsMax);
      for (const [res, browser] of readers) send(res, textOf(one, browser));
    },
    /** False if there are too many readers. */
    join(
      res: ServerResponse,
      browser: string,
      after: number | undefined,
      headers: Readonly<Record<string, string>>,
    ): boolean {
      const own = [...readers.values()].filter((name) => name === browser).length;
      if (readers.size >= limits.readersMax || own >= limits.readersOfOneMax) return false;
      res.writeHead(200, { ...headers, "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" });
      res.flushHeaders();
      readers.set(res, browser);
      res.once("close", () => forget(res));
      beat ??= setInterval(() => {
        for (const one of readers.keys()) send(one, ": still here\n\n");
      }, limits.beatMs).unref();
      res.write(": hello\n\n");
      if (after === undefined || after === last) return true;
      const first = kept[0]?.id ?? last + 1;
      // The id is from another run of the server, or too old.
      if (after > last || after < first - 1) {
        send(res, `id: ${last}\nevent: reset\ndata: ${oneLine({ type: "reset" })}\n\n`);
        return true;
      }
      for (const one of kept.slice(after - first + 1)) send(res, textOf(one, browser));
      return true;
    },
    leave(browser: string): void {
      for (const [res, name] of readers) if (name === browser) res.end();
    },
    get readers(): number {
      return readers.size;
    },
    /** Is there a reader, or was there one a moment ago, as when a page is reloaded? */
    get isWatched(): boolean {
      return !isClosed && (readers.size > 0 || performance.now() - leftMs < limits.awayMs);
    },
    get last(): number {
      return last;
    },
    close(): void {
      clearInterval(beat);
      for (const res of readers.keys()) res.end();
      readers.clear();
      isClosed = true;
    },
  };
}

/** No file name can begin another event: JSON has no raw newlines, except U+2028 and U+2029, which some readers take for such. */
const oneLine = (event: StreamEvent): string =>
  JSON.stringify(event).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
