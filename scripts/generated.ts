/** The files that are made from the code, as path and text. */

import { dialects } from "../src/dialects/index.ts";
import { settingsSchema } from "../src/settings/schema.ts";
import { helpOf, helpOfAll } from "../src/surfaces/cli/help.ts";
import { commands } from "../src/surfaces/cli/commands/index.ts";

const note = "<!-- Made by npm run generate from the code; do not edit. -->";

export function generatedFiles(): Readonly<Record<string, string>> {
  return {
    "settings.schema.json": `${JSON.stringify(settingsSchema(), null, 2)}\n`,
    "docs/command-line.md": commandLinePage(),
    ...Object.fromEntries(
      Object.values(dialects).map((dialect) => [`docs/tools/${dialect.name}.md`, toolsPage(dialect)]),
    ),
  };
}

function toolsPage(dialect: (typeof dialects)["claude"]): string {
  const tools = dialect.cards.flatMap((card) => [
    `## ${card.name}`,
    "",
    ...(card.optIn === undefined ? [] : ["Offered only if the operator has switched it on (`historyTools`).", ""]),
    card.description,
    "",
    "```json",
    JSON.stringify(card.inputSchema, null, 2),
    "```",
    "",
  ]);
  return [
    note,
    "",
    `# The tools of the \`${dialect.name}\` dialect`,
    "",
    "As a model is told about them.",
    "",
    ...tools,
  ].join("\n");
}

function commandLinePage(): string {
  const parts = commands.flatMap((command) => [`## filehand ${command.name}`, "", "```", helpOf(command), "```", ""]);
  return [note, "", "# The command line", "", "```", helpOfAll(), "```", "", ...parts].join("\n");
}
