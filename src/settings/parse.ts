/** Parses one settings file into checked values. Loaded only if there is a file: the parser costs start-up time. */

import { closest, distance } from "fastest-levenshtein";
import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import type { JsonSchema } from "../contract/call.ts";
import { hiddenCharacters } from "../contract/hidden-characters.ts";
import { isNoWrite } from "../contract/permission.ts";
import { projectValues, schema, type SettingsValues, userOnlyKeys } from "./schema.ts";

export interface LineFault {
  readonly line: number;
  readonly message: string;
  /** Deny or ask rules are lost with it, so nothing must start without them. */
  readonly stops?: true;
}

/** Faults reported of one file; a file with more is not a settings file. */
const faultsMax = 50;

/** Never throws: faulty values are ignored and reported, the rest takes effect. */
export function parseSettings(
  text: string,
  of: "user settings" | "project settings",
): { readonly values: SettingsValues; readonly faults: readonly LineFault[] } {
  const errors: ParseError[] = [];
  const tree = parse(text, errors);
  if (tree === "too deep") {
    return { values: {}, faults: [{ line: 1, message: "Cannot use this file: it is nested too deeply", stops: true }] };
  }

  const faults: LineFault[] = [];
  const lineAt = lineCounter(text);
  const checking: Checking = {
    refused: of === "project settings" ? userOnlyKeys : new Set(),
    only: of === "project settings" ? projectValues : new Map(),
    report: (offset, message, name) => {
      if (faults.length >= faultsMax) return;
      const stops = isOfRules(name);
      faults.push({ line: lineAt(offset), message: message(), ...(stops ? { stops } : {}) });
    },
  };
  // The cast is sound because `check` returns only what the schema describes, and `SettingsValues` is derived from it.
  const honoured = (tree === undefined ? {} : (check(tree, schema, "", checking) ?? {})) as SettingsValues;
  const values = of === "user settings" && tree !== undefined ? strictWhereUnclear(honoured, tree) : honoured;

  const [error] = errors;
  if (error !== undefined) {
    const what = printParseErrorCode(error.error)
      .replace(/(?<=.)[A-Z]/g, " $&")
      .toLowerCase();
    const message = `Cannot use this file: it is not valid JSON with comments (${what}), only its deny and ask rules that could be read are in force`;
    return { values: stricterOnly(values), faults: [{ line: lineAt(error.offset), message }] };
  }
  return { values, faults };
}

/** A misspelt mode or lock was meant to restrict something, so the strictest value takes effect. */
function strictWhereUnclear(values: SettingsValues, tree: Node): SettingsValues {
  const mode = findNodeAtLocation(tree, ["mode"]);
  const locked = findNodeAtLocation(tree, ["locked"]);
  const locks = locked?.type === "array" ? (locked.children?.length ?? 0) : -1;
  return {
    ...values,
    ...(mode !== undefined && values.mode === undefined ? { mode: "read-only" } : {}),
    ...(locked !== undefined && values.locked?.length !== locks ? { locked: ["mode", "rules"] } : {}),
  };
}

/** Half a file is a guess, and a guess may only make things stricter. */
function stricterOnly({ permissions, mode, locked }: SettingsValues): SettingsValues {
  const { ask = [], deny = [] } = permissions ?? {};
  return {
    permissions: { ask, deny },
    ...(mode !== undefined && isNoWrite(mode) ? { mode } : {}),
    ...(locked === undefined ? {} : { locked }),
  };
}

/** The parser is recursive, and a hostile file may have more levels than the stack. */
function parse(text: string, errors: ParseError[]): Node | undefined | "too deep" {
  try {
    return parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  } catch (error) {
    if (error instanceof RangeError) return "too deep";
    throw error;
  }
}

interface Checking {
  readonly refused: ReadonlySet<string>;
  /** For some keys, the only allowed values. */
  readonly only: ReadonlyMap<string, readonly unknown[]>;
  /** The message is built only if there is room for it: a file full of faults must not cost more than reading it. */
  report(offset: number, message: () => string, name: string): void;
}

/** A key that contains deny or ask rules, or was meant to. */
const isOfRules = (name: string): boolean =>
  name.startsWith("permissions")
    ? !name.startsWith("permissions.allow")
    : name.length <= 64 && distance(name.toLowerCase(), "permissions") <= 3;

/** The part of a node's value that the schema describes; undefined if its type is another. */
function check(node: Node, expected: JsonSchema, name: string, checking: Checking): unknown {
  const fitting = expected.anyOf?.find(
    (one) => one.type === node.type && (node.type === "object" || isDescribed(node.value, one)),
  );
  if (fitting !== undefined) return check(node, fitting, name, checking);
  if (node.type === "object" && expected.properties !== undefined) {
    return checkObject(node, expected.properties, name, checking);
  }
  const { additionalProperties: each } = expected;
  if (node.type === "object" && each !== undefined && each !== false) {
    return each === true ? getNodeValue(node) : checkNamed(node, each, name, checking);
  }
  const { items } = expected;
  if (node.type === "array" && items !== undefined) {
    // Item by item: a mistake in one rule must not lift the others.
    return (node.children ?? []).flatMap((child, at) => check(child, items, `${name}[${at}]`, checking) ?? []);
  }
  const value: unknown = node.value;
  if (isDescribed(value, expected)) return value;
  const subject = name === "" ? "this file" : quoted(name);
  checking.report(node.offset, () => `Cannot use ${subject}: expected ${inWords(expected)}`, name);
  return undefined;
}

function checkObject(
  node: Node,
  properties: Readonly<Record<string, JsonSchema>>,
  parent: string,
  checking: Checking,
): unknown {
  const values: Record<string, unknown> = {};
  for (const { children: [keyNode, valueNode] = [], offset } of node.children ?? []) {
    if (keyNode === undefined || valueNode === undefined) continue; // a syntax error, reported as such
    const key = String(keyNode.value);
    const name = parent === "" ? key : `${parent}.${key}`;
    const expected = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (expected === undefined) {
      const known = Object.keys(properties);
      checking.report(offset, () => `Cannot use ${quoted(name)}: there is no such key, ${advice(key, known)}`, name);
    } else if (checking.refused.has(name)) {
      checking.report(offset, () => `Cannot use ${quoted(name)} here: it belongs in the user's own settings`, name);
    } else if (Object.hasOwn(values, key)) {
      checking.report(offset, () => `Cannot use ${quoted(name)} twice: the first one counts`, name);
    } else {
      const value = check(valueNode, expected, name, checking);
      const only = checking.only.get(name);
      if (value === undefined) continue;
      if (only === undefined || only.includes(value)) values[key] = value;
      else {
        const words = (): string => only.map((one) => JSON.stringify(one)).join(" or ");
        checking.report(offset, () => `Cannot use ${quoted(name)} so: a project may only make it ${words()}`, name);
      }
    }
  }
  return values;
}

function checkNamed(node: Node, each: JsonSchema, parent: string, checking: Checking): unknown {
  const values = new Map<string, unknown>();
  for (const { children: [keyNode, valueNode] = [] } of node.children ?? []) {
    if (keyNode === undefined || valueNode === undefined) continue; // a syntax error, reported as such
    const key = String(keyNode.value);
    const value = check(valueNode, each, `${parent}.${key}`, checking);
    if (value !== undefined && !values.has(key)) values.set(key, value);
  }
  return Object.fromEntries(values);
}

function isDescribed(value: unknown, expected: JsonSchema): boolean {
  if (typeof value === "string") {
    return (
      expected.type === "string" &&
      value.length >= (expected.minLength ?? 0) &&
      (expected.enum === undefined || expected.enum.includes(value))
    );
  }
  if (typeof value === "number") {
    const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = expected;
    return expected.type === "integer" && Number.isSafeInteger(value) && value >= minimum && value <= maximum;
  }
  const isAllowed = expected.enum === undefined || (typeof value === "boolean" && expected.enum.includes(value));
  return typeof value === "boolean" && expected.type === "boolean" && isAllowed;
}

function inWords(expected: JsonSchema): string {
  if (expected.anyOf !== undefined) return expected.anyOf.map(inWords).join(" or ");
  if (expected.enum !== undefined) {
    const choices = expected.enum.map((choice) => JSON.stringify(choice)).join(", ");
    return expected.enum.length === 1 ? choices : `one of ${choices}`;
  }
  if (expected.properties !== undefined)
    return `an object with the keys ${Object.keys(expected.properties).join(", ")}`;
  if (expected.additionalProperties !== undefined) return "an object";
  if (expected.items !== undefined) return 'a list of texts in quotes, such as ["a", "b"]';
  if (expected.type === "boolean") return "true or false";
  if (expected.type === "integer") {
    const most = expected.maximum === undefined ? "" : ` and at most ${expected.maximum}`;
    return `a whole number of at least ${expected.minimum ?? 0}${most}`;
  }
  return "a text in quotes that is not empty";
}

function advice(key: string, known: readonly string[]): string {
  const nearest = key.length <= 64 ? closest(key.toLowerCase(), known) : undefined;
  return nearest !== undefined && distance(key.toLowerCase(), nearest.toLowerCase()) <= nearest.length / 2
    ? `the nearest is "${nearest}"`
    : `known are ${known.join(", ")}`;
}

/** A name from the file, shortened and without control characters. */
const quoted = (name: string): string =>
  JSON.stringify(name.slice(0, 80)).replace(
    new RegExp(`[\\p{C}\\p{Zl}\\p{Zp}${hiddenCharacters}]`, "gu"),
    (found) => `\\u{${found.codePointAt(0)?.toString(16)}}`,
  );

/** The line of an offset. Ascending offsets, as those of faults, take one pass over the text together. */
function lineCounter(text: string): (offset: number) => number {
  let [line, from] = [1, 0];
  return (offset) => {
    if (offset < from) [line, from] = [1, 0];
    for (let at = text.indexOf("\n", from); at !== -1 && at < offset; at = text.indexOf("\n", from)) {
      line += 1;
      from = at + 1;
    }
    return line;
  };
}
