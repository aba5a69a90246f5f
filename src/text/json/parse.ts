/**
 * Parses JSON from outside: tool arguments, messages of clients, lines of a batch. `JSON.parse` takes almost no time
 * for the characters of a string, but 100 to 200 ns for each object and array, and up to 1 µs for each new key: 400,000
 * arrays or 65,000 different keys, less than 1 MB, block the event loop for more than 50 ms. So a text with too many of
 * them is refused before it is parsed.
 */

import { limits } from "../../contract/limits.ts";
import { endOfString } from "./spans.ts";

export type ParsedJson =
  | { readonly value: unknown }
  | { readonly fault: "not json"; readonly detail: string }
  | { readonly fault: "too many parts" };

export function parseJson(text: string, containersMax: number = limits.jsonContainersMax): ParsedJson {
  if (hasTooManyParts(text, containersMax)) return { fault: "too many parts" };
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { fault: "not json", detail: error instanceof Error ? error.message : String(error) };
  }
}

/** The rest of a sentence that begins with what the JSON is: `the message …`. */
export const tooManyParts = `has more than ${limits.jsonContainersMax} objects and lists or ${limits.jsonKeysMax} different keys, send it in parts`;

/** Strings are skipped from quote to quote, in a fraction of the time of `JSON.parse`. A short text is not scanned. */
function hasTooManyParts(text: string, containersMax: number): boolean {
  if (text.length <= limits.jsonKeysMax) return false;
  const keys = new Set<string>();
  let containers = 0;
  let [from, to] = [0, 0]; // of the last string
  let at = 0;
  while (at < text.length) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        [from, to] = [at, endOfString(text, at)];
        at = to;
        continue;
      case 0x3a: // :
        keys.add(text.slice(from, to));
        if (keys.size > limits.jsonKeysMax) return true;
        break;
      case 0x5b: // [
      case 0x7b: // {
        containers += 1;
        if (containers > containersMax) return true;
    }
    at += 1;
  }
  return false;
}
