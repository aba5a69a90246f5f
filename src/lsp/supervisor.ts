/** Starts one server of one project when it is needed, and restarts it after a crash, within limits. */

import { dropOldest } from "../contract/common.ts";
import { limits } from "../contract/limits.ts";
import type { KnownDiagnostics } from "./diagnostics.ts";
import { type Server, startServer } from "./server.ts";
import type { ServerEntry } from "./servers.ts";

export type Supervisor = ReturnType<typeof createSupervisor>;

/** A server that was never ready gets fewer starts than one that was. */
const startsUnreadyMax = 2;

export function createSupervisor(entry: ServerEntry, root: string, program: string, environment: LanguageEnvironment) {
  const known = new Map<string, KnownDiagnostics>();
  let running: Server | undefined;
  let starts = 0;
  let everReady = false;
  let why: string | undefined;
  let isGivenUp = false;
  let notBeforeMs = 0;
  let isStopped = false;

  const start = (): Server => {
    starts += 1;
    const server = startServer({ entry, program, root, env: { ...environment.env, ...entry.env } });
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
    knownOf: (path: string) => known.get(path),
    /** `now` undefined: the file is gone. */
    remember: (path: string, now: KnownDiagnostics | undefined): void => {
      known.delete(path);
      if (now !== undefined) known.set(path, now);
      dropOldest(known, limits.languageKnownFilesMax);
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
    checks: () => entry.checksWith === undefined || environment.find(entry.checksWith, root) !== undefined,
    /** The running server, or a new one; undefined while it must not be restarted, and for good after too many failures. */
    server: (): Server | undefined => {
      if (running !== undefined && running.state !== "ended") return running;
      if (isGivenUp || isStopped || performance.now() < notBeforeMs) return undefined;
      try {
        return start();
      } catch (error) {
        // `spawn` throws for arguments that no process can be given, such as a NUL byte.
        isGivenUp = true;
        why = error instanceof Error ? error.message : String(error);
        return undefined;
      }
    },
    stop: async (): Promise<void> => {
      isStopped = true;
      await running?.stop();
    },
  };
}

/** What this room gets from outside: it opens no files itself. */
export interface LanguageEnvironment {
  /** The path of a program that may be run for a project in `folder`; undefined if there is none. */
  find(command: string, folder: string): string | undefined;
  has(folder: string, name: string): boolean;
  /** The current text of a workspace file, for positions in files that were never opened; undefined if it cannot be read. */
  textOf(path: string): string | undefined;
  fingerprintOf(path: string): string | undefined;
  /** The variables that every server gets. */
  readonly env: Readonly<Record<string, string>>;
  readonly roots: readonly string[];
}
