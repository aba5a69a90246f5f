/**
 * Finds the values of a JSON text, one level at a time, so that one can be changed without touching any other
 * character. Every text MUST be one that `JSON.parse` accepts. Not recursive; skipped values are scanned once per
 * level, their strings from quote to quote, so large outputs cost little.
 */

import type { TextChange } from "../../contract/edit.ts";

/** UTF-16 units, half-open. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Member extends Span {
  readonly name: string;
  readonly key: Span;
  readonly value: Span;
}

export function rootOf(text: string): Span {
  return valueAt(text, afterWhitespace(text, text.startsWith("\ufeff") ? 1 : 0));
}

/** In the order of the text, duplicate names included; empty if the value is no object. */
export function membersOf(text: string, object: Span): readonly Member[] {
  const members: Member[] = [];
  if (text[object.from] !== "{") return members;
  let at = afterWhitespace(text, object.from + 1);
  while (text[at] === '"') {
    const key = { from: at, to: endOfString(text, at) };
    const value = valueAt(text, afterWhitespace(text, afterWhitespace(text, key.to) + 1));
    members.push({ name: String(JSON.parse(sliceOf(text, key))), key, value, from: key.from, to: value.to });
    at = afterComma(text, value.to);
  }
  return members;
}

export function itemsOf(text: string, list: Span): readonly Span[] {
  const items: Span[] = [];
  if (text[list.from] !== "[") return items;
  let at = afterWhitespace(text, list.from + 1);
  while (at < list.to - 1) {
    const item = valueAt(text, at);
    items.push(item);
    at = afterComma(text, item.to);
  }
  return items;
}

/** The last of duplicate names, as in `JSON.parse`. */
export function memberNamed(members: readonly Member[], name: string): Member | undefined {
  return members.findLast((member) => member.name === name);
}

export const sliceOf = (text: string, span: Span): string => text.slice(span.from, span.to);

function valueAt(text: string, from: number): Span {
  const first = text[from];
  if (first === '"') return { from, to: endOfString(text, from) };
  if (first === "{" || first === "[") return { from, to: endOfContainer(text, from) };
  return { from, to: skipMatch(numberOrWord, text, from) };
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

/** An odd number of backslashes escapes what follows. */
function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text.charCodeAt(before - 1) === backslash) before -= 1;
  return (at - before) % 2 === 1;
}

function afterComma(text: string, from: number): number {
  const at = afterWhitespace(text, from);
  return text[at] === "," ? afterWhitespace(text, at + 1) : at;
}

const whitespace = /[ \t\r\n]*/y;
/** At least one character, so that a loop over items ends whatever the text is. */
const numberOrWord = /[^,\]}\s]+|[^]/y;

const afterWhitespace = (text: string, at: number): number => skipMatch(whitespace, text, at);

/** The index after the match of a sticky pattern at `at`, or `at` itself. */
export function skipMatch(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

// The layout of a JSON file. Whitespace for new parts is copied from a neighbour, which keeps tabs, odd indents, CRLF
// and files of one line without a special case for each.

export interface Shape {
  readonly lead: string;
  readonly between: string;
  readonly tail: string;
}

/** Local: whitespace is copied once for every line of a source, so endless whitespace would fill the memory. */
const whitespaceMax = 500;

export const colonOf = (text: string, { key, value }: Member): string => short(text.slice(key.to, value.from), ": ");

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

/** The layout one level deeper than `outer`, if there is none to copy. */
export function innerShape(outer: Shape, colon: string): Shape {
  if (!hasLineEnd(outer.lead)) return { lead: "", between: betweenAfter("", colon), tail: "" };
  const [entries, closing] = [indentOf(outer.lead), indentOf(outer.tail)];
  const unit = hasLineEnd(outer.tail) && entries.startsWith(closing) ? entries.slice(closing.length) : "";
  const lead = outer.lead + unit;
  return { lead, between: `,${lead}`, tail: outer.lead };
}

/** The layout of an empty list, from the line it begins in and the layout of the whole file. */
export function shapeInLine(text: string, container: Span, root: Shape, colon: string): Shape {
  if (!hasLineEnd(root.lead)) return innerShape(root, colon);
  const lineStart = text.lastIndexOf("\n", container.from) + 1;
  const indent = short(/^[ \t]*/.exec(text.slice(lineStart, container.from))?.[0] ?? "", "");
  const tail = (/\r?\n|\r/.exec(root.lead)?.[0] ?? "") + indent;
  const lead = tail + indentOf(root.lead);
  return { lead, between: `,${lead}`, tail };
}

/** Empty containers are written without whitespace, as every JSON writer does. */
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

/** Writes strings with the escapes that the file uses. Scans the file only if the strings contain such characters. */
export function stringWriter(text: string, strings: string): (value: string) => string {
  const ascii = notAscii.test(strings) && !notAscii.test(text) && hasEscapedLetter(text);
  const slashes = strings.includes("/") && hasOnlyEscapedSlashes(text);
  return (value) => {
    // `JSON.stringify` escapes lone surrogates, so the result can always be encoded.
    let json = JSON.stringify(value);
    if (ascii) json = json.replace(eachNotAscii, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
    if (slashes) json = json.replaceAll("/", "\\/");
    return json;
  };
}

const notAscii = /[^\0-\x7f]/;
const eachNotAscii = /[^\0-\x7f]/g;

/** Is a character beyond ASCII escaped? `\u001b` does not count: it occurs in every coloured output. */
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

export interface MemberPlan {
  readonly set: ReadonlyMap<Member, string>;
  readonly rename: ReadonlyMap<Member, string>;
  readonly drop: ReadonlySet<Member>;
  /** Inserted after the first of `after` that exists, else last. */
  readonly add: readonly { readonly name: string; readonly value: string; readonly after: readonly string[] }[];
}

/** At least one member MUST stay: the others need it for their commas. */
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
      // Before the first member that stays, the comma after goes, too; everywhere else the comma before.
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
  for (const { name, value, after } of plan.add) {
    const place = after.map((other) => names.lastIndexOf(other)).find((index) => index !== -1) ?? kept.length - 1;
    const at = kept[place]?.to ?? 0;
    changes.push({ from: at, to: at, text: `${shape.between}${JSON.stringify(name)}${colon}${value}` });
  }
  return joinTouching(changes);
}

/** Sorted; changes that touch are merged, so their order is fixed. */
function joinTouching(changes: readonly TextChange[]): readonly TextChange[] {
  const joined: TextChange[] = [];
  for (const change of [...changes].sort((a, b) => a.from - b.from || a.to - b.to)) {
    const before = joined.at(-1);
    if (before?.to !== change.from) joined.push(change);
    else joined[joined.length - 1] = { from: before.from, to: change.to, text: before.text + change.text };
  }
  return joined;
}
