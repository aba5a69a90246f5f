/** Finds where a text stops being JSON, once `JSON.parse` has refused it: V8 seldom says. Not recursive. */

import { countNewlines } from "../lines/newlines.ts";
import { skipMatch } from "./spans.ts";

export interface JsonFault {
  /** From 1. A line ends with `\n`. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
  readonly detail: string;
}

/** `text` MUST be one that `JSON.parse` has refused. */
export function findJsonFault(text: string): JsonFault {
  const { at, detail } = scan(text);
  const before = text.slice(0, at);
  return { line: countNewlines(before) + 1, column: at - before.lastIndexOf("\n"), detail };
}

/** Is it valid JSON that ends too early, as when a model runs out of tokens? `JSON.parse` MUST have refused `text`. */
export function isCutOff(text: string): boolean {
  const rest = text.slice(scan(text).at);
  return text.trim() !== "" && (rest === "" || halfWord.test(rest));
}

const halfWord = /^(?:\\(?:u[0-9a-fA-F]{0,3})?|-|t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?)$/;

type Fault = { readonly at: number; readonly detail: string };

type Place = "value" | "value or ]" | "key" | "key or }" | "colon" | "after value";

const whitespace = /[ \t\r\n]*/y;
const numberOrWord = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;

function scan(text: string): Fault {
  const open: ("{" | "[")[] = [];
  let place: Place = "value";
  let at = 0;
  for (;;) {
    at = skipMatch(whitespace, text, at);
    const character = text[at];
    if (place === "after value" && open.length === 0) {
      return { at, detail: character === undefined ? "it cannot be parsed" : "more text follows the end of the value" };
    }
    if (character === undefined)
      return { at, detail: `the text ends where ${expected(place, open.at(-1))} should stand` };

    if (place === "colon" && character === ":") {
      place = "value";
      at += 1;
    } else if (place === "after value" && character === ",") {
      place = open.at(-1) === "{" ? "key" : "value";
      at += 1;
    } else if (closes(character, place, open.at(-1))) {
      open.pop();
      place = "after value";
      at += 1;
    } else if ((place === "key" || place === "key or }" || takesValue(place)) && character === '"') {
      const end = endOfString(text, at);
      if (typeof end !== "number") return end;
      at = end;
      place = takesValue(place) ? "after value" : "colon";
    } else if (takesValue(place) && (character === "{" || character === "[")) {
      open.push(character);
      place = character === "{" ? "key or }" : "value or ]";
      at += 1;
    } else {
      const end = takesValue(place) ? skipMatch(numberOrWord, text, at) : at;
      if (end === at) return { at, detail: `${expected(place, open.at(-1))} should stand here` };
      at = end;
      place = "after value";
    }
  }
}

const takesValue = (place: Place): boolean => place === "value" || place === "value or ]";

function closes(character: string, place: Place, inside: "{" | "[" | undefined): boolean {
  if (character === "}") return place === "key or }" || (place === "after value" && inside === "{");
  return character === "]" && (place === "value or ]" || (place === "after value" && inside === "["));
}

function expected(place: Place, inside: "{" | "[" | undefined): string {
  switch (place) {
    case "value":
      return "a value";
    case "value or ]":
      return 'a value or "]"';
    case "key":
      return "a key in double quotes";
    case "key or }":
      return 'a key in double quotes or "}"';
    case "colon":
      return '":"';
    case "after value":
      return inside === "{" ? '"," or "}"' : '"," or "]"';
  }
}

const notable = /["\\\0-\x1f]/g;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

function endOfString(text: string, start: number): number | Fault {
  let at = start + 1;
  for (;;) {
    notable.lastIndex = at;
    const found = notable.exec(text);
    if (found === null) return { at: text.length, detail: "the text ends inside a string" };
    at = found.index;
    if (found[0] === '"') return at + 1;
    if (found[0] !== "\\") return { at, detail: "a line end or control character stands unescaped in a string" };
    const end = skipMatch(escape, text, at);
    if (end === at) return { at, detail: "a backslash begins no known escape" };
    at = end;
  }
}
