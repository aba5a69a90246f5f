/** Settings, environment and options in, a session out: what every command begins with. */

import * as nodePath from "node:path";
import type { Asker, KeepRule } from "../../contract/ask.ts";
import type { ToolChoice } from "../../contract/offered-tools.ts";
import { isWider, type Mode, modes, type RuleFault, type RuleText } from "../../contract/permission.ts";
import { lineNumberForms, type LineNumbers } from "../../contract/profile.ts";
import {
  choicesOfOlder,
  commandLineClient,
  defaultDialect,
  type DialectName,
  dialectNames,
  dialects,
  joinedChoices,
  toolChoice,
} from "../../dialects/dialects.ts";
import { createSharedFilehand, realPrefixes } from "../../filehand.ts";
import type { Filehand, FilehandOptions, Session } from "../../options.ts";
import { loadSettings, type Settings, settingsFiles } from "../../settings/settings.ts";
import type { SharedWorkspaceState } from "../../state/state.ts";
import { contains, defined } from "../../contract/common.ts";
import { type FileTool, fileTools } from "../../contract/edit.ts";
import { escapeName } from "../../text/text.ts";
import { createReporter } from "../report/reporter.ts";
import { type TerminalQuestion, askingAt } from "./ask.ts";
import { type Given, type Host, UsageError } from "./command.ts";
import { type Confinable, confineCommand, openedFolders } from "./confine.ts";
import { oneOf } from "./parse.ts";
import { stateAddress } from "./shared-state.ts";

export interface Opened {
  readonly filehand: Filehand;
  readonly session: Session;
  readonly record: () => void;
  readonly usage: Filehand["usage"];
  readonly stateDir: string | undefined;
  /** Bytes of one answer to a model, if an option or the settings say so. */
  readonly answerBytesMax: number | undefined;
  readonly asking: TerminalQuestion;
  readonly confinable: Confinable;
}

export interface Needs {
  /** The command reads standard input, so no person can answer there. */
  readonly stdin?: "used";
  readonly dialect?: DialectName;
  /** A person has seen the change, or need not see it. */
  readonly readFirst?: false;
  /** The command itself prints the rules that are not in force. */
  readonly ruleFaults?: "reported by the command";
  readonly ask?: Asker;
  /** A person can store a rule for good although there is no terminal. */
  readonly keepRules?: true;
  /** A person's command that language servers have a part in, if they are switched on; or that is about nothing else. */
  readonly languages?: "if wanted" | "always";
  /** Whoever opens the session tells inspectors of other processes about it; otherwise it is done here. */
  readonly reports?: "by itself";
  /** Whoever opens the session confines the process, when all is open that it needs. */
  readonly confines?: "by itself";
  readonly roots?: readonly string[];
  /** Opens state that several machines share, at an address and for these roots, in place of what a folder would keep. */
  readonly state?: ((address: string, realRoots: readonly string[]) => Promise<SharedWorkspaceState>) | undefined;
  /** What lists of sessions call the program that makes the calls. */
  readonly client?: string;
  /** Finds the folder to work in if no root is given; by default the current one. */
  readonly workspace?: (stateDir: string | undefined) => Promise<string | undefined>;
  /** The session of another program, instead of the person's own. */
  readonly session?: { readonly id: string; readonly client: string };
}

/** `people`: paths are relative to the current folder, content is always shown, and no reminder is appended. */
export async function openSession(
  given: Given,
  host: Host,
  forWhom: "people" | "models",
  needs: Needs = {},
): Promise<Opened> {
  const rootsNamed = [...given.list("root"), ...(needs.roots ?? [])];
  if (rootsNamed.includes("")) throw new UsageError("A folder to work in must not be empty, name it or leave it out");
  const rootsGiven = rootsNamed.map((root) => nodePath.resolve(host.cwd, root));
  const { env, platform, home } = host;
  const load = (roots: readonly string[]): ReturnType<typeof loadSettings> =>
    loadSettings({ roots, env, platform, home });
  let roots: readonly string[] = rootsGiven.length > 0 ? rootsGiven : [host.cwd];
  let { settings, faults } = await load(roots);
  const found =
    rootsGiven.length === 0
      ? await needs.workspace?.(stateDirOf(given.text("state-dir"), settings.stateDir, host))
      : undefined;
  if (found !== undefined && found !== host.cwd) {
    roots = [found];
    ({ settings, faults } = await load(roots));
  }
  if (rootsGiven.length === 0 && settings.roots.length > 0) {
    // Roots of the user's settings bring their own project settings.
    roots = [...new Set([...roots, ...settings.roots])];
    ({ settings, faults } = await load(roots));
  }
  const unclearRules = needs.ruleFaults === "reported by the command" ? "report" : "stop";
  for (const fault of faults) {
    const words = `${fault.file}:${fault.line}: ${fault.message}`;
    // A deny rule that cannot be read denies nothing, and few people read the stderr of a server.
    if (fault.stops === true && unclearRules === "stop") throw new UsageError(`${words}, correct it first`);
    host.stderr.write(`filehand: ${words}\n`);
  }

  const model = given.text("model") ?? settings.model;
  const pageTokensMax = tokensOf(env["FILEHAND_PAGE_TOKENS"]) ?? settings.pageTokensMax;
  const answerBytesMax = forWhom === "models" ? (given.integer("answer-bytes") ?? settings.answerBytesMax) : undefined;
  const lineCharsMax = given.integer("line-chars");
  // The ledger does not outlive a command, so a person never sees the notice for unchanged content.
  const dedup = env["FILEHAND_DEDUP"] === "0" ? false : settings.dedup;
  const stateDir = stateDirOf(given.text("state-dir"), settings.stateDir, host);
  const asking = askingAt(host, given, needs.stdin ?? "free");
  const asker = needs.ask ?? asking.asker;
  const readFirst = given.flag("no-read-first") ? false : (needs.readFirst ?? settings.readFirst);
  const changeNotices = forWhom === "people" || given.flag("no-change-notices") ? false : settings.changeNotices;
  const dialect =
    needs.dialect ?? oneOf("dialect", given.text("dialect") ?? settings.dialect ?? defaultDialect, dialectNames);
  const lineNumbers = lineNumbersFor(given.text("line-numbers"), dialect) ?? settings.lineNumbers;
  const tools = toolsFor(given, settings, dialect);
  const realPrefix = realPrefixes();
  const address = needs.state === undefined ? undefined : stateAddress(given, host, settings.state);
  if (address !== undefined && given.flag("observe")) {
    throw new UsageError("--observe keeps what it noted on one machine, leave it or --state out");
  }
  const shared =
    address === undefined
      ? undefined
      : await needs.state?.(
          address,
          roots.map((root) => realPrefix(root)),
        );
  const mode = modeOf(given.text("mode"), settings);
  const languages = languagesFor(given, settings, tools, forWhom === "models" ? "if wanted" : needs.languages);
  let isConfined = false;
  const filehand = createSharedFilehand(
    {
      roots,
      dialect,
      rules: [...settings.rules, ...rulesOf(given)],
      unclearRules,
      trustProject: settings.trustedRoots.length > 0,
      mode,
      ...chosenIn(settings),
      ...(asking.asker !== undefined || needs.keepRules
        ? { keepRule: keepRuleIn(settings.trustedRoots, host, () => isConfined) }
        : {}),
      reminder: forWhom === "models" && (settings.reminder ?? true),
      ...(forWhom === "people" && roots.some((root) => contains(root, host.cwd)) ? { cwd: host.cwd } : {}),
      ...(given.flag("yes") ? { ask: "yes" as const } : asker === undefined ? {} : { ask: asker }),
      ...(given.flag("audit") ? { audit: true } : {}),
      ...(given.flag("no-call-log") ? { callLog: false as const } : {}),
      ...languages,
      ...formatterIn(settings),
      ...defined({
        tools,
        readFirst,
        changeNotices,
        model,
        pageTokensMax,
        answerBytesMax,
        dedup,
        home,
        stateDir,
        lineCharsMax,
        lineNumbers,
      }),
    },
    shared,
  );
  if (needs.ruleFaults !== "reported by the command") reportRuleFaults(filehand.ruleFaults, host);
  for (const { name, why } of await filehand.languageFaults()) {
    host.stderr.write(`filehand: Cannot use the language server ${JSON.stringify(name)} of your settings: ${why}\n`);
  }
  if (needs.reports === undefined) {
    const reporter = createReporter("cli");
    reporter.start(filehand, stateDir, "once");
    host.onIdle?.(() => void reporter.end());
    host.onIdle?.(() => void filehand.close());
  }
  const id = sessionIdOf(given) ?? needs.session?.id ?? (forWhom === "people" ? ownSessionId(filehand) : undefined);
  const isOwn = forWhom === "people" && id === ownSessionId(filehand);
  const client = isOwn ? commandLineClient : (needs.session?.client ?? needs.client);
  const session = filehand.session({ dialect, ...defined({ id, client }) });
  const record = (): void => filehand.recordUsage(session);
  const confinable: Confinable = {
    roots: filehand.roots,
    writable: mode !== "read-only",
    stateDir,
    startsPrograms: languages.languageServers !== undefined || settings.formatter !== undefined,
    commands: commandWords(settings),
    settings: settings.confinement,
    opened: openedFolders([...settings.rules, ...rulesOf(given)], home),
    onConfined: () => (isConfined = true),
    asksOutside: settings.externalDirectories === "ask",
  };
  if (given.flag("confine") && needs.confines === undefined) await confineCommand(confinable, host);
  return { filehand, session, record, usage: filehand.usage, stateDir, answerBytesMax, asking, confinable };
}

/** A person's commands in a workspace are one session, so that one command can undo another. */
export const ownSessionId = ({ workspaceId }: Filehand): string => `cli-${workspaceId}`;

function sessionIdOf(given: Given): string | undefined {
  const id = given.text("session");
  if (id?.trim() === "") throw new UsageError("--session must not be empty");
  return id;
}

/** The list of tools: that of the command line replaces the one of the settings, or changes it. */
function toolsFor(given: Given, settings: Settings, dialect: DialectName): readonly ToolChoice[] | undefined {
  const files = given.text("file-tools");
  const named = (given.text("tools") ?? "").split(",").filter((name) => name.trim() !== "");
  const chosen = [
    ...named.map((name) => offeredIn(dialect, name)),
    ...choicesOfOlder({
      historyTools: given.flag("history-tools"),
      lineEdits: given.flag("line-edits"),
      editFiles: given.flag("edit-files"),
      patchTool: given.flag("patch-tool"),
      ...(given.flag("language-tools") ? { languageTools: "rename" } : {}),
      ...(given.flag("no-outline-tool") ? { outlineTool: false } : {}),
      ...(files === undefined ? {} : { fileTools: files === "none" ? [] : fileToolsNamed(files) }),
    }),
  ];
  const all = joinedChoices([...(settings.tools ?? []), ...choicesOfOlder(settings)], chosen);
  return all.length === 0 ? settings.tools : all;
}

const fileToolsNamed = (text: string): readonly FileTool[] =>
  text.split(",").map((name) => oneOf("file tool", name.trim(), fileTools));

/** The settings serve all dialects, but what is asked for in this run must exist. */
function offeredIn(dialect: DialectName, name: string): ToolChoice {
  const choice = toolChoice(name);
  if (typeof choice !== "string") throw new UsageError(`Cannot offer the tools of --tools: ${choice.fault}`);
  const tool = choice.replace(/^[+-]/, "");
  if (dialects[dialect].specs.some((spec) => spec.tool === tool)) return choice;
  throw new UsageError(`Cannot offer ${tool}: the dialect ${dialect} has no such tool, leave it out of --tools`);
}

/** Settings that are options of the toolkit under the same name. */
const sameNames = [
  "locked",
  "externalDirectories",
  "reminderExemptModels",
  "history",
  "callLog",
  "restricted",
  "secrets",
  "longCode",
  "searchMsMax",
  "instructions",
  "updateImports",
  "staleness",
  "hardLinks",
  "sameDevice",
  "denyHardlinks",
  "writeEol",
  "editBytesMax",
  "formatterMsMax",
  "observe",
] as const satisfies readonly (keyof Settings & keyof FilehandOptions)[];

const chosenIn = (settings: Settings): Partial<Pick<FilehandOptions, (typeof sameNames)[number]>> =>
  defined(Object.fromEntries(sameNames.map((name) => [name, settings[name]])));

/** Programs inside a project are run only if the user trusts the project. */
function languagesFor(
  given: Given,
  { languageServers: said, trustedRoots }: Settings,
  tools: readonly ToolChoice[] | undefined,
  needs: Needs["languages"],
): Pick<FilehandOptions, "languageServers"> {
  const hasTool = tools?.some((choice) => /^\+?(?:Lsp|Rename)$/.test(choice)) ?? false;
  const isWanted = given.flag("language-servers") || hasTool || (said ?? false) !== false;
  const isOn = needs === "always" || (needs === "if wanted" && isWanted);
  if (!isOn) return {};
  return { languageServers: { ...(typeof said === "object" ? said : {}), trustedRoots } };
}

/** Of the language servers and formatters that the settings name; a file name with spaces has to be in the setting confinement. */
const commandWords = ({ languageServers, formatter = {} }: Settings): readonly string[] => [
  ...Object.values(formatter).flatMap((command) => command.split(" ")),
  ...Object.values((typeof languageServers === "object" ? languageServers.servers : undefined) ?? {}).flatMap(
    (server) => (typeof server === "object" ? (server.command ?? []) : []),
  ),
];

const formatterIn = ({ formatter: commands, trustedRoots }: Settings): Pick<FilehandOptions, "formatter"> =>
  commands === undefined ? {} : { formatter: { commands, trustedRoots } };

/** An option that the user gave for this run must have an effect; the settings serve all dialects. */
function lineNumbersFor(word: string | undefined, dialect: DialectName): LineNumbers | undefined {
  if (word === undefined) return undefined;
  const form = oneOf("form of line numbers", word, lineNumberForms);
  if (dialects[dialect].lineNumbers !== "fixed") return form;
  throw new UsageError(`The dialect ${dialect} has a fixed form of line numbers, leave --line-numbers out`);
}

function tokensOf(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new UsageError(`FILEHAND_PAGE_TOKENS must be a whole number of at least 1, not "${text}"`);
  return Number(text);
}

export function stateDirOf(
  given: string | undefined,
  fromSettings: string | undefined,
  host: Host,
): string | undefined {
  if (given !== undefined) return nodePath.resolve(host.cwd, given);
  if (fromSettings !== undefined) return fromSettings;
  const { XDG_STATE_HOME, LOCALAPPDATA } = host.env;
  if (XDG_STATE_HOME !== undefined && nodePath.isAbsolute(XDG_STATE_HOME))
    return nodePath.join(XDG_STATE_HOME, "filehand");
  if (host.platform === "win32")
    return LOCALAPPDATA === undefined ? undefined : nodePath.join(LOCALAPPDATA, "filehand");
  return host.home === undefined ? undefined : nodePath.join(host.home, ".local", "state", "filehand");
}

export const rulesOf = (given: Given): readonly RuleText[] =>
  (["allow", "ask", "deny"] as const).flatMap((verdict) =>
    given.list(verdict).map((text) => ({ verdict, text, source: "command line" })),
  );

/** The command line overrides settings, except a mode that the user has locked. */
function modeOf(given: string | undefined, { mode = "default", locked = [] }: Settings): Mode {
  if (given === undefined) return mode;
  const known = oneOf("mode", given, modes);
  if (locked.includes("mode") && isWider(known, mode)) {
    throw new UsageError(`The mode is locked at "${mode}" in your settings, --mode can only make it stricter`);
  }
  return known;
}

// Stores a rule for good: in the settings of the project or of the user.

/** `trusted`: roots whose own settings may allow something; elsewhere such a rule would not count. */
function keepRuleIn(trusted: readonly string[], host: Host, isConfined: () => boolean): KeepRule {
  const { env, platform, home } = host;
  return async (rule, where) => {
    const files = settingsFiles({ roots: trusted, env, platform, home });
    const file = files.find(({ source }) => source === (where === "user" ? "user settings" : "project settings"));
    const failed =
      file === undefined
        ? { why: "there is no home folder to keep it in" }
        : // Who could write there could also switch confinement off for the next run.
          where === "user" && isConfined()
          ? { why: "this process is confined, add it yourself or use --no-confine" }
          : await put(file.path, rule, where);
    const place = file === undefined ? `${where} settings` : escapeName(file.path);
    host.stderr.write(
      failed === undefined
        ? `Kept in ${place}: ${escapeName(rule)}\n`
        : `Cannot keep the rule in ${place}: ${failed.why}, it holds for this run\n`,
    );
    return failed;
  };
}

async function put(path: string, rule: string, where: "project" | "user"): ReturnType<KeepRule> {
  // Loaded on demand: its parser costs start-up time, and rules are seldom stored.
  const { keepRule } = await import("../../settings/keep-rule.ts");
  // A project may come from strangers, and a symlink in it may lead to any file that the user can write.
  return keepRule(path, rule, where === "user" ? "follow" : "refuse");
}

// Rules that are not in force are reported on stderr.

/** Of rules with the same fault; the rest is counted. */
const reportedMax = 3;

function reportRuleFaults(faults: readonly RuleFault[], host: Host): void {
  const byReason = new Map<string, RuleFault[]>();
  for (const fault of faults) {
    const reason = `${fault.source}: ${fault.why}`;
    byReason.set(reason, [...(byReason.get(reason) ?? []), fault]);
  }
  for (const alike of byReason.values()) {
    for (const { text, source, why } of alike.slice(0, reportedMax)) {
      host.stderr.write(`filehand: the rule ${escapeName(text)} (${source}) is not in force: ${why}\n`);
    }
    if (alike.length <= reportedMax) continue;
    host.stderr.write(
      `filehand: and ${alike.length - reportedMax} more for this reason, see filehand permissions list\n`,
    );
  }
}

// Once a day, after a change, a background process prunes the store to its limits.

export async function startUpkeep({ filehand, stateDir }: Opened, host: Host): Promise<void> {
  if (host.background === undefined || stateDir === undefined) return;
  const history = await filehand.history();
  if (history?.isDue() === true) host.background(["history", "gc", "--if-due", "--json", "--state-dir", stateDir]);
}
