/**
 * Plain calls of tools over stdio, without the SDK; see `plain-call.ts`. Once the SDK has answered a call of this connection,
 * those of the same kind are answered here: the same envelope, a known tool, nothing but a name and arguments. All else
 * is the SDK's: other methods, other envelopes, answers to questions, calls that must ask a person first, and calls that are
 * traced.
 */

import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import type { Caller } from "./caller.ts";
import type { Desk } from "./desk.ts";
import { localPrincipal } from "./names.ts";
import type { StdioWire } from "./stdio-wire.ts";
import {
  type Id,
  isSameEnvelope,
  legacyAnswer,
  type Meta,
  modernAnswers,
  orInternal,
  plainCall,
  type PlainCall,
  requestName,
  resultOfCall,
} from "./tool-call.ts";

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

export function createLane(
  desk: Desk,
  wire: Pick<StdioWire, "send" | "sendAnswer">,
  passOn: (message: JSONRPCMessage) => void,
): Lane {
  let vetted: (Vetted & { readonly meta: Meta | undefined }) | undefined;
  /** Known tools; true for one that changes nothing. */
  let tools: ReadonlyMap<string, boolean> = new Map();
  const stops = createStops();
  const running = new Map<Id, AbortController>();

  const run = async (message: JSONRPCMessage, call: PlainCall, { era, callerOf }: Vetted): Promise<void> => {
    const { id, name, input, meta } = call;
    const stop = stops.take();
    const { signal } = stop;
    running.set(id, stop);
    const onProgress = progressFor(meta?.["progressToken"], (note) => wire.send({ jsonrpc: "2.0", ...note }));
    const options = onProgress === undefined ? { signal } : { signal, onProgress };
    let lost = (): void => undefined;
    const delivery = { onLost: (told: () => void) => (lost = told) };
    try {
      const caller = await callerOf({ meta, envelope: meta });
      const { session, canAsk } = caller;
      const asksAs = era === "legacy" ? requestName(id) : undefined;
      const called = await orInternal(name, desk, () =>
        desk.approvals.unasked(
          { signal, canAsk, asks: { session: session.id, principal: localPrincipal, tool: name } },
          () => resultOfCall({ name, input, options, delivery, asksAs }, caller, desk),
        ),
      );
      if (signal.aborted) return lost();
      if (called === "ask first") return passOn(message);
      await wire.sendAnswer(id, (era === "modern" ? modernAnswer : legacyAnswer)(id, called));
    } catch (error) {
      // Nobody is there any more, or the call could not even begin.
      lost();
      desk.log("warn", "connection", { message: error instanceof Error ? error.message : String(error) });
    } finally {
      running.delete(id);
      // After a change a language server may still be at work for it.
      if (tools.get(name) === true) stops.giveBack(stop);
    }
  };

  const modernAnswer = modernAnswers(desk);

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
      const call = plainCall(message, tools);
      if (call === undefined || running.has(call.id) || !isSameEnvelope(call.meta, vetted.meta)) return false;
      void run(message, call, vetted);
      return true;
    },
    open(message, found) {
      if (tools.size === 0) tools = new Map(desk.definitions.map(({ name, readOnly }) => [name, readOnly]));
      const call = plainCall(message, tools);
      if (call !== undefined) vetted = { ...found, meta: call.meta };
    },
    close() {
      vetted = undefined;
    },
    end() {
      for (const stop of running.values()) stop.abort();
    },
  };
}

/**
 * Something to stop each call with. To make an AbortController costs more than a look at a file, and nearly no call is ever
 * stopped; so those of calls that are over are used again.
 */

export interface Stops {
  take(): AbortController;
  /** The call is over and nothing of it goes on. One that was aborted is not used again. */
  giveBack(stop: AbortController): void;
}

export function createStops(keptMax = 64): Stops {
  const kept: AbortController[] = [];
  return {
    take: () => kept.pop() ?? new AbortController(),
    giveBack(stop) {
      if (!stop.signal.aborted && kept.length < keptMax) kept.push(stop);
    },
  };
}

/** How far a long call is, told to a client that wants to know: not too often, and never backwards. */

const everyMs = 100;

export interface ProgressNote {
  readonly method: "notifications/progress";
  readonly params: { readonly progressToken: string | number; readonly progress: number; readonly total: number };
}

/** Undefined for a client that gave no token: it wants none. */
export function progressFor(
  token: unknown,
  send: (note: ProgressNote) => Promise<void>,
  nowMs: () => number = () => performance.now(),
): ((done: number, total: number) => void) | undefined {
  if (typeof token !== "string" && typeof token !== "number") return undefined;
  let toldMs = Number.NEGATIVE_INFINITY;
  let told = -1;
  return (done, total) => {
    if (done <= told || nowMs() - toldMs < everyMs) return;
    told = done;
    toldMs = nowMs();
    const params = { progressToken: token, progress: done, total };
    // A client that is gone hears nothing more, and that is all.
    send({ method: "notifications/progress", params }).catch(() => undefined);
  };
}
