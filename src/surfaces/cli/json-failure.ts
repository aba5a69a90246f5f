/** Refusals for programs: with `--json` they are on stdout, in the form of a reply. */

import { isFailure } from "../../contract/failure.ts";
import type { ExitCode, Given, Host } from "./command.ts";
import { printJson } from "./print.ts";

export async function orJsonFailure(given: Given, host: Host, work: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await work();
  } catch (error) {
    if (!isFailure(error) || !given.flag("json")) throw error;
    const { code, message } = error;
    printJson({ isError: true, error: { code, message } }, host);
    return 1;
  }
}
