/**
 * Makes untrusted text safe to read: characters that move the cursor, change the reading direction or are invisible are replaced
 * by a visible mark. What a person approves is what they see.
 */

import { hiddenCharacters, visibleJoins } from "../../../src/contract/hidden-characters.ts";

export type ShownPiece =
  | { readonly kind: "text"; readonly text: string }
  /** `label` is shown in the text, `name` says what it is. */
  | { readonly kind: "mark"; readonly label: string; readonly name: string };

/** Control characters except tab, lone surrogates, and the list that the terminal and questions over MCP use too. */
const hiddenClass = `[\\0-\\x08\\x0a-\\x1f\\x7f-\\x9f\\p{Cs}${hiddenCharacters}]`;
const hidden = new RegExp(hiddenClass, "u");
const everyHidden = new RegExp(`(${visibleJoins})|${hiddenClass}`, "gu");

export const hasHidden = (text: string): boolean => hidden.test(text);

export function shownPieces(text: string): readonly ShownPiece[] {
  if (!hidden.test(text)) return text === "" ? [] : [{ kind: "text", text }];
  const pieces: ShownPiece[] = [];
  let from = 0;
  for (const match of text.matchAll(everyHidden)) {
    if (match[1] !== undefined) continue;
    if (match.index > from) pieces.push({ kind: "text", text: text.slice(from, match.index) });
    pieces.push(markOf(match[0].codePointAt(0) ?? 0));
    from = match.index + match[0].length;
  }
  if (from < text.length) pieces.push({ kind: "text", text: text.slice(from) });
  return pieces;
}

/** The same as one string, for titles and labels, which take no elements. */
export function shownText(text: string): string {
  return shownPieces(text)
    .map((piece) => (piece.kind === "text" ? piece.text : piece.label))
    .join("");
}

const names: Readonly<Record<number, string>> = {
  0x00: "null",
  0x07: "bell",
  0x08: "backspace",
  0x0a: "line feed",
  0x0d: "carriage return",
  0x1b: "escape",
  0x7f: "delete",
  0xad: "soft hyphen",
  0x61c: "Arabic letter mark",
  0x200b: "zero width space",
  0x200c: "zero width non-joiner",
  0x200d: "zero width joiner",
  0x200e: "left-to-right mark",
  0x200f: "right-to-left mark",
  0x2028: "line separator",
  0x2029: "paragraph separator",
  0x202a: "left-to-right embedding",
  0x202b: "right-to-left embedding",
  0x202c: "pop directional formatting",
  0x202d: "left-to-right override",
  0x202e: "right-to-left override",
  0x2060: "word joiner",
  0x2066: "left-to-right isolate",
  0x2067: "right-to-left isolate",
  0x2068: "first strong isolate",
  0x2069: "pop directional isolate",
  0xfeff: "byte order mark",
};

function markOf(code: number): ShownPiece {
  const hex = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  const name = names[code] === undefined ? `invisible character ${hex}` : `${names[code]} ${hex}`;
  const short = code < 0x20 ? controls[code] : code === 0x7f ? "DEL" : undefined;
  return { kind: "mark", label: `[${short ?? hex}]`, name };
}

/** The ASCII names of control characters. */
const controls =
  "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US".split(
    " ",
  );
