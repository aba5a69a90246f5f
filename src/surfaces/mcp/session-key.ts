/**
 * Which conversation a request belongs to. The key finds what was shown to the model before (the ledger, the turns); it
 * gives no right to anything, and two principals never share one.
 */

import { metaNames } from "./names.ts";

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
