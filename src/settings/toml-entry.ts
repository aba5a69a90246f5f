/** Puts an entry into a TOML text as a table of its own, or takes that table out: all other bytes stay. Pure. */

import { isDeepStrictEqual } from "node:util";
import { parse, TomlError } from "smol-toml";
import { type Entry, type EntryValue, type EntryWish, isTable, type Merged, meant, plain, refused } from "./entry.ts";
import { type TomlTable, tomlTables } from "./toml-tables.ts";

export function withTomlEntry(text: string, entry: Entry, wish: EntryWish): Merged {
  const old = parsed(text);
  if (typeof old === "string") return refused(old);
  const servers = old[entry.under];
  if (servers !== undefined && !isTable(servers)) return refused(`"${entry.under}" in it is no table`);
  const there = servers !== undefined && Object.hasOwn(servers, entry.name) ? servers[entry.name] : undefined;
  if (there === undefined) {
    return wish === "remove" ? { merged: "same" } : checked(old, appended(text, entry), entry, wish);
  }
  if (wish !== "remove" && isDeepStrictEqual(there, plain(entry.value))) return { merged: "same" };
  if (wish === "put") return { merged: "other" };
  const own = tomlTables(text).filter(({ path }) => path[0] === entry.under && path[1] === entry.name);
  if (own.length === 0)
    return refused(`"${entry.under}.${entry.name}" in it is no table of its own, change it by hand`);
  return checked(old, wish === "remove" ? taken(text, own) : replaced(text, own, entry), entry, wish);
}

/** The table with nothing around it. */
export function tomlOf({ under, name, value }: Entry, eol = "\n"): string {
  const keys = Object.entries(value).map(([key, one]) => `${key} = ${valueOf(one)}${eol}`);
  return `[${under}.${keyOf(name)}]${eol}${keys.join("")}`;
}

const keyOf = (name: string): string => (/^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name));

/** A basic string of TOML has the escapes of JSON, but for the character 127, which must be escaped. */
const stringOf = (text: string): string => JSON.stringify(text).replaceAll("\x7f", "\\u007f");

function valueOf(value: EntryValue): string {
  if (typeof value === "boolean") return String(value);
  return typeof value === "string" ? stringOf(value) : `[${value.map(stringOf).join(", ")}]`;
}

/** The values, or why there are none. */
function parsed(text: string): Readonly<Record<string, unknown>> | string {
  try {
    return plain(parse(text, { integersAsBigInt: "asNeeded" }));
  } catch (error) {
    if (error instanceof RangeError) return "it is nested too deeply";
    if (error instanceof TomlError) return `it is not valid TOML (line ${error.line}), mend it first`;
    throw error;
  }
}

const eolOf = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n");

function appended(text: string, entry: Entry): string {
  const eol = eolOf(text);
  const gap = text === "" ? "" : text.endsWith("\n") ? eol : eol + eol;
  return text + gap + tomlOf(entry, eol);
}

/** With the blank line before each, which is what `appended` put there. */
function taken(text: string, own: readonly TomlTable[]): string {
  return own.toReversed().reduce((rest, { start, end }) => {
    const gap = /(?:^|(?<=\n))[ \t]*\r?\n$/.exec(rest.slice(0, start))?.[0].length ?? 0;
    return rest.slice(0, start - gap) + rest.slice(end);
  }, text);
}

function replaced(text: string, own: readonly TomlTable[], entry: Entry): string {
  const [first, ...others] = own;
  if (first === undefined) return text;
  const rest = taken(text, others);
  return rest.slice(0, first.start) + tomlOf(entry, eolOf(text)) + rest.slice(first.end);
}

/** Whatever the surgery did, the file must mean what it meant, and the entry. If not, nothing is changed. */
function checked(old: Readonly<Record<string, unknown>>, after: string, entry: Entry, wish: EntryWish): Merged {
  const now = parsed(after);
  const goal = plain(meant(old, entry, wish));
  const isMeant = typeof now !== "string" && (isDeepStrictEqual(now, goal) || isGone(now, goal, entry));
  return isMeant
    ? { merged: "text", text: after }
    : refused("it is written in a way that cannot be changed safely, change it by hand");
}

/** With its last table the parent is gone too, if it has no header of its own. */
function isGone(now: Readonly<Record<string, unknown>>, goal: unknown, { under }: Entry): boolean {
  return now[under] === undefined && isDeepStrictEqual({ ...now, [under]: {} }, goal);
}
