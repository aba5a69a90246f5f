/**
 * The language servers of a toolkit: which of them are in charge of a file, what they are told about it, and what a session
 * is told in time, or later.
 */

import { setMaxListeners } from "node:events";
import * as nodePath from "node:path";
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
import { divided, type Known, knownOf, noErrors, nothingKnown } from "./diagnostics.ts";
import { questionsTo } from "./questions.ts";
import { remediesFor } from "./remedies.ts";
import { extensionOf, type Said, type Server } from "./server.ts";
import { type ServerEntry, serversOf } from "./servers.ts";
import { createSupervisor, type Supervisor, type LanguageEnvironment } from "./supervisor.ts";

export function createLanguages(options: LanguageOptions, environment: LanguageEnvironment): Languages {
  const waitMsMax = options.waitMsMax ?? limits.languageWaitMsMax;
  const choice = createChoice(options, environment);
  const pending = createPendingStore();

  /** Shows a file to all servers in charge of it. */
  const shown = (file: SourceFile, saved: boolean): readonly Supervisor[] => {
    if (!choice.serves(file.path) || Buffer.byteLength(file.text) > limits.languageFileBytesMax) return [];
    const supervisors = choice.supervisorsFor(file.path);
    for (const supervisor of supervisors) supervisor.server()?.show(file, { saved });
    return supervisors;
  };

  /** The same for one that is only looked at: who has read it a moment ago may be behind those who have changed it since. */
  const shownAsIs = (file: SourceFile): readonly Supervisor[] => {
    if (!choice.serves(file.path)) return [];
    const isNow = environment.fingerprintOf(file.path) === file.fingerprint;
    return isNow ? shown(file, false) : choice.supervisorsFor(file.path);
  };

  /** Those who cannot find errors would say that there are none. */
  const checking = (supervisors: readonly Supervisor[]): readonly Supervisor[] =>
    supervisors.filter((supervisor) => supervisor.checks());

  /** What a server has open hides the disk from it: files that somebody else changed are shown anew. */
  const bringUpToDate = (but: ReadonlySet<string>): void => {
    for (const { running } of choice.running()) {
      for (const { path, fingerprint } of running?.open() ?? []) {
        if (!but.has(path) && environment.fingerprintOf(path) !== fingerprint) showAnew(path, running);
      }
    }
  };
  const showAnew = (path: string, server: Server | undefined): void => {
    const fingerprint = environment.fingerprintOf(path);
    const text = fingerprint === undefined ? undefined : environment.textOf(path);
    if (fingerprint === undefined || text === undefined) server?.removed(path);
    else server?.show({ path, text, fingerprint }, { saved: false });
  };

  /** Waits for all of them; what each said, what none said, and who failed. */
  const gathered = async (
    path: string,
    supervisors: readonly { readonly supervisor: Supervisor; readonly known: Known }[],
    wait: { readonly untilMs: number; readonly signal: AbortSignal },
  ): Promise<DiagnosticsReport> => {
    const parts: Part[] = [];
    const unavailable: { server: string; why: string }[] = [];
    let pending = false;
    await Promise.all(
      supervisors.map(async ({ supervisor, known }) => {
        const server = supervisor.running;
        await server?.settled(path, wait);
        const said = server?.said(path);
        if (said !== undefined) {
          supervisor.remember(path, knownOf(said.diagnostics, said.lines));
          parts.push({ said, known });
        } else if (server === undefined || server.state === "ended") {
          unavailable.push({
            server: supervisor.entry.name,
            why: (await server?.ended) ?? supervisor.why ?? "it did not start",
          });
        } else pending = true;
      }),
    );
    return reportOf(path, parts, { pending, unavailable });
  };

  /** Only of the state that the disk has: somebody else may have changed the file meanwhile. */
  const isCurrent = (path: string, supervisors: readonly { readonly supervisor: Supervisor }[]): boolean => {
    const fingerprint = environment.fingerprintOf(path);
    return supervisors.every(({ supervisor: { running } }) => {
      const said = running?.said(path);
      if (said === undefined || said.fingerprint === fingerprint) return true;
      // It may be the same text with another time; then what was said holds.
      showAnew(path, running);
      return running?.said(path) !== undefined;
    });
  };

  const wait = (signal: AbortSignal, ms: number) => ({ untilMs: performance.now() + ms, signal });

  const notified = (files: readonly SourceFile[], session: string): readonly Notified[] =>
    files.flatMap((file) => {
      // What a session was not told yet is still news to it.
      const before = pending.take(session, file.path);
      for (const supervisor of choice.running()) {
        const said = supervisor.running?.said(file.path);
        if (said !== undefined) supervisor.remember(file.path, knownOf(said.diagnostics, said.lines));
      }
      const supervisors = checking(shown(file, true)).map((supervisor) => ({
        supervisor,
        known:
          before?.knownBy(supervisor) ??
          supervisor.knownOf(file.path) ??
          (file.created === true ? noErrors : nothingKnown),
      }));
      return supervisors.length === 0 ? [] : [{ path: file.path, supervisors }];
    });

  const remember = (session: string, { path, supervisors }: Notified): void => {
    const knownBy = (supervisor: Supervisor): Known | undefined =>
      supervisors.find((one) => one.supervisor === supervisor)?.known;
    pending.add(session, { path, supervisors, knownBy });
  };

  return {
    serves: (path) => choice.serves(path),
    remedies: (path) => remediesFor(path, serversOf(options).servers),
    touched: (file) => void shownAsIs(file),
    changed: (files, session) => {
      bringUpToDate(new Set(files.map(({ path }) => path)));
      choice.notifyWatchers(
        files.map(({ path, created }) => ({ path, did: created === true ? "created" : "changed" })),
      );
      const all = notified(files, session);
      const end = (signal: AbortSignal) => wait(signal, waitMsMax);
      return {
        report: (signal) =>
          publishedTo(signal, (own) => {
            const until = end(own);
            return Promise.all(
              all.map(async (one) => {
                const report = await gathered(one.path, one.supervisors, until);
                const isOld = !report.pending && !isCurrent(one.path, one.supervisors);
                if (report.pending || isOld) remember(session, one);
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
      const supervisors = checking(shownAsIs(file)).map((supervisor) => ({ supervisor, known: nothingKnown }));
      if (supervisors.length === 0) return undefined;
      // Other files may have changed since it was said.
      for (const { supervisor } of supervisors) supervisor.running?.refresh(file.path);
      const { newErrors, ...report } = await gathered(file.path, supervisors, wait(signal, waitMs));
      return { ...report, newErrors: [], knownErrors: newErrors };
    },
    ...questionsTo((file) => {
      bringUpToDate(new Set([file.path]));
      return shownAsIs(file);
    }, environment),
    close: () => choice.close(),
  };

  /** One report, if all servers have said what they have to say; an owed one that will never come is forgotten. */
  function lateReport(session: string, one: PendingDiagnostics): readonly DiagnosticsReport[] {
    const there = one.supervisors.filter(({ supervisor }) => supervisor.running !== undefined);
    const parts = there.flatMap(({ supervisor, known }): readonly Part[] => {
      const said = supervisor.running?.said(one.path, "now");
      return said === undefined ? [] : [{ said, known }];
    });
    if (parts.length < there.length) {
      for (const { supervisor } of there) supervisor.running?.askAgain(one.path);
      return [];
    }
    pending.take(session, one.path);
    if (there.length === 0 || !isCurrent(one.path, there)) return [];
    for (const { supervisor } of there) {
      const said = supervisor.running?.said(one.path);
      if (said !== undefined) supervisor.remember(one.path, knownOf(said.diagnostics, said.lines));
    }
    return [reportOf(one.path, parts, { pending: false, unavailable: [] })];
  }
}

/** One listener at the caller's signal, however many wait: very many would look like a leak. */
async function publishedTo<Value>(signal: AbortSignal, work: (own: AbortSignal) => Promise<Value>): Promise<Value> {
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
  readonly supervisors: readonly { readonly supervisor: Supervisor; readonly known: Known }[];
}

// Which servers are in charge of a file, by its extension and the project it lies in.

export interface Choice {
  /** Does any server know this extension? Whether its program is there is another question. */
  serves(path: string): boolean;
  /** One of each group; those that were given up have made way for the next. */
  supervisorsFor(path: string): readonly Supervisor[];
  running(): readonly Supervisor[];
  notifyWatchers(changes: readonly WatchedChange[]): void;
  close(): Promise<void>;
}

/** How long a program that is not there is not looked for again. */
const lookAgainMs = 10_000;

function createChoice(options: LanguageOptions, environment: LanguageEnvironment): Choice {
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
    const there = supervisors.get(key);
    if (there !== undefined) return there;
    const nowMs = performance.now();
    if (nowMs < (missing.get(key) ?? 0)) return undefined;
    const program = environment.find(entry.command, root);
    if (program === undefined) {
      if (missing.size > 10_000) missing.clear();
      missing.set(key, nowMs + lookAgainMs);
      return undefined;
    }
    const made = createSupervisor(entry, root, program, environment);
    supervisors.set(key, made);
    makeRoom(made);
    return made;
  };

  const makeRoom = (but: Supervisor): void => {
    const inUse = [...supervisors].filter(([, supervisor]) => supervisor !== but && supervisor.running !== undefined);
    if (inUse.length < limits.languageServersMax) return;
    const [oldest] = inUse.toSorted(([, one], [, other]) => one.usedMs - other.usedMs);
    if (oldest === undefined) return;
    supervisors.delete(oldest[0]);
    void oldest[1].stop();
  };

  /** The nearest folder above with one of the markers, up to the workspace's root. */
  const rootOf = (path: string, { rootMarkers }: ServerEntry): string => {
    const top = environment.roots
      .filter((root) => isBeneath(path, root))
      .toSorted((one, two) => two.length - one.length)[0];
    const parent = nodePath.dirname(path);
    if (top === undefined) return parent;
    for (let folder = parent; isBeneath(folder, top); folder = nodePath.dirname(folder)) {
      if (rootMarkers.some((name) => environment.has(folder, name))) return folder;
      if (folder === nodePath.dirname(folder)) break;
    }
    return top;
  };

  return {
    serves: (path) => byExtension.has(extensionOf(path)),
    supervisorsFor: (path) => {
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
    running: () => [...supervisors.values()].filter(({ running }) => running !== undefined),
    notifyWatchers: (changes) => {
      for (const { running, root } of supervisors.values()) {
        const inside = changes.filter(({ path }) => isBeneath(path, root));
        if (inside.length > 0) running?.watched(inside);
      }
    },
    close: async () => {
      isClosed = true;
      await Promise.all([...supervisors.values()].map((supervisor) => supervisor.stop()));
    },
  };
}

function isBeneath(path: string, root: string): boolean {
  const rest = nodePath.relative(root, path);
  return rest === "" || (rest !== ".." && !rest.startsWith(`..${nodePath.sep}`) && !nodePath.isAbsolute(rest));
}

// What sessions are still owed: files whose diagnostics were not there when the answer was given. Bounded; the oldest goes first.

interface PendingDiagnostics {
  readonly path: string;
  readonly supervisors: readonly { readonly supervisor: Supervisor; readonly known: Known }[];
  /** What was known before the change that nothing was told of yet. */
  knownBy(supervisor: Supervisor): Known | undefined;
}

export interface PendingStore {
  add(session: string, pending: PendingDiagnostics): void;
  /** Takes it away. */
  take(session: string, path: string): PendingDiagnostics | undefined;
  of(session: string): readonly PendingDiagnostics[];
  /** For all sessions. */
  forget(path: string): void;
}

function createPendingStore(): PendingStore {
  const sessions = new Map<string, Map<string, PendingDiagnostics>>();
  return {
    add: (session, pending) => {
      const files = sessions.get(session) ?? new Map<string, PendingDiagnostics>();
      sessions.delete(session);
      sessions.set(session, files);
      files.delete(pending.path);
      files.set(pending.path, pending);
      dropFirst(files, limits.languageLateFilesMax);
      dropFirst(sessions, limits.languageLateSessionsMax);
    },
    take: (session, path) => {
      const files = sessions.get(session);
      const pending = files?.get(path);
      files?.delete(path);
      if (files?.size === 0) sessions.delete(session);
      return pending;
    },
    of: (session) => [...(sessions.get(session)?.values() ?? [])],
    forget: (path) => {
      for (const files of sessions.values()) files.delete(path);
    },
  };
}

function dropFirst(map: Map<string, unknown>, max: number): void {
  for (const key of map.keys()) {
    if (map.size <= max) return;
    map.delete(key);
  }
}

// What is told of one file: errors that are new, then those that were known, then warnings, each up to a limit.

/** What one server said, and what it was known to say before. */
interface Part {
  readonly said: Said;
  readonly known: Known;
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
  for (const { said, known } of parts) {
    const errors = said.diagnostics.filter(({ severity }) => severity === "error");
    const both = divided(errors, known, said.lines);
    fresh.push(...both.fresh);
    old.push(...both.known);
    errorsLeftOut += said.errorsMore;
    warningsLeftOut += said.warningsMore;
    warnings.push(...said.diagnostics.filter(({ severity }) => severity === "warning"));
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
