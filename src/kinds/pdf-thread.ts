/** The thread in which PDFium reads: started with limits, kept for the next document where all went well. */

import { Worker } from "node:worker_threads";
import {
  type CompiledWasm,
  type PdfThreadData,
  type PdfThreadMessage,
  type PdfThreadTask,
  pdfWorkerSource,
} from "./pdf-worker.ts";

export type Codec = Pick<PdfThreadData, "library" | "wasm">;

export type Failed = Extract<PdfThreadMessage, { is: "failed" }>;

interface ThreadWants {
  readonly images: boolean;
  readonly imageLongEdge: number;
  readonly memoryMbMax: number;
}

export interface Thread {
  start(bytes: Uint8Array, wants: ThreadWants): void;
  read(pages: readonly number[]): void;
  /** The next message; "failed" when there will be no more. */
  next(): Promise<PdfThreadMessage>;
  fail(why: Failed["why"]): void;
  /** May it read another document? Only where all went well and its memory is small. */
  readonly isGood: boolean;
  /** Does it keep the process alive? */
  keepsAlive(keeps: boolean): void;
  end(): Promise<unknown>;
}

/** A thread takes some 50 ms to start, so one waits for the next document. */
let idle: { readonly thread: Thread; readonly timer: NodeJS.Timeout } | undefined;
const idleMsMax = 30_000;
/** Just above what PDFium begins with: what a large document took is given back with the thread. */
const idleHeapBytesMax = 33_554_432;

export function takeThread(codec: Codec): Thread {
  const waiting = idle;
  if (waiting === undefined) return startThread(codec);
  idle = undefined;
  clearTimeout(waiting.timer);
  if (!waiting.thread.isGood) return startThread(codec); // it ended while it waited
  waiting.thread.keepsAlive(true);
  return waiting.thread;
}

export async function putBack(thread: Thread): Promise<void> {
  if (!thread.isGood || idle !== undefined) {
    await thread.end();
    return;
  }
  thread.keepsAlive(false);
  const timer = setTimeout(() => {
    idle = undefined;
    void thread.end();
  }, idleMsMax);
  timer.unref();
  idle = { thread, timer };
}

/** PDFium as the first thread compiled it: the next ones start sooner and run its optimised code from the beginning. */
let compiled: CompiledWasm | undefined;

function startThread(codec: Codec): Thread {
  const data: PdfThreadData = { ...codec, compiled };
  const worker = new Worker(pdfWorkerSource, {
    eval: true,
    workerData: data,
    // Whatever the host process was started with is not for this thread, and nothing it prints is for the user.
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    // Holds little more than the text of a page. With less, V8 collects garbage at the start, for 15 ms.
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 },
  });

  const arrived: PdfThreadMessage[] = [];
  let wake = (): void => undefined;
  let isGood = true;
  const arrive = (message: PdfThreadMessage): void => {
    if (message.is === "opened") compiled = message.compiled;
    isGood &&= message.is !== "failed" && message.heapBytes <= idleHeapBytesMax;
    arrived.push(message);
    wake();
  };
  const fail = (why: Failed["why"]): void => arrive({ is: "failed", why });
  worker.on("message", arrive);
  worker.once("error", (error: NodeJS.ErrnoException) =>
    fail(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : "damaged"),
  );
  worker.once("exit", () => fail("damaged"));

  return {
    start(bytes, wants) {
      // A copy to give away: sending a view would copy all of the memory that it is a view of.
      const copy = new Uint8Array(bytes);
      const task: PdfThreadTask = {
        bytes: copy,
        heapBytesMax: wants.memoryMbMax * 1_048_576,
        imageLongEdge: wants.images ? wants.imageLongEdge : undefined,
      };
      worker.postMessage(task, [copy.buffer]);
    },
    read: (pages) => worker.postMessage(pages, []),
    async next() {
      while (arrived.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return arrived.shift() ?? { is: "failed", why: "damaged" };
    },
    fail,
    get isGood() {
      return isGood && arrived.length === 0;
    },
    keepsAlive: (keeps) => (keeps ? worker.ref() : worker.unref()),
    end: () => worker.terminate(),
  };
}
