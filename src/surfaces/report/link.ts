/** The connection to one inspector. It never delays a call: reports are dropped if the inspector is slow or gone. */

import { createConnection, type Socket } from "node:net";
import type { Answer, Question } from "../../contract/ask.ts";
import type { CallDetail, CallEvent, FromInspector, FromReporter, Program } from "../../contract/event.ts";
import type { RegisteredInspector } from "../../state/state.ts";
import { Lines } from "../mcp/stdio-wire.ts";

export interface Link {
  tell(event: CallEvent, detail: CallDetail): void;
  /** Answers `nobody` if the inspector is gone. */
  ask(asked: QuestionAsked, signal: AbortSignal): Promise<Answer>;
  /** Resolves when everything was sent, or after a time limit. */
  end(): Promise<void>;
}

export interface QuestionAsked {
  readonly session: string;
  readonly principal: string | null;
  readonly client: string | null;
  readonly tool: string;
  readonly question: Question;
}

export interface LinkOptions {
  readonly inspector: RegisteredInspector;
  readonly roots: readonly string[];
  readonly program: Program;
  readonly onOver: () => void;
}

/** The details of one call; and how much may wait for a slow reader. */
export const detailBytesMax = 16_777_216;
const waitingBytesMax = 33_554_432; // in the socket; reports are dropped above that
const waitingCallsMax = 1_000; // before they are serialised
const answerBytesMax = 65_536; // an answer is a word, a rule and a short text
const endMsMax = 1_000; // a process that ends does not wait longer for a page

export function openLink({ inspector, roots, program, onOver }: LinkOptions): Link {
  const { place, workspace } = inspector;
  const socket = createConnection(place.address);
  socket.unref();
  const questions = new Map<number, (answer: Answer) => void>();
  let waiting: (readonly [CallEvent, CallDetail])[] = [];
  let asked = 0;
  let isOver = false;

  const send = (message: FromReporter): void => void socket.write(`${JSON.stringify(message)}\n`);
  const flush = (): void => {
    const calls = waiting;
    waiting = [];
    for (const [event, detail] of calls) {
      if (isOver || socket.writableLength > waitingBytesMax) return;
      socket.write(lineOf(event, detail));
    }
  };
  const over = (): void => {
    if (isOver) return;
    isOver = true;
    waiting = [];
    for (const answer of questions.values()) answer({ reply: "nobody" });
    questions.clear();
    socket.destroy();
    onOver();
  };
  const settle = ({ id, answer }: FromInspector): void => {
    questions.get(id)?.(answer);
    questions.delete(id);
  };

  socket.on("error", over).on("close", over);
  readAnswers(socket, settle, over);
  send({ type: "hello", key: place.key, workspace, roots, pid: process.pid, program });
  return {
    tell(event, detail) {
      if (isOver || waiting.length >= waitingCallsMax) return;
      // The caller gets its reply first.
      if (waiting.length === 0) setImmediate(flush);
      waiting.push([event, detail]);
    },
    ask({ session, principal, client, tool, question }, signal) {
      if (isOver || signal.aborted) return Promise.resolve({ reply: "nobody" });
      asked += 1;
      const id = asked;
      return new Promise<Answer>((resolve) => {
        const cancel = (): void => {
          if (!isOver) send({ type: "cancel", id });
          settle({ type: "answer", id, answer: { reply: "nobody" } });
        };
        questions.set(id, (answer) => {
          signal.removeEventListener("abort", cancel);
          resolve(answer);
        });
        signal.addEventListener("abort", cancel, { once: true });
        send({ type: "ask", id, session, principal, client, tool, question });
      });
    },
    async end() {
      flush();
      if (isOver) return;
      socket.ref();
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, endMsMax);
        socket.once("close", () => {
          clearTimeout(timer);
          resolve();
        });
        socket.end();
      });
      over();
    },
  };
}

/** Reads the inspector's messages. An invalid line ends the connection: then the other side is no inspector. */
function readAnswers(socket: Socket, onAnswer: (message: FromInspector) => void, over: () => void): void {
  const lines = new Lines(answerBytesMax);
  socket.on("data", (chunk: Buffer) => {
    for (const line of lines.feed(chunk)) {
      const message = "text" in line ? answerIn(line.text) : undefined;
      if (message === undefined) return over();
      onAnswer(message);
    }
  });
}

function answerIn(text: string): FromInspector | undefined {
  try {
    const { type, id, answer } = JSON.parse(text) as Partial<FromInspector>; // every field is checked below
    const isFine = type === "answer" && typeof id === "number" && replies.has(answer?.reply ?? "");
    return isFine && answer !== undefined ? { type, id, answer } : undefined;
  } catch {
    return undefined;
  }
}

const replies: ReadonlySet<string> = new Set(["once", "always", "reject", "nobody"] satisfies Answer["reply"][]);

/** A host may put anything into the arguments, including values that JSON cannot represent. */
function lineOf(event: CallEvent, detail: CallDetail): string {
  try {
    const line = `${JSON.stringify({ type: "call", event, detail } satisfies FromReporter)}\n`;
    if (line.length <= detailBytesMax) return line;
  } catch {
    return lineOf(event, { ...detail, input: null });
  }
  return `${JSON.stringify({ type: "call", event, detail: "too large" } satisfies FromReporter)}\n`;
}
