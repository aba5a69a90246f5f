/**
 * What may be told in a log about an error of the SDK's. Its messages are a sentence of its own, then often the whole message that
 * it was about, or what a client or a validator said; only the sentence is told.
 */

import type { Log } from "./desk.ts";

/** What stands before a colon and says less than what follows it. */
const sentence =
  /^(?:(?:Bad Request|Conflict|Invalid Request|Not Acceptable|Unsupported Media Type): )?[^:'"`{}[\]<>\r\n]{0,120}/;

export const toldOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown";
  // An error of the protocol may be the other side's, in its own words.
  if ("code" in error && typeof error.code === "number") return `error ${error.code}`;
  const told = sentence.exec(error.message)?.[0].trim() ?? "";
  return told === "" ? error.name : told;
};

export const logSdkError =
  (log: Log, what: string) =>
  (error: Error): void =>
    log("warn", what, { message: toldOf(error) });
