/** The language servers of a toolkit: which handle a file, what they are sent, which diagnostics a session gets. */

import { setMaxListeners } from "node:events";
import * as nodePath from "node:path";
import { contains, dropOldest } from "../contract/common.ts";
import { limits } from "../contract/limits.ts";
import type {
  AskOptions,
  Diagnostic,
  DiagnosticsReport,
  LanguageOptions,
  Languages,
  SourceFile,
  WatchedChange,
} from "../contract/lsp.ts";
import { splitByKnown, type KnownDiagnostics, knownOf, noErrors, nothingKnown } from "./diagnostics.ts";
import { questionsTo } from "./questions.ts";
import { extensionOf, type FileDiagnostics, type Server } from "./server.ts";
import { installOf, type ServerEntry, serversOf } from "./servers.ts";
import { createSupervisor, type Supervisor, type LanguageEnvironment } from "./supervisor.ts";

export function createLanguages(options: LanguageOptions, environment: LanguageEnvironment): Languages {
  const waitMsMax = options.waitMsMax ?? limits.languageWaitMsMax;
  const choice = createServerSelection(options, environment);
  const pending = createPendingStore();

  const sendFile = (file: SourceFile, saved: boolean): readonly Supervisor[] => {
    if (!choice.serves(file.path) || Buffer.byteLength(file.text) > limits.languageFileBytesMax) return [];
    const supervisors = choice.supervisorsFor(file.path);
    for (const supervisor of supervisors) supervisor.server()?.show(file, { saved });
    return supervisors;
  };

  /** For a file that was only read: its text may be older than a change that another call has made since. */
  const sendIfCurrent = (file: SourceFile): readonly Supervisor[] => {
    if (!choice.serves(file.path)) return [];
    const isNow = environment.fingerprintOf(file.path) === file.fingerprint;
    return isNow ? sendFile(file, false) : choice.supervisorsFor(file.path);
  };

  /** Leaves out servers that cannot find errors: they would report that there are none. */
  const onlyChecking = (supervisors: readonly Supervisor[]): readonly Supervisor[] =>
    supervisors.filter((supervisor) => supervisor.checks());

  /** A server does not look at the disk for a file that it has open: files that changed on disk are sent again. */
  const bringUpToDate = (but: ReadonlySet<string>): void => {
    for (const { running } of choice.running()) {
      for (const { path, fingerprint } of running?.open() ?? []) {
        if (!but.has(path) && environment.fingerprintOf(path) !== fingerprint) sendAgain(path, running);
      }
    }
  };
  const sendAgain = (path: string, server: Server | undefined): void => {
    const fingerprint = environment.fingerprintOf(path);
    const text = fingerprint === undefined ? undefined : environment.textOf(path);
    if (fingerprint === undefined || text === undefined) server?.removed(path);
    else server?.show({ path, text, fingerprint }, { saved: false });
  };

  /** Waits for all servers and merges their diagnostics; servers that failed or are still pending are named. */
  const gatherReport = async (
    path: string,
    supervisors: Notified["supervisors"],
    wait: { readonly untilMs: number; readonly signal: AbortSignal },
  ): Promise<DiagnosticsReport> => {
    const parts: Part[] = [];
    const unavailable: { server: string; why: string }[] = [];
    let pending = false;
    await Promise.all(
      supervisors.map(async ({ supervisor, known }) => {
        const server = supervisor.running;
        await server?.settled(path, wait);
        const current = rememberCurrent(supervisor, path);
        if (current !== undefined) parts.push({ current, known });
        else if (server === undefined || server.state === "ended") {
          unavailable.push({
            server: supervisor.entry.name,
            why: (await server?.ended) ?? supervisor.why ?? "it did not start",
          });
        } else pending = true;
      }),
    );
    return reportOf(path, parts, { pending, unavailable });
  };

  /** Whether the diagnostics are about the file on disk: another process may have changed it meanwhile. */
  const isCurrent = (path: string, supervisors: readonly { readonly supervisor: Supervisor }[]): boolean => {
    const fingerprint = environment.fingerprintOf(path);
    return supervisors.every(({ supervisor: { running } }) => {
      const current = running?.diagnosticsOf(path);
      if (current === undefined || current.fingerprint === fingerprint) return true;
      // The text may be the same with a new mtime; then the diagnostics are still valid.
      sendAgain(path, running);
      return running?.diagnosticsOf(path) !== undefined;
    });
  };

  const rememberCurrent = (supervisor: Supervisor, path: string): FileDiagnostics | undefined => {
    const current = supervisor.running?.diagnosticsOf(path);
    if (current !== undefined) supervisor.remember(path, knownOf(current.diagnostics, current.lines));
    return current;
  };

  const wait = (signal: AbortSignal, ms: number) => ({ untilMs: performance.now() + ms, signal });

  const notifyChanged = (files: readonly SourceFile[], session: string): readonly Notified[] =>
    files.flatMap((file) => {
      // Errors that the session was not shown yet are still new to it.
      const before = pending.take(session, file.path);
      for (const supervisor of choice.running()) rememberCurrent(supervisor, file.path);
      const supervisors = onlyChecking(sendFile(file, true)).map((supervisor) => ({
        supervisor,
        known:
          before?.supervisors.find((one) => one.supervisor === supervisor)?.known ??
          supervisor.knownOf(file.path) ??
          (file.created === true ? noErrors : nothingKnown),
      }));
      return supervisors.length === 0 ? [] : [{ path: file.path, supervisors }];
    });

  return {
    serves: (path) => choice.serves(path),
    remedies: (path) =>
      serversOf(options)
        .servers.filter(({ extensions }) => Object.hasOwn(extensions, extensionOf(path)))
        .map(({ name, command }) => ({ server: name, command, install: installOf(name) })),
    touched: (file) => void sendIfCurrent(file),
    changed: (files, session) => {
      bringUpToDate(new Set(files.map(({ path }) => path)));
      choice.notifyWatchers(
        files.map(({ path, created }) => ({ path, did: created === true ? "created" : "changed" })),
      );
      const all = notifyChanged(files, session);
      const end = (signal: AbortSignal) => wait(signal, waitMsMax);
      return {
        report: (signal) =>
          withOwnSignal(signal, (own) => {
            const until = end(own);
            return Promise.all(
              all.map(async (one) => {
                const report = await gatherReport(one.path, one.supervisors, until);
                const isOld = !report.pending && !isCurrent(one.path, one.supervisors);
                if (report.pending || isOld) pending.add(session, one);
                return isOld ? reportOf(one.path, [], { pending: true, unavailable: report.unavailable }) : report;
              }),
            );
          }),
      };
    },
    removed: (paths) => {
      for (const path of paths) {
        pending.forget(path);
        for (const supervisor of choice.running()) {
          supervisor.running?.removed(path);
          supervisor.remember(path, undefined);
        }
      }
      choice.notifyWatchers(paths.map((path): WatchedChange => ({ path, did: "deleted" })));
    },
    late: (session) => pending.of(session).flatMap((one) => lateReport(session, one)),
    watchedFilesChanged: (changes) => {
      bringUpToDate(new Set());
      choice.notifyWatchers(changes);
    },
    diagnostics: async (file, { signal, waitMsMax: waitMs = limits.languageAnswerMsMax }: AskOptions) => {
      bringUpToDate(new Set([file.path]));
      const supervisors = onlyChecking(sendIfCurrent(file)).map((supervisor) => ({ supervisor, known: nothingKnown }));
      if (supervisors.length === 0) return undefined;
      // Other files may have changed since the last diagnostics.
      for (const { supervisor } of supervisors) supervisor.running?.refresh(file.path);
      const { newErrors, ...report } = await gatherReport(file.path, supervisors, wait(signal, waitMs));
      return { ...report, newErrors: [], knownErrors: newErrors };
    },
    ...questionsTo((file) => {
      bringUpToDate(new Set([file.path]));
      return sendIfCurrent(file);
    }, environment),
    close: () => choice.close(),
  };

  /** The report, once all servers have finished; pending diagnostics that can no longer arrive are dropped. */
  function lateReport(session: string, one: Notified): readonly DiagnosticsReport[] {
    const existing = one.supervisors.filter(({ supervisor }) => supervisor.running !== undefined);
    const parts = existing.flatMap(({ supervisor, known }): readonly Part[] => {
      const current = supervisor.running?.diagnosticsOf(one.path, "now");
      return current === undefined ? [] : [{ current, known }];
    });
    if (parts.length < existing.length) {
      for (const { supervisor } of existing) supervisor.running?.askAgain(one.path);
      return [];
    }
    pending.take(session, one.path);
    if (existing.length === 0 || !isCurrent(one.path, existing)) return [];
    for (const { supervisor } of existing) rememberCurrent(supervisor, one.path);
    return [reportOf(one.path, parts, { pending: false, unavailable: [] })];
  }
}

/** Puts one listener on the caller's signal, however many servers wait: Node warns of a leak above ten. */
async function withOwnSignal<Value>(signal: AbortSignal, work: (own: AbortSignal) => Promise<Value>): Promise<Value> {
  const own = new AbortController();
  setMaxListeners(0, own.signal);
  const stop = (): void => own.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await work(own.signal);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

interface Notified {
  readonly path: string;
  /** With the errors that were known before the first change that was not reported yet. */
  readonly supervisors: readonly { readonly supervisor: Supervisor; readonly known: KnownDiagnostics }[];
}

// Which servers handle a file, by its extension and its project.

/** How long a missing program is not looked for again. */
const lookAgainMs = 10_000;

function createServerSelection(options: LanguageOptions, environment: LanguageEnvironment) {
  const { servers } = serversOf(options);
  const byExtension = new Map<string, ServerEntry[]>();
  for (const entry of servers) {
    for (const extension of Object.keys(entry.extensions)) {
      byExtension.set(extension, [...(byExtension.get(extension) ?? []), entry]);
    }
  }
  const supervisors = new Map<string, Supervisor>();
  const missing = new Map<string, number>();
  let isClosed = false;

  const supervisorOf = (entry: ServerEntry, root: string): Supervisor | undefined => {
    const key = `${entry.name}\0${root}`;
    const existing = supervisors.get(key);
    if (existing !== undefined) return existing;
    const nowMs = performance.now();
    if (nowMs < (missing.get(key) ?? 0)) return undefined;
    const program = environment.find(entry.command, root);
    if (program === undefined) {
      if (missing.size > 10_000) missing.clear();
      missing.set(key, nowMs + lookAgainMs);
      return undefined;
    }
    const created = createSupervisor(entry, root, program, environment);
    supervisors.set(key, created);
    makeRoom(created);
    return created;
  };

  const makeRoom = (but: Supervisor): void => {
    const inUse = [...supervisors].filter(([, supervisor]) => supervisor !== but && supervisor.running !== undefined);
    if (inUse.length < limits.languageServersMax) return;
    const [oldest] = inUse.toSorted(([, one], [, other]) => one.usedMs - other.usedMs);
    if (oldest === undefined) return;
    supervisors.delete(oldest[0]);
    void oldest[1].stop();
  };

  const rootOf = (path: string, { rootMarkers }: ServerEntry): string => {
    const top = environment.roots
      .filter((root) => contains(root, path))
      .toSorted((one, two) => two.length - one.length)[0];
    const parent = nodePath.dirname(path);
    if (top === undefined) return parent;
    for (let folder = parent; contains(top, folder); folder = nodePath.dirname(folder)) {
      if (rootMarkers.some((name) => environment.has(folder, name))) return folder;
      if (folder === nodePath.dirname(folder)) break;
    }
    return top;
  };

  return {
    serves: (path: string): boolean => byExtension.has(extensionOf(path)),
    /** One server per group; a server that was given up is replaced by the next of its group. */
    supervisorsFor: (path: string): readonly Supervisor[] => {
      if (isClosed) return [];
      const chosen = new Map<string, Supervisor>();
      for (const entry of byExtension.get(extensionOf(path)) ?? []) {
        const before = chosen.get(entry.group);
        if (before !== undefined && !before.isGivenUp) continue;
        const supervisor = supervisorOf(entry, rootOf(path, entry));
        if (supervisor !== undefined) chosen.set(entry.group, supervisor);
      }
      const nowMs = performance.now();
      for (const supervisor of chosen.values()) supervisor.usedMs = nowMs;
      return [...chosen.values()];
    },
    running: (): readonly Supervisor[] => [...supervisors.values()].filter(({ running }) => running !== undefined),
    notifyWatchers: (changes: readonly WatchedChange[]): void => {
      for (const { running, root } of supervisors.values()) {
        const inside = changes.filter(({ path }) => contains(root, path));
        if (inside.length > 0) running?.watched(inside);
      }
    },
    close: async (): Promise<void> => {
      isClosed = true;
      await Promise.all([...supervisors.values()].map((supervisor) => supervisor.stop()));
    },
  };
}

// Diagnostics that were not ready when the answer was given, by session and file. Bounded; the oldest are dropped first.

function createPendingStore() {
  const sessions = new Map<string, Map<string, Notified>>();
  return {
    add: (session: string, pending: Notified): void => {
      const files = sessions.get(session) ?? new Map<string, Notified>();
      sessions.delete(session);
      sessions.set(session, files);
      files.delete(pending.path);
      files.set(pending.path, pending);
      dropOldest(files, limits.languageLateFilesMax);
      dropOldest(sessions, limits.languageLateSessionsMax);
    },
    take: (session: string, path: string): Notified | undefined => {
      const files = sessions.get(session);
      const pending = files?.get(path);
      files?.delete(path);
      if (files?.size === 0) sessions.delete(session);
      return pending;
    },
    of: (session: string): readonly Notified[] => [...(sessions.get(session)?.values() ?? [])],
    forget: (path: string): void => {
      for (const files of sessions.values()) files.delete(path);
    },
  };
}

// The report on one file: new errors, then known errors, then warnings, each up to a limit.

interface Part {
  readonly current: FileDiagnostics;
  readonly known: KnownDiagnostics;
}

function reportOf(
  path: string,
  parts: readonly Part[],
  { pending, unavailable }: Pick<DiagnosticsReport, "pending" | "unavailable">,
): DiagnosticsReport {
  const fresh: Diagnostic[] = [];
  const old: Diagnostic[] = [];
  const warnings: Diagnostic[] = [];
  let errorsLeftOut = 0;
  let warningsLeftOut = 0;
  for (const { current, known } of parts) {
    const errors = current.diagnostics.filter(({ severity }) => severity === "error");
    const both = splitByKnown(errors, known, current.lines);
    fresh.push(...both.fresh);
    old.push(...both.known);
    errorsLeftOut += current.errorsMore;
    warningsLeftOut += current.warningsMore;
    warnings.push(...current.diagnostics.filter(({ severity }) => severity === "warning"));
  }
  const newErrors = fresh.slice(0, limits.languageErrorsShownMax);
  const knownErrors = old.slice(0, limits.languageErrorsShownMax - newErrors.length);
  const warningsShown = warnings.slice(0, limits.languageWarningsShownMax);
  return {
    path,
    newErrors,
    knownErrors,
    warnings: warningsShown,
    isFirstLook: parts.some(({ known }) => known === nothingKnown),
    pending,
    errorsLeftOut: errorsLeftOut + fresh.length + old.length - newErrors.length - knownErrors.length,
    warningsLeftOut: warningsLeftOut + warnings.length - warningsShown.length,
    unavailable,
  };
}
