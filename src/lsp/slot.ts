/** A place for one server of one project: it is started when it is needed, and anew when it has ended, within limits. */

import { limits } from "../contract/limits.ts";
import type { Known } from "./diagnostics.ts";
import { cleanEnvironment } from "./environment.ts";
import { type Server, startServer } from "./server.ts";
import type { ServerEntry } from "./servers.ts";
import type { World } from "./world.ts";

export interface Slot {
  readonly entry: ServerEntry;
  readonly root: string;
  /** Running, or started now; undefined while it must not be started, and for good when it has failed too often. */
  server(): Server | undefined;
  /** The one that runs, if one does. */
  readonly running: Server | undefined;
  /** Why there is none. */
  readonly why: string | undefined;
  readonly isGivenUp: boolean;
  /** Does it find errors, or could it only tell of other things? */
  checks(): boolean;
  /** What was known of a file; outlasts a server. */
  knownOf(path: string): Known | undefined;
  /** Undefined: it is gone. */
  remember(path: string, known: Known | undefined): void;
  usedMs: number;
  stop(): Promise<void>;
}

/** A server that never got ready is not tried as often as one that did. */
const startsUnreadyMax = 2;

export function createSlot(entry: ServerEntry, root: string, program: string, world: World): Slot {
  const known = new Map<string, Known>();
  let running: Server | undefined;
  let starts = 0;
  let everReady = false;
  let why: string | undefined;
  let isGivenUp = false;
  let notBeforeMs = 0;
  let isStopped = false;

  const start = (): Server => {
    starts += 1;
    const server = startServer({ entry, program, root, env: cleanEnvironment(world.env, entry.env) });
    running = server;
    void server.ended.then((reason) => {
      if (running !== server) return;
      running = undefined;
      why = reason;
      everReady ||= server.wasReady;
      isGivenUp = starts >= (everReady ? limits.languageStartsMax : startsUnreadyMax);
      notBeforeMs = performance.now() + limits.languageBackOffMs * 2 ** (starts - 1);
    });
    return server;
  };

  return {
    entry,
    root,
    knownOf: (path) => known.get(path),
    remember: (path, now) => {
      known.delete(path);
      if (now !== undefined) known.set(path, now);
      const [oldest] = known.keys();
      if (known.size > limits.languageKnownFilesMax && oldest !== undefined) known.delete(oldest);
    },
    usedMs: 0,
    get running() {
      return running?.state === "ended" ? undefined : running;
    },
    get why() {
      return why;
    },
    get isGivenUp() {
      return isGivenUp;
    },
    checks: () => entry.checksWith === undefined || world.find(entry.checksWith, root) !== undefined,
    server: () => {
      if (running !== undefined && running.state !== "ended") return running;
      if (isGivenUp || isStopped || performance.now() < notBeforeMs) return undefined;
      try {
        return start();
      } catch (error) {
        // Arguments that no program can be given.
        isGivenUp = true;
        why = error instanceof Error ? error.message : String(error);
        return undefined;
      }
    },
    stop: async () => {
      isStopped = true;
      await running?.stop();
    },
  };
}
