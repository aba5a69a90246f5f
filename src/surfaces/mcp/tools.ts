/** The tools of a dialect as `tools/list` shows them: all four hints, the dialect's own lean schemas, its own words. */

import type { Tool } from "@modelcontextprotocol/server";
import type { JsonSchema, ToolDefinition } from "../../contract/call.ts";
import { metaNames } from "./names.ts";

/** The most that Claude Code lets a tool ask for. A page of the `claude` dialect is above its default of 50,000. */
const resultCharsMax = 500_000;

/** What a model needs in nearly every turn. */
const alwaysLoaded: ReadonlySet<string> = new Set(["read", "edit", "write", "glob", "grep"]);

export const toolsOf = (definitions: readonly ToolDefinition[]): Tool[] =>
  definitions.map(({ name, verb, description, inputSchema, readOnly }) => ({
    name,
    description,
    inputSchema: lean(inputSchema) as Tool["inputSchema"], // every card's schema is an object at its root
    annotations: {
      readOnlyHint: readOnly,
      destructiveHint: !readOnly,
      // The same content written twice is there once; any other change does not go a second time.
      idempotentHint: readOnly || verb === "write",
      openWorldHint: false,
    },
    _meta: {
      ...(readOnly ? { [metaNames.anthropicResultChars]: resultCharsMax } : {}),
      ...(alwaysLoaded.has(verb) ? { [metaNames.anthropicAlwaysLoad]: true } : {}),
    },
  }));

/**
 * Every client hands the schemas to the model, in every conversation. What only says no is left out: the dialect says it
 * better, when it comes to that.
 */
function lean(given: JsonSchema): JsonSchema {
  const { additionalProperties, maximum: _, minimum, default: usual, ...schema } = given;
  const { properties, items } = schema;
  return {
    ...schema,
    ...(additionalProperties === undefined || additionalProperties === false ? {} : { additionalProperties }),
    ...(minimum === undefined || minimum === 0 ? {} : { minimum }),
    ...(usual === undefined || usual === false ? {} : { default: usual }),
    ...(items === undefined ? {} : { items: lean(items) }),
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, lean(one)])) }),
  };
}
