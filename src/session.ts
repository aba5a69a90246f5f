/** A session: the state of one conversation, and `answered`, the function that every call goes through. */

import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { lazily, orAborted } from "./disk/disk.ts";
import { isLeaving } from "./contract/ask.ts";
import { defined } from "./contract/common.ts";
import type { DeliveredLine, Outcome, Reply, Request, RunResult, Verb } from "./contract/call.ts";
import type { RewindOutcome, RewindRequest } from "./contract/history.ts";
import { limits } from "./contract/limits.ts";
import type { DiagnosticsReport } from "./contract/lsp.ts";
import { isWider, type Mode, modes, type Permissions } from "./contract/permission.ts";
import type { ToolName } from "./contract/offered-tools.ts";
import { type Code, FilehandError, Problem, type ProblemData } from "./contract/problem.ts";
import { lineNumberForms, type LineNumbers, type Profile } from "./contract/profile.ts";
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
  linesDelivered,
  linesOfRefusal,
  nearestWord,
  numberStyles,
  offeredSpecs,
  pathsShownIn,
  requestOf,
  withinLimit,
  type Words,
} from "./dialects/dialects.ts";
import { type Guard, refusal, type SessionState } from "./guard/guard.ts";
import type { History } from "./history/history.ts";
import type {
  CallOptions,
  FilehandOptions,
  RewindOptions,
  RunOptions,
  Session,
  SessionOptions,
  ToolFunctions,
} from "./options.ts";
import {
  type CallProgress,
  type Claim,
  createCallQueue,
  createLedger,
  createTurns,
  yieldBetweenCalls,
  type PathUse,
  type Place,
  isShownElsewhere,
  queueOfHost,
  type ShownElsewhere,
  watched,
  type Watchers,
} from "./session/session.ts";
import type { ReadStates, SessionSync, SyncedSession } from "./state/state.ts";
import { roughTokens } from "./text/text.ts";
import {
  claimed,
  claimsOf,
  costOf,
  everything,
  lateReports,
  locate,
  locatePermitted,
  noteDelivered,
  noteIfSame,
  noteShell,
  type Observer,
  refuseDenied,
  runTool,
  type ShellOutput,
  type ShownFile,
  sourceOf,
  type ToolContext,
} from "./tools/tools.ts";
import { type AsData, createWorkspace } from "./workspace.ts";

/** What the toolkit gives to a session. */
export interface Shared
  extends Pick<
    ToolContext,
    "disk" | "restricted" | "indexes" | "pages" | "locks" | "sharedLocks" | "languages" | "formatter"
  > {
  readonly guard: Guard;
  readonly state: SessionState;
  readonly permissions: (guard: () => Guard) => Permissions;
  readonly openPast: (() => Promise<History>) | undefined;
  readonly options: FilehandOptions;
  readonly watchers: Watchers;
  /** Until the rules are ready to be compared. */
  readonly preparing: () => Promise<void> | undefined;
  /** Recovers what a killed process left; undefined once that is done. */
  readonly settling: () => Promise<void> | undefined;
  /** Where relative paths start, relative to the root. */
  readonly cwd: string;
  /** Where several machines share the state: keeps the session the same on all of them. */
  readonly syncWith?: ((id: string, own: SyncedSession) => SessionSync) | undefined;
  /** Stored read states; undefined without a state folder. */
  readonly readStates: ReadStates | undefined;
}

const outlining = lazily(() => import("./tools/outline/outline.ts"));

/** A parsed call: the files it claims, and its work. */
interface Work<Answer> {
  /** MUST NOT throw. */
  readonly claims: (context: ToolContext) => readonly Claim[];
  readonly work: (context: ToolContext, facts: () => Facts, fitting: Fitting | undefined) => Promise<Answer>;
}

/** Shortens outcomes to the answer limit. */
interface Fitting {
  readonly fit: ToolContext["fit"];
  /** The answer of an outcome that `fit` has returned, and its size. */
  readonly rendered: (outcome: Outcome) => { readonly reply: Reply; readonly bytes: number } | undefined;
}

/** The ids of one call. A class: every object literal with a getter gets a hidden class of its own, which V8 keeps. */
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

/** Where a reply keeps what it shows. Not a WeakMap: its entries outlive the reply by many garbage collections. */
const shownOutcome = Symbol("shown outcome");
interface ShownReply extends Reply {
  readonly [shownOutcome]?: {
    readonly of: string;
    readonly outcome: Outcome | undefined;
    /** Real paths of the files of which it shows lines. */
    readonly paths: readonly string[];
  };
}

/** Was nothing cut off from what the model sees? */
const isWhole = (reply: Reply, whole: Reply): boolean => reply.content === whole.content;

export function startSession<Name extends DialectName>(
  dialect: Dialect,
  chosen: SessionOptions<Name>,
  { options, cwd, openPast, state, permissions, watchers, readStates, syncWith, preparing, settling, ...first }: Shared,
): Session<Name> {
  const lineNumbers = lineNumbersOf(dialect, chosen.lineNumbers, options.lineNumbers);
  const specs = offeredSpecs(dialect.specs, options.tools);
  const isOffered = (name: ToolName): boolean => specs.some(({ tool }) => tool === name);
  const profile = withOptions(dialect.profile, lineNumbers, options, isOffered("Outline"));
  /** By answer limit. The page cache is keyed by the profile object, so equal limits must share one. */
  const profiles = new Map<number, Profile>();
  const profileFor = (given: CallOptions): Profile => {
    const answerBytesMax = answerLimitOf(given, options)?.bytesMax;
    if (answerBytesMax === undefined) return profile;
    const known = profiles.get(answerBytesMax) ?? { ...profile, answerBytesMax };
    if (profiles.size < profilesMax) profiles.set(answerBytesMax, known);
    return known;
  };
  /** Replaced by a wider one when the user lets the session into a folder outside the roots. */
  let shared = first;
  const keptAs = chosen.keepReadState === true && readStates !== undefined ? chosen.id : undefined;
  const earlier = chosen.readState ?? (keptAs === undefined ? undefined : readStates?.find(keptAs));
  const ledger = createLedger(earlier, { keepsNumbers: isOffered("EditLines") });
  const ledgerChanged = keptAs === undefined ? undefined : readStates?.follow(keptAs, () => ledger.state());
  const sync =
    chosen.id === undefined
      ? undefined
      : syncWith?.(chosen.id, {
          takeChanged: () => ledger.takeChanged(),
          restore: (path, entry) => ledger.restore(path, entry),
          get mode() {
            return state.mode;
          },
          get rules() {
            return state.kept.map(({ text }) => text);
          },
          decide: (mode, rules) => state.restore(modes.find((one) => one === mode) ?? state.mode, rules),
        });
  if (sync !== undefined) ledger.takeChanged();
  let changesKept = 0;
  const { shared: isShared = false } = chosen;
  const ownQueue = createCallQueue();
  const offered = options.instructions === true ? new Set<string>() : undefined;
  const sessionMs = Date.now();
  const ids = { session: chosen.id ?? randomUUID(), next: () => options.ids?.next() ?? randomUUID() };
  const reminder = remindedOf(options);
  let wasReminded = false;
  const clock = options.clock ?? { nowMs: () => performance.now() };
  const usage = { calls: 0, failures: 0, tokensGiven: 0, tokensSaved: 0 };

  const observer = lazily(
    async (): Promise<Observer> => (await import("./tools/observe/observe.ts")).createObserver(options.observe),
  );
  const turns = createTurns(async () => {
    const roots = shared.disk.roots.map(({ real }) => real);
    const { dialect: name, client, over } = chosen;
    return (await openPast?.())?.session({ id: ids.session, roots, dialect: name, client, over });
  }, ids.next);

  /** The same for every call. */
  const constants = {
    changes: changeRules(options),
    newId: () => options.ids?.next() ?? randomUUID().slice(0, 8),
    searchMsMax: options.searchMsMax ?? limits.searchMsMax,
    warnings: (typeof options.languageServers === "object" && options.languageServers.warnings) || false,
  };
  /** Waiting for language servers adds listeners, and very many on one signal look like a leak. */
  const signalOfCall = (): AbortSignal => (first.languages === undefined ? neverAborted : new AbortController().signal);
  // One property at a time: spreading two objects costs as much as a lookup.
  const contextFor = (
    { signal = signalOfCall(), onProgress, dryRun = false }: CallOptions,
    turn: ToolContext["turn"],
    leaveQueue: () => void,
    fit: ToolContext["fit"],
  ): ToolContext => ({
    disk: shared.disk,
    guard: shared.guard,
    restricted: shared.restricted,
    indexes: shared.indexes,
    pages: shared.pages,
    locks: shared.locks,
    sharedLocks: shared.sharedLocks,
    leaveQueue,
    languages: shared.languages,
    updateImports: options.updateImports ?? true,
    ledger,
    offered: offered !== undefined && isShared ? new Set() : offered,
    dedup: isShared ? false : options.dedup,
    changes: constants.changes,
    formatter: shared.formatter,
    formatterMsMax: options.formatterMsMax ?? limits.formatterMsMax,
    warnings: constants.warnings,
    session: ids.session,
    onChanged: options.onChanged,
    dryRun,
    turn,
    past: turns.past,
    newId: constants.newId,
    signal,
    fit,
    searchMsMax: constants.searchMsMax,
    onProgress,
  });

  const widen = (wider: Pick<ToolContext, "disk" | "guard">): void => {
    shared = { ...shared, ...wider };
  };

  /** The only catch: a Problem becomes a reply, a bug is thrown on. The work of `begin` starts when earlier calls are done. */
  const answered = async <Answer extends Reply | undefined>(
    tool: string,
    verb: Facts["verb"],
    input: unknown,
    given: CallOptions,
    begin: () => Work<Answer>,
    words: Words = dialect,
    progress: CallProgress = {},
    limit?: AnswerLimit,
  ): Promise<Answer | Reply> => {
    let place: Place | undefined;
    const turn = turns.turnFor(tool, (messageId) => (progress.turn = messageId));
    const fitting = limit === undefined ? undefined : fittingTo(limit, words, () => facts());
    const context = contextFor(given, turn.begin, () => place?.leave(), fitting?.fit ?? unfitted);
    const names = new CallIds(ids.session, ids.next, () => turn.id());
    const startedMs = clock.nowMs();
    const facts = (): Facts => {
      const elapsedMs = Math.max(0, clock.nowMs() - startedMs);
      const { model } = options;
      const { spell } = context.guard;
      const { numbers } = profile;
      const { full = false } = given;
      const isReminded = reminder === "each read" || (reminder === "once" && !wasReminded);
      return { tool, verb, input, elapsedMs, cwd, spell, reminder: isReminded, numbers, model, full, ids: names };
    };
    usage.calls += 1;
    try {
      const pause = yieldBetweenCalls();
      if (pause !== undefined) await pause;
      const prepared = preparing();
      if (prepared !== undefined) await prepared;
      if (sync !== undefined) await sync.before();
      context.signal.throwIfAborted();
      const { claims, work } = begin();
      // Until here only turns of the event loop were awaited, which keep the order of the calls.
      const { place: kept } = given;
      if (kept?.leave !== undefined) place = { ready: undefined, leave: kept.leave };
      else place = (queueOfHost() ?? ownQueue).enter(() => claims(context));
      const settled = settling();
      if (settled !== undefined) await settled;
      if (place.ready !== undefined) await orAborted(place.ready, context.signal);
      return await withFolders(context, (wider) => work(wider, facts, fitting), widen);
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
      const whole = words.renderProblem(problem, facts());
      const reply = limit === undefined ? whole : withinLimit(whole, limit);
      return delivered(reply, isWhole(reply, whole) && words === dialect ? linesOfRefusal(problem) : []);
    } finally {
      if (ledger.changes !== changesKept) {
        changesKept = ledger.changes;
        ledgerChanged?.();
      }
      if (sync !== undefined) await sync.after();
      place?.leave();
    }
  };

  /** Remembers with a reply what it shows, for `undelivered`. */
  const showing = (
    reply: Reply,
    outcome: Outcome | undefined,
    paths: readonly string[] = outcome === undefined ? [] : pathsShownIn(outcome),
  ): Reply =>
    Object.defineProperty(reply, shownOutcome, { value: { of: ids.session, outcome, paths }, configurable: true });

  /** The lines that a reply shows whole count as shown from now on, unless `undelivered` takes that back. */
  const delivered = async (reply: Reply, lines: readonly DeliveredLine[]): Promise<Reply> => {
    if (lines.length === 0) return reply;
    await noteDelivered(lines, { disk: shared.disk, ledger });
    const paths = [...new Set(lines.map(({ path }) => path))];
    const { [shownOutcome]: shown } = reply as ShownReply; // a reply of `call` has it
    return showing(reply, shown?.outcome, [...(shown?.paths ?? []), ...paths]);
  };

  /** Renders an outcome to measure it and keeps the last rendering, which usually is the answer. */
  const fittingTo = (limit: AnswerLimit, words: Words, facts: () => Facts): Fitting => {
    let last: { readonly outcome: Outcome; readonly reply: Reply; readonly bytes: number } | undefined;
    const bytesOf = (outcome: Outcome): number => {
      const reply = renderPages(words, outcome, facts());
      last = { outcome, reply, bytes: answerBytes(reply, limit) };
      return last.bytes;
    };
    return {
      fit: <Fitted extends Outcome>(outcome: Fitted): Fitted =>
        outcome === last?.outcome
          ? outcome
          : (fittedOutcome(outcome, limit.bytesMax, profile.cutMark, bytesOf) as Fitted), // of the same kind, only shorter
      rendered: (outcome) => (outcome === last?.outcome ? last : undefined),
    };
  };

  const outside = lazily(async () => (await import("./tools/outside-changes.ts")).createOutsideChanges());
  const notices = { on: options.changeNotices ?? true, running: 0, endedMs: Number.NEGATIVE_INFINITY };

  /** Adds what others did to files that the session was shown, unless the answer itself is about them. */
  const withNotices = async (
    reply: Reply,
    { outcome, problem }: CallProgress,
    words: Words,
    limit: AnswerLimit | undefined,
  ): Promise<Reply> => {
    const named = new Set([...(outcome === undefined ? [] : pathsNamedIn(outcome)), ...pathOfProblem(problem)]);
    if (ledger.recent(2).every((path) => named.has(path))) return reply;
    const changes = await (await outside()).look(named, { ...shared, ledger }, () => notices.running === 1);
    if (changes.length === 0) return reply;
    const text = words.renderForeign(changes, shared.guard);
    const longer = { ...reply, content: [...reply.content, { type: "text", text } as const] };
    if (limit !== undefined && answerBytes(longer, limit) > limit.bytesMax) return reply;
    const { [shownOutcome]: shown } = reply as ShownReply; // a reply of `call` has it
    const [only, ...others] = changes;
    const now = only?.now?.map((line) => ({ path: only.path, ...line }));
    const lines = words === dialect && others.length === 0 ? (now ?? []) : [];
    return delivered(showing(longer, outcome, shown?.paths ?? []), lines);
  };

  /** After a pause, in which others may have worked, the first call also looks for what they changed. */
  const noticing = async (
    replied: () => Promise<Reply>,
    progress: CallProgress,
    words: Words,
    limit: AnswerLimit | undefined,
  ): Promise<Reply> => {
    const isDue = notices.running === 0 && clock.nowMs() - notices.endedMs >= limits.quietMsMin;
    notices.running += 1;
    try {
      const reply = await replied();
      return isDue && notices.running === 1 ? await withNotices(reply, progress, words, limit) : reply;
    } finally {
      notices.running -= 1;
      notices.endedMs = clock.nowMs();
    }
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
    const work = async (
      request: Request,
      context: ToolContext,
      facts: () => Facts,
      fitting: Fitting | undefined,
    ): Promise<Reply> => {
      const outcome = context.fit(await runTool(request, context));
      progress.outcome = outcome;
      if (outcome.kind === "rewind") turns.afterRewind(outcome);
      if (outcome.kind === "unchanged") usage.tokensSaved += outcome.tokensSaved;
      const diagnostics = outcome.kind === "rewind" ? (outcome.diagnostics ?? []).filter(saysSomething) : [];
      const late = context.languages === undefined ? diagnostics : [...diagnostics, ...(await lateReports(context))];
      const measured = fitting?.rendered(outcome);
      const whole = withLate(measured?.reply ?? renderPages(words, outcome, facts()), late, words);
      wasReminded ||= outcome.kind === "text" && outcome.pages.some(({ count }) => count > 0);
      progress.tokens = tokensOf(whole);
      usage.tokensGiven += progress.tokens;
      const fits = limit === undefined || (whole === measured?.reply && measured.bytes <= limit.bytesMax);
      const reply = showing(fits ? whole : withinLimit(whole, limit), outcome);
      return delivered(reply, isWhole(reply, whole) && words === dialect ? linesDelivered(outcome) : []);
    };
    const begin = (): Work<Reply> => {
      const request = toRequest();
      progress.request = request;
      return {
        claims: (context) => claimsOf(request, context),
        work: (context, facts, fitting) => work(request, context, facts, fitting),
      };
    };
    const calling = () => answered(tool, verb, input, given, begin, words, progress, limit);
    const replied = notices.on && verb !== "cost" ? noticing(calling, progress, words, limit) : calling();
    if ((watchers.listeners.size === 0 && watchers.log === undefined) || verb === "cost") return replied;
    const { principal = null, client = null, dialect: name } = chosen;
    const { dryRun = false } = given;
    const session = ids.session;
    const called = { session, principal, client, dialect: name, tool, verb: verb ?? null, input, dryRun, sessionMs };
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
  const atPath = <Value>(
    tool: string,
    verb: Verb | "cost",
    path: string,
    given: CallOptions,
    work: (context: ToolContext) => Promise<Value>,
    use?: PathUse,
  ): Promise<Value> => asValue(tool, verb, { path }, given, claimsFor(path, use), work);
  const asData: AsData = (path, given, work, verb = "read") => atPath("workspace", verb, path, given, work);

  const rewound = (
    to: RewindRequest["to"],
    way: RewindRequest["as"],
    { files, force = false, confirm, ...given }: RewindOptions = {},
  ): Promise<RewindOutcome> => {
    const as = files === undefined ? way : "partial";
    const request: RewindRequest = { verb: "rewind", to, files, force, as, ...defined({ confirm }) };
    const claims = (context: ToolContext): readonly Claim[] => claimsOf(request, context);
    return asValue("Rewind", "rewind", { to }, given, claims, async (context) => {
      const outcome = await runTool(request, context);
      if (outcome.kind !== "rewind") throw new Error("a rewind has one outcome");
      turns.afterRewind(outcome);
      return outcome;
    });
  };

  const call = (tool: string, input: unknown, given: CallOptions = {}, progress: CallProgress = {}): Promise<Reply> => {
    const spec = specs.find(({ name }) => name === tool);
    const toRequest = () => requestOf(spec ?? unknownTool(tool, specs), input, dialect, profileFor(given));
    return answer(tool, spec?.verb, input, toRequest, given, dialect, progress);
  };

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
      const cost = await atPath("cost", "cost", path, given, (context) => costOf(path, profile, context));
      if ("tokens" in cost) return cost;
      const progress: CallProgress = {};
      const reply = await answer("cost", "cost", { path }, () => wholeRead(path, profile), given, dialect, progress);
      if (reply.error !== undefined) throw failureOf(reply.error, progress.problem);
      const { pageTokensMax: tokensMax = limits.pageTokensMax } = profile;
      const tokens = tokensOf(reply);
      return { tokens, counted: "estimated", lines: undefined, sizeBytes: cost.sizeBytes, tokensMax };
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
      atPath("diagnostics", "read", path, given, (context) => reportOf(path, given.waitMsMax, context)),
    undelivered: (reply) => {
      const { [shownOutcome]: shown } = reply as ShownReply; // a reply of `call` has it
      if (shown?.of !== ids.session) return;
      const { outcome, paths } = shown;
      for (const path of paths) ledger.drop(path);
      ledgerChanged?.();
      if (outcome?.kind !== "text") return;
      wasReminded = false;
      outcome.instructions?.forEach((path) => offered?.delete(path));
    },
    stats: () => ({ ...usage }),
    forget: (path) => {
      if (path === undefined) {
        wasReminded = false;
        return ledger.forget();
      }
      const resolved = shared.guard.resolve(path);
      if (resolved.seen !== "node") return;
      resolved.node.handle.close();
      ledger.forget(resolved.target.real);
    },
    markRead: (path, shown) =>
      atPath("markRead", "cost", path, {}, (context) => noteShown(path, shown, context), "read"),
    markShell: (shown) =>
      asValue(
        "markShell",
        undefined,
        {},
        {},
        () => everything("search"),
        (context) => noteShellOutput(shown, context),
      ),
    readState: () => ledger.state(),
    checkpoint: (messageId) => turns.begin(messageId),
    observe: ({ command, coverage, copyMsMax, since, ...given } = {}) => {
      const request = defined({ command, coverage, copyMsMax, since });
      // Only the workspace: a folder outside that the session was let into may be huge.
      const work = async (context: ToolContext) =>
        (await observer()).observe(request, { ...context, disk: first.disk, guard: first.guard });
      return asValue("observed", undefined, {}, given, () => everything("search"), work);
    },
    history: async () => {
      const past = await turns.past();
      await past?.refresh();
      return past;
    },
    rewind: (to, given) => rewound(to, "rewind", given),
    workspace: createWorkspace(asData),
    undo: (given) => rewound({ last: "undo" }, "undo", given),
    redo: (given) => rewound({ last: "redo" }, "redo", given),
    definitions: () =>
      specs
        .filter(({ readOnly }) => readOnly || state.mode !== "read-only")
        .map(({ name, verb, description, inputSchema, readOnly }) => ({
          name,
          verb,
          description: descriptionFor(description, {
            ...changeRules(options),
            lineNumbers,
            updateImports: shared.languages !== undefined && options.updateImports !== false,
          }),
          inputSchema,
          readOnly,
          execute: (input, given) => call(name, input, given),
        })),
  };
}

// How the options shape a session: its tools, profile, modes and change rules.

/** Without the name of a model the reminder is needed, but only once: it stays in the conversation. */
function remindedOf({ reminder = true, model, reminderExemptModels }: FilehandOptions): "each read" | "once" | "never" {
  if (!reminder || isExemptModel(model, reminderExemptModels)) return "never";
  return model === undefined ? "once" : "each read";
}

/** The safest choices are the defaults. */
const changeRules = (options: FilehandOptions): ToolContext["changes"] => ({
  readFirst: options.readFirst === true ? "file" : (options.readFirst ?? "file"),
  staleness: options.staleness ?? "refuse",
  hardLinks: options.hardLinks ?? "separate",
  writeEol: options.writeEol ?? "as sent",
  editBytesMax: options.editBytesMax ?? limits.editBytesMax,
});

/** A toolkit serves sessions of several dialects: its option is for those that leave the choice. */
function lineNumbersOf(
  { name, lineNumbers }: Dialect,
  forSession: LineNumbers | undefined,
  forToolkit: LineNumbers | undefined,
): Dialect["lineNumbers"] {
  const wanted = forSession ?? forToolkit;
  if (wanted !== undefined && !lineNumberForms.includes(wanted)) {
    const known = lineNumberForms.join(", ");
    throw new FilehandError("INVALID_PARAM", `Cannot number lines as "${String(wanted)}": use one of ${known}`);
  }
  if (lineNumbers !== "fixed") return wanted ?? lineNumbers;
  if (forSession === undefined) return lineNumbers;
  const why = `the dialect ${name} has a fixed form of line numbers, leave lineNumbers out`;
  throw new FilehandError("INVALID_PARAM", `Cannot number lines as "${forSession}": ${why}`);
}

/** Applies the options that change a profile. */
const withOptions = (
  profile: Profile,
  lineNumbers: Dialect["lineNumbers"],
  { pageTokensMax, lineCharsMax, longCode }: FilehandOptions,
  outlineTool: boolean,
): Profile => ({
  ...profile,
  ...(lineNumbers === "fixed" ? {} : { numbers: numberStyles[lineNumbers] }),
  ...defined({ lineCharsMax, longCode }),
  outlineTool,
  ...(profile.pageTokensMax !== undefined && pageTokensMax !== undefined ? { pageTokensMax } : {}),
});

function refuseMode(mode: Mode, { mode: fixed = "default", locked = [] }: FilehandOptions): void {
  const cannot = `Cannot switch to the mode "${mode}"`;
  if (!modes.includes(mode)) throw new FilehandError("INVALID_PARAM", `${cannot}: use one of ${modes.join(", ")}`);
  if (locked.includes("mode") && isWider(mode, fixed)) {
    throw new FilehandError("ACCESS_DENIED", `${cannot}: the operator has locked it at "${fixed}"`);
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

/** Files that an answer is about. */
const pathsNamedIn = (outcome: Outcome): readonly string[] => [
  ...pathsShownIn(outcome),
  ...(outcome.kind === "patch" ? outcome.files.map(({ target }) => target.real) : []),
  ...("target" in outcome && outcome.target !== undefined ? [outcome.target.real] : []),
];

const pathOfProblem = (problem: ProblemData | undefined): readonly string[] => {
  if (problem === undefined || !("place" in problem)) return [];
  const { place } = problem;
  return "real" in place && typeof place.real === "string" ? [place.real] : [place.absolute];
};

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

/** Rounded: estimates are fractions, but reports and sums are whole. */
function tokensOf({ content }: Reply): number {
  const tokens = content.map((part) => (part.type === "text" ? roughTokens(part.text) : part.data.length * 0.125));
  return Math.round(tokens.reduce((sum, one) => sum + one, 0));
}

function orThrow(dialect: Dialect, reply: Reply, problem: ProblemData | undefined): unknown {
  if (dialect.failures === "returned" || !reply.isError || reply.error === undefined) return reply.structured;
  throw failureOf(reply.error, problem);
}

const failureOf = ({ code, message }: NonNullable<Reply["error"]>, problem?: ProblemData): FilehandError =>
  new FilehandError(code as Code, message, problem); // dialects copy the code from the problem

// Questions of a host about one file: may it be read, which diagnostics does it have; and what the host itself showed.

/** Throws a Problem where a read would be refused. */
async function openOnce(path: string, context: ToolContext): Promise<undefined> {
  const { target, node } = await locatePermitted(path, "file", context);
  using _handle = node.handle;
  const opened = context.disk.open(node);
  if ("errno" in opened) throw refusal(target, opened.errno, "opening it");
  opened.close();
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
  if (isShownElsewhere(shown) && shown.ifChanged === "ignore") {
    await noteIfSame(target.real, shown, context);
    return undefined;
  }
  if (context.ledger.shownElsewhere(target.real, shown)) return undefined;
  throw malformed("markRead", "a sha256 in hex and, if not all was shown, lines as { from, to } that count from 1");
}

async function noteShellOutput(shown: ShellOutput, context: ToolContext): Promise<readonly ShownFile[]> {
  const { command, output, cwd = "" } = shown;
  const isText = [command, output, cwd].every((one) => typeof one === "string");
  if (!isText)
    throw malformed("markShell", "a command, its output and, if it began elsewhere, its cwd, all of them text");
  return noteShell(shown, context);
}

function malformed(tool: string, expected: string): Problem {
  const issue = { fault: "type", name: "shown", expected, got: "what was given", optional: false } as const;
  return new Problem({ code: "INVALID_PARAM", reason: "arguments", tool, issues: [issue] });
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

function unknownTool(tool: string, specs: Dialect["specs"]): never {
  const known = specs.map(({ name }) => name);
  throw new Problem({ code: "UNKNOWN_TOOL", tool: String(tool), known, nearest: nearestWord(String(tool), known) });
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
