/**
 * Converts a call as models and hosts send it into the call that the published schema describes, if only one meaning is possible.
 * Runs before the strict check (`parameters.ts`). Driven by the tool's JSON schema alone; a string parameter is never converted,
 * and a required one is never left out.
 */

import type { JsonSchema, Request } from "../contract/call.ts";
import { isRecord } from "../contract/common.ts";
import type { Profile } from "../contract/profile.ts";
import { parseJson } from "../text/text.ts";
import type { ToolSpec, Dialect } from "./dialect.ts";
import type { ParameterTable } from "./parameters.ts";

/** The one way from the input of a call to a request. */
export function requestOf(
  spec: ToolSpec,
  input: unknown,
  { numbers }: Pick<Dialect, "numbers">,
  profile: Profile,
): Request {
  return spec.toRequest(lenientInput(listed(input, spec.input), spec.inputSchema, numbers, spec.input), profile);
}

/** The input with the listed names of parameters. An alias beside its parameter stays, and is refused, unless it says the same. */
function listed(input: unknown, parameters: ParameterTable): unknown {
  if (!isRecord(input)) return input;
  let renamed = input;
  for (const [name, { alias }] of Object.entries(parameters)) {
    if (alias === undefined || !Object.hasOwn(input, alias)) continue;
    const { [alias]: value, ...rest } = renamed;
    if (!Object.hasOwn(input, name)) renamed = { ...rest, [name]: value };
    else if (input[name] === value) renamed = rest;
  }
  return renamed;
}

/** Returns the value itself where nothing had to be changed. `parameters`: of a `position`, 0 is the beginning. */
export function lenientInput(
  value: unknown,
  schema: JsonSchema,
  numbers: Dialect["numbers"],
  parameters: ToolSpec["input"] = {},
): unknown {
  switch (schema.type) {
    case "object":
      return lenientObject(value, schema, numbers, parameters);
    case "array":
      return lenientList(value, schema.items ?? {}, numbers);
    case "integer":
    case "number":
      return numbers === "lenient" && typeof value === "string" && /^\s*[+-]?\d+\s*$/.test(value)
        ? Number(value)
        : value;
    case "boolean":
      return typeof value === "string" ? booleanOf(value) : value;
    case "string":
    case undefined:
      return value;
  }
}

function lenientObject(
  value: unknown,
  schema: JsonSchema,
  numbers: Dialect["numbers"],
  parameters: ToolSpec["input"],
): unknown {
  const given = typeof value === "string" ? parsed(value, "{") : value;
  if (!isRecord(given)) return value;
  const { properties = {}, required = [] } = schema;
  const keys = Object.keys(given);
  /** From the first change on. */
  let entries: [string, unknown][] | undefined;
  let at = -1;
  for (const key of keys) {
    at += 1;
    const before = given[key];
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    const after = property === undefined ? before : lenientInput(before, property, numbers);
    // Models that count from 0 send 0 for the first line or entry, which is the default.
    const isLeftOut =
      property === undefined
        ? isHostKey(key, before)
        : !required.includes(key) &&
          (isNothing(after) || (numbers === "lenient" && after === 0 && parameters[key]?.type === "position"));
    if (isLeftOut || after !== before) entries ??= keys.slice(0, at).map((same) => [same, given[same]]);
    if (!isLeftOut) entries?.push([key, after]);
  }
  return entries === undefined ? given : Object.fromEntries(entries); // defines keys, so "__proto__" stays a plain key
}

function lenientList(value: unknown, items: JsonSchema, numbers: Dialect["numbers"]): unknown {
  const given = typeof value === "string" ? (parsed(value, "[") ?? parsed(value, "{")) : value;
  // An object in place of a list of objects means a list with one element.
  const list = items.type === "object" && isRecord(given) ? [given] : given;
  if (!Array.isArray(list)) return value;
  const elements: readonly unknown[] = list;
  const after = elements.map((one) => lenientInput(one, items, numbers));
  return after.every((one, index) => one === elements[index]) ? list : after;
}

/** What models send for a parameter that they do not want to set. Zero, false and an empty list are values. */
const isNothing = (value: unknown): boolean => value === null || value === undefined || value === "";

function booleanOf(text: string): string | boolean {
  const word = text.trim().toLowerCase();
  return word === "true" ? true : word === "false" ? false : text;
}

/** The value of a JSON text that begins with this bracket, if it is one. */
function parsed(text: string, bracket: "{" | "["): unknown {
  if (!text.trimStart().startsWith(bracket)) return undefined;
  const result = parseJson(text);
  return "fault" in result ? undefined : result.value;
}

/**
 * Keys that hosts are known to add to the arguments of any tool, or make models add as a reason. They never concern the file.
 * Every other unknown key is refused: ignoring a misspelt parameter would give a wrong answer.
 * docs/behaviour/reading.md lists them with their hosts.
 */
export const hostKeys: ReadonlySet<string> = new Set(
  [
    ["_meta"], // belongs beside the arguments, not into them
    ["wait_for_previous"], // Gemini CLI
    ["waitForPreviousTools", "toolAction", "toolSummary"], // Antigravity
    ["toolCallId", "sessionId", "chatInput"], // n8n
    ["security_risk", "summary"], // OpenHands
    ["request_heartbeat", "inner_thoughts", "thinking"], // Letta
    ["description", "explanation", "reason", "reasoning", "thought"], // asked of models by many hosts
  ].flat(),
);

/** In n8n's chat `action` has only this value; any other may be a model's wish. */
const isHostKey = (key: string, value: unknown): boolean =>
  hostKeys.has(key) || (key === "action" && value === "sendMessage");
