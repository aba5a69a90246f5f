/**
 * Counts tokens with a real tokenizer, for decisions near a limit. No public tokenizer is exact for every model; this one is
 * much closer than the estimate. It is an optional package: without it the estimate is used. It takes 100 ms to load and can
 * take as long for a page of letters without words, so it runs in a worker.
 */

import { limits } from "../contract/limits.ts";
import { hasFailed, runInWorker, packageFiles } from "./worker/host.ts";

/** Undefined when the tokenizer is not installed, or the count took too long. */
export async function countTokens(text: string, signal: AbortSignal): Promise<number | undefined> {
  const files = packageFiles({ library: "gpt-tokenizer/encoding/o200k_base" });
  if (files === undefined) return undefined;
  const counted = await runInWorker("tokens", { text, ...files }, { signal, msMax: limits.tokensMsMax });
  return hasFailed(counted) ? undefined : counted;
}
