/** Which conversation a request belongs to, and what its client can do. */

import type { Session } from "../../options.ts";
import { answerBytesFor } from "./client-limits.ts";
import type { McpWorkspace } from "./mcp-workspace.ts";
import { metaNames } from "./names.ts";

/** What is known about a request besides its words. */
export interface Caller {
  readonly session: Session;
  /** Can its client put a question to a person? */
  readonly canAsk: boolean;
  /** Bytes of one answer: as much as its client shows to the model. */
  readonly answerBytesMax: number;
}

export interface ClientRequest extends Omit<Origin, "startedFor" | "otherwise"> {
  /** What the client says it can do. */
  readonly capabilities: unknown;
  /** What it says it is: its name and version. */
  readonly clientInfo: unknown;
}

/** `within`: the folders that the client has named, if it has. */
export function callerOf(request: ClientRequest, workspace: McpWorkspace, within?: readonly string[]): Caller {
  const { principal, handle, meta, transportSession, capabilities, clientInfo } = request;
  const { startedFor, otherwise } = workspace;
  const key = sessionKey({ principal, handle, meta, transportSession, startedFor, otherwise });
  return {
    session: workspace.sessions.find(key, within),
    canAsk: canAsk(capabilities),
    answerBytesMax: Math.min(workspace.answerBytesMax ?? answerBytesFor(clientInfo), workspace.resultBytesMax),
  };
}

/** A form in the client; one that only opens web pages is no use to us. */
function canAsk(capabilities: unknown): boolean {
  const elicitation = (
    capabilities as { readonly elicitation?: { readonly form?: unknown; readonly url?: unknown } } | undefined
  )?.elicitation; // its shape was checked
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

// The key of a conversation finds what was shown to the model before (the ledger, the turns); it gives no right to anything,
// and two principals never share one.

export interface Origin {
  /** Who calls, as the transport knows it: never what a request says about itself. */
  readonly principal: string;
  /** A header of the client's own choosing, where there are headers. */
  readonly handle?: string | undefined;
  /** `_meta` of the request. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** The transport's own session, where it has one. */
  readonly transportSession?: string | undefined;
  /** What the process was started for, on stdio. */
  readonly startedFor?: string | undefined;
  /** What all requests share if nothing else tells them apart: the process, or the workspace. */
  readonly otherwise: string;
}

const keyCharsMax = 256;

/** What a key was made from. */
export type KeyKind = "handle" | "transport" | "thread" | "started for" | "otherwise";

/** The first that is there decides. */
export function sessionKey({ principal, handle, meta, transportSession, startedFor, otherwise }: Origin): string {
  const keyed = (kind: KeyKind, key: string): string => JSON.stringify([principal, kind, key]);
  const named = handle ?? meta?.[metaNames.session];
  if (isKey(named)) return keyed("handle", named);
  if (isKey(transportSession)) return keyed("transport", transportSession);
  const thread = meta?.["threadId"] ?? meta?.["sessionId"]; // Codex
  if (isKey(thread)) return keyed("thread", thread);
  return isKey(startedFor) ? keyed("started for", startedFor) : keyed("otherwise", otherwise);
}

/** The principal and the kind of a key that `sessionKey` made. */
export function keyParts(key: string): { readonly principal: string; readonly kind: KeyKind } {
  const [principal, kind] = JSON.parse(key) as readonly [string, KeyKind, string];
  return { principal, kind };
}

const isKey = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= keyCharsMax;
