/** `filehand tools`: what the model is told about the tools of a dialect. */

import { historyTools, languageTools } from "../change-options.ts";
import type { Command } from "../command.ts";
import { openSession } from "../open-session.ts";
import { printJson } from "../print.ts";

export const tools: Command = {
  name: "tools",
  summary: "Show the tools of a dialect as a model sees them",
  parameters: [],
  options: { "history-tools": historyTools, "language-tools": languageTools },
  examples: ["filehand tools", "filehand tools --dialect envelope --json"],
  async run(given, host) {
    const { session } = await openSession(given, host, "models");
    const definitions = session.definitions().map(({ name, description, inputSchema, readOnly }) => ({
      name,
      description,
      inputSchema,
      readOnly,
    }));
    if (given.flag("json")) {
      printJson(definitions, host);
      return 0;
    }
    for (const { name, description, inputSchema } of definitions) {
      const parameters = Object.entries(inputSchema.properties ?? {}).map(([parameter, schema]) => {
        const needed = inputSchema.required?.includes(parameter) ? "" : ", may be left out";
        return `  ${parameter} (${schema.type}${needed}): ${schema.description ?? ""}`;
      });
      host.stdout.write(
        `${[name, "", ...description.split("\n").map((line) => `  ${line}`), "", ...parameters].join("\n")}\n`,
      );
    }
    return 0;
  },
};
