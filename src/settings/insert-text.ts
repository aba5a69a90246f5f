/** One more item in a list, or one more key in an object, of a JSON text with comments: all other bytes stay. Pure. */

import { createScanner, type Node } from "jsonc-parser";

/** `snippet` goes behind the last child of the container, on a line of its own if the children have such. */
export function inserted(text: string, container: Node, snippet: string): string {
  const open = container.offset + 1;
  const close = container.offset + container.length - 1;
  const last = container.children?.at(-1);
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  if (last === undefined) {
    const isBare = text.slice(open, close).trim() === "";
    // A comment in an empty container stays before what comes in, and may run to the end of its line.
    return isBare
      ? text.slice(0, open) + snippet + text.slice(close)
      : text.slice(0, close) + eol + snippet + eol + text.slice(close);
  }
  const end = last.offset + last.length;
  const { hasComma, lineEnd } = behind(text, end, close);
  if (!/[\r\n]/.test(text.slice(end, close))) return `${text.slice(0, end)}, ${snippet}${text.slice(end)}`;
  const indent = /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", last.offset - 1) + 1))?.[0] ?? "";
  const comma = hasComma ? "" : ",";
  const line = `${eol}${indent}${snippet.replaceAll("\n", eol + indent)}${hasComma ? "," : ""}`;
  return text.slice(0, end) + comma + text.slice(end, lineEnd) + line + text.slice(lineEnd);
}

/** Is there a comma behind the last child, and where does its line end? Comments of that line belong to it. */
function behind(text: string, from: number, close: number): { readonly hasComma: boolean; readonly lineEnd: number } {
  const scanner = createScanner(text, false);
  scanner.setPosition(from);
  let hasComma = false;
  let lineEnd: number | undefined;
  let at = from;
  for (;;) {
    scanner.scan();
    const offset = scanner.getTokenOffset();
    const token = text.slice(offset, offset + scanner.getTokenLength());
    if (token === "" || offset >= close) break;
    if (/^[\r\n]/.test(token)) lineEnd ??= at;
    if (token === ",") {
      hasComma = true;
      lineEnd = undefined; // a comma may stand on a line of its own
    }
    at = offset + token.length;
    if (lineEnd !== undefined && hasComma) break;
  }
  return { hasComma, lineEnd: lineEnd ?? at };
}
