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
  logLevel: "io.modelcontextprotocol/logLevel",
  relatedTask: "io.modelcontextprotocol/related-task",
  serverInfo: "io.modelcontextprotocol/serverInfo",
} as const;

/** The same as a header of HTTP. */
export const sessionHeader = "filehand-session";

export const tokenScopes = { read: "files:read", write: "files:write" } as const;

/** Who calls where the transport knows nobody: whoever started the process. */
export const localPrincipal = "local";

/** How long a question may stay open. */
export const answerSecondsMax = 300;

/** The code of the protocol for parameters that are refused. */
export const invalidParams = -32602;

/**
 * An error of the protocol, for answers with and without the SDK: the SDK passes on `code`, `message` and `data` of whatever is
 * thrown. Told by its name: the part of the program that has the SDK is bundled with a class of its own.
 */
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
