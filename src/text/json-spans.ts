/**
 * Where the values of a JSON text stand in it, one level at a time: whoever changes one value leaves every other
 * character as it is. Every text here MUST be one that `JSON.parse` accepts. Nothing calls itself, and what is skipped
 * is looked at once per level, its strings from quote to quote, so large outputs cost little.
 */

/** UTF-16 units, half-open. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** From its key up to the end of its value. */
export interface Member extends Span {
  readonly name: string;
  /** With the quotes. */
  readonly key: Span;
  readonly value: Span;
}

/** The one value of the text, without the blanks around it. */
export function rootOf(text: string): Span {
  return valueAt(text, behindBlanks(text, text.startsWith("\ufeff") ? 1 : 0));
}

/** In the order of the text, a name that is there twice included; nothing if the value is no object. */
export function membersOf(text: string, object: Span): readonly Member[] {
  const members: Member[] = [];
  if (text[object.from] !== "{") return members;
  let at = behindBlanks(text, object.from + 1);
  while (text[at] === '"') {
    const key = { from: at, to: endOfString(text, at) };
    const value = valueAt(text, behindBlanks(text, behindBlanks(text, key.to) + 1));
    members.push({ name: String(JSON.parse(sliceOf(text, key))), key, value, from: key.from, to: value.to });
    at = behindComma(text, value.to);
  }
  return members;
}

/** Nothing if the value is no list. */
export function itemsOf(text: string, list: Span): readonly Span[] {
  const items: Span[] = [];
  if (text[list.from] !== "[") return items;
  let at = behindBlanks(text, list.from + 1);
  while (at < list.to - 1) {
    const item = valueAt(text, at);
    items.push(item);
    at = behindComma(text, item.to);
  }
  return items;
}

/** Of a name that is there twice the last counts, as it does for `JSON.parse`. */
export function memberNamed(members: readonly Member[], name: string): Member | undefined {
  return members.findLast((member) => member.name === name);
}

export const sliceOf = (text: string, span: Span): string => text.slice(span.from, span.to);

function valueAt(text: string, from: number): Span {
  switch (text[from]) {
    case '"':
      return { from, to: endOfString(text, from) };
    case "{":
    case "[":
      return { from, to: endOfContainer(text, from) };
    default:
      return { from, to: skip(numberOrWord, text, from) };
  }
}

const quote = 0x22;
const backslash = 0x5c;

function endOfContainer(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at);
        continue;
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        if (depth === 0) return at + 1;
    }
    at += 1;
  }
  return at;
}

function endOfString(text: string, from: number): number {
  let at = text.indexOf('"', from + 1);
  while (at !== -1 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at === -1 ? text.length : at + 1;
}

/** Two backslashes are one that is meant; an odd one belongs to what follows it. */
export function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text.charCodeAt(before - 1) === backslash) before -= 1;
  return (at - before) % 2 === 1;
}

function behindComma(text: string, from: number): number {
  const at = behindBlanks(text, from);
  return text[at] === "," ? behindBlanks(text, at + 1) : at;
}

const blanks = /[ \t\r\n]*/y;
/** At least one character, so that a loop over items comes to its end whatever the text is. */
const numberOrWord = /[^,\]}\s]+|[^]/y;

const behindBlanks = (text: string, at: number): number => skip(blanks, text, at);

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
