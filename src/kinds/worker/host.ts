/**
 * Runs parsers of hostile formats in worker threads. A worker takes one task at a time, within limits of time and memory. A
 * worker that exceeds a limit, crashes or is cancelled is terminated: that call fails, and the next one gets another worker.
 * A healthy worker is kept for a while for the next task, without keeping the process alive.
 */

import { createRequire } from "node:module";
import { posix } from "node:path";
import { Worker } from "node:worker_threads";
import { limits } from "../../contract/limits.ts";
import { lazily, partFile, readSmallFile } from "../../disk/disk.ts";
import type { CompiledWasm, Programs, WorkerMessage, WorkerTask } from "./worker.ts";

const workerProgram = lazily(() => import("./worker.ts?program"));

type Kind = keyof Programs;

export interface TaskLimits {
  readonly signal: AbortSignal;
  /** CPU time of the thread; wall-clock time where the system does not tell it (not Linux). */
  readonly msMax: number;
  /** Wall-clock time, without the wait for a free worker. */
  readonly wallMsMax?: number;
  /** For the memory of a WebAssembly library; the JavaScript heap has its own limit. */
  readonly megabytesMax?: number;
}

/** `crash`: an exception of the parser that the file provoked, or the end of the thread. */
export interface TaskFailed {
  readonly failed: "time" | "memory" | "crash";
  readonly detail: string;
  /** What it had used of `msMax`. */
  readonly workedMs: number;
}

/** A thread of a busy machine waits most of the time; one that does nothing must end some day. */
const wallFactor = 6;

export type TaskResult<K extends Kind> = Awaited<ReturnType<Programs[K]>>;

/**
 * Throws only the signal's reason. `bytes` of the input are copied and the copy is transferred to the worker; the caller
 * keeps its own.
 */
export async function runInWorker<K extends Kind>(
  kind: K,
  input: Parameters<Programs[K]>[0],
  { signal, msMax, wallMsMax = msMax * wallFactor, megabytesMax = limits.workerMegabytesMax }: TaskLimits,
  onPart: (part: unknown) => void = () => undefined,
): Promise<TaskResult<K> | TaskFailed> {
  const leave = await waitForTurn(kind, signal);
  let left: Promise<unknown> = Promise.resolve();
  try {
    const slot = await takeWorker(kind);
    try {
      signal.throwIfAborted();
      const task: WorkerTask = { kind, input: { ...input }, memoryBytesMax: megabytesMax * 1_048_576 };
      return (await runTask(slot, task, { signal, msMax, wallMsMax }, onPart)) as TaskResult<K> | TaskFailed;
    } finally {
      left = releaseWorker(slot, kind);
    }
  } finally {
    // A worker has its memory until it has ended, so no task of its kind begins before. The caller need not wait for that.
    void left.then(leave, leave);
  }
}

export const hasFailed = (result: unknown): result is TaskFailed =>
  typeof result === "object" && result !== null && "failed" in result;

/**
 * Paths of files in other packages: the compressed copy in `dist/parts` if there is one, else the file of the installed package;
 * undefined if it is not installed. The bundler replaces `import.meta.url` by its own URL.
 */
export function packageFiles<Name extends string>(
  names: Readonly<Record<Name, string>>,
): Record<Name, string> | undefined {
  const { resolve } = createRequire(import.meta.url);
  try {
    const found = Object.entries<string>(names).map(
      ([key, name]) => [key, partFile(`${posix.basename(name)}.br`) ?? resolve(name)] as const,
    );
    return Object.fromEntries(found) as Record<Name, string>;
  } catch {
    return undefined;
  }
}

interface WorkerSlot {
  readonly worker: Worker;
  readonly heapMegabytes: number;
  /** Of the `started` message; undefined until it arrives. */
  thread: string | undefined;
  /** Receives the worker's messages, and its end as `failed`; undefined while it is idle. */
  task: ((message: WorkerMessage) => void) | undefined;
  isReusable: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** Tasks of one kind that run at once: each may use all the memory of its limits. A slow kind does not block the others. */
const atOnceMax = 2;
const queues = new Map<Kind, { busy: number; readonly waiting: (() => void)[] }>();

async function waitForTurn(kind: Kind, signal: AbortSignal): Promise<() => void> {
  signal.throwIfAborted();
  const queue = queues.get(kind) ?? { busy: 0, waiting: [] };
  queues.set(kind, queue);
  const leave = (): void => {
    queue.busy -= 1;
    queue.waiting.shift()?.();
  };
  if (queue.busy < atOnceMax) {
    queue.busy += 1;
    return leave;
  }
  await new Promise<void>((resolve, reject) => {
    const start = (): void => {
      signal.removeEventListener("abort", stop);
      queue.busy += 1;
      resolve();
    };
    const stop = (): void => {
      queue.waiting.splice(queue.waiting.indexOf(start), 1);
      reject(signal.reason);
    };
    signal.addEventListener("abort", stop, { once: true });
    queue.waiting.push(start);
  });
  return leave;
}

/** A notebook is parsed whole, since only V8's own JSON parser is fast enough; the other parsers need little at once. */
const heapMegabytes = (kind: Kind): number =>
  kind === "notebook" || kind === "notebookEdit" ? limits.notebookMegabytesMax : limits.workerHeapMegabytesMax;

const idle: WorkerSlot[] = [];
/** Enough for parallel reads; an idle thread keeps its memory. */
const idleMax = 2;
/** Documents are read in bursts; after a pause the memory is freed. */
const idleMsMax = 30_000;
/** Just above PDFium's initial memory: a thread that grew for a large file is ended to free its memory. */
const idleMemoryBytesMax = 33_554_432;

async function takeWorker(kind: Kind): Promise<WorkerSlot> {
  const at = idle.findIndex((slot) => slot.heapMegabytes === heapMegabytes(kind));
  const [slot] = at === -1 ? [] : idle.splice(at, 1);
  if (slot === undefined) return startWorker(heapMegabytes(kind));
  clearTimeout(slot.timer);
  slot.worker.ref();
  return slot;
}

function releaseWorker(slot: WorkerSlot, kind: Kind): Promise<unknown> {
  slot.task = undefined;
  // A code parser keeps state: no file may influence the next one's outline.
  if (!slot.isReusable || idle.length >= idleMax || kind === "outline") return slot.worker.terminate();
  slot.worker.unref();
  slot.timer = setTimeout(() => {
    drop(slot);
    void slot.worker.terminate();
  }, idleMsMax);
  slot.timer.unref();
  idle.push(slot);
  return Promise.resolve();
}

function drop(slot: WorkerSlot): void {
  const at = idle.indexOf(slot);
  if (at !== -1) idle.splice(at, 1);
}

/** Compiled libraries of earlier workers: while they are referenced, V8 reuses their code for the next worker. */
const compiled = new Map<string, CompiledWasm>();

async function startWorker(heapMegabytesMax: number): Promise<WorkerSlot> {
  const { default: program } = await workerProgram();
  const worker = new Worker(program, {
    eval: true,
    // The thread gets no environment and no flags of the host, and its output does not reach the user.
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax, maxYoungGenerationSizeMb: 16 },
  });
  const slot: WorkerSlot = {
    worker,
    heapMegabytes: heapMegabytesMax,
    thread: undefined,
    task: undefined,
    isReusable: false,
    timer: undefined,
  };
  const end = (why: "memory" | "crash", detail: string): void => {
    slot.isReusable = false;
    drop(slot);
    slot.task?.({ is: "failed", why, detail });
  };
  worker.on("message", (message: WorkerMessage) => {
    if (message.is === "compiled") compiled.set(message.path, message.wasm);
    else if (message.is === "started") slot.thread = message.thread;
    else slot.task?.(message);
  });
  worker.on("error", (error: NodeJS.ErrnoException) =>
    end(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : "crash", error.message),
  );
  worker.on("exit", () => end("crash", "the worker thread ended"));
  return slot;
}

/** Between two looks at a thread's CPU time, which take some 20 µs each. */
const lookEveryMs = 50;

/** Undefined when the thread has ended. */
function threadClockMs(thread: string): number | undefined {
  if (thread === "") return performance.now();
  try {
    return Number.parseInt(readSmallFile(`/proc/${thread}/schedstat`, 256) ?? "", 10) / 1e6 || undefined;
  } catch {
    return undefined;
  }
}

async function runTask(
  slot: WorkerSlot,
  task: WorkerTask,
  { signal, msMax, wallMsMax }: Pick<Required<TaskLimits>, "signal" | "msMax" | "wallMsMax">,
  onPart: (part: unknown) => void,
): Promise<unknown> {
  slot.isReusable = false;
  let watch: NodeJS.Timeout | undefined;
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => undefined;
  try {
    return await new Promise<unknown>((resolve, reject) => {
      let fromMs: number | undefined;
      let workedMs = 0;
      const fail = (failed: TaskFailed["failed"], detail: string): void =>
        resolve({ failed, detail, workedMs } satisfies TaskFailed);
      const look = (): void => {
        const nowMs = slot.thread === undefined ? undefined : threadClockMs(slot.thread);
        if (nowMs === undefined) return;
        fromMs ??= nowMs;
        workedMs = nowMs - fromMs;
        if (workedMs > msMax) fail("time", `${msMax} ms of work`);
      };
      look();
      watch = setInterval(look, lookEveryMs);
      timer = setTimeout(() => fail("time", `${wallMsMax} ms`), wallMsMax);
      onAbort = () => reject(signal.reason);
      signal.addEventListener("abort", onAbort);
      slot.task = (message) => {
        if (message.is === "part") onPart(message.part);
        else if (message.is === "failed") fail(message.why, message.detail);
        else if (message.is === "done") {
          slot.isReusable = message.memoryBytes <= idleMemoryBytesMax;
          resolve(message.result);
        }
      };
      slot.worker.postMessage(task, copyBytes(task));
    });
  } finally {
    clearInterval(watch);
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/** Transfers a copy: sending a view would copy the whole memory behind it. */
function copyBytes({ input }: WorkerTask): readonly ArrayBuffer[] {
  const given = input as { bytes?: Uint8Array };
  if (given.bytes === undefined) return [];
  const copy = new Uint8Array(given.bytes);
  given.bytes = copy;
  return [copy.buffer];
}
