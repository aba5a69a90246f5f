/** The toolkit: checks its options, connects the rooms, and owns what all sessions share. */

import { createHash } from "node:crypto";
import { homedir } from "node:os";
import * as nodePath from "node:path";
import { isLeaving } from "./contract/ask.ts";
import { contains, dropOldest } from "./contract/common.ts";
import type { CallListener } from "./contract/event.ts";
import type { ChangeRecord, FileVersion } from "./contract/history.ts";
import { limits } from "./contract/limits.ts";
import type { LanguageOptions, Languages } from "./contract/lsp.ts";
import {
  type ListedRule,
  type Lock,
  modes,
  type Permissions,
  type RuleFault,
  type RuleText,
} from "./contract/permission.ts";
import { FilehandError } from "./contract/problem.ts";
import type { AuditEntry } from "./contract/state.ts";
import {
  defaultDialect,
  type Dialect,
  type DialectName,
  dialectNames,
  dialects,
  nearestWord,
  choicesOfOlder,
  toolChoice,
} from "./dialects/dialects.ts";
import {
  cleanEnvironment,
  createDisk,
  createIndexStore,
  createLocks,
  defaultLockFolders,
  type Disk,
  lazily,
  programIn,
  programOnPath,
  readSmallText,
  realPrefixes,
  realProgram,
  runInSlices,
  withHandleClosed,
  RootError,
  trustedPath,
} from "./disk/disk.ts";
import {
  createGuard,
  createPolicy,
  createSessionState,
  type Guard,
  type GuardOptions,
  idleRules,
  narrowed,
  type Policy,
  relativeTo,
  type SessionState,
  toolPermission,
} from "./guard/guard.ts";
import type { History } from "./history/history.ts";
import { compileRestricted, countTokens, createPageCache } from "./kinds/kinds.ts";
import type { Formatter } from "./contract/edit.ts";
import type { Filehand, FilehandOptions, Session, SessionOptions } from "./options.ts";
import type { LanguageEnvironment } from "./lsp/lsp.ts";
import { startSession } from "./session.ts";
import { createTimeline, inOwnQueue, type Watchers } from "./session/session.ts";
import {
  appendUsage,
  type Audit,
  type CallLog,
  createCallLog,
  createReadStates,
  createSessionSync,
  openFolderAudit,
  readUsage,
  type SessionOrigin,
  type SharedWorkspaceState,
  type SyncedSession,
} from "./state/state.ts";
import { statKeyOf } from "./tools/tools.ts";

export { countTokens, realPrefixes };

export function createFilehand(options: FilehandOptions): Filehand {
  return createSharedFilehand(options, undefined);
}

/** `shared`: state that several machines share, as `filehand serve --state` opens it. */
export function createSharedFilehand(given: FilehandOptions, shared: SharedWorkspaceState | undefined): Filehand {
  const options = withTools(given);
  const disk = diskAt(options);
  dialectNamed(options.dialect ?? defaultDialect);
  const restricted = compileRestricted(options.restricted);
  const indexes = createIndexStore(options.stateDir);
  const pages = createPageCache();
  // Chosen now, not at the first lock: a confined process can no longer look up its user.
  const locks = createLocks({ folder: defaultLockFolders() });
  const languages = languagesOf(options, disk, () => guard);
  const formatter = formatterOf(options, disk);
  const rules = [...rulesOf(options.permissions), ...(options.rules ?? [])];
  const home = options.home ?? homedir();
  const { mode = "default", locked = [] } = options;
  requireMode(mode);
  requireAnswerBytes(options.answerBytesMax);
  requireSearchMs(options.searchMsMax ?? limits.searchMsMax);
  const judging = { rules, home, locked, secrets: options.secrets ?? "ask", stateDir: options.stateDir } as const;
  const policy = createPolicy({ ...judging, trustProject: options.trustProject });
  if (options.unclearRules !== "report") requireClear(policy.faults);
  const guardOptions: GuardOptions = {
    ...judging,
    trustProject: options.trustProject,
    policy,
    disk,
    base: options.cwd ?? disk.roots[0]?.given ?? "",
    asker: typeof options.ask === "function" ? inOwnQueue(options.ask) : options.ask,
    mode,
    keepRule: options.keepRule,
    externalDirectories: options.externalDirectories,
  };
  const guard = createGuard(guardOptions);
  const roots = disk.roots.map(({ real }) => real);
  /** For the audit: who a session works for, and what allows its changes. */
  const known = new Map<string, { readonly principal: string | null; readonly guard: Guard }>();
  const audited = (id: string, change: ChangeRecord): AuditEntry => {
    const { principal, guard: own } = known.get(id) ?? { principal: null, guard };
    return auditEntry(id, change, principal, own, options.ask === "yes");
  };
  const openPast = pastOf(options, () => guard, shared, audited, roots);
  const permissions = (guardOf: () => Guard, state?: SessionState) =>
    permissionsOf({ guard: guardOf, policy, rules, kept: () => state?.kept ?? [], roots, home, locked });
  const cwd =
    relativeTo(
      guardOptions.base,
      disk.roots.flatMap(({ given, real }) => [given, real]),
      nodePath,
    ) || ".";
  const readStates =
    options.stateDir === undefined || shared !== undefined ? undefined : createReadStates(options.stateDir);
  let isSettled = false;
  const settling = (): Promise<void> | undefined =>
    isSettled ? undefined : disk.settled(locks).then(() => void (isSettled = true));
  let isPrepared = false;
  let preparation: Promise<void> | undefined;
  const preparing = (): Promise<void> | undefined => {
    if (isPrepared) return undefined;
    preparation ??= runInSlices(policy.prepare(disk)).then(
      // In a later turn: a call that comes while earlier ones are being resumed waits as well, and stays behind them.
      () => void setImmediate(() => (isPrepared = true)),
      (error: unknown) => {
        preparation = undefined; // the next call tries again
        throw error;
      },
    );
    return preparation;
  };
  const log = logOf(options, roots, () => guard);
  const watchers: Watchers = { listeners: new Set(), log: log?.call, calls: 0 };
  const session = <Name extends DialectName>(chosen: SessionOptions<Name>): Session<Name> => {
    const state = createSessionState(mode, home);
    const { principal = null, client = null } = chosen;
    const sessionMs = Date.now();
    const asker = askerFor(guardOptions.asker, log, () => ({ session: started.id, sessionMs, principal, client }));
    const own = narrowed(
      createGuard({ ...guardOptions, state, asker }),
      foldersWithin(chosen.within, guardOptions.base),
    );
    const idleMsMax = chosen.keepReadState === true ? undefined : unnamedIdleMsMax;
    const syncWith =
      shared && ((id: string, session: SyncedSession) => createSessionSync(shared.sessions, id, session, idleMsMax));
    const started: Session<Name> = startSession(dialectNamed(chosen.dialect), chosen, {
      disk,
      restricted,
      indexes,
      pages,
      locks,
      languages: languages?.open,
      formatter,
      openPast,
      guard: own,
      sharedLocks: shared?.locks,
      syncWith,
      state,
      permissions: (guardOf) => permissions(guardOf, state),
      options,
      cwd,
      watchers,
      readStates,
      preparing,
      settling,
    });
    if (shared !== undefined || options.audit === true) {
      known.delete(started.id);
      known.set(started.id, { principal, guard: own });
      dropOldest(known, sessionsKnownMax);
    }
    return started;
  };

  return {
    history: async () => {
      const past = await openPast?.();
      await past?.refresh();
      return past;
    },
    roots,
    workspaceId: workspaceIdOf(shared === undefined ? roots : [shared.name]),
    permissions: permissions(() => guard),
    session: (chosen?: SessionOptions<DialectName>) =>
      session(chosen ?? { dialect: options.dialect ?? defaultDialect }),
    listen: (listener) => {
      const own: CallListener = (event, detail) => listener(event, detail); // one function may listen twice
      watchers.listeners.add(own);
      return () => void watchers.listeners.delete(own);
    },
    timeline: (sizes) => createTimeline(sizes),
    ruleFaults: policy.faults,
    languageFaults: async () => (await languages?.faults()) ?? [],
    close: async () => {
      readStates?.flush();
      await log?.flush();
      await languages?.close();
    },
    recordUsage: (ended: Session) => {
      const stats = ended.stats();
      if (options.stateDir === undefined || stats.calls === 0) return;
      appendUsage(options.stateDir, { time: new Date().toISOString(), dialect: ended.dialect, ...stats });
    },
    usage: () => (options.stateDir === undefined ? [] : readUsage(options.stateDir)),
  } as Filehand; // the overloads of `session` pair dialect and type
}

/** The options of earlier versions become entries of the one list. */
function withTools(given: FilehandOptions): FilehandOptions {
  const older = choicesOfOlder(given);
  if (given.tools === undefined && older.length === 0) return given;
  const chosen = (given.tools ?? []).map((text) => {
    const choice = toolChoice(String(text));
    if (typeof choice === "string") return choice;
    throw new FilehandError("INVALID_PARAM", `Cannot offer the tools: ${choice.fault}`);
  });
  return { ...given, tools: [...chosen, ...older] };
}

function logOf(options: FilehandOptions, roots: readonly string[], guard: () => Guard): CallLog | undefined {
  const { stateDir, callLog = {} } = options;
  if (stateDir === undefined || callLog === false) return undefined;
  const mayName = (path: string): boolean => guard().explain("Read", "read", path).verdict !== "deny";
  return createCallLog({ stateDir, roots, mayName, ...callLog });
}

/** The log shows calls that wait for an answer. */
function askerFor(
  asker: GuardOptions["asker"],
  log: CallLog | undefined,
  from: () => SessionOrigin,
): GuardOptions["asker"] {
  if (log === undefined || typeof asker !== "function") return asker;
  return async (question, signal) => {
    const open = log.question(question, from());
    try {
      const answer = await asker(question, signal);
      open.answered();
      return answer;
    } catch (error) {
      if (isLeaving(error)) open.left(Date.now() + limits.callLogLeftMsMax);
      else open.answered();
      throw error;
    }
  };
}

const workspaceIdOf = (roots: readonly string[]): string =>
  createHash("sha256").update(roots.toSorted().join("\n")).digest("hex").slice(0, 12);

/** Sessions whose principal the audit names; one that is forgotten is started again by its next call. */
const sessionsKnownMax = 10_000;
/** After this pause a session that no client names begins anew: its next call is most likely another conversation. */
const unnamedIdleMsMax = 1_800_000;

/** The audit of a workspace in the state folder; undefined without one. */
export const auditIn = (stateDir: string | undefined, roots: readonly string[]): Audit | undefined =>
  stateDir === undefined ? undefined : openFolderAudit(nodePath.join(stateDir, "audit"), workspaceIdOf(roots));

function auditEntry(
  session: string,
  { timeMs, tool, path, before, after }: ChangeRecord,
  principal: string | null,
  guard: Guard,
  approvesAll: boolean,
): AuditEntry {
  const contentOf = (version: FileVersion): string | null =>
    version.kind === "file" ? (version.content ?? null) : null;
  const { verdict, rule, by } = guard.explain("Edit", "edit", path);
  const decided = rule === undefined ? by : `rule ${rule.text} (${rule.source})`;
  const allowedBy = verdict === "allow" ? decided : approvesAll ? "option yes" : "person";
  return {
    timeMs,
    principal: principal ?? "",
    session,
    tool,
    path,
    before: contentOf(before),
    after: contentOf(after),
    allowedBy,
  };
}

function pastOf(
  options: FilehandOptions,
  guard: () => Guard,
  shared: SharedWorkspaceState | undefined,
  audited: (session: string, change: ChangeRecord) => AuditEntry,
  roots: readonly string[],
): (() => Promise<History>) | undefined {
  const { stateDir, history = {} } = options;
  if (stateDir === undefined || history === false) return undefined;
  const open = async (): Promise<History> => {
    const { createUpkeep, openHistory } = await import("./history/history.ts");
    const judge = guard();
    const nowMs = Date.now;
    const onKept = createUpkeep(() => past.gc({ ifDue: true }), nowMs);
    const isSecret = (path: string): boolean => judge.isSecret(path);
    const past = openHistory({
      stateDir,
      isSecret,
      nowMs,
      ...history,
      onKept,
      ...(shared === undefined ? {} : { store: shared.history, audited }),
      ...(shared === undefined && options.audit === true ? { audited, audit: auditIn(stateDir, roots) } : {}),
    });
    return past;
  };
  return lazily(open);
}

/** JavaScript callers have no compiler, and a misspelt mode must not become the default one. */
export function requireMode(mode: string): void {
  if ((modes as readonly string[]).includes(mode)) return;
  throw invalid(`Cannot use the mode "${mode}": there is no such mode, use ${modes.join(", ")}`);
}

const invalid = (message: string): FilehandError => new FilehandError("INVALID_PARAM", message);

function requireSearchMs(ms: number): void {
  if (Number.isSafeInteger(ms) && ms >= 1 && ms <= limits.searchMsMost) return;
  throw invalid(`Cannot let a search take ${ms} ms: searchMsMax is a whole number from 1 to ${limits.searchMsMost}`);
}

/** A misspelt deny rule would deny nothing without a sign of it. */
function requireClear(faults: readonly RuleFault[]): void {
  const [first, ...others] = faults.filter(({ stops }) => stops === true);
  if (first === undefined) return;
  const { verdict, text, source, why } = first;
  const more = others.length === 0 ? "" : ` (and ${others.length} more such ${others.length === 1 ? "rule" : "rules"})`;
  const message = `Cannot start with the ${verdict} rule ${JSON.stringify(text)} (${source}): ${why}, correct or remove it${more}`;
  throw new FilehandError("UNCLEAR_RULE", message);
}

/** Below this every answer would be truncated. */
function requireAnswerBytes(bytes: number | undefined): void {
  if (bytes === undefined || (Number.isSafeInteger(bytes) && bytes >= limits.answerBytesMin)) return;
  throw invalid(`Cannot use an answerBytesMax of ${bytes}: give a whole number of at least ${limits.answerBytesMin}`);
}

function diskAt({ roots, stateDir, sameDevice, denyHardlinks }: FilehandOptions): ReturnType<typeof createDisk> {
  if (!Array.isArray(roots) || roots.length === 0) {
    throw new FilehandError("NO_ROOT", "Cannot start without a workspace: name at least one folder in roots");
  }
  try {
    return createDisk(roots, undefined, { stateDir, border: { sameDevice, denyHardlinks } });
  } catch (error) {
    if (error instanceof RootError) throw new FilehandError("NO_ROOT", error.message);
    throw error;
  }
}

function dialectNamed(name: string): Dialect {
  if (Object.hasOwn(dialects, name)) return dialects[name as DialectName]; // `name` is a key, as checked here
  const near = nearestWord(String(name), dialectNames);
  const hint = near === undefined ? `use one of ${dialectNames.join(", ")}` : `did you mean ${near}`;
  throw new FilehandError("UNKNOWN_DIALECT", `Cannot speak the dialect "${name}": there is no such dialect, ${hint}`);
}

const rulesOf = (permissions: FilehandOptions["permissions"] = {}): readonly RuleText[] =>
  (["allow", "ask", "deny"] as const).flatMap((verdict) =>
    (permissions[verdict] ?? []).map((text) => ({ verdict, text, source: "options" })),
  );

/** Relative folders start where relative paths of calls start. Files are judged by their real paths, so links are resolved. */
function foldersWithin(folders: readonly string[] | undefined, base: string): readonly string[] | undefined {
  const realPrefix = realPrefixes();
  return folders?.map((folder) => realPrefix(nodePath.resolve(realPrefix(base), folder)));
}

// The rules and their decisions as data, for people who write rules.

export interface PermissionsOf {
  readonly guard: () => Guard;
  readonly policy: Policy;
  readonly rules: readonly RuleText[];
  readonly kept: () => readonly RuleText[];
  readonly roots: readonly string[];
  readonly home: string | undefined;
  readonly locked: readonly Lock[];
}

export function permissionsOf({ guard, policy, rules, kept, roots, home, locked }: PermissionsOf): Permissions {
  const explain: Permissions["explain"] = (tool, path) => {
    const permission = toolPermission(tool);
    if (permission === "read" || permission === "edit") return guard().explain(tool, permission, path);
    const why = typeof permission === "object" ? `the tool ${permission.fault}` : "that is no tool";
    throw new FilehandError("UNKNOWN_TOOL", `Cannot judge what "${tool}" may do: ${why}`);
  };
  return {
    explain,
    check: (tool, paths) => paths.every((path) => explain(tool, path).verdict === "allow"),
    list: () => {
      const all = [...rules, ...kept()];
      const idle = idleRules(policy.rules, roots, { home, realPrefix: realPrefixes() });
      const listed = all.map((rule): ListedRule => {
        const fault = faultOf(rule, policy.faults) ?? idle(rule);
        return fault === undefined ? rule : { ...rule, fault };
      });
      const { mode } = guard();
      return { mode, locked, roots, rules: listed, builtIn: policy.builtIn, faults: policy.faults };
    },
  };
}

const faultOf = ({ verdict, text, source }: RuleText, faults: readonly RuleFault[]): string | undefined =>
  faults.find((fault) => fault.verdict === verdict && fault.text === text && fault.source === source)?.why;

// Connects language servers with the disk and the rules. Loaded by the first call that needs them; a toolkit without
// language servers loads none of it.

function languagesOf(options: FilehandOptions, disk: Disk, guard: () => Guard) {
  const { languageServers: given = false } = options;
  if (given === false) return undefined;
  const wanted = given === true ? {} : given;
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
  const { roots, env, find } = programsFor(wanted.trustedRoots, trustProject, disk);
  return {
    env,
    roots,
    find,
    has: (folder, name) => withHandleClosed(disk.lookup(nodePath.join(folder, name))).seen === "node",
    textOf: (path) => (guard().isSecret(path) ? undefined : readSmallText(path, disk, limits.languageFileBytesMax)),
    fingerprintOf: (path) => {
      const lookup = withHandleClosed(disk.lookup(path));
      return lookup.seen === "node" ? statKeyOf(lookup.handle.identity) : undefined;
    },
  };
}

/** The programs that may be run for files of the workspace, and the environment that they get. */
function programsFor(trustedRoots: readonly string[] | undefined, trustProject: boolean, disk: Disk) {
  const roots = disk.roots.map(({ real }) => real);
  const { env, platform } = process;
  const trusted = trustedRoots ?? (trustProject ? roots : []);
  const { PATH: path, ...others } = Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name.toUpperCase() === "PATH" ? "PATH" : name, value]),
  );
  return {
    roots,
    // Programs find further programs by name on PATH.
    env: cleanEnvironment({
      ...others,
      PATH: trustedPath({ path, platform, notBeneath: untrustedOf(roots, trusted) }),
    }),
    find: serverFinder({ roots, trusted, path, platform }),
  };
}

/** The host's own function, or one that runs the host's programs. */
function formatterOf({ formatter, trustProject = false }: FilehandOptions, disk: Disk): Formatter | undefined {
  if (formatter === undefined || typeof formatter === "function") return inOwnQueue(formatter);
  const { commands, trustedRoots } = formatter;
  const load = lazily(async () => {
    const { createCommandFormatter } = await import("./tools/changes.ts");
    return createCommandFormatter({ commands, ...programsFor(trustedRoots, trustProject, disk) });
  });
  return async (file) => (await load())(file);
}

interface ServerPlaces {
  readonly roots: readonly string[];
  readonly trusted: readonly string[];
  readonly path: string | undefined;
  readonly platform: NodeJS.Platform;
}

/** Finds the program of a server or a formatter for a file's folder. Programs in a project run only if the operator trusts the project. */
export function serverFinder({ roots, trusted, path, platform }: ServerPlaces): LanguageEnvironment["find"] {
  const isTrusted = (one: string): boolean => trusted.some((root) => contains(root, one));
  const notBeneath = untrustedOf(roots, trusted);
  return (command, folder) => {
    if (nodePath.isAbsolute(command)) return realProgram(command) === undefined ? undefined : command;
    if (command.includes("/") || command.includes(nodePath.sep)) return undefined;
    const own = isTrusted(folder) ? installedIn(folder, roots, command) : undefined;
    return own ?? programOnPath(command, { path, platform, runnable: true, notBeneath });
  };
}

const untrustedOf = (roots: readonly string[], trusted: readonly string[]): readonly string[] =>
  roots.filter((root) => !trusted.some((one) => contains(one, root)));

/** In `node_modules` of the folder or of a folder above it, up to the root. */
function installedIn(folder: string, roots: readonly string[], command: string): string | undefined {
  for (let at = folder; roots.some((root) => contains(root, at)); at = nodePath.dirname(at)) {
    const program = programIn(nodePath.join(at, "node_modules", ".bin"), command, process.platform, true);
    if (program !== undefined) return program;
    if (at === nodePath.dirname(at)) break;
  }
  return undefined;
}

// Preloading. A server lives long, and an update may replace its package: a part that is not loaded by then is missing
// or of another version.

/** In the order in which calls are likely to need them; without optional packages, which are updated separately. */
const parts: readonly (() => Promise<unknown>)[] = [
  () => import("./tools/changes.ts"),
  () => import("./tools/outside-changes.ts"),
  () => import("./tools/grep/grep.ts"),
  () => import("./tools/glob/glob.ts"),
  () => import("./history/history.ts"),
  () => import("./tools/outline/outline.ts"),
  () => import("./kinds/notebook.ts"),
  () => import("./kinds/image/size.ts"),
  () => import("./kinds/image/image.ts"),
  () => import("./kinds/pdf/pdf.ts"),
  () => import("./kinds/worker/worker.ts?program"),
  () => import("./tools/observe/observe.ts"),
  () => import("./lsp/servers.ts"),
  () => import("./lsp/languages.ts"),
];

/** Loads one part per turn of the event loop, so that no call waits for more than one. */
export async function preload(more: readonly (() => Promise<unknown>)[] = []): Promise<void> {
  for (const load of [...parts, ...more]) {
    await new Promise(setImmediate);
    await load();
  }
}
