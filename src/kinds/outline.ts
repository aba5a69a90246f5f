/** The declarations of a text, by the grammar of its language. It is parsed in a worker with limits of time and memory. */

import { limits } from "../contract/limits.ts";
import { grammars, type OutlineLanguage } from "./outline-languages.ts";
import type { Found } from "./outline-worker.ts";
import { hasFailed, inWorker, packageFiles } from "./worker-host.ts";

export type Outlined =
  /** `total` is how many items there are, also those after the last one that was sent. */
  | ({ readonly is: "outline" } & Found)
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
  const grammar = grammars[language];
  const files = packageFiles({
    library: parserName,
    wasm: `${parserName}/web-tree-sitter.wasm`,
    grammarWasm: `${grammarsName}/wasm/tree-sitter-${grammar.wasm}.wasm`,
  });
  if (files === undefined) return { is: "not installed", install: `${parserName} ${grammarsName}` };
  const { outlineItemsFoundMax: itemsMax, outlineNameCharsMax: nameCharsMax } = limits;
  const found = await inWorker(
    "outline",
    { ...files, grammar, text, itemsMax, nameCharsMax },
    { signal, msMax, megabytesMax: limits.outlineMegabytesMax },
  );
  return hasFailed(found) ? { is: "failed", why: found.failed } : { is: "outline", ...found };
}
