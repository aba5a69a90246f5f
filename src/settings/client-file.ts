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
import { withYamlEntry, yamlOf } from "./yaml-entry.ts";

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
  if (typeof value === "string") return stringOf(value);
  if (typeof value !== "object") return String(value);
  if (isList(value)) return `[${value.map(stringOf).join(", ")}]`;
  return `{ ${Object.entries(value)
    .map(([key, one]) => `${keyOf(key)} = ${valueOf(one)}`)
    .join(", ")} }`;
}

const isList = (value: EntryValue): value is readonly string[] => Array.isArray(value);

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

/** A value that JSON, TOML and YAML can express. */
export type EntryValue = string | boolean | number | readonly string[] | EntryTable;
export interface EntryTable {
  readonly [key: string]: EntryValue;
}

export interface Entry {
  /** The key that contains the client's servers. */
  readonly under: string;
  readonly name: string;
  readonly value: EntryTable;
}

/** The result for a file. `same`: nothing to do. `other`: another entry has the name. */
export type Merged =
  | { readonly merged: "text"; readonly text: string }
  | { readonly merged: "same" | "other" }
  /** Words to follow `Cannot change "x": `. */
  | { readonly merged: "refused"; readonly why: string };

/** What to do with the entry. `put` leaves another one of that name alone, `replace` does not. */
export type EntryWish = "put" | "replace" | "remove";

export const refused = (why: string): Extract<Merged, { readonly merged: "refused" }> => ({ merged: "refused", why });

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

export type ClientFormat = "json" | "toml" | "yaml";

export interface ClientFile {
  readonly path: string;
  readonly format: ClientFormat;
  /** A project comes from strangers, and its symlink may lead to any file that the user can write. */
  readonly links: "follow" | "refuse";
  readonly fresh?: Readonly<Record<string, string>>;
}

export type ClientPlan =
  | Exclude<Merged, { readonly merged: "text" }>
  | { readonly merged: "text"; readonly before: string | undefined; readonly after: string };

export function planEntry(file: ClientFile, entry: Entry, wish: EntryWish): ClientPlan {
  return planText(file, (text) => withEntry(file, text, entry, wish));
}

function withEntry({ format, fresh }: ClientFile, text: string, entry: Entry, wish: EntryWish): Merged {
  if (format === "json") return withJsonEntry(text, entry, wish, fresh);
  return format === "toml" ? withTomlEntry(text, entry, wish) : withYamlEntry(text, entry, wish);
}

/** The server and further settings of a client, in one file. */
export interface ClientChange {
  readonly entry?: { readonly entry: Entry; readonly wish: EntryWish };
  readonly put?: readonly ClientSetting[];
  readonly take?: readonly AddedSetting[];
}

/** `added`: what of `put` was not there before, so that it can be taken back. */
export function planChange(
  file: ClientFile,
  change: ClientChange,
): { readonly plan: ClientPlan; readonly added: readonly AddedSetting[] } {
  const added: AddedSetting[] = [];
  const plan = planText(file, (text) => {
    let now = text;
    if (change.entry !== undefined) {
      const merged = withEntry(file, now, change.entry.entry, change.entry.wish);
      if (merged.merged === "other" || merged.merged === "refused") return merged;
      if (merged.merged === "text") now = merged.text;
    }
    for (const setting of change.put ?? []) {
      const done = withSetting(now, file.format, setting);
      if ("why" in done) return refused(done.why);
      now = done.text;
      if (done.added !== undefined) added.push(done.added);
    }
    for (const setting of change.take ?? []) {
      const done = withoutSetting(now, file.format, setting);
      if ("why" in done) return refused(done.why);
      now = done.text;
    }
    return now === text ? { merged: "same" } : { merged: "text", text: now };
  });
  return { plan, added };
}

function planText(file: ClientFile, change: (text: string) => Merged): ClientPlan {
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
  const merged = change(text);
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
  format === "json" ? jsonOf(entry, fresh) : format === "toml" ? tomlOf(entry) : yamlOf(entry);

/** All that goes into a new file. */
export function soleChange(
  file: Pick<ClientFile, "format" | "fresh">,
  entry: Entry | undefined,
  settings: readonly ClientSetting[],
): string {
  return settings.reduce(
    (text, setting) => {
      const done = withSetting(text, file.format, setting);
      return "text" in done ? done.text : text;
    },
    entry === undefined ? "" : soleText(file, entry),
  );
}

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

// A setting besides the server: a list that must have some items, or a switch. Two levels deep, as all of them are. Pure.

export type ClientSetting =
  | { readonly under: string; readonly list: string; readonly items: readonly string[] }
  | { readonly under: string; readonly key: string; readonly value: boolean };

/** What was put there: the items that were missing, or a key and the value that it had. `made`: containers that were missing. */
export type AddedSetting = ClientSetting & {
  readonly made: "all" | "inner" | "none";
  readonly before?: boolean;
};

/** Notes of earlier runs come from a file: what is none of this form is dropped. */
export function addedSettingOf(value: unknown): AddedSetting | undefined {
  if (!isTable(value) || typeof value["under"] !== "string") return undefined;
  const { under, list, items, key, value: switchedTo, made, before } = value;
  if (made !== "all" && made !== "inner" && made !== "none") return undefined;
  if (typeof list === "string" && Array.isArray(items) && items.every((item) => typeof item === "string")) {
    return { under, list, items, made };
  }
  if (typeof key !== "string" || typeof switchedTo !== "boolean") return undefined;
  return { under, key, value: switchedTo, made, ...(typeof before === "boolean" ? { before } : {}) };
}

type Changed = { readonly text: string; readonly added?: AddedSetting } | { readonly why: string };

const handMade = "it is written in a way that cannot be changed safely, change it by hand";

function withSetting(text: string, format: ClientFormat, setting: ClientSetting): Changed {
  if (format === "toml") return "key" in setting ? withTomlKey(text, setting) : { why: handMade };
  return format === "json" ? withJsonSetting(text, setting) : { why: handMade };
}

function withoutSetting(text: string, format: ClientFormat, setting: AddedSetting): Changed {
  if (format === "toml") return "key" in setting ? withoutTomlKey(text, setting) : { why: handMade };
  return format === "json" ? withoutJsonSetting(text, setting) : { why: handMade };
}

function settingNodes(text: string, under: string, name: string) {
  const tree = parsed(text);
  if (typeof tree === "string") return tree;
  if (tree.type !== "object") return "it holds no object";
  const outer = memberOf(tree, under);
  if (outer === "twice") return `it has "${under}" twice`;
  if (outer !== undefined && outer.value.type !== "object") return `"${under}" in it is no object`;
  const inner = outer === undefined ? undefined : memberOf(outer.value, name);
  if (inner === "twice") return `it has "${under}.${name}" twice`;
  return { tree, outer, inner };
}

export function withJsonSetting(given: string, setting: ClientSetting): Changed {
  const text = given.trim() === "" ? "{}\n" : given;
  const name = "key" in setting ? setting.key : setting.list;
  const nodes = settingNodes(text, setting.under, name);
  if (typeof nodes === "string") return { why: nodes };
  const { tree, outer, inner } = nodes;
  const old = plain(getNodeValue(tree)) as Readonly<Record<string, EntryTable>>; // an object, as checked
  const value = "key" in setting ? setting.value : setting.items;
  if (outer === undefined || inner === undefined) {
    const after =
      outer === undefined ? added(text, tree, setting.under, { [name]: value }) : added(text, outer.value, name, value);
    const expected = { ...old, [setting.under]: { ...old[setting.under], [name]: value } };
    return unlessDifferent(after, expected, { ...setting, made: outer === undefined ? "all" : "inner" });
  }
  if ("key" in setting) {
    const before: unknown = getNodeValue(inner.value);
    if (before === setting.value) return { text };
    if (typeof before !== "boolean") return { why: `"${setting.under}.${name}" in it is neither true nor false` };
    const { offset, length } = inner.value;
    const after = text.slice(0, offset) + String(setting.value) + text.slice(offset + length);
    const expected = { ...old, [setting.under]: { ...old[setting.under], [name]: setting.value } };
    return unlessDifferent(after, expected, { ...setting, made: "none", before });
  }
  if (inner.value.type !== "array") return { why: `"${setting.under}.${name}" in it is no list` };
  const there: readonly unknown[] = getNodeValue(inner.value) as unknown[]; // a list, as checked
  const items = setting.items.filter((item) => !there.includes(item));
  if (items.length === 0) return { text };
  let after = text;
  for (const item of items) {
    const list = settingNodes(after, setting.under, name);
    if (typeof list === "string" || list.inner === undefined) return { why: handMade };
    after = insertChild(after, list.inner.value, JSON.stringify(item));
  }
  const expected = { ...old, [setting.under]: { ...old[setting.under], [name]: [...there, ...items] } };
  return unlessDifferent(after, expected, { under: setting.under, list: setting.list, items, made: "none" });
}

/** What a person changed meanwhile stays: only our own items go, and a switch only if it still has our value. */
export function withoutJsonSetting(text: string, setting: AddedSetting): Changed {
  if (text.trim() === "") return { text };
  const name = "key" in setting ? setting.key : setting.list;
  const nodes = settingNodes(text, setting.under, name);
  if (typeof nodes === "string") return { why: nodes };
  if (nodes.outer === undefined || nodes.inner === undefined) return { text };
  const old = plain(getNodeValue(nodes.tree)) as Readonly<Record<string, EntryTable>>; // an object, as checked
  let after = text;
  let left: unknown;
  if ("key" in setting) {
    if (getNodeValue(nodes.inner.value) !== setting.value) return { text };
    left = setting.before;
    if (setting.before !== undefined) {
      const { offset, length } = nodes.inner.value;
      after = text.slice(0, offset) + String(setting.before) + text.slice(offset + length);
    }
  } else {
    if (nodes.inner.value.type !== "array") return { text };
    for (const item of setting.items) {
      const list = settingNodes(after, setting.under, name);
      if (typeof list === "string" || list.inner === undefined) return { why: handMade };
      const node = list.inner.value.children?.find(({ value }) => value === item);
      if (node !== undefined) after = taken(after, list.inner.value, node);
    }
    const items = (getNodeValue(nodes.inner.value) as unknown[]).filter(
      (item) => !setting.items.some((one) => one === item),
    );
    left = items.length === 0 && setting.made !== "none" ? undefined : items;
  }
  const { [name]: _gone, ...others } = old[setting.under] ?? {};
  const rest = left === undefined ? others : { ...old[setting.under], [name]: left };
  const { [setting.under]: _outer, ...outside } = old;
  const isBare = Object.keys(rest).length === 0 && setting.made === "all";
  if (left === undefined || isBare) {
    const now = settingNodes(after, setting.under, name);
    if (typeof now === "string" || now.outer === undefined || now.inner === undefined) return { why: handMade };
    after = isBare ? taken(after, now.tree, now.outer.property) : taken(after, now.outer.value, now.inner.property);
  }
  return unlessDifferent(after, isBare ? outside : { ...old, [setting.under]: rest });
}

function unlessDifferent(after: string, expected: object, addedSetting?: AddedSetting): Changed {
  const tree = parsed(after);
  const now: unknown = typeof tree === "string" ? tree : plain(getNodeValue(tree));
  if (!isDeepStrictEqual(now, expected)) return { why: handMade };
  return addedSetting === undefined ? { text: after } : { text: after, added: addedSetting };
}

type KeySetting = Extract<ClientSetting, { readonly key: string }>;

export function withTomlKey(text: string, setting: KeySetting): Changed {
  const { under, key, value } = setting;
  const old = parsedToml(text);
  if (typeof old === "string") return { why: old };
  const table = old[under];
  if (table !== undefined && !isTable(table)) return { why: `"${under}" in it is no table` };
  const before = table?.[key];
  if (before === value) return { text };
  if (before !== undefined && typeof before !== "boolean") return { why: `"${under}.${key}" in it is no switch` };
  const eol = eolOf(text);
  const line = `${keyOf(key)} = ${value}${eol}`;
  const own = tomlTables(text).find(({ path }) => path.length === 1 && path[0] === under);
  let after: string;
  if (table === undefined) {
    const gap = text === "" ? "" : text.endsWith("\n") ? eol : eol + eol;
    after = `${text}${gap}[${keyOf(under)}]${eol}${line}`;
  } else if (own === undefined) {
    return { why: handMade };
  } else if (before === undefined) {
    const missing = text.slice(0, own.end).endsWith("\n") ? "" : eol;
    after = text.slice(0, own.end) + missing + line + text.slice(own.end);
  } else {
    const at = tomlKeyAt(text, own, key);
    if (at === undefined) return { why: handMade };
    after = text.slice(0, at.start) + switched(text.slice(at.start, at.end), value) + text.slice(at.end);
  }
  const made = table === undefined ? "all" : "inner";
  return unlessOtherToml(
    after,
    { ...old, [under]: { ...table, [key]: value } },
    {
      ...setting,
      made,
      ...(before === undefined ? {} : { before }),
    },
  );
}

export function withoutTomlKey(text: string, setting: KeySetting & AddedSetting): Changed {
  const { under, key, value, before, made } = setting;
  const old = parsedToml(text);
  if (typeof old === "string") return { why: old };
  const table = old[under];
  if (!isTable(table) || table[key] !== value) return { text };
  const own = tomlTables(text).find(({ path }) => path.length === 1 && path[0] === under);
  const at = own === undefined ? undefined : tomlKeyAt(text, own, key);
  if (own === undefined || at === undefined) return { why: handMade };
  const { [key]: _gone, ...others } = table;
  const { [under]: _table, ...outside } = old;
  if (before !== undefined) {
    const after = text.slice(0, at.start) + switched(text.slice(at.start, at.end), before) + text.slice(at.end);
    return unlessOtherToml(after, { ...old, [under]: { ...table, [key]: before } });
  }
  if (made === "all" && Object.keys(others).length === 0) return unlessOtherToml(takenToml(text, [own]), outside);
  return unlessOtherToml(text.slice(0, at.start) + text.slice(at.end), { ...old, [under]: others });
}

function unlessOtherToml(after: string, expected: object, addedSetting?: AddedSetting): Changed {
  if (!isDeepStrictEqual(parsedToml(after), expected)) return { why: handMade };
  return addedSetting === undefined ? { text: after } : { text: after, added: addedSetting };
}

/** The value changes; a comment behind it stays. */
const switched = (line: string, value: boolean): string => line.replace(/(=[ \t]*)(?:true|false)/, `$1${value}`);

/** The line of a key of a table; undefined if it is written in a way that is not looked for. */
function tomlKeyAt(text: string, table: TomlTable, key: string): { start: number; end: number } | undefined {
  for (let at = endOfLine(text, table.start); at < table.end; at = endOfStatement(text, at)) {
    if (new RegExp(`^[ \\t]*${key}[ \\t]*=`).test(text.slice(at, endOfLine(text, at)))) {
      return { start: at, end: endOfStatement(text, at) };
    }
  }
  return undefined;
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
