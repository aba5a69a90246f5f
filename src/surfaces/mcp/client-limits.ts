/**
 * How much of one answer each client shows to its model. A client truncates a longer answer, or puts it into a file and shows a
 * preview, and the server is not notified. Measured with the versions named here (`npm run test:clients`), by the name in
 * `clientInfo`; each number is a little below what was measured.
 */

import { limits } from "../../contract/limits.ts";
import { isNamed } from "./client-titles.ts";

interface ClientLimit {
  /** The whole name, or a prefix followed by a star. */
  readonly name: string;
  /** Bytes of a result as JSON, which are never fewer than the characters or the bytes of its text. */
  readonly bytesMax: number;
}

export const clientLimits: readonly ClientLimit[] = [
  // Claude Code 2.1: as much as `_meta["anthropic/maxResultSizeChars"]` of the tool asks for (server.ts).
  { name: "claude-code", bytesMax: 500_000 },
  // Codex 0.166: 48,000 bytes for models that it knows, 12,000 for others; which ones it knows depends on its version.
  { name: "codex-mcp-client", bytesMax: 11_500 },
  // Gemini CLI 0.61: 40,000 characters.
  { name: "gemini-cli-mcp-client*", bytesMax: 39_000 },
  // opencode 1.18 and Kilo 7.7: 50 KiB, or 2,000 lines.
  { name: "opencode", bytesMax: 49_000 },
  { name: "kilo", bytesMax: 49_000 },
  // Qwen Code 0.24: between 25,249 and 29,400 characters; its name ends in that of the server.
  { name: "qwen-cli-mcp-client*", bytesMax: 24_500 },
  // Copilot CLI 1.0: between 16,800 and 21,000 bytes.
  { name: "copilot-cli", bytesMax: 16_000 },
  // Kimi Code 2.1: 50,000 characters.
  { name: "kimi-code", bytesMax: 49_000 },
  // Cline CLI 3.0: 8,000 characters of the result as JSON.
  { name: "@cline/core", bytesMax: 7_500 },
  // goose 1.34 and Continue CLI 1.5 show all.
  { name: "goose-cli", bytesMax: limits.mcpResultBytesMax },
  { name: "continue-cli-client", bytesMax: limits.mcpResultBytesMax },
];

/** An unknown client may show as little as the one that shows least. */
const unknownBytesMax = Math.min(...clientLimits.map(({ bytesMax }) => bytesMax));

/** `clientInfo`: as the client sent it. */
export function answerBytesFor(clientInfo: unknown): number {
  const name = (clientInfo as { readonly name?: unknown } | undefined)?.name;
  if (typeof name !== "string") return unknownBytesMax;
  return clientLimits.find((known) => isNamed(name, known.name))?.bytesMax ?? unknownBytesMax;
}
