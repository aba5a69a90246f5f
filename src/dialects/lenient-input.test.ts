import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { describe, test } from "vitest";
import type { JsonSchema } from "../contract/call.ts";
import { Problem } from "../contract/problem.ts";
import { dialectNames, dialects } from "./index.ts";
import { hostKeys, lenientInput, requestOf } from "./lenient-input.ts";
import { position } from "./parameters.ts";

const schema: JsonSchema = {
  type: "object",
  properties: {
    path: { type: "string" },
    where: { type: "string" },
    kind: { type: "string", enum: ["code", "markdown"] },
    offset: { type: "integer", minimum: 1 },
    skip: { type: "integer", minimum: 0 },
    limit: { type: "integer", minimum: 1 },
    all: { type: "boolean" },
    ignore: { type: "array", items: { type: "string" } },
    edits: {
      type: "array",
      items: {
        type: "object",
        properties: { old_string: { type: "string" }, replace_all: { type: "boolean" } },
        required: ["old_string"],
      },
    },
  },
  required: ["path"],
};

const parameters = { offset: position("from", "First line") };

const edit = { old_string: ' [1] "5" ' };

for (const [name, sent, meant] of [
  [
    "what GPT-5 sends to read a text file",
    { path: "a", limit: 2000, offset: 0, where: "" },
    { path: "a", limit: 2000 },
  ],
  ["null for every optional parameter", { path: "a", where: null, limit: null, all: null, edits: null }, { path: "a" }],
  ["undefined counts as left out", { path: "a", where: undefined }, { path: "a" }],
  ["an empty text for a number, a boolean, a list", { path: "a", limit: "", all: "", ignore: "" }, { path: "a" }],
  ["an empty text for a choice", { path: "a", kind: "" }, { path: "a" }],
  ["integers as texts", { path: "a", offset: "5", limit: " +10 " }, { path: "a", offset: 5, limit: 10 }],
  ["zero as a text is the beginning too", { path: "a", offset: "0" }, { path: "a" }],
  ["booleans as texts", { path: "a", all: "true" }, { path: "a", all: true }],
  ["booleans as Python writes them", { path: "a", all: "False" }, { path: "a", all: false }],
  ["a list as JSON", { path: "a", edits: JSON.stringify([edit]) }, { path: "a", edits: [edit] }],
  ["a list of JSON texts", { path: "a", edits: [JSON.stringify(edit)] }, { path: "a", edits: [edit] }],
  ["one object instead of a list of objects", { path: "a", edits: edit }, { path: "a", edits: [edit] }],
  ["one object as JSON", { path: "a", edits: JSON.stringify(edit) }, { path: "a", edits: [edit] }],
  ["a list of texts as JSON", { path: "a", ignore: '["*.log"]' }, { path: "a", ignore: ["*.log"] }],
  ["all arguments as JSON", '{"path":"a","limit":"5"}', { path: "a", limit: 5 }],
  [
    "what is inside of an element",
    { path: "a", edits: [{ ...edit, replace_all: "true", reason: "typo" }] },
    { path: "a", edits: [{ ...edit, replace_all: true }] },
  ],
  ["a key that a host adds", { path: "a", wait_for_previous: true, _meta: {} }, { path: "a" }],
  ["n8n's chat", { path: "a", action: "sendMessage", chatInput: "hi", sessionId: "1", toolCallId: "2" }, { path: "a" }],
] as const) {
  test(`taken for what is meant: ${name}`, () => deepEqual(lenientInput(sent, schema, "lenient", parameters), meant));
}

for (const [name, sent] of [
  ["a string parameter that looks like another type", { path: "5", where: "true" }],
  ["a string parameter that looks like nothing", { path: "null", where: "undefined" }],
  ["a required parameter that is empty or null", { path: "" }],
  ["a required null", { path: null }],
  ["a number for a string", { path: 5 }],
  ["zero where it is a value", { path: "a", skip: 0 }],
  ["zero for a limit: none or all?", { path: "a", limit: 0 }],
  ["an empty list: none or all?", { path: "a", ignore: [] }],
  ["a negative offset", { path: "a", offset: -1 }],
  ["numbers that are not exactly one integer", { path: "a", offset: "1.0", limit: "1e3" }],
  ["1 for true", { path: "a", all: 1 }],
  ["a yes", { path: "a", all: "yes" }],
  ["one text for a list of texts", { path: "a", ignore: "*.log" }],
  ["a pattern that begins like a list", { path: "a", ignore: "[ab]*.log" }],
  ["JSON that was cut off", { path: "a", edits: '[{"old_string":"x' }],
  ["JSON of something else", { path: "a", ignore: "{}" }],
  ["an unknown key", { path: "a", replace: true }],
  ["an unknown key with nothing in it", { path: "a", pages: "" }],
  ["an action that may be meant", { path: "a", action: "delete" }],
  ["a key of every object", { path: "a", constructor: "x", toString: null }],
  ["no object", 5],
  ["a text that is no JSON", "path"],
  ["a list", []],
] satisfies readonly (readonly [string, unknown])[]) {
  test(`left to the strict schema: ${name}`, () =>
    equal(lenientInput(sent, schema, "lenient", parameters), sent as unknown));
}

test("a key named __proto__ stays a key, and stays unknown", () => {
  const meant = lenientInput(JSON.parse('{"path":"a","limit":"5","__proto__":{"all":true}}'), schema, "lenient");
  deepEqual(Object.keys(meant as object), ["path", "limit", "__proto__"]);
  equal((meant as { all?: unknown }).all, undefined);
});

test("literal numbers: neither texts nor zero, and the rest as everywhere", () => {
  const sent = { path: "a", offset: "5", limit: 0, all: "true", where: null };
  deepEqual(lenientInput(sent, schema, "literal", parameters), { path: "a", offset: "5", limit: 0, all: true });
  const zero = { path: "a", offset: 0 };
  equal(lenientInput(zero, schema, "literal", parameters), zero);
});

test("a name that models use for a parameter is that parameter, and the schema does not list it", () => {
  const grep = dialects.claude.specs.find(({ name }) => name === "Grep");
  if (grep === undefined) throw new Error("there is no Grep");
  const asked = (input: object) =>
    requestOf(grep, { pattern: "x", ...input }, dialects.claude, dialects.claude.profile);
  deepEqual(asked({ context: "3" }), asked({ "-C": 3 }));
  deepEqual(asked({ context: 3, "-C": 3 }), asked({ "-C": 3 }));
  throws(() => asked({ context: 3, "-C": 4 }), Problem);
  ok(!("context" in (grep.inputSchema.properties ?? {})));
});

/** Calls of every tool of every dialect, with what may be left out sent as nothing. */
describe.each(dialectNames)("%s", (name) => {
  const dialect = dialects[name];
  const required = (key: string, property: JsonSchema): unknown => {
    if (property.type === "array") return [Object.fromEntries(requiredOf(property.items ?? {}))];
    return property.enum?.[0] ?? (key === "lines" ? "120-124" : "a *** b");
  };
  const requiredOf = ({ properties = {}, required: names = [] }: JsonSchema): readonly [string, unknown][] =>
    names.map((key) => [key, required(key, properties[key] ?? {})]);

  test.each(dialect.specs.map((spec) => [spec.name, spec] as const))("%s", (_, spec) => {
    const plain = Object.fromEntries(requiredOf(spec.inputSchema));
    const optional = Object.keys(spec.inputSchema.properties ?? {}).filter((key) => !(key in plain));
    const request = requestOf(spec, plain, dialect, dialect.profile);
    for (const nothing of [null, undefined, ""]) {
      const sent = { ...plain, ...Object.fromEntries(optional.map((key) => [key, nothing])) };
      deepEqual(requestOf(spec, sent, dialect, dialect.profile), request);
    }
    deepEqual(requestOf(spec, JSON.stringify(plain), dialect, dialect.profile), request);
    for (const key of hostKeys) {
      ok(!(key in (spec.inputSchema.properties ?? {})), `${key} is a parameter of ${spec.name}`);
      deepEqual(requestOf(spec, { ...plain, [key]: "x" }, dialect, dialect.profile), request);
    }
    throws(() => requestOf(spec, { ...plain, zzz: "" }, dialect, dialect.profile), Problem);
  });
});
