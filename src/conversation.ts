/** A session: what one conversation knows, and the one function that every call goes through. */

import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import type { CallOptions, FilehandOptions, RewindOptions, Session, SessionOptions, ToolFunctions } from "./api.ts";
import { type AnswerLimit, answerBytes, fittedOutcome, limitOf, pathsShownIn, withinLimit } from "./answer-size.ts";
import { type Seen, watched, type Watchers } from "./call-event.ts";
import { isLeaving } from "./contract/ask.ts";
import type { Reply } from "./contract/call.ts";
import { limits } from "./contract/limits.ts";
import type { Permissions } from "./contract/permission.ts";
import { Problem } from "./contract/problem.ts";
import type { Profile } from "./contract/profile.ts";
import type { RewindOutcome, RewindRequest } from "./contract/rewind.ts";
import type { Outcome, Request } from "./contract/verb.ts";
import { orAborted } from "./disk/queue.ts";
import { described } from "./dialects/described.ts";
import type { Dialect, Facts, Words } from "./dialects/dialect.ts";
import type { DialectName } from "./dialects/index.ts";
import { isExemptModel } from "./dialects/exempt-models.ts";
import { requestOf } from "./dialects/lenient-input.ts";
import { noteShown, openOnce, reportOf } from "./file-questions.ts";
import { withFolders } from "./folders-outside.ts";
import type { ReadStates } from "./disk/read-states.ts";
import type { Guard } from "./guard/guard.ts";
import { byHost, queueOfHost } from "./host-calls.ts";
import type { SessionState } from "./guard/session-state.ts";
import type { History } from "./history/history.ts";
import { languageOptionsOf } from "./languages.ts";
import { lazily } from "./disk/loading.ts";
import { nextTurn } from "./fair-share.ts";
import { lazyWorkspace } from "./lazy-workspace.ts";
import { createMessages } from "./messages.ts";
import { cardNamed, verbOf } from "./named-card.ts";
import { renderPages } from "./pages.ts";
import {
  costOfReply,
  failureOf,
  inputOf,
  orThrow,
  saysSomething,
  tokensOf,
  wholeRead,
  withLate,
} from "./reply-facts.ts";
import { type Claim, createCallQueue, type PathUse, type Place } from "./session/call-queue.ts";
import { createLedger } from "./session/ledger.ts";
import { changeRules, isOffered, refuseMode, tuned } from "./session-rules.ts";
import { claimed, claimsOf, everything } from "./tools/claims.ts";
import { costOf } from "./tools/cost.ts";
import { runTool } from "./tools/index.ts";
import { lateReports } from "./tools/languages.ts";
import type { Observer } from "./tools/observe.ts";
import type { Bench } from "./tools/tool.ts";
import type { AsData } from "./workspace.ts";

/** What a session has from its toolkit. */
export interface Shared extends Pick<Bench, "disk" | "restricted" | "indexes" | "pages" | "locks" | "languages"> {
  readonly guard: Guard;
  readonly state: SessionState;
  readonly permissions: (guard: () => Guard) => Permissions;
  readonly openPast: (() => Promise<History>) | undefined;
  readonly options: FilehandOptions;
  readonly watchers: Watchers;
  /** Undefined once what a killed process left is settled. */
  readonly settling: () => Promise<void> | undefined;
  /** Where relative paths start, below the root. */
  readonly cwd: string;
  /** Where sessions keep what they have read; undefined without a state folder. */
  readonly readStates: ReadStates | undefined;
}

const outlining = lazily(() => import("./tools/outline.ts"));

/** A call that was understood: what it works on, and the work. */
interface Work<Answer> {
  /** MUST NOT throw. */
  readonly claims: (bench: Bench) => readonly Claim[];
  readonly work: (bench: Bench, facts: () => Facts) => Promise<Answer>;
}

/** For calls that nobody cancels, of which very many may listen at once. */
const never = new AbortController().signal;
setMaxListeners(0, never);

/** Limits that one session has met; there is one for each client. */
const profilesMax = 100;

const asItIs = <Same>(outcome: Same): Same => outcome;

export function startSession<Name extends DialectName>(
  dialect: Dialect,
  chosen: SessionOptions<Name>,
  { options, cwd, openPast, state, permissions, watchers, readStates, settling, ...first }: Shared,
): Session<Name> {
  const profile = tuned(dialect.profile, options);
  /** By the bytes of an answer: pages are kept by the profile that they were read with. */
  const profiles = new Map<number, Profile>();
  const profileFor = (given: CallOptions): Profile => {
    const answerBytesMax = limitOf(given, options)?.bytesMax;
    if (answerBytesMax === undefined) return profile;
    const known = profiles.get(answerBytesMax) ?? { ...profile, answerBytesMax };
    if (profiles.size < profilesMax) profiles.set(answerBytesMax, known);
    return known;
  };
  const cards = dialect.cards.filter(({ optIn }) => isOffered(optIn, options));
  /** Reaches further once somebody let the session into a folder outside the roots. */
  let shared = first;
  const keptAs = chosen.keepReadState === true && readStates !== undefined ? chosen.id : undefined;
  const ledger = createLedger(chosen.readState ?? (keptAs === undefined ? undefined : readStates?.find(keptAs)));
  const ledgerChanged = keptAs === undefined ? undefined : readStates?.follow(keptAs, () => ledger.state());
  let changesKept = 0;
  const { shared: isShared = false } = chosen;
  const ownQueue = createCallQueue();
  const offered = options.instructions === true ? new Set<string>() : undefined;
  const ids = { session: chosen.id ?? randomUUID(), next: () => options.ids?.next() ?? randomUUID() };
  const reminder = (options.reminder ?? true) && !isExemptModel(options.model, options.reminderExemptModels);
  const clock = options.clock ?? { nowMs: () => performance.now() };
  /** What each reply shows, for as long as its host has the reply. */
  const shownBy = new WeakMap<Reply, Outcome>();
  const figures = { calls: 0, failures: 0, tokensGiven: 0, tokensSaved: 0 };

  // Loaded for those who want it.
  const observer = lazily(async (): Promise<Observer> => (await import("./tools/observe.ts")).createObserver());
  const messages = createMessages(async () => {
    const roots = shared.disk.roots.map(({ real }) => real);
    return (await openPast?.())?.session({ id: ids.session, roots, dialect: chosen.dialect });
  }, options.ids);

  /** What is the same in every call. */
  const standing = {
    changes: changeRules(options),
    formatter: byHost(options.formatter),
    newId: () => options.ids?.next() ?? randomUUID().slice(0, 8),
    searchMsMax: options.searchMsMax ?? limits.searchMsMax,
  };
  /** Whoever waits for servers listens to the signal, and very many at one would look like a leak. */
  const unheard = (): AbortSignal => (first.languages === undefined ? never : new AbortController().signal);
  // Name by name: spread out of two objects it would cost as much as a look at a file.
  const benchFor = (
    { signal = unheard(), onProgress, dryRun = false }: CallOptions,
    turn: Bench["turn"],
    leaveQueue: () => void,
  ): Bench => ({
    disk: shared.disk,
    guard: shared.guard,
    restricted: shared.restricted,
    indexes: shared.indexes,
    pages: shared.pages,
    locks: shared.locks,
    leaveQueue,
    languages: shared.languages,
    ledger,
    offered: offered !== undefined && isShared ? new Set() : offered,
    dedup: isShared ? false : options.dedup,
    changes: standing.changes,
    formatter: standing.formatter,
    formatterMsMax: options.formatterMsMax ?? limits.formatterMsMax,
    warnings: languageOptionsOf(options)?.warnings ?? false,
    session: ids.session,
    onChanged: options.onChanged,
    dryRun,
    turn,
    past: messages.past,
    newId: standing.newId,
    signal,
    fit: asItIs,
    searchMsMax: standing.searchMsMax,
    onProgress,
  });

  const widen = (wider: Pick<Bench, "disk" | "guard">): void => {
    shared = { ...shared, ...wider };
  };

  /**
   * The only catch of the answer: a Problem becomes a reply, a bug stays a bug. `begin` reads the input; what it answers with
   * is done when the calls before this one on the same files are.
   */
  const answered = async <Answer extends Reply | undefined>(
    tool: string,
    verb: Facts["verb"],
    input: unknown,
    given: CallOptions,
    begin: () => Work<Answer>,
    words: Words = dialect,
    seen: Seen = {},
  ): Promise<Answer | Reply> => {
    let place: Place | undefined;
    const turn = messages.turnFor(tool, (messageId) => (seen.turn = messageId));
    const bench = benchFor(given, turn.begin, () => place?.leave());
    const names = {
      session: ids.session,
      next: ids.next,
      get message() {
        return turn.id();
      },
    };
    const startedMs = clock.nowMs();
    const facts = (): Facts => {
      const elapsedMs = Math.max(0, clock.nowMs() - startedMs);
      const { model } = options;
      const { spell } = bench.guard;
      return { tool, verb, input, elapsedMs, cwd, spell, reminder, model, full: given.full ?? false, ids: names };
    };
    figures.calls += 1;
    try {
      const turn = nextTurn();
      if (turn !== undefined) await turn;
      bench.signal.throwIfAborted();
      const { claims, work } = begin();
      // Nothing was awaited but turns of the event loop, which come in the order of the calls: so do the places.
      const { place: kept } = given;
      if (kept?.leave !== undefined) place = { ready: undefined, leave: kept.leave };
      else place = (queueOfHost() ?? ownQueue).enter(() => claims(bench));
      const settled = settling();
      if (settled !== undefined) await settled;
      if (place.ready !== undefined) await orAborted(place.ready, bench.signal);
      return await withFolders(bench, (wider) => work(wider, facts), widen);
    } catch (error) {
      if (isLeaving(error)) {
        figures.calls -= 1;
        if (given.place !== undefined) {
          given.place.leave = place?.leave;
          place = undefined;
        }
        throw error;
      }
      figures.failures += 1;
      const cancelled = bench.signal.aborted && error === bench.signal.reason;
      const problem =
        error instanceof Problem ? error.data : cancelled ? ({ code: "CANCELLED", tool } as const) : undefined;
      if (problem === undefined) throw error;
      seen.problem = problem;
      return words.renderProblem(problem, facts());
    } finally {
      if (ledger.changes !== changesKept) {
        changesKept = ledger.changes;
        ledgerChanged?.();
      }
      place?.leave();
    }
  };

  /** What is too long still is cut, and what the reply shows is remembered until it is delivered. */
  const delivering = async (replied: Promise<Reply>, seen: Seen, limit: AnswerLimit | undefined): Promise<Reply> => {
    const whole = await replied;
    const reply = limit === undefined ? whole : withinLimit(whole, limit);
    if (seen.outcome !== undefined) shownBy.set(reply, seen.outcome);
    return reply;
  };

  /** Renders an outcome to measure it, and keeps the last rendering: mostly that is the answer. */
  const fittingTo = (limit: AnswerLimit, words: Words, facts: () => Facts) => {
    let last: { readonly outcome: Outcome; readonly reply: Reply } | undefined;
    const bytesOf = (outcome: Outcome): number => {
      last = { outcome, reply: renderPages(words, outcome, facts()) };
      return answerBytes(last.reply, limit);
    };
    return {
      fit: <Fitted extends Outcome>(outcome: Fitted): Fitted =>
        outcome === last?.outcome
          ? outcome
          : (fittedOutcome(outcome, limit.bytesMax, profile.cutMark, bytesOf) as Fitted), // of the same kind, only shorter
      rendered: (outcome: Outcome): Reply | undefined => (outcome === last?.outcome ? last.reply : undefined),
    };
  };

  const answer = (
    tool: string,
    verb: Facts["verb"],
    input: unknown,
    toRequest: () => Request,
    given: CallOptions,
    words: Words = dialect,
  ): Promise<Reply> => {
    const seen: Seen = {};
    const limit = verb === "cost" ? undefined : limitOf(given, options);
    const work = async (request: Request, bench: Bench, facts: () => Facts): Promise<Reply> => {
      const fitting = limit === undefined ? undefined : fittingTo(limit, words, facts);
      const whole = await runTool(request, fitting === undefined ? bench : { ...bench, fit: fitting.fit });
      const outcome = fitting === undefined ? whole : fitting.fit(whole);
      seen.outcome = outcome;
      if (outcome.kind === "rewind") messages.afterRewind(outcome);
      if (outcome.kind === "unchanged") figures.tokensSaved += outcome.tokensSaved;
      const told = outcome.kind === "rewind" ? (outcome.diagnostics ?? []).filter(saysSomething) : [];
      const late = [...told, ...(await lateReports(bench))];
      const rendered = fitting?.rendered(outcome) ?? renderPages(words, outcome, facts());
      const reply = withLate(rendered, late, words);
      seen.tokens = tokensOf(reply);
      figures.tokensGiven += seen.tokens;
      return reply;
    };
    const begin = (): Work<Reply> => {
      const request = toRequest();
      seen.request = request;
      return {
        claims: (bench) => claimsOf(request, bench),
        work: (bench, facts) => work(request, bench, facts),
      };
    };
    const replied = delivering(answered(tool, verb, input, given, begin, words, seen), seen, limit);
    if (watchers.listeners.size === 0 || verb === "cost") return replied;
    const { principal = null, dialect: name } = chosen;
    const { dryRun = false } = given;
    const called = { session: ids.session, principal, dialect: name, tool, verb: verb ?? null, input, dryRun };
    return watched(replied, seen, called, watchers, tokensOf);
  };

  /** Work whose outcome is wanted as data; throws a FilehandError for a failure. */
  const asValue = async <Value>(
    tool: string,
    verb: Facts["verb"],
    input: unknown,
    given: CallOptions,
    claims: Work<Value>["claims"],
    work: (bench: Bench) => Promise<Value>,
  ): Promise<Value> => {
    let value: { readonly is: Value } | undefined;
    const keep = async (bench: Bench): Promise<undefined> => {
      value = { is: await work(bench) };
    };
    const failed = await answered(tool, verb, input, given, () => ({ claims, work: keep }));
    if (failed?.error !== undefined) throw failureOf(failed.error);
    if (value === undefined) throw new Error("there is an answer or a failure");
    return value.is;
  };
  /** For what looks at a file and is no part of what the session was shown. */
  const looksAt =
    (path: string, use: PathUse = "search"): Work<unknown>["claims"] =>
    (bench) =>
      path === "" ? [] : claimed(use, [path], bench);
  const asData: AsData = (path, given, work, verb = "read") =>
    asValue("workspace", verb, { path }, given, looksAt(path), work);

  const rewound = async (request: RewindRequest, given: CallOptions): Promise<RewindOutcome> => {
    const claims = (bench: Bench): readonly Claim[] => claimsOf(request, bench);
    return asValue("Rewind", "rewind", { to: request.to }, given, claims, async (bench) => {
      const outcome = await runTool(request, bench);
      if (outcome.kind !== "rewind") throw new Error("a rewind has one outcome");
      messages.afterRewind(outcome);
      return outcome;
    });
  };
  const goBack = (way: "undo" | "redo", { files, force = false, ...given }: RewindOptions): Promise<RewindOutcome> =>
    rewound({ verb: "rewind", to: { last: way }, files, force, as: files === undefined ? way : "partial" }, given);

  const call: Session["call"] = (tool, input, given = {}) =>
    answer(
      tool,
      verbOf(cards, tool),
      input,
      () => requestOf(cardNamed(cards, tool), input, dialect, profileFor(given)),
      given,
    );

  return {
    id: ids.session,
    dialect: chosen.dialect,
    get mode() {
      return state.mode;
    },
    setMode: (mode) => {
      refuseMode(mode, options);
      state.mode = mode;
    },
    permissions: permissions(() => shared.guard),
    call,
    run: (make, given = {}) => {
      const request = make(profileFor(given));
      const input = inputOf(request);
      const words: Words = { ...dialect, ...given.words };
      return answer(request.verb, request.verb, input, () => request, given, words);
    },
    tools: Object.fromEntries(
      dialect.cards.map(({ name }) => [
        name,
        async (input: unknown, given?: CallOptions) => orThrow(dialect, await call(name, input, given)),
      ]),
    ) as ToolFunctions<Name>, // one function per card, and the cards are what DialectTools lists
    cost: async (path, given = {}) => {
      // Text is measured without being shown; what is not text is read, and its reply measured.
      const cost = await asValue("cost", "cost", { path }, given, looksAt(path), (bench) =>
        costOf(path, profile, bench),
      );
      if ("tokens" in cost) return cost;
      const reply = await answer("cost", "cost", { path }, () => wholeRead(path, profile), given);
      return costOfReply(reply, cost.sizeBytes, profile);
    },
    outline: (path, { depth, ...given } = {}) => {
      const request = { verb: "outline", path, profile, ...(depth === undefined ? {} : { depth }) } as const;
      const work = async (bench: Bench) => (await outlining()).outline(request, bench);
      return asData(path, given, work, "outline");
    },
    readRefusal: async (path, given = {}) => {
      const failed = await answered("read", "read", { path }, given, () => ({
        claims: looksAt(path),
        work: (bench) => openOnce(path, bench),
      }));
      return failed?.error?.code === "ACCESS_DENIED" ? failed.error.message : undefined;
    },
    diagnostics: (path, given = {}) =>
      asValue("diagnostics", "read", { path }, given, looksAt(path), (bench) => reportOf(path, given.waitMsMax, bench)),
    undelivered: (reply) => {
      const outcome = shownBy.get(reply);
      if (outcome === undefined) return;
      for (const path of pathsShownIn(outcome)) ledger.drop(path);
      ledgerChanged?.();
      if (outcome.kind === "text") outcome.instructions?.forEach((path) => offered?.delete(path));
    },
    stats: () => ({ ...figures }),
    forget: (path) => {
      if (path === undefined) return ledger.forget();
      const resolved = shared.guard.resolve(path);
      if (resolved.seen !== "node") return;
      resolved.found.held.close();
      ledger.forget(resolved.target.real);
    },
    markRead: (path, shown) =>
      asValue("markRead", "cost", { path }, {}, looksAt(path, "read"), (bench) => noteShown(path, shown, bench)),
    readState: () => ledger.state(),
    checkpoint: (messageId) => messages.begin(messageId),
    observe: (given = {}) =>
      asValue(
        "observed",
        undefined,
        {},
        given,
        () => everything("search"),
        async (bench) => {
          // The workspace and nothing else: a folder that the session was let into may be anything, and large.
          return (await observer()).observe({ ...bench, disk: first.disk, guard: first.guard });
        },
      ),
    history: messages.past,
    rewind: (to, given = {}) => {
      const { files, force = false } = given;
      return rewound({ verb: "rewind", to, files, force, as: files === undefined ? "rewind" : "partial" }, given);
    },
    workspace: lazyWorkspace(asData),
    undo: async (given = {}) => goBack("undo", given),
    redo: async (given = {}) => goBack("redo", given),
    definitions: () =>
      cards.map(({ name, verb, description, inputSchema, readOnly }) => ({
        name,
        verb,
        description: described(description, changeRules(options)),
        inputSchema,
        readOnly,
        execute: (input, given) => call(name, input, given),
      })),
  };
}
