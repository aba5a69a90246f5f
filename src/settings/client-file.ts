/**
 * Adds an entry to the configuration file of an MCP client, or removes it: plans the new text, then writes it. Nothing
 * else in the file changes.
 */

import * as nodePath from "node:path";
import { isDeepStrictEqual } from "node:util";
import { createScanner, getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { parse, TomlError } from "smol-toml";
import { nodeSystem, readSmallFile, writeSmallFile } from "../disk/disk.ts";
import { insertChild } from "./keep-rule.ts";

// Adds an entry to a TOML text as a table of its own, or removes that table: all other bytes stay. Pure.

export function withTomlEntry(text: string, entry: Entry, wish: EntryWish): Merged {
  const old = parsedToml(text);
  if (typeof old === "string") return refused(old);
  const servers = old[entry.under];
  if (servers !== undefined && !isTable(servers)) return refused(`"${entry.under}" in it is no table`);
  const there = servers !== undefined && Object.hasOwn(servers, entry.name) ? servers[entry.name] : undefined;
  if (there === undefined) {
    return wish === "remove" ? { merged: "same" } : checkedToml(old, appended(text, entry), entry, wish);
  }
  if (wish !== "remove" && isDeepStrictEqual(there, plain(entry.value))) return { merged: "same" };
  if (wish === "put") return { merged: "other" };
  const own = tomlTables(text).filter(({ path }) => path[0] === entry.under && path[1] === entry.name);
  if (own.length === 0)
    return refused(`"${entry.under}.${entry.name}" in it is no table of its own, change it by hand`);
  return checkedToml(old, wish === "remove" ? takenToml(text, own) : replacedToml(text, own, entry), entry, wish);
}

export function tomlOf({ under, name, value }: Entry, eol = "\n"): string {
  const keys = Object.entries(value).map(([key, one]) => `${key} = ${valueOf(one)}${eol}`);
  return `[${under}.${keyOf(name)}]${eol}${keys.join("")}`;
}

const keyOf = (name: string): string => (/^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name));

/** TOML's basic strings have the escapes of JSON, and must also escape character 127. */
const stringOf = (text: string): string => JSON.stringify(text).replaceAll("\x7f", "\\u007f");

function valueOf(value: EntryValue): string {
  if (typeof value === "boolean") return String(value);
  return typeof value === "string" ? stringOf(value) : `[${value.map(stringOf).join(", ")}]`;
}

function parsedToml(text: string): Readonly<Record<string, unknown>> | string {
  try {
    return plain(parse(text, { integersAsBigInt: "asNeeded" }));
  } catch (error) {
    if (error instanceof RangeError) return "it is nested too deeply";
    if (error instanceof TomlError) return `it is not valid TOML (line ${error.line}), mend it first`;
    throw error;
  }
}

function appended(text: string, entry: Entry): string {
  const eol = eolOf(text);
  const gap = text === "" ? "" : text.endsWith("\n") ? eol : eol + eol;
  return text + gap + tomlOf(entry, eol);
}

/** Also removes the blank line before each, which `appended` put there. */
function takenToml(text: string, own: readonly TomlTable[]): string {
  return own.toReversed().reduce((rest, { start, end }) => {
    const gap = /(?:^|(?<=\n))[ \t]*\r?\n$/.exec(rest.slice(0, start))?.[0].length ?? 0;
    return rest.slice(0, start - gap) + rest.slice(end);
  }, text);
}

function replacedToml(text: string, own: readonly TomlTable[], entry: Entry): string {
  const [first, ...others] = own;
  if (first === undefined) return text;
  const rest = takenToml(text, others);
  return rest.slice(0, first.start) + tomlOf(entry, eolOf(text)) + rest.slice(first.end);
}

function checkedToml(old: Readonly<Record<string, unknown>>, after: string, entry: Entry, wish: EntryWish): Merged {
  const now = parsedToml(after);
  // With its last table the parent is gone too, if it has no header of its own.
  const whole = typeof now === "string" || now[entry.under] !== undefined ? now : { ...now, [entry.under]: {} };
  return unlessOther(old, whole, after, entry, wish);
}

// An MCP server in the configuration file of a client: its place and its value.

/** A value that both JSON and TOML can express. */
export type EntryValue = string | boolean | readonly string[];

export interface Entry {
  /** The key that contains the client's servers. */
  readonly under: string;
  readonly name: string;
  readonly value: Readonly<Record<string, EntryValue>>;
}

/** The result for a file. `same`: nothing to do. `other`: another entry has the name. */
type Merged =
  | { readonly merged: "text"; readonly text: string }
  | { readonly merged: "same" | "other" }
  /** Words to follow `Cannot change "x": `. */
  | { readonly merged: "refused"; readonly why: string };

/** What to do with the entry. `put` leaves another one of that name alone, `replace` does not. */
export type EntryWish = "put" | "replace" | "remove";

const refused = (why: string): Merged => ({ merged: "refused", why });

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** The parsers' objects have no prototype; comparing needs plain ones. */
function plain<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(plain) as Value; // the same list
  if (!isTable(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)])) as Value; // the same keys
}

/** `now`, parsed from the new text, must mean the same as before plus or minus the entry. If not, nothing is changed. */
function unlessOther(
  old: Readonly<Record<string, unknown>>,
  now: unknown,
  text: string,
  { under, name, value }: Entry,
  wish: EntryWish,
): Merged {
  const servers = { ...(old[under] as Readonly<Record<string, unknown>> | undefined) }; // the caller checked its type
  if (wish === "remove") delete servers[name];
  else servers[name] = plain(value);
  return isDeepStrictEqual(now, { ...old, [under]: servers })
    ? { merged: "text", text }
    : refused("it is written in a way that cannot be changed safely, change it by hand");
}

export { programOnPath } from "../disk/disk.ts";

/** Some clients store their history in the same file, so this is far above the size of settings. */
const bytesMax = 67_108_864;

export interface ClientFile {
  readonly path: string;
  readonly format: "json" | "toml";
  /** A project comes from strangers, and its symlink may lead to any file that the user can write. */
  readonly links: "follow" | "refuse";
  readonly fresh?: Readonly<Record<string, string>>;
}

export type ClientPlan =
  | Exclude<Merged, { readonly merged: "text" }>
  | { readonly merged: "text"; readonly before: string | undefined; readonly after: string };

export function planEntry(file: ClientFile, entry: Entry, wish: EntryWish): ClientPlan {
  let before: string | undefined;
  try {
    before = readSmallFile(file.path, bytesMax, "kept");
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return { merged: "refused", why: said.replace(/^Cannot read ".*": /s, "") };
  }
  const fault = file.links === "refuse" ? linkFault(file.path) : undefined;
  if (fault !== undefined) return { merged: "refused", why: fault };
  const mark = before?.startsWith("\uFEFF") === true ? "\uFEFF" : "";
  const text = (before ?? "").slice(mark.length);
  const merged =
    file.format === "json" ? withJsonEntry(text, entry, wish, file.fresh) : withTomlEntry(text, entry, wish);
  return merged.merged === "text" ? { merged: "text", before, after: mark + merged.text } : merged;
}

/** Undefined if it succeeded. `changed`: another program wrote meanwhile, so plan again. */
export function writePlan(
  file: ClientFile,
  plan: Extract<ClientPlan, { readonly merged: "text" }>,
): "changed" | { readonly why: string } | undefined {
  const { path, links } = file;
  return writeSmallFile({ path, before: plan.before, text: plan.after, bytesMax, links, mark: "kept" });
}

export const soleText = ({ format, fresh }: Pick<ClientFile, "format" | "fresh">, entry: Entry): string =>
  format === "json" ? jsonOf(entry, fresh) : tomlOf(entry);

function linkFault(path: string): string | undefined {
  if (isLink(path)) return "it is a link, and a project's links are not followed";
  return isLink(nodePath.dirname(path)) ? "its folder is a link, and a project's links are not followed" : undefined;
}

function isLink(path: string): boolean {
  try {
    return nodeSystem.statLink(path).isSymbolicLink();
  } catch {
    return false; // a missing file is no symlink
  }
}

export function isThere(path: string): boolean {
  try {
    nodeSystem.statPath(path);
    return true;
  } catch {
    return false;
  }
}

// Adds an entry to a JSON text with comments, or removes it: all other bytes stay. Pure.

/** `fresh`: further keys if the file was empty. */
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
    return checked(tree, taken(text, servers.value, there.property), entry, wish);
  }
  if (there !== undefined) {
    if (isDeepStrictEqual(plain(getNodeValue(there.value)), entry.value)) return { merged: "same" };
    return wish === "put" ? { merged: "other" } : checked(tree, replaced(text, there.value, entry), entry, wish);
  }
  const after =
    servers === undefined
      ? added(text, tree, entry.under, { [entry.name]: entry.value })
      : added(text, servers.value, entry.name, entry.value);
  return checked(tree, after, entry, wish);
}

export function jsonOf({ under, name, value }: Entry, fresh: Readonly<Record<string, string>> = {}): string {
  return `${printed({ ...fresh, [under]: { [name]: value } }, "  ")}\n`;
}

/** Like JSON.stringify, with the short lists of a command line on one line. */
function printed(value: unknown, unit: string, indent = ""): string {
  if (Array.isArray(value)) return `[${value.map((one) => JSON.stringify(one)).join(", ")}]`;
  if (!isTable(value)) return JSON.stringify(value);
  const inner = indent + unit;
  const members = Object.entries(value).map(
    ([key, one]) => `${inner}${JSON.stringify(key)}: ${printed(one, unit, inner)}`,
  );
  return `{\n${members.join(",\n")}\n${indent}}`;
}

function parsed(text: string): Node | string {
  const errors: ParseError[] = [];
  try {
    const tree = parseTree(text, errors, { allowTrailingComma: true });
    const [error] = errors;
    if (error === undefined && tree !== undefined) return tree;
    const what = error === undefined ? "nothing in it" : words(error);
    return `it is not valid JSON (${what} in line ${lineAt(text, error?.offset ?? 0)}), mend it first`;
  } catch (error) {
    // The parser is recursive, and a file may have more levels than the stack.
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

/** Programs differ in which of two equal keys counts, so neither can be edited safely. */
function memberOf(object: Node, key: string): Member | undefined | "twice" {
  const found = (object.children ?? []).filter(({ children }) => children?.[0]?.value === key);
  if (found.length > 1) return "twice";
  const [property] = found;
  const value = property?.children?.[1];
  return property === undefined || value === undefined ? undefined : { property, value };
}

function added(text: string, container: Node, name: string, value: unknown): string {
  const close = container.offset + container.length - 1;
  const last = container.children?.at(-1);
  const key = JSON.stringify(name);
  const rest = text.slice(last === undefined ? container.offset + 1 : last.offset + last.length, close);
  const isSpread = last === undefined ? rest.trim() === "" : /[\r\n]/.test(rest);
  const member = `${key}: ${isSpread ? printed(value, unitOf(text)) : JSON.stringify(value)}`;
  if (last !== undefined || !isSpread) return insertChild(text, container, member);
  const outer = eolOf(text) + indentAt(text, container.offset);
  const inner = outer + unitOf(text);
  return insertChild(text, container, inner + member.replaceAll("\n", inner) + outer);
}

function replaced(text: string, { offset, length }: Node, { value }: Entry): string {
  const isSpread = /[\r\n]/.test(text.slice(offset, offset + length));
  const body = isSpread
    ? printed(value, unitOf(text)).replaceAll("\n", eolOf(text) + indentAt(text, offset))
    : JSON.stringify(value);
  return text.slice(0, offset) + body + text.slice(offset + length);
}

/** Removes the property and one comma. Comments beside it stay. */
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

/** If the property is alone on its lines, whole lines go; otherwise the whitespace before it goes too. */
function wholeLines(text: string, from: number, to: number, containerAt: number): readonly [number, number] {
  const whitespace = /[ \t]*$/.exec(text.slice(0, from))?.[0].length ?? 0;
  const start = from - whitespace;
  const lineEnd = /^[ \t]*(\r\n|\r|\n)/.exec(text.slice(to));
  const startsLine = start === 0 || /[\r\n]/.test(text.charAt(start - 1));
  if (startsLine && lineEnd !== null) return [start, to + lineEnd[0].length];
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
/** The indent of one level: that of the first indented line. */
const unitOf = (text: string): string => /[\r\n]([ \t]+)(?=["}])/.exec(text)?.[1] ?? "  ";

function checked(old: Node, after: string, entry: Entry, wish: EntryWish): Merged {
  const tree = parsed(after);
  const now: unknown = typeof tree === "string" ? tree : plain(getNodeValue(tree));
  return unlessOther(plain(getNodeValue(old)), now, after, entry, wish);
}

/** Where the tables of a TOML text begin and where their last key ends. For texts that a parser has accepted. Pure. */

interface TomlTable {
  /** The parts of the header's name: `[a."b c"]` is `a`, `b c`. Empty for the text before the first header. */
  readonly path: readonly string[];
  readonly start: number;
  /** After the line of the last key, or of the header; comments and blank lines after it are not included. */
  readonly end: number;
}

const header = /^[ \t]*\[\[?([^\r\n]*)/;
const part = /[ \t]*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))[ \t]*(\.|\])/y;

export function tomlTables(text: string): readonly TomlTable[] {
  const tables: { path: readonly string[]; start: number; end: number }[] = [{ path: [], start: 0, end: 0 }];
  let at = 0;
  while (at < text.length) {
    const lineEnd = endOfLine(text, at);
    const line = text.slice(at, lineEnd);
    const table = tables.at(-1);
    if (header.test(line)) {
      tables.push({ path: pathOf(line.slice(line.search(/\[+/)).replace(/^\[\[?/, "")), start: at, end: lineEnd });
      at = lineEnd;
    } else if (/^[ \t]*(?:#.*)?$/.test(line.replace(/[\r\n]+$/, ""))) {
      at = lineEnd;
    } else {
      at = endOfStatement(text, at);
      if (table !== undefined) table.end = at;
    }
  }
  return tables;
}

function pathOf(rest: string): readonly string[] {
  const parts: string[] = [];
  part.lastIndex = 0;
  for (let found = part.exec(rest); found !== null; found = part.exec(rest)) {
    const [, basic, literal, bare, closes] = found;
    parts.push(basic === undefined ? (literal ?? bare ?? "") : unescaped(basic));
    if (closes === "]") break;
  }
  return parts;
}

/** TOML's short escapes are those of JSON; others stay as written and match no name that Filehand uses. */
function unescaped(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}

function endOfLine(text: string, from: number): number {
  const at = text.indexOf("\n", from);
  return at === -1 ? text.length : at + 1;
}

const quotes = ['"""', "'''", '"', "'"] as const;

/** A value may span several lines: in lists, in inline tables, and in strings of three quotes. */
function endOfStatement(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const quote = quotes.find((one) => text.startsWith(one, at));
    const character = text.charAt(at);
    if (quote !== undefined) at = endOfString(text, at + quote.length, quote);
    else if (character === "#") at = text.indexOf("\n", at) === -1 ? text.length : text.indexOf("\n", at);
    else if (character === "\n" && depth === 0) return at + 1;
    else {
      if (character === "[" || character === "{") depth += 1;
      if (character === "]" || character === "}") depth -= 1;
      at += 1;
    }
  }
  return text.length;
}

function endOfString(text: string, from: number, quote: (typeof quotes)[number]): number {
  for (let at = from; at < text.length; at += 1) {
    if (text.charAt(at) === "\\" && quote.startsWith('"')) at += 1;
    else if (text.startsWith(quote, at)) {
      // A string of three quotes may end with one or two more that belong to it.
      let end = at + quote.length;
      if (quote.length === 3) while (end < at + 5 && text.charAt(end) === quote.charAt(0)) end += 1;
      return end;
    }
  }
  return text.length;
}
