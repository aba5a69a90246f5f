/** Counts tokens with an optional tokenizer, which is closer than the estimate and, being slow, runs in a worker. */

import { limits } from "../contract/limits.ts";
import { hasFailed, runInWorker, packageFiles } from "./worker/host.ts";

/** Undefined when the tokenizer is not installed, or the count took too long. */
export async function countTokens(text: string, signal: AbortSignal): Promise<number | undefined> {
  const files = packageFiles({ library: "gpt-tokenizer/encoding/o200k_base" });
  if (files === undefined) return undefined;
  const counted = await runInWorker("tokens", { text, ...files }, { signal, msMax: limits.tokensMsMax });
  return hasFailed(counted) ? undefined : counted;
}
