/**
 * The host of the worker threads in which hostile formats are parsed. A worker takes one task at a time, within limits of
 * time and memory, and can be called off. One that exceeds a limit, crashes or is called off is ended: that call fails,
 * and the next one gets another worker. A worker that did well waits a while for the next task, without keeping the process alive.
 */

import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { limits } from "../../contract/limits.ts";
import { lazily } from "../../disk/disk.ts";
import type { CompiledWasm, Programs, WorkerMessage, WorkerTask } from "./worker.ts";

const workerProgram = lazily(() => import("./worker.ts?program"));

type Kind = keyof Programs;

export interface TaskLimits {
  readonly signal: AbortSignal;
  /** From the start of the work; the wait for a free worker is not part of it. */
  readonly msMax: number;
  /** What a library in WebAssembly may have; what is written in JavaScript has limits of its own. */
  readonly megabytesMax?: number;
}

/** The task failed by itself. `crash` is a fault of the parser that the file provoked, or of the thread. */
export interface TaskFailed {
  readonly failed: "time" | "memory" | "crash";
  readonly detail: string;
}

export type Done<K extends Kind> = Awaited<ReturnType<Programs[K]>>;

/**
 * Throws only what the signal was aborted with. `bytes` of the input are copied, and the copy is moved to the worker;
 * they stay the caller's.
 */
export async function inWorker<K extends Kind>(
  kind: K,
  input: Parameters<Programs[K]>[0],
  { signal, msMax, megabytesMax = limits.workerMegabytesMax }: TaskLimits,
  onPart: (part: unknown) => void = () => undefined,
): Promise<Done<K> | TaskFailed> {
  const leave = await enter(kind, signal);
  let left: Promise<unknown> = Promise.resolve();
  try {
    const seat = await takeSeat(kind);
    try {
      signal.throwIfAborted();
      const task: WorkerTask = { kind, input: { ...input }, memoryBytesMax: megabytesMax * 1_048_576 };
      return (await within(seat, task, { signal, msMax }, onPart)) as Done<K> | TaskFailed;
    } finally {
      left = giveBack(seat, kind);
    }
  } finally {
    // Until it has ended it has its memory, so nothing else of its kind begins. The caller need not wait for that.
    void left.then(leave, leave);
  }
}

export const hasFailed = (result: unknown): result is TaskFailed =>
  typeof result === "object" && result !== null && "failed" in result;

/** Where files of optional packages are; undefined if npm left one out. The bundler puts its own address for `import.meta.url`. */
export function packageFiles<Name extends string>(
  names: Readonly<Record<Name, string>>,
): Record<Name, string> | undefined {
  const { resolve } = createRequire(import.meta.url);
  try {
    const found = Object.entries<string>(names).map(([key, name]) => [key, resolve(name)] as const);
    return Object.fromEntries(found) as Record<Name, string>;
  } catch {
    return undefined;
  }
}

interface Seat {
  readonly worker: Worker;
  readonly heapMegabytes: number;
  /** What its messages and its end are told to; undefined while it waits. */
  task: ((event: WorkerMessage | TaskFailed) => void) | undefined;
  /** May it take another task? */
  isGood: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** Tasks of one kind at a time: each may have as much memory as its limits say. A slow kind does not stop the others. */
const atOnceMax = 2;
const lanes = new Map<Kind, { busy: number; readonly waiting: (() => void)[] }>();

async function enter(kind: Kind, signal: AbortSignal): Promise<() => void> {
  signal.throwIfAborted();
  const lane = lanes.get(kind) ?? { busy: 0, waiting: [] };
  lanes.set(kind, lane);
  const leave = (): void => {
    lane.busy -= 1;
    lane.waiting.shift()?.();
  };
  if (lane.busy < atOnceMax) {
    lane.busy += 1;
    return leave;
  }
  await new Promise<void>((resolve, reject) => {
    const start = (): void => {
      signal.removeEventListener("abort", stop);
      lane.busy += 1;
      resolve();
    };
    const stop = (): void => {
      lane.waiting.splice(lane.waiting.indexOf(start), 1);
      reject(signal.reason);
    };
    signal.addEventListener("abort", stop, { once: true });
    lane.waiting.push(start);
  });
  return leave;
}

/** A notebook is parsed as a whole, which nothing but V8's own parser does in time; the others hold little at once. */
const heapMegabytes = (kind: Kind): number =>
  kind === "notebook" || kind === "notebookEdit" ? limits.notebookMegabytesMax : limits.workerHeapMegabytesMax;

/** A thread takes some 50 ms to start, so one waits for the next task. */
const idle: Seat[] = [];
const idleMax = 2;
const idleMsMax = 30_000;
/** Just above what PDFium begins with: what a large file took is given back with the thread. */
const idleMemoryBytesMax = 33_554_432;

async function takeSeat(kind: Kind): Promise<Seat> {
  const at = idle.findIndex((seat) => seat.heapMegabytes === heapMegabytes(kind));
  const [seat] = at === -1 ? [] : idle.splice(at, 1);
  if (seat === undefined) return startWorker(heapMegabytes(kind));
  clearTimeout(seat.timer);
  seat.worker.ref();
  return seat;
}

function giveBack(seat: Seat, kind: Kind): Promise<unknown> {
  seat.task = undefined;
  // A parser of code keeps what it was given: no file may reach the next one's.
  if (!seat.isGood || idle.length >= idleMax || kind === "outline") return seat.worker.terminate();
  seat.worker.unref();
  seat.timer = setTimeout(() => {
    drop(seat);
    void seat.worker.terminate();
  }, idleMsMax);
  seat.timer.unref();
  idle.push(seat);
  return Promise.resolve();
}

function drop(seat: Seat): void {
  const at = idle.indexOf(seat);
  if (at !== -1) idle.splice(at, 1);
}

/** Compiled libraries of earlier workers: while they are held, V8 has their code at hand for the next one. */
const compiled = new Map<string, CompiledWasm>();

async function startWorker(heapMegabytesMax: number): Promise<Seat> {
  const { default: program } = await workerProgram();
  const worker = new Worker(program, {
    eval: true,
    // Whatever the host process was started with is not for this thread, and nothing it prints is for the user.
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax, maxYoungGenerationSizeMb: 16 },
  });
  const seat: Seat = { worker, heapMegabytes: heapMegabytesMax, task: undefined, isGood: false, timer: undefined };
  const end = (failed: TaskFailed["failed"], detail: string): void => {
    seat.isGood = false;
    drop(seat);
    seat.task?.({ failed, detail });
  };
  worker.on("message", (message: WorkerMessage) => {
    if (message.is === "compiled") compiled.set(message.path, message.wasm);
    else seat.task?.(message);
  });
  worker.on("error", (error: NodeJS.ErrnoException) =>
    end(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : "crash", error.message),
  );
  worker.on("exit", () => end("crash", "the worker thread ended"));
  return seat;
}

async function within(
  seat: Seat,
  task: WorkerTask,
  { signal, msMax }: Pick<TaskLimits, "signal" | "msMax">,
  onPart: (part: unknown) => void,
): Promise<unknown> {
  seat.isGood = false;
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => undefined;
  try {
    return await new Promise<unknown>((resolve, reject) => {
      timer = setTimeout(() => resolve({ failed: "time", detail: `${msMax} ms` } satisfies TaskFailed), msMax);
      onAbort = () => reject(signal.reason);
      signal.addEventListener("abort", onAbort);
      seat.task = (event) => {
        if ("failed" in event) resolve(event);
        else if (event.is === "part") onPart(event.part);
        else if (event.is === "failed") resolve({ failed: event.why, detail: event.detail } satisfies TaskFailed);
        else if (event.is === "done") {
          seat.isGood = event.memoryBytes <= idleMemoryBytesMax;
          resolve(event.result);
        }
      };
      seat.worker.postMessage(task, copyBytes(task));
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/** A copy to give away: sending a view would copy all of the memory that it is a view of. */
function copyBytes({ input }: WorkerTask): readonly ArrayBuffer[] {
  const given = input as { bytes?: Uint8Array };
  if (given.bytes === undefined) return [];
  const copy = new Uint8Array(given.bytes);
  given.bytes = copy;
  return [copy.buffer];
}
