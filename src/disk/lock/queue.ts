/** The lock queue of this process. A caller joins the queues of all its names at once, so callers cannot deadlock. */

export interface Queue {
  /** Resolves at the caller's turn with a function that MUST be called. Throws the signal's reason if aborted. */
  enter(names: readonly string[], signal: AbortSignal): Promise<() => void>;
  readonly size: number;
}

interface Ticket {
  readonly names: ReadonlySet<string>;
  /** Queues in which another ticket is still ahead. */
  ahead: number;
  onTurn: () => void;
}

export function createQueue(): Queue {
  /** A Set keeps the order of arrival and allows leaving from the middle. Empty queues are removed. */
  const queues = new Map<string, Set<Ticket>>();

  const join = (ticket: Ticket): void => {
    for (const name of ticket.names) {
      const queue = queues.get(name);
      if (queue === undefined) queues.set(name, new Set([ticket]));
      else {
        queue.add(ticket);
        ticket.ahead += 1;
      }
    }
  };
  const leave = (ticket: Ticket): void => {
    for (const name of ticket.names) {
      const queue = queues.get(name);
      if (queue === undefined) continue;
      const wasFirst = first(queue) === ticket;
      if (!queue.delete(ticket) || !wasFirst) continue;
      const next = first(queue);
      if (next === undefined) queues.delete(name);
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
      return queues.size;
    },
  };
}

const first = (queue: ReadonlySet<Ticket>): Ticket | undefined => queue.values().next().value;

function turn(ticket: Ticket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, () => reject(signal.reason));
    ticket.onTurn = () => {
      forget();
      resolve();
    };
  });
}

/** Settles like the promise, unless the signal is aborted first: then it throws the reason. */
export function orAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, () => reject(signal.reason));
    promise.then(() => {
      forget();
      resolve();
    }, reject);
  });
}

/** Process-wide by nature: a signal belongs to its caller, and the entry disappears with it. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls `action` on abort, until released. A signal gets one listener for all calls: Node 20 warns above ten. */
export function onAbort(signal: AbortSignal, action: () => void): () => void {
  const actions = waiting.get(signal) ?? new Set<() => void>();
  if (!waiting.has(signal)) {
    waiting.set(signal, actions);
    const runAll = (): void => {
      for (const each of actions) each();
    };
    signal.addEventListener("abort", runAll, { once: true });
  }
  // A new function each time: two callers may pass the same one.
  const entry = (): void => action();
  actions.add(entry);
  return () => actions.delete(entry);
}
