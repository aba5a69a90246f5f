/**
 * The program of a worker thread: it runs one task after the other on files that may be hostile (PDF, office, HEIC and BMP,
 * outlines, notebooks, unknown encodings) and counts tokens. The host (`host.ts`) limits its time and memory and
 * terminates it when it exceeds them. Programs MUST NOT build one large string or list: V8 ends a worker that is out of
 * memory cleanly only while it allocates in small steps. Large results are bytes, which are outside of V8's heap.
 */

import { Buffer } from "node:buffer";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { runInThisContext } from "node:vm";
import { parentPort } from "node:worker_threads";
import { brotliDecompressSync } from "node:zlib";
import type * as Tokenizer from "gpt-tokenizer/encoding/o200k_base";
import type * as Detector from "jschardet";
import {
  type CellEdit,
  type CellEdited,
  editCell,
  type Notebook,
  type NotebookFault,
  type NotebookLimits,
  parseNotebook,
} from "../../text/text.ts";
import { examineImage } from "../image/examine.ts";
import { readOffice } from "../office/office.ts";
import { outlineText } from "../outline/worker.ts";
import { readPages } from "../pdf/worker.ts";

const programs = {
  pdf: readPages,
  office: readOffice,
  image: examineImage,
  outline: outlineText,
  notebook: readCells,
  notebookEdit: planCellEdit,
  encodings: proposeEncodings,
  tokens: countTokens,
} satisfies Record<string, (input: never, context: WorkerContext) => unknown>;

export type Programs = typeof programs;

export interface WorkerContext {
  /** A CommonJS module by absolute path: of an installed package, or a compressed part of this one. */
  load(path: string): unknown;
  /** The content of a file; that of a `.br` file decompressed. */
  bytesOf(path: string): Uint8Array;
  /** A compiled WebAssembly file. The host keeps a reference, so that V8 reuses its code for the next worker. */
  compiled(path: string): CompiledWasm;
  /** Sends a partial result, which stays valid if the rest fails. */
  part(part: unknown): void;
  /** Transfers memory to the host with the next message, without a copy. */
  give(memory: ArrayBuffer): void;
  readonly memory: {
    /** For one WebAssembly memory: a worker's `resourceLimits` do not include it. */
    readonly bytesMax: number;
    readonly isFull: boolean;
  };
}

/** A `WebAssembly.Module`, only passed on: neither the `es2023` library nor Node 20's types declare it. */
export type CompiledWasm = object;

export interface WorkerTask {
  readonly kind: keyof Programs;
  readonly input: unknown;
  readonly memoryBytesMax: number;
}

export type WorkerMessage =
  /** The thread's folder below `/proc`, where its CPU time can be read; empty where the system has none. */
  | { readonly is: "started"; readonly thread: string }
  | { readonly is: "part"; readonly part: unknown }
  | { readonly is: "compiled"; readonly path: string; readonly wasm: CompiledWasm }
  /** The result, and the peak size of a WebAssembly memory. */
  | { readonly is: "done"; readonly result: unknown; readonly memoryBytes: number }
  | { readonly is: "failed"; readonly why: "memory" | "crash"; readonly detail: string };

function readCells({ bytes, limits }: { bytes: Uint8Array; limits: NotebookLimits }): Notebook | NotebookFault {
  return parseNotebook(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"), limits);
}

function planCellEdit({ text, edit }: { text: string; edit: CellEdit }): CellEdited {
  return editCell(text, edit);
}

function proposeEncodings(
  { bytes, names, library }: { bytes: Uint8Array; names: readonly string[]; library: string },
  context: WorkerContext,
): readonly string[] {
  const { detectAll } = context.load(library) as typeof Detector;
  // `names` includes windows-1252: without it the detector prints a warning when nothing matches.
  const found = detectAll(Buffer.from(bytes), { detectEncodings: [...names], minimumThreshold: 0 });
  return found.map(({ encoding }) => encoding?.toLowerCase() ?? "");
}

/** Tokenizers need quadratic time on long runs of one character; in pieces of this size they do not. */
const pieceChars = 2_048;

function countTokens({ text, library }: { text: string; library: string }, context: WorkerContext): number {
  const { countTokens: count } = context.load(library) as typeof Tokenizer;
  let total = 0;
  for (let at = 0; at < text.length; at += pieceChars) total += count(text.slice(at, at + pieceChars));
  return total;
}

interface WasmMemory {
  readonly buffer: ArrayBuffer;
}
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => CompiledWasm;
  readonly Memory: { readonly prototype: { grow: (this: WasmMemory, pages: number) => number } };
};

const pageBytes = 65_536;
const memory = { bytesMax: Number.POSITIVE_INFINITY, isFull: false, bytes: 0 };

/** Every WebAssembly library grows its memory through this function; without a limit it may take 2 GB or more. */
function limitMemories(): void {
  const { grow } = WebAssembly.Memory.prototype;
  WebAssembly.Memory.prototype.grow = function (pages) {
    const bytes = this.buffer.byteLength + pages * pageBytes;
    memory.isFull = bytes > memory.bytesMax;
    if (memory.isFull) throw new RangeError(`it may have ${memory.bytesMax} bytes of memory`);
    memory.bytes = Math.max(memory.bytes, bytes);
    return grow.call(this, pages);
  };
}

interface Files {
  readonly readFileSync: (path: string) => Uint8Array;
  readonly readlinkSync: (path: string) => string;
}

function threadFolder({ readFileSync, readlinkSync }: Files): string {
  try {
    return readFileSync("/proc/thread-self/schedstat").length > 0 ? readlinkSync("/proc/thread-self") : "";
  } catch {
    return "";
  }
}

/** Node's own wrapper of CommonJS, for code that is in no file. */
function runModule(code: string, filename: string, require: NodeJS.Require): unknown {
  const module = { exports: {} as unknown };
  const wrapped = `(function (exports, require, module, __filename, __dirname) {${code}\n})`;
  const run = runInThisContext(wrapped, { filename }) as (...given: readonly unknown[]) => void;
  run(module.exports, require, module, filename, dirname(filename));
  return module.exports;
}

function serve(port: NonNullable<typeof parentPort>): void {
  const load = createRequire(process.execPath);
  const files = load("node:fs") as Files;
  const bytesOf = (path: string): Uint8Array => {
    const bytes = files.readFileSync(path);
    return path.endsWith(".br") ? brotliDecompressSync(bytes) : bytes;
  };
  const parts = new Map<string, unknown>();
  const compiled = new Map<string, CompiledWasm>();
  let moved: ArrayBuffer[] = [];
  const post = (message: WorkerMessage): void => {
    port.postMessage(message, moved);
    moved = [];
  };
  const context: WorkerContext = {
    load(path) {
      if (!path.endsWith(".br")) return load(path) as unknown;
      const known = parts.get(path) ?? runModule(Buffer.from(bytesOf(path)).toString("utf8"), path, load);
      parts.set(path, known);
      return known;
    },
    bytesOf,
    compiled(path) {
      const known = compiled.get(path);
      if (known !== undefined) return known;
      const wasm = new WebAssembly.Module(bytesOf(path));
      compiled.set(path, wasm);
      post({ is: "compiled", path, wasm });
      return wasm;
    },
    part: (part) => post({ is: "part", part }),
    give: (buffer) => void moved.push(buffer),
    memory,
  };
  const run = async ({ kind, input, memoryBytesMax }: WorkerTask): Promise<void> => {
    Object.assign(memory, { bytesMax: memoryBytesMax, isFull: false, bytes: 0 });
    try {
      const program = programs[kind] as (input: unknown, context: WorkerContext) => unknown;
      const result = await program(input, context);
      post({ is: "done", result, memoryBytes: memory.bytes });
    } catch (error) {
      moved = [];
      post({ is: "failed", why: memory.isFull ? "memory" : "crash", detail: String(error) });
    }
  };
  port.on("message", (task: WorkerTask) => void run(task));
  post({ is: "started", thread: threadFolder(files) });
}

/** Decoders print warnings about a file. The host reads neither stream, so they would pile up. */
function printNothing(): void {
  process.stdout.write = () => true;
  process.stderr.write = () => true;
}

if (parentPort !== null) {
  printNothing();
  limitMemories();
  serve(parentPort);
}
