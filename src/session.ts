/** A session: the state of one conversation, and `answered`, the function that every call goes through. */

import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import * as nodePath from "node:path";
import {
  type Disk,
  lazily,
  orAborted,
  programIn,
  programOnPath,
  readSmallText,
  realProgram,
  released,
  trustedPath,
} from "./disk/disk.ts";
import { type Ids, isLeaving } from "./contract/ask.ts";
import type { Outcome, Reply, Request, RunResult, Verb } from "./contract/call.ts";
import { beginning, type RewindOutcome, type RewindRequest } from "./contract/history.ts";
import { limits } from "./contract/limits.ts";
import type { DiagnosticsReport, LanguageFault, LanguageOptions, Languages } from "./contract/lsp.ts";
import { isWider, type Mode, modes, type Permissions } from "./contract/permission.ts";
import { type Code, FilehandError, Problem, type ProblemData } from "./contract/problem.ts";
import type { Profile } from "./contract/profile.ts";
import { lineNumber } from "./contract/target.ts";
import {
  answerBytes,
  type AnswerLimit,
  descriptionFor,
  type Dialect,
  type DialectName,
  type Facts,
  fittedOutcome,
  isExemptModel,
  answerLimitOf,
  nearestWord,
  type OptIn,
  pathsShownIn,
  requestOf,
  withinLimit,
  type Words,
} from "./dialects/dialects.ts";
import { type Guard, refusal, type SessionState } from "./guard/guard.ts";
import type { History, SessionHistory } from "./history/history.ts";
import type { LanguageEnvironment } from "./lsp/lsp.ts";
import type {
  CallOptions,
  FilehandOptions,
  RewindOptions,
  RunOptions,
  Session,
  SessionOptions,
  ToolFunctions,
  Workspace,
} from "./options.ts";
import {
  type CallProgress,
  type CallQueue,
  type Claim,
  createCallQueue,
  createLedger,
  type PathUse,
  type Place,
  type ShownElsewhere,
  watched,
  type Watchers,
} from "./session/session.ts";
import type { ReadStates } from "./state/state.ts";
import { roughTokens } from "./text/text.ts";
import {
  claimed,
  claimsOf,
  type Cost,
  costOf,
  everything,
  lateReports,
  locate,
  locatePermitted,
  type Observer,
  refuseDenied,
  runTool,
  sourceOf,
  statKeyOf,
  type ToolContext,
} from "./tools/tools.ts";
import type { AsData } from "./workspace.ts";

/** What the toolkit gives to a session. */
export interface Shared extends Pick<ToolContext, "disk" | "restricted" | "indexes" | "pages" | "locks" | "languages"> {
  readonly guard: Guard;
  readonly state: SessionState;
  readonly permissions: (guard: () => Guard) => Permissions;
  readonly openPast: (() => Promise<History>) | undefined;
  readonly options: FilehandOptions;
  readonly watchers: Watchers;
  /** Recovers what a killed process left; undefined once that is done. */
  readonly settling: () => Promise<void> | undefined;
  /** Where relative paths start, relative to the root. */
  readonly cwd: string;
  /** Stored read states; undefined without a state folder. */
  readonly readStates: ReadStates | undefined;
}

const outlining = lazily(() => import("./tools/outline/outline.ts"));

/** A parsed call: the files it claims, and its work. */
interface Work<Answer> {
  /** MUST NOT throw. */
  readonly claims: (context: ToolContext) => readonly Claim[];
  readonly work: (context: ToolContext, facts: () => Facts) => Promise<Answer>;
}

/**
 * The ids of one call. A class, because every object literal with a getter gets a hidden class of its own, which V8
 * keeps in old space.
 */
class CallIds {
  readonly session: string;
  readonly next: () => string;
  readonly #turnId: () => string;

  constructor(session: string, next: () => string, turnId: () => string) {
    this.session = session;
    this.next = next;
    this.#turnId = turnId;
  }

  /** Computed only when an answer names it. */
  get message(): string {
    return this.#turnId();
  }
}

/** The signal of calls that nothing can cancel; very many listen to it at once. */
const neverAborted = new AbortController().signal;
setMaxListeners(0, neverAborted);

/** Profiles with an answer limit that a session caches. Each client has one limit, so more are not expected. */
const profilesMax = 100;

const unfitted = <Same>(outcome: Same): Same => outcome;

/**
 * Where a reply keeps what it shows, for as long as the host keeps the reply. A property that is not listed, and not a WeakMap:
 * its entries outlive the reply by many garbage collections, each of which copies them.
 */
const shownOutcome = Symbol("shown outcome");
interface ShownReply extends Reply {
  readonly [shownOutcome]?: { readonly of: string; readonly outcome: Outcome };
}

export function startSession<Name extends DialectName>(
  dialect: Dialect,
  chosen: SessionOptions<Name>,
  { options, cwd, openPast, state, permissions, watchers, readStates, settling, ...first }: Shared,
): Session<Name> {
  const profile = withOptions(dialect.profile, options);
  /** By answer limit. The page cache is keyed by the profile object, so equal limits must share one. */
  const profiles = new Map<number, Profile>();
  const profileFor = (given: CallOptions): Profile => {
    const answerBytesMax = answerLimitOf(given, options)?.bytesMax;
    if (answerBytesMax === undefined) return profile;
    const known = profiles.get(answerBytesMax) ?? { ...profile, answerBytesMax };
    if (profiles.size < profilesMax) profiles.set(answerBytesMax, known);
    return known;
  };
  const specs = dialect.specs.filter(({ optIn }) => isOffered(optIn, options));
  /** Replaced by a wider one when the user lets the session into a folder outside the roots. */
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
  const usage = { calls: 0, failures: 0, tokensGiven: 0, tokensSaved: 0 };

  const observer = lazily(async (): Promise<Observer> => (await import("./tools/observe.ts")).createObserver());
  const messages = createMessages(async () => {
    const roots = shared.disk.roots.map(({ real }) => real);
    return (await openPast?.())?.session({ id: ids.session, roots, dialect: chosen.dialect });
  }, options.ids);

  /** The same for every call. */
  const constants = {
    changes: changeRules(options),
    formatter: byHost(options.formatter),
    newId: () => options.ids?.next() ?? randomUUID().slice(0, 8),
    searchMsMax: options.searchMsMax ?? limits.searchMsMax,
  };
  /** Waiting for language servers adds listeners, and very many on one signal look like a leak. */
  const signalOfCall = (): AbortSignal => (first.languages === undefined ? neverAborted : new AbortController().signal);
  // One property at a time: spreading two objects costs as much as a lookup.
  const contextFor = (
    { signal = signalOfCall(), onProgress, dryRun = false }: CallOptions,
    turn: ToolContext["turn"],
    leaveQueue: () => void,
  ): ToolContext => ({
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
    changes: constants.changes,
    formatter: constants.formatter,
    formatterMsMax: options.formatterMsMax ?? limits.formatterMsMax,
    warnings: languageOptionsOf(options)?.warnings ?? false,
    session: ids.session,
    onChanged: options.onChanged,
    dryRun,
    turn,
    past: messages.past,
    newId: constants.newId,
    signal,
    fit: unfitted,
    searchMsMax: constants.searchMsMax,
    onProgress,
  });

  const widen = (wider: Pick<ToolContext, "disk" | "guard">): void => {
    shared = { ...shared, ...wider };
  };

  /**
   * The only catch: a Problem becomes a reply, a bug is thrown on. `begin` parses the input; the work that it returns
   * starts when earlier calls on the same files are done.
   */
  const answered = async <Answer extends Reply | undefined>(
    tool: string,
    verb: Facts["verb"],
    input: unknown,
    given: CallOptions,
    begin: () => Work<Answer>,
    words: Words = dialect,
    progress: CallProgress = {},
  ): Promise<Answer | Reply> => {
    let place: Place | undefined;
    const turn = messages.turnFor(tool, (messageId) => (progress.turn = messageId));
    const context = contextFor(given, turn.begin, () => place?.leave());
    const names = new CallIds(ids.session, ids.next, () => turn.id());
    const startedMs = clock.nowMs();
    const facts = (): Facts => {
      const elapsedMs = Math.max(0, clock.nowMs() - startedMs);
      const { model } = options;
      const { spell } = context.guard;
      return { tool, verb, input, elapsedMs, cwd, spell, reminder, model, full: given.full ?? false, ids: names };
    };
    usage.calls += 1;
    try {
      const turn = nextTurn();
      if (turn !== undefined) await turn;
      context.signal.throwIfAborted();
      const { claims, work } = begin();
      // Until here only turns of the event loop were awaited, which keep the order of the calls.
      const { place: kept } = given;
      if (kept?.leave !== undefined) place = { ready: undefined, leave: kept.leave };
      else place = (queueOfHost() ?? ownQueue).enter(() => claims(context));
      const settled = settling();
      if (settled !== undefined) await settled;
      if (place.ready !== undefined) await orAborted(place.ready, context.signal);
      return await withFolders(context, (wider) => work(wider, facts), widen);
    } catch (error) {
      if (isLeaving(error)) {
        usage.calls -= 1;
        if (given.place !== undefined) {
          given.place.leave = place?.leave;
          place = undefined;
        }
        throw error;
      }
      usage.failures += 1;
      const cancelled = context.signal.aborted && error === context.signal.reason;
      const problem =
        error instanceof Problem ? error.data : cancelled ? ({ code: "CANCELLED", tool } as const) : undefined;
      if (problem === undefined) throw error;
      progress.problem = problem;
      return words.renderProblem(problem, facts());
    } finally {
      if (ledger.changes !== changesKept) {
        changesKept = ledger.changes;
        ledgerChanged?.();
      }
      place?.leave();
    }
  };

  /** Truncates a reply that is still too long, and remembers what it shows for `undelivered`. */
  const delivering = async (
    replied: Promise<Reply>,
    progress: CallProgress,
    limit: AnswerLimit | undefined,
  ): Promise<Reply> => {
    const whole = await replied;
    const reply = limit === undefined ? whole : withinLimit(whole, limit);
    const { outcome } = progress;
    return outcome === undefined
      ? reply
      : Object.defineProperty(reply, shownOutcome, { value: { of: ids.session, outcome }, configurable: true });
  };

  /** Renders an outcome to measure it and keeps the last rendering, which usually is the answer. */
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
    progress: CallProgress = {},
  ): Promise<Reply> => {
    const limit = verb === "cost" ? undefined : answerLimitOf(given, options);
    const work = async (request: Request, context: ToolContext, facts: () => Facts): Promise<Reply> => {
      const fitting = limit === undefined ? undefined : fittingTo(limit, words, facts);
      const whole = await runTool(request, fitting === undefined ? context : { ...context, fit: fitting.fit });
      const outcome = fitting === undefined ? whole : fitting.fit(whole);
      progress.outcome = outcome;
      if (outcome.kind === "rewind") messages.afterRewind(outcome);
      if (outcome.kind === "unchanged") usage.tokensSaved += outcome.tokensSaved;
      const diagnostics = outcome.kind === "rewind" ? (outcome.diagnostics ?? []).filter(saysSomething) : [];
      const late = [...diagnostics, ...(await lateReports(context))];
      const rendered = fitting?.rendered(outcome) ?? renderPages(words, outcome, facts());
      const reply = withLate(rendered, late, words);
      progress.tokens = tokensOf(reply);
      usage.tokensGiven += progress.tokens;
      return reply;
    };
    const begin = (): Work<Reply> => {
      const request = toRequest();
      progress.request = request;
      return {
        claims: (context) => claimsOf(request, context),
        work: (context, facts) => work(request, context, facts),
      };
    };
    const replied = delivering(answered(tool, verb, input, given, begin, words, progress), progress, limit);
    if (watchers.listeners.size === 0 || verb === "cost") return replied;
    const { principal = null, dialect: name } = chosen;
    const { dryRun = false } = given;
    const called = { session: ids.session, principal, dialect: name, tool, verb: verb ?? null, input, dryRun };
    return watched(replied, progress, called, watchers, tokensOf);
  };

  /** Work whose outcome is returned as data. Throws a FilehandError for a failure. */
  const asValue = async <Value>(
    tool: string,
    verb: Facts["verb"],
    input: unknown,
    given: CallOptions,
    claims: Work<Value>["claims"],
    work: (context: ToolContext) => Promise<Value>,
  ): Promise<Value> => {
    let value: { readonly is: Value } | undefined;
    const keep = async (context: ToolContext): Promise<undefined> => {
      value = { is: await work(context) };
    };
    const progress: CallProgress = {};
    const failed = await answered(tool, verb, input, given, () => ({ claims, work: keep }), dialect, progress);
    if (failed?.error !== undefined) throw failureOf(failed.error, progress.problem);
    if (value === undefined) throw new Error("there is an answer or a failure");
    return value.is;
  };
  /** Claims of work that looks at a file without showing it to the model. */
  const claimsFor =
    (path: string, use: PathUse = "search"): Work<unknown>["claims"] =>
    (context) =>
      path === "" ? [] : claimed(use, [path], context);
  const asData: AsData = (path, given, work, verb = "read") =>
    asValue("workspace", verb, { path }, given, claimsFor(path), work);

  const rewound = async (request: RewindRequest, given: CallOptions): Promise<RewindOutcome> => {
    const claims = (context: ToolContext): readonly Claim[] => claimsOf(request, context);
    return asValue("Rewind", "rewind", { to: request.to }, given, claims, async (context) => {
      const outcome = await runTool(request, context);
      if (outcome.kind !== "rewind") throw new Error("a rewind has one outcome");
      messages.afterRewind(outcome);
      return outcome;
    });
  };
  const goBack = (way: "undo" | "redo", { files, force = false, ...given }: RewindOptions): Promise<RewindOutcome> =>
    rewound({ verb: "rewind", to: { last: way }, files, force, as: files === undefined ? way : "partial" }, given);

  const call = (tool: string, input: unknown, given: CallOptions = {}, progress: CallProgress = {}): Promise<Reply> =>
    answer(
      tool,
      verbOf(specs, tool),
      input,
      () => requestOf(specNamed(specs, tool), input, dialect, profileFor(given)),
      given,
      dialect,
      progress,
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
    call: (tool, input, given) => call(tool, input, given),
    run: async <V extends Verb>(
      make: (profile: Profile) => Request & { readonly verb: V },
      given: RunOptions = {},
    ): Promise<RunResult<V>> => {
      const request = make(profileFor(given));
      const input = inputOf(request);
      const words: Words = { ...dialect, ...given.words };
      const progress: CallProgress = {};
      const reply = await answer(request.verb, request.verb, input, () => request, given, words, progress);
      const { outcome, problem } = progress;
      if (problem !== undefined) return { problem, reply };
      if (outcome === undefined) throw new Error("there is an outcome or a problem");
      return { outcome, reply };
    },
    tools: Object.fromEntries(
      dialect.specs.map(({ name }) => [
        name,
        async (input: unknown, given?: CallOptions) => {
          const progress: CallProgress = {};
          return orThrow(dialect, await call(name, input, given, progress), progress.problem);
        },
      ]),
    ) as ToolFunctions<Name>, // one function per tool spec, and DialectTools lists the specs
    cost: async (path, given = {}) => {
      // Text is measured by itself; for other content the reply of a read is measured.
      const cost = await asValue("cost", "cost", { path }, given, claimsFor(path), (context) =>
        costOf(path, profile, context),
      );
      if ("tokens" in cost) return cost;
      const progress: CallProgress = {};
      const reply = await answer("cost", "cost", { path }, () => wholeRead(path, profile), given, dialect, progress);
      return costOfReply(reply, progress.problem, cost.sizeBytes, profile);
    },
    outline: (path, { depth, ...given } = {}) => {
      const request = { verb: "outline", path, profile, ...(depth === undefined ? {} : { depth }) } as const;
      const work = async (context: ToolContext) => (await outlining()).outline(request, context);
      return asData(path, given, work, "outline");
    },
    readRefusal: async (path, given = {}) => {
      const failed = await answered("read", "read", { path }, given, () => ({
        claims: claimsFor(path),
        work: (context) => openOnce(path, context),
      }));
      return failed?.error?.code === "ACCESS_DENIED" ? failed.error.message : undefined;
    },
    diagnostics: (path, given = {}) =>
      asValue("diagnostics", "read", { path }, given, claimsFor(path), (context) =>
        reportOf(path, given.waitMsMax, context),
      ),
    undelivered: (reply) => {
      const { [shownOutcome]: shown } = reply as ShownReply; // a reply of `call` has it
      if (shown?.of !== ids.session) return;
      const { outcome } = shown;
      for (const path of pathsShownIn(outcome)) ledger.drop(path);
      ledgerChanged?.();
      if (outcome.kind === "text") outcome.instructions?.forEach((path) => offered?.delete(path));
    },
    stats: () => ({ ...usage }),
    forget: (path) => {
      if (path === undefined) return ledger.forget();
      const resolved = shared.guard.resolve(path);
      if (resolved.seen !== "node") return;
      resolved.node.handle.close();
      ledger.forget(resolved.target.real);
    },
    markRead: (path, shown) =>
      asValue("markRead", "cost", { path }, {}, claimsFor(path, "read"), (context) => noteShown(path, shown, context)),
    readState: () => ledger.state(),
    checkpoint: (messageId) => messages.begin(messageId),
    observe: (given = {}) =>
      asValue(
        "observed",
        undefined,
        {},
        given,
        () => everything("search"),
        async (context) => {
          // Only the workspace: a folder outside that the session was let into may be huge.
          return (await observer()).observe({ ...context, disk: first.disk, guard: first.guard });
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
      specs.map(({ name, verb, description, inputSchema, readOnly }) => ({
        name,
        verb,
        description: descriptionFor(description, changeRules(options)),
        inputSchema,
        readOnly,
        execute: (input, given) => call(name, input, given),
      })),
  };
}

// How the options shape a session: its tools, profile, modes and change rules.

function isOffered(optIn: OptIn | undefined, { historyTools, languageTools = false }: FilehandOptions): boolean {
  switch (optIn) {
    case undefined:
      return true;
    case "history":
      return historyTools === true;
    case "lsp":
      return languageTools !== false;
    case "rename":
      return languageTools === "rename";
  }
}

/** The safest choices are the defaults. */
const changeRules = (options: FilehandOptions): ToolContext["changes"] => ({
  readFirst: options.readFirst ?? true,
  staleness: options.staleness ?? "refuse",
  hardLinks: options.hardLinks ?? "separate",
  writeEol: options.writeEol ?? "as sent",
  editBytesMax: options.editBytesMax ?? limits.editBytesMax,
});

/** Applies the options that change a profile. */
function withOptions(profile: Profile, options: FilehandOptions): Profile {
  const { pageTokensMax, lineCharsMax, longCode } = options;
  return {
    ...profile,
    ...(profile.pageTokensMax !== undefined && pageTokensMax !== undefined ? { pageTokensMax } : {}),
    ...(lineCharsMax === undefined ? {} : { lineCharsMax }),
    ...(longCode === undefined ? {} : { longCode }),
  };
}

function refuseMode(mode: Mode, { mode: fixed = "default", locked = [] }: FilehandOptions): void {
  if (!modes.includes(mode)) {
    throw new FilehandError("INVALID_PARAM", `Cannot switch to the mode "${mode}": use one of ${modes.join(", ")}`);
  }
  if (locked.includes("mode") && isWider(mode, fixed)) {
    throw new FilehandError(
      "ACCESS_DENIED",
      `Cannot switch to the mode "${mode}": the operator has locked it at "${fixed}"`,
    );
  }
}

// What is derived from a reply or added to it: tokens, errors, late diagnostics.

const saysSomething = ({ newErrors, knownErrors, warnings, pending, unavailable }: DiagnosticsReport): boolean =>
  pending || [newErrors, knownErrors, warnings, unavailable].some((list) => list.length > 0);

/** Adds diagnostics that came too late for an earlier answer. */
function withLate(reply: Reply, late: readonly DiagnosticsReport[], words: Words): Reply {
  if (late.length === 0) return reply;
  return { ...reply, content: [...reply.content, { type: "text", text: words.renderLate(late) }], late };
}

/** A request as the input of a call, for events. */
const inputOf = (request: Request): object => ({
  ...("pattern" in request ? { pattern: request.pattern } : {}),
  ...("path" in request && request.path !== undefined ? { path: request.path } : {}),
});

const wholeRead = (path: string, profile: Profile): Request => ({
  verb: "read",
  path,
  ranges: [{ from: lineNumber(1), linesMax: Number.POSITIVE_INFINITY }],
  overBudget: "first page",
  profile: { ...profile, repeats: "content" },
});

/** The cost of an image or a document: the tokens of its reply. */
function costOfReply(reply: Reply, problem: ProblemData | undefined, sizeBytes: number, profile: Profile): Cost {
  if (reply.error !== undefined) throw failureOf(reply.error, problem);
  const tokensMax = profile.pageTokensMax ?? limits.pageTokensMax;
  return { tokens: tokensOf(reply), counted: "estimated", lines: undefined, sizeBytes, tokensMax };
}

/** Rounded: estimates are fractions, but reports and sums are whole. */
const tokensOf = (reply: Reply): number =>
  Math.round(
    reply.content.reduce(
      (sum, part) => sum + (part.type === "text" ? roughTokens(part.text) : part.data.length * 0.125),
      0,
    ),
  );

function orThrow(dialect: Dialect, reply: Reply, problem: ProblemData | undefined): unknown {
  if (dialect.failures === "returned" || !reply.isError || reply.error === undefined) return reply.structured;
  throw failureOf(reply.error, problem);
}

const failureOf = ({ code, message }: NonNullable<Reply["error"]>, problem?: ProblemData): FilehandError =>
  new FilehandError(code as Code, message, problem); // dialects copy the code from the problem

// Which message of the conversation a change belongs to, and the history that stores it.

export interface Messages {
  /** The history, opened on first use; undefined where none is kept. */
  readonly past: () => Promise<SessionHistory | undefined>;
  turnFor(tool: string, onTurn: (messageId: string) => void): CallTurn;
  /** The host names the message that later changes belong to. */
  begin(messageId: string): Promise<void>;
  /** After a rewind, changes no longer belong to the message that was rewound: they can be undone alone. */
  afterRewind(outcome: RewindOutcome): void;
}

export interface CallTurn {
  /** The id, also of a call that changes nothing. */
  id(): string;
  /** Called before the first change. */
  readonly begin: ToolContext["turn"];
}

function createMessages(open: () => Promise<SessionHistory | undefined>, ids: Ids | undefined): Messages {
  let opened: Promise<SessionHistory | undefined> | undefined;
  const past = (): Promise<SessionHistory | undefined> => (opened ??= open());
  /** The message that the host named last. Without one every call is a turn of its own. */
  let message: string | undefined;
  let begun: string | undefined;
  let rewinds = 0;
  return {
    past,
    turnFor: (tool, onTurn) => {
      let own: string | undefined;
      // The message in which the call was sent: the host may name the next one before the call runs.
      const [sentIn, rewindsThen] = [message, rewinds];
      const id = (): string => (rewinds === rewindsThen ? sentIn : undefined) ?? (own ??= ids?.next() ?? randomUUID());
      const begin = async () => {
        const history = await past();
        if (history === undefined) return undefined;
        const messageId = id();
        if (begun !== messageId) await history.checkpoint(messageId);
        begun = messageId;
        onTurn(messageId);
        return { history, messageId, tool };
      };
      return { id, begin };
    },
    begin: async (messageId) => {
      // The id "start" already names the state before the first message.
      if (messageId === beginning) {
        const why = "that is the name of what was before the first one, use another id";
        throw new FilehandError("INVALID_PARAM", `Cannot begin a turn "${messageId}": ${why}`);
      }
      message = messageId;
      begun = messageId;
      await (await past())?.checkpoint(messageId);
    },
    afterRewind: ({ turn }) => {
      if (turn === undefined) return;
      message = undefined;
      rewinds += 1;
    },
  };
}

// Questions of a host about one file: may it be read, which diagnostics does it have; and what the host itself showed.

/** Throws a Problem where a read would be refused. */
async function openOnce(path: string, context: ToolContext): Promise<undefined> {
  const { target, node } = await locatePermitted(path, "file", context);
  using _held = node.handle;
  const opened = context.disk.open(node);
  if ("errno" in opened) throw refusal(target, opened.errno, "opening it");
  using _file = opened;
  return undefined;
}

/** Undefined if no server handles the file. */
async function reportOf(
  path: string,
  waitMsMax: number | undefined,
  context: ToolContext,
): Promise<DiagnosticsReport | undefined> {
  const { target, node } = await locatePermitted(path, "file", context);
  node.handle.close();
  if (node.kind === "directory") throw new Problem({ code: "IS_DIRECTORY", place: target });
  const languages = await context.languages?.();
  const source = languages?.serves(target.real) === true ? await sourceOf(target.real, context) : undefined;
  if (source === undefined) return undefined;
  context.leaveQueue();
  const asking = { signal: context.signal, ...(waitMsMax === undefined ? {} : { waitMsMax }) };
  return languages?.diagnostics(source, asking);
}

async function noteShown(path: string, shown: ShownElsewhere, context: ToolContext): Promise<undefined> {
  const { target, node } = await locate(path, "file", context);
  node.handle.close();
  refuseDenied(target, context, ["read"]);
  if (node.kind === "directory") throw new Problem({ code: "IS_DIRECTORY", place: target });
  if (context.ledger.shownElsewhere(target.real, shown)) return undefined;
  const expected = "a sha256 in hex and, if not all was shown, lines as { from, to } that count from 1";
  const issue = { fault: "type", name: "shown", expected, got: "what was given", optional: false } as const;
  throw new Problem({ code: "INVALID_PARAM", reason: "arguments", tool: "markRead", issues: [issue] });
}

// A call that reaches a path outside the roots asks for admission; once admitted, it runs again from its beginning.

/** `widen` gets the wider disk and guard if the admission holds for the session. */
async function withFolders<Result>(
  context: ToolContext,
  work: (context: ToolContext) => Promise<Result>,
  widen: (wider: Pick<ToolContext, "disk" | "guard">) => void,
): Promise<Result> {
  try {
    return await work(context);
  } catch (error) {
    const isOutside =
      error instanceof Problem && error.data.code === "ACCESS_DENIED" && error.data.reason === "outside";
    const wider = isOutside ? await context.guard.admit(error.data.place, context.signal) : undefined;
    if (wider === undefined) throw error;
    const { disk, guard, holds } = wider;
    if (holds === "always") widen({ disk, guard });
    // This ends: each round admits one more folder, and their number is limited.
    return withFolders({ ...context, disk, guard }, work, widen);
  }
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
function nextTurn(): Promise<void> | undefined {
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

const verbOf = (specs: Dialect["specs"], tool: string): Facts["verb"] => specs.find(({ name }) => name === tool)?.verb;

function specNamed(specs: Dialect["specs"], tool: string): Dialect["specs"][number] {
  const spec = specs.find(({ name }) => name === tool);
  if (spec !== undefined) return spec;
  const known = specs.map(({ name }) => name);
  const data: ProblemData = {
    code: "UNKNOWN_TOOL",
    tool: String(tool),
    known,
    nearest: nearestWord(String(tool), known),
  };
  throw new Problem(data);
}

// Several ranges in one call: each page is rendered alone, then the replies are joined.

function renderPages(words: Words, outcome: Outcome, facts: Facts): Reply {
  if (outcome.kind !== "text" || outcome.pages.length === 1) return words.render(outcome, facts);
  const replies = outcome.pages.map((page, index) => {
    const last = index === outcome.pages.length - 1;
    return words.render({ ...outcome, pages: [page] }, { ...facts, reminder: facts.reminder && last });
  });
  return {
    content: replies.flatMap((reply) => reply.content),
    structured: { ranges: replies.map((reply) => reply.structured) },
    isError: false,
  };
}

/** No tool needs it, so it is loaded on first use. */
function lazyWorkspace(asData: AsData): Workspace {
  const loaded = lazily(async (): Promise<Workspace> => (await import("./workspace.ts")).createWorkspace(asData));
  return {
    files: async (...given) => (await loaded()).files(...given),
    paths: async (...given) => (await loaded()).paths(...given),
    content: async (...given) => (await loaded()).content(...given),
    entries: async (...given) => (await loaded()).entries(...given),
    watch: async (...given) => (await loaded()).watch(...given),
  };
}

// Connects language servers with the disk and the rules. Loaded by the first call that needs them; a toolkit without
// language servers loads none of it.

export interface LazyLanguages {
  readonly open: () => Promise<Languages>;
  /** Configured servers that cannot be used. */
  faults(): Promise<readonly LanguageFault[]>;
  /** Stops the servers that were started. */
  close(): Promise<void>;
}

/** Undefined where no servers are used. */
function languageOptionsOf({ languageServers }: FilehandOptions): LanguageOptions | undefined {
  if (languageServers === undefined || languageServers === false) return undefined;
  return languageServers === true ? {} : languageServers;
}

export function languagesOf(options: FilehandOptions, disk: Disk, guard: () => Guard): LazyLanguages | undefined {
  const wanted = languageOptionsOf(options);
  if (wanted === undefined) return undefined;
  let opened: Promise<Languages> | undefined;
  const load = lazily(async (): Promise<Languages> => {
    const { createLanguages } = await import("./lsp/languages.ts");
    return createLanguages(wanted, languageEnvironment(wanted, options, disk, guard));
  });
  const open = (): Promise<Languages> => (opened = load());
  return {
    open,
    close: async () => (await opened?.catch(() => undefined))?.close(), // servers that failed to load need no closing
    faults: async () => (await import("./lsp/servers.ts")).serversOf(wanted).faults,
  };
}

function languageEnvironment(
  wanted: LanguageOptions,
  { trustProject = false }: FilehandOptions,
  disk: Disk,
  guard: () => Guard,
): LanguageEnvironment {
  const roots = disk.roots.map(({ real }) => real);
  const { env, platform } = process;
  const trusted = wanted.trustedRoots ?? (trustProject ? roots : []);
  // Servers find further programs by name on PATH.
  const notBeneath = untrustedOf(roots, trusted);
  return {
    env: {
      ...Object.fromEntries(Object.entries(env).filter(([name]) => name.toUpperCase() !== "PATH")),
      PATH: trustedPath({ path: env["PATH"], platform, notBeneath }),
    },
    roots,
    find: serverFinder({ roots, trusted, path: env["PATH"], platform }),
    has: (folder, name) => {
      const lookup = released(disk.lookup(nodePath.join(folder, name)));
      return lookup.seen === "node";
    },
    textOf: (path) => (guard().isSecret(path) ? undefined : readSmallText(path, disk, limits.languageFileBytesMax)),
    fingerprintOf: (path) => {
      const lookup = released(disk.lookup(path));
      if (lookup.seen !== "node") return undefined;
      return statKeyOf(lookup.handle.identity);
    },
  };
}

export interface ServerPlaces {
  readonly roots: readonly string[];
  readonly trusted: readonly string[];
  readonly path: string | undefined;
  readonly platform: NodeJS.Platform;
}

/**
 * Finds the program of a server for a file's folder. Programs in a project are strangers' code: they run only if the
 * operator trusts the project.
 */
export function serverFinder({ roots, trusted, path, platform }: ServerPlaces): LanguageEnvironment["find"] {
  const isTrusted = (one: string): boolean => trusted.some((root) => isBeneath(one, root));
  const notBeneath = untrustedOf(roots, trusted);
  return (command, folder) => {
    if (nodePath.isAbsolute(command)) return realProgram(command) === undefined ? undefined : command;
    if (command.includes("/") || command.includes(nodePath.sep)) return undefined;
    const own = isTrusted(folder) ? installedIn(folder, roots, command) : undefined;
    return own ?? programOnPath(command, { path, platform, runnable: true, notBeneath });
  };
}

const untrustedOf = (roots: readonly string[], trusted: readonly string[]): readonly string[] =>
  roots.filter((root) => !trusted.some((one) => isBeneath(root, one)));

/** In `node_modules` of the folder or of a folder above it, up to the root. */
function installedIn(folder: string, roots: readonly string[], command: string): string | undefined {
  for (let at = folder; roots.some((root) => isBeneath(at, root)); at = nodePath.dirname(at)) {
    const program = programIn(nodePath.join(at, "node_modules", ".bin"), command, process.platform, true);
    if (program !== undefined) return program;
    if (at === nodePath.dirname(at)) break;
  }
  return undefined;
}

function isBeneath(path: string, root: string): boolean {
  const rest = nodePath.relative(root, path);
  return rest === "" || (rest !== ".." && !rest.startsWith(`..${nodePath.sep}`) && !nodePath.isAbsolute(rest));
}

// Calls that a host makes inside one of its own callbacks, such as an asker that reads the file in question. The outer
// call waits for the callback and keeps its place in the call queue, so an inner call must not wait for that place.
// Each callback gets a queue of its own, in which its calls keep their order.

const inside = new AsyncLocalStorage<CallQueue>();
/** Unsettled callbacks. At 0 async context tracking is off: it slows every promise in Node 20 and 22. */
let running = 0;

/** Undefined outside of callbacks. */
const queueOfHost = (): CallQueue | undefined => (running === 0 ? undefined : inside.getStore());

/** Runs the callback with a call queue of its own. */
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
