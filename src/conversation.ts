/** A session: what one conversation knows, and the one function that every call goes through. */

import { randomUUID } from "node:crypto";
import type {
  CallOptions,
  FilehandOptions,
  RewindOptions,
  Session,
  SessionOptions,
  ToolFunctions,
  Workspace,
} from "./api.ts";
import { type Seen, watched, type Watchers } from "./call-event.ts";
import { isLeaving } from "./contract/ask.ts";
import { lineNumber } from "./contract/brand.ts";
import type { Reply } from "./contract/call.ts";
import { FilehandError } from "./contract/failure.ts";
import type { DiagnosticsReport } from "./contract/language.ts";
import { limits } from "./contract/limits.ts";
import { type Code, Problem, type ProblemData } from "./contract/problem.ts";
import type { Profile } from "./contract/profile.ts";
import type { RewindOutcome, RewindRequest } from "./contract/rewind.ts";
import type { Outcome, Request } from "./contract/verb.ts";
import { described } from "./dialects/described.ts";
import type { Dialect, Facts, OptIn, Words } from "./dialects/dialect.ts";
import type { DialectName } from "./dialects/index.ts";
import { nearest } from "./dialects/nearest.ts";
import { isWider, modes, type Mode } from "./contract/mode.ts";
import type { Permissions } from "./contract/permission.ts";
import { type Guard, refusal } from "./guard/guard.ts";
import type { SessionState } from "./guard/session-state.ts";
import type { History } from "./history/history.ts";
import type { SessionHistory } from "./history/session-history.ts";
import { languageOptionsOf } from "./languages.ts";
import { nextTurn } from "./fair-share.ts";
import { renderPages } from "./pages.ts";
import type { AsData } from "./workspace.ts";
import { createLedger } from "./session/ledger.ts";
import { roughTokens } from "./text/tokens.ts";
import { type Cost, costOf } from "./tools/cost.ts";
import { lateReports, sourceOf } from "./tools/languages.ts";
import { locate, locatePermitted } from "./tools/locate.ts";
import { runTool } from "./tools/index.ts";
import type { Observed, Observer } from "./tools/observe.ts";
import type { Bench } from "./tools/tool.ts";

/** What a session has from its toolkit. */
export interface Shared
  extends Pick<Bench, "disk" | "restricted" | "indexes" | "pages" | "locks" | "turns" | "languages"> {
  readonly guard: Guard;
  readonly state: SessionState;
  readonly permissions: (guard: () => Guard) => Permissions;
  readonly openPast: (() => Promise<History>) | undefined;
  readonly options: FilehandOptions;
  readonly watchers: Watchers;
  /** Where relative paths start, below the root. */
  readonly cwd: string;
}

/** For calls that nobody cancels. */
const never = new AbortController().signal;

export function startSession<Name extends DialectName>(
  dialect: Dialect,
  chosen: SessionOptions<Name>,
  { options, cwd, openPast, state, permissions, watchers, ...first }: Shared,
): Session<Name> {
  const profile = tuned(dialect.profile, options);
  const cards = dialect.cards.filter(({ optIn }) => isOffered(optIn, options));
  /** Reaches further once somebody let the session into a folder outside the roots. */
  let shared = first;
  const ledger = createLedger(chosen.readState);
  const offered = options.instructions === true ? new Set<string>() : undefined;
  const ids = { session: chosen.id ?? randomUUID(), message: "", next: () => options.ids?.next() ?? randomUUID() };
  const clock = options.clock ?? { nowMs: () => performance.now() };
  const figures = { calls: 0, failures: 0, tokensGiven: 0, tokensSaved: 0 };

  let observer: Promise<Observer> | undefined; // loaded for those who want it
  let sessionPast: Promise<SessionHistory | undefined> | undefined;
  const past = (): Promise<SessionHistory | undefined> => (sessionPast ??= openSessionPast());
  const openSessionPast = async (): Promise<SessionHistory | undefined> => {
    const roots = shared.disk.roots.map(({ real }) => real);
    return (await openPast?.())?.session({ id: ids.session, roots, dialect: chosen.dialect });
  };
  /** The message that changes belong to, if the host names them; else every call is a turn of its own. */
  let message: string | undefined;
  let begun: string | undefined;
  const turnFor = (tool: string, onTurn: (messageId: string) => void): Bench["turn"] => {
    let own: string | undefined;
    return async () => {
      const history = await past();
      const messageId = message ?? (own ??= history && options.ids ? options.ids.next() : randomUUID());
      if (begun !== messageId) await history?.checkpoint(messageId);
      begun = messageId;
      if (history === undefined) return undefined;
      onTurn(messageId);
      return { history, messageId, tool };
    };
  };

  /** What is the same in every call. */
  const standing = {
    changes: changeRules(options),
    newId: () => options.ids?.next() ?? randomUUID().slice(0, 8),
    searchMsMax: options.searchMsMax ?? limits.searchMsMax,
  };
  /** Whoever waits for servers listens to the signal, and very many at one would look like a leak. */
  const unheard = (): AbortSignal => (first.languages === undefined ? never : new AbortController().signal);
  // Name by name: spread out of two objects it would cost as much as a look at a file.
  const benchFor = (
    { signal = unheard(), onProgress, dryRun = false }: CallOptions,
    tool: string,
    onTurn: (messageId: string) => void,
  ): Bench => ({
    disk: shared.disk,
    guard: shared.guard,
    restricted: shared.restricted,
    indexes: shared.indexes,
    pages: shared.pages,
    locks: shared.locks,
    turns: shared.turns,
    languages: shared.languages,
    ledger,
    offered,
    dedup: options.dedup,
    changes: standing.changes,
    formatter: options.formatter,
    warnings: languageOptionsOf(options)?.warnings ?? false,
    session: ids.session,
    onChanged: options.onChanged,
    dryRun,
    turn: turnFor(tool, onTurn),
    past,
    newId: standing.newId,
    signal,
    searchMsMax: standing.searchMsMax,
    onProgress,
  });

  /** Work that comes to a path outside the roots may be let in there; then it is done again from its beginning. */
  const withFolders = async <Result>(bench: Bench, work: (bench: Bench) => Promise<Result>): Promise<Result> => {
    try {
      return await work(bench);
    } catch (error) {
      const isOutside =
        error instanceof Problem && error.data.code === "ACCESS_DENIED" && error.data.reason === "outside";
      const wider = isOutside ? await bench.guard.admit(error.data.place, bench.signal) : undefined;
      if (wider === undefined) throw error;
      const { disk, guard, holds } = wider;
      if (holds === "always") shared = { ...shared, disk, guard };
      // Each time one folder more, and there is an end to those.
      return withFolders({ ...bench, disk, guard }, work);
    }
  };

  /** The only catch of the answer: a Problem becomes a reply, a bug stays a bug. */
  const answered = async <Answer extends Reply | undefined>(
    tool: string,
    verb: Facts["verb"],
    input: unknown,
    given: CallOptions,
    work: (bench: Bench, facts: () => Facts) => Promise<Answer>,
    words: Words = dialect,
    seen: Seen = {},
  ): Promise<Answer | Reply> => {
    const bench = benchFor(given, tool, (messageId) => (seen.turn = messageId));
    const startedMs = clock.nowMs();
    const facts = (): Facts => {
      const elapsedMs = Math.max(0, clock.nowMs() - startedMs);
      const { reminder = true, model } = options;
      return { tool, verb, input, elapsedMs, cwd, reminder, model, full: given.full ?? false, ids };
    };
    figures.calls += 1;
    try {
      const turn = nextTurn();
      if (turn !== undefined) await turn;
      bench.signal.throwIfAborted();
      return await withFolders(bench, (wider) => work(wider, facts));
    } catch (error) {
      if (isLeaving(error)) {
        figures.calls -= 1;
        throw error;
      }
      figures.failures += 1;
      const cancelled = bench.signal.aborted && error === bench.signal.reason;
      const problem =
        error instanceof Problem ? error.data : cancelled ? ({ code: "CANCELLED", tool } as const) : undefined;
      if (problem === undefined) throw error;
      seen.problem = problem;
      return words.renderProblem(problem, facts());
    }
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
    const work = async (bench: Bench, facts: () => Facts): Promise<Reply> => {
      seen.request = toRequest();
      const outcome = await runTool(seen.request, bench);
      seen.outcome = outcome;
      if (outcome.kind === "rewind") afterRewind(outcome);
      if (outcome.kind === "unchanged") figures.tokensSaved += outcome.tokensSaved;
      const told = outcome.kind === "rewind" ? (outcome.diagnostics ?? []).filter(saysSomething) : [];
      const late = [...told, ...(await lateReports(bench))];
      const reply = withLate(renderPages(words, outcome, facts()), late, words);
      seen.tokens = tokensOf(reply);
      figures.tokensGiven += seen.tokens;
      return reply;
    };
    const replied = answered(tool, verb, input, given, work, words, seen);
    if (watchers.listeners.size === 0 || verb === "cost") return replied;
    const { principal = null, dialect: name } = chosen;
    const called = { session: ids.session, principal, dialect: name, tool, verb: verb ?? null, input };
    return watched(replied, seen, { ...called, dryRun: given.dryRun ?? false }, watchers, tokensOf);
  };

  /** What comes now is no part of a message that was just taken back: it must be possible to undo it alone. */
  const afterRewind = ({ turn }: RewindOutcome): void => {
    if (turn !== undefined) message = undefined;
  };

  /** A request whose outcome is wanted as data. */
  const rewound = async (request: RewindRequest, given: CallOptions): Promise<RewindOutcome> => {
    let outcome: Outcome | undefined;
    const failed = await answered("Rewind", "rewind", { to: request.to }, given, async (bench) => {
      outcome = await runTool(request, bench);
      return undefined;
    });
    if (failed?.error !== undefined) throw failureOf(failed.error);
    if (outcome?.kind !== "rewind") throw new Error("a rewind has one outcome");
    afterRewind(outcome);
    return outcome;
  };
  const goBack = (way: "undo" | "redo", { files, force = false, ...given }: RewindOptions): Promise<RewindOutcome> =>
    rewound({ verb: "rewind", to: { last: way }, files, force, as: files === undefined ? way : "partial" }, given);

  const asData: AsData = async (path, given, work, verb = "read") => {
    let answer: { readonly is: Awaited<ReturnType<typeof work>> } | undefined;
    const failed = await answered("workspace", verb, { path }, given, async (bench) => {
      answer = { is: await work(bench) };
      return undefined;
    });
    if (failed?.error !== undefined) throw failureOf(failed.error);
    if (answer === undefined) throw new Error("there is an answer or a failure");
    return answer.is;
  };

  const call: Session["call"] = (tool, input, given = {}) =>
    answer(tool, verbOf(cards, tool), input, () => cardNamed(cards, tool).toRequest(input, profile), given);

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
      const request = make(profile);
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
      let cost: Awaited<ReturnType<typeof costOf>> | undefined;
      const measured = await answered("cost", "cost", { path }, given, async (bench) => {
        cost = await costOf(path, profile, bench);
        return undefined;
      });
      if (measured?.error !== undefined) throw failureOf(measured.error);
      if (cost !== undefined && "tokens" in cost) return cost;
      const reply = await answer("cost", "cost", { path }, () => wholeRead(path, profile), given);
      return costOfReply(reply, cost?.sizeBytes ?? 0, profile);
    },
    outline: (path, { depth, ...given } = {}) => {
      const request = { verb: "outline", path, profile, ...(depth === undefined ? {} : { depth }) } as const;
      const work = async (bench: Bench) => (await import("./tools/outline.ts")).outline(request, bench);
      return asData(path, given, work, "outline");
    },
    readRefusal: async (path, given = {}) => {
      const failed = await answered("read", "read", { path }, given, async (bench) => {
        const { target, found } = await locatePermitted(path, "file", bench);
        const file = bench.disk.open(found);
        found.held.close();
        if ("errno" in file) throw refusal(target, file.errno, "opening it");
        file.close();
        return undefined;
      });
      return failed?.error?.code === "ACCESS_DENIED" ? failed.error.message : undefined;
    },
    diagnostics: async (path, given = {}) => {
      let report: DiagnosticsReport | undefined;
      const { waitMsMax } = given;
      const failed = await answered("diagnostics", "read", { path }, given, async (bench) => {
        const { target, found } = await locatePermitted(path, "file", bench);
        found.held.close();
        if (found.kind === "directory") throw new Problem({ code: "IS_DIRECTORY", place: target });
        const languages = await bench.languages?.();
        const source = languages?.serves(target.real) === true ? await sourceOf(target.real, bench) : undefined;
        if (source === undefined) return undefined;
        const asking = { signal: bench.signal, ...(waitMsMax === undefined ? {} : { waitMsMax }) };
        report = await languages?.diagnostics(source, asking);
        return undefined;
      });
      if (failed?.error !== undefined) throw failureOf(failed.error);
      return report;
    },
    stats: () => ({ ...figures }),
    forget: (path) => {
      if (path === undefined) return ledger.forget();
      const resolved = shared.guard.resolve(path);
      if (resolved.seen !== "node") return;
      resolved.found.held.close();
      ledger.forget(resolved.target.real);
    },
    markRead: async (path, shown) => {
      const failed = await answered("markRead", "cost", { path }, {}, async (bench) => {
        const { target, found } = await locate(path, "file", bench);
        found.held.close();
        if (found.kind === "directory") throw new Problem({ code: "IS_DIRECTORY", place: target });
        if (ledger.shownElsewhere(target.real, shown)) return undefined;
        const expected = "a sha256 in hex and, if not all was shown, lines as { from, to } that count from 1";
        const issue = { fault: "type", name: "shown", expected, got: "what was given" } as const;
        throw new Problem({ code: "INVALID_PARAM", reason: "arguments", tool: "markRead", issues: [issue] });
      });
      if (failed?.error !== undefined) throw failureOf(failed.error);
    },
    readState: () => ledger.state(),
    checkpoint: async (messageId) => {
      message = messageId;
      begun = messageId;
      await (await past())?.checkpoint(messageId);
    },
    observe: async (given = {}) => {
      let observed: Observed | undefined;
      const failed = await answered("observed", undefined, {}, given, async (bench) => {
        observer ??= import("./tools/observe.ts").then(({ createObserver }) => createObserver());
        // The workspace and nothing else: a folder that the session was let into may be anything, and large.
        observed = await (await observer).observe({ ...bench, disk: first.disk, guard: first.guard });
        return undefined;
      });
      if (failed?.error !== undefined) throw failureOf(failed.error);
      if (observed === undefined) throw new Error("an observation has one outcome");
      return observed;
    },
    history: past,
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

const saysSomething = ({ newErrors, knownErrors, warnings, pending, unavailable }: DiagnosticsReport): boolean =>
  pending || [newErrors, knownErrors, warnings, unavailable].some((list) => list.length > 0);

/** An answer with what came too late for an earlier one. */
function withLate(reply: Reply, late: readonly DiagnosticsReport[], words: Words): Reply {
  if (late.length === 0) return reply;
  return { ...reply, content: [...reply.content, { type: "text", text: words.renderLate(late) }], late };
}

/** Tools that are not for everybody. */
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

/** What a neutral request would be as a call. */
const inputOf = (request: Request): object => ({
  ...("pattern" in request ? { pattern: request.pattern } : {}),
  ...("path" in request && request.path !== undefined ? { path: request.path } : {}),
});

/** Loaded for those who want it: no tool does. */
function lazyWorkspace(asData: AsData): Workspace {
  let loading: Promise<Workspace> | undefined;
  const loaded = (): Promise<Workspace> =>
    (loading ??= import("./workspace.ts").then(({ createWorkspace }) => createWorkspace(asData)));
  return {
    files: async (...given) => (await loaded()).files(...given),
    paths: async (...given) => (await loaded()).paths(...given),
    content: async (...given) => (await loaded()).content(...given),
    entries: async (...given) => (await loaded()).entries(...given),
    watch: async (...given) => (await loaded()).watch(...given),
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

const verbOf = (cards: Dialect["cards"], tool: string): Facts["verb"] => cards.find(({ name }) => name === tool)?.verb;

function cardNamed(cards: Dialect["cards"], tool: string): Dialect["cards"][number] {
  const card = cards.find(({ name }) => name === tool);
  if (card !== undefined) return card;
  const known = cards.map(({ name }) => name);
  const data: ProblemData = { code: "UNKNOWN_TOOL", tool: String(tool), known, nearest: nearest(String(tool), known) };
  throw new Problem(data);
}

/** How careful changes are: as careful as can be, unless the operator wants it otherwise. */
const changeRules = (options: FilehandOptions): Bench["changes"] => ({
  readFirst: options.readFirst ?? true,
  staleness: options.staleness ?? "refuse",
  hardLinks: options.hardLinks ?? "separate",
  writeEol: options.writeEol ?? "as sent",
  editBytesMax: options.editBytesMax ?? limits.editBytesMax,
});

/** What the operator may change in a profile. */
function tuned(profile: Profile, options: FilehandOptions): Profile {
  const { pageTokensMax, lineCharsMax, longCode } = options;
  return {
    ...profile,
    ...(profile.pageTokensMax !== undefined && pageTokensMax !== undefined ? { pageTokensMax } : {}),
    ...(lineCharsMax === undefined ? {} : { lineCharsMax }),
    ...(longCode === undefined ? {} : { longCode }),
  };
}

const wholeRead = (path: string, profile: Profile): Request => ({
  verb: "read",
  path,
  ranges: [{ from: lineNumber(1), linesMax: Number.POSITIVE_INFINITY }],
  overBudget: "first page",
  profile: { ...profile, repeats: "content" },
});

/** Of a picture or a document: what its reply would be. */
function costOfReply(reply: Reply, sizeBytes: number, profile: Profile): Cost {
  if (reply.error !== undefined) throw failureOf(reply.error);
  const tokensMax = profile.pageTokensMax ?? limits.pageTokensMax;
  return { tokens: tokensOf(reply), counted: "estimated", lines: undefined, sizeBytes, tokensMax };
}

/** Whole ones: estimates are not, and what is told and summed up is. */
const tokensOf = (reply: Reply): number =>
  Math.round(
    reply.content.reduce(
      (sum, part) => sum + (part.type === "text" ? roughTokens(part.text) : part.data.length * 0.125),
      0,
    ),
  );

function orThrow(dialect: Dialect, reply: Reply): unknown {
  if (dialect.failures === "returned" || !reply.isError || reply.error === undefined) return reply.structured;
  throw failureOf(reply.error);
}

const failureOf = ({ code, message }: NonNullable<Reply["error"]>): FilehandError =>
  new FilehandError(code as Code, message); // dialects take the code from the problem
