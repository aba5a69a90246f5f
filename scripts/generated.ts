/** The files that are made from the code, as path and text. */

import { readFileSync } from "node:fs";
import { dialects } from "../src/dialects/index.ts";
import { protectedGroups } from "../src/guard/protected.ts";
import { settingsSchema } from "../src/settings/schema.ts";
import { helpOf, helpOfAll } from "../src/surfaces/cli/help.ts";
import { manPage } from "../src/surfaces/cli/completion.ts";
import { commonOptions } from "../src/surfaces/cli/parse.ts";
import { commands } from "../src/surfaces/cli/commands/index.ts";
import { benchPlots } from "./bench-plots.ts";
import { clientPages } from "./client-pages.ts";
import { inputTypeFiles } from "./input-types.ts";
import { pluginFiles } from "./plugins.ts";
import { referencePages } from "./reference-pages.ts";
import { bundleManifest, type PackageFacts, serverJson, withAddresses } from "./published.ts";
import { vscodeManifest } from "./vscode-manifest.ts";

const note = "<!-- Made by npm run generate from the code; do not edit. -->";

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

export function generatedFiles(): Readonly<Record<string, string>> {
  const packageFile = withAddresses(readFileSync("package.json", "utf8"));
  const facts = JSON.parse(packageFile) as PackageFacts; // our own file
  return {
    "package.json": packageFile,
    "server.json": json(serverJson(facts)),
    "scripts/mcpb-manifest.json": json(bundleManifest(facts)),
    "examples/hosts/vscode/package.json": json(vscodeManifest(facts)),
    ...clientPages(note),
    ...pluginFiles(facts),
    ...inputTypeFiles(),
    ...referencePages(note),
    ...benchPlots(),
    "settings.schema.json": `${JSON.stringify(settingsSchema(), null, 2)}\n`,
    "docs/command-line.md": commandLinePage(),
    "man/filehand.1": manPage(commands, commonOptions, facts.version),
    "docs/behaviour/protected-files.md": protectedPage(),
    ...Object.fromEntries(
      Object.values(dialects).map((dialect) => [`docs/tools/${dialect.name}.md`, toolsPage(dialect)]),
    ),
  };
}

function toolsPage(dialect: (typeof dialects)["claude"]): string {
  const tools = dialect.specs.flatMap((card) => [
    `## ${card.name}`,
    "",
    ...(card.offered === "always"
      ? []
      : [`Offered only if the operator chooses it (\`tools: ["+${card.tool}"]\`).`, ""]),
    card.description,
    "",
    "```json",
    JSON.stringify(card.inputSchema, null, 2),
    "```",
    "",
  ]);
  return [note, "", `# The tools of the \`${dialect.name}\` dialect`, "", "As a model sees them.", "", ...tools].join(
    "\n",
  );
}

function protectedPage(): string {
  const groups = protectedGroups.flatMap(({ what, patterns }) => [
    `## ${what}`,
    "",
    ...patterns.map((pattern) => `- \`${pattern}\``),
    "",
  ]);
  return [
    note,
    "",
    "# Protected files",
    "",
    "These files can run code later, or give an agent instructions. Filehand asks before a tool changes one of them: each time, in every mode,",
    "whatever rules allow ([why](permissions.md#protected-files)). The patterns are those of gitignore, at any depth and in any letter case.",
    "",
    ...groups,
  ].join("\n");
}

function commandLinePage(): string {
  const parts = commands.flatMap((command) => [`## filehand ${command.name}`, "", "```", helpOf(command), "```", ""]);
  return [note, "", "# The command line", "", "```", helpOfAll(), "```", "", ...parts].join("\n");
}
