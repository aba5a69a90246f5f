/**
 * Calls on one file are made in the order in which they came, although some need more steps than others until they stand
 * in the file's queue. Each takes a ticket when it comes, and gives it up when it has its place, or has to ask somebody.
 */

export interface Turns {
  take(names: readonly string[]): Ticket;
}

export interface Ticket {
  /** Settles when everyone who came earlier has a place, or goes without. */
  readonly ready: Promise<void>;
  /** Is nobody before? */
  readonly isFirst: boolean;
  release(): void;
}

export function createTurns(): Turns {
  const last = new Map<string, Promise<void>>();
  return {
    take(names) {
      const earlier = names.map((name) => last.get(name)).filter((ticket) => ticket !== undefined);
      const ready = Promise.all(earlier).then(() => undefined);
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => {
        // Whoever has a ticket gives it up twice, and Node is asked about a promise that is resolved again.
        release = () => {
          resolve();
          release = () => undefined;
        };
      });
      for (const name of names) last.set(name, released);
      void released.then(() => {
        for (const name of names) if (last.get(name) === released) last.delete(name);
      });
      return { ready, isFirst: earlier.length === 0, release: () => release() };
    },
  };
}
