/**
 * The declarations of a text, by the grammar of its language. It is parsed in a thread of its own with limits of time and
 * memory, so a hostile file ends the thread and not the process.
 */

import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { limits } from "../contract/limits.ts";
import { grammars, type OutlineLanguage } from "./outline-languages.ts";
import type { CompiledWasm } from "./pdf-worker.ts";
import {
  type OutlineThreadData,
  type OutlineThreadMessage,
  outlineWorkerSource,
  type FoundItem,
} from "./outline-worker.ts";

export type Outlined =
  | {
      readonly is: "outline";
      readonly items: readonly FoundItem[];
      /** Items there are, also those behind the last one that was sent. */
      readonly total: number;
      readonly faultLine: number | undefined;
    }
  | { readonly is: "failed"; readonly why: "time" | "memory" | "crash" }
  | { readonly is: "not installed"; readonly install: string };

const parserName = "web-tree-sitter";
const grammarsName = "@vscode/tree-sitter-wasm";

export async function outlineOf(
  text: string,
  language: OutlineLanguage,
  signal: AbortSignal,
  msMax: number = limits.outlineMsMax,
): Promise<Outlined> {
  signal.throwIfAborted();
  const parts = findParts(language);
  if (parts === undefined) return { is: "not installed", install: `${parserName} ${grammarsName}` };
  const { outlineMegabytesMax, outlineItemsFoundMax: itemsMax, outlineNameCharsMax: nameCharsMax } = limits;
  const heapBytesMax = outlineMegabytesMax * 1_048_576;
  const grammar = grammars[language];
  return inTurn(() => inThread({ ...parts, grammar, text, heapBytesMax, itemsMax, nameCharsMax }, msMax, signal));
}

/** Where the parser and the grammar are. The bundler puts the address of the bundle for `import.meta.url`. */
function findParts(language: OutlineLanguage): Pick<OutlineThreadData, "library" | "wasm" | "grammarWasm"> | undefined {
  const { resolve } = createRequire(import.meta.url);
  try {
    return {
      library: resolve(parserName),
      wasm: resolve(`${parserName}/web-tree-sitter.wasm`),
      grammarWasm: resolve(`${grammarsName}/wasm/tree-sitter-${grammars[language].wasm}.wasm`),
    };
  } catch {
    return undefined; // optional: npm may have left them out
  }
}

let last: Promise<unknown> = Promise.resolve();

/** One after the other: each may hold as much memory as the limit says. */
function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  const mine = last.then(work, work);
  last = mine.catch(() => undefined);
  return mine;
}

const compiled = new Map<string, CompiledWasm>();

async function inThread(data: OutlineThreadData, msMax: number, signal: AbortSignal): Promise<Outlined> {
  signal.throwIfAborted();
  const worker = new Worker(outlineWorkerSource, {
    eval: true,
    workerData: data,
    // Whatever the host process was started with is not for this thread, and nothing it prints is for the user.
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 },
  });
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => undefined;
  try {
    return await new Promise<Outlined>((resolve, reject) => {
      const failed = (why: "time" | "memory" | "crash"): void => resolve({ is: "failed", why });
      timer = setTimeout(() => failed("time"), msMax);
      onAbort = () => reject(signal.reason);
      signal.addEventListener("abort", onAbort);
      worker.once("message", (message: OutlineThreadMessage) => {
        if (message.is === "outline") compiled.set(data.grammarWasm, message.compiled);
        resolve(message);
      });
      worker.once("error", (error: NodeJS.ErrnoException) =>
        failed(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : "crash"),
      );
      worker.once("exit", () => failed("crash"));
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    // Nobody waits for it: V8 may still be optimising the parser, and cannot be kept from it.
    void worker.terminate();
  }
}
