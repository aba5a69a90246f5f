/**
 * The parameters of a tool as data. From one literal follow the JSON schema that models see, the strict check of a call's
 * arguments with a fault for each that is wrong, and the values for the request. Each dialect has its own words for faults. What
 * is forgiven was put right before (`lenient-input.ts`); the TypeScript types of the inputs are generated (`npm run generate`).
 */

import { distance } from "fastest-levenshtein";
import type { JsonSchema } from "../contract/call.ts";
import { type ArgumentIssue, Problem } from "../contract/problem.ts";
import { cutChars, isCutOff, parseJson } from "../text/text.ts";

/** A parameter of any tool. `ParameterOf` is the type that a tool's literal is checked against. */
export interface Parameter {
  /** The key of the request's values (`tool.ts`) that this parameter gives. */
  readonly sets: string;
  /**
   * `position`: an integer, the first line, entry or character to show, counted from 1; 0 is taken for the beginning where numbers
   * are lenient. `skip`: the same counted from 0. `strings`: a list of them. `list`: a list of objects with `items` as parameters.
   */
  readonly type: "string" | "integer" | "position" | "skip" | "boolean" | "strings" | "list";
  /** The description that models see. */
  readonly words: string;
  readonly required?: true;
  /** Holds long texts: a call without it was probably cut off. */
  readonly long?: true;
  /** Of an integer. Of a list: how many elements at least. */
  readonly min?: number;
  readonly max?: number;
  readonly default?: string | number | boolean;
  /** Of a string: the words that may be sent, and the value that each stands for. */
  readonly choices?: Readonly<Record<string, string>>;
  readonly items?: ParameterTable;
}

export type ParameterTable = Readonly<Record<string, Parameter>>;

/** A parameter that gives one of these values, with a type that fits the value. */
export type ParameterOf<Values> = {
  readonly [Key in keyof Values & string]-?: Omit<Parameter, "sets" | "type" | "choices" | "items"> & {
    readonly sets: Key;
  } & TypeOf<NonNullable<Values[Key]>>;
}[keyof Values & string];

type TypeOf<Value> = [Value] extends [string]
  ? string extends Value
    ? { readonly type: "string" }
    : { readonly type: "string"; readonly choices: Readonly<Record<string, Value>> }
  : [Value] extends [number]
    ? { readonly type: "integer"; readonly min: number } | { readonly type: "position" | "skip" }
    : [Value] extends [boolean]
      ? { readonly type: "boolean" }
      : [Value] extends [readonly string[]]
        ? { readonly type: "strings" }
        : [Value] extends [readonly (infer Item extends object)[]]
          ? { readonly type: "list"; readonly items: Readonly<Record<string, ParameterOf<Item>>> }
          : never;

/** Lean JSON Schema: what the model must know. */
export function jsonSchemaOf(parameters: ParameterTable): JsonSchema {
  const entries = Object.entries(parameters);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, parameter]) => [name, propertyOf(parameter)])),
    required: entries.filter(([, { required }]) => required).map(([name]) => name),
    additionalProperties: false,
  };
}

const jsonTypes = {
  string: "string",
  integer: "integer",
  position: "integer",
  skip: "integer",
  boolean: "boolean",
  strings: "array",
  list: "array",
} as const satisfies Record<Parameter["type"], string>;

function propertyOf(parameter: Parameter): JsonSchema {
  const { type, words, choices, items, min, max } = parameter;
  const isList = jsonTypes[type] === "array";
  const minimum = leastOf(parameter);
  return {
    type: jsonTypes[type],
    ...(minimum === undefined ? {} : { minimum }),
    ...(max === undefined ? {} : { maximum: max }),
    ...(choices === undefined ? {} : { enum: Object.keys(choices) }),
    ...(isList && min !== undefined ? { minItems: min } : {}),
    description: words,
    ...(parameter.default === undefined ? {} : { default: parameter.default }),
    ...(isList ? { items: items === undefined ? { type: "string" } : jsonSchemaOf(items) } : {}),
  };
}

/** The smallest value of a number. */
function leastOf({ type, min }: Parameter): number | undefined {
  switch (type) {
    case "position":
      return 1;
    case "skip":
      return 0;
    case "integer":
      return min;
    case "string":
    case "boolean":
    case "strings":
    case "list":
      return undefined;
  }
}

/** Faults that are named one by one, and characters of a name that somebody made up: a call may hold thousands of them. */
const faultsMax = 20;
const nameCharsMax = 200;

/** Checks the arguments of a call: answers with the values by the keys that they set, or throws a Problem that names the faults. */
export function parseArguments(
  parameters: ParameterTable,
  tool: string,
  input: unknown,
): Readonly<Record<string, unknown>> {
  const groups: (readonly ArgumentIssue[])[] = [];
  for (const group of faultsIn(input, parameters, [])) if (groups.push(group) === faultsMax) break;
  const [first, ...rest] = groups
    .flat()
    // What came under another name was not cut off.
    .map((issue, _, all) => {
      const misspelt = all.some((other) => other.fault === "unknown" && other.nearest === issue.name);
      return issue.fault === "missing" && misspelt ? { ...issue, long: false } : issue;
    });
  if (first === undefined) return valuesIn(input as Arguments, parameters); // no fault, so it is an object
  throw new Problem({ code: "INVALID_PARAM", reason: "arguments", tool, issues: [first, ...rest] });
}

type Arguments = Readonly<Record<string, unknown>>;
type Path = readonly (string | number)[];

/** Faults of an object, in the order of its parameters; all unknown names come last, in one group. */
function* faultsIn(input: unknown, parameters: ParameterTable, path: Path): Generator<readonly ArgumentIssue[]> {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    yield [wrong("an object", input, path.join(".") || "input")];
    return;
  }
  const given = input as Arguments; // any other object has names and values too
  for (const [name, parameter] of Object.entries(parameters)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    const at = [...path, name];
    if (value !== undefined) yield* faultsOf(value, parameter, at);
    else if (parameter.required) yield [wrong(expectedOf(parameter), value, at.join("."), parameter)];
  }
  const known = Object.keys(parameters);
  const unknown = Object.keys(given).filter((key) => !Object.hasOwn(parameters, key));
  if (unknown.length > 0) {
    yield unknown.slice(0, faultsMax).map((key) => {
      const name = cutChars([...path, key].join("."), nameCharsMax);
      return { fault: "unknown", name, nearest: nearest(name, known), known };
    });
  }
}

function* faultsOf(value: unknown, parameter: Parameter, path: Path): Generator<readonly ArgumentIssue[]> {
  const name = path.join(".");
  const optional = parameter.required !== true;
  const wrongType = () => [wrong(expectedOf(parameter), value, name, parameter)];
  switch (parameter.type) {
    case "string": {
      const { choices } = parameter;
      const fits = typeof value === "string" && (choices === undefined || Object.hasOwn(choices, value));
      if (!fits) yield wrongType();
      return;
    }
    case "boolean":
      if (typeof value !== "boolean") yield wrongType();
      return;
    case "integer":
    case "position":
    case "skip": {
      if (!Number.isInteger(value)) {
        yield wrongType();
        return;
      }
      const got = Number(value);
      const isSafe = Number.isSafeInteger(got);
      const min = isSafe ? leastOf(parameter) : Number.MIN_SAFE_INTEGER;
      const max = isSafe ? parameter.max : Number.MAX_SAFE_INTEGER;
      if (min !== undefined && got < min) yield [{ fault: "range", name, got, min, max: undefined, optional }];
      else if (max !== undefined && got > max) yield [{ fault: "range", name, got, min: undefined, max, optional }];
      return;
    }
    case "strings":
    case "list": {
      if (!Array.isArray(value)) {
        yield wrongType();
        return;
      }
      for (const [index, element] of value.entries()) {
        if (parameter.items !== undefined) yield* faultsIn(element, parameter.items, [...path, index]);
        else if (typeof element !== "string") yield [wrong("a string", element, `${name}.${index}`)];
      }
      if (value.length < (parameter.min ?? 0)) {
        yield [{ fault: "type", name, expected: "a list that is not empty", got: "an empty one", optional }];
      }
    }
  }
}

/** A value that is missing or of another type. An element of a list counts as required. */
function wrong(
  expected: string,
  value: unknown,
  name: string,
  { required, long }: Pick<Parameter, "required" | "long"> = { required: true },
): ArgumentIssue {
  if (value === undefined) return { fault: "missing", name, expected, long: long === true };
  if (typeof value === "string" && (expected === "an object" || expected === "a list")) {
    const fault = jsonFaultOf(value);
    if (fault !== undefined) return { fault, name, chars: value.length };
  }
  return { fault: "type", name, expected, got: describe(value), optional: required !== true };
}

function expectedOf({ type, choices }: Parameter): string {
  if (choices !== undefined) {
    const words = Object.keys(choices).map((word) => JSON.stringify(word));
    return `one of ${words.join(", ")}`;
  }
  return { string: "a string", integer: "an integer", boolean: "true or false", array: "a list" }[jsonTypes[type]];
}

/**
 * What is wrong with text where an object or a list is expected, if it looks like the JSON of one: hosts hand on what a model wrote
 * when it cannot be parsed.
 */
function jsonFaultOf(text: string): "cut off" | "too many parts" | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  const parsed = parseJson(text);
  if (!("fault" in parsed)) return undefined;
  if (parsed.fault === "too many parts") return parsed.fault;
  return isCutOff(text) ? "cut off" : undefined;
}

/** A value in a sentence: short, and on one line. */
function describe(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** What checked arguments mean, by the keys that they set. What a call leaves out is not there. */
const valuesIn = (given: Arguments, parameters: ParameterTable): Arguments =>
  Object.fromEntries(
    Object.entries(parameters).flatMap(([name, parameter]) =>
      given[name] === undefined ? [] : [[parameter.sets, valueOf(given[name], parameter)]],
    ),
  );

/** The values of parameters that a call may leave out. */
export const defaultsOf = (parameters: ParameterTable): Arguments =>
  Object.fromEntries(
    Object.values(parameters).flatMap((parameter) =>
      parameter.default === undefined ? [] : [[parameter.sets, valueOf(parameter.default, parameter)]],
    ),
  );

function valueOf(value: unknown, { type, choices, items }: Parameter): unknown {
  if (choices !== undefined) return choices[String(value)];
  if (type === "skip") return Number(value) + 1;
  if (items === undefined || !Array.isArray(value)) return value;
  return value.map((element: Arguments) => ({ ...defaultsOf(items), ...valuesIn(element, items) }));
}

// The known word that was most likely meant, if one is near enough.

export function nearest(word: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  // A long word is no typing error, and comparing it costs time that a hostile caller could buy.
  const asked = bare(word.slice(0, 64));
  for (const candidate of known) {
    const length = distance(asked, bare(candidate));
    if (length < bestDistance) [best, bestDistance] = [candidate, length];
  }
  const contained = known.find((candidate) => isPartOf(asked, bare(candidate)) || isPartOf(bare(candidate), asked));
  return bestDistance <= Math.max(1, Math.floor(asked.length / 3)) ? best : contained;
}

const isPartOf = (part: string, whole: string): boolean => part.length > 2 && whole.includes(part);

/** `filePath`, `file_path` and `FILE-PATH` are one word. */
const bare = (word: string): string => word.toLowerCase().replace(/[_-]/g, "");
