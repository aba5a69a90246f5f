/** Receives calls and questions of other processes of this user, which send the key of a socket named in the state folder. */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type Socket } from "node:net";
import type { Answer, OfferedHunk, Question } from "../../contract/ask.ts";
import { isRecord } from "../../contract/common.ts";
import {
  type CallChange,
  type CallDetail,
  type CallEvent,
  type FromInspector,
  type FromReporter,
  type InspectorPlace,
  type NoDetail,
  type Program,
  type ReportedQuestion,
  type ReportHello,
  reportProtocol,
} from "../../contract/event.ts";
import { containsAll, registerInspector, type RegistryFile } from "../../state/state.ts";
import type { Log } from "../mcp/mcp-workspace.ts";
import { Lines } from "../mcp/stdio-wire.ts";

export interface Reporting {
  readonly workspace: string;
  readonly pid: number;
  readonly program: ReportHello["program"];
  readonly roots: readonly string[];
}

export interface ReportSocketOptions {
  readonly stateDir: string;
  readonly workspaces: InspectorPlace["workspaces"];
  readonly onCall: (event: CallEvent, detail: CallDetail | NoDetail, from: Reporting) => void;
  readonly ask: (asked: ReportedQuestion, from: Reporting, signal: AbortSignal) => Promise<Answer>;
  /** A process connected or disconnected; `all` are those that are connected. */
  readonly onReporting: (all: readonly Reporting[]) => void;
  readonly log: Log;
}

const connectionsMax = 64; // more agents than one person runs
const lineBytesMax = 67_108_864; // well above `detailBytesMax`, which reporters keep to
const helloBytesMax = 65_536; // before the key is known, little is read
const helloMsMax = 5_000; // a process on the same machine needs milliseconds
const questionsMax = 100; // of one process, so that it cannot fill the page

/** Returns the function that closes it; undefined if the socket cannot be opened, which is logged. */
export async function openReportSocket(options: ReportSocketOptions): Promise<(() => void) | undefined> {
  const { stateDir, workspaces, log } = options;
  const key = randomBytes(32).toString("base64url");
  const reporting = new Map<Socket, Reporting>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    if (sockets.size >= connectionsMax) return void socket.destroy();
    sockets.add(socket);
    const tell = (): void => options.onReporting([...reporting.values()]);
    socket.on("close", () => {
      sockets.delete(socket);
      if (reporting.delete(socket)) tell();
    });
    converse(socket, options, (hello) => {
      if (!isSame(hello.key, key)) return undefined;
      const workspace = workspaces.find(({ name }) => name === hello.workspace);
      if (workspace === undefined || !containsAll(workspace.roots, hello.roots)) return undefined;
      const { pid, program, roots } = hello;
      const from: Reporting = { workspace: workspace.name, pid, program, roots };
      reporting.set(socket, from);
      tell();
      return from;
    });
  });
  let file: RegistryFile | undefined;
  const close = (): void => {
    file?.remove();
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  try {
    const made = registerInspector(stateDir);
    file = made;
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(made.address, resolve));
    server.unref().on("error", (error) => log("warn", "listening to other processes", { message: error.message }));
    const place: InspectorPlace = { protocol: reportProtocol, address: made.address, key, workspaces };
    made.announce(JSON.stringify(place));
    return close;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    log("warn", "calls of other processes are not seen", { message });
    close();
    return undefined;
  }
}

const newline = 10;
const isSame = (a: string, b: string): boolean => timingSafeEqual(hashOf(a), hashOf(b));
const hashOf = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Serves one process until it disconnects. An invalid message ends the connection. */
function converse(
  socket: Socket,
  { onCall, ask }: ReportSocketOptions,
  greet: (hello: ReportHello) => Reporting | undefined,
): void {
  const lines = new Lines(lineBytesMax);
  const open = new Map<number, AbortController>();
  const timer = setTimeout(() => socket.destroy(), helloMsMax);
  let from: Reporting | undefined;

  const asked = async (question: ReportedQuestion, who: Reporting): Promise<void> => {
    const { id } = question;
    const leaving = new AbortController();
    open.set(id, leaving);
    const answer = await ask(question, who, leaving.signal);
    open.delete(id);
    if (!socket.destroyed) socket.write(`${JSON.stringify({ type: "answer", id, answer } satisfies FromInspector)}\n`);
  };
  /** False if the connection must end. */
  const take = (text: string): boolean => {
    const message = reportIn(text);
    if (message === undefined) return false;
    if (message.type === "hello") {
      if (from !== undefined) return false;
      from = greet(message);
      clearTimeout(timer);
      return from !== undefined;
    }
    if (from === undefined) return false;
    switch (message.type) {
      case "call":
        onCall(message.event, message.detail, from);
        return true;
      case "ask":
        if (open.size >= questionsMax || open.has(message.id)) return false;
        void asked(message, from);
        return true;
      case "cancel":
        open.get(message.id)?.abort();
        return true;
    }
  };
  socket.on("data", (chunk: Buffer) => {
    if (from === undefined && socket.bytesRead > helloBytesMax && !chunk.includes(newline))
      return void socket.destroy();
    for (const line of lines.feed(chunk)) {
      if (!("text" in line) || !take(line.text)) return void socket.destroy();
    }
  });
  socket.on("error", () => undefined); // it closes by itself
  socket.on("close", () => {
    clearTimeout(timer);
    for (const leaving of open.values()) leaving.abort();
  });
}

// Checks the messages of another process. It belongs to the same user and is most likely the same program, but it may have another
// version, and no message may break the page or other calls.

type Is = (value: unknown) => boolean;

const textCharsMax = 8_192; // twice the longest path
const changesMax = 1_000; // of one call; each becomes a row of the page

const isText: Is = (value) => typeof value === "string" && value.length <= textCharsMax;
const isLongText: Is = (value) => typeof value === "string";
const isCount: Is = (value) => typeof value === "number" && Number.isFinite(value) && value >= 0;
/** A time that the page can show as a date. */
const isTime: Is = (value) => isCount(value) && Number(value) <= 8.64e15;
const isFlag: Is = (value) => typeof value === "boolean";
const isAnything: Is = () => true;
const either =
  (...all: readonly Is[]): Is =>
  (value) =>
    all.some((is) => is(value));
const listOf =
  (is: Is, countMax = Number.POSITIVE_INFINITY): Is =>
  (value) =>
    Array.isArray(value) && value.length <= countMax && value.every(is);
const shaped =
  (shape: Readonly<Record<string, Is>>): Is =>
  (value) =>
    isRecord(value) &&
    Object.entries(shape).every(([name, is]) => is(Object.hasOwn(value, name) ? value[name] : undefined));
const oneOf =
  (...words: readonly string[]): Is =>
  (value) =>
    words.some((word) => word === value);
const maybe = (is: Is): Is => either(is, (value) => value === undefined);
const orNull = (is: Is): Is => either(is, (value) => value === null);
const each = <Name extends string>(is: Is, ...names: readonly Name[]): Readonly<Record<Name, Is>> =>
  Object.fromEntries(names.map((name) => [name, is])) as Record<Name, Is>; // one entry for each name

const programs = ["mcp", "serve", "cli"] as const satisfies readonly Program[];

const hello = shaped({
  ...each(isText, "key", "workspace"),
  roots: listOf(isText, 100),
  pid: isCount,
  program: oneOf(...programs),
});

const change = shaped({
  ...each(isText, "path", "relative"),
  did: oneOf("created", "updated", "deleted", "moved"),
  movedFrom: orNull(isText),
  ...each(isCount, "additions", "deletions"),
} satisfies Record<keyof CallChange, Is>);

const range = shaped({
  of: oneOf("lines", "pages", "cells", "entries"),
  from: isCount,
  ...each(orNull(isCount), "to", "total"),
});

const event = shaped({
  type: oneOf("call"),
  ...each(isText, "session", "dialect", "tool", "outcome"),
  client: maybe(orNull(isText)), // older versions do not send it
  ...each(orNull(isText), "principal", "verb", "path", "real", "pattern", "reason", "turn"),
  ...each(isCount, "id", "elapsedMs", "tokensGiven", "tokensSaved", "changesTotal"),
  range: orNull(range),
  startedMs: isTime,
  changes: listOf(change, changesMax),
  dryRun: isFlag,
} satisfies Record<keyof CallEvent, Is>);

const part = either(
  shaped({ type: oneOf("text"), text: isLongText }),
  shaped({ type: oneOf("image"), data: isLongText, mimeType: isText }),
);
const reply = shaped({
  content: listOf(part),
  structured: isAnything,
  isError: isFlag,
  error: maybe(shaped({ code: isText, message: isLongText })),
});
const hunk = shaped({ ...each(isCount, "oldStart", "oldLines", "newStart", "newLines"), lines: listOf(isLongText) });
const detail = shaped({
  input: isAnything,
  // Missing after a bug.
  reply: maybe(reply),
  diffs: listOf(shaped({ hunks: listOf(hunk), complete: isFlag })),
} satisfies Record<keyof CallDetail, Is>);

const question = shaped({
  permission: oneOf("read", "edit", "external_directory"),
  patterns: listOf(isText, 100),
  always: listOf(isText, 100),
  keep: listOf(oneOf("session", "project", "user"), 3),
  metadata: isRecord,
  hunks: maybe(listOf(shaped({ file: isCount, hunk: maybe(isCount) } satisfies Record<keyof OfferedHunk, Is>))),
} satisfies Record<keyof Question, Is>);

const shapes: Readonly<Record<FromReporter["type"], Is>> = {
  hello,
  call: shaped({
    event,
    detail: either(detail, oneOf("dropped" satisfies NoDetail, "too large" satisfies NoDetail)),
  }),
  ask: shaped({
    id: isCount,
    session: isText,
    principal: orNull(isText),
    client: maybe(orNull(isText)),
    tool: isText,
    question,
  }),
  cancel: shaped({ id: isCount }),
};

export function reportIn(text: string): FromReporter | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || typeof value["type"] !== "string" || !Object.hasOwn(shapes, value["type"])) return undefined;
  const { [value["type"] as FromReporter["type"]]: is } = shapes; // it is one of its keys
  return is(value) ? (value as unknown as FromReporter) : undefined; // every field that is used was checked
}
