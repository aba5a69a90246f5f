/**
 * Plain calls of tools over stdio, without the SDK. A call through the SDK costs as much again as a small Read: both it and its
 * answer are checked twice against schemas that nothing of ours can fail. So once the SDK has answered a call of this connection,
 * those of the same kind are answered here: the same envelope, a known tool, nothing but a name and arguments. All else
 * is the SDK's: other methods, other envelopes, answers to questions, calls that must ask a person first, and calls that are
 * traced.
 */

import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import type { Desk } from "./desk.ts";
import { envelopeNames, metaNames } from "./names.ts";
import { progressFor } from "./progress.ts";
import { type Caller, orInternal, resultOfCall } from "./tool-call.ts";

type Id = string | number;
type Meta = Readonly<Record<string, unknown>>;

/** What a connection has been found to be. */
export interface Vetted {
  readonly era: "legacy" | "modern";
  readonly callerOf: (origin: {
    readonly meta: Meta | undefined;
    readonly envelope: Meta | undefined;
  }) => Promise<Caller>;
}

export interface Lane {
  /** True if the message needs nobody else. */
  take(message: JSONRPCMessage): boolean;
  /** The SDK has answered this call with a result. */
  open(call: JSONRPCMessage, vetted: Vetted): void;
  /** The SDK got a message that no call may overtake: it must answer one before there are others here. */
  close(): void;
  /** The connection is over. */
  end(): void;
}

interface PlainCall {
  readonly id: Id;
  readonly name: string;
  readonly input: unknown;
  readonly meta: Meta | undefined;
  readonly message: JSONRPCMessage;
}

export function createLane(
  desk: Desk,
  send: (message: JSONRPCMessage) => Promise<void>,
  passOn: (message: JSONRPCMessage) => void,
): Lane {
  let vetted: (Vetted & { readonly envelope: string }) | undefined;
  let names: ReadonlySet<string> = new Set();
  const running = new Map<Id, AbortController>();

  const run = async ({ id, name, input, meta, message }: PlainCall, { era, callerOf }: Vetted): Promise<void> => {
    const stop = new AbortController();
    const { signal } = stop;
    running.set(id, stop);
    const onProgress = progressFor(meta?.["progressToken"], (note) => send({ jsonrpc: "2.0", ...note }));
    const options = onProgress === undefined ? { signal } : { signal, onProgress };
    try {
      const { session, canAsk } = await callerOf({ meta, envelope: meta });
      const called = await orInternal(name, desk, () =>
        desk.approvals.unasked(signal, canAsk, () => resultOfCall({ name, input, options }, session, desk)),
      );
      if (signal.aborted) return;
      if (called === "ask first") return passOn(message);
      await send({ result: era === "modern" ? stamped(called) : called, jsonrpc: "2.0", id });
    } catch (error) {
      // Nobody is there any more, or the call could not even begin.
      desk.log("warn", "connection", { message: error instanceof Error ? error.message : String(error) });
    } finally {
      running.delete(id);
    }
  };

  const serverInfo = { name: desk.name, version: desk.version };
  const stamped = <Result extends { readonly _meta?: object | undefined }>(result: Result) => ({
    ...result,
    resultType: "complete",
    _meta: { ...result._meta, [metaNames.serverInfo]: serverInfo },
  });

  return {
    take(message) {
      const { method, params } = message as {
        readonly method?: unknown;
        readonly params?: { readonly requestId?: Id };
      }; // an object, said the wire
      if (method === "notifications/cancelled") {
        const stop = params?.requestId === undefined ? undefined : running.get(params.requestId);
        stop?.abort();
        return stop !== undefined;
      }
      if (method !== "tools/call" || vetted === undefined || desk.watchCall !== undefined) return false;
      const call = plainCall(message, names);
      if (call === undefined || running.has(call.id) || envelopeOf(call.meta) !== vetted.envelope) return false;
      void run(call, vetted);
      return true;
    },
    open(message, found) {
      if (names.size === 0) names = new Set(desk.definitions.map(({ name }) => name));
      const call = plainCall(message, names);
      if (call !== undefined) vetted = { ...found, envelope: envelopeOf(call.meta) };
    },
    close() {
      vetted = undefined;
    },
    end() {
      for (const stop of running.values()) stop.abort();
    },
  };
}

/** Undefined for a call with anything that the protocol gives a meaning to, beyond the tool and its arguments. */
function plainCall(message: JSONRPCMessage, names: ReadonlySet<string>): PlainCall | undefined {
  const { id, params } = message as Partial<Record<"id" | "params", unknown>>; // each is looked at
  if ((typeof id !== "string" && typeof id !== "number") || !isRecord(params)) return undefined;
  for (const key in params) if (key !== "name" && key !== "arguments" && key !== "_meta") return undefined;
  const { name, arguments: input = {}, _meta: meta } = params;
  if (typeof name !== "string" || !names.has(name) || !isRecord(input)) return undefined;
  if (meta !== undefined && (!isRecord(meta) || !isPlainMeta(meta))) return undefined;
  return { id, name, input, meta, message };
}

/** A token for progress, what clients say about themselves, and the envelope; nothing else that the protocol has reserved. */
function isPlainMeta(meta: Meta): boolean {
  for (const key in meta) {
    if (key.startsWith("io.modelcontextprotocol/") && !envelopeNames.includes(key)) return false;
  }
  const token = meta["progressToken"];
  return token === undefined || typeof token === "string" || Number.isSafeInteger(token);
}

const envelopeOf = (meta: Meta | undefined): string =>
  meta === undefined ? "" : JSON.stringify(envelopeNames.map((name) => meta[name]));

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
