/** The client side of the Agent Client Protocol's file requests: `fs/read_text_file` and `fs/write_text_file`. */

import { isAbsolute } from "node:path";
import {
  type ClientCapabilities,
  type ReadTextFileRequest,
  type ReadTextFileResponse,
  RequestError,
  type WriteTextFileRequest,
  type WriteTextFileResponse,
} from "@agentclientprotocol/sdk";
import type { Filehand, Session } from "../../options.ts";
import { dropOldest } from "../../contract/common.ts";
import { lineNumber } from "../../contract/target.ts";
import type { Reply } from "../../contract/call.ts";
import type { Profile } from "../../contract/profile.ts";
import { defaultDialect, exactText, type ExactText } from "../../dialects/dialects.ts";
import { withSignal } from "./offered.ts";

/** The part of the SDK's request that the handlers use. */
export interface FileRequest<Params> {
  readonly params: Params;
  readonly signal?: AbortSignal;
}

export interface ClientFiles {
  /** For the `clientCapabilities` of `initialize`. */
  readonly capabilities: Required<Pick<ClientCapabilities, "fs">>;
  /** For `client().onRequest("fs/read_text_file", …)`. */
  readonly readTextFile: (request: FileRequest<ReadTextFileRequest>) => Promise<ReadTextFileResponse>;
  /** For `client().onRequest("fs/write_text_file", …)`. */
  readonly writeTextFile: (request: FileRequest<WriteTextFileRequest>) => Promise<WriteTextFileResponse>;
  /** Forgets what the conversation has read. */
  readonly close: (sessionId: string) => void;
}

/** Agents choose the names of their sessions, so their number is limited. */
const sessionsMax = 100;

/** Every session of the protocol is a session of Filehand, which knows what its agent has read. */
export function clientFiles(filehand: Filehand): ClientFiles {
  const sessions = new Map<string, Session>();
  const sessionOf = (id: string): Session => {
    const session = sessions.get(id) ?? filehand.session({ dialect: defaultDialect, id });
    sessions.delete(id);
    sessions.set(id, session);
    dropOldest(sessions, sessionsMax);
    return session;
  };
  return {
    capabilities: { fs: { readTextFile: true, writeTextFile: true } },
    readTextFile: async ({ params: { sessionId, path, line, limit }, signal }) => {
      requireAbsolute(path);
      const range = { from: lineNumber(Math.max(1, line ?? 1)), linesMax: limit ?? Number.POSITIVE_INFINITY };
      if (range.linesMax === 0) return { content: "" };
      const { reply } = await sessionOf(sessionId).run(
        (profile) => ({ verb: "read", path, ranges: [range], overBudget: "first page", profile: exact(profile) }),
        { ...withSignal(signal), words: exactText },
      );
      throwFailure(reply, path);
      const { text, whole } = reply.structured as ExactText; // the wording of this adapter returns it for a read
      if (whole) return { content: text };
      throw new RequestError(-32602, `Cannot read ${path} at once: it is too large, ask for lines with line and limit`);
    },
    writeTextFile: async ({ params: { sessionId, path, content }, signal }) => {
      requireAbsolute(path);
      const session = sessionOf(sessionId);
      const { reply } = await session.run((profile) => ({ verb: "write", path, content, profile }), withSignal(signal));
      throwFailure(reply, path);
      return {};
    },
    close: (sessionId) => void sessions.delete(sessionId),
  };
}

function requireAbsolute(path: string): void {
  if (!isAbsolute(path))
    throw new RequestError(-32602, `Cannot use the path ${path}: the protocol's paths are absolute`);
}

/** The exact text: no line is cut or left out, and a file that is not text is refused. */
const exact = (profile: Profile): Profile => ({
  ...profile,
  lines: "split",
  lineCharsMax: Number.POSITIVE_INFINITY,
  pageBytesMax: 32 * 2 ** 20,
  pageTokensMax: undefined,
  numbers: undefined,
  total: "at the end",
  pastEnd: "empty",
  repeats: "content",
  kinds: { directory: "refuse", image: "skip", pdf: "skip", notebook: "skip", office: "skip" },
});

/** JSON-RPC has numbers for failures; our code is in the data of the error. */
const numbers: Readonly<Record<string, number>> = {
  NOT_FOUND: -32002,
  INVALID_PARAM: -32602,
  CANCELLED: -32800,
};

function throwFailure({ error }: Reply, path: string): void {
  if (error === undefined) return;
  throw new RequestError(numbers[error.code] ?? -32603, error.message, { code: error.code, path });
}
