/** Names and codes that appear on the wire. */

/** The prefix of Filehand's own keys in `_meta`. */
const prefix = "io.github.filehand";

export const metaNames = {
  /** On a request: the conversation it belongs to, if the client names it. */
  session: `${prefix}/session`,
  /** On a result: the code of a failure, the same in all dialects. */
  code: `${prefix}/code`,
  /** Claude Code: a longer result goes into a file. */
  anthropicResultChars: "anthropic/maxResultSizeChars",
  /** Claude Code: the model sees the tool at once, not only after a search for tools. */
  anthropicAlwaysLoad: "anthropic/alwaysLoad",
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  relatedTask: "io.modelcontextprotocol/related-task",
  serverInfo: "io.modelcontextprotocol/serverInfo",
} as const;

/** `metaNames.session` as an HTTP header. */
export const sessionHeader = "filehand-session";

export const tokenScopes = { read: "files:read", write: "files:write" } as const;

/** The principal on stdio, where the transport authenticates no one: the user who started the process. */
export const localPrincipal = "local";

/** How long a person may take to answer a question. */
export const answerSecondsMax = 300;

export const invalidParams = -32602;

/** An error of the protocol. Recognised by its name: the bundle with the SDK, which sends it too, has its own copy of this class. */
export class ProtocolFault extends Error {
  override readonly name = "ProtocolFault";
  readonly code: number;
  readonly data: object | undefined;
  constructor(code: number, message: string, data?: object) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const isProtocolFault = (error: unknown): error is ProtocolFault =>
  error instanceof Error && error.name === "ProtocolFault";
