/**
 * The parameters of a tool as data. One literal gives the JSON schema that models see, the strict check of a call's arguments with
 * a fault for each wrong one, and the values for the request. Each dialect words the faults. `lenient-input.ts` runs before and
 * corrects what has one meaning; the TypeScript types of the inputs are generated (`npm run generate`).
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
   * `position`: an integer, the first line, entry or character to show, counted from 1; 0 means the beginning if numbers are
   * lenient. `skip`: the same counted from 0. `strings`: a list of them. `list`: a list of objects with `items` as parameters.
   */
  readonly type: "string" | "integer" | "position" | "skip" | "boolean" | "strings" | "list";
  readonly words: string;
  /** Another name that models use for it; the schema does not list it. */
  readonly alias?: string;
  readonly required?: true;
  /** Holds long texts: a call without it was probably cut off. */
  readonly long?: true;
  /** Of an integer. Of a list: how many elements at least. */
  readonly min?: number;
  readonly max?: number;
  readonly default?: string | number | boolean;
  /** Of a string: the words that a call may send, and the value of each. */
  readonly choices?: Readonly<Record<string, string>>;
  readonly items?: ParameterTable;
}

export type ParameterTable = Readonly<Record<string, Parameter>>;

/** A parameter that sets one of these values, with a type that fits the value. */
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

type Options = Pick<Parameter, "required" | "long" | "max" | "default" | "alias">;

export const string = <Sets extends string>(sets: Sets, words: string, options: Options = {}) =>
  ({ sets, type: "string", words, ...options }) as const;

export const choice = <Sets extends string, const Choices extends Readonly<Record<string, string>>>(
  sets: Sets,
  choices: Choices,
  words: string,
  options: Options = {},
) => ({ sets, type: "string", choices, words, ...options }) as const;

export const integer = <Sets extends string>(sets: Sets, min: number, words: string, options: Options = {}) =>
  ({ sets, type: "integer", min, words, ...options }) as const;

/** The first line, entry or character to show. */
export const position = <Sets extends string>(sets: Sets, words: string, options: Options = {}) =>
  ({ sets, type: "position", words, ...options }) as const;

export const boolean = <Sets extends string>(sets: Sets, words: string, byDefault = false) =>
  ({ sets, type: "boolean", words, default: byDefault }) as const;

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

function leastOf({ type, min }: Parameter): number | undefined {
  if (type === "integer") return min;
  return type === "position" ? 1 : type === "skip" ? 0 : undefined;
}

/** A hostile call may have thousands of faults; the answer lists the first. */
const faultsMax = 20;
/** Of an unknown name in the answer. */
const nameCharsMax = 200;

/** Checks the arguments of a call. Returns the values by the keys that they set, over the defaults, or throws a Problem with the faults. */
export function parseArguments(
  parameters: readonly NamedParameter[],
  defaults: Arguments,
  tool: string,
  input: unknown,
): Readonly<Record<string, unknown>> {
  const groups: FaultGroups = [];
  const values = readObject(input, parameters, defaults, "", groups);
  if (groups.length === 0) return values;
  const [first, ...rest] = groups
    .flat()
    // A value under a misspelt name was not cut off.
    .map((issue, _, all) => {
      const misspelt = all.some((other) => other.fault === "unknown" && other.nearest === issue.name);
      return issue.fault === "missing" && misspelt ? { ...issue, long: false } : issue;
    });
  if (first === undefined) return values;
  throw new Problem({ code: "INVALID_PARAM", reason: "arguments", tool, issues: [first, ...rest] });
}

type Arguments = Readonly<Record<string, unknown>>;

/** Faults in the order of the parameters. The unknown names of one object are one group. */
type FaultGroups = (readonly ArgumentIssue[])[];

export interface NamedParameter {
  readonly name: string;
  readonly parameter: Parameter;
}

/** `input` MUST be an object. */
export const argumentNamed = (name: string, input: unknown): unknown =>
  Object.hasOwn(input as Arguments, name) ? (input as Arguments)[name] : undefined;

export const namedParameters = (parameters: ParameterTable): readonly NamedParameter[] =>
  Object.entries(parameters).map(([name, parameter]) => ({ name, parameter }));

/**
 * Checks an object and returns its values by the keys that they set, over `defaults`, in one pass: a call may have 20,000 objects.
 * Adds the faults to `groups`, up to `faultsMax`, unknown names last; the values are only valid if there is no fault. `prefix`:
 * of the names in faults, `edits.3.` for an object in a list.
 */
function readObject(
  input: unknown,
  parameters: readonly NamedParameter[],
  defaults: Arguments,
  prefix: string,
  groups: FaultGroups,
): Arguments {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    groups.push([wrong("an object", input, prefix.slice(0, -1) || "input")]);
    return defaults;
  }
  const given = input as Arguments; // any other object has keys and values too
  const values: Record<string, unknown> = { ...defaults };
  let knownKeys = 0;
  for (const { name, parameter } of parameters) {
    const isThere = Object.hasOwn(given, name);
    if (isThere) knownKeys += 1;
    const value = isThere ? given[name] : undefined;
    if (value !== undefined) values[parameter.sets] = readValue(value, parameter, prefix + name, groups);
    else if (parameter.required) groups.push([wrong(expectedOf(parameter), value, prefix + name, parameter)]);
    if (groups.length >= faultsMax) return values;
  }
  const keys = Object.keys(given);
  if (keys.length > knownKeys) {
    const known = parameters.map(({ name }) => name);
    const unknown = keys.filter((key) => !known.includes(key)).slice(0, faultsMax);
    groups.push(
      unknown.map((key) => {
        const name = cutChars(prefix + key, nameCharsMax);
        return { fault: "unknown", name, nearest: nearestWord(name, known), known };
      }),
    );
  }
  return values;
}

function readValue(value: unknown, parameter: Parameter, name: string, groups: FaultGroups): unknown {
  switch (parameter.type) {
    case "string":
      if (typeof value === "string") {
        const { choices } = parameter;
        if (choices === undefined) return value;
        if (Object.hasOwn(choices, value)) return choices[value];
      }
      break;
    case "boolean":
      if (typeof value === "boolean") return value;
      break;
    case "integer":
    case "position":
    case "skip":
      if (typeof value === "number" && Number.isInteger(value)) {
        const isSafe = Number.isSafeInteger(value);
        const min = isSafe ? leastOf(parameter) : Number.MIN_SAFE_INTEGER;
        const max = isSafe ? parameter.max : Number.MAX_SAFE_INTEGER;
        const [isLow, isHigh] = [min !== undefined && value < min, max !== undefined && value > max];
        if (isLow || isHigh) {
          const optional = parameter.required !== true;
          const range = { min: isLow ? min : undefined, max: isLow ? undefined : max };
          groups.push([{ fault: "range", name, got: value, ...range, optional }]);
        }
        return parameter.type === "skip" ? value + 1 : value;
      }
      break;
    case "strings":
    case "list":
      if (Array.isArray(value)) return readList(value, parameter, name, groups);
      break;
  }
  groups.push([wrong(expectedOf(parameter), value, name, parameter)]);
  return undefined;
}

function readList(
  list: readonly unknown[],
  { items = {}, type, min = 0, required }: Parameter,
  name: string,
  groups: FaultGroups,
): readonly unknown[] {
  const parameters = namedParameters(items);
  const defaults = defaultsOf(items);
  const values: unknown[] = [];
  for (let index = 0; index < list.length && groups.length < faultsMax; index += 1) {
    const element = list[index];
    if (type === "list") values.push(readObject(element, parameters, defaults, `${name}.${index}.`, groups));
    else if (typeof element === "string") values.push(element);
    else groups.push([wrong("a string", element, `${name}.${index}`)]);
  }
  if (list.length < min) {
    const expected = "a list that is not empty";
    groups.push([{ fault: "type", name, expected, got: "an empty one", optional: required !== true }]);
  }
  return values;
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
 * The fault of a text that looks like the JSON of the expected object or list: hosts pass on a model's text if they cannot parse it.
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

/** Every key is there from the beginning, if undefined: adding keys to an object one by one takes V8 eight times as long. */
export function defaultsOf(parameters: ParameterTable): Arguments {
  const values: Record<string, unknown> = {};
  for (const { sets } of Object.values(parameters)) values[sets] = undefined;
  for (const parameter of Object.values(parameters)) {
    if (parameter.default !== undefined) {
      values[parameter.sets] = readValue(parameter.default, parameter, parameter.sets, []);
    }
  }
  return values;
}

/** The known word that was most likely meant, if one is near enough. */
export function nearestWord(word: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  // A long word is no typing error, and comparing it would cost a hostile caller nothing and us much time.
  const asked = bare(word.slice(0, 64));
  for (const candidate of known) {
    const length = distance(asked, bare(candidate));
    if (length < bestDistance) [best, bestDistance] = [candidate, length];
  }
  const contained = known.find((candidate) => isPartOf(asked, bare(candidate)) || isPartOf(bare(candidate), asked));
  return bestDistance <= Math.max(1, Math.floor(asked.length / 3)) ? best : contained;
}

const isPartOf = (part: string, whole: string): boolean => part.length > 2 && whole.includes(part);

/** `filePath`, `file_path` and `FILE-PATH` become one word. */
const bare = (word: string): string => word.toLowerCase().replace(/[_-]/g, "");
