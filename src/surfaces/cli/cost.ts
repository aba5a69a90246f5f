/** `filehand read --tokens`: what a file would cost. */

import type { Session } from "../../api.ts";
import type { ExitCode, Given, Host } from "./command.ts";
import { progressBar } from "./progress.ts";
import { printJson } from "./print.ts";

export async function showCost(session: Session, path: string, given: Given, host: Host): Promise<ExitCode> {
  const bar = progressBar("Counting tokens", given, host);
  const cost = await session.cost(path, { signal: host.signal, onProgress: bar.show });
  bar.clear();
  if (given.flag("json")) {
    printJson(cost, host);
    return 0;
  }
  const { tokens, counted, lines, sizeBytes, tokensMax } = cost;
  const many = (value: number): string => Math.round(value).toLocaleString("en-US");
  const pages = Math.ceil(tokens / tokensMax);
  const fits = pages <= 1 ? "one read" : `about ${many(pages)} reads`;
  host.stdout.write(
    `${many(tokens)} tokens (${counted}), ${lines === undefined ? "" : `${many(lines)} lines, `}${many(sizeBytes)} bytes: ` +
      `${fits} within the budget of ${many(tokensMax)}\n`,
  );
  return 0;
}
