/** Reading a path in any dialect, and what every refusal has to look like. */

import { deepEqual, equal, ok } from "node:assert/strict";
import type { Reply } from "../../src/contract/call.ts";
import type { Code } from "../../src/contract/problem.ts";
import type { DialectName } from "../../src/dialects/index.ts";
import {
  createFilehand,
  type FilehandOptions,
  type Profile,
  type Request,
  type RunOptions,
  type Session,
} from "../../src/index.ts";

/** How each dialect is asked to read. */
export const readCalls = {
  claude: { tool: "Read", parameter: "file_path" },
  opencode: { tool: "read", parameter: "filePath" },
  "opencode-legacy": { tool: "read", parameter: "filePath" },
  envelope: { tool: "Read", parameter: "path" },
} as const satisfies Record<DialectName, { readonly tool: string; readonly parameter: string }>;

export const everyDialect = Object.keys(readCalls) as readonly DialectName[]; // the keys of the literal above

/** A neutral request, of which only the reply is looked at. */
export const replyTo = async (
  session: Session,
  request: (profile: Profile) => Request,
  options?: RunOptions,
): Promise<Reply> => (await session.run(request, options)).reply;

export type Reader = (path: string) => Promise<Reply>;

/** A session that reads paths in one dialect. */
export function readerIn(dialect: DialectName, options: FilehandOptions): Reader {
  const session = createFilehand({ dedup: false, ...options }).session({ dialect });
  const { tool, parameter } = readCalls[dialect];
  return (path) => session.call(tool, { [parameter]: path });
}

/** Reads a path in every dialect, each in a new session. */
export async function readInEvery(
  options: FilehandOptions,
  path: string,
  check: (reply: Reply, dialect: DialectName) => void,
): Promise<void> {
  for (const dialect of everyDialect) check(await readerIn(dialect, options)(path), dialect);
}

/** What the model reads. */
export const textOf = (reply: Reply): string =>
  reply.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");

/** Everything of a reply, as it goes over a wire. */
export const wholeOf = (reply: Reply): string => JSON.stringify(reply);

/** `hidden`: what must not stand anywhere in the reply. */
export function refused(reply: Reply, code: Code, hidden: readonly string[] = []): void {
  equal(reply.isError, true, `not refused: ${wholeOf(reply)}`);
  equal(reply.error?.code, code, wholeOf(reply));
  const whole = wholeOf(reply);
  deepEqual(
    hidden.filter((text) => whole.includes(text)),
    [],
    whole,
  );
  ok(!/\bat .+:\d+:\d+|node:internal/.test(whole), `a stack trace: ${whole}`);
}

export function shows(reply: Reply, content: string): void {
  equal(reply.isError, false, wholeOf(reply));
  ok(textOf(reply).includes(content), `"${content}" is not in ${wholeOf(reply)}`);
}
