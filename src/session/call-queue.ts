/**
 * The call queue of a session: calls on the same file take effect in the order in which they were sent, others run at the same
 * time. A call enters with all of its paths at once and waits only for earlier calls, so two never wait for each other. Paths form
 * a tree, because a call on a folder concerns every file below it. A call that is alone is not put into the tree, to save time.
 */

import { AsyncLocalStorage } from "node:async_hooks";

/**
 * What a call does with a path and with everything below it. `read` also writes down what the session was shown, so two
 * reads of one file keep their order; a `search` only has to see the files as the calls before it left them.
 */
export type PathUse = "read" | "search" | "change";

export interface Claim {
  /** The names on the way to a file or folder, from the root of the file system; empty for all files. */
  readonly names: readonly string[];
  readonly use: PathUse;
}

export interface Place {
  /** Settles when the calls before this one have left; undefined if there is nothing to wait for. */
  readonly ready: Promise<void> | undefined;
  /** May be called more than once. */
  readonly leave: () => void;
}

/** The uses that must not happen at the same time as this one. */
const conflicts: Readonly<Record<PathUse, readonly PathUse[]>> = {
  read: ["read", "change"],
  search: ["change"],
  change: ["read", "search", "change"],
};

/** By use: settles when every call that came so far has left. */
type Tails = Partial<Record<PathUse, Promise<unknown>>>;

interface Node {
  readonly parent: Node | undefined;
  readonly name: string;
  readonly children: Map<string, Node>;
  /** Of calls on this path, and of calls on paths below it. */
  readonly own: Tails;
  readonly below: Tails;
  /** Claims on this path or below it; a node without one is dropped. */
  claims: number;
}

interface Ticket {
  readonly claims: () => readonly Claim[];
  /** The nodes of its claims, once it is in the tree. */
  nodes: readonly Node[] | undefined;
  onLeave: () => void;
}

export function createCallQueue() {
  const root = newNode(undefined, "");
  let size = 0;
  /** The call that came to an empty queue, if it is still there. */
  let alone: Ticket | undefined;

  const insert = (ticket: Ticket): Promise<void> | undefined => {
    const claims = ticket.claims();
    const waits = new Set<Promise<unknown>>();
    const nodes = claims.map(({ names }) => nodeAt(root, names));
    // All waits are collected before the first claim is entered: a call does not wait for itself.
    for (const [index, { use }] of claims.entries()) collect(nodes[index] ?? root, use, waits);
    const left = new Promise<void>((resolve) => (ticket.onLeave = resolve));
    for (const [index, { use }] of claims.entries()) append(nodes[index] ?? root, use, left);
    ticket.nodes = nodes;
    return waits.size === 0 ? undefined : Promise.all(waits).then(() => undefined);
  };

  const remove = (ticket: Ticket): void => {
    size -= 1;
    if (alone === ticket) alone = undefined;
    for (const node of ticket.nodes ?? []) release(node);
    ticket.onLeave();
  };

  return {
    /** `claims` MUST NOT throw. It is called at once, or when the next call comes, or never. */
    enter(claims: () => readonly Claim[]): Place {
      const ticket: Ticket = { claims, nodes: undefined, onLeave: () => undefined };
      let ready: Promise<void> | undefined;
      if (size === 0) alone = ticket;
      else {
        if (alone !== undefined) void insert(alone);
        alone = undefined;
        ready = insert(ticket);
      }
      size += 1;
      let isIn = true;
      const leave = (): void => {
        if (isIn) remove(ticket);
        isIn = false;
      };
      return { ready, leave };
    },
  };
}

const newNode = (parent: Node | undefined, name: string): Node => ({
  parent,
  name,
  children: new Map(),
  own: {},
  below: {},
  claims: 0,
});

/** Counts the claim on the way, so that no node of it is dropped meanwhile. */
function nodeAt(root: Node, names: readonly string[]): Node {
  let node = root;
  node.claims += 1;
  for (const name of names) {
    let child = node.children.get(name);
    if (child === undefined) {
      child = newNode(node, name);
      node.children.set(name, child);
    }
    child.claims += 1;
    node = child;
  }
  return node;
}

function collect(node: Node, use: PathUse, waits: Set<Promise<unknown>>): void {
  const add = (tails: Tails): void => {
    for (const other of conflicts[use]) {
      const tail = tails[other];
      if (tail !== undefined) waits.add(tail);
    }
  };
  add(node.below);
  for (let above: Node | undefined = node; above !== undefined; above = above.parent) add(above.own);
}

function append(node: Node, use: PathUse, left: Promise<void>): void {
  const add = (tails: Tails): void => {
    const tail = tails[use];
    tails[use] = tail === undefined ? left : tail.then(() => left);
  };
  add(node.own);
  for (let above = node.parent; above !== undefined; above = above.parent) add(above.below);
}

function release(node: Node): void {
  for (let each: Node | undefined = node; each !== undefined; each = each.parent) {
    each.claims -= 1;
    if (each.claims > 0) continue;
    each.parent?.children.delete(each.name);
    // The root stays; the tails of a path without calls have settled.
    for (const tails of [each.own, each.below]) for (const use of uses) delete tails[use];
  }
}

const uses = Object.keys(conflicts) as readonly PathUse[]; // the record has exactly these keys

// Calls that a host makes inside one of its own callbacks, such as an asker that reads the file in question. The outer
// call waits for the callback and keeps its place in the call queue, so an inner call must not wait for that place.
// Each callback gets a queue of its own, in which its calls keep their order.

const inside = new AsyncLocalStorage<ReturnType<typeof createCallQueue>>();
/** Unsettled callbacks. At 0 async context tracking is off: it slows every promise in Node 20 and 22. */
let running = 0;

/** Undefined outside of callbacks. */
export const queueOfHost = () => (running === 0 ? undefined : inside.getStore());

/** A callback of the host that runs with a call queue of its own. */
export function inOwnQueue<Callback extends ((...given: never[]) => unknown) | undefined>(callback: Callback): Callback;
export function inOwnQueue<Given extends never[], Answer>(
  callback: ((...given: Given) => Answer | Promise<Answer>) | undefined,
): ((...given: Given) => Promise<Answer>) | undefined {
  if (callback === undefined) return undefined;
  return async (...given) => {
    running += 1;
    try {
      return await inside.run(createCallQueue(), () => callback(...given));
    } finally {
      running -= 1;
      if (running === 0) inside.disable();
    }
  };
}

// Yields to the event loop between calls. A read of cached data waits for nothing, so a host that reads in a loop, or a
// hundred files at once, would block timers and sockets until its last answer.

/** Calls that may start in one turn of the event loop. */
const callsMax = 16;
/** Milliseconds after which no further call starts in a turn: far below the 50 ms that a loop may be blocked. */
const shareMs = 8;

/** Calls that began in this turn, and when the turn began. */
let calls = 0;
let sinceMs = 0;
/** First come, first served: changes of one file keep their order. */
const waiting: (() => void)[] = [];

/** Undefined if the call may begin at once. */
export function yieldBetweenCalls(): Promise<void> | undefined {
  if (calls === 0) {
    calls = 1;
    sinceMs = performance.now();
    setImmediate(turned);
    return undefined;
  }
  calls += 1;
  if (waiting.length === 0 && calls <= callsMax && performance.now() - sinceMs < shareMs) return undefined;
  return new Promise((resolve) => waiting.push(resolve));
}

/** Each waiting call gets a turn of its own. */
function turned(): void {
  const first = waiting.shift();
  calls = first === undefined ? 0 : 1;
  if (first === undefined) return;
  sinceMs = performance.now();
  setImmediate(turned);
  first();
}
