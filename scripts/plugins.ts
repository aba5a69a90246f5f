/**
 * The plugins of agents, from one description: which server, which of the agent's own tools it stands in for. Claude Code, opencode,
 * Gemini CLI and Qwen Code each have their own form.
 */

import { hookClients, type HookClient, ownFileToolsOf } from "../src/dialects/client-tools.ts";
import type { PackageFacts } from "./published.ts";
import opencodeText from "./opencode-plugin.txt";

/** What all of them say. */
const plugin = {
  name: "filehand",
  /** On the PATH: a plugin is copied to the agent's own folder, so it cannot name a file of this one. */
  command: "filehand",
  description: "File tools that keep every byte, ask with the diff and can be undone, instead of the built-in ones",
} as const;

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const ownerOf = ({ repository }: PackageFacts): string =>
  /github\.com\/([\w-]+)\//.exec(repository.url)?.[1] ?? plugin.name;

export function pluginFiles(facts: PackageFacts): Readonly<Record<string, string>> {
  return {
    ".claude-plugin/marketplace.json": json(marketplace(facts)),
    "plugins/claude-code/.claude-plugin/plugin.json": json(manifest(facts)),
    "plugins/claude-code/.mcp.json": json({
      mcpServers: { [plugin.name]: { command: plugin.command, args: ["mcp"] } },
    }),
    "plugins/claude-code/hooks/hooks.json": json(claudeHooks()),
    "plugins/gemini/gemini-extension.json": json(extension(facts, "gemini")),
    "plugins/qwen/qwen-extension.json": json({ ...extension(facts, "qwen"), hooks: qwenHooks() }),
    "plugins/opencode/filehand.js": opencodePlugin(),
    "plugins/README.md": page(),
  };
}

const manifest = (facts: PackageFacts) => ({
  name: plugin.name,
  version: facts.version,
  description: plugin.description,
  author: { name: "The Filehand authors" },
  license: facts.license,
});

const marketplace = (facts: PackageFacts) => ({
  name: plugin.name,
  owner: { name: ownerOf(facts) },
  metadata: { description: plugin.description },
  plugins: [{ name: plugin.name, source: "./plugins/claude-code", description: plugin.description }],
});

/** Refuses its own file tools, allows ours so that only Filehand asks, and makes each command of Bash a turn. */
function claudeHooks() {
  const run = (options: string) => [{ type: "command", command: `${plugin.command} hook claude-code${options}` }];
  const ours = `mcp__plugin_${plugin.name}_${plugin.name}__.*`;
  const before = ["Bash", ...ownFileToolsOf("claude-code"), ours].join("|");
  return {
    description: "Filehand instead of the built-in file tools; what Bash changes can be undone",
    hooks: {
      PreToolUse: [{ matcher: before, hooks: run(" --replace-builtins") }],
      PostToolUse: [{ matcher: "Bash", hooks: run("") }],
      PostToolUseFailure: [{ matcher: "Bash", hooks: run("") }],
      Stop: [{ hooks: run("") }],
    },
  };
}

/** These clients show no questions of a server: they ask by themselves before they call a tool, and Filehand does not ask again. */
const extension = (facts: PackageFacts, client: HookClient) => ({
  name: plugin.name,
  version: facts.version,
  description: plugin.description,
  mcpServers: { [plugin.name]: { command: plugin.command, args: ["mcp", "--allow", "Edit"] } },
  excludeTools: ownFileToolsOf(client),
});

/** Qwen Code 0.24 does not follow `excludeTools` of an extension: a hook refuses its own file tools with the advice to use ours. */
const qwenHooks = () => ({
  PreToolUse: [
    {
      matcher: `^(${ownFileToolsOf("qwen").join("|")})$`,
      hooks: [{ type: "command", command: `${plugin.command} hook qwen --replace-builtins` }],
    },
  ],
});

/** opencode takes tools of a plugin instead of its own if they have the same name. Models of the GPT family get `apply_patch`. */
const opencodeNames = ["read", "edit", "write", "grep", "glob", "list", "patch", "apply_patch"] as const;

/** The program is a text beside this file; what differs is the table of names. */
const opencodePlugin = (): string => {
  const table = Object.fromEntries(opencodeNames.map((name) => [name, name === "apply_patch" ? "patch" : name]));
  return opencodeText.replace("NAMES", JSON.stringify(table));
};

const page = (): string =>
  [
    "<!-- Made by npm run generate from the code; do not edit. -->",
    "",
    "# Plugins",
    "",
    "Filehand instead of an agent's own file tools, installed by the agent's own command. The command `filehand` must be on the PATH",
    "(opencode's plugin needs only this package, and `node` there). `filehand init CLIENT --replace-builtins` does the same",
    "through settings; use one of the two. In a clone, or in the folder of the installed package:",
    "",
    "| agent | install | take out |",
    "| ----- | ------- | -------- |",
    `| ${hookClients["claude-code"]} | \`claude plugin marketplace add .\` and \`claude plugin install filehand@filehand\` | \`claude plugin uninstall filehand@filehand\` |`,
    `| ${hookClients.gemini} | \`gemini extensions install plugins/gemini\` | \`gemini extensions uninstall filehand\` |`,
    `| ${hookClients.qwen} | \`qwen extensions install plugins/qwen\` | \`qwen extensions uninstall filehand\` |`,
    `| ${hookClients.opencode} | \`"plugin": ["file:///path/to/plugins/opencode/filehand.js"]\` in opencode.json | take that line out |`,
    "",
    "- **Claude Code:** the server, and hooks around tools. Its own Read, Edit, Write, MultiEdit, NotebookEdit, Grep and Glob are refused",
    "  with the advice to use ours; ours are allowed, so only Filehand asks, with the diff; each command of Bash becomes a turn that",
    "  `filehand undo` takes back ([shell commands](../docs/behaviour/shell-commands.md)).",
    "- **opencode:** `read`, `edit`, `write`, `grep`, `glob`, `list` and `patch` (also as `apply_patch`) are ours, in the `opencode` dialect.",
    "  Questions are opencode's own. The work is done by one `filehand mcp` beside it: in opencode's own Bun the native parts end the",
    "  whole process.",
    "- **Gemini CLI:** the server, and its own file tools excluded. It asks before it calls a tool, and Filehand does not ask again",
    "  (`--allow Edit`).",
    "- **Qwen Code:** the same, and a hook that refuses its own file tools: version 0.24 does not exclude them for an extension.",
    "",
    "Which agent was seen to do what is in [docs/clients/capabilities.md](../docs/clients/capabilities.md).",
    "",
  ].join("\n");
