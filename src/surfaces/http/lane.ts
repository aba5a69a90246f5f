/**
 * Plain calls of tools that change nothing, of the newer protocol, without the SDK: it makes a server, a request and a stream of
 * the web platform for each of them. Once it has answered a call with a result, those with the same headers and the same
 * envelope are answered here, in the same words; see `mcp/plain-call.ts`. All else is the SDK's, also a call in which a person
 * must be asked.
 */

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { callerOf } from "../mcp/caller.ts";
import type { Desk } from "../mcp/desk.ts";
import { metaNames, sessionHeader } from "../mcp/names.ts";
import { envelopeOf, modernAnswers, type PlainCall, plainCall } from "../mcp/plain-call.ts";
import { createStops } from "../mcp/stops.ts";
import { type Delivery, orInternal, resultOfCall } from "../mcp/tool-call.ts";
import type { Guest } from "./access.ts";

export interface Lane {
  /** Undefined for what must go through the SDK in any case. */
  candidate(headers: IncomingHttpHeaders, body: object): Candidate | undefined;
  /**
   * False if it must go through the SDK after all; then nothing was done and nothing was answered. `entered` is called when the
   * call is in the queue of its session.
   */
  serve(
    candidate: Candidate,
    req: IncomingMessage,
    res: ServerResponse,
    guest: Guest,
    told: { readonly delivery: Delivery; readonly entered: () => void },
  ): Promise<boolean>;
  /** The SDK has answered it with this. */
  answered(candidate: Candidate, status: number, text: string): void;
}

export interface Candidate {
  readonly call: PlainCall;
  /** All that the SDK looks at but the arguments. */
  readonly like: string;
}

/** The headers that the SDK looks at. Others of the protocol have a meaning that only the SDK knows. */
const headersLookedAt = ["content-type", "accept", "mcp-protocol-version", "mcp-method", "mcp-name"] as const;
const known: ReadonlySet<string> = new Set(headersLookedAt);
/** Kinds of calls that are remembered, clients times tools, and how long the words of a client may be for that. */
const likesMax = 1_000;
const likeCharsMax = 2_048;

export function createLane(desk: Desk): Lane {
  let tools: ReadonlySet<string> | undefined;
  const vetted = new Set<string>();
  const stops = createStops();
  const answerText = modernAnswers(desk);

  const work = async ({ call, asking, guest, delivery }: Asked, signal: AbortSignal) => {
    const { name, input } = call;
    const caller = callerOf(asking, desk);
    const { session, canAsk } = caller;
    const asks = { session: session.id, principal: guest.principal, tool: name };
    return orInternal(name, desk, () =>
      desk.approvals.unasked({ signal, canAsk, asks }, () =>
        resultOfCall({ name, input, options: { signal }, delivery }, caller, desk),
      ),
    );
  };

  return {
    candidate(headers, body) {
      tools ??= new Set(desk.definitions.filter(({ readOnly }) => readOnly).map(({ name }) => name));
      const call = plainCall(body, tools);
      // Who wants to hear of progress gets a stream.
      if (call === undefined || call.meta?.["progressToken"] !== undefined) return undefined;
      for (const name in headers) if (name.startsWith("mcp-") && !known.has(name)) return undefined;
      const looks = headersLookedAt.map((name) => headers[name]);
      return { call, like: `${call.name}\n${JSON.stringify(looks)}\n${envelopeOf(call.meta)}` };
    },

    async serve({ call, like }, req, res, guest, { delivery, entered }) {
      if (!vetted.has(like)) return false;
      const stop = stops.take();
      const onClose = (): void => stop.abort();
      res.once("close", onClose);
      const handle = req.headers[sessionHeader];
      const asking = {
        principal: guest.principal,
        handle: typeof handle === "string" ? handle : undefined,
        meta: call.meta,
        capabilities: call.meta?.[metaNames.clientCapabilities],
        clientInfo: call.meta?.[metaNames.clientInfo],
      };
      const asked = { call, asking, guest, delivery };
      const { watchCall } = desk;
      const calling =
        watchCall === undefined
          ? work(asked, stop.signal)
          : watchCall(call.name, call.meta, () => work(asked, stop.signal));
      entered();
      const called = await calling;
      res.off("close", onClose);
      if (called === "ask first") return false;
      if (stop.signal.aborted) return true; // nobody is there any more
      stops.giveBack(stop);
      const text = answerText(call.id, called);
      // Head and body as one text are written at once.
      res.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) }).end(text);
      return true;
    },

    answered({ like }, status, text) {
      if (status !== 200 || like.length > likeCharsMax) return;
      const { result } = JSON.parse(text) as { readonly result?: { readonly resultType?: unknown } }; // the SDK's own
      if (result?.resultType !== "complete") return;
      if (vetted.size >= likesMax) vetted.clear();
      vetted.add(like);
    },
  };
}

interface Asked {
  readonly call: PlainCall;
  readonly asking: Parameters<typeof callerOf>[0];
  readonly guest: Guest;
  readonly delivery: Delivery;
}
