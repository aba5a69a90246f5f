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
import { createSlot, type Slot, type World } from "./slot.ts";

export function createLanguages(options: LanguageOptions, world: World): Languages {
  const waitMsMax = options.waitMsMax ?? limits.languageWaitMsMax;
  const choice = createChoice(options, world);
  const owed = createOwed();

  /** Shows a file to all servers in charge of it. */
  const shown = (file: SourceFile, saved: boolean): readonly Slot[] => {
    if (!choice.serves(file.path) || Buffer.byteLength(file.text) > limits.languageFileBytesMax) return [];
    const slots = choice.slotsFor(file.path);
    for (const slot of slots) slot.server()?.show(file, { saved });
    return slots;
  };

  /** The same for one that is only looked at: who has read it a moment ago may be behind those who have changed it since. */
  const shownAsIs = (file: SourceFile): readonly Slot[] => {
    if (!choice.serves(file.path)) return [];
    const isNow = world.stampOf(file.path) === file.stamp;
    return isNow ? shown(file, false) : choice.slotsFor(file.path);
  };

  /** Those who cannot find errors would say that there are none. */
  const checking = (slots: readonly Slot[]): readonly Slot[] => slots.filter((slot) => slot.checks());

  /** What a server has open hides the disk from it: files that somebody else changed are shown anew. */
  const bringUpToDate = (but: ReadonlySet<string>): void => {
    for (const { running } of choice.running()) {
      for (const { path, stamp } of running?.open() ?? []) {
        if (!but.has(path) && world.stampOf(path) !== stamp) showAnew(path, running);
      }
    }
  };
  const showAnew = (path: string, server: Server | undefined): void => {
    const stamp = world.stampOf(path);
    const text = stamp === undefined ? undefined : world.textOf(path);
    if (stamp === undefined || text === undefined) server?.removed(path);
    else server?.show({ path, text, stamp }, { saved: false });
  };

  /** Waits for all of them; what each said, what none said, and who failed. */
  const gathered = async (
    path: string,
    slots: readonly { readonly slot: Slot; readonly known: Known }[],
    wait: { readonly untilMs: number; readonly signal: AbortSignal },
  ): Promise<DiagnosticsReport> => {
    const parts: Part[] = [];
    const unavailable: { server: string; why: string }[] = [];
    let pending = false;
    await Promise.all(
      slots.map(async ({ slot, known }) => {
        const server = slot.running;
        await server?.settled(path, wait);
        const said = server?.said(path);
        if (said !== undefined) {
          slot.remember(path, knownOf(said.diagnostics, said.lines));
          parts.push({ said, known });
        } else if (server === undefined || server.state === "ended") {
          unavailable.push({ server: slot.entry.name, why: (await server?.ended) ?? slot.why ?? "it did not start" });
        } else pending = true;
      }),
    );
    return reportOf(path, parts, { pending, unavailable });
  };

  /** Only of the state that the disk has: somebody else may have changed the file meanwhile. */
  const isCurrent = (path: string, slots: readonly { readonly slot: Slot }[]): boolean => {
    const stamp = world.stampOf(path);
    return slots.every(({ slot: { running } }) => {
      const said = running?.said(path);
      if (said === undefined || said.stamp === stamp) return true;
      // It may be the same text with another time; then what was said holds.
      showAnew(path, running);
      return running?.said(path) !== undefined;
    });
  };

  const wait = (signal: AbortSignal, ms: number) => ({ untilMs: performance.now() + ms, signal });

  const told = (files: readonly SourceFile[], session: string): readonly Told[] =>
    files.flatMap((file) => {
      // What a session was not told yet is still news to it.
      const before = owed.take(session, file.path);
      for (const slot of choice.running()) {
        const said = slot.running?.said(file.path);
        if (said !== undefined) slot.remember(file.path, knownOf(said.diagnostics, said.lines));
      }
      const slots = checking(shown(file, true)).map((slot) => ({
        slot,
        known: before?.knownBy(slot) ?? slot.knownOf(file.path) ?? (file.created === true ? noErrors : nothingKnown),
      }));
      return slots.length === 0 ? [] : [{ path: file.path, slots }];
    });

  const remember = (session: string, { path, slots }: Told): void => {
    const knownBy = (slot: Slot): Known | undefined => slots.find((one) => one.slot === slot)?.known;
    owed.add(session, { path, slots, knownBy });
  };

  return {
    serves: (path) => choice.serves(path),
    remedies: (path) => remediesFor(path, serversOf(options).servers),
    touched: (file) => void shownAsIs(file),
    changed: (files, session) => {
      bringUpToDate(new Set(files.map(({ path }) => path)));
      choice.tellWatchers(files.map(({ path, created }) => ({ path, did: created === true ? "created" : "changed" })));
      const all = told(files, session);
      const end = (signal: AbortSignal) => wait(signal, waitMsMax);
      return {
        report: (signal) =>
          heardBy(signal, (own) => {
            const until = end(own);
            return Promise.all(
              all.map(async (one) => {
                const report = await gathered(one.path, one.slots, until);
                const isOld = !report.pending && !isCurrent(one.path, one.slots);
                if (report.pending || isOld) remember(session, one);
                return isOld ? reportOf(one.path, [], { pending: true, unavailable: report.unavailable }) : report;
              }),
            );
          }),
      };
    },
    removed: (paths) => {
      for (const path of paths) {
        owed.forget(path);
        for (const slot of choice.running()) {
          slot.running?.removed(path);
          slot.remember(path, undefined);
        }
      }
      choice.tellWatchers(paths.map((path): WatchedChange => ({ path, did: "deleted" })));
    },
    late: (session) => owed.of(session).flatMap((one) => lateReport(session, one)),
    watchedFilesChanged: (changes) => {
      bringUpToDate(new Set());
      choice.tellWatchers(changes);
    },
    diagnostics: async (file, { signal, waitMsMax: waitMs = limits.languageAnswerMsMax }: AskOptions) => {
      bringUpToDate(new Set([file.path]));
      const slots = checking(shownAsIs(file)).map((slot) => ({ slot, known: nothingKnown }));
      if (slots.length === 0) return undefined;
      // Other files may have changed since it was said.
      for (const { slot } of slots) slot.running?.refresh(file.path);
      const { newErrors, ...report } = await gathered(file.path, slots, wait(signal, waitMs));
      return { ...report, newErrors: [], knownErrors: newErrors };
    },
    ...questionsTo((file) => {
      bringUpToDate(new Set([file.path]));
      return shownAsIs(file);
    }, world),
    close: () => choice.close(),
  };

  /** One report, if all servers have said what they have to say; an owed one that will never come is forgotten. */
  function lateReport(session: string, one: Owed): readonly DiagnosticsReport[] {
    const there = one.slots.filter(({ slot }) => slot.running !== undefined);
    const parts = there.flatMap(({ slot, known }): readonly Part[] => {
      const said = slot.running?.said(one.path, "now");
      return said === undefined ? [] : [{ said, known }];
    });
    if (parts.length < there.length) {
      for (const { slot } of there) slot.running?.askAgain(one.path);
      return [];
    }
    owed.take(session, one.path);
    if (there.length === 0 || !isCurrent(one.path, there)) return [];
    for (const { slot } of there) {
      const said = slot.running?.said(one.path);
      if (said !== undefined) slot.remember(one.path, knownOf(said.diagnostics, said.lines));
    }
    return [reportOf(one.path, parts, { pending: false, unavailable: [] })];
  }
}

/** One listener at the caller's signal, however many wait: very many would look like a leak. */
async function heardBy<Value>(signal: AbortSignal, work: (own: AbortSignal) => Promise<Value>): Promise<Value> {
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

interface Told {
  readonly path: string;
  readonly slots: readonly { readonly slot: Slot; readonly known: Known }[];
}

// Which servers are in charge of a file, by its extension and the project it lies in.

export interface Choice {
  /** Does any server know this extension? Whether its program is there is another question. */
  serves(path: string): boolean;
  /** One of each group; those that were given up have made way for the next. */
  slotsFor(path: string): readonly Slot[];
  running(): readonly Slot[];
  tellWatchers(changes: readonly WatchedChange[]): void;
  close(): Promise<void>;
}

/** How long a program that is not there is not looked for again. */
const lookAgainMs = 10_000;

function createChoice(options: LanguageOptions, world: World): Choice {
  const { servers } = serversOf(options);
  const byExtension = new Map<string, ServerEntry[]>();
  for (const entry of servers) {
    for (const extension of Object.keys(entry.extensions)) {
      byExtension.set(extension, [...(byExtension.get(extension) ?? []), entry]);
    }
  }
  const slots = new Map<string, Slot>();
  const missing = new Map<string, number>();
  let isClosed = false;

  const slotOf = (entry: ServerEntry, root: string): Slot | undefined => {
    const key = `${entry.name}\0${root}`;
    const there = slots.get(key);
    if (there !== undefined) return there;
    const nowMs = performance.now();
    if (nowMs < (missing.get(key) ?? 0)) return undefined;
    const program = world.find(entry.command, root);
    if (program === undefined) {
      if (missing.size > 10_000) missing.clear();
      missing.set(key, nowMs + lookAgainMs);
      return undefined;
    }
    const made = createSlot(entry, root, program, world);
    slots.set(key, made);
    makeRoom(made);
    return made;
  };

  const makeRoom = (but: Slot): void => {
    const inUse = [...slots].filter(([, slot]) => slot !== but && slot.running !== undefined);
    if (inUse.length < limits.languageServersMax) return;
    const [oldest] = inUse.toSorted(([, one], [, other]) => one.usedMs - other.usedMs);
    if (oldest === undefined) return;
    slots.delete(oldest[0]);
    void oldest[1].stop();
  };

  /** The nearest folder above with one of the markers, up to the workspace's root. */
  const rootOf = (path: string, { rootMarkers }: ServerEntry): string => {
    const top = world.roots.filter((root) => isBeneath(path, root)).toSorted((one, two) => two.length - one.length)[0];
    const parent = nodePath.dirname(path);
    if (top === undefined) return parent;
    for (let folder = parent; isBeneath(folder, top); folder = nodePath.dirname(folder)) {
      if (rootMarkers.some((name) => world.has(folder, name))) return folder;
      if (folder === nodePath.dirname(folder)) break;
    }
    return top;
  };

  return {
    serves: (path) => byExtension.has(extensionOf(path)),
    slotsFor: (path) => {
      if (isClosed) return [];
      const chosen = new Map<string, Slot>();
      for (const entry of byExtension.get(extensionOf(path)) ?? []) {
        const before = chosen.get(entry.group);
        if (before !== undefined && !before.isGivenUp) continue;
        const slot = slotOf(entry, rootOf(path, entry));
        if (slot !== undefined) chosen.set(entry.group, slot);
      }
      const nowMs = performance.now();
      for (const slot of chosen.values()) slot.usedMs = nowMs;
      return [...chosen.values()];
    },
    running: () => [...slots.values()].filter(({ running }) => running !== undefined),
    tellWatchers: (changes) => {
      for (const { running, root } of slots.values()) {
        const inside = changes.filter(({ path }) => isBeneath(path, root));
        if (inside.length > 0) running?.watched(inside);
      }
    },
    close: async () => {
      isClosed = true;
      await Promise.all([...slots.values()].map((slot) => slot.stop()));
    },
  };
}

function isBeneath(path: string, root: string): boolean {
  const rest = nodePath.relative(root, path);
  return rest === "" || (rest !== ".." && !rest.startsWith(`..${nodePath.sep}`) && !nodePath.isAbsolute(rest));
}

// What sessions are still owed: files whose diagnostics were not there when the answer was given. Bounded; the oldest goes first.

interface Owed {
  readonly path: string;
  readonly slots: readonly { readonly slot: Slot; readonly known: Known }[];
  /** What was known before the change that nothing was told of yet. */
  knownBy(slot: Slot): Known | undefined;
}

export interface OwedFiles {
  add(session: string, owed: Owed): void;
  /** Takes it away. */
  take(session: string, path: string): Owed | undefined;
  of(session: string): readonly Owed[];
  /** For all sessions. */
  forget(path: string): void;
}

function createOwed(): OwedFiles {
  const sessions = new Map<string, Map<string, Owed>>();
  return {
    add: (session, owed) => {
      const files = sessions.get(session) ?? new Map<string, Owed>();
      sessions.delete(session);
      sessions.set(session, files);
      files.delete(owed.path);
      files.set(owed.path, owed);
      dropFirst(files, limits.languageLateFilesMax);
      dropFirst(sessions, limits.languageLateSessionsMax);
    },
    take: (session, path) => {
      const files = sessions.get(session);
      const owed = files?.get(path);
      files?.delete(path);
      if (files?.size === 0) sessions.delete(session);
      return owed;
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
