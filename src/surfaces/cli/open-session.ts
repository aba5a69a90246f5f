/** Settings, environment and options in, a session out: what every command begins with. */

import * as nodePath from "node:path";
import type { Asker, RuleKeeper } from "../../contract/ask.ts";
import { limits } from "../../contract/limits.ts";
import { isWider, type Mode, modes, type RuleFault, type RuleText } from "../../contract/permission.ts";
import { defaultDialect, type DialectName, dialectNames, nearestWord } from "../../dialects/dialects.ts";
import { createFilehand } from "../../filehand.ts";
import type { Filehand, FilehandOptions, Session } from "../../options.ts";
import { loadSettings, type Settings, settingsFiles } from "../../settings/settings.ts";
import { escapeName } from "../../text/text.ts";
import { createReporter } from "../report/reporter.ts";
import { type TerminalQuestion, askingAt } from "./ask.ts";
import { type Given, type Host, UsageError } from "./command.ts";

/** A session and what must be done when its work is over. */
export interface Opened {
  readonly filehand: Filehand;
  readonly session: Session;
  /** Stores the usage of the session for `filehand stats`. */
  readonly record: () => void;
  readonly figures: Filehand["figures"];
  readonly stateDir: string | undefined;
  /** Bytes of one answer to a model, if an option or the settings say so. */
  readonly answerBytesMax: number | undefined;
  /** The questions to the person and the answers. */
  readonly asking: TerminalQuestion;
}

/** What a command needs differently from the others. */
export interface Needs {
  /** The command reads standard input, so no person can answer there. */
  readonly stdin?: "used";
  /** The dialect, whatever settings say. */
  readonly dialect?: DialectName;
  /** A person has seen the change, or need not see it. */
  readonly readFirst?: false;
  /** The command itself prints the rules that are not in force. */
  readonly ruleFaults?: "reported by the command";
  /** Replaces the person at the terminal for questions. */
  readonly ask?: Asker;
  /** A person can store a rule for good although there is no terminal. */
  readonly keepRules?: true;
  /** A person's command that language servers have a part in, if they are switched on; or that is about nothing else. */
  readonly languages?: "if wanted" | "always";
  /** Whoever opens the session tells inspectors of other processes about it; otherwise it is done here. */
  readonly reports?: "by itself";
  /** Roots if none are given as options. */
  readonly roots?: readonly string[];
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
  const answerBytesMax = forWhom === "models" ? (answerBytesOf(given) ?? settings.answerBytesMax) : undefined;
  // The ledger does not outlive a command, so a person never sees the notice for unchanged content.
  const dedup = env["FILEHAND_DEDUP"] === "0" ? false : settings.dedup;
  const stateDir = stateDirOf(given.text("state-dir"), settings.stateDir, host);
  const asking = askingAt(host, given, needs.stdin ?? "free");
  const asker = needs.ask ?? asking.asker;
  const readFirst = given.flag("no-read-first") ? false : (needs.readFirst ?? settings.readFirst);
  const dialect = needs.dialect ?? dialectOf(given.text("dialect") ?? settings.dialect);
  const filehand = createFilehand({
    roots,
    dialect,
    rules: [...settings.rules, ...rulesOf(given)],
    unclearRules,
    trustProject: settings.trustedRoots.length > 0,
    mode: modeOf(given.text("mode"), settings),
    ...(settings.locked === undefined ? {} : { locked: settings.locked }),
    ...(settings.externalDirectories === undefined ? {} : { externalDirectories: settings.externalDirectories }),
    ...(asking.asker === undefined && needs.keepRules === undefined
      ? {}
      : { keepRule: ruleKeeper(settings.trustedRoots, host) }),
    reminder: forWhom === "models" && (settings.reminder ?? true),
    ...(settings.reminderExemptModels === undefined ? {} : { reminderExemptModels: settings.reminderExemptModels }),
    ...(forWhom === "people" && holdsFolder(roots, host.cwd) ? { cwd: host.cwd } : {}),
    ...(given.flag("yes") ? { ask: "yes" as const } : asker === undefined ? {} : { ask: asker }),
    ...(readFirst === undefined ? {} : { readFirst }),
    ...changeOptions(settings),
    ...(settings.history === undefined ? {} : { history: settings.history }),
    ...languageToolsFor(given, settings),
    historyTools: given.flag("history-tools") || settings.historyTools === true,
    ...languagesFor(given, settings, forWhom === "models" ? "if wanted" : needs.languages),
    ...(model === undefined ? {} : { model }),
    ...(settings.restricted === undefined ? {} : { restricted: settings.restricted }),
    ...(settings.secrets === undefined ? {} : { secrets: settings.secrets }),
    ...(pageTokensMax === undefined ? {} : { pageTokensMax }),
    ...(answerBytesMax === undefined ? {} : { answerBytesMax }),
    ...(dedup === undefined ? {} : { dedup }),
    ...(settings.longCode === undefined ? {} : { longCode: settings.longCode }),
    ...(settings.searchMsMax === undefined ? {} : { searchMsMax: settings.searchMsMax }),
    ...(settings.instructions === undefined ? {} : { instructions: settings.instructions }),
    ...(home === undefined ? {} : { home }),
    ...(stateDir === undefined ? {} : { stateDir }),
    ...lineChars(given),
  });
  if (needs.ruleFaults !== "reported by the command") reportRuleFaults(filehand.ruleFaults, host);
  for (const { name, why } of await filehand.languageFaults()) {
    host.stderr.write(`filehand: Cannot use the language server ${JSON.stringify(name)} of your settings: ${why}\n`);
  }
  if (needs.reports === undefined) {
    const reporter = createReporter("cli");
    reporter.start(filehand, stateDir, "once");
    host.onIdle?.(() => void reporter.end());
  }
  const id = sessionIdOf(given) ?? (forWhom === "people" ? ownSessionId(filehand) : undefined);
  const session = filehand.session({ dialect, ...(id === undefined ? {} : { id }) });
  return {
    filehand,
    session,
    record: () => filehand.keepFigures(session),
    figures: filehand.figures,
    stateDir,
    answerBytesMax,
    asking,
  };
}

/** A person's commands in a workspace are one session, so that one command can undo another. */
export const ownSessionId = ({ workspaceId }: Filehand): string => `cli-${workspaceId}`;

function sessionIdOf(given: Given): string | undefined {
  const id = given.text("session");
  if (id?.trim() === "") throw new UsageError("--session must not be empty");
  return id;
}

function changeOptions(settings: Settings): Partial<FilehandOptions> {
  const { staleness, hardLinks, sameDevice, denyHardlinks, writeEol, editBytesMax } = settings;
  return {
    ...(sameDevice === undefined ? {} : { sameDevice }),
    ...(denyHardlinks === undefined ? {} : { denyHardlinks }),
    ...(staleness === undefined ? {} : { staleness }),
    ...(hardLinks === undefined ? {} : { hardLinks }),
    ...(writeEol === undefined ? {} : { writeEol }),
    ...(editBytesMax === undefined ? {} : { editBytesMax }),
  };
}

const languageToolsFor = (given: Given, { languageTools }: Settings): Pick<FilehandOptions, "languageTools"> => {
  const wanted = given.flag("language-tools") ? "rename" : languageTools;
  return wanted === undefined ? {} : { languageTools: wanted };
};

/** Programs inside a project are run only if the user trusts the project. */
function languagesFor(
  given: Given,
  { languageServers: said = false, trustedRoots }: Settings,
  needs: Needs["languages"],
): Pick<FilehandOptions, "languageServers"> {
  const isOn =
    needs === "always" ||
    (needs === "if wanted" && (said !== false || given.flag("language-servers") || given.flag("language-tools")));
  if (!isOn) return {};
  return { languageServers: { ...(typeof said === "boolean" ? {} : said), trustedRoots } };
}

function tokensOf(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new UsageError(`FILEHAND_PAGE_TOKENS must be a whole number of at least 1, not "${text}"`);
  return Number(text);
}

function answerBytesOf(given: Given): number | undefined {
  const bytes = given.integer("answer-bytes");
  if (bytes !== undefined && bytes < limits.answerBytesMin) {
    throw new UsageError(`--answer-bytes must be at least ${limits.answerBytesMin}`);
  }
  return bytes;
}

function dialectOf(name: string | undefined): DialectName {
  const known = dialectNames.find((dialect) => dialect === (name ?? defaultDialect));
  if (known !== undefined) return known;
  const near = nearestWord(name ?? "", dialectNames);
  const hint = near === undefined ? `use one of ${dialectNames.join(", ")}` : `did you mean ${near}`;
  throw new UsageError(`There is no dialect "${name}", ${hint}`);
}

/** The state folder: as given, else the system's usual place. */
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
  const known = modes.find((one) => one === given);
  if (known === undefined) {
    const near = nearestWord(given, modes);
    const hint = near === undefined ? `use one of ${modes.join(", ")}` : `did you mean ${near}`;
    throw new UsageError(`There is no mode "${given}", ${hint}`);
  }
  if (locked.includes("mode") && isWider(known, mode)) {
    throw new UsageError(`The mode is locked at "${mode}" in your settings, --mode can only make it stricter`);
  }
  return known;
}

const holdsFolder = (roots: readonly string[], folder: string): boolean =>
  roots.some((root) => {
    const rest = nodePath.relative(root, folder);
    return rest !== ".." && !rest.startsWith(`..${nodePath.sep}`) && !nodePath.isAbsolute(rest);
  });

function lineChars(given: Given): { readonly lineCharsMax?: number } {
  const chars = given.integer("line-chars");
  if (chars === undefined) return {};
  if (chars < 1) throw new UsageError("--line-chars must be at least 1");
  return { lineCharsMax: chars };
}

// Stores a rule for good: in the settings of the project or of the user.

/** `trusted`: roots whose own settings may allow something; elsewhere such a rule would not count. */
function ruleKeeper(trusted: readonly string[], host: Host): RuleKeeper {
  const { env, platform, home } = host;
  return async (rule, where) => {
    const files = settingsFiles({ roots: trusted, env, platform, home });
    const file = files.find(({ source }) => source === (where === "user" ? "user settings" : "project settings"));
    const failed =
      file === undefined ? { why: "there is no home folder to keep it in" } : await put(file.path, rule, where);
    const place = file === undefined ? `${where} settings` : escapeName(file.path);
    host.stderr.write(
      failed === undefined
        ? `Kept in ${place}: ${escapeName(rule)}\n`
        : `Cannot keep the rule in ${place}: ${failed.why}, it holds for this run\n`,
    );
    return failed;
  };
}

async function put(path: string, rule: string, where: "project" | "user"): ReturnType<RuleKeeper> {
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
