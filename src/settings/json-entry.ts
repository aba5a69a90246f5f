/** Puts an entry into a JSON text with comments, or takes it out: all other bytes stay. Pure. */

import { isDeepStrictEqual } from "node:util";
import { createScanner, getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { type Entry, type EntryWish, isTable, type Merged, meant, plain, refused } from "./entry.ts";
import { inserted } from "./insert-text.ts";

/** `fresh`: what a file holds besides if there was nothing in it. */
export function withJsonEntry(
  text: string,
  entry: Entry,
  wish: EntryWish,
  fresh: Readonly<Record<string, string>> = {},
): Merged {
  if (text.trim() === "")
    return wish === "remove" ? { merged: "same" } : { merged: "text", text: jsonOf(entry, fresh) };
  const tree = parsed(text);
  if (typeof tree === "string") return refused(tree);
  if (tree.type !== "object") return refused("it holds no object");
  const servers = memberOf(tree, entry.under);
  if (servers === "twice") return refused(`it has "${entry.under}" twice`);
  if (servers !== undefined && servers.value.type !== "object") return refused(`"${entry.under}" in it is no object`);
  const there = servers === undefined ? undefined : memberOf(servers.value, entry.name);
  if (there === "twice") return refused(`it has "${entry.under}.${entry.name}" twice`);

  if (wish === "remove") {
    if (there === undefined || servers === undefined) return { merged: "same" };
    return checked(text, taken(text, servers.value, there.property), entry, wish);
  }
  if (there !== undefined) {
    if (isDeepStrictEqual(plain(getNodeValue(there.value)), entry.value)) return { merged: "same" };
    return wish === "put" ? { merged: "other" } : checked(text, replaced(text, there.value, entry), entry, wish);
  }
  const key = JSON.stringify(entry.name);
  const after =
    servers === undefined
      ? added(text, tree, JSON.stringify(entry.under), { [entry.name]: entry.value })
      : added(text, servers.value, key, entry.value);
  return checked(text, after, entry, wish);
}

/** The whole file with nothing but the entry. */
export function jsonOf({ under, name, value }: Entry, fresh: Readonly<Record<string, string>> = {}): string {
  return `${printed({ ...fresh, [under]: { [name]: value } }, "  ")}\n`;
}

/** As JSON.stringify has it, with the short lists of a command line on one line. */
function printed(value: unknown, unit: string, indent = ""): string {
  if (Array.isArray(value)) return `[${value.map((one) => JSON.stringify(one)).join(", ")}]`;
  if (!isTable(value)) return JSON.stringify(value);
  const inner = indent + unit;
  const members = Object.entries(value).map(
    ([key, one]) => `${inner}${JSON.stringify(key)}: ${printed(one, unit, inner)}`,
  );
  return `{\n${members.join(",\n")}\n${indent}}`;
}

/** The tree, or why there is none. */
function parsed(text: string): Node | string {
  const errors: ParseError[] = [];
  try {
    const tree = parseTree(text, errors, { allowTrailingComma: true });
    const [error] = errors;
    if (error === undefined && tree !== undefined) return tree;
    const what = error === undefined ? "nothing in it" : words(error);
    return `it is not valid JSON (${what} in line ${lineAt(text, error?.offset ?? 0)}), mend it first`;
  } catch (error) {
    // The parser calls itself for every level, and a file may have more levels than the stack.
    if (error instanceof RangeError) return "it is nested too deeply";
    throw error;
  }
}

const words = ({ error }: ParseError): string =>
  printParseErrorCode(error)
    .replace(/(?<=.)[A-Z]/g, " $&")
    .toLowerCase();

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split(/\r\n|\r|\n/).length;

interface Member {
  readonly property: Node;
  readonly value: Node;
}

/** Programs differ in which of two equal keys counts, so there is no telling where ours would go. */
function memberOf(object: Node, key: string): Member | undefined | "twice" {
  const found = (object.children ?? []).filter(({ children }) => children?.[0]?.value === key);
  if (found.length > 1) return "twice";
  const [property] = found;
  const value = property?.children?.[1];
  return property === undefined || value === undefined ? undefined : { property, value };
}

/** One more key, laid out as its neighbours are. */
function added(text: string, container: Node, key: string, value: unknown): string {
  const close = container.offset + container.length - 1;
  const last = container.children?.at(-1);
  const eol = eolOf(text);
  if (last !== undefined) {
    const isSpread = /[\r\n]/.test(text.slice(last.offset + last.length, close));
    return inserted(text, container, `${key}: ${isSpread ? printed(value, unitOf(text)) : JSON.stringify(value)}`);
  }
  if (text.slice(container.offset + 1, close).trim() !== "") {
    return inserted(text, container, `${key}: ${JSON.stringify(value)}`);
  }
  const outer = indentAt(text, container.offset);
  const inner = outer + unitOf(text);
  const body = `${key}: ${printed(value, unitOf(text))}`.replaceAll("\n", eol + inner);
  return inserted(text, container, `${eol}${inner}${body}${eol}${outer}`);
}

function replaced(text: string, old: Node, { value }: Entry): string {
  const eol = eolOf(text);
  const isSpread = /[\r\n]/.test(text.slice(old.offset, old.offset + old.length));
  const body = isSpread
    ? printed(value, unitOf(text)).replaceAll("\n", eol + indentAt(text, old.offset))
    : JSON.stringify(value);
  return text.slice(0, old.offset) + body + text.slice(old.offset + old.length);
}

/** Without the property and one comma. Comments beside it are somebody's words and stay. */
function taken(text: string, container: Node, property: Node): string {
  const siblings = container.children ?? [];
  const before = siblings[siblings.indexOf(property) - 1];
  const close = container.offset + container.length - 1;
  const end = property.offset + property.length;
  const commaBehind = commaBetween(text, end, close);
  const commaBefore =
    commaBehind === undefined && before !== undefined
      ? commaBetween(text, before.offset + before.length, property.offset)
      : undefined;
  const isAdjacent = commaBehind !== undefined && text.slice(end, commaBehind).trim() === "";
  const [from, to] = wholeLines(text, property.offset, isAdjacent ? commaBehind + 1 : end, container.offset);
  const cuts: (readonly [number, number])[] = [[from, to]];
  if (commaBehind !== undefined && !isAdjacent) cuts.push([commaBehind, commaBehind + 1]);
  if (commaBefore !== undefined) cuts.push([commaBefore, commaBefore + 1]);
  return cuts.toSorted(([a], [b]) => b - a).reduce((rest, [a, b]) => rest.slice(0, a) + rest.slice(b), text);
}

/** If there is nothing else on its lines, they go as lines; of a line with others, the blanks before it go too. */
function wholeLines(text: string, from: number, to: number, containerAt: number): readonly [number, number] {
  const blanks = /[ \t]*$/.exec(text.slice(0, from))?.[0].length ?? 0;
  const start = from - blanks;
  const behind = /^[ \t]*(\r\n|\r|\n)/.exec(text.slice(to));
  const startsLine = start === 0 || /[\r\n]/.test(text.charAt(start - 1));
  if (startsLine && behind !== null) return [start, to + behind[0].length];
  if (startsLine) return [from, to + (/^[ \t]*/.exec(text.slice(to))?.[0].length ?? 0)];
  return start - 1 === containerAt ? [from, to] : [start, to];
}

function commaBetween(text: string, from: number, to: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(from);
  scanner.scan();
  const at = scanner.getTokenOffset();
  return at < to && text.charAt(at) === "," ? at : undefined;
}

const eolOf = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n");
const indentAt = (text: string, offset: number): string =>
  /^[ \t]*/.exec(
    text.slice(Math.max(text.lastIndexOf("\n", offset - 1), text.lastIndexOf("\r", offset - 1)) + 1),
  )?.[0] ?? "";
/** What one level is indented by: as the first indented line has it. */
const unitOf = (text: string): string => /[\r\n]([ \t]+)(?=["}])/.exec(text)?.[1] ?? "  ";

/** Whatever the surgery did, the file must mean what it meant, and the entry. If not, nothing is changed. */
function checked(before: string, after: string, entry: Entry, wish: EntryWish): Merged {
  const old = parsed(before);
  const tree = parsed(after);
  const cannot = "it is written in a way that cannot be changed safely, change it by hand";
  if (typeof old === "string" || typeof tree === "string") return refused(cannot);
  return isDeepStrictEqual(plain(getNodeValue(tree)), meant(plain(getNodeValue(old)), entry, wish))
    ? { merged: "text", text: after }
    : refused(cannot);
}
