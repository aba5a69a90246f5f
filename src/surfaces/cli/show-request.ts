/** Runs a request that changes nothing, and prints its answer. */

import type { Request, RunResult, Verb } from "../../contract/call.ts";
import type { Profile } from "../../contract/profile.ts";
import type { ExitCode, Given, Host } from "./command.ts";
import { type Needs, openSession } from "./open-session.ts";
import { printReply, wordsFor } from "./print.ts";
import type { ProgressBar } from "./progress.ts";

interface Showing<V extends Verb> {
  readonly needs?: Needs;
  readonly bar?: ProgressBar;
  /** Without it every outcome is a success. */
  readonly isFound?: (outcome: NonNullable<RunResult<V>["outcome"]>) => boolean;
}

export async function showRequest<V extends Verb>(
  makeRequest: (profile: Profile) => Request & { readonly verb: V },
  given: Given,
  host: Host,
  { needs, bar, isFound }: Showing<V> = {},
): Promise<ExitCode> {
  const { filehand, session, record } = await openSession(given, host, "people", needs);
  try {
    const words = wordsFor(given, session);
    const options = { signal: host.signal, ...(bar && { onProgress: bar.show }), ...(words && { words }) };
    const { outcome, reply } = await session.run<V>(makeRequest, options);
    bar?.clear();
    record();
    const code = printReply(reply, given, host, words);
    return outcome === undefined || isFound === undefined || isFound(outcome) ? code : 1;
  } finally {
    await filehand.close();
  }
}
