/** `filehand doctor`: what is installed, what is missing, and how to get it. */

import * as nodePath from "node:path";
import { Writable } from "node:stream";
import { isFailure } from "../../../contract/problem.ts";
import { type Finding, folderFindings, machineFindings, settingsFindings } from "../../../dialects/dialects.ts";
import { loadSettings, settingsFiles } from "../../../settings/settings.ts";
import { escapeName } from "../../../text/text.ts";
import type { Command, Given, Host } from "../command.ts";
import { openSession, type Opened, stateDirOf } from "../open-session.ts";
import { coloured, jsonLine, styled } from "../print.ts";

const marks = { ok: "ok   ", note: "note ", wrong: "WRONG" } as const;
const colours = { ok: "green", note: "yellow", wrong: "red" } as const;

export const doctor: Command = {
  name: "doctor",
  summary: "Say what Filehand finds here, what is missing, and how to get it",
  parameters: [],
  options: {},
  details: [
    "Nothing is made or changed. Exit code 1 if something is wrong; what can be done without is a note.",
    "What a file system can do is known from its type, and case sensitivity from a look at names.",
  ].join("\n"),
  examples: ["filehand doctor", "filehand doctor --root ~/project", "filehand doctor --json"],
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
      ...folderFindings(found),
      ...settingsFindings(files, faults, opened?.filehand.permissions.list()),
    ];
    const isWell = findings.every(({ grade }) => grade !== "wrong");
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
