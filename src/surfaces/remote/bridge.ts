/**
 * `filehand mcp ssh://…`: a client here, the server beside the files. Messages pass as they are. If the connection is lost, the bridge
 * comes back under the same id, and the server there reports what became of the calls, so that no change is made twice.
 */

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { isRecord } from "../../contract/common.ts";
import { limits } from "../../contract/limits.ts";
import { lostCallSentences } from "../../dialects/dialects.ts";
import type { Receipt } from "../../state/state.ts";
import { hasEnvelope, type Id, isId } from "../mcp/envelope.ts";
import { Lines } from "../mcp/stdio-wire.ts";
import { type Launch, type Launched, launch, LaunchError } from "./launch.ts";

export { LaunchError };

export interface BridgeNeeds extends Omit<Launch, "bridge" | "startedFor"> {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly startedFor: string | undefined;
  /** Before each new try; given by tests. */
  readonly waitsMs?: readonly number[];
}

/** The first line of a server that a bridge started. */
export interface BridgeGreeting {
  readonly filehandBridge: {
    /** Undefined where the server can keep no receipts: what was lost is then unknown. */
    readonly receipts: readonly Receipt[] | undefined;
  };
}

/** A machine that restarts its network is back within half a minute. */
const usualWaitsMs = [0, 1_000, 2_000, 4_000, 8_000, 16_000];
/** Messages of the client that wait for a connection; then its stdin is not read. */
const waitingMax = 1_000;
/** The server there lets running calls finish for 10 s. */
const lastWordsMs = 12_000;
/** Of JSON-RPC: no result is known. */
const connectionFault = -32_000;

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/** A request of the client without an answer. */
interface Pending {
  readonly id: Id;
  readonly line: string;
  readonly message: Message;
}

/** Resolves when the client is gone. Rejects with a `LaunchError` if the server never started. */
export async function runBridge(needs: BridgeNeeds): Promise<void> {
  const { place, stdin, stdout, signal } = needs;
  const bridge = randomUUID();
  const session = { ...needs, bridge, startedFor: needs.startedFor ?? bridge };
  const pending = new Map<Id, Pending>();
  /** What a server of the older protocol must hear first. */
  const opening: { initialize?: Pending; initialized?: string } = {};
  let waiting: string[] = [];
  let far: Connection | undefined;
  let connecting: Promise<void> | undefined;
  let connections = 0;
  let isOver = false;

  const toClient = (message: object): void => void stdout.write(`${JSON.stringify(message)}\n`);
  const fail = (id: Id | null, message: string): void =>
    toClient({ jsonrpc: "2.0", id, error: { code: connectionFault, message } });

  const send = (line: string): void => {
    if (far !== undefined) {
      if (far.send(line)) return;
      stdin.pause();
      far.onDrain(() => stdin.resume());
      return;
    }
    waiting.push(line);
    if (waiting.length >= waitingMax) stdin.pause();
    reconnect();
  };

  const onClientLine = (line: string): void => {
    const message = parsed(line);
    if (message === undefined) return send(line); // the server there says what is wrong with it
    const { id, method, params } = message;
    if (isId(id) && typeof method === "string") {
      const request = { id, line, message };
      pending.set(id, request);
      if (method === "initialize") opening.initialize = request;
    } else if (method === "notifications/initialized") opening.initialized = line;
    else if (method === "notifications/cancelled" && isRecord(params))
      pending.delete(params["requestId"] as Id); // a value of another type is no key of the map
    else if (isId(id) && method === undefined) {
      // Only a question of this connection can be answered: an older one was about a call that has ended.
      const own = far?.ownId(id);
      if (own !== undefined) send(JSON.stringify({ ...message, id: own }));
      return;
    }
    send(line);
  };

  const connect = async (): Promise<void> => {
    const launched = await launch(session);
    const connection = openConnection(launched, (connections += 1), {
      client: stdout,
      onAnswer: (id) => void pending.delete(id),
    });
    const greeting = await connection.greeting;
    if (greeting === undefined) throw new LaunchError(`Cannot start Filehand at "${place.shown}": see above`);
    void connection.over.then(() => {
      if (far === connection) far = undefined;
      if (isOver || far !== undefined) return;
      needs.stderr.write(`filehand: the connection to ${place.shown} was lost\n`);
      connection.withdraw(toClient);
      if (pending.size > 0) reconnect();
    });
    if (connections > 1) repeat(connection, greeting.filehandBridge.receipts);
    far = connection;
    const lines = waiting;
    waiting = [];
    for (const line of lines) connection.send(line);
    if (!isOver) stdin.resume();
  };

  /** After a lost connection: the opening again, and what became of each request. */
  const repeat = (connection: Connection, receipts: readonly Receipt[] | undefined): void => {
    const { initialize, initialized } = opening;
    const isNew = new Set(waiting);
    if (initialize !== undefined && !pending.has(initialize.id)) {
      connection.sendOwn({ ...initialize.message, id: `${bridge}-${connections}` });
      if (initialized !== undefined && !isNew.has(initialized)) connection.send(initialized);
    }
    for (const request of pending.values()) {
      if (isNew.has(request.line)) continue; // it was never sent
      const receipt = receipts?.find(({ id }) => id === request.id);
      const mayHaveRun = receipts === undefined && request.message.method === "tools/call";
      if (receipt === undefined && !mayHaveRun) {
        connection.send(request.line);
        continue;
      }
      pending.delete(request.id);
      if (receipt?.state === "answered") stdout.write(`${receipt.answer}\n`);
      else toClient(lostCall(request, place.shown, receipt?.state ?? "unknown"));
    }
  };

  const reconnect = (): void => {
    connecting ??= tryAgain().finally(() => (connecting = undefined));
  };
  const tryAgain = async (): Promise<void> => {
    let why = "";
    for (const waitMs of needs.waitsMs ?? usualWaitsMs) {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      if (isOver) return;
      try {
        return await connect();
      } catch (error) {
        why = error instanceof Error ? error.message : String(error);
        needs.stderr.write(`filehand: ${why}\n`);
      }
    }
    // The next message of the client tries again.
    const unsent = new Set(waiting);
    waiting = [];
    for (const request of pending.values()) {
      const state = unsent.has(request.line) ? "not applied" : "unknown";
      if (request.message.method === "tools/call") toClient(lostCall(request, place.shown, state));
      else fail(request.id, why);
    }
    pending.clear();
    stdin.resume();
  };

  // The first connection: a place that cannot be reached ends the command, and says why.
  await connect();
  const lines = new Lines(limits.mcpLineBytesMax);
  stdin.on("data", (chunk: Buffer) => {
    for (const line of lines.feed(chunk)) {
      if ("text" in line) onClientLine(line.text);
      else fail(line.id, `Cannot take the message: it is ${"tooLong" in line ? "too long" : "not UTF-8"}`);
    }
  });
  await Promise.race([once(stdin, "end"), once(signal, "abort")]).catch(() => undefined);
  isOver = true;
  await Promise.race([connecting, new Promise((resolve) => setTimeout(resolve, lastWordsMs).unref())]);
  await far?.end();
  stdin.pause(); // after a signal it may still be open
}

type Connection = ReturnType<typeof openConnection>;

interface ClientSide {
  readonly client: Writable;
  readonly onAnswer: (id: Id) => void;
}

/** One server process there. */
function openConnection({ child, stdin, stdout, rest }: Launched, number: number, { client, onAnswer }: ClientSide) {
  const toClient = (line: string): void => void client.write(`${line}\n`);
  const lines = new Lines(limits.mcpLineBytesMax);
  /** Questions of the server to the client; each connection has ids of its own, since an answer may come late. */
  const asked = new Map<string, Id>();
  const ownRequests = new Set<unknown>();
  let greet: (greeting: BridgeGreeting | undefined) => void = () => undefined;
  const greeting = new Promise<BridgeGreeting | undefined>((resolve) => (greet = resolve));
  let isGreeted = false;

  const onLine = (line: string): void => {
    const message = parsed(line);
    if (!isGreeted) {
      isGreeted = true;
      return greet(message as BridgeGreeting | undefined); // a server of the same version
    }
    const { id, method, params } = message ?? {};
    if (isId(id) && method === undefined) {
      if (ownRequests.delete(id)) return;
      onAnswer(id);
    } else if (isId(id)) {
      const outer = `${number}:${JSON.stringify(id)}`;
      asked.set(outer, id);
      return toClient(JSON.stringify({ ...message, id: outer }));
    } else if (method === "notifications/cancelled" && isRecord(params) && isId(params["requestId"])) {
      const outer = `${number}:${JSON.stringify(params["requestId"])}`;
      asked.delete(outer);
      return toClient(JSON.stringify({ ...message, params: { ...params, requestId: outer } }));
    }
    toClient(line);
  };
  const take = (chunk: Buffer): void => {
    for (const line of lines.feed(chunk)) if ("text" in line) onLine(line.text);
    if (!client.writableNeedDrain) return;
    stdout.pause();
    client.once("drain", () => stdout.resume());
  };
  take(rest);
  stdout.on("data", take).resume();
  const over = once(child, "close").then(() => greet(undefined));

  return {
    greeting,
    over,
    /** False if the server reads slower than the client writes. */
    send: (line: string): boolean => stdin.write(`${line}\n`),
    /** Calls back when it has read everything, or is gone. */
    onDrain: (callback: () => void): void => {
      const done = (): void => {
        stdin.off("drain", done).off("close", done);
        callback();
      };
      stdin.on("drain", done).on("close", done);
    },
    /** A request of the bridge itself, whose answer the client does not see. */
    sendOwn: (request: object & { readonly id: string }): void => {
      ownRequests.add(request.id);
      stdin.write(`${JSON.stringify(request)}\n`);
    },
    /** The id that the server gave its question; undefined if this connection asked nothing like it. */
    ownId: (outer: Id): Id | undefined => {
      const id = asked.get(String(outer));
      asked.delete(String(outer));
      return id;
    },
    /** The person need not answer what nobody waits for. */
    withdraw: (tell: (message: object) => void): void => {
      for (const requestId of asked.keys()) {
        const params = { requestId, reason: "the connection was lost" };
        tell({ jsonrpc: "2.0", method: "notifications/cancelled", params });
      }
      asked.clear();
    },
    end: async (): Promise<void> => {
      stdin.end();
      const timer = setTimeout(() => child.kill(), lastWordsMs);
      await over;
      clearTimeout(timer);
    },
  };
}

/** A result, not an error of the protocol: the model must know. */
function lostCall({ id, message }: Pending, place: string, state: "not applied" | "unknown"): object {
  const { name, _meta } = isRecord(message.params) ? message.params : {};
  const text = lostCallSentences[state](String(name), place);
  const complete = isRecord(_meta) && hasEnvelope(_meta) ? { resultType: "complete" } : {};
  return { jsonrpc: "2.0", id, result: { content: [{ type: "text", text }], isError: true, ...complete } };
}

function parsed(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
