/**
 * Hears of the calls of other processes of this user on this machine, over a socket that is named in the state folder, and asks
 * their questions on the page. Only who can read that file, and so has its key, is listened to.
 */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type Socket } from "node:net";
import type { Answer } from "../../contract/ask.ts";
import type { CallDetail, CallEvent } from "../../contract/event.ts";
import {
  type FromLookout,
  type LookoutPlace,
  type NoDetail,
  type ReportedQuestion,
  type ReportHello,
  reportProtocol,
} from "../../contract/report.ts";
import { holdsAll, type LookoutFile, makeLookoutFile } from "../../lookouts.ts";
import type { Log } from "../mcp/desk.ts";
import { Lines } from "../mcp/lines.ts";
import { reportIn } from "./reported.ts";

/** A process that reports. */
export interface Reporting {
  readonly workspace: string;
  readonly pid: number;
  readonly program: ReportHello["program"];
  readonly roots: readonly string[];
}

export interface LookoutOptions {
  readonly stateDir: string;
  readonly workspaces: LookoutPlace["workspaces"];
  readonly onCall: (event: CallEvent, detail: CallDetail | NoDetail, from: Reporting) => void;
  readonly ask: (asked: ReportedQuestion, from: Reporting, signal: AbortSignal) => Promise<Answer>;
  /** One has come or gone; those that are there. */
  readonly onReporting: (all: readonly Reporting[]) => void;
  readonly log: Log;
}

const connectionsMax = 64;
const lineBytesMax = 67_108_864;
const helloBytesMax = 65_536;
const helloMsMax = 5_000;
const questionsMax = 100;

/** Closes it; undefined if nobody can be listened to here, which the log says. */
export async function openLookout(options: LookoutOptions): Promise<(() => void) | undefined> {
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
      if (workspace === undefined || !holdsAll(workspace.roots, hello.roots)) return undefined;
      const { pid, program, roots } = hello;
      const from: Reporting = { workspace: workspace.name, pid, program, roots };
      reporting.set(socket, from);
      tell();
      return from;
    });
  });
  let file: LookoutFile | undefined;
  const close = (): void => {
    file?.remove();
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  try {
    const made = makeLookoutFile(stateDir);
    file = made;
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(made.address, resolve));
    server.unref().on("error", (error) => log("warn", "listening to other processes", { message: error.message }));
    const place: LookoutPlace = { protocol: reportProtocol, address: made.address, key, workspaces };
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

/** One process, from its greeting to its end. What is not understood ends it. */
function converse(
  socket: Socket,
  { onCall, ask }: LookoutOptions,
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
    if (!socket.destroyed) socket.write(`${JSON.stringify({ type: "answer", id, answer } satisfies FromLookout)}\n`);
  };
  /** False if there is nothing more to be heard. */
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
