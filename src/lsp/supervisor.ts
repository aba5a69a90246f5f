/** A place for one server of one project: it is started when it is needed, and anew when it has ended, within limits. */

import { limits } from "../contract/limits.ts";
import type { Known } from "./diagnostics.ts";
import { type Server, startServer } from "./server.ts";
import type { ServerEntry } from "./servers.ts";

export interface Supervisor {
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

export function createSupervisor(
  entry: ServerEntry,
  root: string,
  program: string,
  environment: LanguageEnvironment,
): Supervisor {
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
    const server = startServer({ entry, program, root, env: cleanEnvironment(environment.env, entry.env) });
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
    checks: () => entry.checksWith === undefined || environment.find(entry.checksWith, root) !== undefined,
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

/** What a language server gets of the environment: what tools need to find themselves, and no tokens of the host. */

const names = new Set([
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "TZ",
  "TMPDIR",
  "TMP",
  "TEMP",
  "XDG_CACHE_HOME",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_RUNTIME_DIR",
  "XDG_STATE_HOME",
  // Where languages have their things.
  "CARGO_HOME",
  "CONDA_PREFIX",
  "GOCACHE",
  "GOFLAGS",
  "GOMODCACHE",
  "GOPATH",
  "GOROOT",
  "JAVA_HOME",
  "NVM_DIR",
  "PYENV_ROOT",
  "PYTHONPATH",
  "RUSTUP_HOME",
  "RUSTUP_TOOLCHAIN",
  "VIRTUAL_ENV",
  // Without these hardly a program starts on Windows.
  "APPDATA",
  "COMSPEC",
  "LOCALAPPDATA",
  "PATHEXT",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "PROGRAMFILES(X86)",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "USERPROFILE",
  "WINDIR",
]);

export function cleanEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  added: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const clean: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    const known = names.has(name.toUpperCase()) || name.startsWith("LC_");
    if (value !== undefined && known) clean[name] = value;
  }
  return { ...clean, ...added };
}

/** What this room is handed of the world outside: it opens no files itself. */

export interface LanguageEnvironment {
  /** Where a program lies that may be run for a project in `folder`; undefined if there is none. */
  find(command: string, folder: string): string | undefined;
  /** Is there something of this name in the folder? */
  has(folder: string, name: string): boolean;
  /** A file of the workspace as it is now, for places in files that were never opened; undefined where it cannot be told. */
  textOf(path: string): string | undefined;
  /** The sign of the file's state now; undefined if it is gone. */
  fingerprintOf(path: string): string | undefined;
  /** The environment that servers' own is taken from. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The roots of the workspace, links resolved. */
  readonly roots: readonly string[];
}
