/** What people call the programs that speak MCP, by the name in `clientInfo`. */

import { shownName } from "../../text/text.ts";

/** The whole name, or a prefix followed by a star. Those with a limit of their own (client-limits.ts) are all here. */
const titles: readonly (readonly [name: string, title: string])[] = [
  ["claude-code", "Claude Code"],
  ["claude-ai", "Claude Desktop"],
  ["codex-mcp-client", "Codex"],
  ["gemini-cli-mcp-client*", "Gemini CLI"],
  ["opencode", "opencode"],
  ["kilo", "Kilo"],
  ["qwen-cli-mcp-client*", "Qwen Code"],
  ["copilot-cli", "Copilot CLI"],
  ["kimi-code", "Kimi Code"],
  ["@cline/core", "Cline"],
  ["goose-cli", "goose"],
  ["continue-cli-client", "Continue"],
  ["cursor-vscode", "Cursor"],
  ["Visual Studio Code*", "VS Code"],
  ["mcp-inspector", "MCP Inspector"],
];

/** What `filehand init` calls the clients that cannot ask, by the title that people know them by. */
export const initNames: ReadonlyMap<string, string> = new Map([
  ["Gemini CLI", "gemini"],
  ["opencode", "opencode"],
  ["Claude Desktop", "claude-desktop"],
  ["Qwen Code", "qwen"],
  ["Kilo", "kilo"],
  ["Kimi Code", "kimi"],
  ["Cline", "cline"],
  ["Continue", "continue"],
]);

/** Local: one column of a list; a client may send any text. */
const titleCharsMax = 60;

/** `name`, `ownTitle`: as the client sent them. Its own words are bounded, and hidden characters in them are escaped. */
export function clientTitle(name: unknown, ownTitle?: unknown): string | undefined {
  const known = titles.find(([one]) => typeof name === "string" && isNamed(name, one));
  if (known !== undefined) return known[1];
  const own = [ownTitle, name].find((text) => typeof text === "string" && text.trim() !== "");
  return typeof own === "string" ? shownName(own.trim(), titleCharsMax) : undefined;
}

/** `known`: the whole name, or a prefix followed by a star. */
export const isNamed = (name: string, known: string): boolean =>
  known.endsWith("*") ? name.startsWith(known.slice(0, -1)) : name === known;
