/** `filehand diagnostics`: what language servers say of a file. */

import type { Diagnostic, DiagnosticsReport } from "../../../contract/language.ts";
import { checkedFile, messageOf } from "../../../dialects/diagnostics-text.ts";
import { escapeName } from "../../../text/escape.ts";
import { type Command, type ExitCode, type Given, type Host, UsageError } from "../command.ts";
import { orJsonFailure } from "../json-failure.ts";
import { openSession } from "../open-session.ts";
import { coloured, printJson } from "../print.ts";
import { styled } from "../style.ts";

export const diagnostics: Command = {
  name: "diagnostics",
  summary: "Say what language servers find wrong in a file",
  parameters: ["<path>"],
  options: {
    warnings: { type: "flag", words: "Warnings as well" },
    wait: { type: "integer", value: "MS", words: "Milliseconds to wait for a server (default: 10000)" },
  },
  details: [
    "Ends with 0 if there are no errors, with 1 if there are some or if the file could not be checked.",
    "Servers are those that are installed, changed by languageServers in the user's settings. Nothing is downloaded, and a",
    "program in the project's node_modules is run only if the project is among your trustedProjects.",
  ].join("\n"),
  examples: ["filehand diagnostics src/index.ts", "filehand diagnostics main.py --warnings --json"],
  run: (given, host) =>
    orJsonFailure(given, host, async () => {
      const path = given.parameters[0] ?? "";
      const waitMsMax = given.integer("wait");
      if (waitMsMax !== undefined && waitMsMax < 1) throw new UsageError("--wait must be at least 1");
      const { filehand, session } = await openSession(given, host, "people", { languages: "always" });
      try {
        const waiting = waitMsMax === undefined ? {} : { waitMsMax };
        const report = await session.diagnostics(path, { signal: host.signal, ...waiting });
        return printReport(path, report, given, host);
      } finally {
        await filehand.close();
      }
    }),
};

/** Nobody is told whether a file is a secret. */
const whyNot =
  "no language server for it was found on the PATH (one in node_modules is run for your trustedProjects only; the one for bash " +
  "finds errors only with shellcheck), install one or " +
  "name it in languageServers of your settings; secrets and files that are over 4 MiB or not in UTF-8 are never shown to one";

function printReport(path: string, report: DiagnosticsReport | undefined, given: Given, host: Host): ExitCode {
  const name = escapeName(path);
  if (given.flag("json")) {
    const shown = report === undefined ? { filePath: path, checked: false } : jsonOf(report, given);
    printJson(shown, host);
    return isClean(report) ? 0 : 1;
  }
  if (report === undefined) {
    host.stderr.write(`Cannot check "${name}": ${whyNot}\n`);
    return 1;
  }
  const errors = [...report.newErrors, ...report.knownErrors];
  const warnings = given.flag("warnings") ? report.warnings : [];
  const colour = coloured(host, "stdout");
  const line = (one: Diagnostic): string => {
    const { start } = one.range;
    const what = colour ? styled(one.severity === "error" ? "red" : "yellow", one.severity) : one.severity;
    return `${name}:${start.line}:${start.column}: ${what}: ${messageOf(one)}\n`;
  };
  host.stdout.write([...errors, ...warnings].map(line).join(""));
  for (const { server, why } of report.unavailable) {
    host.stderr.write(`The language server "${escapeName(server)}" did not check "${name}": ${escapeName(why)}\n`);
  }
  if (report.pending) host.stderr.write(`"${name}" is not checked yet: give it more time with --wait\n`);
  else if (isChecked(report)) host.stdout.write(`${summaryOf(report, given)}\n`);
  return isClean(report) ? 0 : 1;
}

const isChecked = ({ pending, unavailable }: DiagnosticsReport): boolean => !pending && unavailable.length === 0;

const isClean = (report: DiagnosticsReport | undefined): boolean =>
  report !== undefined && isChecked(report) && report.newErrors.length + report.knownErrors.length === 0;

function jsonOf(report: DiagnosticsReport, given: Given): object {
  const { warnings, warningsLeftOut, ...shown } = checkedFile(report);
  const errors = shown.errors.map(({ isNew: _isNew, ...error }) => error);
  const all = { ...shown, errors, checked: isChecked(report) };
  return given.flag("warnings") ? { ...all, warnings, warningsLeftOut } : all;
}

function summaryOf(
  { newErrors, knownErrors, errorsLeftOut, warnings, warningsLeftOut }: DiagnosticsReport,
  given: Given,
) {
  const errors = newErrors.length + knownErrors.length + errorsLeftOut;
  const words = [counted(errors, "error")];
  if (given.flag("warnings")) words.push(counted(warnings.length + warningsLeftOut, "warning"));
  const more = errorsLeftOut > 0 ? ` (${errorsLeftOut} not shown)` : "";
  return words.join(", ") + more;
}

const counted = (count: number, what: string): string =>
  `${count === 0 ? "no" : count} ${what}${count === 1 ? "" : "s"}`;
