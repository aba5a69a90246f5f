/** The state that all views share: the login, the workspaces, the open questions, the state of the stream. */

import type {
  CallInfo,
  Hello,
  PastQuestion,
  ProcessInfo,
  QuestionInfo,
  QuestionList,
  StreamEvent,
  WorkspaceInfo,
} from "../../../src/surfaces/inspector/wire.ts";
import { exchange, get, leaveServer, messageOf, RequestError, takeKey } from "./request.ts";
import { createStore } from "./store.ts";
import { followStream } from "./stream.ts";

export interface LiveState {
  /** `out`: the server does not know this browser. `left`: the person logged out. */
  readonly phase: "starting" | "in" | "out" | "left" | "failed";
  readonly message: string;
  readonly connection: "live" | "waiting";
  readonly hello: Hello | undefined;
  /** The name of the current workspace. */
  readonly workspace: string;
  /** By how much the server's clock is ahead of the browser's. */
  readonly clockAheadMs: number;
  readonly open: readonly QuestionInfo[];
  readonly past: readonly PastQuestion[];
  /** Grows when lists of the history are out of date. */
  readonly turns: number;
  /** Grows when everything must be loaded again. */
  readonly resets: number;
  /** By job. */
  readonly progress: ReadonlyMap<string, { readonly done: number; readonly total: number }>;
}

const pastMax = 100;

const nothing: LiveState = {
  phase: "starting",
  message: "",
  connection: "waiting",
  hello: undefined,
  workspace: "",
  clockAheadMs: 0,
  open: [],
  past: [],
  turns: 0,
  resets: 0,
  progress: new Map(),
};

export const live = createStore<LiveState>(nothing);

const callListeners = new Set<(calls: readonly CallInfo[]) => void>();

/** New calls, in the order in which they ended. */
export function onCalls(listener: (calls: readonly CallInfo[]) => void): () => void {
  callListeners.add(listener);
  return () => callListeners.delete(listener);
}

let current = new AbortController();

/** Logs in, with the key of the address if there is one, and follows the stream. */
export async function start(): Promise<void> {
  current.abort();
  current = new AbortController();
  const { signal } = current;
  const key = takeKey();
  live.set((before) => ({ ...before, phase: "starting", message: "" }));
  try {
    if (key !== undefined) await exchange(key);
    const hello = await get<Hello>("/api/hello", signal);
    const { open, past } = await get<QuestionList>("/api/questions", signal);
    live.set((before) => ({
      ...before,
      phase: "in",
      hello,
      workspace: hello.workspaces.some(({ name }) => name === before.workspace)
        ? before.workspace
        : (hello.workspaces[0]?.name ?? ""),
      clockAheadMs: hello.nowMs - Date.now(),
      open,
      past,
      resets: before.resets + 1,
    }));
    void followStream({ after: hello.lastEvent, onEvents: take, onState: setConnection, signal });
  } catch (error) {
    if (signal.aborted) return;
    const isOut = error instanceof RequestError && (error.code === "NOT_IN" || error.code === "BAD_KEY");
    live.set((before) => ({ ...before, phase: isOut ? "out" : "failed", message: messageOf(error) }));
  }
}

/** Logs out: clears the page; a new address is needed to log in again. */
export async function leave(): Promise<void> {
  try {
    await leaveServer();
  } catch (error) {
    // A browser that is no longer logged in has left already.
    const isOut = error instanceof RequestError && error.code === "NOT_IN";
    if (!isOut) return live.set((before) => ({ ...before, phase: "failed", message: messageOf(error) }));
  }
  current.abort();
  live.set({ ...nothing, phase: "left", message: "The server has forgotten this browser, in all its tabs." });
}

export const chooseWorkspace = (workspace: string): void => live.set((before) => ({ ...before, workspace }));

export const workspaceOf = ({ hello, workspace }: LiveState): WorkspaceInfo | undefined =>
  hello?.workspaces.find(({ name }) => name === workspace);

/** An address in the current workspace. */
export const inWorkspace = (rest: string): string => `/api/w/${encodeURIComponent(live.get().workspace)}/${rest}`;

export const serverNowMs = (): number => Date.now() + live.get().clockAheadMs;

function setConnection(state: "live" | "waiting" | "out"): void {
  if (state === "out") {
    const message =
      "The server does not know this browser any more: it was started anew, or nobody looked for 12 hours";
    live.set((before) => ({ ...before, phase: "out", message }));
  } else live.set((before) => (before.connection === state ? before : { ...before, connection: state }));
}

function take(events: readonly StreamEvent[]): void {
  const calls = events.flatMap((event) => (event.type === "call" ? [event.call] : []));
  if (calls.length > 0) for (const listener of callListeners) listener(calls);
  const others = events.filter(({ type }) => type !== "call");
  if (others.length > 0) live.set((before) => others.reduce(after, before));
  if (events.some(({ type }) => type === "reset")) void askAgain();
}

/** The state after an event. */
function after(before: LiveState, event: StreamEvent): LiveState {
  switch (event.type) {
    case "call":
    case "reset":
      return before;
    case "question":
      return before.open.some(({ id }) => id === event.question.id)
        ? before
        : { ...before, open: [...before.open, event.question] };
    case "answered":
      return answered(before, event.id, event.answered);
    case "turn":
      return { ...before, turns: before.turns + 1 };
    case "processes":
      return { ...before, hello: withProcesses(before.hello, event.workspace, event.processes) };
    case "progress": {
      const progress = new Map(before.progress).set(event.job, { done: event.done, total: event.total });
      return { ...before, progress };
    }
  }
}

const withProcesses = (
  hello: Hello | undefined,
  workspace: string,
  processes: readonly ProcessInfo[],
): Hello | undefined =>
  hello && {
    ...hello,
    workspaces: hello.workspaces.map((one) => (one.name === workspace ? { ...one, processes } : one)),
  };

/** Moves a question from the open to the closed ones, once. */
export function answered(before: LiveState, id: string, answer: PastQuestion["answered"]): LiveState {
  const question = before.open.find((one) => one.id === id);
  if (question === undefined) return before;
  return {
    ...before,
    open: before.open.filter((one) => one.id !== id),
    past: [{ ...question, answered: answer }, ...before.past].slice(0, pastMax),
  };
}

/** After the stream lost events. */
async function askAgain(): Promise<void> {
  const { signal } = current;
  const { open, past } = await get<QuestionList>("/api/questions", signal).catch(() => live.get());
  // The connected processes may have changed, too.
  const hello = await get<Hello>("/api/hello", signal).catch(() => live.get().hello);
  if (signal.aborted) return;
  live.set((before) => ({ ...before, hello, open, past, resets: before.resets + 1, turns: before.turns + 1 }));
}
