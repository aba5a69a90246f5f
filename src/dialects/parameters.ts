/**
 * The arguments of a call: parsed once, strictly, with every fault named. Schemas are zod's; what is wrong is put into
 * our own data, because each dialect has its own words for it. What is forgiven was put right before (`lenient-input.ts`).
 */

import { distance } from "fastest-levenshtein";
import * as z from "zod/mini";
import type { JsonSchema } from "../contract/call.ts";
import { type ArgumentIssue, Problem } from "../contract/problem.ts";
import { cutChars } from "../text/encoding/encoding.ts";
import { isCutOff } from "../text/json/fault.ts";
import { parseJson } from "../text/json/parse.ts";

interface IntegerOptions {
  readonly min: number;
  readonly max?: number;
}

export const integer = ({ min, max }: IntegerOptions) =>
  max === undefined ? z.int().check(z.minimum(min)) : z.int().check(z.minimum(min), z.maximum(max));

/** Faults that are named one by one, and characters of a name that somebody made up: a call may hold thousands of them. */
const faultsMax = 20;
const nameCharsMax = 200;

/** Parses the arguments of a call, or throws a Problem that names the faults. */
export function parseArguments<Shape extends z.core.$ZodShape>(
  schema: z.ZodMiniObject<Shape, z.core.$strict>,
  tool: string,
  input: unknown,
): z.output<z.ZodMiniObject<Shape, z.core.$strict>> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues
    .slice(0, faultsMax)
    .flatMap((issue) => issuesOf(issue, input, schema))
    // A number that is too large is too large for several reasons; one is enough.
    .filter(
      ({ name, fault }, index, all) => all.findIndex((other) => other.name === name && other.fault === fault) === index,
    )
    // What came under another name was not cut off.
    .map((issue, _, all) => {
      const misspelt = all.some((other) => other.fault === "unknown" && other.nearest === issue.name);
      return issue.fault === "missing" && misspelt ? { ...issue, long: false } : issue;
    });
  const [
    first = { fault: "type", name: "input", expected: "an object", got: "another", optional: false } as const,
    ...rest
  ] = issues;
  throw new Problem({ code: "INVALID_PARAM", reason: "arguments", tool, issues: [first, ...rest] });
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

/** Parameters that hold long texts, in any dialect: what a call lacks whose author ran out of room. */
const longOnes: readonly string[] = ["content", "new_string", "newString", "new_source", "edits", "patchText"];

function issuesOf(issue: z.core.$ZodIssue, input: unknown, schema: StrictObject): readonly ArgumentIssue[] {
  if (issue.code === "unrecognized_keys") {
    const known = Object.keys(shapeAt(schema, issue.path));
    return issue.keys.slice(0, faultsMax).map((key) => {
      const name = cutChars([...issue.path, key].map(String).join("."), nameCharsMax);
      return { fault: "unknown", name, nearest: nearest(name, known), known };
    });
  }
  const name = issue.path.map(String).join(".") || "input";
  const value = valueAt(input, issue.path);
  const optional = shapeAt(schema, issue.path.slice(0, -1))[String(issue.path.at(-1))] instanceof z.ZodMiniOptional;
  if (issue.code === "too_small" && Array.isArray(value)) {
    return [{ fault: "type", name, expected: "a list that is not empty", got: "an empty one", optional }];
  }
  if (issue.code === "too_small" || issue.code === "too_big") {
    const min = issue.code === "too_small" ? Number(issue.minimum) : undefined;
    const max = issue.code === "too_big" ? Number(issue.maximum) : undefined;
    return [{ fault: "range", name, got: Number(value), min, max, optional }];
  }
  const expected =
    issue.code === "invalid_type"
      ? expectedWord(issue.expected)
      : issue.code === "invalid_value"
        ? `one of ${issue.values.map((choice) => JSON.stringify(choice)).join(", ")}`
        : "another value";
  if (value === undefined) {
    return [{ fault: "missing", name, expected, long: longOnes.includes(String(issue.path.at(-1))) }];
  }
  const isText = typeof value === "string" && issue.code === "invalid_type";
  if (isText && (issue.expected === "object" || issue.expected === "array")) {
    const fault = jsonFaultOf(value);
    if (fault !== undefined) return [{ fault, name, chars: value.length }];
  }
  return [{ fault: "type", name, expected, got: describe(value), optional }];
}

type StrictObject = z.ZodMiniObject<z.core.$ZodShape, z.core.$strict>;

/** The parameters of the object that a path leads to: those of the call, or of an element of one of its lists. */
function shapeAt(schema: StrictObject, path: readonly PropertyKey[]): z.core.$ZodShape {
  const [list] = path;
  const inner = list === undefined ? undefined : schema.shape[String(list)];
  const element = inner instanceof z.ZodMiniArray ? inner.def.element : undefined;
  return element instanceof z.ZodMiniObject ? element.shape : schema.shape;
}

function expectedWord(type: string): string {
  switch (type) {
    case "int":
    case "number":
      return "an integer";
    case "string":
      return "a string";
    case "boolean":
      return "true or false";
    case "array":
      return "a list";
    default:
      return "an object";
  }
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<PropertyKey, unknown>>)[key];
  }
  return value;
}

/** A value in a sentence: short, and on one line. */
function describe(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** What a schema cannot say by itself. */
interface Words {
  readonly description: string;
  readonly default?: unknown;
  readonly items?: JsonSchema;
}

/** The notice that stands for the content of an unchanged file came back as content. */
export function noticeAsContent(path: string): Problem {
  const place = { asked: path, absolute: path, relative: path };
  return new Problem({ code: "INVALID_PARAM", reason: "edit", place, fault: "stub" });
}

/** Lean JSON Schema: what the model must know, without zod's bounds of safe integers and its version mark. */
export function jsonSchemaOf(
  schema: z.ZodMiniObject<z.core.$ZodShape, z.core.$strict>,
  words: Readonly<Record<string, Words>>,
): JsonSchema {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: "output", unrepresentable: "any" });
  const lean: Record<string, JsonSchema> = {};
  for (const [name, property] of Object.entries(properties)) {
    const { type, minimum, maximum, enum: choices, minItems } = property as Property; // the cards have no other kinds
    lean[name] = {
      type,
      ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER ? { minimum } : {}),
      ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER ? { maximum } : {}),
      ...(choices === undefined ? {} : { enum: choices }),
      ...(minItems === undefined ? {} : { minItems }),
      ...words[name],
    };
  }
  return { type: "object", properties: lean, required, additionalProperties: false };
}

interface Property {
  readonly type: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly enum?: readonly (string | number)[];
}

/** Part of a line range. A line is shown from its first character on anyway, and models fill in what they may leave out. */
export const columnOf = (column: number | null | undefined): { readonly column?: number } =>
  column == null || column <= 1 ? {} : { column };

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
