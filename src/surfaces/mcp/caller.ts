/** Which conversation a request belongs to, and what its client can do. */

import type { Session } from "../../options.ts";
import { answerBytesFor } from "./client-limits.ts";
import { clientTitle } from "./client-titles.ts";
import type { Meta } from "./envelope.ts";
import type { McpWorkspace } from "./mcp-workspace.ts";
import { metaNames } from "./names.ts";

export interface Caller {
  readonly session: Session;
  /** The name of its conversation, if its client gives one. */
  readonly conversation: string | undefined;
  /** What people call its client, if it gave a name. */
  readonly client: string | undefined;
  /** Can its client show a question to a person? */
  readonly canAsk: boolean;
  /** Bytes of one answer that its client shows to the model. */
  readonly answerBytesMax: number;
}

/** What a client says about itself, as it sent it: in each request or, in the older protocol, once. */
interface Client {
  readonly capabilities?: unknown;
  readonly clientInfo?: unknown;
}

/** The newer protocol. */
export const clientOf = (meta: Meta | undefined): Client => ({
  capabilities: meta?.[metaNames.clientCapabilities],
  clientInfo: meta?.[metaNames.clientInfo],
});

/** `within`: the folders that the client has named, if any. */
export function callerOf(
  { principal, handle, meta, transportSession }: Omit<Origin, "startedFor" | "otherwise">,
  { capabilities, clientInfo }: Client,
  workspace: McpWorkspace,
  within?: readonly string[],
): Caller {
  const { startedFor } = workspace;
  const { name, title } = (clientInfo ?? {}) as { readonly name?: unknown; readonly title?: unknown };
  const client = clientTitle(name, title);
  const otherwise = workspace.otherwise(client);
  const key = sessionKey({ principal, handle, meta, transportSession, startedFor, otherwise });
  return {
    session: workspace.sessions.find(key, within, client),
    conversation: conversationOf(key),
    client,
    canAsk: canAsk(capabilities),
    answerBytesMax: Math.min(workspace.answerBytesMax ?? answerBytesFor(clientInfo), workspace.resultBytesMax),
  };
}

/** The client must be able to show a form; opening web pages alone is not enough. */
function canAsk(capabilities: unknown): boolean {
  const elicitation = (
    capabilities as { readonly elicitation?: { readonly form?: unknown; readonly url?: unknown } } | undefined
  )?.elicitation; // the envelope check or the SDK has checked its shape
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** What the key of a conversation is made from. The key grants no rights, and two principals never share one. */
export interface Origin {
  /** As the transport authenticated it, never what a request claims about itself. */
  readonly principal: string;
  /** The value of `sessionHeader`, which the client chooses. */
  readonly handle?: string | undefined;
  /** `_meta` of the request. */
  readonly meta?: Meta | undefined;
  /** The session of the transport, if it has one. */
  readonly transportSession?: string | undefined;
  /** On stdio: the conversation that the process was started for. */
  readonly startedFor?: string | undefined;
  /** Identifies requests that nothing else tells apart: the process, or the workspace. */
  readonly otherwise: string;
}

/** A longer text is no id: keys stay in memory for every session. */
const keyCharsMax = 256;

export type KeyKind = "handle" | "transport" | "thread" | "started for" | "otherwise";

/** The first part that is given decides. */
export function sessionKey({ principal, handle, meta, transportSession, startedFor, otherwise }: Origin): string {
  const keyed = (kind: KeyKind, key: string): string => JSON.stringify([principal, kind, key]);
  const named = handle ?? meta?.[metaNames.session];
  if (isKey(named)) return keyed("handle", named);
  if (isKey(transportSession)) return keyed("transport", transportSession);
  const thread = meta?.["threadId"] ?? meta?.["sessionId"]; // Codex
  if (isKey(thread)) return keyed("thread", thread);
  return isKey(startedFor) ? keyed("started for", startedFor) : keyed("otherwise", otherwise);
}

/** The parts of a key that `sessionKey` made. */
export function keyParts(key: string): {
  readonly principal: string;
  readonly kind: KeyKind;
  readonly id: string;
} {
  const [principal, kind, id] = JSON.parse(key) as readonly [string, KeyKind, string];
  return { principal, kind, id };
}

/** The conversation by the id that its client gives to hooks as well; undefined if the client names none. */
export function conversationOf(key: string): string | undefined {
  const { kind, id } = keyParts(key);
  return namesConversation.has(kind) ? id : undefined;
}

/** Kinds of keys that name the same conversation in the next process. The others end with the process or the connection. */
export const namesConversation: ReadonlySet<KeyKind> = new Set(["handle", "thread", "started for"]);

const isKey = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= keyCharsMax;
