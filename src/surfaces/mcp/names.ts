/** Names that stand on the wire, in one place. */

/** Our prefix in `_meta`: what stands under it is Filehand's. */
const prefix = "io.github.filehand";

export const metaNames = {
  /** On a request: the conversation it belongs to, where the client wants to say so itself. */
  session: `${prefix}/session`,
  /** On a result: the code of a failure, the same in all dialects. */
  code: `${prefix}/code`,
  /** Claude Code: how much of a result it shows before it puts it into a file. */
  anthropicResultChars: "anthropic/maxResultSizeChars",
  /** Claude Code: shown to the model at once, not only after a search for tools. */
  anthropicAlwaysLoad: "anthropic/alwaysLoad",
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  serverInfo: "io.modelcontextprotocol/serverInfo",
} as const;

/** What the newer protocol wants of every request, and what it may bring. */
export const envelopeNames: readonly string[] = [
  metaNames.protocolVersion,
  metaNames.clientInfo,
  metaNames.clientCapabilities,
  "io.modelcontextprotocol/logLevel",
];

/** The same as a header of HTTP. */
export const sessionHeader = "filehand-session";

export const scopes = { read: "files:read", write: "files:write" } as const;

/** Who calls where the transport knows nobody: whoever started the process. */
export const localPrincipal = "local";

/** How long a question may stay open. */
export const answerSecondsMax = 300;
