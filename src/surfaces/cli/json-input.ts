/** JSON that a caller sent and that is none: what is wrong with it, and what to do. */

import { isCutOff } from "../../text/json-fault.ts";

/** A model whose output ended too early must not send the same again: it would end at the same place. */
export function jsonFault(text: string, error: unknown): string {
  if (isCutOff(text)) {
    return `its JSON ends too early, after ${text.length} characters, so nothing was done; send less at once: write the first part of a long text, then add the others by edits`;
  }
  return `it is not valid JSON (${error instanceof Error ? error.message : String(error)}), send it again in full`;
}
