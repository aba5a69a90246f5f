/** The tools of a dialect as `tools/list` shows them: all four hints, the dialect's own lean schemas, its own words. */

import type { Tool } from "@modelcontextprotocol/server";
import type { ToolDefinition } from "../../contract/call.ts";
import { metaNames } from "./names.ts";

/** The most that Claude Code lets a tool ask for. A page of the `claude` dialect is above its default of 50,000. */
const resultCharsMax = 500_000;

/** What a model needs in nearly every turn. */
const alwaysLoaded: ReadonlySet<string> = new Set(["read", "edit", "write", "glob", "grep"]);

export const toolsOf = (definitions: readonly ToolDefinition[]): Tool[] =>
  definitions.map(({ name, verb, description, inputSchema, readOnly }) => ({
    name,
    description,
    // Every card's schema is an object at its root, as the protocol wants it; ours is the narrower type of JSON.
    inputSchema: inputSchema as Tool["inputSchema"],
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
