/** Whose request it is, and whether its client can put a question to a person. */

import type { Session } from "../../options.ts";
import { answerBytesFor } from "./client-limits.ts";
import type { Desk } from "./desk.ts";
import { type Origin, sessionKey } from "./session-key.ts";

/** What is known about a request besides its words. */
export interface Caller {
  readonly session: Session;
  /** Can its client put a question to a person? */
  readonly canAsk: boolean;
  /** Bytes of one answer: as much as its client shows to the model. */
  readonly answerBytesMax: number;
}

export interface Asking extends Omit<Origin, "startedFor" | "otherwise"> {
  /** What the client says it can do. */
  readonly capabilities: unknown;
  /** What it says it is: its name and version. */
  readonly clientInfo: unknown;
}

/** `within`: the folders that the client has named, if it has. */
export function callerOf(asking: Asking, desk: Desk, within?: readonly string[]): Caller {
  const { principal, handle, meta, transportSession, capabilities, clientInfo } = asking;
  const { startedFor, otherwise } = desk;
  const key = sessionKey({ principal, handle, meta, transportSession, startedFor, otherwise });
  return {
    session: desk.sessions.find(key, within),
    canAsk: canAsk(capabilities),
    answerBytesMax: Math.min(desk.answerBytesMax ?? answerBytesFor(clientInfo), desk.resultBytesMax),
  };
}

/** A form in the client; one that only opens web pages is no use to us. */
function canAsk(capabilities: unknown): boolean {
  const elicitation = (
    capabilities as { readonly elicitation?: { readonly form?: unknown; readonly url?: unknown } } | undefined
  )?.elicitation; // its shape was checked by the SDK
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
