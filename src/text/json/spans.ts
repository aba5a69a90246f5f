/**
 * Where the values of a JSON text stand in it, one level at a time: whoever changes one value leaves every other
 * character as it is. Every text here MUST be one that `JSON.parse` accepts. Nothing calls itself, and what is skipped
 * is looked at once per level, its strings from quote to quote, so large outputs cost little.
 */

import type { TextChange } from "../../contract/edit.ts";

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
  return valueAt(text, afterWhitespace(text, text.startsWith("\ufeff") ? 1 : 0));
}

/** In the order of the text, a name that is there twice included; nothing if the value is no object. */
export function membersOf(text: string, object: Span): readonly Member[] {
  const members: Member[] = [];
  if (text[object.from] !== "{") return members;
  let at = afterWhitespace(text, object.from + 1);
  while (text[at] === '"') {
    const key = { from: at, to: endOfString(text, at) };
    const value = valueAt(text, afterWhitespace(text, afterWhitespace(text, key.to) + 1));
    members.push({ name: String(JSON.parse(sliceOf(text, key))), key, value, from: key.from, to: value.to });
    at = behindComma(text, value.to);
  }
  return members;
}

/** Nothing if the value is no list. */
export function itemsOf(text: string, list: Span): readonly Span[] {
  const items: Span[] = [];
  if (text[list.from] !== "[") return items;
  let at = afterWhitespace(text, list.from + 1);
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

export function endOfString(text: string, from: number): number {
  let at = text.indexOf('"', from + 1);
  while (at !== -1 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at === -1 ? text.length : at + 1;
}

/** Two backslashes are one that is meant; an odd one belongs to what follows it. */
function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text.charCodeAt(before - 1) === backslash) before -= 1;
  return (at - before) % 2 === 1;
}

function behindComma(text: string, from: number): number {
  const at = afterWhitespace(text, from);
  return text[at] === "," ? afterWhitespace(text, at + 1) : at;
}

const whitespace = /[ \t\r\n]*/y;
/** At least one character, so that a loop over items comes to its end whatever the text is. */
const numberOrWord = /[^,\]}\s]+|[^]/y;

const afterWhitespace = (text: string, at: number): number => skip(whitespace, text, at);

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

// How a JSON file is laid out, so that what is added to it looks like what is there: the blanks are copied from a
// neighbour letter by letter, which keeps tabs, odd indents, CRLF and files of one line without a case for each.

/** The blanks of an object or a list. */
export interface Shape {
  /** Behind the opening bracket. */
  readonly lead: string;
  /** Between two entries, with the comma. */
  readonly between: string;
  /** Before the closing bracket. */
  readonly tail: string;
}

/** Copied once for every line of a source, endless blanks would fill the memory; longer ones are not copied. */
const whitespaceMax = 500;

/** What stands between a key and its value. */
export const colonOf = (text: string, { key, value }: Member): string => short(text.slice(key.to, value.from), ": ");

/** Undefined if it has no entries. */
export function shapeOf(text: string, container: Span, entries: readonly Span[], colon: string): Shape | undefined {
  const [first, second] = entries;
  const last = entries.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const lead = short(text.slice(container.from + 1, first.from), "");
  const between = betweenAfter(lead, colon);
  return {
    lead,
    between: second === undefined ? between : short(text.slice(first.to, second.from), between),
    tail: short(text.slice(last.to, container.to - 1), ""),
  };
}

/** The shape of something one level deeper than `outer`, if there is none to copy. */
export function innerShape(outer: Shape, colon: string): Shape {
  if (!hasLineEnd(outer.lead)) return { lead: "", between: betweenAfter("", colon), tail: "" };
  const [entries, closing] = [indentOf(outer.lead), indentOf(outer.tail)];
  const unit = hasLineEnd(outer.tail) && entries.startsWith(closing) ? entries.slice(closing.length) : "";
  const lead = outer.lead + unit;
  return { lead, between: `,${lead}`, tail: outer.lead };
}

/** The shape of a list that has no entries yet, from the line it begins in and the shape of the whole file. */
export function shapeInLine(text: string, container: Span, root: Shape, colon: string): Shape {
  if (!hasLineEnd(root.lead)) return innerShape(root, colon);
  const lineStart = text.lastIndexOf("\n", container.from) + 1;
  const indent = short(/^[ \t]*/.exec(text.slice(lineStart, container.from))?.[0] ?? "", "");
  const tail = (/\r?\n|\r/.exec(root.lead)?.[0] ?? "") + indent;
  const lead = tail + indentOf(root.lead);
  return { lead, between: `,${lead}`, tail };
}

/** One that is empty is written without blanks, as every JSON writer does. */
export function bracketed(brackets: "[]" | "{}", shape: Shape, entries: readonly string[]): string {
  if (entries.length === 0) return brackets;
  return brackets.slice(0, 1) + shape.lead + entries.join(shape.between) + shape.tail + brackets.slice(1);
}

/** Files of one line write `, ` if they write `: `. */
function betweenAfter(lead: string, colon: string): string {
  if (hasLineEnd(lead)) return `,${lead}`;
  return colon.endsWith(":") ? "," : ", ";
}

const hasLineEnd = (whitespace: string): boolean => /[\r\n]/.test(whitespace);
const indentOf = (whitespace: string): string =>
  whitespace.slice(Math.max(whitespace.lastIndexOf("\n"), whitespace.lastIndexOf("\r")) + 1);
const short = (whitespace: string, instead: string): string =>
  whitespace.length <= whitespaceMax ? whitespace : instead;

/** Writes strings the way the file does. The file is looked at only for what the strings contain. */
export function stringWriter(text: string, strings: string): (value: string) => string {
  const ascii = notAscii.test(strings) && !notAscii.test(text) && hasEscapedLetter(text);
  const slashes = strings.includes("/") && hasOnlyEscapedSlashes(text);
  return (value) => {
    // `JSON.stringify` escapes half a surrogate pair, so that what is written can always be encoded.
    let json = JSON.stringify(value);
    if (ascii) json = json.replace(eachNotAscii, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
    if (slashes) json = json.replaceAll("/", "\\/");
    return json;
  };
}

const notAscii = /[^\0-\x7f]/;
const eachNotAscii = /[^\0-\x7f]/g;

/** Beyond ASCII: `\u001b` stands in every coloured output, however the file writes its letters. */
function hasEscapedLetter(text: string): boolean {
  for (let at = text.indexOf("\\u"); at !== -1; at = text.indexOf("\\u", at + 2)) {
    if (isEscaped(text, at + 1) && !/^00[0-7]/.test(text.slice(at + 2, at + 5))) return true;
  }
  return false;
}

function hasOnlyEscapedSlashes(text: string): boolean {
  let at = text.indexOf("/");
  const some = at !== -1;
  while (at !== -1 && isEscaped(text, at)) at = text.indexOf("/", at + 1);
  return some && at === -1;
}

/** What becomes of an object's members; those that are not named stay. */
export interface MemberPlan {
  readonly set: ReadonlyMap<Member, string>;
  readonly rename: ReadonlyMap<Member, string>;
  readonly drop: ReadonlySet<Member>;
  /** Each behind the first of `behind` that is there, or else last. */
  readonly add: readonly { readonly name: string; readonly value: string; readonly behind: readonly string[] }[];
}

/** MUST leave at least one member where it is: there is nothing to put a comma behind otherwise. */
export function changeMembers(
  members: readonly Member[],
  plan: MemberPlan,
  shape: Shape,
  colon: string,
): readonly TextChange[] {
  const kept = members.filter((member) => !plan.drop.has(member));
  const firstKept = kept[0];
  const changes: TextChange[] = [];
  let previous: Member | undefined;
  for (const member of members) {
    const value = plan.set.get(member);
    const name = plan.rename.get(member);
    if (plan.drop.has(member)) {
      // Before the first that stays, the comma behind goes with it; everywhere else the comma before.
      if (firstKept !== undefined && member.from < firstKept.from) {
        if (previous === undefined) changes.push({ from: member.from, to: firstKept.from, text: "" });
      } else if (previous !== undefined) changes.push({ from: previous.to, to: member.to, text: "" });
    } else {
      if (name !== undefined) changes.push({ ...member.key, text: JSON.stringify(name) });
      if (value !== undefined) changes.push({ ...member.value, text: value });
    }
    previous = member;
  }

  const names = kept.map(({ name }) => name);
  for (const { name, value, behind } of plan.add) {
    const place = behind.map((other) => names.lastIndexOf(other)).find((index) => index !== -1) ?? kept.length - 1;
    const at = kept[place]?.to ?? 0;
    changes.push({ from: at, to: at, text: `${shape.between}${JSON.stringify(name)}${colon}${value}` });
  }
  return joinTouching(changes);
}

/** Sorted, and no two at one place, which would leave their order to whoever applies them. */
function joinTouching(changes: readonly TextChange[]): readonly TextChange[] {
  const joined: TextChange[] = [];
  for (const change of [...changes].sort((a, b) => a.from - b.from || a.to - b.to)) {
    const before = joined.at(-1);
    if (before?.to !== change.from) joined.push(change);
    else joined[joined.length - 1] = { from: before.from, to: change.to, text: before.text + change.text };
  }
  return joined;
}
