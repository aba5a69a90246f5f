/** Which line ends a text has. */

import type { LineEndName } from "../contract/edit.ts";

/** Undefined where there is none. */
export function lineEndOf(text: string): LineEndName | undefined {
  if (!text.includes("\r")) return text.includes("\n") ? "LF" : undefined;
  let crlf = 0;
  let lf = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    if (text[at - 1] === "\r") crlf += 1;
    else lf += 1;
  }
  if (crlf > 0 && lf > 0) return "mixed";
  if (crlf > 0) return "CRLF";
  if (lf > 0) return "LF";
  return "CR";
}

export const withLineEnds = (text: string, end: "\n" | "\r\n"): string =>
  end === "\n" ? text.replaceAll("\r\n", "\n") : text.replace(/\r?\n/g, "\r\n");
