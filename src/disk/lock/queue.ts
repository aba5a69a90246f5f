/**
 * Turns within this process. Whoever enters stands in the line of every name at once, so callers get their turns in the
 * order of their calls, and two that want the same names cannot wait for each other: one of them is ahead in all lines.
 */

export interface Queue {
  /**
   * Answers with the way out when it is this caller's turn for all names; it must be called, once it is enough. Throws
   * the signal's reason if that is aborted while waiting: the places are then free for those behind.
   */
  enter(names: readonly string[], signal: AbortSignal): Promise<() => void>;
  /** Names that somebody holds or waits for. */
  readonly size: number;
}

interface Ticket {
  readonly names: ReadonlySet<string>;
  /** Lines in which somebody is still ahead. */
  ahead: number;
  onTurn: () => void;
}

export function createQueue(): Queue {
  /** A Set keeps the order of arrival, and one may leave from the middle. A line that is empty is not kept. */
  const lines = new Map<string, Set<Ticket>>();

  const join = (ticket: Ticket): void => {
    for (const name of ticket.names) {
      const line = lines.get(name);
      if (line === undefined) lines.set(name, new Set([ticket]));
      else {
        line.add(ticket);
        ticket.ahead += 1;
      }
    }
  };
  const leave = (ticket: Ticket): void => {
    for (const name of ticket.names) {
      const line = lines.get(name);
      if (line === undefined) continue;
      const wasFirst = first(line) === ticket;
      if (!line.delete(ticket) || !wasFirst) continue;
      const next = first(line);
      if (next === undefined) lines.delete(name);
      else {
        next.ahead -= 1;
        if (next.ahead === 0) next.onTurn();
      }
    }
  };

  return {
    async enter(names, signal) {
      signal.throwIfAborted();
      const ticket: Ticket = { names: new Set(names), ahead: 0, onTurn: () => undefined };
      join(ticket);
      if (ticket.ahead > 0) {
        try {
          await turn(ticket, signal);
        } catch (error) {
          leave(ticket);
          throw error;
        }
      }
      return () => leave(ticket);
    },
    get size() {
      return lines.size;
    },
  };
}

const first = (line: ReadonlySet<Ticket>): Ticket | undefined => line.values().next().value;

function turn(ticket: Ticket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    // The reason is whatever the caller aborted with; it is passed on as it is.
    const forget = onAbort(signal, () => reject(signal.reason));
    ticket.onTurn = () => {
      forget();
      resolve();
    };
  });
}

/** The same, unless the signal is aborted before: then its reason. */
export function orAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, () => reject(signal.reason));
    promise.then(() => {
      forget();
      resolve();
    }, reject);
  });
}

/** Those who wait, by signal. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back once if the signal is aborted, unless what this answers with was called before. However many wait, a signal
 * has one listener: Node 20 warns of a leak when there are more than ten, and a session has one signal for many calls.
 */
export function onAbort(signal: AbortSignal, action: () => void): () => void {
  const actions = waiting.get(signal) ?? new Set<() => void>();
  if (!waiting.has(signal)) {
    waiting.set(signal, actions);
    const runAll = (): void => {
      for (const each of actions) each();
    };
    signal.addEventListener("abort", runAll, { once: true });
  }
  // Not the caller's own function: two may come with the same.
  const entry = (): void => action();
  actions.add(entry);
  return () => actions.delete(entry);
}
