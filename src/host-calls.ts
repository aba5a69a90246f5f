/**
 * Calls that a host makes within one of its own callbacks, such as an asker that reads the file it is asked about. The call
 * that runs the callback waits for it and keeps its place in the call queue meanwhile, so a call from inside must not wait
 * for that place. It gets a queue of its own: calls of one callback keep their order among themselves.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { type CallQueue, createCallQueue } from "./session/call-queue.ts";

const inside = new AsyncLocalStorage<CallQueue>();
/** Callbacks that have not settled. Tracking the context makes every promise of the process slower in Node 20 and 22. */
let running = 0;

/** Undefined outside of callbacks. */
export const queueOfHost = (): CallQueue | undefined => (running === 0 ? undefined : inside.getStore());

/** The same callback, with a call queue of its own. */
export function byHost<Callback extends ((...given: never[]) => unknown) | undefined>(callback: Callback): Callback;
export function byHost<Given extends never[], Answer>(
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
