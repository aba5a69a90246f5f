/** `filehand doctor`: what is installed, what is missing, and how to get it. */

import { release } from "node:os";
import * as nodePath from "node:path";
import { Writable } from "node:stream";
import { isFailure } from "../../../contract/problem.ts";
import {
  confinementFinding,
  type Finding,
  folderFindings,
  machineFindings,
  settingsFindings,
} from "../../../dialects/dialects.ts";
import { loadSettings, type Settings, settingsFiles } from "../../../settings/settings.ts";
import { type InternalError, readErrors } from "../../../state/state.ts";
import { escapeName } from "../../../text/text.ts";
import { type Command, type Given, type Host, option } from "../command.ts";
import { openSession, type Opened, stateDirOf } from "../open-session.ts";
import { bugAddress, coloured, jsonLine, styled, version } from "../print.ts";

const marks = { ok: "ok   ", note: "note ", wrong: "WRONG" } as const;
const colours = { ok: "green", note: "yellow", wrong: "red" } as const;

export const doctor: Command = {
  name: "doctor",
  summary: "Say what Filehand finds here, what is missing, and how to get it",
  parameters: [],
  options: {
    report: option.flag("Print what a bug report needs: versions, findings, settings, the last internal errors"),
  },
  details: [
    "Nothing is made or changed. Exit code 1 if something is wrong; what can be done without is a note.",
    "What a file system can do is known from its type, and case sensitivity from a look at names.",
    "A report leaves out values that may be secrets (tokens, variables, commands) and writes ~ for your home folder. It is only printed.",
  ].join("\n"),
  examples: [
    "filehand doctor",
    "filehand doctor --root ~/project",
    "filehand doctor --report",
    "filehand doctor --json",
  ],
  async run(given, host) {
    const [{ checkup }, { isThere }] = await Promise.all([
      import("../../../checkup.ts"),
      import("../../../settings/client-file.ts"),
    ]);
    const opened = await openQuietly(given, host);
    const asked = given.list("root").map((root) => nodePath.resolve(host.cwd, root));
    const roots = opened?.filehand.roots ?? (asked.length > 0 ? asked : [host.cwd]);
    const { env, platform, home } = host;
    const where = { roots, env, platform, home };
    const { faults, settings } = await loadSettings(where);
    const stateDir = opened?.stateDir ?? stateDirOf(given.text("state-dir"), settings.stateDir, host);
    const path = env["PATH"] ?? env["Path"];
    const { languageServers = false, trustedRoots } = settings;
    const languages = { ...(typeof languageServers === "boolean" ? {} : languageServers), trustedRoots };
    const found = await checkup({ roots, stateDir, path, platform, languages });
    const files = settingsFiles(where).flatMap((file) => (isThere(file.path) ? file.path : []));
    const findings = [
      ...machineFindings(found),
      confinementFinding(
        found.confinement,
        settings.confinement === false ? { is: "off", why: "settings" } : undefined,
      ),
      ...folderFindings(found),
      ...settingsFindings(files, faults, opened?.filehand.permissions.list()),
    ];
    const isWell = findings.every(({ grade }) => grade !== "wrong");
    if (given.flag("report")) {
      const report = reportOf({ findings, settings, stateDir, host });
      host.stdout.write(given.flag("json") ? jsonLine(report) : reportWords(report));
      return 0;
    }
    host.stdout.write(given.flag("json") ? jsonLine({ ok: isWell, findings }) : wordsOf(findings, host));
    return isWell ? 0 : 1;
  },
};

/** What it would say about settings and rules is said by the findings. Undefined if a root is not there. */
async function openQuietly(given: Given, host: Host): Promise<Opened | undefined> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  try {
    return await openSession(given, { ...host, stderr: nowhere }, "people", { ruleFaults: "reported by the command" });
  } catch (error) {
    if (isFailure(error) && error.code === "NO_ROOT") return undefined;
    throw error;
  }
}

function wordsOf(findings: readonly Finding[], host: Host): string {
  const width = Math.max(...findings.map(({ about }) => about.length));
  const isColoured = coloured(host, "stdout");
  const lines = findings.map(({ about, grade, words, next }) => {
    const mark = isColoured ? styled(colours[grade], marks[grade]) : marks[grade];
    const advice = next === undefined ? "" : `\n${" ".repeat(width + 9)}${escapeName(next)}`;
    return `${mark}  ${about.padEnd(width)}  ${escapeName(words)}${advice}\n`;
  });
  return lines.join("");
}

/** What a bug report needs, with nothing in it that may be a secret. */
interface Report {
  readonly filehand: string;
  readonly node: string;
  readonly system: string;
  readonly program: string;
  readonly findings: readonly Finding[];
  readonly settings: unknown;
  readonly environment: Readonly<Record<string, string>>;
  readonly errors: readonly InternalError[];
}

/** The newest of the log. */
const errorsMax = 5;
/** Variables that change what Filehand does and cannot be secrets. */
const variables = ["TERM", "LANG", "LC_ALL", "NO_COLOR", "FORCE_COLOR", "CI", "NODE_OPTIONS", "UV_THREADPOOL_SIZE"];

function reportOf(found: {
  readonly findings: readonly Finding[];
  readonly settings: Settings;
  readonly stateDir: string | undefined;
  readonly host: Host;
}): Report {
  const { findings, settings, stateDir, host } = found;
  const { home, env } = host;
  const withoutHome = (text: string): string =>
    home === undefined || home.length < 2 ? text : text.replaceAll(home, "~");
  const folders = new Set([stateDir, stateDirOf(undefined, undefined, host)].filter((one) => one !== undefined));
  return {
    filehand: version,
    node: process.versions.node,
    system: `${process.platform} ${process.arch} ${release()}`,
    program: withoutHome((host.program ?? []).join(" ")),
    findings: findings.map((one) => ({ ...one, words: withoutHome(one.words) })),
    settings: JSON.parse(withoutHome(JSON.stringify(settings, hideSecrets))) as unknown,
    environment: Object.fromEntries(
      variables.flatMap((name) => (env[name] === undefined ? [] : [[name, withoutHome(env[name])]])),
    ),
    errors: [...folders]
      .flatMap((folder) => readErrors(folder))
      .slice(-errorsMax)
      .map((one) => ({ ...one, stack: withoutHome(one.stack) })),
  };
}

/** Commands and variables of language servers and formatters may contain tokens. */
const hideSecrets = (key: string, value: unknown): unknown =>
  /token|secret|password|key|auth|header|^env$|^args$|^command$|initializationOptions/i.test(key) &&
  key !== "secrets" &&
  ["string", "object"].includes(typeof value)
    ? "(left out)"
    : value;

function reportWords(report: Report): string {
  const { findings, settings, environment, errors } = report;
  const block = (kind: string, text: string): string => `\`\`\`${kind}\n${text}\n\`\`\`\n`;
  const lines = findings.map(({ about, grade, words }) => `${marks[grade]}  ${about}: ${escapeName(words)}`);
  return [
    `Read this before you send it, then put it into a new issue: ${bugAddress}\n`,
    `Filehand ${report.filehand}, Node ${report.node}, ${report.system}\nStarted as: ${escapeName(report.program)}\n`,
    `Findings\n${block("", lines.join("\n"))}`,
    `Settings\n${block("json", JSON.stringify({ ...(settings as object), environment }, null, 2))}`,
    errors.length === 0
      ? "No internal errors are recorded.\n"
      : `Last internal errors\n${block("", errors.map((one) => `${one.time} ${one.version}\n${one.stack.split("\n").map(escapeName).join("\n")}`).join("\n\n"))}`,
  ].join("\n");
}
